//! Price tables: model names, days, prompt lengths, and invalid tables.

use rethread_core::entry::Timestamp;
use rethread_core::usage::price::PriceSource;
use rethread_core::usage::{Money, PriceTable};
use rethread_testkit::price::{dollars, usage};

/// A table with every feature: two dates, long prompts, a wildcard, and derived cache prices.
const TABLE: &str = r#"
source = "a page"   # with a comment
date = 2026-01-02

[[price]]
models = ["big-1"]
input = 2
output = 10
long.above = 1_000
long.input = 4
long.output = 15
long.cache_read = 0.5

[[price]]
models = ["big-1"]
from = 2026-02-01
input = 1
output = 5
cache_write_5m = 1.5
cache_write_1h = 3
cache_read = 0.01
web_search = 20
basis = "client"
note = 'cheaper # since then'

[[price]]
models = ["small-*", "tiny"]
input = 0.000001
output = 0
"#;

fn midnight(day: &str) -> Timestamp {
    let stamp: jiff::Timestamp = format!("{day}T00:00:00Z").parse().expect("a day");
    Timestamp(stamp.as_millisecond())
}

/// Returns the price of a million input tokens, which identifies a row.
fn input_price(prices: &PriceTable, model: &str, day: Option<&str>) -> Option<f64> {
    let row = prices.find_model(model)?.row_at(day.map(midnight));
    Some(row.rates.input.times(1_000_000).dollars())
}

#[test]
fn provider_forms_of_a_name_find_the_model() {
    let prices = PriceTable::built_in();
    let cases: &[(&str, Option<f64>)] = &[
        ("claude-opus-5-5", Some(4.0)),
        ("claude-opus-5-5[1m]", Some(4.0)),
        ("Claude-Opus-5-5", Some(4.0)),
        ("claude-opus-5", Some(5.0)),
        ("claude-opus-5@default", Some(5.0)),
        ("claude-opus-4-1-20250805", Some(15.0)),
        ("us.anthropic.claude-opus-4-1-20250805-v1:0", Some(15.0)),
        ("global.anthropic.claude-opus-4-5-20251101-v1:0[1m]", Some(5.0)),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-20250514-v1:0",
            Some(3.0),
        ),
        ("bedrock/anthropic.claude-haiku-4-5-20251001-v1:0", Some(1.0)),
        ("claude-opus-4@20250514", Some(15.0)),
        ("claude-opus-4-0", Some(15.0)),
        ("vertex_ai/claude-3-5-sonnet-v2@20241022", Some(3.0)),
        ("anthropic/claude-opus-4.1", Some(15.0)),
        ("anthropic/claude-opus-4.6", Some(5.0)),
        ("openrouter/anthropic/claude-sonnet-4", Some(3.0)),
        ("claude-3-5-haiku-latest", Some(0.8)),
        ("claude-3-sonnet-20240229", Some(3.0)),
        ("claude-3-haiku-20240307", Some(0.25)),
        ("claude-opus-4-8[fast]", Some(10.0)),
        ("us.anthropic.claude-opus-4-6-20260205-v1:0[fast]", Some(30.0)),
        ("claude-opus-5-5[1m][fast]", Some(8.0)),
        ("claude-haiku-4-5[fast]", None),
        ("anthropic.claude-v2:1", Some(8.0)),
        ("claude-2.1", Some(8.0)),
        ("claude-instant-1.2", Some(0.8)),
        // Unknown names may have other prices.
        ("anthropic/claude-opus-4.6-fast", Some(30.0)),
        ("claude-opus-5-6", None),
        ("claude-opus-55", None),
        ("notclaude-opus-5", None),
        ("claude-", None),
        ("claude", None),
        ("<synthetic>", None),
        ("gpt-6-sol", None),
        ("opus", None),
        ("", None),
    ];
    for &(model, expected) in cases {
        assert_eq!(input_price(&prices, model, None), expected, "{model}");
    }
}

#[test]
fn stars_match_any_characters() {
    let cases = [
        ("*", "", true),
        ("*", "anything", true),
        ("", "", false),
        ("a", "A", true),
        ("a*", "a", true),
        ("*a", "ba", true),
        ("*a", "ab", false),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "a-c-b", false),
        ("**x**", "x", true),
        ("a*ab", "aab", true),
        ("é*", "été", true),
        ("ê*", "été", false),
        ("*[1m]", "m[1m]", true),
    ];
    for (pattern, model, expected) in cases {
        let table = format!("[[price]]\nmodels = ['{pattern}']\ninput = 1\noutput = 1");
        let matches = PriceTable::parse(&table).ok().is_some_and(|prices| prices.find_model(model).is_some());
        assert_eq!(matches, expected, "{pattern} on {model}");
    }
}

