//! A session with hostile text in every field that can hold text.

use rethread_testkit::home::Home;
use serde_json::{Value, json};

use crate::fixtures::PNG_IMAGE;
use crate::session_builder::SessionBuilder;

/// Text that runs code or loads resources if a page does not escape it.
pub(crate) const HOSTILE_TEXT: &str = concat!(
    "HOSTILE<script>window.pwned=1;alert(1)</script>\"><img src=x onerror=\"window.pwned=2;alert(2)\">",
    "'><svg onload=window.pwned=3;alert(3)></textarea></script></title></style><!--",
    "<iframe src=javascript:alert(4)><a href='javascript:alert(5)' onmouseover=alert(6)>a</a>",
    "[link](javascript:window.pwned=7) [data](data:text/html,<script>alert(7)</script>) ",
    "<javascript:alert(8)> ![pic](http://evil.example/x.png) ![pic](javascript:alert(9)) ",
    "[ref]: javascript:alert(10)\n\u{1b}]8;;javascript:alert(11)\u{7}osc\u{1b}]8;;\u{7}\u{1b}[31mred\u{1b}[2J",
    "\u{202e}desrever\u{2066}\u{200b}\0 ${alert(12)} {{7*7}} &lt;script&gt; `code</code><script>` EOP",
);

/// Tools with the input fields that the renderer reads.
const TOOLS: [(&str, &[&str]); 26] = [
    ("Bash", &["command", "description"]),
    ("BashOutput", &["bash_id", "filter"]),
    ("KillShell", &["shell_id"]),
    ("Read", &["file_path"]),
    ("Write", &["file_path", "content"]),
    ("Edit", &["file_path", "old_string", "new_string"]),
    ("MultiEdit", &["file_path"]),
    ("NotebookEdit", &["notebook_path", "new_source", "cell_id", "cell_type", "edit_mode"]),
    ("NotebookRead", &["notebook_path"]),
    ("Grep", &["pattern", "path", "glob", "output_mode"]),
    ("Glob", &["pattern", "path"]),
    ("LS", &["path"]),
    ("WebFetch", &["url", "prompt"]),
    ("WebSearch", &["query"]),
    ("Task", &["description", "prompt", "subagent_type", "model", "name"]),
    ("Agent", &["description", "prompt", "subagent_type"]),
    ("TodoWrite", &[]),
    ("TaskCreate", &["subject", "description", "activeForm"]),
    ("TaskUpdate", &["taskId", "status", "subject"]),
    ("AskUserQuestion", &[]),
    ("ExitPlanMode", &["plan"]),
    ("Skill", &["skill", "args", "command"]),
    ("SendMessage", &["recipient", "content", "message", "type"]),
    ("ToolSearch", &["query"]),
    ("mcp__hostile__tool", &["anything"]),
    (HOSTILE_TEXT, &["anything"]),
];

/// Returns list fields of tool inputs and client records, all with hostile contents.
fn list_fields() -> Value {
    let one = json!({
        "content": HOSTILE_TEXT, "text": HOSTILE_TEXT, "status": HOSTILE_TEXT, "activeForm": HOSTILE_TEXT, "subject": HOSTILE_TEXT, "title": HOSTILE_TEXT,
        "url": "javascript:window.pwned=20", "header": HOSTILE_TEXT, "question": HOSTILE_TEXT, "label": HOSTILE_TEXT, "description": HOSTILE_TEXT,
        "old_string": HOSTILE_TEXT, "new_string": HOSTILE_TEXT, "id": HOSTILE_TEXT, "type": "text", "lines": [format!("+{HOSTILE_TEXT}"), HOSTILE_TEXT],
        "oldStart": 1, "newStart": 1, "oldLines": 1, "newLines": 1,
        "options": [{ "label": HOSTILE_TEXT, "description": HOSTILE_TEXT, "preview": HOSTILE_TEXT }],
    });
    json!({
        "todos": [one], "newTodos": [one], "oldTodos": [one], "edits": [one], "questions": [one], "allowedPrompts": [one],
        "structuredPatch": [one], "results": [one, { "content": [one] }], "content": [one], "filenames": [HOSTILE_TEXT],
        "answers": { HOSTILE_TEXT: HOSTILE_TEXT }, "matches": [HOSTILE_TEXT], "allowed_domains": [HOSTILE_TEXT],
    })
}

/// Returns the input of a call. Variant 0 has text fields, 1 also lists, 2 nested values instead of text.
fn tool_input(fields: &[&str], variant: usize) -> Value {
    let mut value = if variant == 0 { json!({}) } else { list_fields() };
    for field in fields {
        value[*field] = if variant == 2 {
            json!({ HOSTILE_TEXT: [HOSTILE_TEXT, { HOSTILE_TEXT: HOSTILE_TEXT }] })
        } else {
            HOSTILE_TEXT.into()
        };
    }
    value[HOSTILE_TEXT] = HOSTILE_TEXT.into();
    value
}

