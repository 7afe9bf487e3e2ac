//! `rename`, `rm`, `undo`, `restore` and `log` end to end: output, exit codes, and undo.
#![expect(clippy::disallowed_methods, reason = "tests change their own store")]

use std::io::Write;

use rethread_testkit::home::Home;
use rethread_testkit::script;
use serde_json::Value;

use crate::new_home;

pub(crate) const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
pub(crate) const OTHER: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// Returns the path of the session file relative to the home.
pub(crate) fn session_path() -> String {
    format!(".claude/projects/-home-ann/{SESSION}.jsonl")
}

/// Creates a home with two sessions. The first has every kind of file that can belong to a session.
pub(crate) fn new_home_with_sessions() -> Home {
    let home = new_home();
    let text = String::from_utf8(script::bytes("u1: sort the harbours\n  a1: sorted")).unwrap();
    home.write_old(&session_path(), &text);
    let project = ".claude/projects/-home-ann";
    home.write_old(&format!("{project}/{OTHER}.jsonl"), text.replace("harbours", "ferries"));
    let agent = text.replace("sort the", "count the");
    home.write_old(&format!("{project}/{SESSION}/subagents/agent-a1.jsonl"), &agent);
    home.write_old(&format!("{project}/{SESSION}/tool-results/t1.txt"), "long output");
    let old_subagent =
        |session: &str| format!("{{\"type\":\"user\",\"sessionId\":\"{session}\",\"uuid\":\"x\"}}\n");
    home.write_old(&format!("{project}/agent-old.jsonl"), old_subagent(SESSION));
    home.write_old(&format!("{project}/agent-other.jsonl"), old_subagent(OTHER));
    for session in [SESSION, OTHER] {
        home.write_old(&format!(".claude/file-history/{session}/f@v1"), "old text");
        home.write_old(&format!(".claude/todos/{session}-agent-{session}.json"), "[]");
        home.write_old(&format!(".claude/tasks/{session}/1.json"), "{}");
    }
    home
}

/// Runs a command that must succeed and returns the first JSON object it prints.
fn run_first_object(home: &Home, args: &[&str]) -> Value {
    let run = home.run(args);
    assert_eq!(run.code, 0, "{args:?}: {}", run.err);
    serde_json::from_str(run.out.lines().next().unwrap()).unwrap()
}

#[test]
fn rename_is_undone_and_redone() {
    let home = new_home_with_sessions();
    let before = home.snapshot();
    let dry_run = home.run(&["rename", SESSION, "the", "login bug", "--dry-run"]);
    assert!(dry_run.out.ends_with("nothing was changed\n"), "{}", dry_run.out);
    assert_eq!(home.snapshot(), before);
    let run = home.run(&["rename", SESSION, "the", "login bug"]);
    insta::assert_snapshot!(run.out, @r#"
    "sort the harbours" renamed to "the login bug"
      append 206 B  ~/.claude/projects/-home-ann/aaaaaaaa-0000-4000-8000-000000000001.jsonl
    undo: rethread undo 1
    "#);
    assert_eq!(run_first_object(&home, &["ls", "--json", "--title", "login"])["title"], "the login bug");
    let undo = run_first_object(&home, &["undo", "--json"]);
    assert_eq!((&undo["op"], &undo["undoes"], &undo["command"]), (&2.into(), &1.into(), &"rename".into()));
    assert_eq!(home.snapshot(), before);
    let repeated = home.run(&["undo", "1"]);
    assert_eq!(repeated.code, 1);
    assert_eq!(repeated.err, "error: op 1 was undone by op 2\nhint: `rethread undo 2` applies it again\n");
    assert_eq!(home.run(&["undo"]).code, 1);
    assert_eq!(run_first_object(&home, &["undo", "2", "--json"])["undoes"], 2);
    assert_eq!(run_first_object(&home, &["ls", "--json", "--title", "login"])["title"], "the login bug");
    let log = home.run(&["log", "--json"]);
    let states: Vec<Value> =
        log.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["status"].clone()).collect();
    assert_eq!(states, ["done", "undone", "done"]);
}

#[test]
fn rename_completes_a_last_line_without_newline() {
    let home = new_home();
    let incomplete = format!("{}{{\"type\":\"us", String::from_utf8(script::bytes("u1: hello")).unwrap());
    let path = home.write_old(&session_path(), &incomplete);
    assert_eq!(home.run(&["rename", SESSION, "torn"]).code, 0);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(&format!("{incomplete}\n{{\"type\":\"custom-title\"")), "{text}");
    assert_eq!(home.run(&["undo"]).code, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), incomplete);
}

