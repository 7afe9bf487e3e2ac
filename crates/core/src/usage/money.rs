//! Exact amounts of money.

/// An amount of money in units of 10^-12 dollars.
///
/// An integer makes sums independent of their order. The unit is small enough for one token at a price of one
/// dollar per 10^12 tokens. Additions saturate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(u128);

impl Money {
    /// The number of units per dollar.
    const UNITS_PER_DOLLAR: f64 = 1e12;

    /// Converts an amount in dollars, rounded to the nearest unit. Returns `None` if it is negative, not a number or
    /// infinite.
    pub fn from_dollars(dollars: f64) -> Option<Money> {
        (dollars.is_finite() && dollars >= 0.0)
            .then(|| Money((dollars * Money::UNITS_PER_DOLLAR).round() as u128))
    }

    /// Returns the amount in dollars, rounded to a float.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / Money::UNITS_PER_DOLLAR
    }

    /// Creates an amount from a number of 10^-12 dollars.
    pub fn from_picodollars(picodollars: u128) -> Money {
        Money(picodollars)
    }

    /// Returns the amount in 10^-12 dollars.
    pub fn picodollars(self) -> u128 {
        self.0
    }

    /// Adds another amount.
    pub fn add(&mut self, other: Money) {
        self.0 = self.0.saturating_add(other.0);
    }

    /// Returns `count` times the amount.
    pub fn times(self, count: u64) -> Money {
        Money(self.0.saturating_mul(u128::from(count)))
    }

    /// Returns share `idx` (from 0) of `share_count` equal shares. The first shares receive one unit of the remainder each.
    pub fn share(self, idx: u64, share_count: u64) -> Money {
        let share_count = u128::from(share_count.max(1));
        Money(self.0 / share_count + u128::from(u128::from(idx) < self.0 % share_count))
    }

    /// Returns the amount times `numerator` / `denominator`, rounded down. A denominator of 0 counts as 1.
    pub fn fraction(self, numerator: u64, denominator: u64) -> Money {
        Money(self.times(numerator).0 / u128::from(denominator.max(1)))
    }
}

impl std::iter::Sum for Money {
    fn sum<I: Iterator<Item = Money>>(amounts: I) -> Money {
        amounts.fold(Money::default(), |mut sum, amount| {
            sum.add(amount);
            sum
        })
    }
}
