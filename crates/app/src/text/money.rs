//! Formats amounts of money.

use rethread_engine::core::usage::{CostTotals, Money};

use super::figures::group_digits;

/// Formats an amount like [`format_dollars`].
pub(crate) fn format_money(money: Money) -> String {
    format_dollars(money.dollars())
}

/// Formats an amount in dollars, rounded to cents: `$1,234.50`. Below one cent: `$0.0042` or `<$0.0001`.
pub(crate) fn format_dollars(dollars: f64) -> String {
    if dollars > 0.0 && dollars < 0.00005 {
        return "<$0.0001".to_owned();
    }
    if dollars > 0.0 && dollars < 0.01 {
        return format!("${dollars:.4}");
    }
    let cents = (dollars * 100.0).round() as u64;
    format!("${}.{:02}", group_digits(cents / 100), cents % 100)
}

/// Formats the cost of totals, with `≥` for a lower bound.
///
/// Returns `unpriced` if no response has a price, and an empty string if there are no responses.
pub(crate) fn format_cost(totals: &CostTotals) -> String {
    if totals.counts.responses == 0 && totals.counts.usage.total() == 0 {
        return String::new();
    }
    if totals.cost == Money::default() && totals.unpriced.usage.total() > 0 {
        return "unpriced".to_owned();
    }
    let prefix = if is_lower_bound(totals) { "≥ " } else { "" };
    format!("{prefix}{}", format_money(totals.cost))
}

/// Returns `true` if the real cost may be higher: tokens without a price, or responses with partial counts.
pub(crate) fn is_lower_bound(totals: &CostTotals) -> bool {
    totals.lower_bounds > 0 || totals.unpriced.usage.total() > 0
}

#[cfg(test)]
mod tests {
    use super::format_dollars;

    #[test]
    fn amounts_keep_significant_digits() {
        assert_eq!(
            [0.0, 0.00001, 0.0042, 0.01, 1.0, 12.345, 1234.5, 0.009999].map(format_dollars),
            ["$0.00", "<$0.0001", "$0.0042", "$0.01", "$1.00", "$12.35", "$1,234.50", "$0.0100"]
        );
    }
}
