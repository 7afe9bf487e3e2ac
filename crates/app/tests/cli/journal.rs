//! `rename`, `rm`, `undo`, `restore` and `log` end to end: what they say, their exit codes, and the way back.
#![expect(clippy::disallowed_methods, reason = "tests change their own store")]

use std::io::Write;

use super::home::Home;
use rethread_testkit::script;
use serde_json::Value;

pub(crate) const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
pub(crate) const OTHER: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// Returns the path of the session below the home folder.
pub(crate) fn file() -> String {
    format!(".claude/projects/-home-ann/{SESSION}.jsonl")
}

/// A session with everything that can belong to it, and another beside it.
pub(crate) fn store() -> Home {
    let home = Home::new();
    let text = String::from_utf8(script::bytes("u1: sort the harbours\n  a1: sorted")).unwrap();
    home.write_old(&file(), &text);
    let project = ".claude/projects/-home-ann";
    home.write_old(&format!("{project}/{OTHER}.jsonl"), text.replace("harbours", "ferries"));
    let agent = text.replace("sort the", "count the");
    home.write_old(&format!("{project}/{SESSION}/subagents/agent-a1.jsonl"), &agent);
    home.write_old(&format!("{project}/{SESSION}/tool-results/t1.txt"), "long output");
    let beside =
        |session: &str| format!("{{\"type\":\"user\",\"sessionId\":\"{session}\",\"uuid\":\"x\"}}\n");
    home.write_old(&format!("{project}/agent-old.jsonl"), beside(SESSION));
    home.write_old(&format!("{project}/agent-other.jsonl"), beside(OTHER));
    for session in [SESSION, OTHER] {
        home.write_old(&format!(".claude/file-history/{session}/f@v1"), "old text");
        home.write_old(&format!(".claude/todos/{session}-agent-{session}.json"), "[]");
        home.write_old(&format!(".claude/tasks/{session}/1.json"), "{}");
    }
    home
}

fn object(home: &Home, args: &[&str]) -> Value {
    let run = home.run(args);
    assert_eq!(run.code, 0, "{args:?}: {}", run.err);
    serde_json::from_str(run.out.lines().next().unwrap()).unwrap()
}

#[test]
fn a_title_is_given_and_taken_back() {
    let home = store();
    let before = home.picture();
    let dry = home.run(&["rename", SESSION, "the", "login bug", "--dry-run"]);
    assert!(dry.out.ends_with("nothing was changed\n"), "{}", dry.out);
    assert_eq!(home.picture(), before);
    let run = home.run(&["rename", SESSION, "the", "login bug"]);
    insta::assert_snapshot!(run.out, @r#"
    "sort the harbours" is now called "the login bug"
      append 206 B  ~/.claude/projects/-home-ann/aaaaaaaa-0000-4000-8000-000000000001.jsonl
    take it back: rethread undo 1
    "#);
    assert_eq!(object(&home, &["ls", "--json", "--title", "login"])["title"], "the login bug");
    let undo = object(&home, &["undo", "--json"]);
    assert_eq!((&undo["op"], &undo["undoes"], &undo["command"]), (&2.into(), &1.into(), &"rename".into()));
    assert_eq!(home.picture(), before);
    let again = home.run(&["undo", "1"]);
    assert_eq!(again.code, 1);
    assert_eq!(again.err, "error: op 1 was undone by op 2\nhint: `rethread undo 2` does it again\n");
    assert_eq!(home.run(&["undo"]).code, 1);
    assert_eq!(object(&home, &["undo", "2", "--json"])["undoes"], 2);
    assert_eq!(object(&home, &["ls", "--json", "--title", "login"])["title"], "the login bug");
    let log = home.run(&["log", "--json"]);
    let states: Vec<Value> =
        log.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["state"].clone()).collect();
    assert_eq!(states, ["done", "undone", "done"]);
}

#[test]
fn a_line_without_end_is_ended_first() {
    let home = Home::new();
    let torn = format!("{}{{\"type\":\"us", String::from_utf8(script::bytes("u1: hello")).unwrap());
    let path = home.write_old(&file(), &torn);
    assert_eq!(home.run(&["rename", SESSION, "torn"]).code, 0);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(&format!("{torn}\n{{\"type\":\"custom-title\"")), "{text}");
    assert_eq!(home.run(&["undo"]).code, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), torn);
}