#[test]
fn rm_moves_all_files_of_a_session_and_undo_restores_them() {
    let home = new_home_with_sessions();
    let before = home.snapshot();
    let run = home.run(&["rm", SESSION, "--yes"]);
    insta::assert_snapshot!(run.out, @"
    moved to the trash: aaaaaaaa-0000-4000-8000-000000000001 (2.1 kB)
      move to the trash  ~/.claude/projects/-home-ann/aaaaaaaa-0000-4000-8000-000000000001.jsonl
      move to the trash  ~/.claude/file-history/aaaaaaaa-0000-4000-8000-000000000001
      move to the trash  ~/.claude/projects/-home-ann/aaaaaaaa-0000-4000-8000-000000000001
      move to the trash  ~/.claude/projects/-home-ann/agent-old.jsonl
      move to the trash  ~/.claude/tasks/aaaaaaaa-0000-4000-8000-000000000001
      move to the trash  …aa-0000-4000-8000-000000000001-agent-aaaaaaaa-0000-4000-8000-000000000001.json
    undo: rethread undo 1
    ");
    let after = home.snapshot();
    let is_kept = |path: &std::path::Path| {
        !path.to_string_lossy().contains(SESSION) && !path.ends_with("agent-old.jsonl")
    };
    let expected: Vec<_> = before.iter().filter(|(path, _)| is_kept(path)).collect();
    assert_eq!(after.iter().collect::<Vec<_>>(), expected);
    assert_eq!(home.run(&["undo"]).code, 0);
    assert_eq!(home.snapshot(), before);
    let age =
        std::fs::metadata(home.path().join(session_path())).unwrap().modified().unwrap().elapsed().unwrap();
    assert!(age.as_secs() < 600, "a restored session must be new enough that the client does not delete it");
}

#[test]
fn one_unknown_session_makes_rm_remove_nothing() {
    let home = new_home_with_sessions();
    let before = home.snapshot();
    assert_eq!(home.run(&["rm", SESSION, "no-such-session", "--yes"]).code, 2);
    assert_eq!(home.snapshot(), before);
    assert_eq!(home.run(&["rm", SESSION, OTHER, SESSION, "--yes"]).out.matches("undo: ").count(), 2);
}

#[test]
fn a_deleted_session_is_restored() {
    let home = new_home_with_sessions();
    let path = home.path().join(session_path());
    let before = std::fs::read(&path).unwrap();
    for title in ["one", "two"] {
        assert_eq!(home.run(&["rename", SESSION, title]).code, 0);
    }
    std::fs::remove_file(&path).unwrap();
    let dry_run = run_first_object(&home, &["restore", "aaaa", "--dry-run", "--json"]);
    assert_eq!((&dry_run["dry_run"], &dry_run["effects"][0]["effect"]), (&true.into(), &"create".into()));
    assert!(!path.exists());
    assert_eq!(run_first_object(&home, &["restore", "aaaa", "--json"])["before_op"], 1);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(home.run(&["restore", "aaaa"]).code, 1);
    // Lines that a client appended since are in the backup of the restore.
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"new\":1}\n").unwrap();
    let after_append = std::fs::read(&path).unwrap();
    assert_eq!(home.run(&["restore", "aaaa", "--even-if-live"]).code, 0);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(home.run(&["undo"]).code, 0);
    assert_eq!(std::fs::read(&path).unwrap(), after_append);
    assert_eq!(home.run(&["restore", OTHER]).code, 1);
}

#[test]
fn a_live_session_is_refused() {
    let home = new_home_with_sessions();
    let before = home.snapshot();
    let pid = std::process::id();
    home.write(
        &format!(".claude/sessions/{pid}.json"),
        format!("{{\"pid\":{pid},\"sessionId\":\"{SESSION}\"}}"),
    );
    for args in [&["rename", SESSION, "x"][..], &["rm", SESSION, "--yes"]] {
        let run = home.run(args);
        assert_eq!(run.code, 3, "{}", run.err);
        let expected =
            format!("error: session `{SESSION}` is live: a client has it open\nhint: close it first");
        assert!(run.err.starts_with(&expected), "{}", run.err);
    }
    std::fs::remove_dir_all(home.path().join(".claude/sessions")).unwrap();
    let writer = std::fs::OpenOptions::new().append(true).open(home.path().join(session_path())).unwrap();
    if cfg!(target_os = "linux") {
        let run = home.run(&["rename", SESSION, "x"]);
        assert_eq!(run.code, 3, "{}", run.err);
        assert!(run.err.contains("has it open for writing"), "{}", run.err);
    }
    drop(writer);
    assert_eq!(home.snapshot(), before);
    let text = std::fs::read_to_string(home.path().join(session_path())).unwrap();
    home.write(&session_path(), &text);
    let run = home.run(&["rename", SESSION, "x"]);
    assert_eq!(run.code, 3);
    assert!(run.err.contains("within the last 5 seconds"), "{}", run.err);
    assert_eq!(home.run(&["rename", SESSION, "x", "--even-if-live"]).code, 0);
    // Our own recent writes do not make the session live.
    assert_eq!(home.run(&["rename", SESSION, "y"]).code, 0);
}

