//! What a reader sees of each tool: pieces of the head and of the body.

use rethread_engine::core::turn::Media;
use serde_json::{Value, json};

use super::{call, draw};
use crate::html::text::check::markup as words;

/// A call, and what must be seen of it.
pub(super) struct Case {
    /// The tool.
    pub(super) name: &'static str,
    /// What it was asked.
    pub(super) input: Value,
    /// What it answered.
    pub(super) result: Option<&'static str>,
    /// What the client noted; null for nothing.
    pub(super) noted: Value,
    /// The words of its head.
    pub(super) head: &'static str,
    /// Words of the body, in this order.
    pub(super) body: &'static [&'static str],
}

/// Draws each call and looks for what must be seen.
pub(super) fn check(cases: &[Case]) {
    for case in cases {
        let noted = (!case.noted.is_null()).then(|| case.noted.clone());
        let (head, body) = draw(&call(case.name, &case.input.to_string(), case.result), noted);
        let head = words(&head).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(head, case.head, "head of {} {}", case.name, case.input);
        let (body, mut at) = (words(&body), 0);
        for piece in case.body {
            let found = body[at..].find(piece);
            assert!(found.is_some(), "{} {} lacks {piece:?} behind byte {at}: {body}", case.name, case.input);
            at += found.unwrap_or_default() + piece.len();
        }
    }
}

#[test]
fn shells() {
    check(&[
        Case {
            name: "Bash",
            input: json!({ "command": "make test", "description": "Run tests", "timeout": 60_000 }),
            result: Some("one\ntwo"),
            noted: json!({ "stdout": "one\ntwo", "stderr": "careful", "interrupted": false }),
            head: "Bash make test Run tests 2 lines",
            body: &["Run tests", "make test", "at most", "1m 00s", "one\ntwo", "stderr", "careful"],
        },
        Case {
            name: "Bash",
            input: json!({ "command": "false" }),
            result: Some("!Exit code 2\nno <b>luck</b>"),
            noted: json!("Error: Exit code 2"),
            head: "Bash false exit 2",
            body: &["false", "Exit code 2\nno <b>luck</b>"],
        },
        Case {
            name: "Bash",
            input: json!({ "command": "serve", "run_in_background": true }),
            result: Some("Command running in background with ID: b1"),
            noted: json!({ "stdout": "", "stderr": "", "backgroundTaskId": "b1" }),
            head: "Bash serve background b1",
            body: &["in the background", "yes", "running in background with ID: b1"],
        },
        Case {
            name: "Bash",
            input: json!({ "command": "grep x y" }),
            result: Some(""),
            noted: json!({ "stdout": "", "stderr": "", "returnCodeInterpretation": "No matches found" }),
            head: "Bash grep x y No matches found",
            body: &["no output", "No matches found"],
        },
        Case {
            name: "BashOutput",
            input: json!({ "bash_id": "b1" }),
            result: Some(
                "<status>completed</status>\n<exit_code>1</exit_code>\n<stdout>\nout\n</stdout>\n<stderr>\nerr\n</stderr>",
            ),
            noted: Value::Null,
            head: "BashOutput b1 exit 1",
            body: &["bash_id", "b1", "completed", "out", "stderr", "err"],
        },
        Case {
            name: "TaskOutput",
            input: json!({ "task_id": "b2", "block": true }),
            result: Some("<status>running</status>"),
            noted: json!({ "task": { "status": "running", "description": "sleep 9", "output": "zz", "exitCode": null } }),
            head: "TaskOutput sleep 9 running",
            body: &["running", "sleep 9", "zz"],
        },
        Case {
            name: "KillShell",
            input: json!({ "shell_id": "b1" }),
            result: Some("{\"message\":\"killed b1\",\"shell_id\":\"b1\"}"),
            noted: Value::Null,
            head: "KillShell b1",
            body: &["killed b1"],
        },
    ]);
}

