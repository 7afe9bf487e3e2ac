//! `clone` and `rescue` end to end: a smaller copy, and an unchanged original.

use rethread_testkit::home::Home;
use rethread_testkit::script;
use serde_json::Value;

use crate::new_home;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const CLIENTS: [&str; 5] = ["2.1.325", "2.1.221", "2.1.104", "2.1.42", "1.0.98"];
const FOLDER: &str = ".claude/projects/-home-ann-garden";

fn session_script() -> String {
    let filler = "planks ".repeat(1000);
    format!(
        "
u1: list the harbours {filler}
  a1 #m1: ?where to look
    a2 #m1: !Bash ls
      u2: =a2 {filler}
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

fn new_home_with_session() -> Home {
    let home = new_home();
    home.write_old(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(&session_script()));
    home
}

/// Returns the lines of a new session file.
fn read_lines(copy: &Value) -> Vec<Value> {
    let text = std::fs::read_to_string(copy["path"].as_str().unwrap()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn read_original(home: &Home) -> Vec<u8> {
    std::fs::read(home.path().join(format!("{FOLDER}/{SESSION}.jsonl"))).unwrap()
}

#[test]
fn every_client_loads_the_copy_and_undo_deletes_it() {
    let home = new_home_with_session();
    let before = read_original(&home);
    let copy = home.run_json(&["clone", SESSION, "--preset", "bare", "--json"]);
    let id = copy["session"].as_str().unwrap();
    for client in CLIENTS {
        assert_eq!(
            home.loaded_entries(id, client),
            ["u1", "a3", "u3", "a5", "u5", "a6", "u6", "a7"],
            "{client}"
        );
    }
    assert_eq!(read_original(&home), before);
    for line in read_lines(&copy) {
        assert_eq!(line["sessionId"], id);
    }
    assert!(copy["title"].as_str().unwrap().ends_with("(bare)"), "{}", copy["title"]);
    assert!(copy["after"]["tokens"].as_u64() < copy["before"]["tokens"].as_u64());
    home.run_json(&["undo", &copy["op"].to_string(), "--json"]);
    assert!(!std::path::Path::new(copy["path"].as_str().unwrap()).exists());
}

#[test]
fn a_removed_result_is_replaced_by_a_reference_to_its_line() {
    let home = new_home_with_session();
    let args = ["clone", SESSION, "--tool-results-over", "4kB", "--older-than-turns", "1", "--json"];
    let copy = home.run_json(&args);
    let result =
        read_lines(&copy).into_iter().find(|line| line["uuid"] == script::uuid_from_name("u2")).unwrap();
    assert_eq!(
        result["message"]["content"][0]["content"],
        "[tool result of 8 kB removed by rethread: session aaaaaaaa line 4]"
    );
    assert!(result["toolUseResult"].is_null());
    assert_eq!(copy["omitted"][0]["cause"], "tool-results");
    let changed: Vec<&str> =
        copy["changed_paths"].as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
    assert_eq!(
        changed,
        ["message.content[].content", "message.usage.cache_read_input_tokens", "toolUseResult"]
    );
}

#[test]
fn a_complete_copy_loads_the_same_entries() {
    let home = new_home_with_session();
    let copy = home.run_json(&["clone", SESSION, "--preset", "whole", "--json"]);
    assert_eq!(copy["changed_paths"], Value::Array(Vec::new()));
    for client in CLIENTS {
        assert_eq!(
            home.loaded_entries(copy["session"].as_str().unwrap(), client),
            home.loaded_entries(SESSION, client)
        );
    }
}

/// A session with a fork, a compaction, and lines of every kind without a uuid.
const RECORDS: &str = "
mode: normal
u1: plan the beds
  a1: three beds
    u2: plant beans
      a2: planted beans
    u3: plant peas
      a3: planted peas
        s1: compact_boundary compacted
          u4 recap: they planted peas
            u5: water them
              a4: watered
file-history-snapshot ~u5: {}
raw: {\"type\":\"api-request-shape\",\"sessionId\":\"x\",\"shapeHash\":\"s1\",\"shape\":{}}
raw: {\"type\":\"api-request-blob\",\"sessionId\":\"x\",\"hash\":\"b1\",\"message\":{}}
raw: {\"type\":\"api-request\",\"sessionId\":\"x\",\"id\":\"r1\",\"keep\":0,\"tail\":[\"b1\"]}
raw: {\"type\":\"cost-state\",\"sessionId\":\"x\",\"totalCostUSD\":1.5}
raw: {\"type\":\"pr-link\",\"sessionId\":\"x\",\"prNumber\":7}
custom-title: the garden
last-prompt ~a4: water them
mode: plan
";

#[test]
fn a_complete_copy_has_every_line_in_its_order() {
    let home = new_home();
    let original = script::bytes(RECORDS);
    home.write_old(&format!("{FOLDER}/{SESSION}.jsonl"), &original);
    let copy = home.run_json(&["clone", SESSION, "--preset", "whole", "--json"]);
    assert_eq!(copy["omitted"], Value::Array(Vec::new()), "{copy}");
    assert_eq!(copy["changed_paths"], Value::Array(Vec::new()));
    let without_envelope = |mut line: Value| {
        let fields = line.as_object_mut().unwrap();
        fields.remove("sessionId");
        fields.remove("forkedFrom");
        line
    };
    let original: Vec<Value> = String::from_utf8(original)
        .unwrap()
        .lines()
        .map(|line| without_envelope(serde_json::from_str(line).unwrap()))
        .collect();
    let copied: Vec<Value> = read_lines(&copy).into_iter().map(without_envelope).collect();
    assert_eq!(copied[..original.len()], original[..], "the lines of the original come first");
    for client in CLIENTS {
        let id = copy["session"].as_str().unwrap();
        assert_eq!(home.loaded_entries(id, client), home.loaded_entries(SESSION, client), "{client}");
    }
    // A selected branch has no entries of the others, but all records.
    let branch = home.run_json(&["clone", SESSION, "--preset", "whole", "--branch", "L4", "--json"]);
    let causes: Vec<&str> =
        branch["omitted"].as_array().unwrap().iter().map(|row| row["cause"].as_str().unwrap()).collect();
    assert_eq!(causes, ["off-path"]);
    let count_kind = |kind: &str| read_lines(&branch).iter().filter(|line| line["type"] == kind).count();
    assert_eq!((count_kind("api-request"), count_kind("cost-state"), count_kind("assistant")), (1, 1, 2));
}

#[test]
fn a_copy_is_never_written_next_to_the_root() {
    let home = new_home();
    home.write_old(&format!("plain/{SESSION}.jsonl"), script::bytes(&session_script()));
    home.write("park/bench", "");
    let root = home.path().join("plain");
    let park = home.path().join("park");
    let clone = |root: &std::path::Path, options: &[&str]| {
        let args = ["--root", root.to_str().unwrap(), "clone", SESSION, "--json"];
        home.run(&[&args[..], options].concat())
    };
    let into = ["--into", park.to_str().unwrap()];
    for (root, options) in [(&root, &into[..]), (&root, &[]), (&root.join(format!("{SESSION}.jsonl")), &into)]
    {
        let output = clone(root, options);
        let path = std::path::PathBuf::from(output.json_lines()[0]["path"].as_str().unwrap());
        assert!(path.starts_with(home.path().join("plain")), "{path:?}");
    }
    // A client would not find a session in a folder below a project folder.
    home.write_old(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(&session_script()));
    let output = clone(&home.path().join(FOLDER), &into);
    assert_eq!(output.code, 3, "{}", output.err);
    let mut names: Vec<_> = std::fs::read_dir(home.path().join(".claude/projects")).unwrap().collect();
    assert_eq!(names.pop().unwrap().unwrap().file_name(), "-home-ann-garden");
    assert!(names.is_empty());
}

#[test]
fn a_copy_can_be_written_to_another_project() {
    let home = new_home_with_session();
    let target_folder = home.path().join("my park");
    home.write("my park/bench", "");
    let target_folder = target_folder.canonicalize().unwrap();
    let copy = home.run_json(&["clone", SESSION, "--into", target_folder.to_str().unwrap(), "--json"]);
    let project_name: String = target_folder
        .to_str()
        .unwrap()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    assert!(
        copy["path"].as_str().unwrap().contains(&format!("/projects/{project_name}/")),
        "{}",
        copy["path"]
    );
    for line in read_lines(&copy).iter().filter(|line| !line["cwd"].is_null()) {
        assert_eq!(line["cwd"].as_str(), target_folder.to_str());
    }
    let missing_folder = home.run(&["clone", SESSION, "--into", "/no/such/folder"]);
    assert!(
        missing_folder.code == 2 && missing_folder.err.contains("there is no folder `/no/such/folder`"),
        "{}",
        missing_folder.err
    );
}

#[test]
fn a_dry_run_writes_nothing() {
    let home = new_home_with_session();
    let folder = home.path().join(FOLDER);
    for args in [&["clone", SESSION, "--dry-run"][..], &["rescue", SESSION, "--fit", "7.5k", "--dry-run"]] {
        let run = home.run(args);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(run.err.contains("nothing was written"), "{}", run.err);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }
    let bad_amount = home.run(&["clone", SESSION, "--tool-results-over", "much"]);
    assert!(
        bad_amount.code == 2 && bad_amount.err.contains("cannot parse `much` as an amount"),
        "{}",
        bad_amount.err
    );
    let keep_none = home.run(&["clone", SESSION, "--keep-last", "0"]);
    assert_eq!(keep_none.code, 2, "{}", keep_none.err);
}

#[test]
fn a_rescue_removes_no_more_than_needed() {
    let home = new_home_with_session();
    let copy = home.run_json(&["rescue", SESSION, "--fit", "7.5k", "--json"]);
    assert_eq!(copy["steps"].as_array().unwrap().len(), 1, "{}", copy["steps"]);
    assert_eq!(copy["steps"][0]["step"], "large-results");
    assert!(copy["after"]["tokens"].as_u64().unwrap() <= 7500);
    let copy = home.run_json(&["rescue", SESSION, "--fit", "6.5k", "--json"]);
    let steps: Vec<&str> =
        copy["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["large-results", "thinking", "tools", "turns"]);
    let id = copy["session"].as_str().unwrap();
    for client in CLIENTS {
        assert_eq!(home.loaded_entries(id, client).last().map(String::as_str), Some("a7"), "{client}");
    }
    let copied_lines = read_lines(&copy);
    let note = copied_lines[0]["message"]["content"].as_str().unwrap();
    assert!(note.contains(SESSION) && note.contains("\n- list the harbours"), "{note}");
    let already_fits = home.run(&["rescue", SESSION, "--fit", "200k"]);
    assert!(
        already_fits.code == 1 && already_fits.err.contains("the session fits already"),
        "{}",
        already_fits.err
    );
    let cannot_fit = home.run(&["rescue", SESSION, "--fit", "10"]);
    assert!(
        cannot_fit.code == 2 && cannot_fit.err.contains("its last two turns have about"),
        "{}",
        cannot_fit.err
    );
}

#[test]
fn the_printed_table_has_a_row_for_each_removal() {
    let home = new_home_with_session();
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