#[test]
fn price_depends_on_the_day() {
    let prices = PriceTable::parse(TABLE).expect("a table");
    let cases = [
        (Some("2020-01-01"), 2.0),
        (Some("2026-01-31"), 2.0),
        (Some("2026-02-01"), 1.0),
        (Some("2030-01-01"), 1.0),
        (None, 1.0),
    ];
    for (day, expected) in cases {
        assert_eq!(input_price(&prices, "big-1", day), Some(expected), "{day:?}");
    }
    let dated = "[[price]]\nmodels = 'm'\nfrom = 2026-02-01\ninput = 7\noutput = 7";
    let dated = PriceTable::parse(dated).expect("a table");
    assert_eq!(
        input_price(&dated, "m", Some("2020-01-01")),
        Some(7.0),
        "the first row also applies to earlier days"
    );
}

#[test]
fn built_in_price_changes_apply_from_their_day() {
    let prices = PriceTable::built_in();
    let cached = usage(0, 0, 0, 0, 100_000, 0);
    let long = usage(300_000, 0, 0, 0, 0, 0);
    let cases = [
        ("claude-sonnet-5-5", "2026-10-06", cached, 0.02),
        ("claude-sonnet-5-5", "2026-10-07", cached, 0.01),
        ("claude-opus-4-6", "2026-03-12", long, 3.0),
        ("claude-opus-4-6", "2026-03-13", long, 1.5),
        ("claude-sonnet-4-6", "2026-03-12", long, 1.8),
        ("claude-sonnet-4-6", "2026-03-13", long, 0.9),
        ("claude-3-5-haiku", "2024-11-30", long, 0.3),
        ("claude-3-5-haiku", "2025-06-01", long, 0.24),
    ];
    for (model, day, usage, expected) in cases {
        let cost = prices.find_model(model).expect("a price").cost(Some(midnight(day)), &usage);
        assert_eq!(cost, dollars(expected), "{model} on {day}");
    }
}

#[test]
fn each_token_kind_has_its_price() {
    let prices = PriceTable::parse(TABLE).expect("a table");
    let pricing = prices.find_model("big-1").expect("a price");
    let (old, new) = (Some(midnight("2026-01-15")), Some(midnight("2026-02-15")));
    let cases = [
        // Cache prices that are not set are derived from the input price.
        (old, usage(100, 0, 0, 0, 0, 0), 200e-6),
        (old, usage(0, 100, 0, 0, 0, 0), 1000e-6),
        (old, usage(0, 0, 100, 0, 0, 0), 250e-6),
        (old, usage(0, 0, 100, 100, 0, 0), 400e-6),
        (old, usage(0, 0, 0, 0, 100, 0), 20e-6),
        (old, usage(0, 0, 0, 0, 0, 3), 0.03),
        (new, usage(0, 0, 100, 40, 0, 0), 90e-6 + 120e-6),
        (new, usage(0, 0, 0, 0, 100, 0), 1e-6),
        (new, usage(0, 0, 0, 0, 0, 3), 0.06),
        // More one-hour cache writes than cache writes.
        (new, usage(0, 0, 10, 999, 0, 0), 30e-6),
        // The length of the whole prompt decides the price of the whole response.
        (old, usage(1000, 10, 0, 0, 0, 0), 2000e-6 + 100e-6),
        (old, usage(1001, 10, 0, 0, 0, 0), 4004e-6 + 150e-6),
        (old, usage(1, 10, 500, 0, 500, 0), 4e-6 + 150e-6 + 2500e-6 + 250e-6),
        (old, usage(1, 1_000_000, 0, 0, 0, 0), 2e-6 + 10.0),
        (new, usage(1_000_000, 0, 0, 0, 0, 0), 1.0),
    ];
    for (at, usage, expected) in cases {
        assert_eq!(pricing.cost(at, &usage), dollars(expected), "{usage:?}");
    }
    let tiny = prices.find_model("small-2").expect("a price").cost(None, &usage(1, 5, 0, 0, 0, 0));
    assert_eq!(tiny, dollars(1e-12), "one token at the lowest price is not zero");
}

#[test]
fn long_prompts_of_haiku_start_above_100_000_tokens() {
    let prices = PriceTable::built_in();
    let haiku = prices.find_model("claude-haiku-5-5").expect("a price");
    assert_eq!(haiku.cost(None, &usage(0, 0, 50_000, 0, 50_000, 0)), dollars(0.006_75));
    assert_eq!(haiku.cost(None, &usage(1, 0, 50_000, 0, 50_000, 0)), dollars(0.033_750_5));
}

