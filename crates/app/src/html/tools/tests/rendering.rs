//! The visible text of each tool: headline and parts of the body.

use rethread_engine::core::turn::Media;
use serde_json::{Value, json};

use super::{call, render};
use crate::html::text::check::check_markup as text_of;

/// A call and its expected text.
pub(super) struct Case {
    /// The name of the tool.
    pub(super) name: &'static str,
    /// The input.
    pub(super) input: Value,
    /// The text of the result.
    pub(super) result: Option<&'static str>,
    /// The `toolUseResult`. Null if there is none.
    pub(super) result_meta: Value,
    /// The text of the headline.
    pub(super) head: &'static str,
    /// Texts that the body contains, in this order.
    pub(super) body: &'static [&'static str],
}

/// Renders each call and checks its text.
pub(super) fn check(cases: &[Case]) {
    for case in cases {
        let result_meta = (!case.result_meta.is_null()).then(|| case.result_meta.clone());
        let (head, body) = render(&call(case.name, &case.input.to_string(), case.result), result_meta);
        let head = text_of(&head).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(head, case.head, "head of {} {}", case.name, case.input);
        let (body, mut at) = (text_of(&body), 0);
        for text in case.body {
            let found = body[at..].find(text);
            assert!(found.is_some(), "{} {} lacks {text:?} after byte {at}: {body}", case.name, case.input);
            at += found.unwrap_or_default() + text.len();
        }
    }
}

#[test]
fn shell_calls_show_command_and_output() {
    check(&[
        Case {
            name: "Bash",
            input: json!({ "command": "make test", "description": "Run tests", "timeout": 60_000 }),
            result: Some("one\ntwo"),
            result_meta: json!({ "stdout": "one\ntwo", "stderr": "careful", "interrupted": false }),
            head: "Bash make test Run tests 2 lines",
            body: &["Run tests", "make test", "at most", "1m 00s", "one\ntwo", "stderr", "careful"],
        },
        Case {
            name: "Bash",
            input: json!({ "command": "false" }),
            result: Some("!Exit code 2\nno <b>luck</b>"),
            result_meta: json!("Error: Exit code 2"),
            head: "Bash false exit 2",
            body: &["false", "Exit code 2\nno <b>luck</b>"],
        },
        Case {
            name: "Bash",
            input: json!({ "command": "serve", "run_in_background": true }),
            result: Some("Command running in background with ID: b1"),
            result_meta: json!({ "stdout": "", "stderr": "", "backgroundTaskId": "b1" }),
            head: "Bash serve background b1",
            body: &["in the background", "yes", "running in background with ID: b1"],
        },
        Case {
            name: "Bash",
            input: json!({ "command": "grep x y" }),
            result: Some(""),
            result_meta: json!({ "stdout": "", "stderr": "", "returnCodeInterpretation": "No matches found" }),
            head: "Bash grep x y No matches found",
            body: &["no output", "No matches found"],
        },
        Case {
            name: "BashOutput",
            input: json!({ "bash_id": "b1" }),
            result: Some(
                "<status>completed</status>\n<exit_code>1</exit_code>\n<stdout>\nout\n</stdout>\n<stderr>\nerr\n</stderr>",
            ),
            result_meta: Value::Null,
            head: "BashOutput b1 exit 1",
            body: &["bash_id", "b1", "completed", "out", "stderr", "err"],
        },
        Case {
            name: "TaskOutput",
            input: json!({ "task_id": "b2", "block": true }),
            result: Some("<status>running</status>"),
            result_meta: json!({ "task": { "status": "running", "description": "sleep 9", "output": "zz", "exitCode": null } }),
            head: "TaskOutput sleep 9 running",
            body: &["running", "sleep 9", "zz"],
        },
        Case {
            name: "KillShell",
            input: json!({ "shell_id": "b1" }),
            result: Some("{\"message\":\"killed b1\",\"shell_id\":\"b1\"}"),
            result_meta: Value::Null,
            head: "KillShell b1",
            body: &["killed b1"],
        },
    ]);
}

