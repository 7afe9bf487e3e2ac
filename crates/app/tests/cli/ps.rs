//! `ps`: the sessions of running clients, and what they do.

use rethread_testkit::home::Home;
use rethread_testkit::script;
use serde_json::{Value, json};

use crate::new_home;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const OTHER_SESSION: &str = "bbbbbbbb-0000-4000-8000-000000000002";
/// The time of the first line of a script, in milliseconds.
const SCRIPT_START: i64 = 1_735_689_600_000;
/// A process that runs on every system with process ids.
const INIT_PID: u32 = 1;

const QUESTION: &str = "u1: paint the fence\n  a1: !AskUserQuestion which colour";
const RUNNING_TOOL: &str = "u1: paint the fence\n  a1: !Bash ls";
const FINISHED_TOOL: &str = "u1: paint the fence\n  a1: !Bash ls\n    u2: =a1 brush";
const ANSWERED: &str = "u1: tidy the shed\n  a1: it is tidy\n    u2: paint\tthe fence\n      a2: it is green";
const LOCAL_COMMAND: &str =
    "u1: <command-name>/model</command-name>\n  u2: <local-command-stdout>done</local-command-stdout>";
const PROMPTED: &str = "u1: tidy the shed\n  a1: it is tidy\n    u2: paint the fence";

fn write_session(home: &Home, id: &str, text: &str) {
    home.write(&format!(".claude/projects/-work/{id}.jsonl"), script::bytes(text));
}

/// Registers a client that has a session open. `fields` are added to its registration.
fn register(home: &Home, pid: u32, session: &str, fields: &Value) {
    let mut registration = json!({"pid": pid, "sessionId": session, "cwd": "/work", "version": "2.1.325"});
    let object = registration.as_object_mut().expect("a registration is an object");
    object.extend(fields.as_object().expect("fields are an object").clone());
    home.write(&format!(".claude/sessions/{pid}.json"), registration.to_string());
}

/// Returns the object of the only running client, whose session is a script.
fn run_with_session(text: &str, fields: &Value) -> Value {
    let home = new_home();
    write_session(&home, SESSION, text);
    register(&home, std::process::id(), SESSION, fields);
    let run = home.run(&["ps", "--json"]);
    let mut objects = run.json_lines();
    assert_eq!((run.code, objects.len()), (0, 1), "{}", run.err);
    objects.remove(0)
}

/// Returns the state of the only running client, with `?` if it is inferred.
fn find_state(text: &str, fields: &Value) -> String {
    let object = run_with_session(text, fields);
    let mark = if object["inferred"] == true { "?" } else { "" };
    format!("{}{mark}", object["state"].as_str().expect("a state is a text"))
}

#[test]
fn status_of_the_client_decides_except_about_questions() {
    let (busy, idle) = (json!({"status": "busy"}), json!({"status": "idle"}));
    for text in [RUNNING_TOOL, FINISHED_TOOL, ANSWERED, PROMPTED, ""] {
        assert_eq!([&busy, &idle].map(|status| find_state(text, status)), ["busy", "idle"], "{text}");
    }
    let plan = "u1: paint the fence\n  a1: !Bash ls | !ExitPlanMode green";
    for text in [QUESTION, plan] {
        assert_eq!(find_state(text, &busy), "waiting?", "{text}");
    }
    let answered = format!("{QUESTION}\n    u2: =a1 green");
    assert_eq!(find_state(&answered, &busy), "busy");
    let abandoned = format!("{QUESTION}\n    u2: never mind");
    assert_eq!(find_state(&abandoned, &busy), "busy");
    let parallel = "u1: go\n  a1: !Bash ls\n    a2 #a1: !AskUserQuestion which\n      u2: =a1 brush";
    assert_eq!(find_state(parallel, &busy), "waiting?");
}

