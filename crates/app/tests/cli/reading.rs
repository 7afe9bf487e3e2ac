//! `show`, `ls` and `export` of texts that no user typed, stop reasons and versions.

use rethread_testkit::home::Home;
use rethread_testkit::script;
use serde_json::{Value, json};

use crate::new_home;

const FOLDER: &str = ".claude/projects/-home-ann-garden";
const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

fn new_home_with(script: &str) -> Home {
    let home = new_home();
    home.write_old(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(script));
    home
}

/// Returns the line of an answer with a stop reason, in the style of a script.
fn answer_line(name: &str, parent: &str, message: &str, stop_reason: &str) -> String {
    let uuid = script::uuid_from_name;
    // Old clients resume from the newest line.
    let second = name.trim_start_matches('a');
    format!(
        "raw: {{\"type\":\"assistant\",\"uuid\":\"{}\",\"parentUuid\":\"{}\",\"timestamp\":\"2026-01-02T00:00:0{second}.000Z\",\
         \"message\":{{\"id\":\"{message}\",\"role\":\"assistant\",\"model\":\"claude-opus-4-5\",\"stop_reason\":{stop_reason},\
         \"content\":[{{\"type\":\"text\",\"text\":\"{name}\"}}]}}}}\n",
        uuid(name),
        uuid(parent)
    )
}

#[test]
fn the_stop_reason_of_a_turn_is_that_of_its_last_response() {
    let answers = [
        ("a1", "u1", "m1", "\"tool_use\""),
        ("a2", "a1", "m2", "null"),
        ("a3", "a2", "m2", "\"end_turn\""),
        ("a4", "a3", "m2", "null"),
    ];
    for (count, expected) in
        [(1, json!("tool_use")), (2, Value::Null), (3, json!("end_turn")), (4, json!("end_turn"))]
    {
        let mut script = "u1: tidy the shed\n".to_owned();
        for (name, parent, message, reason) in &answers[..count] {
            script.push_str(&answer_line(name, parent, message, reason));
        }
        let home = new_home_with(&script);
        let turn = home.run_json(&["show", SESSION, "--json"]);
        assert_eq!(turn["stop_reason"], expected, "{count} lines");
    }
}

#[test]
fn status_notices_decide_neither_title_nor_plan() {
    let home =
        new_home_with("u1: [Session resumed]\n  a1: ok\n    u2: Implement the following plan:\\n\\n# Shed\n");
    let row = |home: &Home| home.run_json(&["ls", "--json"]);
    assert_eq!(row(&home)["first_prompt"], "Implement the following plan: # Shed");
    let home = new_home_with("u1: [Session resumed]\n  a1: ok\n");
    assert_eq!(row(&home)["first_prompt"], "[Session resumed]", "there is no other prompt");
    // The plan of an implementation is found by its slug, whatever notice precedes its first prompt.
    let home = new_home_with("u1 +slug=\"green-shed\": plan a shed\n  a1: here it is\n");
    let other = "bbbbbbbb-0000-4000-8000-000000000002";
    let implementation = "u8 @+60 +slug=\"green-shed\": [Session resumed]\n  u9 +slug=\"green-shed\": Implement the following plan:\\n\\n# Shed\n    a9: built\n";
    home.write_old(&format!("{FOLDER}/{other}.jsonl"), script::bytes(implementation));
    let rows = home.run_json_lines(&["ls", "--json"]);
    let implementation = rows.iter().find(|row| row["id"] == other).expect("the implementation is listed");
    assert_eq!(implementation["plan"], SESSION);
}

#[test]
fn the_version_of_a_summary_is_not_that_of_a_client() {
    let summary = r#"raw: {"type":"summary","summary":"the shed","leafUuid":"x","version":"1"}"#;
    let home = new_home_with(&format!("u1 v=2.1.104: tidy the shed\n  a1 v=2.1.104: tidied\n{summary}\n"));
    assert_eq!(home.run_json(&["ls", "--json"])["versions"], json!(["2.1.104"]));
    let explained = home.run(&["explain", SESSION, "--json"]).json_lines();
    assert_eq!(explained[0]["client"], "2.1.104", "{}", explained[0]);
    let items = home.run_json_lines(&["schema", "--json"]);
    let item = items.iter().find(|item| item["name"] == "summary.version").expect("the field is listed");
    assert_eq!((&item["oldest"], &item["known"]), (&Value::Null, &json!(true)));
}

const UNTYPED: &str = "
u0 meta: <local-command-caveat>Caveat</local-command-caveat>
  u1: tidy the shed
    u2: <local-command-stdout>rake, hose</local-command-stdout>
      u3: <task-notification>the hose is wet</task-notification>
        u4: <system-reminder>be brief</system-reminder>
          u5 meta: text of the client
            a1: tidied
";

#[test]
fn only_typed_hides_texts_that_no_user_typed() {
    let home = new_home_with(UNTYPED);
    let untyped = ["rake, hose", "the hose is wet", "be brief", "text of the client"];
    for command in [
        &["show", SESSION][..],
        &["show", SESSION, "--json"],
        &["export", SESSION, "--format", "text", "--detail", "everything"],
        &["export", SESSION, "--format", "md", "--detail", "everything"],
        &["export", SESSION, "--format", "json"],
        &["export", SESSION, "--format", "html"],
    ] {
        let all = home.run(command).out;
        assert!(untyped[..2].iter().all(|text| all.contains(text)), "{command:?}: {all}");
        let typed = home.run(&[command, &["--only-typed"]].concat()).out;
        assert!(untyped.iter().all(|text| !typed.contains(text)), "{command:?}: {typed}");
        assert!(typed.contains("tidy the shed") && typed.contains("tidied"), "{command:?}: {typed}");
    }
    assert_eq!(home.run(&["show", SESSION, "--only-typed", "--raw"]).code, 2);
}

#[test]
fn a_light_copy_tells_that_files_cannot_be_rewound() {
    let home = new_home_with("u1: tidy the shed\n  a1: tidied\nfile-history-snapshot ~u1: {}\n");
    let light = home.run(&["clone", SESSION, "--dry-run"]);
    light.assert_out_contains(&["file snapshots: no rewind of files"]);
    let whole = home.run(&["clone", SESSION, "--preset", "whole", "--dry-run"]);
    assert!(!whole.out.contains("no rewind of files"), "{}", whole.out);
}
