//! `ls --deleted` and `show` of sessions whose files are gone.
#![expect(clippy::disallowed_methods, reason = "tests delete sessions from their own store")]

use rethread_testkit::home::Home;
use rethread_testkit::script;
use serde_json::{Value, json};

use crate::new_home;

const GONE: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const LIVE: &str = "bbbbbbbb-0000-4000-8000-000000000002";
const PROJECT: &str = ".claude/projects/-home-ann";

/// Returns a line of the prompt history.
fn history_line(session: &str, text: &str, millis: i64) -> String {
    let line = json!({"display": text, "pastedContents": {}, "timestamp": millis, "project": "/home/ann",
        "sessionId": session});
    format!("{line}\n")
}

/// Returns a session file with one turn.
fn session_lines(id: &str) -> Vec<u8> {
    let lines = script::bytes("* cwd=/home/ann\nu1: one\n  a1: first");
    let lines = String::from_utf8(lines).unwrap();
    let session: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    lines.replace(session["sessionId"].as_str().unwrap(), id).into_bytes()
}

/// Returns a home with a live session and the history of it and of a deleted one.
fn home_with_history() -> Home {
    let home = new_home();
    home.write_old(&format!("{PROJECT}/{LIVE}.jsonl"), session_lines(LIVE));
    let history = [
        history_line(GONE, "/model", 1_767_260_000_000),
        history_line(GONE, "Plant the beans", 1_767_261_600_000),
        history_line(LIVE, "one", 1_767_261_700_000),
        history_line(GONE, "And the peas", 1_767_265_200_000),
    ];
    home.write_old(".claude/history.jsonl", history.concat());
    home
}

fn trace<'v>(session: &'v Value, kind: &str) -> &'v Value {
    let traces = session["traces"].as_array().unwrap();
    traces.iter().find(|trace| trace["kind"] == kind).unwrap_or(&Value::Null)
}