#[test]
fn a_family_goes_to_the_trash_and_comes_back() {
    let home = store();
    let before = home.picture();
    let run = home.run(&["rm", SESSION]);
    insta::assert_snapshot!(run.out, @"
    moved to the trash: aaaaaaaa-0000-4000-8000-000000000001 (2.1 kB)
      move to the trash  ~/.claude/projects/-home-ann/aaaaaaaa-0000-4000-8000-000000000001.jsonl
      move to the trash  ~/.claude/file-history/aaaaaaaa-0000-4000-8000-000000000001
      move to the trash  ~/.claude/projects/-home-ann/aaaaaaaa-0000-4000-8000-000000000001
      move to the trash  ~/.claude/projects/-home-ann/agent-old.jsonl
      move to the trash  ~/.claude/tasks/aaaaaaaa-0000-4000-8000-000000000001
      move to the trash  …aa-0000-4000-8000-000000000001-agent-aaaaaaaa-0000-4000-8000-000000000001.json
    take it back: rethread undo 1
    ");
    let after = home.picture();
    let left = |path: &std::path::Path| {
        !path.to_string_lossy().contains(SESSION) && !path.ends_with("agent-old.jsonl")
    };
    let expected: Vec<_> = before.iter().filter(|(path, _)| left(path)).collect();
    assert_eq!(after.iter().collect::<Vec<_>>(), expected);
    assert_eq!(home.run(&["undo"]).code, 0);
    assert_eq!(home.picture(), before);
    let age = std::fs::metadata(home.path().join(file())).unwrap().modified().unwrap().elapsed().unwrap();
    assert!(age.as_secs() < 600, "a session that came back must not look old to the client");
}

#[test]
fn a_wrong_name_removes_nothing() {
    let home = store();
    let before = home.picture();
    assert_eq!(home.run(&["rm", SESSION, "nobody"]).code, 2);
    assert_eq!(home.picture(), before);
    assert_eq!(home.run(&["rm", SESSION, OTHER, SESSION]).out.matches("take it back").count(), 2);
}

#[test]
fn a_deleted_session_is_restored() {
    let home = store();
    let path = home.path().join(file());
    let before = std::fs::read(&path).unwrap();
    for title in ["one", "two"] {
        assert_eq!(home.run(&["rename", SESSION, title]).code, 0);
    }
    std::fs::remove_file(&path).unwrap();
    let dry = object(&home, &["restore", "aaaa", "--dry-run", "--json"]);
    assert_eq!((&dry["dry_run"], &dry["effects"][0]["effect"]), (&true.into(), &"create".into()));
    assert!(!path.exists());
    assert_eq!(object(&home, &["restore", "aaaa", "--json"])["before_op"], 1);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(home.run(&["restore", "aaaa"]).code, 1);
    // What a client wrote since is kept by the op itself.
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"new\":1}\n").unwrap();
    let grown = std::fs::read(&path).unwrap();
    assert_eq!(home.run(&["restore", "aaaa", "--even-if-live"]).code, 0);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(home.run(&["undo"]).code, 0);
    assert_eq!(std::fs::read(&path).unwrap(), grown);
    assert_eq!(home.run(&["restore", OTHER]).code, 1);
}

#[test]
fn a_live_session_is_refused() {
    let home = store();
    let before = home.picture();
    let pid = std::process::id();
    home.write(
        &format!(".claude/sessions/{pid}.json"),
        format!("{{\"pid\":{pid},\"sessionId\":\"{SESSION}\"}}"),
    );
    for args in [&["rename", SESSION, "x"][..], &["rm", SESSION]] {
        let run = home.run(args);
        assert_eq!(run.code, 3, "{}", run.err);
        let said = format!("error: session `{SESSION}` is live: a client has it open\nhint: close it first");
        assert!(run.err.starts_with(&said), "{}", run.err);
    }
    std::fs::remove_dir_all(home.path().join(".claude/sessions")).unwrap();
    let writer = std::fs::OpenOptions::new().append(true).open(home.path().join(file())).unwrap();
    if cfg!(target_os = "linux") {
        let run = home.run(&["rename", SESSION, "x"]);
        assert_eq!(run.code, 3, "{}", run.err);
        assert!(run.err.contains("has it open for writing"), "{}", run.err);
    }
    drop(writer);
    assert_eq!(home.picture(), before);
    let text = std::fs::read_to_string(home.path().join(file())).unwrap();
    home.write(&file(), &text);
    let run = home.run(&["rename", SESSION, "x"]);
    assert_eq!(run.code, 3);
    assert!(run.err.contains("within the last 5 seconds"), "{}", run.err);
    assert_eq!(home.run(&["rename", SESSION, "x", "--even-if-live"]).code, 0);
    // What we wrote ourselves just now does not make it live.
    assert_eq!(home.run(&["rename", SESSION, "y"]).code, 0);
}

#[test]
fn undo_says_why_it_cannot() {
    let home = store();
    assert_eq!(home.run(&["rename", SESSION, "x"]).code, 0);
    let path = home.path().join(file());
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{}\n{}\n{}\n").unwrap();
    let run = home.run(&["undo"]);
    assert_eq!(run.code, 3);
    assert!(
        run.err.contains("is not as op 1 left it: it grew by 3 lines since\nhint: `rethread restore "),
        "{}",
        run.err
    );
    assert_eq!(home.run(&["undo", "9"]).err.lines().next(), Some("error: there is no op 9"));
}

#[test]
fn old_backups_are_thrown_away_but_never_the_newest() {
    let home = store();
    for title in ["one", "two", "three"] {
        assert_eq!(home.run(&["rename", SESSION, title]).code, 0);
    }
    assert_eq!(home.run(&["rm", OTHER]).code, 0);
    assert_eq!(home.run(&["log", "--prune"]).code, 1, "nothing is 90 days old");
    let dry = object(&home, &["log", "--prune", "--older-than", "now", "--dry-run", "--json"]);
    let done = object(&home, &["log", "--prune", "--older-than", "now", "--json"]);
    assert_eq!((&dry["ops"], &done["ops"]), (&serde_json::json!([1, 2]), &serde_json::json!([1, 2])));
    assert_eq!(dry["bytes"], done["bytes"]);
    assert_eq!(home.run(&["undo", "4"]).code, 0);
    assert_eq!(home.run(&["undo", "3"]).code, 0);
    let gone = home.run(&["undo", "2"]);
    assert_eq!(gone.code, 2);
    assert!(gone.err.starts_with("error: the backup of `"), "{}", gone.err);
    assert!(home.run(&["log"]).out.contains("done, pruned"));
}

#[test]
fn without_a_home_nothing_is_written() {
    let home = store();
    let path = home.path().join(file());
    let before = home.picture();
    let args = ["rename", path.to_str().unwrap(), "x", "--root", ".claude"];
    let run = home.command(&args).env_remove("HOME").output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("hint: set HOME or XDG_STATE_HOME"));
    assert_eq!(home.picture(), before);
}
