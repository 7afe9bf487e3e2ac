//! Sessions of other clients of the user, which are found without `--root`, and `ls --why`.
#![expect(clippy::disallowed_methods, reason = "tests link folders of their own store")]

use rethread_testkit::home::Home;
use rethread_testkit::script;
use serde_json::Value;

use crate::new_home;

const IDS: [&str; 4] = [
    "aaaaaaaa-0000-4000-8000-000000000001",
    "bbbbbbbb-0000-4000-8000-000000000002",
    "cccccccc-0000-4000-8000-000000000003",
    "dddddddd-0000-4000-8000-000000000004",
];
const SANDBOX: &str = ".config/Claude/local-agent-mode-sessions/acc/org/local_1/.claude";

/// Returns a session file with one turn.
fn session_lines(id: &str) -> String {
    let lines = String::from_utf8(script::bytes("* cwd=/home/ann\nu1: one\n  a1: first")).unwrap();
    let session: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    lines.replace(session["sessionId"].as_str().unwrap(), id)
}

fn write_session(home: &Home, store: &str, id: &str) {
    home.write_old(&format!("{store}/projects/-home-ann/{id}.jsonl"), session_lines(id));
}

/// Returns the ids that `ls` lists, each with its store relative to the home.
fn list(home: &Home, args: &[&str]) -> Vec<(String, String)> {
    let rows = home.run(&[&["ls", "--json"], args].concat()).json_lines();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let prefix = format!("{}/", home.path().display());
    let mut rows: Vec<_> =
        rows.iter().map(|row| (text(row, "id"), text(row, "store").replace(&prefix, ""))).collect();
    rows.sort();
    rows
}

fn home_with_stores() -> Home {
    let home = new_home();
    for (store, id) in [".claude", ".claude-work", ".config/claude", SANDBOX].iter().zip(IDS) {
        write_session(&home, store, id);
    }
    // Neither the name nor a file makes a store.
    write_session(&home, ".claudette", "eeeeeeee-0000-4000-8000-000000000005");
    home.write(".claude-router/config.json", "{}");
    home.write(".claude-file", "");
    home
}

#[test]
fn stores_of_other_clients_are_found_and_marked() {
    let home = home_with_stores();
    let expected: Vec<(String, String)> = IDS
        .iter()
        .zip([".claude", ".claude-work", ".config/claude", SANDBOX])
        .map(|(id, store)| ((*id).to_owned(), store.to_owned()))
        .collect();
    assert_eq!(list(&home, &[]), expected);
    let text = home.run(&["ls"]).out;
    let line = |id: &str| text.lines().find(|line| line.starts_with(&id[..8])).unwrap();
    assert!(!line(IDS[0]).contains("[~"), "{text}");
    assert!(line(IDS[1]).contains("[~/.claude-work] one"), "{text}");
    assert!(line(IDS[3]).contains("[desktop] one"), "{text}");
    // A named root is read alone.
    home.write(".config/rethread/config.toml", "roots = [\"~/.claude\"]\n");
    assert_eq!(list(&home, &[]), expected[..1]);
    let work = home.path().join(".claude-work");
    assert_eq!(list(&home, &["--root", work.to_str().unwrap()]), expected[1..2]);
}

#[test]
fn the_archive_covers_all_stores() {
    let home = home_with_stores();
    assert_eq!(home.run(&["archive"]).code, 0);
    let status = home.run_json_lines(&["archive", "status", "--json"]);
    assert_eq!((&status[0]["sessions"], &status[0]["not_archived"]), (&4.into(), &Value::Array(Vec::new())));
}

#[test]
#[cfg(unix)]
fn links_and_copies_of_a_store_are_not_counted_twice() {
    let home = new_home();
    write_session(&home, ".claude", IDS[0]);
    std::os::unix::fs::symlink(home.path().join(".claude"), home.path().join(".claude-link")).unwrap();
    std::fs::create_dir_all(home.path().join(".claude-shared")).unwrap();
    std::os::unix::fs::symlink(
        home.path().join(".claude/projects"),
        home.path().join(".claude-shared/projects"),
    )
    .unwrap();
    // A backup: one session as it was, one that has grown since, one that is gone.
    write_session(&home, ".claude-backup", IDS[0]);
    write_session(&home, ".claude-backup", IDS[1]);
    write_session(&home, ".claude-backup", IDS[2]);
    let grown = session_lines(IDS[1]) + &session_lines(IDS[1]).replace("u1", "u2");
    home.write_old(&format!(".claude/projects/-home-ann/{}.jsonl", IDS[1]), grown);
    let stores = |name: &str| name.to_owned();
    let expected = [
        (IDS[0].to_owned(), stores(".claude")),
        (IDS[1].to_owned(), stores(".claude")),
        (IDS[2].to_owned(), stores(".claude-backup")),
    ];
    assert_eq!(list(&home, &[]), expected);
    assert_eq!(home.run(&["show", IDS[0]]).code, 0);
    // A session that differs is another one.
    let other = session_lines(IDS[0]).replace("first", "other");
    home.write_old(&format!(".claude-backup/projects/-home-ann/{}.jsonl", IDS[0]), other);
    assert_eq!(list(&home, &[]).len(), 4);
}

#[test]
fn the_reasons_why_the_client_hides_a_session_are_named() {
    let home = new_home();
    let folder = home.path().join("garden");
    std::fs::create_dir_all(&folder).unwrap();
    let here = |id: &str| session_lines(id).replace("/home/ann", folder.to_str().unwrap());
    let project = ".claude/projects/-home-ann-garden";
    home.write_old(&format!("{project}/{}.jsonl", IDS[0]), here(IDS[0]));
    let headless = here(IDS[1]).replace("\"userType\"", "\"entrypoint\":\"sdk-cli\",\"userType\"");
    home.write_old(&format!("{project}/{}.jsonl", IDS[1]), headless);
    home.write_old(&format!("{project}/{}.jsonl", IDS[2]), session_lines(IDS[2]));
    home.write_old(&format!("{project}/{}.jsonl", IDS[3]), "{\"type\":\"summary\",\"summary\":\"x\"}\n");
    let elsewhere = home.write_old("elsewhere/e.jsonl", here(IDS[0]));
    let reasons = |session: &str| {
        let run = home.run(&["ls", "--why", session, "--json"]);
        let report = run.json_lines().remove(0);
        assert_eq!(report["hidden"].as_bool(), Some(run.code == 1), "{session}");
        report["reasons"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert!(reasons(IDS[0]).is_empty());
    assert_eq!(reasons(IDS[1]), ["headless"]);
    assert_eq!(reasons(IDS[2]), ["folder_gone"]);
    assert_eq!(reasons(IDS[3]), ["no_messages"]);
    assert_eq!(reasons(elsewhere.to_str().unwrap()), ["outside_projects"]);
    let nothing = home.run(&["ls", "--why", IDS[0]]);
    nothing.assert_out_contains(&["nothing hides it", "if the client is started in ~/garden"]);
    home.run(&["ls", "--why", IDS[1]])
        .assert_out_contains(&["hidden: a program or `claude -p` ran it", "sdk-cli"]);
    assert_eq!(home.run(&["archive"]).code, 0);
    std::fs::remove_file(home.path().join(format!("{project}/{}.jsonl", IDS[0]))).unwrap();
    assert_eq!(reasons(IDS[0]), ["only_archived"]);
}
