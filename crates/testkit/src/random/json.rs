//! JSON texts: unusual spacing, every escape, lone surrogates, deep nesting, huge numbers, repeated keys.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// The top-level keys that the reader knows.
const TOP_KEYS: &[&str] = &[
    "type",
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "timestamp",
    "sessionId",
    "session_id",
    "agentId",
    "version",
    "cwd",
    "gitBranch",
    "slug",
    "entrypoint",
    "requestId",
    "subtype",
    "leafUuid",
    "summary",
    "customTitle",
    "aiTitle",
    "agentName",
    "lastPrompt",
    "attachment",
    "data",
    "snapshot",
    "content",
    "toolUseResult",
    "forkedFrom",
    "compactMetadata",
    "origin",
    "toolUseID",
    "parentToolUseID",
    "durationMs",
    "isSidechain",
    "isMeta",
    "isCompactSummary",
    "isApiErrorMessage",
    "isSnapshotUpdate",
    "explicit",
    "planContent",
    "messageId",
];
const BLOCK_KEYS: &[&str] = &[
    "type",
    "id",
    "tool_use_id",
    "name",
    "tool_name",
    "text",
    "thinking",
    "data",
    "input",
    "content",
    "source",
    "is_error",
    "signature",
];
const USAGE_KEYS: &[&str] = &[
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "service_tier",
];
/// String values with a meaning.
const KNOWN_VALUES: &[&str] = &[
    "user",
    "assistant",
    "system",
    "progress",
    "attachment",
    "summary",
    "agent-name",
    "custom-title",
    "last-prompt",
    "file-history-snapshot",
    "text",
    "thinking",
    "tool_use",
    "tool_result",
    "compact_boundary",
    "turn_duration",
    "queued_command",
    "bash_progress",
    "<synthetic>",
    "2025-01-01T00:00:00.000Z",
    "<command-name>/help</command-name>",
    "[Request interrupted by user]",
    "75310000-0000-4000-8000-000000000000",
    "",
];

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![12 => Just(""), 2 => Just(" "), 1 => select(&["\t", "\r", "  ", " \t \r "][..])]
}

/// Generates the body of a valid JSON string, without quotes.
pub fn string_body() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[ -!#-\\[\\]-~]{0,12}",
        2 => "\\PC{0,6}".prop_map(|text| text.replace(['"', '\\'], "_")),
        2 => select(&["\\n", "\\\"", "\\\\", "\\/", "\\t", "\\r", "\\b", "\\f"][..]).prop_map(str::to_owned),
        1 => any::<u16>().prop_map(|unit| format!("\\u{unit:04x}")),
        1 => (0xD800u16..0xE000).prop_map(|unit| format!("\\u{unit:04X}")),
        1 => (0xD800u16..0xDC00, 0xDC00u16..0xE000).prop_map(|(a, b)| format!("\\u{a:04x}\\u{b:04X}")),
        1 => (40usize..90).prop_map(|n| "long ".repeat(n / 5)),
        1 => select(&["{\"type\":\"user\",", "\\u0000", "\u{7f}", "\u{2028}", "\u{FEFF}", "\u{10FFFF}"][..])
            .prop_map(|text| text.replace('"', "\\\"")),
    ];
    vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any::<u16>().prop_map(|n| n.to_string()),
        1 => any::<i64>().prop_map(|n| n.to_string()),
        1 => any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| format!("{n:e}")),
        1 => "-?[1-9][0-9]{0,40}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
        1 => select(&[
            "0", "-0", "0.0", "18446744073709551615", "18446744073709551616", "99999999999999999999", "1e3", "1E+9",
            "1e999", "-1", "1735689600", "1735689600000", "100000000000",
        ][..]).prop_map(str::to_owned),
    ]
}

/// Writes a text as a JSON string, sometimes with an unnecessary escape.
fn json_string(text: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![
        8 => Just(0usize),
        1 => 1usize..40,
    ]
    .prop_map(move |at| {
        let escape = |(idx, c): (usize, char)| {
            if idx + 1 == at { format!("\\u{:04x}", c as u32) } else { c.to_string() }
        };
        format!("\"{}\"", text.chars().enumerate().map(escape).collect::<String>())
    })
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => select(&["null", "true", "false"][..]).prop_map(str::to_owned),
        2 => number(),
        4 => string_body().prop_map(|body| format!("\"{body}\"")),
        3 => select(KNOWN_VALUES).prop_flat_map(json_string),
    ]
}

fn nested() -> impl Strategy<Value = String> {
    (1usize..300, any::<u64>(), scalar()).prop_map(|(depth, bits, inner)| {
        let is_object = |level: usize| bits >> (level % 64) & 1 == 1;
        let opening: String = (0..depth).map(|level| if is_object(level) { "{\"\":" } else { "[" }).collect();
        let closing: String =
            (0..depth).rev().map(|level| if is_object(level) { '}' } else { ']' }).collect();
        format!("{opening}{inner}{closing}")
    })
}

/// Generates any JSON value.
pub fn value() -> BoxedStrategy<String> {
    let leaf = prop_oneof![20 => scalar(), 1 => nested()];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let key = string_body().prop_map(|body| format!("\"{body}\""));
        prop_oneof![
            (space(), vec((inner.clone(), space(), space()), 0..5)).prop_map(|(open, items)| {
                let items: Vec<String> = items.into_iter().map(|(v, a, b)| format!("{a}{v}{b}")).collect();
                format!("[{open}{}]", items.join(","))
            }),
            vec((key, inner), 0..5).prop_flat_map(join_members),
        ]
    })
    .boxed()
}

