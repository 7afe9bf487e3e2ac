//! `restore` from the archive: the whole session comes back, byte for byte, and no file that exists is changed.
#![expect(clippy::disallowed_methods, reason = "tests change their own store and archive")]

use std::path::PathBuf;

use rethread_testkit::home::Home;
use rethread_testkit::script;
use serde_json::Value;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const OTHER: &str = "bbbbbbbb-0000-4000-8000-000000000002";
const PROJECT: &str = ".claude/projects/-home-ann";
const HISTORY: &str = ".claude/history.jsonl";

fn session_path() -> String {
    format!("{PROJECT}/{SESSION}.jsonl")
}

fn prompt_line(session: &str, text: &str) -> String {
    format!("{{\"display\":\"{text}\",\"sessionId\":\"{session}\"}}\n")
}

/// Returns a home with a session of the given script that has a plan, and its files without the prompt history.
fn new_home_with(text: &str) -> (Home, Vec<(String, Vec<u8>)>) {
    let home = Home::new(env!("CARGO_BIN_EXE_rethread"));
    let mut lines = script::bytes(text);
    lines.extend(
        format!("{{\"type\":\"system\",\"slug\":\"calm-oak\",\"sessionId\":\"{SESSION}\"}}\n").bytes(),
    );
    let files = [
        (session_path(), lines),
        (format!("{PROJECT}/{SESSION}/subagents/agent-1.jsonl"), prompt_line(SESSION, "agent").into_bytes()),
        (format!("{PROJECT}/{SESSION}/tool-results/r.txt"), b"result \xff\x00 bytes".to_vec()),
        (format!(".claude/file-history/{SESSION}/0123@v1"), b"old content".to_vec()),
        (format!(".claude/tasks/{SESSION}/1.json"), b"{}".to_vec()),
        (format!(".claude/todos/{SESSION}-agent-{SESSION}.json"), b"[]".to_vec()),
        (".claude/plans/calm-oak.md".to_owned(), b"plan".to_vec()),
        (".claude/plans/calm-oak-agent-1.md".to_owned(), b"plan of a subagent".to_vec()),
    ];
    for (path, bytes) in &files {
        home.write_old(path, bytes);
    }
    home.write_old(".claude/plans/calm-oaks.md", "plan of another session");
    home.write_old(
        HISTORY,
        prompt_line(OTHER, "x") + &prompt_line(SESSION, "one") + &prompt_line(SESSION, "two"),
    );
    (home, files.to_vec())
}

fn new_home() -> (Home, Vec<(String, Vec<u8>)>) {
    new_home_with("* cwd=/home/ann\nu1: one\n  a1: first\n    u2: two\n      a2: second")
}

#[track_caller]
fn run(home: &Home, args: &[&str]) -> String {
    let run = home.run(args);
    assert_eq!(run.code, 0, "{args:?}: {}", run.err);
    run.out
}

fn read(home: &Home, path: &str) -> Option<Vec<u8>> {
    std::fs::read(home.path().join(path)).ok()
}

fn delete_files(home: &Home, files: &[(String, Vec<u8>)]) {
    for (path, _) in files {
        std::fs::remove_file(home.path().join(path)).expect("the file exists");
    }
}

/// Returns the uuids of the messages that the newest client loads.
fn loaded(home: &Home, session: &str) -> Vec<String> {
    home.loaded_entries(session, "2.1.326")
}

#[test]
fn a_deleted_session_comes_back_with_plans_and_prompts() {
    let (home, files) = new_home();
    let before = loaded(&home, SESSION);
    run(&home, &["archive"]);
    delete_files(&home, &files);
    home.write_old(HISTORY, prompt_line(OTHER, "x") + &prompt_line(SESSION, "two") + "{\"torn");
    let deleted = home.snapshot();
    let planned = run(&home, &["restore", "aaaa", "--dry-run"]);
    assert!(planned.contains("would restore session"), "{planned}");
    assert_eq!(home.snapshot(), deleted);
    let restored = run(&home, &["restore", "aaaa"]);
    assert!(restored.contains("from the archive: 9 files\na client loads 4 messages"), "{restored}");
    for (path, bytes) in &files {
        assert_eq!(read(&home, path).as_ref(), Some(bytes), "{path}");
    }
    let expected =
        prompt_line(OTHER, "x") + &prompt_line(SESSION, "two") + "{\"torn\n" + &prompt_line(SESSION, "one");
    assert_eq!(read(&home, HISTORY), Some(expected.into_bytes()));
    assert_eq!(loaded(&home, SESSION), before);
    assert_eq!(home.run(&["restore", SESSION]).code, 1, "nothing is left to do");
    run(&home, &["undo"]);
    let undone: Vec<_> =
        home.snapshot().into_iter().filter(|(path, _)| path.starts_with(".claude")).collect();
    let deleted: Vec<_> = deleted.into_iter().filter(|(path, _)| path.starts_with(".claude")).collect();
    assert_eq!(undone, deleted);
}

