//! `clone` and `rescue` end to end: a copy with less in it, the original as it was.

use super::home::{Home, loaded, object};
use rethread_testkit::script;
use serde_json::Value;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const CLIENTS: [&str; 5] = ["2.1.325", "2.1.221", "2.1.104", "2.1.42", "1.0.98"];
const FOLDER: &str = ".claude/projects/-home-ann-garden";

fn talk() -> String {
    let words = "planks ".repeat(1000);
    format!(
        "
u1: list the harbours {words}
  a1 #m1: ?where to look
    a2 #m1: !Bash ls
      u2: =a2 {words}
        a3: listed
          p1: hook_progress stop
            u3: sort them
              a4: !Bash sort
                u4: =a4 done
                  a5: sorted
                    u5: count them
                      a6: three
                        u6: thanks
                          a7 read=9000: welcome
"
    )
}

fn store() -> Home {
    let home = Home::new();
    home.write_old(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(&talk()));
    home
}

/// Returns the lines of a new session.
fn lines(made: &Value) -> Vec<Value> {
    let text = std::fs::read_to_string(made["path"].as_str().unwrap()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn origin(home: &Home) -> Vec<u8> {
    std::fs::read(home.path().join(format!("{FOLDER}/{SESSION}.jsonl"))).unwrap()
}

#[test]
fn every_client_loads_what_is_left_and_undo_takes_the_copy_away() {
    let home = store();
    let before = origin(&home);
    let made = object(&home, &["clone", SESSION, "--preset", "bare", "--json"]);
    let id = made["session"].as_str().unwrap();
    for client in CLIENTS {
        assert_eq!(loaded(&home, id, client), ["u1", "a3", "u3", "a5", "u5", "a6", "u6", "a7"], "{client}");
    }
    assert_eq!(origin(&home), before);
    for line in lines(&made) {
        assert_eq!(line["sessionId"], id);
    }
    assert!(made["title"].as_str().unwrap().ends_with("(bare)"), "{}", made["title"]);
    assert!(made["after"]["tokens"].as_u64() < made["before"]["tokens"].as_u64());
    object(&home, &["undo", &made["op"].to_string(), "--json"]);
    assert!(!std::path::Path::new(made["path"].as_str().unwrap()).exists());
}

#[test]
fn a_stub_names_session_and_line_and_the_second_copy_is_gone() {
    let home = store();
    let args = ["clone", SESSION, "--tool-results-over", "4kB", "--older-than-turns", "1", "--json"];
    let made = object(&home, &args);
    let result = lines(&made).into_iter().find(|line| line["uuid"] == script::uuid_of("u2")).unwrap();
    assert_eq!(
        result["message"]["content"][0]["content"],
        "[tool result of 8 kB left out by rethread: session aaaaaaaa line 4]"
    );
    assert!(result["toolUseResult"].is_null());
    assert_eq!(made["left_out"][0]["cause"], "tool-results");
    let changed: Vec<&str> =
        made["changed"].as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
    assert_eq!(
        changed,
        ["message.content[].content", "message.usage.cache_read_input_tokens", "toolUseResult"]
    );
}

#[test]
fn nothing_left_out_is_a_copy_that_loads_the_same() {
    let home = store();
    let made = object(&home, &["clone", SESSION, "--preset", "whole", "--json"]);
    assert_eq!(made["changed"], Value::Array(Vec::new()));
    for client in CLIENTS {
        assert_eq!(loaded(&home, made["session"].as_str().unwrap(), client), loaded(&home, SESSION, client));
    }
}

#[test]
fn a_copy_may_go_to_another_project() {
    let home = store();
    let park = home.path().join("my park");
    home.write("my park/bench", "");
    let park = park.canonicalize().unwrap();
    let made = object(&home, &["clone", SESSION, "--into", park.to_str().unwrap(), "--json"]);
    let dashed: String =
        park.to_str().unwrap().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    assert!(made["path"].as_str().unwrap().contains(&format!("/projects/{dashed}/")), "{}", made["path"]);
    for line in lines(&made).iter().filter(|line| !line["cwd"].is_null()) {
        assert_eq!(line["cwd"].as_str(), park.to_str());
    }
    let none = home.run(&["clone", SESSION, "--into", "/no/such/folder"]);
    assert!(none.code == 2 && none.err.contains("there is no folder `/no/such/folder`"), "{}", none.err);
}

#[test]
fn a_dry_run_writes_nothing() {
    let home = store();
    let folder = home.path().join(FOLDER);
    for args in [&["clone", SESSION, "--dry-run"][..], &["rescue", SESSION, "--fit", "7.5k", "--dry-run"]] {
        let run = home.run(args);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.err.contains("nothing was written"), "{}", run.err);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }
    let bad = home.run(&["clone", SESSION, "--tool-results-over", "much"]);
    assert!(bad.code == 2 && bad.err.contains("is no amount"), "{}", bad.err);
    let all = home.run(&["clone", SESSION, "--keep-last", "0"]);
    assert_eq!(all.code, 2, "{}", all.err);
}

#[test]
fn a_rescue_takes_no_more_than_it_needs() {
    let home = store();
    let made = object(&home, &["rescue", SESSION, "--fit", "7.5k", "--json"]);
    assert_eq!(made["steps"].as_array().unwrap().len(), 1, "{}", made["steps"]);
    assert_eq!(made["steps"][0]["step"], "large-results");
    assert!(made["after"]["tokens"].as_u64().unwrap() <= 7500);
    let made = object(&home, &["rescue", SESSION, "--fit", "6.5k", "--json"]);
    let steps: Vec<&str> =
        made["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["large-results", "thinking", "tools", "turns"]);
    let id = made["session"].as_str().unwrap();
    for client in CLIENTS {
        assert_eq!(loaded(&home, id, client).last().map(String::as_str), Some("a7"), "{client}");
    }
    let lines = lines(&made);
    let note = lines[0]["message"]["content"].as_str().unwrap();
    assert!(note.contains(SESSION) && note.contains("\n- list the harbours"), "{note}");
    let fits = home.run(&["rescue", SESSION, "--fit", "200k"]);
    assert!(fits.code == 1 && fits.err.contains("it fits already"), "{}", fits.err);
    let never = home.run(&["rescue", SESSION, "--fit", "10"]);
    assert!(never.code == 2 && never.err.contains("its last two turns have about"), "{}", never.err);
}

#[test]
fn what_is_printed_adds_up() {
    let home = store();
    let run = home.run(&["clone", SESSION, "--preset", "bare", "--dry-run"]);
    let table: Vec<Vec<&str>> =
        run.out.lines().map(|line| line.split("  ").filter(|cell| !cell.is_empty()).collect()).collect();
    let row = |name: &str| table.iter().find(|row| row.first().is_some_and(|cell| cell.trim() == name));
    for name in ["before", "progress", "thinking", "calls with their results", "after"] {
        assert!(row(name).is_some_and(|row| row.len() > 2), "{name} in\n{}", run.out);
    }
    assert!(
        run.out
            .contains("lines would change only at message.usage.cache_read_input_tokens ×1, parentUuid ×3"),
        "{}",
        run.out
    );
}
