//! The laws of money and of tables of prices.

use proptest::prelude::*;
use rethread_core::entry::Usage;
use rethread_core::usage::{Money, PriceProblem, Prices};

fn usage(input: u64, output: u64, write: u64, hour: u64, read: u64, searches: u64) -> Usage {
    Usage {
        input,
        output,
        cache_write: write,
        cache_write_1h: hour,
        cache_read: read,
        web_searches: searches,
    }
}

fn dollars(dollars: f64) -> Money {
    Money::of_dollars(dollars).expect("an amount")
}

prop_compose! {
    fn counts()(most in prop_oneof![Just(1_000_u64), Just(100_000_000), Just(u64::MAX)])
        (all in prop::array::uniform6(0..=most)) -> Usage {
        usage(all[0], all[1], all[2], all[3].min(all[2]), all[4], all[5])
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sums_of_money_are_the_same_in_any_order(amounts in prop::collection::vec(0.0..1e9, 0..20), pick in any::<prop::sample::Index>()) {
        let amounts: Vec<Money> = amounts.into_iter().map(dollars).collect();
        let whole: Money = amounts.iter().copied().sum();
        let (left, right) = amounts.split_at(if amounts.is_empty() { 0 } else { pick.index(amounts.len()) });
        let mut parts: Money = right.iter().rev().copied().sum();
        parts.add(left.iter().copied().sum());
        prop_assert_eq!(whole, parts);
    }

    #[test]
    fn cost_adds_up_over_kinds_and_responses(one in counts(), other in counts(), model in 0_usize..24) {
        let prices = Prices::built_in();
        let (_, tariff) = prices.tariffs().nth(model % prices.tariffs().count()).expect("a price");
        for row in tariff.rows() {
            let rates = &row.rates;
            let kinds = [
                usage(one.input, 0, 0, 0, 0, 0),
                usage(0, one.output, 0, 0, 0, 0),
                usage(0, 0, one.cache_write - one.cache_write_1h, 0, 0, 0),
                usage(0, 0, one.cache_write_1h, one.cache_write_1h, 0, 0),
                usage(0, 0, 0, 0, one.cache_read, 0),
                usage(0, 0, 0, 0, 0, one.web_searches),
            ];
            prop_assert_eq!(rates.cost(&one), kinds.iter().map(|kind| rates.cost(kind)).sum());
            let mut both = one;
            both.add(&other);
            // Counts that are cut off at the most there can be do not add up.
            if one.total().checked_add(other.total()).is_some_and(|sum| sum < u64::MAX) && both.web_searches < u64::MAX {
                prop_assert_eq!(rates.cost(&both), [rates.cost(&one), rates.cost(&other)].into_iter().sum());
            }
        }
    }

    #[test]
    fn any_text_is_a_table_or_has_a_problem(text in any::<String>(), lines in prop::collection::vec(line(), 0..12)) {
        for table in [text, lines.join("\n")] {
            if let Err(PriceProblem { line, what }) = Prices::parse(&table) {
                prop_assert!((1..=table.lines().count()).contains(&line));
                prop_assert!(!what.is_empty());
            }
        }
    }

    #[test]
    fn any_name_has_a_price_or_none(name in any::<String>(), prefix in ".{0,9}", suffix in ".{0,9}") {
        let prices = Prices::built_in();
        let _ = prices.tariff(&name);
        let _ = prices.tariff(&format!("{prefix}claude-opus-5{suffix}"));
    }
}

/// A line that is nearly one of a table.
fn line() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "models",
        "input",
        "output",
        "from",
        "long.above",
        "long.input",
        "note",
        "source",
        "é",
    ]);
    let value = prop_oneof![
        "[0-9._-]{0,8}",
        "['\"\\[\\]a*,# ]{0,8}",
        Just("['m']".to_owned()),
        Just("1".to_owned()),
        Just("2026-01-01".to_owned())
    ];
    prop_oneof![
        2 => Just("[[price]]".to_owned()),
        5 => (key, value).prop_map(|(key, value)| format!("{key} = {value}")),
        1 => any::<String>(),
    ]
}
