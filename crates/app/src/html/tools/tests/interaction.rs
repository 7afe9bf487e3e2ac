//! Agents, task lists, and questions to the user.

use serde_json::{Value, json};

use super::rendering::{Case, check};

#[test]
fn agent_and_task_calls_show_progress() {
    check(&[
        Case {
            name: "Task",
            input: json!({ "subagent_type": "Explore", "description": "Find looms", "prompt": "Look around." }),
            result: Some("Found two.\nagentId: a1 (to continue)\n<usage>tool_uses: 1</usage>"),
            result_meta: json!({ "totalToolUseCount": 4, "totalTokens": 12_345, "status": "completed" }),
            head: "Task Explore Find looms 4 calls 12.3k tokens",
            body: &["agent", "Explore", "prompt", "Look around.", "Found two."],
        },
        Case {
            name: "SendMessage",
            input: json!({ "to": "bo", "summary": "ready", "message": "All done." }),
            result: Some("{\"success\":true,\"message\":\"sent to bo\"}"),
            result_meta: Value::Null,
            head: "SendMessage to bo ready",
            body: &["to", "bo", "All done.", "sent to bo"],
        },
        Case {
            name: "TodoWrite",
            input: json!({ "todos": [{ "content": "spin", "status": "completed" }, { "content": "weave", "status": "in_progress" },
                { "content": "dye", "status": "pending" }] }),
            result: Some("ok"),
            result_meta: json!({ "oldTodos": [{ "content": "spin", "status": "in_progress" }, { "content": "weave", "status": "in_progress" },
                { "content": "card", "status": "pending" }] }),
            head: "TodoWrite weave 1 of 3 done",
            body: &[
                "✓",
                "spin",
                "was in progress",
                "◐",
                "weave",
                "○",
                "dye",
                "new",
                "×",
                "card",
                "no longer listed",
            ],
        },
        Case {
            name: "TaskCreate",
            input: json!({ "subject": "Weave", "description": "with care" }),
            result: Some("Task #1 created"),
            result_meta: json!({ "task": { "id": "1", "subject": "Weave" } }),
            head: "TaskCreate #1 Weave",
            body: &["○", "Weave", "with care"],
        },
        Case {
            name: "TaskUpdate",
            input: json!({ "taskId": "1", "status": "completed" }),
            result: Some("Updated task #1 status"),
            result_meta: json!({ "success": true, "statusChange": { "from": "pending", "to": "completed" } }),
            head: "TaskUpdate #1 open → done",
            body: &["status", "completed", "Updated task #1"],
        },
        Case {
            name: "TaskList",
            input: json!({}),
            result: Some("#1. [completed] spin\n#2 [pending] weave"),
            result_meta: Value::Null,
            head: "TaskList 1 of 2 done",
            body: &["✓", "#1 spin", "○", "#2 weave"],
        },
    ]);
}

#[test]
fn user_decisions_are_shown() {
    let question = json!({ "questions": [{ "question": "Which loom?", "header": "Loom", "options":
        [{ "label": "Floor", "description": "big" }, { "label": "Table" }] }] });
    check(&[
        Case {
            name: "AskUserQuestion",
            input: question.clone(),
            result: Some(
                "User has answered your questions: \"Which loom?\"=\"Table\". You can now continue.",
            ),
            result_meta: Value::Null,
            head: "AskUserQuestion Which loom? Table",
            body: &["Loom", "Which loom?", "○", "Floor", "big", "●", "Table"],
        },
        Case {
            name: "AskUserQuestion",
            input: question,
            result: Some("User has answered"),
            result_meta: json!({ "answers": { "Which loom?": "My own" }, "annotations": { "Which loom?": { "notes": "it is old" } } }),
            head: "AskUserQuestion Which loom? My own",
            body: &["○", "Floor", "○", "Table", "●", "My own", "it is old"],
        },
        Case {
            name: "ExitPlanMode",
            input: json!({ "plan": "# Weave it\n\nslowly" }),
            result: Some("User has approved your plan."),
            result_meta: Value::Null,
            head: "ExitPlanMode Weave it approved",
            body: &["Weave it", "slowly", "approved by the user"],
        },
        Case {
            name: "ExitPlanMode",
            input: json!({ "plan": "Cut it" }),
            result: Some(
                "!The user doesn't want to proceed with this tool use. The user said:\nthe user said:\nnot yet",
            ),
            result_meta: json!("User rejected tool use"),
            head: "ExitPlanMode Cut it declined",
            body: &["Cut it", "declined by the user", "not yet"],
        },
        Case {
            name: "Bash",
            input: json!({ "command": "rm x" }),
            result: Some("![Request interrupted by user for tool use]"),
            result_meta: Value::Null,
            head: "Bash rm x interrupted",
            body: &["interrupted by the user"],
        },
        Case {
            name: "Skill",
            input: json!({ "skill": "dye", "args": "blue" }),
            result: None,
            result_meta: Value::Null,
            head: "Skill dye blue no result",
            body: &["skill", "dye", "args", "blue", "no result"],
        },
    ]);
}
