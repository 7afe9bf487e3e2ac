//! Money as a reader likes it.

use rethread_engine::core::usage::{CostTotals, Money};

use super::figures::count;

/// Says an amount: dollars and cents, and four more digits of what is less than a cent.
pub(crate) fn dollars(money: Money) -> String {
    said(money.dollars())
}

/// Says an amount in dollars.
pub(crate) fn said(dollars: f64) -> String {
    if dollars > 0.0 && dollars < 0.00005 {
        return "<$0.0001".to_owned();
    }
    if dollars > 0.0 && dollars < 0.01 {
        return format!("${dollars:.4}");
    }
    let cents = (dollars * 100.0).round() as u64;
    format!("${}.{:02}", count(cents / 100), cents % 100)
}

/// Says what a sum costs: with `≥` where more is not known, and never nothing for what has no price.
pub(crate) fn cost(sum: &CostTotals) -> String {
    if sum.spent.responses == 0 && sum.spent.usage.total() == 0 {
        return String::new();
    }
    if sum.cost == Money::default() && sum.unpriced.usage.total() > 0 {
        return "unpriced".to_owned();
    }
    let least = if is_least(sum) { "≥ " } else { "" };
    format!("{least}{}", dollars(sum.cost))
}

/// Whether a sum is only a lower bound.
pub(crate) fn is_least(sum: &CostTotals) -> bool {
    sum.open > 0 || sum.unpriced.usage.total() > 0
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn amounts_keep_what_matters() {
        assert_eq!(
            [0.0, 0.00001, 0.0042, 0.01, 1.0, 12.345, 1234.5, 0.009999].map(said),
            ["$0.00", "<$0.0001", "$0.0042", "$0.01", "$1.00", "$12.35", "$1,234.50", "$0.0100"]
        );
    }
}
