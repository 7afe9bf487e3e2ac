//! Sessions that only the archive has: every reading command finds them, marks them, and no command changes them.
#![expect(clippy::disallowed_methods, reason = "tests delete the sessions that they archived")]

use rethread_testkit::home::Home;

use crate::new_home;

const GONE: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const LIVE: &str = "bbbbbbbb-0000-4000-8000-000000000002";
const PROJECT: &str = ".claude/projects/-home-ann";

/// Returns a home with two archived sessions, the first of which was deleted.
fn new_archived_home() -> Home {
    let home = new_home();
    for (id, text) in [(GONE, "prune the roses"), (LIVE, "water the lawn")] {
        let script = format!(
            "* cwd=/home/ann\nu1: {text}\n  a1 #m{}: done\n    u2: and now?\n      a2: rest",
            &id[..4]
        );
        home.write_old(&format!("{PROJECT}/{id}.jsonl"), rethread_testkit::script::bytes(&script));
    }
    assert_eq!(home.run(&["archive"]).code, 0);
    std::fs::remove_file(home.path().join(format!("{PROJECT}/{GONE}.jsonl"))).unwrap();
    home
}

fn list_ids(home: &Home, args: &[&str]) -> Vec<String> {
    let rows = home.run(&[&["ls", "--json"], args].concat()).json_lines();
    let mut ids: Vec<String> = rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

#[test]
fn the_list_marks_archived_sessions_and_filters_them() {
    let home = new_archived_home();
    let list = home.run(&["ls"]);
    list.assert_out_contains(&["[archived] prune the roses", "  water the lawn"]);
    let rows = home.run_json_lines(&["ls", "roses", "--json"]);
    assert_eq!((&rows[0]["archived"], rows.len()), (&true.into(), 1));
    assert_eq!(list_ids(&home, &[]), [GONE, LIVE]);
    assert_eq!(list_ids(&home, &["--kept", "with"]), [GONE, LIVE]);
    assert_eq!(list_ids(&home, &["--kept", "without"]), [LIVE]);
    assert_eq!(list_ids(&home, &["--kept", "only"]), [GONE]);
    home.write(".config/rethread/config.toml", "kept = \"without\"\n");
    assert_eq!(list_ids(&home, &[]), [LIVE]);
    assert_eq!(list_ids(&home, &["--kept", "only"]), [GONE]);
    assert_eq!(home.run(&["show", "aaaa"]).code, 2);
}

#[test]
fn named_roots_find_only_what_was_below_them() {
    let home = new_archived_home();
    home.write_old("other/cccccccc-0000-4000-8000-000000000003.jsonl", "{}\n");
    assert_eq!(list_ids(&home, &["--all", "--root", "other"]), ["cccccccc-0000-4000-8000-000000000003"]);
    assert_eq!(list_ids(&home, &["--root", ".claude/projects"]), [GONE, LIVE]);
}

#[test]
fn reading_commands_say_that_only_the_archive_has_a_session() {
    let home = new_archived_home();
    home.run(&["show", "aaaa"]).assert_out_contains(&[
        "only the archive has this session\nrestore: rethread restore aaaaaaaa-0000-4000-8000-000000000001\n",
        "prune the roses",
    ]);
    assert!(!home.run(&["show", LIVE]).out.contains("archive"));
    home.run(&["search", "roses"]).assert_out_contains(&["archived, in context"]);
    let hit = &home.run_json_lines(&["search", "roses", "--json"])[0];
    assert_eq!((&hit["archived"], &hit["session"]), (&true.into(), &GONE.into()));
    let resume = home.run(&["search", "roses", "--resume", "1"]);
    assert_eq!(resume.out, format!("rethread restore {GONE}\n"));
    for args in
        [&["branches"][..], &["tree"], &["tools"], &["agents"], &["context"], &["explain"], &["stats"]]
    {
        let run = home.run(&[args, &[GONE]].concat());
        assert!(run.code < 2, "{args:?}: {}", run.err);
    }
    let export = home.run(&["export", GONE, "-o", "-", "--format", "md"]);
    assert!(export.out.contains("prune the roses"), "{}", export.err);
    assert_eq!(home.run(&["doctor", GONE]).code, 0);
}

#[test]
fn commands_that_change_a_session_ask_to_restore_it() {
    let home = new_archived_home();
    let before = home.snapshot();
    for args in
        [&["goto", GONE, "L1"][..], &["rename", GONE, "other"], &["repair", GONE], &["rm", GONE, "--yes"]]
    {
        let run = home.run(args);
        assert_eq!(run.code, 3, "{args:?}: {}", run.err);
        assert!(run.err.contains("only the archive has"), "{}", run.err);
        assert!(run.err.contains(&format!("rethread restore {GONE}")), "{}", run.err);
    }
    assert_eq!(home.snapshot(), before);
    assert_eq!(home.run(&["restore", GONE]).code, 0);
    assert_eq!(home.run(&["rename", GONE, "other"]).code, 0);
}

#[test]
fn an_earlier_state_is_read_by_its_number() {
    let home = new_archived_home();
    let path = format!("{PROJECT}/{LIVE}.jsonl");
    home.write_old(&path, rethread_testkit::script::bytes("* cwd=/home/ann\nu1: mow the lawn\n  a1: cut"));
    assert_eq!(home.run(&["archive"]).code, 0);
    let first = home.run(&["show", &format!("{LIVE}@1")]);
    first.assert_out_contains(&[
        "water the lawn",
        "this is state 1 of the session in the archive\n",
        "restore: rethread restore bbbbbbbb-0000-4000-8000-000000000002 --generation 1\n",
    ]);
    home.run(&["show", "bbbb@2"]).assert_out_contains(&["mow the lawn"]);
    assert!(!home.run(&["show", LIVE]).out.contains("archive"));
    let export = home.run(&["export", "bbbb@1", "-o", "-", "--format", "md"]);
    assert!(export.out.contains("water the lawn") && !export.out.contains("mow"), "{}", export.err);
    let unknown = home.run(&["show", "bbbb@3"]);
    assert_eq!(unknown.code, 2, "{}", unknown.err);
    assert!(unknown.err.contains("no generation 3"), "{}", unknown.err);
    assert_eq!(home.run(&["rename", "bbbb@1", "other"]).code, 3);
    // A deleted session with several states is read in its newest one.
    std::fs::remove_file(home.path().join(&path)).unwrap();
    home.run(&["show", LIVE]).assert_out_contains(&["mow the lawn"]);
    home.run(&["show", "bbbb@1"]).assert_out_contains(&["water the lawn"]);
    assert_eq!(list_ids(&home, &["lawn"]), [LIVE]);
}

#[test]
fn an_archived_session_can_be_copied() {
    let home = new_archived_home();
    let fork = home.run_json(&["fork", GONE, "--json"]);
    let id = fork["new_session"].as_str().or(fork["session"].as_str()).unwrap().to_owned();
    let path = format!("{PROJECT}/{id}.jsonl");
    assert!(home.path().join(&path).exists(), "{fork}");
    home.run(&["show", &id]).assert_out_contains(&["prune the roses"]);
}

#[test]
fn secrets_are_found_in_side_files_that_only_the_archive_has() {
    let home = new_home();
    let secret = "gsk_".to_owned() + &"9aB3xK7q".repeat(7)[..52];
    let transcript = format!("{PROJECT}/{GONE}.jsonl");
    home.write_old(&transcript, rethread_testkit::script::bytes("* cwd=/home/ann\nu1: prune\n  a1: done"));
    home.write_old(&format!("{PROJECT}/{GONE}/tool-results/r1.txt"), format!("one\n{secret}\n"));
    home.write_old(
        &format!("{PROJECT}/{GONE}/subagents/agent-a1.jsonl"),
        format!("{{\"note\":\"{secret}\"}}\n"),
    );
    home.write_old(&format!(".claude/file-history/{GONE}/b@v1"), format!("KEY={secret}\n"));
    home.write_old(&format!(".claude/tasks/{GONE}/1.json"), format!("{{\"about\":\"{secret}\"}}\n"));
    let describe = || {
        let found = home.run(&["secrets", GONE, "--json"]);
        assert_eq!(found.json_lines().len(), 5, "{}", found.out);
        found.out
    };
    let live = describe();
    assert_eq!(home.run(&["archive"]).code, 0);
    // The session file still exists, but its side files are gone.
    std::fs::remove_dir_all(home.path().join(format!("{PROJECT}/{GONE}"))).unwrap();
    std::fs::remove_dir_all(home.path().join(".claude/file-history")).unwrap();
    std::fs::remove_dir_all(home.path().join(".claude/tasks")).unwrap();
    assert_eq!(describe(), live);
    std::fs::remove_file(home.path().join(transcript)).unwrap();
    assert_eq!(describe(), live);
}