#[test]
fn user_rows_take_precedence() {
    let own = "[[price]]\nmodels = ['claude-opus-5-5', 'local-*']\ninput = 1\noutput = 1";
    let prices = PriceTable::parse(own)
        .expect("a table")
        .with_source("own.toml")
        .with_fallback(PriceTable::built_in());
    let cases =
        [("claude-opus-5-5", Some(1.0)), ("local-7b", Some(1.0)), ("claude-opus-5", Some(5.0)), ("x", None)];
    for (model, expected) in cases {
        assert_eq!(input_price(&prices, model, None), expected, "{model}");
    }
    assert_eq!((prices.source(), prices.date()), ("own.toml", ""));
    let built_in = &prices.origins()[1];
    assert!(built_in.source.starts_with("https://"), "{}", built_in.source);
    let origins: Vec<_> = prices.models().map(|(origin, _)| origin.source.as_str()).collect();
    assert_eq!(origins[..2], ["own.toml", built_in.source.as_str()]);
    // A pattern of the user may match only one form of a name.
    let aws = "[[price]]\nmodels = 'eu.anthropic.*'\ninput = 5.5\noutput = 27.5";
    let prices = PriceTable::parse(aws).expect("a table").with_fallback(PriceTable::built_in());
    assert_eq!(input_price(&prices, "eu.anthropic.claude-opus-5", None), Some(5.5));
    assert_eq!(input_price(&prices, "us.anthropic.claude-opus-5", None), Some(5.0));
}

#[test]
fn table_keeps_its_source_and_notes() {
    let prices = PriceTable::parse(TABLE).expect("a table").with_source("own.toml");
    assert_eq!((prices.source(), prices.date()), ("a page", "2026-01-02"));
    let (_, pricing) = prices.models().next().expect("a price");
    assert_eq!(pricing.models(), ["big-1"]);
    assert_eq!(pricing.rows()[1].source, Some(PriceSource::Client));
    assert_eq!(pricing.rows()[1].note, "cheaper # since then");
}

#[test]
fn built_in_rows_have_a_source_and_plausible_prices() {
    let prices = PriceTable::built_in();
    assert!(!prices.date().is_empty());
    for (_, pricing) in prices.models() {
        for row in pricing.rows() {
            let name = &pricing.models()[0];
            assert!(row.source.is_some(), "{name}");
            assert!(
                row.source != Some(PriceSource::Derived) || !row.note.is_empty(),
                "{name} has a note on derived prices"
            );
            for rates in
                [Some(&row.rates), row.long_context.as_ref().map(|long| &long.rates)].into_iter().flatten()
            {
                // All known prices have this order. A typing error would break it.
                assert!(rates.cache_read < rates.input && rates.input < rates.cache_write_5m, "{name}");
                assert!(
                    rates.cache_write_5m < rates.cache_write_1h && rates.cache_write_1h < rates.output,
                    "{name}"
                );
                assert_eq!(rates.cache_write_1h, rates.input.times(2), "{name}");
            }
        }
    }
}

