//! Money that adds up.

/// An amount of money in millionths of a millionth of a dollar.
///
/// It is a whole number, so that sums are the same in whatever order they are made, and small enough that one token at a dollar
/// per million million tokens is still something. Too much is the most there can be: nothing overflows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money(u128);

impl Money {
    /// How many of the smallest parts are a dollar.
    const DOLLAR: f64 = 1e12;

    /// Reads an amount in dollars; `None` where it is no amount: negative, not a number, or without end.
    pub fn of_dollars(dollars: f64) -> Option<Money> {
        (dollars.is_finite() && dollars >= 0.0).then(|| Money((dollars * Money::DOLLAR).round() as u128))
    }

    /// Returns the amount in dollars, as near as a float can be.
    pub fn dollars(self) -> f64 {
        self.0 as f64 / Money::DOLLAR
    }

    /// Adds another amount.
    pub fn add(&mut self, other: Money) {
        self.0 = self.0.saturating_add(other.0);
    }

    /// Returns what so many of it are.
    pub fn times(self, count: u64) -> Money {
        Money(self.0.saturating_mul(u128::from(count)))
    }

    /// Returns one of so many equal parts; what cannot be divided goes to the first of them.
    pub fn share(self, no: u64, of: u64) -> Money {
        let of = u128::from(of.max(1));
        Money(self.0 / of + u128::from(u128::from(no) < self.0 % of))
    }

    /// Returns a fraction of it, without what is left over.
    pub fn part(self, numerator: u64, denominator: u64) -> Money {
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