#[test]
fn prompts_of_a_deleted_session_are_listed_and_shown_in_order() {
    let home = home_with_history();
    let rows = home.run_json_lines(&["ls", "--deleted", "--json"]);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(
        (&rows[0]["id"], &rows[0]["prompts"], &rows[0]["commands"]),
        (&GONE.into(), &3.into(), &1.into())
    );
    assert_eq!(
        (&rows[0]["project"], &rows[0]["first_prompt"]),
        (&"/home/ann".into(), &"Plant the beans".into())
    );
    assert_eq!(rows[0]["first"], "2026-01-01T09:33:20.000Z");
    assert_eq!(rows[0]["last"], "2026-01-01T11:00:00.000Z");
    home.run(&["ls", "--deleted"]).assert_out_contains(&["aaaaaaaa", "2026-01-01 11:00", "Plant the beans"]);
    let shown = home.run(&["show", "aaaaaaaa"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    shown.assert_out_contains(&["The session file is gone", "p2 10:00:00", "> Plant the beans"]);
    let place = |text: &str| shown.out.find(text).unwrap();
    assert!(
        place("> /model") < place("> Plant the beans")
            && place("> Plant the beans") < place("> And the peas")
    );
    let prompts = home.run_json_lines(&["show", GONE, "--turns", "2..", "--json"]);
    let texts: Vec<&Value> = prompts[1..].iter().map(|prompt| &prompt["text"]).collect();
    assert_eq!(texts, ["Plant the beans", "And the peas"]);
    let raw = home.run(&["show", GONE, "--raw", "--turns", "3"]).out;
    assert_eq!(raw, history_line(GONE, "And the peas", 1_767_265_200_000));
}

#[test]
fn all_kinds_of_remaining_data_are_named() {
    let home = home_with_history();
    let agent = r#"{"type":"user","uuid":"c0000000-0000-4000-8000-000000000001","parentUuid":null,"isSidechain":true,"agentId":"1","sessionId":"SESSION","cwd":"/home/ann","slug":"green-bean","message":{"role":"user","content":"look"},"timestamp":"2026-01-01T10:01:00.000Z"}"#;
    let agent = agent.replace("SESSION", GONE) + "\n";
    home.write_old(&format!("{PROJECT}/{GONE}/subagents/agent-1.jsonl"), &agent);
    home.write_old(&format!("{PROJECT}/agent-2.jsonl"), agent.replace("agentId\":\"1", "agentId\":\"2"));
    home.write_old(&format!("{PROJECT}/{GONE}/tool-results/r.txt"), "12345");
    home.write_old(&format!(".claude/file-history/{GONE}/0123@v1"), "old");
    home.write_old(&format!(".claude/tasks/{GONE}/1.json"), "{}");
    home.write_old(&format!(".claude/tasks/{GONE}/.lock"), "");
    home.write_old(&format!(".claude/todos/{GONE}-agent-{GONE}.json"), r#"[{"content":"dig"}]"#);
    home.write_old(".claude/plans/green-bean.md", "# Beans");
    let fork = session_lines(LIVE);
    let origin = format!(
        "\"isSidechain\":false,\"forkedFrom\":{{\"sessionId\":\"{GONE}\",\"messageUuid\":\"c0000000-0000-4000-8000-000000000001\"}}"
    );
    let fork = String::from_utf8(fork).unwrap().replacen("\"isSidechain\":false", &origin, 1);
    assert!(fork.contains("forkedFrom"), "{fork}");
    home.write_old(&format!("{PROJECT}/{LIVE}.jsonl"), fork);
    let rows = home.run_json_lines(&["ls", "--deleted", "--json"]);
    let count = |kind: &str| trace(&rows[0], kind)["count"].clone();
    let expected = [
        ("prompts", 3),
        ("agents", 2),
        ("tool_results", 1),
        ("file_history", 1),
        ("tasks", 1),
        ("todos", 1),
        ("plans", 1),
        ("forks", 1),
    ];
    for (kind, number) in expected {
        assert_eq!(count(kind), number, "{kind}: {rows:?}");
    }
    assert_eq!(trace(&rows[0], "tool_results")["bytes"], 5);
    let plan = trace(&rows[0], "plans")["paths"][0].as_str().unwrap();
    assert!(plan.ends_with("plans/green-bean.md"), "{plan}");
    home.run(&["show", GONE]).assert_out_contains(&[
        "2 subagents",
        "1 tool result, 5 B",
        "tool-results",
        "1 fork",
    ]);
}

#[test]
fn sessions_on_disk_in_the_trash_or_in_the_archive_are_not_deleted() {
    let home = home_with_history();
    home.write_old(&format!("{PROJECT}/{GONE}.jsonl"), session_lines(GONE));
    let list = || home.run(&["ls", "--deleted"]);
    assert_eq!((list().code, list().err.as_str()), (1, "no deleted sessions\n"));
    assert_eq!(home.run(&["rm", GONE, "--yes"]).code, 0);
    assert!(list().err.contains("1 session in the trash (`rethread undo 1` restores it)"), "{}", list().err);
    let shown = home.run(&["show", GONE]);
    assert_eq!(shown.code, 2);
    assert_eq!(
        shown.err,
        format!("error: session {GONE} is in the trash\nhint: `rethread undo 1` restores it\n")
    );
    assert_eq!(home.run(&["undo"]).code, 0);
    assert!(!list().err.contains("trash"));
    assert_eq!(home.run(&["archive"]).code, 0);
    std::fs::remove_file(home.path().join(format!("{PROJECT}/{GONE}.jsonl"))).unwrap();
    assert_eq!(list().code, 1, "the archive has the session: {}", list().out);
    std::fs::remove_dir_all(home.path().join(".local/share/rethread/archive")).unwrap();
    assert_eq!(list().code, 0);
}

#[test]
fn traces_without_a_conversation_are_hidden() {
    let home = home_with_history();
    // The client writes an empty list of to-dos at each start, and warms up subagents.
    home.write_old(&format!(".claude/todos/{GONE}-agent-{GONE}.json"), "[]");
    home.write(".claude/history.jsonl", history_line(GONE, "/exit ", 1_767_260_000_000));
    let run = home.run(&["ls", "--deleted"]);
    assert_eq!((run.code, run.out.as_str()), (1, ""));
    assert!(run.err.contains("hidden: 1 session with nothing but commands"), "{}", run.err);
    assert_eq!(home.run_json_lines(&["ls", "--deleted", "--all", "--json"])[0]["id"], GONE);
}

#[test]
fn torn_foreign_and_hostile_lines_do_no_harm() {
    let home = home_with_history();
    let hostile = history_line(GONE, "\u{1b}[31m\u{202e}red\u{7}\r\nnext", 1_767_261_600_001);
    let pasted = json!({"display": "[Pasted text #1]", "timestamp": 1_767_261_600_002_i64, "sessionId": GONE,
        "pastedContents": {"1": {"type": "text", "content": "pasted\u{1b}[2J body"}, "2": {"type": "text",
        "contentHash": "0a1b"}, "3": {"type": "image"}, "4": {"contentHash": "../../secret"}}});
    home.write_old(".claude/paste-cache/0a1b.txt", "cached body");
    home.write_old("secret.txt", "secret body");
    home.append(".claude/history.jsonl", &hostile);
    home.append(".claude/history.jsonl", format!("{pasted}\nnot json\n[]\n"));
    home.append(".claude/history.jsonl", "{\"display\":\"old client\",\"timestamp\":1}\n");
    home.append(".claude/history.jsonl", history_line("../../../etc", "no id", 1));
    home.append(".claude/history.jsonl", &history_line(GONE, "torn", 1)[..40]);
    let run = home.run(&["ls", "--deleted"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("not listed: 2 prompts without a session id"), "{}", run.err);
    assert!(run.err.contains("not listed: 3 lines of the prompt history"), "{}", run.err);
    let shown = home.run(&["show", GONE]);
    shown.assert_out_contains(&[
        "red",
        "next",
        "│ pasted",
        "│ cached body",
        "[image 3",
        "[pasted text 4: missing]",
    ]);
    assert!(!shown.out.contains("torn") && !shown.out.contains("secret body"), "{}", shown.out);
    for text in [&run.out, &run.err, &shown.out] {
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}', '\r']), "{text:?}");
    }
    let prompts = home.run_json_lines(&["show", GONE, "--json"]);
    let pasted = &prompts.last().map(|_| &prompts[4]["pasted"]).unwrap()[1];
    assert_eq!(pasted["text"], "cached body", "{prompts:?}");
}

#[test]
fn an_unknown_id_is_an_error_with_a_hint() {
    let home = home_with_history();
    let run = home.run(&["show", "dddddddd"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("`rethread ls --deleted` what is left of deleted ones"), "{}", run.err);
    home.append(
        ".claude/history.jsonl",
        history_line(&GONE.replace("0001", "0009"), "other", 1_767_261_600_000),
    );
    let run = home.run(&["show", "aaaaaaaa"]);
    assert!(run.err.starts_with("error: `aaaaaaaa` matches 2 sessions\n"), "{}", run.err);
    assert_eq!(home.run(&["ls", "--deleted", "--model", "x"]).code, 2);
    let words = home.run_json_lines(&["ls", "--deleted", "beans", "--json"]);
    assert_eq!(words.len(), 1);
    assert_eq!(home.run(&["ls", "--deleted", "--since", "2026-01-02"]).code, 1);
}

#[test]
fn a_session_of_the_index_without_a_file_is_listed() {
    let home = home_with_history();
    let id = "dddddddd-0000-4000-8000-000000000004";
    let index = json!({"version": 1, "entries": [{"sessionId": id, "firstPrompt": "Prune the roses",
        "created": "2025-11-15T19:44:32.725Z", "modified": "2025-11-15T19:44:39.963Z", "projectPath": "/home/ann/roses"},
        {"sessionId": LIVE}, {"sessionId": 7}, null]});
    home.write_old(&format!("{PROJECT}/sessions-index.json"), index.to_string());
    let rows = home.run_json_lines(&["ls", "--deleted", "roses", "--json"]);
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["id"], &rows[0]["first_prompt"]), (&id.into(), &"Prune the roses".into()));
    assert_eq!(rows[0]["last"], "2025-11-15T19:44:39.963Z");
    home.run(&["show", "dddd"]).assert_out_contains(&["1 index entry", "No prompt of this session"]);
}