#[test]
fn a_missing_prompt_history_is_created_with_the_lines_of_the_session() {
    let (home, _) = new_home();
    run(&home, &["archive"]);
    std::fs::remove_file(home.path().join(HISTORY)).unwrap();
    let outcome = home.run_json(&["archive", "restore", SESSION, "--json"]);
    assert_eq!((&outcome["prompts"], &outcome["restored"].as_array().unwrap().len()), (&2.into(), &1));
    let expected = prompt_line(SESSION, "one") + &prompt_line(SESSION, "two");
    assert_eq!(read(&home, HISTORY), Some(expected.into_bytes()));
}

#[test]
fn a_file_that_grew_has_nothing_to_restore() {
    let (home, _) = new_home();
    run(&home, &["archive"]);
    home.append(&session_path(), "{\"type\":\"mark\"}\n");
    assert_eq!(home.run(&["restore", SESSION]).code, 1);
    let state = run(&home, &["restore", SESSION, "--generation", "1"]);
    assert!(state.contains(".jsonl.generation-1"), "{state}");
}

#[test]
fn a_damaged_live_file_is_never_overwritten() {
    let (home, files) = new_home();
    run(&home, &["archive"]);
    let short: Vec<u8> =
        files[0].1.split_inclusive(|byte| *byte == b'\n').take(2).flatten().copied().collect();
    home.write_old(&session_path(), &short);
    home.write_old(&format!(".claude/tasks/{SESSION}/1.json"), "{\"new\":1}");
    let restored = home.run(&["restore", SESSION]);
    assert_eq!(restored.code, 0, "{}", restored.err);
    assert!(restored.err.contains("is written next to it"), "{}", restored.err);
    assert!(restored.err.contains("1.json` has other content"), "{}", restored.err);
    assert_eq!(read(&home, &session_path()).as_ref(), Some(&short));
    let copy = format!("{}.generation-1", session_path());
    assert_eq!(read(&home, &copy).as_ref(), Some(&files[0].1));
    let listed = home.run_json_lines(&["ls", "--json"]);
    assert_eq!(listed.len(), 1, "the state next to it is no session: {listed:?}");
    assert_eq!(home.run(&["restore", SESSION]).code, 1, "the state exists");
    home.write_old(&copy, "other");
    let refused = home.run(&["restore", SESSION]);
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert_eq!(read(&home, &copy).as_deref(), Some(&b"other"[..]));
}

#[test]
fn an_earlier_state_is_chosen_by_number() {
    let (home, files) = new_home();
    run(&home, &["archive"]);
    let other = script::bytes("* cwd=/home/ann\nu1: new\n  a1: other");
    home.write_old(&session_path(), &other);
    run(&home, &["archive"]);
    delete_files(&home, &files);
    let unknown = home.run(&["restore", SESSION, "--generation", "3"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("takes one of these numbers: 1, 2"), "{}", unknown.err);
    let outcome = home.run_json(&["restore", SESSION, "--generation", "1", "--json"]);
    assert_eq!((&outcome["generation"], &outcome["generations"]), (&1.into(), &2.into()));
    assert_eq!(read(&home, &session_path()).as_ref(), Some(&files[0].1));
    run(&home, &["restore", SESSION]);
    assert_eq!(read(&home, &format!("{}.generation-2", session_path())), Some(other));
}

#[test]
fn a_new_session_gets_its_id_in_every_line() {
    let (home, files) = new_home();
    run(&home, &["archive"]);
    home.write_old(&session_path(), "{}\n");
    let before = home.snapshot();
    let outcome = home.run_json(&["restore", SESSION, "--as-new", "--json"]);
    let id = outcome["restored_session"].as_str().unwrap();
    assert_ne!(id, SESSION);
    for (path, bytes) in &before {
        assert_eq!(std::fs::read(path).ok(), *bytes, "{}", path.display());
    }
    let original: Vec<Value> = parse_lines(&files[0].1);
    let lines = parse_lines(&read(&home, &session_path().replace(SESSION, id)).unwrap());
    assert_eq!(lines.len(), original.len());
    for (line, old) in lines.iter().zip(&original) {
        assert_eq!(line["sessionId"], id);
        assert_eq!((&line["uuid"], &line["message"]), (&old["uuid"], &old["message"]));
    }
    assert_eq!(lines[0]["forkedFrom"]["sessionId"], SESSION);
    let agent = read(&home, &format!("{PROJECT}/{id}/subagents/agent-1.jsonl")).unwrap();
    assert_eq!(parse_lines(&agent)[0]["sessionId"], id);
    let side_files = [
        format!("{PROJECT}/{id}/tool-results/r.txt"),
        format!(".claude/file-history/{id}/0123@v1"),
        format!(".claude/tasks/{id}/1.json"),
        format!(".claude/todos/{id}-agent-{id}.json"),
    ];
    for path in side_files {
        assert_eq!(
            read(&home, &path),
            files.iter().find(|(old, _)| *old == path.replace(id, SESSION)).map(|(_, bytes)| bytes.clone()),
            "{path}"
        );
    }
    assert_eq!(loaded(&home, id).len(), 4);
}

fn parse_lines(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("a line is JSON")).collect()
}