/// Returns the client record of a result. Variant 0 has text fields, 1 also lists, 2 is a text.
fn client_result(variant: usize) -> Value {
    let mut value = if variant == 0 { json!({}) } else { list_fields() };
    for field in [
        "stdout",
        "stderr",
        "filePath",
        "oldString",
        "newString",
        "originalFile",
        "plan",
        "status",
        "query",
        "url",
        "codeText",
        "result",
        "agentId",
        "type",
        "mode",
        "commandName",
        "backgroundTaskId",
    ] {
        value[field] = HOSTILE_TEXT.into();
    }
    value["file"] = json!({ "filePath": HOSTILE_TEXT, "content": HOSTILE_TEXT, "numLines": 1, "startLine": 1, "totalLines": 1, "type": HOSTILE_TEXT, "base64": HOSTILE_TEXT });
    if variant == 2 { HOSTILE_TEXT.into() } else { value }
}

/// Returns the result of a call. Variant 0 is a text, 1 has blocks and invalid images, 2 unknown blocks.
fn tool_result(variant: usize) -> Value {
    match variant {
        0 => HOSTILE_TEXT.into(),
        1 => {
            json!([{ "type": "text", "text": HOSTILE_TEXT }, fake_image("image/png"), fake_image("image/svg+xml"), fake_image(HOSTILE_TEXT)])
        }
        _ => {
            json!([{ "type": HOSTILE_TEXT, HOSTILE_TEXT: HOSTILE_TEXT }, { "type": "tool_reference", "tool_name": HOSTILE_TEXT }])
        }
    }
}

/// Returns an image block whose data is an SVG with a script.
fn fake_image(kind: &str) -> Value {
    // <svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=30"><script>alert(1)</script></svg>
    let data = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0id2luZG93LnB3bmVkPTMwIj48c2NyaXB0PmFsZXJ0KDEpPC9zY3JpcHQ+PC9zdmc+";
    json!({ "type": "image", "source": { "type": "base64", "media_type": kind, "data": data } })
}

/// Writes the session.
pub(crate) fn write(home: &Home) -> SessionBuilder {
    let mut session = SessionBuilder::new("666");
    for field in ["cwd", "gitBranch", "version", "entrypoint", "slug", "teamName", "agentName"] {
        session.common_fields.insert(field.to_owned(), HOSTILE_TEXT.into());
    }
    add_lines_without_uuid(&mut session);
    add_messages(&mut session);
    add_calls(&mut session);
    add_subagent(&mut session, home);
    // Lines of five megabytes.
    let long = format!("{}{HOSTILE_TEXT}", "<b onclick=alert(1)>x</b>".repeat(200_000));
    session.add_prompt(long.clone());
    session.add_call("Bash", &json!({ "command": long }), &json!(long), &json!({ "stdout": long }));
    let fork_point = session.tip();
    for variant in 0..2 {
        session.set_tip(fork_point.clone());
        session.add_prompt(format!("{variant} {HOSTILE_TEXT}"));
        session.add_text(HOSTILE_TEXT);
    }
    session.write_to(home);
    session
}

/// Adds lines that are not part of the tree.
fn add_lines_without_uuid(session: &mut SessionBuilder) {
    let id = session.id().to_owned();
    for (kind, field) in [
        ("summary", "summary"),
        ("custom-title", "customTitle"),
        ("ai-title", "aiTitle"),
        ("tag", "tag"),
        ("agent-name", "agentName"),
        ("last-prompt", "lastPrompt"),
        ("mode", "mode"),
        (HOSTILE_TEXT, HOSTILE_TEXT),
    ] {
        session.add_line(
            &json!({ "type": kind, field: HOSTILE_TEXT, "sessionId": id, "leafUuid": HOSTILE_TEXT }),
        );
    }
    for url in ["javascript:window.pwned=40", "https://example.invalid/\" onclick=\"alert(1)"] {
        session.add_line(&json!({ "type": "pr-link", "sessionId": id, "prNumber": HOSTILE_TEXT, "prUrl": url, "prRepository": HOSTILE_TEXT, "timestamp": HOSTILE_TEXT }));
        session.add_line(&json!({ "type": "pr-link", "sessionId": id, "prNumber": 7, "prUrl": url, "prRepository": HOSTILE_TEXT, "timestamp": "2026-01-01T00:00:00.000Z" }));
    }
    session.add_line(&json!({ "type": "file-history-snapshot", "messageId": HOSTILE_TEXT, "snapshot": { "trackedFileBackups": { HOSTILE_TEXT: { "backupFileName": HOSTILE_TEXT } } } }));
    session.add_line(&json!({ "type": "queue-operation", "operation": "enqueue", "content": HOSTILE_TEXT, "sessionId": id, "timestamp": HOSTILE_TEXT }));
}