#[test]
fn undo_reports_why_it_is_refused() {
    let home = new_home_with_sessions();
    assert_eq!(home.run(&["rename", SESSION, "x"]).code, 0);
    let path = home.path().join(session_path());
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{}\n{}\n{}\n").unwrap();
    let run = home.run(&["undo"]);
    assert_eq!(run.code, 3);
    assert!(run.err.contains("grew by 3 lines since op 1\nhint: `rethread restore "), "{}", run.err);
    assert_eq!(home.run(&["undo", "9"]).err.lines().next(), Some("error: there is no op 9"));
}

#[test]
fn prune_deletes_old_backups_but_never_the_newest() {
    let home = new_home_with_sessions();
    for title in ["one", "two", "three"] {
        assert_eq!(home.run(&["rename", SESSION, title]).code, 0);
    }
    assert_eq!(home.run(&["rm", OTHER, "-y"]).code, 0);
    assert_eq!(home.run(&["log", "--prune"]).code, 1, "nothing is 90 days old");
    let dry_run = run_first_object(&home, &["log", "--prune", "--older-than", "now", "--dry-run", "--json"]);
    let done = run_first_object(&home, &["log", "--prune", "--older-than", "now", "--json"]);
    assert_eq!((&dry_run["ops"], &done["ops"]), (&serde_json::json!([1, 2]), &serde_json::json!([1, 2])));
    assert_eq!(dry_run["bytes"], done["bytes"]);
    assert_eq!(home.run(&["undo", "4"]).code, 0);
    assert_eq!(home.run(&["undo", "3"]).code, 0);
    let pruned = home.run(&["undo", "2"]);
    assert_eq!(pruned.code, 2);
    assert!(pruned.err.starts_with("error: the backup of `"), "{}", pruned.err);
    assert!(home.run(&["log"]).out.contains("done, pruned"));
}

#[test]
fn without_a_state_folder_nothing_is_written() {
    let home = new_home_with_sessions();
    let path = home.path().join(session_path());
    let before = home.snapshot();
    let args = ["rename", path.to_str().unwrap(), "x", "--root", ".claude"];
    let run = home.command(&args).env_remove("HOME").output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("hint: set HOME or XDG_STATE_HOME"));
    assert_eq!(home.snapshot(), before);
}

#[test]
fn a_backup_file_of_another_program_is_offered_and_restored() {
    let home = new_home_with_sessions();
    let path = home.path().join(session_path());
    let current = std::fs::read(&path).unwrap();
    let earlier = script::bytes("u1: before the branch finder\n  a1: yes\n");
    let backup = format!("{}.backup", session_path());
    // There is nothing to offer yet.
    let run = home.run(&["restore", SESSION]);
    assert!(run.code == 1 && !run.err.contains("--backup-file"), "{}", run.err);
    assert_eq!(home.run(&["restore", SESSION, "--backup-file"]).code, 1);
    home.write_old(&backup, &earlier);
    let run = home.run(&["restore", SESSION]);
    assert!(run.code == 1 && run.err.contains("--backup-file"), "{}", run.err);
    assert_eq!(std::fs::read(&path).unwrap(), current, "it is only offered");

    let restored = run_first_object(&home, &["restore", SESSION, "--backup-file", "--json"]);
    assert_eq!(restored["before_op"], serde_json::Value::Null);
    assert!(restored["backup_file"].as_str().unwrap().ends_with(".jsonl.backup"));
    assert_eq!(std::fs::read(&path).unwrap(), earlier);
    assert_eq!(home.run(&["restore", SESSION, "--backup-file"]).code, 1, "nothing to do");
    assert_eq!(home.run(&["undo"]).code, 0);
    assert_eq!(std::fs::read(&path).unwrap(), current);

    // A backup of the same length differs, too.
    let same_len = String::from_utf8(current.clone()).unwrap().replacen("user", "uses", 1);
    home.write_old(&backup, &same_len);
    assert_eq!(home.run(&["restore", SESSION, "--backup-file", "--dry-run"]).code, 0);

    // After a change by rethread, both backups are offered.
    assert_eq!(home.run(&["rename", SESSION, "two"]).code, 0);
    let run = home.run(&["restore", SESSION, "--dry-run"]);
    assert!(run.code == 0 && run.err.contains("--backup-file"), "{}", run.err);
    // A backup without entries restores nothing.
    home.write_old(&backup, "");
    assert_eq!(home.run(&["restore", SESSION, "--backup-file"]).code, 2);
}
