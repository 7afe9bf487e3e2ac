//! `goto` and `fork` end to end: clients go on elsewhere, no line changes, and all of it can be taken back.

use super::home::{Home, loaded, object};
use rethread_testkit::script;
use serde_json::Value;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A session with an edited prompt and a pin on the newer way.
const EDITED: &str = "
    u1: sort the harbours
      a1: sorted
        u2: by name
          a2: !Bash sort
            u3: =a2 done
              a3: by name it is
        u4: by code instead
          a4: by code it is
    last-prompt ~a4: by code instead
";

/// A session that was compacted in a way that newer clients drop what was before.
const COMPACTED: &str = "
    u1: sort the harbours
      a1: sorted
        u2: by name
          a2: by name it is
            s1 list=a2>u5: compact_boundary
              u5 recap: harbours were sorted
                u6: go on
                  a6: done
";

fn store(text: &str) -> Home {
    let home = Home::new();
    home.write_old(&format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"), script::bytes(text));
    home
}

fn file(home: &Home) -> Vec<u8> {
    std::fs::read(home.path().join(format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"))).unwrap()
}

const CLIENTS: [&str; 5] = ["2.1.325", "2.1.221", "2.1.104", "2.1.42", "1.0.98"];

#[test]
fn every_client_goes_on_from_there_and_undo_brings_every_byte_back() {
    let home = store(EDITED);
    let before = file(&home);
    assert_eq!(loaded(&home, SESSION, "2.1.325"), ["u1", "a1", "u4", "a4"]);
    let moved = object(&home, &["goto", SESSION, "t2", "--json"]);
    for client in CLIENTS {
        assert_eq!(loaded(&home, SESSION, client), ["u1", "a1", "u2", "a2", "u3", "a3"], "{client}");
    }
    let after = file(&home);
    assert!(after.starts_with(&before), "lines are only added");
    assert_eq!(after[before.len()..].iter().filter(|&&byte| byte == b'\n').count(), 2);
    assert_eq!((&moved["to"]["turn"], &moved["from"]["turn"]), (&Value::from(2), &Value::from(3)));
    assert_eq!(moved["promises"][0]["entries"], 6);
    object(&home, &["undo", &moved["op"].to_string(), "--json"]);
    assert_eq!(file(&home), before);
}

#[test]
fn a_point_is_named_by_turn_line_uuid_or_words_and_the_entry_before_it() {
    let home = store(EDITED);
    let at = |place: &[&str]| {
        let args = [&["goto", SESSION], place, &["--dry-run", "--json"]].concat();
        object(&home, &args)["to"]["line"].as_u64().unwrap()
    };
    let uuid = script::uuid_of("a2").to_string();
    assert_eq!([at(&["t2"]), at(&["L4"]), at(&[&uuid]), at(&["by", "name", "it"])], [6, 4, 4, 6]);
    assert_eq!([at(&["t3", "--before"]), at(&["L4", "--before"])], [2, 3]);
    let several = home.run(&["goto", SESSION, "by"]);
    assert_eq!(several.code, 2);
    assert!(several.err.contains("4 entries hold `by`") && several.err.contains("L8"), "{}", several.err);
    let none = home.run(&["goto", SESSION, "t1", "--before"]);
    assert!(none.code == 2 && none.err.contains("nothing stands before"), "{}", none.err);
    assert_eq!(home.run(&["goto", SESSION, "no such words"]).code, 2);
}

#[test]
fn what_a_compaction_dropped_is_written_a_second_time() {
    let home = store(COMPACTED);
    let before = file(&home);
    let moved = object(&home, &["goto", SESSION, "t1", "--json"]);
    assert_eq!(moved["replayed_lines"], 2);
    assert!(file(&home).starts_with(&before), "lines are only added");
    // Clients that never drop what a compaction leaves would not need the copies.
    for client in &CLIENTS[..2] {
        assert_eq!(loaded(&home, SESSION, client), ["new", "new"], "{client}");
    }
    object(&home, &["undo", "--json"]);
    assert_eq!(file(&home), before);
}

#[test]
fn a_fork_holds_the_path_and_nothing_else() {
    let home = store(EDITED);
    let folder = ".claude/projects/-home-ann-garden";
    let call = script::bytes(EDITED);
    let call = String::from_utf8(call).unwrap();
    let call = call.split("\"tool_use\",\"id\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    home.write_old(&format!("{folder}/{SESSION}/tool-results/{call}.txt"), b"all of it");
    home.write_old(&format!("{folder}/{SESSION}/tool-results/toolu_other.txt"), b"not this");
    let before = file(&home);
    let born = object(&home, &["fork", SESSION, "t2", "--title", "by name", "--json"]);
    let id = born["session"].as_str().unwrap();
    assert_eq!(file(&home), before, "the origin is not changed");
    for client in CLIENTS {
        assert_eq!(loaded(&home, id, client), ["u1", "a1", "u2", "a2", "u3", "a3"], "{client}");
    }
    let text = std::fs::read_to_string(born["path"].as_str().unwrap()).unwrap();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["sessionId"], id, "{line}");
        if line["uuid"].is_string() && line["type"] != "system" {
            assert_eq!(line["forkedFrom"]["sessionId"], SESSION);
            assert_eq!(line["forkedFrom"]["messageUuid"], line["uuid"]);
        }
    }
    assert!(text.contains(r#""customTitle":"by name""#));
    let beside = home.path().join(folder).join(id).join("tool-results");
    let names: Vec<_> = std::fs::read_dir(beside).unwrap().map(|found| found.unwrap().file_name()).collect();
    assert_eq!(names, [format!("{call}.txt").as_str()]);
    object(&home, &["undo", "--json"]);
    assert!(!home.path().join(folder).join(format!("{id}.jsonl")).exists());
    assert!(!home.path().join(folder).join(id).exists(), "nor what stood beside it");
}

#[test]
fn a_dry_run_writes_nothing() {
    let home = store(EDITED);
    let before = file(&home);
    for args in [&["goto", SESSION, "t1", "--dry-run"][..], &["fork", SESSION, "--dry-run"]] {
        let run = home.run(args);
        assert!(run.code == 0 && run.err.contains("nothing was written"), "{}", run.err);
    }
    assert_eq!(file(&home), before);
    let folder = home.path().join(".claude/projects/-home-ann-garden");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
}

#[test]
fn a_file_in_no_store_is_left_alone() {
    let home = store(EDITED);
    let loose = home.write_old("notes/loose.jsonl", script::bytes(EDITED));
    let run = home.run(&["goto", loose.to_str().unwrap(), "t1"]);
    assert!(run.code == 3 && run.err.contains("in no store"), "{} {}", run.code, run.err);
    let named = home.run(&["goto", loose.to_str().unwrap(), "t1", "--root", "notes"]);
    assert_eq!(named.code, 0, "{}", named.err);
}

#[test]
fn the_demo_store_can_be_changed_too() {
    let home = Home::new();
    for args in
        [&["goto", "harbour names", "t1"][..], &["fork", "last"], &["clone", "last"], &["repair", "quince"]]
    {
        let run = home.run(&[&["--demo"], args].concat());
        assert_eq!(run.code, 0, "{args:?}: {}", run.err);
        assert!(run.out.contains("rethread undo 1"), "{}", run.out);
    }
}

/// What clients cannot parse they do not load, whatever a patient reader finds in it.
#[test]
fn damaged_lines_are_promised_to_nobody() {
    let home = Home::new();
    let lines = script::bytes(
        "u1: one\n  a1: one\n    u2: two\n      a2: two\n        u3: three\n          a3: three",
    );
    let mut damaged = Vec::new();
    for (k, line) in lines.split_inclusive(|&byte| byte == b'\n').enumerate() {
        damaged.extend_from_slice(if k == 2 { &[0; 50] } else { b"" });
        damaged.extend_from_slice(line);
    }
    home.write_old(&format!(".claude/projects/-home-ann-garden/{SESSION}.jsonl"), damaged);
    assert_eq!(loaded(&home, SESSION, "2.1.42"), ["a2", "u3", "a3"]);
    let run = home.run(&["goto", SESSION, "L3", "--json"]);
    assert!(run.code == 3 || run.code == 2, "{}", run.err);
    let born = object(&home, &["repair", SESSION, "--json"]);
    assert_eq!(
        loaded(&home, born["session"].as_str().unwrap(), "2.1.42"),
        ["u1", "a1", "u2", "a2", "u3", "a3"]
    );
}

/// A write that failed and cannot even be looked at again keeps nobody from writing elsewhere.
#[test]
fn one_failed_write_blocks_no_other() {
    let home = store(EDITED);
    let into = home.write_old("elsewhere/note", b"").parent().unwrap().canonicalize().unwrap();
    let into = into.to_str().unwrap();
    let name: String = into.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    home.write_old(&format!(".claude/projects/{name}"), b"a file where a folder should be");
    let run = home.run(&["clone", SESSION, "--into", into]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert_eq!(home.run(&["fork", SESSION, "--title", &"x".repeat(300)]).code, 2, "a title that is too long");
    assert_eq!(home.run(&["log"]).code, 0);
    object(&home, &["rename", SESSION, "by name", "--json"]);
}

#[test]
fn the_hint_of_a_refused_undo_leads_somewhere() {
    let home = store(EDITED);
    let born = object(&home, &["fork", SESSION, "--json"]);
    let path = std::path::Path::new(born["path"].as_str().unwrap());
    let grown = [std::fs::read(path).unwrap(), b"{}\n".to_vec()].concat();
    let inside = path.strip_prefix(home.path()).unwrap().to_str().unwrap().to_owned();
    home.write_old(&inside, grown);
    let run = home.run(&["undo"]);
    let hint = format!("rethread rm {}", born["session"].as_str().unwrap());
    assert!(run.code == 3 && run.err.contains(&hint), "{}", run.err);
    assert_eq!(home.run(&["rm", born["session"].as_str().unwrap()]).code, 0);
}

#[test]
fn what_is_as_it_was_stays_so_when_its_backups_are_gone() {
    let home = store(EDITED);
    let before = file(&home);
    object(&home, &["rename", SESSION, "one", "--json"]);
    object(&home, &["undo", "--json"]);
    assert_eq!(home.run(&["log", "--prune", "--older-than", "now"]).code, 0);
    assert_eq!(home.run(&["restore", SESSION]).code, 1, "nothing to do");
    assert_eq!(file(&home), before);
}

#[test]
fn a_subagent_is_not_forked() {
    let home = store(EDITED);
    let agent = script::bytes("u1 side: look\n  a1 side: found");
    home.write_old(&format!(".claude/projects/-home-ann-garden/{SESSION}/subagents/agent-abc.jsonl"), agent);
    for command in ["fork", "clone"] {
        let run = home.run(&[command, "agent-abc"]);
        assert!(run.code == 2 && run.err.contains("load nothing"), "{command}: {}", run.err);
    }
}
