//! How much is drawn: what stands in every page stays small, whatever a call holds.

use serde_json::{Value, json};

use super::{call, draw};
use crate::html::tools::{bare, is_long};

#[test]
fn the_head_of_a_call_is_short_whatever_it_holds() {
    let long = format!("/{}", "x/".repeat(20_000));
    let edits: Vec<Value> =
        (0..500).map(|no| json!({ "old_string": format!("{no}"), "new_string": format!("{no}!") })).collect();
    let input = json!({
        "file_path": long, "path": long, "notebook_path": long, "pattern": long, "command": long, "url": long, "query": long,
        "description": long, "edits": edits, "questions": [{ "question": long }],
    })
    .to_string();
    for name in
        ["Bash", "Read", "Write", "Edit", "MultiEdit", "Grep", "Glob", "LS", "NotebookEdit", "mcp__a__b", "X"]
    {
        let told = call(name, &input, Some("ok"));
        let (head, _) = draw(&told, None);
        assert!(head.len() < 4000, "{name}: {} bytes", head.len());
        assert!(bare(&told, "/").into_string().len() < 1000, "{name}");
    }
}

#[test]
fn long_lists_fold_and_every_change_in_them_is_told() {
    let todos = |from: usize, status: &str| -> Vec<Value> {
        (from..from + 3000).map(|no| json!({ "content": format!("task {no}."), "status": status })).collect()
    };
    let input = json!({ "todos": todos(1000, "completed") }).to_string();
    let (_, body) =
        draw(&call("TodoWrite", &input, Some("ok")), Some(json!({ "oldTodos": todos(0, "pending") })));
    assert!(body.contains("<summary>3,800 more tasks</summary>"), "{}", &body[..2000]);
    let counts =
        ["was open", "new", "no longer listed"].map(|news| body.matches(&format!(">{news}<")).count());
    assert_eq!(counts, [2000, 1000, 1000]);
    assert!(is_long(&call("TodoWrite", &input, Some("ok"))), "nobody reads so much with the conversation");

    let asked: Vec<Value> = (0..30)
        .map(
            |no| json!({ "question": format!("q{no}?"), "options": [{ "label": "yes" }, { "label": "no" }] }),
        )
        .collect();
    let input = json!({ "questions": asked }).to_string();
    let answers: String = (0..30).map(|no| format!("\"q{no}?\"=\"no\", ")).collect();
    let (_, body) = draw(&call("AskUserQuestion", &input, Some(&answers)), None);
    assert!(body.contains("<summary>10 more questions</summary>"), "{body}");
    assert_eq!(body.matches("<li class=\"chosen\">").count(), 20, "{body}");
}

#[test]
fn a_change_of_white_space_is_a_change() {
    for (old, new, head) in
        [("a\n", "a\n\n", "+1"), ("  ", "\t", "+1"), ("", "\n", "+1"), ("\n\n", "\n", "−1")]
    {
        let input = json!({ "file_path": "/a", "old_string": old, "new_string": new }).to_string();
        let (drawn, body) = draw(&call("Edit", &input, Some("ok")), None);
        assert!(drawn.contains(head), "{old:?} {new:?}: {drawn}");
        assert!(body.contains("<pre class=\"patch") && body.contains("pl-"), "{old:?} {new:?}: {body}");
    }
    let (_, body) = draw(&call("Write", "{\"file_path\":\"/a\",\"content\":\"\"}", Some("ok")), None);
    assert!(body.contains("empty file"), "{body}");
}

#[test]
fn a_pattern_is_looked_for_only_where_it_is_worth_it() {
    let lines = |count: usize| (0..count).map(|no| format!("a.rs:{no}:aaab needle\n")).collect::<String>();
    let marks = |pattern: &str, count: usize| {
        let input = json!({ "pattern": pattern, "output_mode": "content", "-n": true }).to_string();
        draw(&call("Grep", &input, Some(&lines(count))), None).1.matches("<mark>").count()
    };
    assert_eq!(marks("needle", 1000), 1000);
    let most = marks("needle", 20_000);
    assert!((1000..10_000).contains(&most), "{most}");
    assert_eq!(
        marks("(?:[ab]{0,30}){0,20}c", 10),
        0,
        "a pattern that becomes too large is looked for as words"
    );
}
