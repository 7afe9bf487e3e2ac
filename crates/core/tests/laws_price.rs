//! Laws of money and of price tables.

use proptest::prelude::*;
use rethread_core::entry::Usage;
use rethread_core::usage::{Money, PriceTable, PriceTableError};
use rethread_testkit::price::{dollars, usage};

prop_compose! {
    fn any_usage()(max in prop_oneof![Just(1_000_u64), Just(100_000_000), Just(u64::MAX)])
        (all in prop::array::uniform6(0..=max)) -> Usage {
        usage(all[0], all[1], all[2], all[3].min(all[2]), all[4], all[5])
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn money_sums_do_not_depend_on_the_order(amounts in prop::collection::vec(0.0..1e9, 0..20), pick in any::<prop::sample::Index>()) {
        let amounts: Vec<Money> = amounts.into_iter().map(dollars).collect();
        let whole: Money = amounts.iter().copied().sum();
        let (left, right) = amounts.split_at(if amounts.is_empty() { 0 } else { pick.index(amounts.len()) });
        let mut parts: Money = right.iter().rev().copied().sum();
        parts.add(left.iter().copied().sum());
        prop_assert_eq!(whole, parts);
    }

    #[test]
    fn cost_is_additive_over_token_kinds_and_responses(one in any_usage(), other in any_usage(), model in 0_usize..24) {
        let prices = PriceTable::built_in();
        let (_, pricing) = prices.models().nth(model % prices.models().count()).expect("a price");
        for row in pricing.rows() {
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
            // Saturated counts do not add up.
            if one.total().checked_add(other.total()).is_some_and(|sum| sum < u64::MAX) && both.web_searches < u64::MAX {
                prop_assert_eq!(rates.cost(&both), [rates.cost(&one), rates.cost(&other)].into_iter().sum());
            }
        }
    }

    #[test]
    fn any_text_parses_or_reports_a_line(text in any::<String>(), lines in prop::collection::vec(table_line(), 0..12)) {
        for table in [text, lines.join("\n")] {
            if let Err(PriceTableError { line, message }) = PriceTable::parse(&table) {
                prop_assert!((1..=table.lines().count()).contains(&line));
                prop_assert!(!message.is_empty());
            }
        }
    }

    #[test]
    fn any_model_name_can_be_looked_up(name in any::<String>(), prefix in ".{0,9}", suffix in ".{0,9}") {
        let prices = PriceTable::built_in();
        let _ = prices.find_model(&name);
        let _ = prices.find_model(&format!("{prefix}claude-opus-5{suffix}"));
    }
}

/// Generates a line that resembles one of a price table.
fn table_line() -> impl Strategy<Value = String> {
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