/// Joins members into an object with random spacing.
fn join_members(members: Vec<(String, String)>) -> impl Strategy<Value = String> {
    vec((space(), space(), space(), space()), members.len()).prop_flat_map(move |spaces| {
        let members = members.clone();
        space().prop_map(move |open| {
            let spaced = members.iter().zip(&spaces);
            let texts = spaced.map(|((key, value), (a, b, c, d))| format!("{a}{key}{b}:{c}{value}{d}"));
            format!("{{{open}{}}}", texts.collect::<Vec<_>>().join(","))
        })
    })
}

fn member(keys: &'static [&'static str], value: BoxedStrategy<String>) -> BoxedStrategy<(String, String)> {
    (select(keys).prop_flat_map(json_string), value).boxed()
}

/// Generates an object: known keys with any value, arbitrary keys, and the members of `inner`.
fn object_with(
    keys: &'static [&'static str],
    inner: &[(&'static str, BoxedStrategy<String>)],
    max_members: usize,
) -> BoxedStrategy<String> {
    let mut members = vec![(6, member(keys, plain_value())), (1, (any_key(), value()).boxed())];
    for (key, value) in inner {
        members.push((3, (json_string(key), value.clone()).boxed()));
    }
    vec(proptest::strategy::Union::new_weighted(members), 0..max_members).prop_flat_map(join_members).boxed()
}

fn any_key() -> impl Strategy<Value = String> {
    string_body().prop_map(|body| format!("\"{body}\""))
}

fn plain_value() -> BoxedStrategy<String> {
    prop_oneof![6 => scalar(), 1 => value()].boxed()
}

fn usage() -> BoxedStrategy<String> {
    let count = || prop_oneof![3 => number(), 1 => plain_value()].boxed();
    let cache = object_with(&["ephemeral_1h_input_tokens", "ephemeral_5m_input_tokens"], &[], 3);
    let tools = object_with(&["web_search_requests"], &[], 3);
    let counts = USAGE_KEYS.iter().map(|key| (*key, count()));
    let inner: Vec<_> = counts
        .chain([
            ("cache_creation", prop_oneof![3 => cache, 1 => plain_value()].boxed()),
            ("server_tool_use", prop_oneof![3 => tools, 1 => plain_value()].boxed()),
        ])
        .collect();
    object_with(USAGE_KEYS, &inner, 6)
}

fn content() -> BoxedStrategy<String> {
    let block = || object_with(BLOCK_KEYS, &[], 6);
    let item = prop_oneof![5 => block(), 1 => plain_value()];
    let list = vec(item, 0..4).prop_map(|items| format!("[{}]", items.join(" ,")));
    prop_oneof![4 => list, 1 => plain_value()].boxed()
}

fn message() -> BoxedStrategy<String> {
    let inner = [("content", content()), ("usage", prop_oneof![4 => usage(), 1 => plain_value()].boxed())];
    object_with(&["id", "role", "model", "stop_reason", "type"], &inner, 6)
}

/// Generates an object like a line of a session file: known keys, likely and unlikely values, repeated keys.
pub fn object() -> BoxedStrategy<String> {
    let payload = || object_with(&["type", "prompt", "trackedFileBackups"], &[], 4);
    let inner = [
        ("message", prop_oneof![6 => message(), 1 => plain_value()].boxed()),
        ("attachment", payload()),
        ("data", payload()),
        ("snapshot", payload()),
        ("timestamp", timestamp().prop_map(|text| format!("\"{text}\"")).boxed()),
        ("type", select(KNOWN_VALUES).prop_flat_map(json_string).boxed()),
    ];
    object_with(TOP_KEYS, &inner, 10)
}

/// Generates a line: usually an [`object`], sometimes any value.
pub fn line() -> BoxedStrategy<String> {
    prop_oneof![8 => object(), 1 => value()].boxed()
}

/// Generates a text that is or resembles a timestamp.
pub fn timestamp() -> BoxedStrategy<String> {
    let date = (0u32..10000, 0u32..14, 0u32..33).prop_map(|(y, m, d)| format!("{y:04}-{m:02}-{d:02}"));
    let edge_date =
        select(&["0000-01-01", "9999-12-31", "9999-12-30", "2024-02-29", "2023-02-29", "1969-12-31"][..]);
    let date = prop_oneof![3 => date, 1 => edge_date.prop_map(str::to_owned)];
    let clock = (0u32..25, 0u32..61, 0u32..62).prop_map(|(h, m, s)| format!("{h:02}:{m:02}:{s:02}"));
    let fraction = prop_oneof![4 => "\\.[0-9]{3}", 2 => Just(String::new()), 1 => "\\.[0-9]{0,10}"];
    let zone = prop_oneof![6 => Just("Z".to_owned()), 1 => "[+-][0-2][0-9]:?[0-5][0-9]", 1 => "[z ]?"];
    let separator = prop_oneof![8 => Just("T"), 1 => select(&["t", " ", "_"][..])];
    prop_oneof![
        10 => (date, separator, clock, fraction, zone).prop_map(|(d, s, c, f, z)| format!("{d}{s}{c}{f}{z}")),
        1 => "[0-9TZ:.+-]{0,26}",
    ]
    .boxed()
}
