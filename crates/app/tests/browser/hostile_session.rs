//! Text that would run if any page took it for more than text, in every place where a session holds some.

use serde_json::{Value, json};

use crate::fixtures::PICTURE;
use crate::home::Home;
use crate::session_builder::Tale;

/// Every way of getting at a page that a short text has.
pub(crate) const POISON: &str = concat!(
    "POISON<script>window.pwned=1;alert(1)</script>\"><img src=x onerror=\"window.pwned=2;alert(2)\">",
    "'><svg onload=window.pwned=3;alert(3)></textarea></script></title></style><!--",
    "<iframe src=javascript:alert(4)><a href='javascript:alert(5)' onmouseover=alert(6)>a</a>",
    "[link](javascript:window.pwned=7) [data](data:text/html,<script>alert(7)</script>) ",
    "<javascript:alert(8)> ![pic](http://evil.example/x.png) ![pic](javascript:alert(9)) ",
    "[ref]: javascript:alert(10)\n\u{1b}]8;;javascript:alert(11)\u{7}osc\u{1b}]8;;\u{7}\u{1b}[31mred\u{1b}[2J",
    "\u{202e}desrever\u{2066}\u{200b}\0 ${alert(12)} {{7*7}} &lt;script&gt; `code</code><script>` EOP",
);

/// The kinds of tools, with the fields that their pages read.
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
    ("mcp__poison__tool", &["anything"]),
    (POISON, &["anything"]),
];

/// Lists that tools take and clients note, all of them hostile.
fn lists() -> Value {
    let one = json!({
        "content": POISON, "text": POISON, "status": POISON, "activeForm": POISON, "subject": POISON, "title": POISON,
        "url": "javascript:window.pwned=20", "header": POISON, "question": POISON, "label": POISON, "description": POISON,
        "old_string": POISON, "new_string": POISON, "id": POISON, "type": "text", "lines": [format!("+{POISON}"), POISON],
        "oldStart": 1, "newStart": 1, "oldLines": 1, "newLines": 1,
        "options": [{ "label": POISON, "description": POISON, "preview": POISON }],
    });
    json!({
        "todos": [one], "newTodos": [one], "oldTodos": [one], "edits": [one], "questions": [one], "allowedPrompts": [one],
        "structuredPatch": [one], "results": [one, { "content": [one] }], "content": [one], "filenames": [POISON],
        "answers": { POISON: POISON }, "matches": [POISON], "allowed_domains": [POISON],
    })
}

/// Writes what may stand as the input of a tool.
fn input(fields: &[&str], way: usize) -> Value {
    let mut input = if way == 0 { json!({}) } else { lists() };
    for field in fields {
        input[*field] =
            if way == 2 { json!({ POISON: [POISON, { POISON: POISON }] }) } else { POISON.into() };
    }
    input[POISON] = POISON.into();
    input
}

/// Writes what a client may note of a result.
fn note(way: usize) -> Value {
    let mut note = if way == 0 { json!({}) } else { lists() };
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
        note[field] = POISON.into();
    }
    note["file"] = json!({ "filePath": POISON, "content": POISON, "numLines": 1, "startLine": 1, "totalLines": 1, "type": POISON, "base64": POISON });
    if way == 2 { POISON.into() } else { note }
}

/// Writes what a tool may answer: words, blocks, pictures that are none.
fn result(way: usize) -> Value {
    match way {
        0 => POISON.into(),
        1 => {
            json!([{ "type": "text", "text": POISON }, lying("image/png"), lying("image/svg+xml"), lying(POISON)])
        }
        _ => json!([{ "type": POISON, POISON: POISON }, { "type": "tool_reference", "tool_name": POISON }]),
    }
}

/// A page that says it is a picture.
fn lying(kind: &str) -> Value {
    // <svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=30"><script>alert(1)</script></svg>
    let data = "PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0id2luZG93LnB3bmVkPTMwIj48c2NyaXB0PmFsZXJ0KDEpPC9zY3JpcHQ+PC9zdmc+";
    json!({ "type": "image", "source": { "type": "base64", "media_type": kind, "data": data } })
}

/// Writes the hostile session.
pub(crate) fn write(home: &Home) -> Tale {
    let mut tale = Tale::new("666");
    for field in ["cwd", "gitBranch", "version", "entrypoint", "slug", "teamName", "agentName"] {
        tale.every.insert(field.to_owned(), POISON.into());
    }
    state(&mut tale);
    prompts(&mut tale);
    calls(&mut tale);
    agent(&mut tale, home);
    // A line of five megabytes.
    let long = format!("{}{POISON}", "<b onclick=alert(1)>x</b>".repeat(200_000));
    tale.prompt(long.clone());
    tale.calls("Bash", &json!({ "command": long }), &json!(long), &json!({ "stdout": long }));
    let here = tale.tip();
    for way in 0..2 {
        tale.back(here.clone());
        tale.prompt(format!("{way} {POISON}"));
        tale.says(POISON);
    }
    tale.keep(home);
    tale
}