#[test]
fn without_a_status_the_end_of_the_session_decides() {
    let states = [
        (RUNNING_TOOL, "busy?"),
        (FINISHED_TOOL, "busy?"),
        (PROMPTED, "busy?"),
        (ANSWERED, "idle?"),
        (QUESTION, "waiting?"),
        ("u1: paint\n  a1: !Bash ls\n    u2: [Request interrupted by user for tool use]", "idle?"),
        ("u1: <command-name>/model</command-name>", "busy?"),
        (LOCAL_COMMAND, "idle?"),
        ("", "unknown"),
    ];
    for (text, state) in states {
        assert_eq!(find_state(text, &json!({})), state, "{text}");
        assert_eq!(find_state(text, &json!({"status": "\u{1b}[2J"})), state, "{text}");
    }
}

#[test]
fn calls_that_an_earlier_client_left_open_are_ignored() {
    let started_at = |millis: i64| json!({"startedAt": SCRIPT_START + millis});
    for text in [RUNNING_TOOL, QUESTION, PROMPTED] {
        assert_eq!(find_state(text, &started_at(86_400_000)), "idle?", "{text}");
        assert_ne!(find_state(text, &started_at(-86_400_000)), "idle?", "{text}");
    }
}

#[test]
fn an_object_describes_the_session() {
    let status = json!({"status": "idle", "statusUpdatedAt": SCRIPT_START, "startedAt": SCRIPT_START - 1000});
    let object = run_with_session(ANSWERED, &status);
    assert_eq!((&object["type"], &object["v"]), (&json!("running_session"), &json!(1)));
    assert_eq!((&object["id"], &object["pid"]), (&json!(SESSION), &json!(std::process::id())));
    assert_eq!((&object["client"], &object["title"]), (&json!("2.1.325"), &json!("tidy the shed")));
    assert_eq!(object["since"], "2025-01-01T00:00:00.000Z");
    assert_eq!(object["started"], "2024-12-31T23:59:59.000Z");
    assert_eq!(object["last_prompt"], "paint the fence");
    assert!(object["context_tokens"].as_u64().is_some_and(|tokens| tokens > 0), "{object}");
    assert!(object["path"].as_str().is_some_and(|path| path.ends_with("1.jsonl")), "{object}");
}

#[test]
#[cfg(unix)]
fn clients_that_have_ended_are_not_listed() {
    let home = new_home();
    write_session(&home, SESSION, ANSWERED);
    for args in [&["ps"][..], &["ps", "--json"]] {
        let run = home.run(args);
        assert_eq!((run.code, run.out.as_str()), (1, ""), "{}", run.err);
    }
    assert_eq!(home.run(&["ps"]).err, "no client is running\n");
    let ended = i32::MAX.unsigned_abs();
    register(&home, ended, SESSION, &json!({"status": "busy"}));
    assert_eq!(home.run(&["ps"]).err, "no client is running\n");
    register(&home, std::process::id(), OTHER_SESSION, &json!({"status": "idle"}));
    let objects = home.run(&["ps", "--json"]).json_lines();
    let ids: Vec<&Value> = objects.iter().map(|object| &object["id"]).collect();
    assert_eq!(ids, [OTHER_SESSION]);
    // The client has not written a file yet.
    assert_eq!((&objects[0]["path"], &objects[0]["project"]), (&Value::Null, &json!("/work")));
}

