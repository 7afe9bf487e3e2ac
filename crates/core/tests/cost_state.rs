//! The costs that the client recorded.

use proptest::prelude::*;
use rethread_core::entry::{Timestamp, Usage};
use rethread_core::usage::{CostState, Money};

const LINE: &str = r#"{"type":"cost-state","sessionId":"s","totalCostUSD":0.5,"totalAPIDuration":30,"totalAPIDurationWithoutRetries":20,
"totalToolDuration":7,"totalLinesAdded":4,"totalLinesRemoved":3,"totalDuration":99,"startTime":1794773116078,"hasUnknownModelCost":true,
"modelUsage":{"claude-opus-5-5[1m]":{"inputTokens":1,"outputTokens":2,"thinkingTokens":1,"cacheReadInputTokens":3,"cacheCreationInputTokens":9,
"cacheCreationEphemeral5mInputTokens":5,"cacheCreationEphemeral1hInputTokens":4,"webSearchRequests":6,"costUSD":0.25},"old":{"inputTokens":8}}}"#;

#[test]
fn cost_state_line_is_parsed_by_model() {
    let state = CostState::parse(LINE.as_bytes()).expect("a line of that type");
    assert_eq!(state.total, Money::from_dollars(0.5));
    assert_eq!(
        (state.duration, state.api_duration, state.api_duration_without_retries, state.tool_duration),
        (99, 30, 20, 7)
    );
    assert_eq!((state.lines_added, state.lines_removed, state.unpriced), (4, 3, true));
    assert_eq!(state.start, Some(Timestamp(1_794_773_116_078)));
    let [opus, old] = &state.models[..] else { panic!("two models") };
    let usage =
        Usage { input: 1, output: 2, cache_write: 9, cache_write_1h: 4, cache_read: 3, web_searches: 6 };
    assert_eq!(
        (opus.model.as_str(), opus.usage, opus.has_cache_lifetimes),
        ("claude-opus-5-5[1m]", usage, true)
    );
    assert_eq!((opus.thinking, opus.cost), (1, Money::from_dollars(0.25)));
    assert_eq!(
        (old.model.as_str(), old.usage.input, old.has_cache_lifetimes, old.cost),
        ("old", 8, false, None)
    );
}

#[test]
fn invalid_values_are_zero() {
    let cases: &[(&str, Option<(usize, u64)>)] = &[
        ("", None),
        ("{}", None),
        ("[]", None),
        (r#""cost-state""#, None),
        (r#"{"type":"assistant","modelUsage":{"m":{"inputTokens":1}}}"#, None),
        (r#"{"type":"cost-state"}"#, Some((0, 0))),
        (r#"{"type":"cost-state","modelUsage":[1]}"#, Some((0, 0))),
        (r#"{"type":"cost-state","modelUsage":{"m":7}}"#, Some((1, 0))),
        (r#"{"type":"cost-state","modelUsage":{"m":{"inputTokens":-5}}}"#, Some((1, 0))),
        (r#"{"type":"cost-state","modelUsage":{"m":{"inputTokens":"5"}}}"#, Some((1, 0))),
        (r#"{"type":"cost-state","modelUsage":{"m":{"inputTokens":null}}}"#, Some((1, 0))),
        (r#"{"type":"cost-state","modelUsage":{"m":{"inputTokens":2.9}}}"#, Some((1, 2))),
        (r#"{"type":"cost-state","modelUsage":{"m":{"inputTokens":1e30}}}"#, Some((1, u64::MAX))),
        (r#"{"type":"cost-state","modelUsage":{"m":{"inputTokens":5}},"cut"#, Some((1, 5))),
        (
            r#"{"type":"cost-state","totalCostUSD":-1,"modelUsage":{"m":{"inputTokens":5,"costUSD":-1}}}"#,
            Some((1, 5)),
        ),
    ];
    for &(line, expected) in cases {
        let state = CostState::parse(line.as_bytes());
        let parsed = state
            .as_ref()
            .map(|state| (state.models.len(), state.models.iter().map(|m| m.usage.input).sum()));
        assert_eq!(parsed, expected, "{line}");
        assert!(state.is_none_or(|state| state.total.is_none()), "{line}");
    }
}

#[test]
fn deep_nesting_is_parsed() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let line = format!(
        r#"{{"type":"cost-state","new":{deep},"modelUsage":{{"m":{{"outputTokens":3,"x":{deep}}}}}}}"#
    );
    let state = CostState::parse(line.as_bytes()).expect("a line of that type");
    assert_eq!(state.models[0].usage.output, 3);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_lines_never_panic(at in 0..LINE.len(), byte in any::<u8>(), cut in 0..LINE.len()) {
        let mut line = LINE.as_bytes().to_vec();
        line[at] = byte;
        let _ = CostState::parse(&line);
        let _ = CostState::parse(&line[cut..]);
        let _ = CostState::parse(&line[..cut]);
    }
}
