//! `stats`, `ls` and `search` on records that describe a session: forks, tool names, pull requests.

use rethread_testkit::script;
use serde_json::{Value, json};

use crate::new_home;

const FOLDER: &str = ".claude/projects/-home-ann-garden";
const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const OTHER: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// A prompt in three versions, a retried answer, and an answer that the user interrupted.
const FORKS: &str = "
u1: plan the beds
  a1: three beds
    u2: plant beans
      a2: planted beans
    u3: plant peas
      a3: planted peas
    u4: plant leeks
      a4: planted leeks
        u5: water them
          a5: watered
          a6: watered well
            a7: and now
            u6: stop, use the hose
              a8: using the hose
";

#[test]
fn stats_count_siblings_by_type_and_forks_by_cause() {
    let home = new_home();
    home.write(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(FORKS));
    let objects = home.run_json_lines(&["stats", "--files", "--json"]);
    let [file, stats] = &objects[..] else { panic!("{objects:?}") };
    for object in [file, stats] {
        assert_eq!(
            object["siblings"],
            json!({"(assistant, assistant)": 1, "(assistant, user)": 1, "(user, user, user, …)": 1})
        );
        assert_eq!(object["forks_by_kind"], json!({"edit": 1, "interrupt": 1, "retry": 1}));
        assert_eq!(object["prompt_versions"], json!({"3": 1}));
        assert_eq!(object["forks"], 4);
    }
    home.run(&["stats", SESSION]).assert_out_contains(&[
        "(user, user, user, …)",
        "(assistant, assistant)",
        "3 versions",
        "interrupt",
    ]);
    // Sums over files.
    home.write(&format!("{FOLDER}/{OTHER}.jsonl"), script::bytes(FORKS));
    let sum = home.run_json(&["stats", "--json"]);
    assert_eq!(sum["siblings"]["(assistant, user)"], 2);
    assert_eq!((&sum["forks_by_kind"]["edit"], &sum["prompt_versions"]["3"]), (&json!(2), &json!(2)));
}

#[test]
fn the_inventory_counts_messages_once_and_names_notable_features() {
    let home = new_home();
    let mut lines = "u1: tidy the shed\n  a0 #m0: ?where to start\n".to_owned();
    for idx in 0..60 {
        lines.push_str(&format!(
            "    a{0} ^ #m{0}: !Bash ls {0}\n      u{1} ^: =a{0} rake\n",
            idx + 1,
            idx + 100
        ));
        lines.push_str(&format!("file-history-snapshot ~u{}: {{}}\n", idx + 100));
    }
    lines.push_str(
        "          a900 ^ #m900: tidied\n          a901 ^ #m900: really\nsummary ~a901: the shed\n",
    );
    home.write(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(&lines));
    home.write(&format!("{FOLDER}/{OTHER}.jsonl"), script::bytes("u1: hello\n  a1: hi\n"));
    let objects = home.run_json_lines(&["stats", "--files", "--json"]);
    let keys = ["lines", "user_messages", "messages", "tool_uses", "turns", "longest_turn", "notable"];
    let row = |object: &Value| keys.map(|key| object[key].clone());
    let notable = json!(["long turn", "many tools", "heavy snapshots", "summary"]);
    assert_eq!(
        row(&objects[0]),
        [json!(185), json!(61), json!(62), json!(60), json!(1), json!(124), notable],
        "60 calls, and two messages on two lines"
    );
    assert_eq!(row(&objects[1]), [2.into(), 1.into(), 1.into(), 0.into(), 1.into(), 2.into(), json!([])]);
    let output = home.run(&["stats", "--files"]);
    output.assert_out_contains(&["long turn, many tools, heavy snapshots, summary", "assistant", "turns"]);
}

#[test]
fn stats_decode_names() {
    let home = new_home();
    let call = r#"{"type":"tool_use","id":"toolu_1","name":"Task\" >\n<x","input":{}}"#;
    let script = format!(
        "u1: go\n  a1 model=clau\\u0064e: {call}\n  a2 model=clau\\u0064e: more\n\
         raw: {{\"type\":\"ne\\u0077\"}}\n"
    );
    home.write(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(&script));
    let stats = home.run_json(&["stats", "--json"]);
    assert_eq!(stats["tools"], json!({"Task\" >\n<x": 1}));
    assert_eq!(stats["tool_calls"]["Task\" >\n<x"]["calls"], 1);
    assert_eq!(stats["unknown"], json!({"type new": 1}));
    assert_eq!(stats["types"]["new"], 1);
}

#[test]
fn a_call_that_a_fork_copied_counts_once() {
    let home = new_home();
    // The fork was made before the result of the second call was written.
    let start = "u1: go\n  a1: !Bash ls\n    u2 @+3: =a1 beans\n      a3: !Bash rm x\n";
    let end = "        u4 @+5: =!a3 no such file\n          a5: done\n";
    home.write(&format!("{FOLDER}/{SESSION}.jsonl"), script::bytes(start));
    home.write(&format!("{FOLDER}/{OTHER}.jsonl"), script::bytes(&format!("{start}{end}")));
    for options in [&["--no-index"][..], &[], &[]] {
        let stats = home.run_json(&[&["stats", "--json"][..], options].concat());
        assert_eq!(stats["tool_calls"], json!({"Bash": {"calls": 2, "errors": 1, "mean_ms": 4000}}));
        assert_eq!(stats["tool_uses"], 4, "the calls in the files");
    }
}

#[test]
fn a_pull_request_finds_its_session() {
    let home = new_home();
    let link = r#"{"type":"pr-link","sessionId":"aaaaaaaa-0000-4000-8000-000000000001","prNumber":123,"prUrl":"https://github.com/ann/garden/pull/123","prRepository":"ann/garden","timestamp":"2026-01-01T00:00:00.000Z"}"#;
    let path = format!("{FOLDER}/{SESSION}.jsonl");
    home.write(&path, script::bytes(&format!("u1: make a pull request\n  a1: made\nraw: {link}\n")));
    home.write(&format!("{FOLDER}/{OTHER}.jsonl"), script::bytes("u1: hello 1234\n  a1: hi\n"));
    for options in [&["--no-index"][..], &[]] {
        for query in [
            "pr:123",
            "pr:#123",
            "pr:ann/garden#123",
            "pr:https://github.com/ann/garden/pull/123/files",
            "https://github.com/ann/garden/pull/123",
        ] {
            let hits = home.run_json_lines(&[&["search", "--json", query][..], options].concat());
            let sessions: Vec<&Value> =
                hits.iter().filter(|hit| hit["type"] == "search_hit").map(|hit| &hit["session"]).collect();
            assert_eq!(sessions, [SESSION], "{query} {options:?}");
        }
        for query in ["pr:12", "pr:1234", "pr:https://github.com/ann/garden/pull/1"] {
            let output = home.run(&[&["search", "--json", query][..], options].concat());
            assert_eq!(output.code, 1, "{query} {options:?}: {}", output.out);
        }
    }
    let session =
        home.run_json_lines(&["ls", "--json"]).into_iter().find(|row| row["id"] == SESSION).unwrap();
    assert_eq!(
        session["pull_requests"],
        json!([{"number": "123", "url": "https://github.com/ann/garden/pull/123", "repository": "ann/garden"}])
    );
}
