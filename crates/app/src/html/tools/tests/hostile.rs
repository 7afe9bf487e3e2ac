//! Hostile calls: wrong types everywhere, markup in every field, huge and deeply nested values.

use rethread_engine::core::turn::{Media, ToolCall};
use serde_json::{Value, json};

use super::{call, render};
use crate::html::tools::is_long;

const NAMES: &[&str] = &[
    "Bash",
    "BashOutput",
    "PowerShell",
    "KillShell",
    "Monitor",
    "Read",
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "Grep",
    "Glob",
    "LS",
    "LSP",
    "ToolSearch",
    "WebSearch",
    "WebFetch",
    "Task",
    "Agent",
    "TaskOutput",
    "SendMessage",
    "TeamCreate",
    "TodoWrite",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "AskUserQuestion",
    "ExitPlanMode",
    "EnterPlanMode",
    "Skill",
    "SlashCommand",
    "CronCreate",
    "mcp__a__b",
    "mcp__",
    "",
    "<b>&\"'",
];
const FIELDS: &[&str] = &[
    "command",
    "description",
    "timeout",
    "run_in_background",
    "bash_id",
    "task_id",
    "file_path",
    "offset",
    "limit",
    "content",
    "old_string",
    "new_string",
    "replace_all",
    "edits",
    "notebook_path",
    "cell_id",
    "cell_type",
    "new_source",
    "pattern",
    "path",
    "output_mode",
    "glob",
    "url",
    "prompt",
    "query",
    "subagent_type",
    "to",
    "message",
    "summary",
    "todos",
    "taskId",
    "status",
    "subject",
    "questions",
    "plan",
    "skill",
    "args",
    "operation",
    "filePath",
    "line",
    "character",
    "<i onload=x>",
];
const RESULT_META_FIELDS: &[&str] = &[
    "stdout",
    "stderr",
    "interrupted",
    "backgroundTaskId",
    "returnCodeInterpretation",
    "type",
    "file",
    "structuredPatch",
    "originalFile",
    "userModified",
    "filenames",
    "numFiles",
    "numLines",
    "mode",
    "content",
    "truncated",
    "results",
    "code",
    "codeText",
    "bytes",
    "result",
    "status",
    "agentType",
    "totalTokens",
    "task",
    "tasks",
    "oldTodos",
    "statusChange",
    "answers",
    "annotations",
    "plan",
    "message",
    "matches",
    "exitCode",
    "command",
];
const EVIL: &str = "</pre></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'><b onclick=x>\u{202e}\u{1b}[2J]]>";

/// Returns values of every type, to be used where another type is expected.
fn unexpected_values() -> Vec<Value> {
    let nested = json!({ "question": EVIL, "options": [{ "label": EVIL }, 7, null], "status": 3, "content": EVIL,
        "lines": [EVIL, 4], "oldStart": -1, "newStart": 1e30, "text": EVIL, "cells": [{ "source": EVIL, "outputs": [1] }],
        "url": "javascript:alert(1)", "title": EVIL, "old_string": [], "new_string": EVIL, "from": 1, "to": EVIL, "id": {} });
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(18_446_744_073_709_551_615_u64),
        json!(1.5e300),
        json!(""),
        json!(EVIL),
        json!("text"),
        json!("content"),
        json!([]),
        json!([EVIL, [EVIL], null, 4]),
        json!({}),
        json!([nested.clone(), 1, nested.clone()]),
        nested,
    ]
}

fn object(fields: &[&str], value: &Value) -> Value {
    fields.iter().map(|field| ((*field).to_owned(), value.clone())).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn wrong_types_are_rendered_as_text() {
    let results = [None, Some(""), Some(EVIL), Some("!<tool_use_error><script>x</script></tool_use_error>")];
    for name in NAMES {
        for value in unexpected_values() {
            let input = object(FIELDS, &value).to_string();
            for result in results {
                let call = call(name, &input, result);
                render(&call, None);
                render(&call, Some(object(RESULT_META_FIELDS, &value)));
                render(&call, Some(value.clone()));
            }
        }
    }
}

#[test]
fn non_object_input_is_rendered_as_raw_text() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_object = format!("{}1{}", "{\"a\":".repeat(20_000), "}".repeat(20_000));
    for name in NAMES {
        for input in
            ["", "null", "3", "\"<b>\"", "[1,\"<script>\"]", "{\"command\":", "<script>", &deep, &deep_object]
        {
            render(&call(name, input, Some(&format!("{{\"a\": {EVIL}"))), Some(json!("Error: <b>")));
        }
        render(&call(name, "{}", Some(&deep)), None);
    }
}

#[test]
fn names_and_media_are_escaped() {
    let mut call = call(EVIL, "{}", Some("x"));
    call.id = EVIL.into();
    if let Some(result) = &mut call.result {
        let kinds = [(format!("image/{EVIL}"), 8), (EVIL.into(), 0), ("application/pdf".into(), 4000)];
        let media = |(idx, (kind, bytes))| Media { kind, bytes, line: 2, index: idx };
        result.media = kinds.into_iter().enumerate().map(media).collect();
    }
    let (_, body) = render(&call, None);
    assert!(body.contains("a PDF document, 3.0 kB"), "{body}");
}

#[test]
fn markup_size_is_proportional_to_the_input() {
    let line = "a-1-b:2:c ".repeat(100_000);
    let lines = "x:1:y\n".repeat(60_000);
    let check_size = |name: &str, (head, body): (String, String)| {
        assert!(
            head.len() < 4000 && body.len() < 12 << 20,
            "{name}: {} and {} bytes",
            head.len(),
            body.len()
        );
    };
    for name in ["Bash", "Read", "Grep", "Glob", "WebFetch", "Task", "mcp__a__b", "TaskList"] {
        for text in [&line, &lines] {
            let input =
                json!({ "command": "x", "file_path": "/a", "pattern": "(a|b)*c", "output_mode": "content" });
            check_size(name, render(&call(name, &input.to_string(), Some(text)), None));
        }
    }
    for name in ["Write", "Edit"] {
        let input = json!({ "file_path": "/a", "content": line, "old_string": lines, "new_string": line });
        check_size(name, render(&call(name, &input.to_string(), Some("ok")), None));
    }
}

#[test]
fn only_long_calls_are_loaded_on_demand() {
    let long = "x".repeat(7000);
    let cases = [
        ("Bash", "{}", Some("short"), false),
        ("Bash", "{}", Some(long.as_str()), true),
        ("Write", long.as_str(), None, true),
        ("TodoWrite", long.as_str(), None, false),
        ("AskUserQuestion", long.as_str(), None, false),
        ("ExitPlanMode", long.as_str(), Some(long.as_str()), false),
    ];
    for (name, input, result, expected) in cases {
        assert_eq!(is_long(&call(name, input, result)), expected, "{name}");
    }
    assert!(!is_long(&ToolCall::default()));
}