#[test]
fn file_calls_show_path_and_changes() {
    check(&[
        Case {
            name: "Read",
            input: json!({ "file_path": "/home/ada/loom/src/warp.rs", "offset": 7, "limit": 2 }),
            result: Some("     7→fn warp() {\n     8→}\n\n<system-reminder>\nbe good\n</system-reminder>\n"),
            result_meta: Value::Null,
            head: "Read src/warp.rs lines 7–8",
            body: &["file", "src/warp.rs", "from line", "7", "fn warp() {\n", "}"],
        },
        Case {
            name: "Read",
            input: json!({ "file_path": "/etc/motd" }),
            result: Some("     1→hi"),
            result_meta: json!({ "type": "text", "file": { "content": "hi\n", "numLines": 2, "startLine": 1 } }),
            head: "Read /etc/motd 1 line",
            body: &["hi"],
        },
        Case {
            name: "Write",
            input: json!({ "file_path": "/home/ada/loom/a.txt", "content": "x\ny\n" }),
            result: Some("File created"),
            result_meta: json!({ "type": "create", "structuredPatch": [], "originalFile": null }),
            head: "Write a.txt 2 lines new",
            body: &["a.txt", "x", "y"],
        },
        Case {
            name: "Write",
            input: json!({ "file_path": "/home/ada/loom/a.txt", "content": "x\nz\n" }),
            result: Some("File updated"),
            result_meta: json!({ "type": "update", "originalFile": "x\ny\n", "userModified": true,
                "structuredPatch": [{ "oldStart": 1, "newStart": 1, "lines": [" x", "-y", "+z"] }] }),
            head: "Write a.txt +1 −1",
            body: &["changed by the user", "x", "y", "z"],
        },
        Case {
            name: "Edit",
            input: json!({ "file_path": "/home/ada/loom/a.txt", "old_string": "a\nb\n", "new_string": "a\nc\nd\n", "replace_all": true }),
            result: Some("done"),
            result_meta: Value::Null,
            head: "Edit a.txt all occurrences +2 −1",
            body: &["replaced all occurrences", "b", "c"],
        },
        Case {
            name: "MultiEdit",
            input: json!({ "file_path": "/b", "edits": [{ "old_string": "one", "new_string": "two" },
                { "old_string": "", "new_string": "new", "replace_all": true }] }),
            result: Some("!<tool_use_error>not found</tool_use_error>"),
            result_meta: Value::Null,
            head: "MultiEdit /b 2 edits +2 −1 failed",
            body: &["edit 1", "one", "two", "edit 2", "all occurrences", "new", "not found"],
        },
        Case {
            name: "NotebookEdit",
            input: json!({ "notebook_path": "/home/ada/loom/n.ipynb", "cell_id": "c3", "cell_type": "code", "edit_mode": "insert", "new_source": "print(1)" }),
            result: Some("ok"),
            result_meta: Value::Null,
            head: "NotebookEdit n.ipynb cell c3 insert 1 line",
            body: &["n.ipynb", "cell", "c3", "code", "print(1)"],
        },
    ]);
}

#[test]
fn unknown_tools_show_all_fields() {
    check(&[
        Case {
            name: "mcp__mill__spin_yarn",
            input: json!({ "title": "Wool", "grams": 40, "tags": ["a", "b"] }),
            result: Some("{\"ok\":true}"),
            result_meta: Value::Null,
            head: "spin_yarn mill Wool",
            body: &["title", "Wool", "grams", "40", "tags", "[\"a\",\"b\"]", "ok", "true"],
        },
        Case {
            name: "CronCreate",
            input: json!({ "cron": "0 9 * * *", "prompt": "good morning" }),
            result: Some("Scheduled"),
            result_meta: Value::Null,
            head: "CronCreate good morning",
            body: &["cron", "0 9 * * *", "Scheduled"],
        },
    ]);
}

#[test]
fn stored_results_name_their_file() {
    let text = "<persisted-output>\nOutput too large (35.8KB). Full output saved to: /h/tool-results/b2.txt\n\n\
                Preview (first 2KB):\nfirst\n...\n</persisted-output>";
    let (head, body) = render(&call("Bash", "{\"command\":\"x\"}", Some(text)), None);
    assert!(text_of(&head).ends_with("35.8KB"), "{head}");
    assert!(body.contains("<div class=\"result-file\" data-result-file=\"b2.txt\">"), "{body}");
    assert!(text_of(&body).contains("first"), "{body}");
    let text = text.replace("b2.txt", "missing.txt");
    let (_, body) = render(&call("Bash", "{\"command\":\"x\"}", Some(&text)), None);
    assert!(
        !body.contains("data-result-file") && text_of(&body).contains("which does not exist any more"),
        "{body}"
    );
}

#[test]
fn images_agents_and_long_results_have_hooks_for_the_script() {
    let mut read = call("Read", "{\"file_path\":\"/a.png\"}", Some(""));
    if let Some(result) = &mut read.result {
        result.media = vec![Media { kind: "image/png".into(), bytes: 100, line: 2, index: 0 }];
    }
    let (_, body) = render(&read, None);
    assert!(body.contains("src=\"/image?line=2&amp;call=toolu_1&amp;number=0\""), "{body}");
    let (_, body) = render(&call("Agent", "{\"prompt\":\"x\"}", None), None);
    assert!(body.starts_with("<div class=\"agent-slot\" data-call=\"toolu_1\"></div>"), "{body}");
    let lines: String = (1..=300).map(|idx| format!("line {idx}\n")).collect();
    let (_, body) = render(&call("Bash", "{\"command\":\"x\"}", Some(&lines)), None);
    assert!(body.contains("<details class=\"more\"><summary>260 more lines</summary>"), "{body}");
    assert!(text_of(&body).contains("line 40\n") && text_of(&body).contains("line 300"), "{body}");
}