#[test]
fn invalid_tables_report_the_line() {
    let row = "[[price]]\nmodels = ['m']\n";
    let full = "[[price]]\nmodels = ['m']\ninput = 1\noutput = 1\n";
    let cases: &[(String, usize, &str)] = &[
        ("prices".to_owned(), 1, "expected"),
        ("\n[price]".to_owned(), 2, "prices are tables: `[[price]]`"),
        ("price = [1]".to_owned(), 1, "prices are tables: `[[price]]`"),
        ("[[model]]".to_owned(), 1, "`model` is outside a `[[price]]`"),
        ("{}".to_owned(), 1, "expected"),
        ("input = 1".to_owned(), 1, "`input` is outside a `[[price]]`"),
        ("source = page".to_owned(), 1, "quoted"),
        ("source = 1".to_owned(), 1, "`source` must be text in quotes"),
        ("source = \"\"\"a".to_owned(), 1, "invalid multi-line basic string"),
        ("date = 2026-13-01".to_owned(), 1, "invalid date"),
        ("date = '2026-13-01'".to_owned(), 1, "`date` must be a day"),
        ("date = 'x'".to_owned(), 1, "`date` must be a day"),
        ("source = 'x'\nsource = 'x'".to_owned(), 2, "duplicate key"),
        ("[[price]]".to_owned(), 1, "no `models`"),
        (row.to_owned(), 1, "lacks `input` or `output`"),
        (format!("{full}\n{row}input = 1"), 6, "lacks `input` or `output`"),
        (format!("{row}inptu = 1"), 3, "no price is called `inptu`"),
        (format!("{row}long.inptu = 1"), 3, "no price is called `long.inptu`"),
        (format!("{row}long = 1"), 3, "no price is called `long`"),
        (format!("{row}input = -1"), 3, "`input` must be a number of dollars"),
        (format!("{row}input = '1'"), 3, "`input` must be a number of dollars"),
        (format!("{row}input = nan"), 3, "`input` must be a number of dollars"),
        (format!("{row}input = inf"), 3, "`input` must be a number of dollars"),
        (format!("{row}input = 1e400"), 3, "`input` must be a number of dollars"),
        (format!("{row}input = 1000001"), 3, "`input` must be a number of dollars"),
        (format!("{row}input = 0.0000001"), 3, "`input` must be a number of dollars"),
        (format!("{row}input ="), 3, "expected"),
        (format!("{row}input = 1 2"), 3, "expected"),
        (format!("{row}input = 1\ninput = 1"), 4, "duplicate key"),
        (format!("{row}from = 2026-02-30"), 3, "invalid date"),
        (format!("{row}from = 2026-02-01T00:00:00Z"), 3, "`from` must be a day"),
        (format!("{row}basis = 'guessed'"), 3, "`basis` must be"),
        (format!("{full}long.above = 5"), 1, "long prompts need"),
        (format!("{full}long.input = 5\nlong.output = 5"), 1, "long prompts need"),
        (format!("{full}long.above = -5"), 5, "`long.above` must be a number of tokens"),
        (format!("{full}{full}"), 5, "from that day on already"),
        ("[[price]]\nmodels = []".to_owned(), 2, "`models` must be names in quotes"),
        ("[[price]]\nmodels = ['']".to_owned(), 2, "`models` must be names in quotes"),
        ("[[price]]\nmodels = ['a' 'b']".to_owned(), 2, "missing comma"),
        ("[[price]]\nmodels = ['a'".to_owned(), 2, "unclosed array"),
        ("[[price]]\nmodels = m".to_owned(), 2, "must be quoted"),
        ("[[price]]\nmodels = [1]".to_owned(), 2, "`models` must be names in quotes"),
    ];
    for (table, line, message) in cases {
        let error = PriceTable::parse(table).expect_err(table);
        assert_eq!(error.line, *line, "{table}: {}", error.message);
        assert!(error.message.contains(message), "{table}: {}", error.message);
    }
}

#[test]
fn tables_accept_common_toml_styles() {
    let tables = [
        "",
        "\u{feff}# only a comment",
        "source = 'x'\r\n\r\n[[price]] # one\r\nmodels = 'm'\r\ninput=1_000\r\noutput = 1.5e1\r\n",
        "[[price]]\nmodels = [ \"a\" , 'b', ]\ninput = 0\noutput = 0",
        "source = \"a\\tb\"\n[[price]]\nmodels = [\n  'a', # one\n  'b',\n]\ninput = 1\noutput = 1\n[price.long]\nabove = 1\ninput = 1\noutput = 1",
        "price = [{ models = 'm', input = 1, output = 2, long = { above = 1, input = 1, output = 1 } }]",
        "[[price]]\nmodels = \"it's\"\ninput = 1\noutput = 1\nnote = 'a \"b\" \\c' # 'd'",
    ];
    for table in tables {
        assert!(PriceTable::parse(table).is_ok(), "{table}");
    }
}

#[test]
fn a_table_is_read_from_a_section_of_a_document() {
    let text = "theme = 'dark'\n[ls]\ncolumns = ['id']\n[prices]\nsource = 'me'\n[[prices.price]]\nmodels = 'm'\ninput = 3\n\
        output = 4\n";
    let prices = PriceTable::parse_section(text, "prices").expect("a valid table").expect("a section");
    assert_eq!((input_price(&prices, "m", None), prices.source()), (Some(3.0), "me"));
    for text in ["theme = 'dark'", "prices = 'a file'"] {
        assert_eq!(PriceTable::parse_section(text, "prices"), Ok(None));
    }
    let error =
        PriceTable::parse_section(&format!("{text}inptu = 1"), "prices").expect_err("an unknown price");
    assert_eq!((error.line, error.message.as_str()), (10, "no price is called `inptu`"));
}

#[test]
fn money_rejects_invalid_amounts_and_saturates() {
    let cases = [
        (0.0, Some(0.0)),
        (0.027333, Some(0.027333)),
        (1e-13, Some(0.0)),
        (-0.01, None),
        (f64::NAN, None),
        (f64::INFINITY, None),
    ];
    for (amount, expected) in cases {
        assert_eq!(Money::from_dollars(amount).map(Money::dollars), expected, "{amount}");
    }
    let mut max = dollars(f64::MAX);
    max.add(max);
    assert_eq!(max, dollars(f64::MAX).times(u64::MAX), "sums saturate");
}