/// The backup of a renamed session is older than the archive; the trash is newer.
#[test]
fn the_source_with_the_newest_state_is_used() {
    let (home, files) = new_home();
    run(&home, &["rename", SESSION, "title"]);
    run(&home, &["archive"]);
    home.append(&session_path(), "{\"type\":\"mark\"}\n");
    run(&home, &["rm", SESSION, "--yes", "--even-if-live"]);
    let from_trash = run(&home, &["restore", SESSION]);
    assert!(!from_trash.contains("from the archive"), "{from_trash}");
    assert_eq!(read(&home, &session_path()), Some(files[0].1.clone()), "the state before the first change");
    let (home, _) = new_home();
    run(&home, &["rename", SESSION, "title"]);
    run(&home, &["archive"]);
    let archived = read(&home, &session_path());
    std::fs::remove_file(home.path().join(session_path())).unwrap();
    let from_archive = run(&home, &["restore", SESSION]);
    assert!(from_archive.contains("from the archive"), "{from_archive}");
    assert_eq!(read(&home, &session_path()), archived);
}

#[test]
fn a_folder_gets_the_session_with_its_prompts() {
    let (home, files) = new_home();
    run(&home, &["archive"]);
    let folder: PathBuf = home.path().join("elsewhere");
    let restored = run(&home, &["restore", SESSION, "--into", folder.to_str().unwrap()]);
    let file = folder.join(session_path().strip_prefix(".claude/").unwrap());
    assert!(restored.contains(&format!("resume: claude --resume {}\n", file.display())), "{restored}");
    for (path, bytes) in &files {
        let path = folder.join(path.strip_prefix(".claude/").unwrap());
        assert_eq!(std::fs::read(&path).ok().as_ref(), Some(bytes), "{}", path.display());
    }
    assert!(folder.join("history.jsonl").exists());
}

#[test]
fn a_damaged_archive_restores_nothing_of_the_session() {
    let (home, files) = new_home();
    run(&home, &["archive"]);
    delete_files(&home, &files);
    let machines = home.path().join(".local/share/rethread/archive/machines");
    let machine = std::fs::read_dir(machines).unwrap().next().unwrap().unwrap().path();
    let packs: Vec<PathBuf> =
        std::fs::read_dir(machine.join("packs")).unwrap().map(|pack| pack.unwrap().path()).collect();
    assert_eq!(packs.len(), 1);
    let mut bytes = std::fs::read(&packs[0]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&packs[0], bytes).unwrap();
    let restored = home.run(&["restore", SESSION]);
    assert_eq!(restored.code, 2, "{}", restored.err);
    for (path, _) in &files {
        assert_eq!(read(&home, path), None, "{path}");
    }
}

#[test]
fn without_an_archive_only_backups_are_used() {
    let home = Home::new(env!("CARGO_BIN_EXE_rethread"));
    home.write_old(&session_path(), script::bytes("* cwd=/home/ann\nu1: one\n  a1: first"));
    let before = home.snapshot();
    assert_eq!(home.run(&["restore", SESSION]).code, 1);
    assert_eq!(home.run(&["restore", "ffff"]).code, 2);
    assert_eq!(home.snapshot(), before, "no machine id is created");
}
