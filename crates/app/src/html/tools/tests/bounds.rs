//! Size limits: the parts of a call that every page contains stay small.

use serde_json::{Value, json};

use super::{call, render};
use crate::html::tools::{is_long, render_static_headline};

#[test]
fn headline_length_is_bounded() {
    let long = format!("/{}", "x/".repeat(20_000));
    let edits: Vec<Value> = (0..500)
        .map(|idx| json!({ "old_string": format!("{idx}"), "new_string": format!("{idx}!") }))
        .collect();
    let input = json!({
        "file_path": long, "path": long, "notebook_path": long, "pattern": long, "command": long, "url": long, "query": long,
        "description": long, "edits": edits, "questions": [{ "question": long }],
    })
    .to_string();
    for name in
        ["Bash", "Read", "Write", "Edit", "MultiEdit", "Grep", "Glob", "LS", "NotebookEdit", "mcp__a__b", "X"]
    {
        let tool_call = call(name, &input, Some("ok"));
        let (head, _) = render(&tool_call, None);
        assert!(head.len() < 4000, "{name}: {} bytes", head.len());
        assert!(render_static_headline(&tool_call, "/").into_string().len() < 1000, "{name}");
    }
}

#[test]
fn long_lists_are_collapsed_and_show_all_changes() {
    let todos = |from: usize, status: &str| -> Vec<Value> {
        (from..from + 3000)
            .map(|idx| json!({ "content": format!("task {idx}."), "status": status }))
            .collect()
    };
    let input = json!({ "todos": todos(1000, "completed") }).to_string();
    let (_, body) =
        render(&call("TodoWrite", &input, Some("ok")), Some(json!({ "oldTodos": todos(0, "pending") })));
    assert!(body.contains("<summary>3,800 more tasks</summary>"), "{}", &body[..2000]);
    let counts =
        ["was open", "new", "no longer listed"].map(|change| body.matches(&format!(">{change}<")).count());
    assert_eq!(counts, [2000, 1000, 1000]);
    assert!(is_long(&call("TodoWrite", &input, Some("ok"))), "long lists are loaded on demand");

    let questions: Vec<Value> = (0..30)
        .map(
            |idx| json!({ "question": format!("q{idx}?"), "options": [{ "label": "yes" }, { "label": "no" }] }),
        )
        .collect();
    let input = json!({ "questions": questions }).to_string();
    let answers: String = (0..30).map(|idx| format!("\"q{idx}?\"=\"no\", ")).collect();
    let (_, body) = render(&call("AskUserQuestion", &input, Some(&answers)), None);
    assert!(body.contains("<summary>10 more questions</summary>"), "{body}");
    assert_eq!(body.matches("<li class=\"chosen\">").count(), 20, "{body}");
}

#[test]
fn whitespace_only_changes_are_shown() {
    for (old, new, head) in
        [("a\n", "a\n\n", "+1"), ("  ", "\t", "+1"), ("", "\n", "+1"), ("\n\n", "\n", "−1")]
    {
        let input = json!({ "file_path": "/a", "old_string": old, "new_string": new }).to_string();
        let (headline, body) = render(&call("Edit", &input, Some("ok")), None);
        assert!(headline.contains(head), "{old:?} {new:?}: {headline}");
        assert!(body.contains("<pre class=\"patch") && body.contains("pl-"), "{old:?} {new:?}: {body}");
    }
    let (_, body) = render(&call("Write", "{\"file_path\":\"/a\",\"content\":\"\"}", Some("ok")), None);
    assert!(body.contains("empty file"), "{body}");
}

#[test]
fn matches_are_marked_within_the_byte_budget() {
    let lines = |count: usize| (0..count).map(|idx| format!("a.rs:{idx}:aaab needle\n")).collect::<String>();
    let marks = |pattern: &str, count: usize| {
        let input = json!({ "pattern": pattern, "output_mode": "content", "-n": true }).to_string();
        render(&call("Grep", &input, Some(&lines(count))), None).1.matches("<mark>").count()
    };
    assert_eq!(marks("needle", 1000), 1000);
    let limited = marks("needle", 20_000);
    assert!((1000..10_000).contains(&limited), "{limited}");
    assert_eq!(
        marks("(?:[ab]{0,30}){0,20}c", 10),
        0,
        "a pattern that is too large is searched as literal text"
    );
}