#[test]
fn files() {
    check(&[
        Case {
            name: "Read",
            input: json!({ "file_path": "/home/ada/loom/src/warp.rs", "offset": 7, "limit": 2 }),
            result: Some("     7→fn warp() {\n     8→}\n\n<system-reminder>\nbe good\n</system-reminder>\n"),
            noted: Value::Null,
            head: "Read src/warp.rs lines 7–8",
            body: &["file", "src/warp.rs", "from line", "7", "fn warp() {\n", "}"],
        },
        Case {
            name: "Read",
            input: json!({ "file_path": "/etc/motd" }),
            result: Some("     1→hi"),
            noted: json!({ "type": "text", "file": { "content": "hi\n", "numLines": 2, "startLine": 1 } }),
            head: "Read /etc/motd 1 line",
            body: &["hi"],
        },
        Case {
            name: "Write",
            input: json!({ "file_path": "/home/ada/loom/a.txt", "content": "x\ny\n" }),
            result: Some("File created"),
            noted: json!({ "type": "create", "structuredPatch": [], "originalFile": null }),
            head: "Write a.txt 2 lines new",
            body: &["a.txt", "x", "y"],
        },
        Case {
            name: "Write",
            input: json!({ "file_path": "/home/ada/loom/a.txt", "content": "x\nz\n" }),
            result: Some("File updated"),
            noted: json!({ "type": "update", "originalFile": "x\ny\n", "userModified": true,
                "structuredPatch": [{ "oldStart": 1, "newStart": 1, "lines": [" x", "-y", "+z"] }] }),
            head: "Write a.txt +1 −1",
            body: &["changed by the user", "x", "y", "z"],
        },
        Case {
            name: "Edit",
            input: json!({ "file_path": "/home/ada/loom/a.txt", "old_string": "a\nb\n", "new_string": "a\nc\nd\n", "replace_all": true }),
            result: Some("done"),
            noted: Value::Null,
            head: "Edit a.txt all places +2 −1",
            body: &["replaced in all places", "b", "c"],
        },
        Case {
            name: "MultiEdit",
            input: json!({ "file_path": "/b", "edits": [{ "old_string": "one", "new_string": "two" },
                { "old_string": "", "new_string": "new", "replace_all": true }] }),
            result: Some("!<tool_use_error>not found</tool_use_error>"),
            noted: Value::Null,
            head: "MultiEdit /b 2 edits +2 −1 failed",
            body: &["edit 1", "one", "two", "edit 2", "in all places", "new", "not found"],
        },
        Case {
            name: "NotebookEdit",
            input: json!({ "notebook_path": "/home/ada/loom/n.ipynb", "cell_id": "c3", "cell_type": "code", "edit_mode": "insert", "new_source": "print(1)" }),
            result: Some("ok"),
            noted: Value::Null,
            head: "NotebookEdit n.ipynb cell c3 insert 1 line",
            body: &["n.ipynb", "cell", "c3", "code", "print(1)"],
        },
    ]);
}

#[test]
fn other_tools() {
    check(&[
        Case {
            name: "mcp__mill__spin_yarn",
            input: json!({ "title": "Wool", "grams": 40, "tags": ["a", "b"] }),
            result: Some("{\"ok\":true}"),
            noted: Value::Null,
            head: "spin_yarn mill Wool",
            body: &["title", "Wool", "grams", "40", "tags", "[\"a\",\"b\"]", "ok", "true"],
        },
        Case {
            name: "CronCreate",
            input: json!({ "cron": "0 9 * * *", "prompt": "good morning" }),
            result: Some("Scheduled"),
            noted: Value::Null,
            head: "CronCreate good morning",
            body: &["cron", "0 9 * * *", "Scheduled"],
        },
    ]);
}

#[test]
fn results_kept_elsewhere_name_their_file() {
    let text = "<persisted-output>\nOutput too large (35.8KB). Full output saved to: /h/tool-results/b2.txt\n\n\
                Preview (first 2KB):\nfirst\n...\n</persisted-output>";
    let (head, body) = draw(&call("Bash", "{\"command\":\"x\"}", Some(text)), None);
    assert!(words(&head).ends_with("35.8KB"), "{head}");
    assert!(body.contains("<div class=\"kept\" data-kept=\"b2.txt\">"), "{body}");
    assert!(words(&body).contains("first"), "{body}");
    let text = text.replace("b2.txt", "gone.txt");
    let (_, body) = draw(&call("Bash", "{\"command\":\"x\"}", Some(&text)), None);
    assert!(!body.contains("data-kept") && words(&body).contains("which is not there any more"), "{body}");
}

#[test]
fn pictures_agents_and_long_results_leave_hooks_for_the_page() {
    let mut read = call("Read", "{\"file_path\":\"/a.png\"}", Some(""));
    if let Some(result) = &mut read.result {
        result.media = vec![Media { kind: "image/png".into(), bytes: 100, line: 2, no: 0 }];
    }
    let (_, body) = draw(&read, None);
    assert!(body.contains("src=\"/picture?line=2&amp;call=toolu_1&amp;no=0\""), "{body}");
    let (_, body) = draw(&call("Agent", "{\"prompt\":\"x\"}", None), None);
    assert!(body.starts_with("<div class=\"agent-here\" data-call=\"toolu_1\"></div>"), "{body}");
    let lines: String = (1..=300).map(|no| format!("line {no}\n")).collect();
    let (_, body) = draw(&call("Bash", "{\"command\":\"x\"}", Some(&lines)), None);
    assert!(body.contains("<details class=\"more\"><summary>260 more lines</summary>"), "{body}");
    assert!(words(&body).contains("line 40\n") && words(&body).contains("line 300"), "{body}");
}