/// Adds every kind of prompt, answer, system entry and attachment.
fn add_messages(session: &mut SessionBuilder) {
    session.add_prompt(HOSTILE_TEXT);
    session.add_text(HOSTILE_TEXT);
    session.add_text(&format!("# {HOSTILE_TEXT}\n\n| {HOSTILE_TEXT} |\n|---|\n| {HOSTILE_TEXT} |\n\n```{HOSTILE_TEXT}\n{HOSTILE_TEXT}\n```\n\n> {HOSTILE_TEXT}\n\n- [ ] {HOSTILE_TEXT}\n\nhttp://evil.example/{HOSTILE_TEXT}\n\n<javascript:alert(1)>\n"));
    session.add_thinking(HOSTILE_TEXT);
    session.add_prompt(format!("<command-name>/{HOSTILE_TEXT}</command-name><command-message>{HOSTILE_TEXT}</command-message><command-args>{HOSTILE_TEXT}</command-args>"));
    session.add_prompt(format!("<local-command-stdout>{HOSTILE_TEXT}</local-command-stdout>"));
    session.add_prompt(format!("<bash-input>{HOSTILE_TEXT}</bash-input>"));
    session.add_prompt(format!(
        "<bash-stdout>{HOSTILE_TEXT}</bash-stdout><bash-stderr>{HOSTILE_TEXT}</bash-stderr>"
    ));
    session.add_prompt(format!("<system-reminder>{HOSTILE_TEXT}</system-reminder>"));
    session.add_prompt(json!([{ "type": "text", "text": HOSTILE_TEXT }, fake_image("image/png"), fake_image("image/svg+xml"), fake_image(HOSTILE_TEXT), { "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": HOSTILE_TEXT } }, { "type": HOSTILE_TEXT, HOSTILE_TEXT: HOSTILE_TEXT }]));
    session.add_prompt(json!([{ "type": "text", "text": "a true one" }, { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PNG_IMAGE } }]));
    for kind in [
        "informational",
        "local_command",
        "api_error",
        "turn_duration",
        "stop_hook_summary",
        "compact_boundary",
        HOSTILE_TEXT,
    ] {
        session.add_entry(json!({ "type": "system", "subtype": kind, "content": HOSTILE_TEXT, "level": HOSTILE_TEXT, "error": { "message": HOSTILE_TEXT }, "compactMetadata": { "trigger": HOSTILE_TEXT, "preTokens": 5 }, "hookErrors": [HOSTILE_TEXT] }));
    }
    for kind in ["queued_command", "file", "edited_text_file", "hook_success", "diagnostics", HOSTILE_TEXT] {
        session.add_entry(json!({ "type": "attachment", "attachment": { "type": kind, "prompt": HOSTILE_TEXT, "content": HOSTILE_TEXT, "filename": HOSTILE_TEXT, "snippet": HOSTILE_TEXT, "stdout": HOSTILE_TEXT } }));
    }
    session.add_entry(
        json!({ "type": "user", "isCompactSummary": true, "message": { "role": "user", "content": HOSTILE_TEXT } }),
    );
    session.add_entry(
        json!({ "type": "user", "isMeta": true, "message": { "role": "user", "content": HOSTILE_TEXT } }),
    );
    let error = json!({ "id": HOSTILE_TEXT, "role": "assistant", "model": HOSTILE_TEXT, "content": [{ "type": "text", "text": HOSTILE_TEXT }], "stop_reason": HOSTILE_TEXT });
    session.add_entry(
        json!({ "type": "assistant", "isApiErrorMessage": true, "error": HOSTILE_TEXT, "message": error }),
    );
    session.add_entry(json!({ "type": "assistant", "message": error }));
}

/// Adds three variants of a call of every tool.
fn add_calls(session: &mut SessionBuilder) {
    for (tool, fields) in TOOLS {
        session.add_prompt(format!("{tool} now"));
        for variant in 0..3 {
            session.add_call(
                tool,
                &tool_input(fields, variant),
                &tool_result(variant),
                &client_result(variant),
            );
        }
    }
}

/// Adds a subagent with hostile description, prompt, answer and call.
fn add_subagent(session: &mut SessionBuilder, home: &Home) {
    session.add_prompt("an agent now");
    let call = session.add_call(
        "Task",
        &tool_input(&["description", "prompt", "subagent_type"], 0),
        &tool_result(0),
        &client_result(0),
    );
    let mut subagent = session.new_subagent("a6666666");
    subagent.add_prompt(HOSTILE_TEXT);
    subagent.add_text(HOSTILE_TEXT);
    subagent.add_call("Bash", &tool_input(&["command"], 0), &tool_result(1), &client_result(1));
    subagent.write_subagent_to(home, &call, HOSTILE_TEXT);
}