/// Lines outside the tree.
fn state(tale: &mut Tale) {
    let id = tale.id().to_owned();
    for (kind, field) in [
        ("summary", "summary"),
        ("custom-title", "customTitle"),
        ("ai-title", "aiTitle"),
        ("tag", "tag"),
        ("agent-name", "agentName"),
        ("last-prompt", "lastPrompt"),
        ("mode", "mode"),
        (POISON, POISON),
    ] {
        tale.line(&json!({ "type": kind, field: POISON, "sessionId": id, "leafUuid": POISON }));
    }
    for url in ["javascript:window.pwned=40", "https://example.invalid/\" onclick=\"alert(1)"] {
        tale.line(&json!({ "type": "pr-link", "sessionId": id, "prNumber": POISON, "prUrl": url, "prRepository": POISON, "timestamp": POISON }));
        tale.line(&json!({ "type": "pr-link", "sessionId": id, "prNumber": 7, "prUrl": url, "prRepository": POISON, "timestamp": "2026-01-01T00:00:00.000Z" }));
    }
    tale.line(&json!({ "type": "file-history-snapshot", "messageId": POISON, "snapshot": { "trackedFileBackups": { POISON: { "backupFileName": POISON } } } }));
    tale.line(&json!({ "type": "queue-operation", "operation": "enqueue", "content": POISON, "sessionId": id, "timestamp": POISON }));
}

/// Whatever a user, a client and an answer can say.
fn prompts(tale: &mut Tale) {
    tale.prompt(POISON);
    tale.says(POISON);
    tale.says(&format!("# {POISON}\n\n| {POISON} |\n|---|\n| {POISON} |\n\n```{POISON}\n{POISON}\n```\n\n> {POISON}\n\n- [ ] {POISON}\n\nhttp://evil.example/{POISON}\n\n<javascript:alert(1)>\n"));
    tale.thinks(POISON);
    tale.prompt(format!("<command-name>/{POISON}</command-name><command-message>{POISON}</command-message><command-args>{POISON}</command-args>"));
    tale.prompt(format!("<local-command-stdout>{POISON}</local-command-stdout>"));
    tale.prompt(format!("<bash-input>{POISON}</bash-input>"));
    tale.prompt(format!("<bash-stdout>{POISON}</bash-stdout><bash-stderr>{POISON}</bash-stderr>"));
    tale.prompt(format!("<system-reminder>{POISON}</system-reminder>"));
    tale.prompt(json!([{ "type": "text", "text": POISON }, lying("image/png"), lying("image/svg+xml"), lying(POISON), { "type": "document", "source": { "type": "base64", "media_type": "application/pdf", "data": POISON } }, { "type": POISON, POISON: POISON }]));
    tale.prompt(json!([{ "type": "text", "text": "a true one" }, { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PICTURE } }]));
    for kind in [
        "informational",
        "local_command",
        "api_error",
        "turn_duration",
        "stop_hook_summary",
        "compact_boundary",
        POISON,
    ] {
        tale.entry(json!({ "type": "system", "subtype": kind, "content": POISON, "level": POISON, "error": { "message": POISON }, "compactMetadata": { "trigger": POISON, "preTokens": 5 }, "hookErrors": [POISON] }));
    }
    for kind in ["queued_command", "file", "edited_text_file", "hook_success", "diagnostics", POISON] {
        tale.entry(json!({ "type": "attachment", "attachment": { "type": kind, "prompt": POISON, "content": POISON, "filename": POISON, "snippet": POISON, "stdout": POISON } }));
    }
    tale.entry(
        json!({ "type": "user", "isCompactSummary": true, "message": { "role": "user", "content": POISON } }),
    );
    tale.entry(json!({ "type": "user", "isMeta": true, "message": { "role": "user", "content": POISON } }));
    let error = json!({ "id": POISON, "role": "assistant", "model": POISON, "content": [{ "type": "text", "text": POISON }], "stop_reason": POISON });
    tale.entry(json!({ "type": "assistant", "isApiErrorMessage": true, "error": POISON, "message": error }));
    tale.entry(json!({ "type": "assistant", "message": error }));
}

/// Every tool in three ways.
fn calls(tale: &mut Tale) {
    for (tool, fields) in TOOLS {
        tale.prompt(format!("{tool} now"));
        for way in 0..3 {
            tale.calls(tool, &input(fields, way), &result(way), &note(way));
        }
    }
}

/// A subagent that is called so and says so.
fn agent(tale: &mut Tale, home: &Home) {
    tale.prompt("an agent now");
    let call =
        tale.calls("Task", &input(&["description", "prompt", "subagent_type"], 0), &result(0), &note(0));
    let mut agent = tale.agent("a6666666");
    agent.prompt(POISON);
    agent.says(POISON);
    agent.calls("Bash", &input(&["command"], 0), &result(1), &note(1));
    agent.keep_agent(home, &call, POISON);
}
