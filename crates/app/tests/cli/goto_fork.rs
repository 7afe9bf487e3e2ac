//! `goto` and `fork` end to end: clients resume from the chosen entry, no line changes, and undo works.

use rethread_testkit::home::Home;
use rethread_testkit::sample_session::EDITED_PROMPT;
use rethread_testkit::script;
use serde_json::{Value, json};

use crate::new_home;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A compacted session. Newer clients drop the entries before the compaction.
const COMPACTED_SESSION: &str = "
    * v=2.1.221
    u1: sort the harbours
      a1: sorted
        u2: by name
          a2: by name it is
            s1 list=a2>u5: compact_boundary
              u5 recap: harbours were sorted
                u6: go on
                  a6: done
";

fn new_home_with_session(text: &str) -> Home {
    let home = new_home();
    home.write_old(&format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"), script::bytes(text));
    home
}

fn read_session(home: &Home) -> Vec<u8> {
    std::fs::read(home.path().join(format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"))).unwrap()
}

const CLIENTS: [&str; 5] = ["2.1.325", "2.1.221", "2.1.104", "2.1.42", "1.0.98"];

#[test]
fn every_client_resumes_from_the_target_and_undo_restores_every_byte() {
    let home = new_home_with_session(EDITED_PROMPT);
    let before = read_session(&home);
    assert_eq!(home.loaded_entries(SESSION, "2.1.325"), ["u1", "a1", "u4", "a4"]);
    let report = home.run_json(&["goto", SESSION, "t2", "--json"]);
    for client in CLIENTS {
        assert_eq!(home.loaded_entries(SESSION, client), ["u1", "a1", "u2", "a2", "u3", "a3"], "{client}");
    }
    let after = read_session(&home);
    assert!(after.starts_with(&before), "lines are only appended");
    assert_eq!(after[before.len()..].iter().filter(|&&byte| byte == b'\n').count(), 2);
    assert_eq!((&report["to"]["turn"], &report["from"]["turn"]), (&Value::from(2), &Value::from(3)));
    assert_eq!(report["expected_loads"][0]["entries"], 6);
    home.run_json(&["undo", &report["op"].to_string(), "--json"]);
    assert_eq!(read_session(&home), before);
}

#[test]
fn a_target_is_named_by_turn_line_uuid_or_text() {
    let home = new_home_with_session(EDITED_PROMPT);
    let resolve_line = |arguments: &[&str]| {
        let args = [&["goto", SESSION], arguments, &["--dry-run", "--json"]].concat();
        home.run_json(&args)["to"]["line"].as_u64().unwrap()
    };
    let uuid = script::uuid_from_name("a2").to_string();
    assert_eq!(
        [
            resolve_line(&["t2"]),
            resolve_line(&["L4"]),
            resolve_line(&[&uuid]),
            resolve_line(&["by", "name", "it"])
        ],
        [6, 4, 4, 6]
    );
    assert_eq!([resolve_line(&["t3", "--before"]), resolve_line(&["L4", "--before"])], [2, 3]);
    let ambiguous = home.run(&["goto", SESSION, "by"]);
    assert_eq!(ambiguous.code, 2);
    assert!(
        ambiguous.err.contains("`by` matches 4 entries") && ambiguous.err.contains("L8"),
        "{}",
        ambiguous.err
    );
    let first_entry = home.run(&["goto", SESSION, "t1", "--before"]);
    assert!(
        first_entry.code == 2 && first_entry.err.contains("is the first entry of the session"),
        "{}",
        first_entry.err
    );
    assert_eq!(home.run(&["goto", SESSION, "no such words"]).code, 2);
}

#[test]
fn entries_before_a_compaction_are_appended_again() {
    let home = new_home_with_session(COMPACTED_SESSION);
    let before = read_session(&home);
    let report = home.run_json(&["goto", SESSION, "t1", "--json"]);
    assert_eq!(report["replayed_lines"], 2);
    assert!(read_session(&home).starts_with(&before), "lines are only appended");
    // Only these clients drop the entries before a compaction.
    for client in &CLIENTS[..2] {
        assert_eq!(home.loaded_entries(SESSION, client), ["new", "new"], "{client}");
    }
    home.run_json(&["undo", "--json"]);
    assert_eq!(read_session(&home), before);
}

#[test]
fn a_fork_contains_only_the_path_and_its_result_files() {
    let home = new_home_with_session(EDITED_PROMPT);
    let folder = ".claude/projects/-home-ann-garden";
    let call_id = script::bytes(EDITED_PROMPT);
    let call_id = String::from_utf8(call_id).unwrap();
    let call_id =
        call_id.split("\"tool_use\",\"id\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    home.write_old(&format!("{folder}/{SESSION}/tool-results/{call_id}.txt"), b"all of it");
    home.write_old(&format!("{folder}/{SESSION}/tool-results/toolu_other.txt"), b"not this");
    let before = read_session(&home);
    let new_session = home.run_json(&["fork", SESSION, "t2", "--title", "by name", "--json"]);
    let id = new_session["session"].as_str().unwrap();
    assert_eq!(read_session(&home), before, "the original is unchanged");
    for client in CLIENTS {
        assert_eq!(home.loaded_entries(id, client), ["u1", "a1", "u2", "a2", "u3", "a3"], "{client}");
    }
    let text = std::fs::read_to_string(new_session["path"].as_str().unwrap()).unwrap();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["sessionId"], id, "{line}");
        if line["uuid"].is_string() && line["type"] != "system" {
            assert_eq!(line["forkedFrom"]["sessionId"], SESSION);
            assert_eq!(line["forkedFrom"]["messageUuid"], line["uuid"]);
        }
    }
    assert!(text.contains(r#""customTitle":"by name""#));
    let result_folder = home.path().join(folder).join(id).join("tool-results");
    let names: Vec<_> =
        std::fs::read_dir(result_folder).unwrap().map(|found| found.unwrap().file_name()).collect();
    assert_eq!(names, [format!("{call_id}.txt").as_str()]);
    home.run_json(&["undo", "--json"]);
    assert!(!home.path().join(folder).join(format!("{id}.jsonl")).exists());
    assert!(!home.path().join(folder).join(id).exists(), "its folder is deleted");
}

#[test]
fn a_dry_run_writes_nothing() {
    let home = new_home_with_session(EDITED_PROMPT);
    let before = read_session(&home);
    for args in [&["goto", SESSION, "t1", "--dry-run"][..], &["fork", SESSION, "--dry-run"]] {
        let run = home.run(args);
        assert!(run.code == 0 && run.err.contains("nothing was written"), "{}", run.err);
    }
    assert_eq!(read_session(&home), before);
    let folder = home.path().join(".claude/projects/-home-ann-garden");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
}

#[test]
fn files_outside_the_session_folders_are_refused() {
    let home = new_home_with_session(EDITED_PROMPT);
    let outside = home.write_old("notes/loose.jsonl", script::bytes(EDITED_PROMPT));
    let run = home.run(&["goto", outside.to_str().unwrap(), "t1"]);
    assert!(run.code == 3 && run.err.contains("is outside the session folders"), "{} {}", run.code, run.err);
    let with_root = home.run(&["goto", outside.to_str().unwrap(), "t1", "--root", "notes"]);
    assert_eq!(with_root.code, 0, "{}", with_root.err);
}

#[test]
fn commands_that_write_work_in_the_demo() {
    let home = new_home();
    for args in
        [&["goto", "harbour names", "t1"][..], &["fork", "last"], &["clone", "last"], &["repair", "quince"]]
    {
        let run = home.run(&[&["--demo"], args].concat());
        assert_eq!(run.code, 0, "{args:?}: {}", run.err);
        assert!(run.out.contains("rethread --demo undo "), "{}", run.out);
    }
}

/// Clients do not load lines that they cannot parse, even if we can recover their entries.
#[test]
fn damaged_lines_are_not_goto_targets_until_repaired() {
    let home = new_home();
    let lines = script::bytes(
        "u1: one\n  a1: one\n    u2: two\n      a2: two\n        u3: three\n          a3: three",
    );
    let mut damaged = Vec::new();
    for (idx, line) in lines.split_inclusive(|&byte| byte == b'\n').enumerate() {
        damaged.extend_from_slice(if idx == 2 { &[0; 50] } else { b"" });
        damaged.extend_from_slice(line);
    }
    home.write_old(&format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"), damaged);
    assert_eq!(home.loaded_entries(SESSION, "2.1.42"), ["a2", "u3", "a3"]);
    let run = home.run(&["goto", SESSION, "L3", "--json"]);
    assert!(run.code == 3 || run.code == 2, "{}", run.err);
    let new_session = home.run_json(&["repair", SESSION, "--json"]);
    assert_eq!(
        home.loaded_entries(new_session["session"].as_str().unwrap(), "2.1.42"),
        ["u1", "a1", "u2", "a2", "u3", "a3"]
    );
}

/// The failed write cannot be recovered, which must not block writes to other files.
#[test]
fn a_failed_write_does_not_block_other_writes() {
    let home = new_home_with_session(EDITED_PROMPT);
    let target_folder = home.write_old("elsewhere/note", b"").parent().unwrap().canonicalize().unwrap();
    let target_folder = target_folder.to_str().unwrap();
    let project_name: String =
        target_folder.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    home.write_old(&format!(".claude/projects/{project_name}"), b"a file where a folder should be");
    let run = home.run(&["clone", SESSION, "--into", target_folder]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert_eq!(home.run(&["fork", SESSION, "--title", &"x".repeat(300)]).code, 2, "the title is too long");
    assert_eq!(home.run(&["log"]).code, 0);
    home.run_json(&["rename", SESSION, "by name", "--json"]);
}

#[test]
fn the_hint_of_a_refused_undo_works() {
    let home = new_home_with_session(EDITED_PROMPT);
    let new_session = home.run_json(&["fork", SESSION, "--json"]);
    let path = std::path::Path::new(new_session["path"].as_str().unwrap());
    let appended = [std::fs::read(path).unwrap(), b"{}\n".to_vec()].concat();
    let relative_path = path.strip_prefix(home.path()).unwrap().to_str().unwrap().to_owned();
    home.write_old(&relative_path, appended);
    let run = home.run(&["undo"]);
    let hint = format!("rethread rm {}", new_session["session"].as_str().unwrap());
    assert!(run.code == 3 && run.err.contains(&hint), "{}", run.err);
    assert_eq!(home.run(&["rm", new_session["session"].as_str().unwrap(), "--yes"]).code, 0);
}

#[test]
fn restore_does_nothing_if_the_backups_are_pruned() {
    let home = new_home_with_session(EDITED_PROMPT);
    let before = read_session(&home);
    home.run_json(&["rename", SESSION, "one", "--json"]);
    home.run_json(&["undo", "--json"]);
    assert_eq!(home.run(&["log", "--prune", "--older-than", "now"]).code, 0);
    assert_eq!(home.run(&["restore", SESSION]).code, 1, "nothing to do");
    assert_eq!(read_session(&home), before);
}

#[test]
fn subagents_cannot_be_forked_or_cloned() {
    let home = new_home_with_session(EDITED_PROMPT);
    let agent = script::bytes("u1 side: look\n  a1 side: found");
    home.write_old(&format!(".claude/projects/-home-ann-garden/{SESSION}/subagents/agent-abc.jsonl"), agent);
    for command in ["fork", "clone"] {
        let run = home.run(&[command, "agent-abc"]);
        assert!(run.code == 2 && run.err.contains("load nothing"), "{command}: {}", run.err);
    }
}

#[test]
fn only_sessions_in_a_project_folder_have_a_file_history() {
    let snapshot = json!({
        "type": "file-history-snapshot",
        "messageId": script::uuid_from_name("u1"),
        "snapshot": { "trackedFileBackups": { "a.rs": { "backupFileName": "f@v1" } } },
    });
    let lines = [&script::bytes(EDITED_PROMPT)[..], snapshot.to_string().as_bytes(), b"\n"].concat();
    let count_copied_files = |folder: &str| {
        let home = new_home();
        let path = home.write_old(&format!("work/{folder}/{SESSION}.jsonl"), &lines);
        home.write_old(&format!("work/file-history/{SESSION}/f@v1"), "old text");
        let root = home.path().join("work").display().to_string();
        let path = path.display().to_string();
        let report = home.run_json(&["--root", &root, "fork", &path, "--dry-run", "--json"]);
        report["side_files"].as_u64().unwrap()
    };
    assert_eq!(count_copied_files("projects/-home-ann-garden"), 1);
    assert_eq!(count_copied_files("projects/notes/2026"), 0);
}

#[test]
fn all_commands_agree_on_the_resume_point_after_a_goto() {
    let home = new_home_with_session(EDITED_PROMPT);
    let ls_before = home.run_json(&["ls", "--json"]);
    home.run_json(&["goto", SESSION, "t2", "--json"]);
    let turns = |args: &[&str]| -> Vec<(u64, String, Value, Value)> {
        let objects = home.run_json_lines(args).into_iter().filter(|object| object["type"] == "turn");
        objects
            .map(|turn| {
                let relation = turn["path_relation"].as_str().unwrap().to_owned();
                (turn["turn"].as_u64().unwrap(), relation, turn["first"].clone(), turn["last"].clone())
            })
            .collect()
    };
    let shown = turns(&["show", SESSION, "--json"]);
    assert_eq!(shown.iter().map(|turn| turn.0).collect::<Vec<_>>(), [1, 2], "show ends at the resume point");
    assert_eq!(shown, turns(&["export", SESSION, "--json"]));
    let alone = turns(&["show", SESSION, "--turns", "2", "--json"]);
    assert_eq!(alone, shown[1..], "a duration does not depend on the selected turns");
    let branches = home.run_json_lines(&["branches", SESSION, "--json"]);
    let active: Vec<&Value> = branches.iter().filter(|branch| branch["active"] == true).collect();
    assert_eq!((active.len(), &active[0]["handle"]), (1, &"L6".into()), "{branches:?}");
    let rows = home.run_json_lines(&["tree", SESSION, "--json"]);
    let resume: Vec<&Value> =
        rows.iter().map(|row| &row["resume"]).filter(|resume| !resume.is_null()).collect();
    assert_eq!(resume, ["L6"]);
    assert!(rows.iter().all(|row| row["fork_kind"] != "parallel writer"), "{rows:?}");
    for row in rows.iter().filter(|row| row["node"] == "turn") {
        let is_shown = shown.iter().any(|turn| Some(turn.0) == row["turn"].as_u64());
        assert_eq!(row["path_relation"] == "on_path", is_shown, "{row}");
    }
    let ls_after = home.run_json(&["ls", "--json"]);
    for key in ["turns", "branches", "title", "first", "last", "git_branch"] {
        assert_eq!(ls_after[key], ls_before[key], "{key}");
    }
}
