//! What a reader sees of searches, of files and of the web.

use serde_json::{Value, json};

use super::rendering::{Case, check};
use super::{call, draw};

#[test]
fn finding() {
    check(&[
        Case {
            name: "Grep",
            input: json!({ "pattern": "w[ae]ft", "path": "/home/ada/loom/src", "output_mode": "content", "-n": true }),
            result: Some("src/a.rs:3:let weft = 1;\nsrc/a.rs-4-next\nsrc/b.rs:9:waft"),
            noted: Value::Null,
            head: "Grep w[ae]ft in src 3 lines",
            body: &["pattern", "w[ae]ft", "src/a.rs", "let weft = 1;", "next", "src/b.rs", "waft"],
        },
        Case {
            name: "Grep",
            input: json!({ "pattern": "x" }),
            result: Some("Found 1 file\n/home/ada/loom/src/a.rs"),
            noted: Value::Null,
            head: "Grep x 1 file",
            body: &["src/a.rs"],
        },
        Case {
            name: "Grep",
            input: json!({ "pattern": "x", "output_mode": "count" }),
            result: Some("a.rs:2"),
            noted: json!({ "mode": "count", "content": "a.rs:2", "numMatches": 2 }),
            head: "Grep x 2 matches",
            body: &["a.rs", "2"],
        },
        Case {
            name: "Glob",
            input: json!({ "pattern": "**/*.rs" }),
            result: Some("x"),
            noted: json!({ "filenames": ["/home/ada/loom/src/a.rs", "b.rs"], "truncated": true }),
            head: "Glob **/*.rs 2 files cut short",
            body: &["src/a.rs", "b.rs"],
        },
        Case {
            name: "Glob",
            input: json!({ "pattern": "*.zig" }),
            result: Some("No files found"),
            noted: Value::Null,
            head: "Glob *.zig 0 files",
            body: &["nothing found"],
        },
        Case {
            name: "LS",
            input: json!({ "path": "/home/ada/loom" }),
            result: Some("- /home/ada/loom/\n  - src/"),
            noted: Value::Null,
            head: "LS . 2 entries",
            body: &["- src/"],
        },
        Case {
            name: "ToolSearch",
            input: json!({ "query": "select:Web" }),
            result: Some("tool loaded: WebFetch\n"),
            noted: Value::Null,
            head: "ToolSearch select:Web",
            body: &["WebFetch"],
        },
        Case {
            name: "WebSearch",
            input: json!({ "query": "looms" }),
            result: Some("Links: [{\"title\":\"Old\",\"url\":\"https://old.example\"}]"),
            noted: json!({ "results": [{ "content": [{ "title": "Looms today", "url": "https://a.example/x" }] }, "A summary."] }),
            head: "WebSearch looms 1 link",
            body: &["looms", "Looms", "A summary."],
        },
        Case {
            name: "WebFetch",
            input: json!({ "url": "https://docs.example/weave?x=1", "prompt": "How?" }),
            result: Some("Like so."),
            noted: json!({ "code": 404, "codeText": "Not Found", "bytes": 2048 }),
            head: "WebFetch docs.example /weave?x=1 404 2.0 kB",
            body: &["answer", "404 Not Found", "question", "How?", "Like so."],
        },
    ]);
}

#[test]
fn matches_are_marked() {
    let input = json!({ "pattern": "w[ae]ft", "output_mode": "content", "-i": true }).to_string();
    let (_, body) = draw(&call("Grep", &input, Some("a.rs:3:<Weft> waft")), None);
    assert!(body.contains("&lt;<mark>Weft</mark>&gt; <mark>waft</mark>"), "{body}");
}
