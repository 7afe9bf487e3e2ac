//! Searches in files and on the web.

use serde_json::{Value, json};

use super::rendering::{Case, check};
use super::{call, render};

#[test]
fn search_calls_show_pattern_and_matches() {
    check(&[
        Case {
            name: "Grep",
            input: json!({ "pattern": "w[ae]ft", "path": "/home/ada/loom/src", "output_mode": "content", "-n": true }),
            result: Some("src/a.rs:3:let weft = 1;\nsrc/a.rs-4-next\nsrc/b.rs:9:waft"),
            result_meta: Value::Null,
            head: "Grep w[ae]ft in src 3 lines",
            body: &["pattern", "w[ae]ft", "src/a.rs", "let weft = 1;", "next", "src/b.rs", "waft"],
        },
        Case {
            name: "Grep",
            input: json!({ "pattern": "x" }),
            result: Some("Found 1 file\n/home/ada/loom/src/a.rs"),
            result_meta: Value::Null,
            head: "Grep x 1 file",
            body: &["src/a.rs"],
        },
        Case {
            name: "Grep",
            input: json!({ "pattern": "x", "output_mode": "count" }),
            result: Some("a.rs:2"),
            result_meta: json!({ "mode": "count", "content": "a.rs:2", "numMatches": 2 }),
            head: "Grep x 2 matches",
            body: &["a.rs", "2"],
        },
        Case {
            name: "Glob",
            input: json!({ "pattern": "**/*.rs" }),
            result: Some("x"),
            result_meta: json!({ "filenames": ["/home/ada/loom/src/a.rs", "b.rs"], "truncated": true }),
            head: "Glob **/*.rs 2 files truncated",
            body: &["src/a.rs", "b.rs"],
        },
        Case {
            name: "Glob",
            input: json!({ "pattern": "*.zig" }),
            result: Some("No files found"),
            result_meta: Value::Null,
            head: "Glob *.zig 0 files",
            body: &["no matches"],
        },
        Case {
            name: "LS",
            input: json!({ "path": "/home/ada/loom" }),
            result: Some("- /home/ada/loom/\n  - src/"),
            result_meta: Value::Null,
            head: "LS . 2 entries",
            body: &["- src/"],
        },
        Case {
            name: "ToolSearch",
            input: json!({ "query": "select:Web" }),
            result: Some("tool loaded: WebFetch\n"),
            result_meta: Value::Null,
            head: "ToolSearch select:Web",
            body: &["WebFetch"],
        },
        Case {
            name: "WebSearch",
            input: json!({ "query": "looms" }),
            result: Some("Links: [{\"title\":\"Old\",\"url\":\"https://old.example\"}]"),
            result_meta: json!({ "results": [{ "content": [{ "title": "Looms today", "url": "https://a.example/x" }] }, "A summary."] }),
            head: "WebSearch looms 1 link",
            body: &["looms", "Looms", "A summary."],
        },
        Case {
            name: "WebFetch",
            input: json!({ "url": "https://docs.example/weave?x=1", "prompt": "How?" }),
            result: Some("Like so."),
            result_meta: json!({ "code": 404, "codeText": "Not Found", "bytes": 2048 }),
            head: "WebFetch docs.example /weave?x=1 404 2.0 kB",
            body: &["status", "404 Not Found", "prompt", "How?", "Like so."],
        },
    ]);
}

#[test]
fn matches_are_marked() {
    let input = json!({ "pattern": "w[ae]ft", "output_mode": "content", "-i": true }).to_string();
    let (_, body) = render(&call("Grep", &input, Some("a.rs:3:<Weft> waft")), None);
    assert!(body.contains("&lt;<mark>Weft</mark>&gt; <mark>waft</mark>"), "{body}");
}