#[test]
fn table_lists_clients_that_wait_first_and_marks_inferred_states() {
    let home = new_home();
    write_session(&home, SESSION, ANSWERED);
    write_session(&home, OTHER_SESSION, QUESTION);
    register(&home, std::process::id(), SESSION, &json!({"status": "idle"}));
    register(&home, INIT_PID, OTHER_SESSION, &json!({"status": "busy"}));
    let run = home.run(&["ps"]);
    let rows: Vec<Vec<&str>> = run.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), 3, "{}", run.out);
    assert_eq!((rows[1][0], rows[1][2]), ("waiting?", "bbbbbbbb"), "{}", run.out);
    assert_eq!((rows[2][0], rows[2][1], rows[2][2]), ("idle", "-", "aaaaaaaa"), "{}", run.out);
    assert!(run.out.lines().nth(2).is_some_and(|line| line.ends_with("paint the fence")), "{}", run.out);
    assert_eq!(run.err, "?: inferred from the session file\n");
    for width in ["40", "60", "80", "120"] {
        let output = home.command(&["ps"]).env("COLUMNS", width).output().expect("the program runs");
        let out = String::from_utf8(output.stdout).expect("output is text");
        let widest = out.lines().map(unicode_width::UnicodeWidthStr::width).max().unwrap_or_default();
        assert!(widest <= width.parse().expect("a number"), "{width}:\n{out}");
    }
}

#[test]
fn text_of_sessions_and_registrations_is_cleaned() {
    let home = new_home();
    let hostile = "fence\u{1b}[2J\u{202e}\r\nidle  now  evil \u{1b}]0;title\u{7}";
    let id = "x\u{1b}[2J\ny";
    let line = json!({
        "type": "user", "uuid": "u-1", "parentUuid": null, "sessionId": SESSION, "cwd": format!("/work/{hostile}"),
        "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "user", "content": hostile},
    });
    home.write(&format!(".claude/projects/-work/{SESSION}.jsonl"), format!("{line}\n"));
    register(
        &home,
        std::process::id(),
        SESSION,
        &json!({"status": hostile, "version": hostile, "cwd": hostile}),
    );
    register(&home, INIT_PID, id, &json!({"status": "idle", "cwd": hostile}));
    let run = home.run(&["ps"]);
    assert_eq!((run.code, run.out.lines().count()), (0, 3), "{}", run.out);
    assert!(run.out.contains("evil") && !run.out.contains("[2J"), "{}", run.out);
    let output = format!("{}{}", run.out, run.err);
    assert!(!output.contains(['\u{1b}', '\u{202e}', '\r', '\u{7}']), "{output:?}");
    let objects = home.run(&["ps", "--json"]).json_lines();
    assert_eq!(objects.len(), 2);
}

/// A process id that no process has.
const ENDED_PID: u32 = 4_194_300;

#[test]
fn sessions_of_crashed_clients_are_reopened() {
    let home = new_home();
    write_session(&home, SESSION, ANSWERED);
    write_session(&home, OTHER_SESSION, PROMPTED);
    let none = home.run(&["reopen"]);
    assert_eq!((none.code, none.out.as_str()), (1, ""), "{}", none.err);
    let cwd = json!({"cwd": "/work/the $(shed)"});
    register(&home, ENDED_PID, SESSION, &cwd);
    // The process exists, but another one had its id when the client ran.
    register(&home, INIT_PID, OTHER_SESSION, &json!({"procStart": "not-this-one"}));
    // A session without a file cannot be resumed.
    register(&home, ENDED_PID - 1, "cccccccc-0000-4000-8000-000000000003", &json!({}));
    let run = home.run(&["reopen"]);
    assert_eq!(run.code, 0, "{}", run.err);
    run.assert_out_contains(&[
        "tidy the shed",
        &format!("cd '/work/the $(shed)' && claude --resume {SESSION}\n"),
    ]);
    let is_reuse_known = cfg!(target_os = "linux");
    assert_eq!(run.out.contains(OTHER_SESSION), is_reuse_known, "{}", run.out);
    let tmux = home.run(&["reopen", "--tmux"]);
    assert!(
        tmux.out.contains(&format!(
            "tmux new-window 'cd '\\''/work/the $(shed)'\\'' && claude --resume {SESSION}'\n"
        )),
        "{}",
        tmux.out
    );
    assert_eq!(home.run(&["reopen", "--since", "2030-01-01"]).code, 1);
    // The session is open again.
    register(&home, std::process::id(), SESSION, &json!({}));
    assert!(!home.run(&["reopen"]).out.contains(SESSION));
}
