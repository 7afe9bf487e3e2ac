//! `archive forget` and `archive prune`: forgotten sessions disappear from every copy and no live file changes.
#![expect(clippy::disallowed_methods, reason = "tests change their own store and archive")]

use rethread_testkit::home::Home;
use rethread_testkit::process::ProcessCommand;
use rethread_testkit::script;

const FIRST: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const SECOND: &str = "bbbbbbbb-0000-4000-8000-000000000002";

fn session_path(id: &str) -> String {
    format!(".claude/projects/-home-ann-shop/{id}.jsonl")
}

/// Returns a home with two archived sessions. The second one is older and in another project.
fn new_archived_home() -> Home {
    let home = Home::new(env!("CARGO_BIN_EXE_rethread"));
    let session = |cwd: &str| script::bytes(&format!("* cwd={cwd}\nu1: one\n  a1: first"));
    home.write_old(&session_path(FIRST), session("/home/ann/shop"));
    home.write_old(&format!(".claude/file-history/{FIRST}/0123@v1"), "old content");
    let agent = format!("{{\"sessionId\":\"{FIRST}\",\"cwd\":\"/home/ann/shop\"}}\n");
    home.write_old(".claude/projects/-home-ann-shop/agent-9.jsonl", agent);
    // A folder next to the first one that has the same start.
    let second = home.write_old(
        &format!(".claude/projects/-home-ann-shop-api/{SECOND}.jsonl"),
        session("/home/ann/shop-api"),
    );
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(20 * 86_400);
    rethread_testkit::home::set_modified(&second, old);
    run(&home, &["archive"]);
    home
}

fn run(home: &Home, args: &[&str]) -> String {
    let run = home.run(args);
    assert_eq!(run.code, 0, "{args:?}: {}", run.err);
    format!("{}{}", run.out, run.err)
}

fn count_sessions(home: &Home) -> u64 {
    home.run_json(&["archive", "status", "--json"])["sessions"].as_u64().unwrap()
}

#[test]
fn a_forgotten_session_disappears_and_its_files_stay() {
    let home = new_archived_home();
    let before = home.snapshot();
    let dry = run(&home, &["archive", "forget", "aaaa", "--dry-run"]);
    assert!(dry.contains("would forget: 1 session, 3 files") && dry.contains("file stays"), "{dry}");
    assert_eq!(count_sessions(&home), 2);
    let unconfirmed = home.run(&["archive", "forget", "aaaa"]);
    assert_eq!(unconfirmed.code, 3, "{}", unconfirmed.err);
    assert!(unconfirmed.err.contains("rethread archive forget aaaa --yes"), "{}", unconfirmed.err);
    assert_eq!(home.run(&["archive", "forget", "a", "--yes"]).code, 3, "the name is too short");
    let done = run(&home, &["archive", "forget", "aaaa", "--yes"]);
    assert!(done.contains("forgotten: 1 session, 3 files") && done.contains("--undo"), "{done}");
    assert_eq!(home.snapshot(), before, "no live file changes");
    let status = run(&home, &["archive", "status"]);
    assert!(status.contains("forgotten     1 session") && status.contains("not archived again"), "{status}");
    assert!(status.contains("0 session files with content that is not in the archive"), "{status}");
    // Neither a run nor an append of the client brings it back.
    home.append(&session_path(FIRST), "{\"type\":\"mark\"}\n");
    let archived = home.run_json(&["archive", "--json"]);
    assert_eq!((&archived["forgotten"], &archived["added_bytes"]), (&3.into(), &0.into()));
    assert_eq!(count_sessions(&home), 1);
    assert_eq!(home.run(&["archive", "restore", FIRST]).code, 2);
    assert_eq!(home.run(&["archive", "forget", "aaaa", "--yes"]).code, 2, "it is not in the archive");
    let undone = run(&home, &["archive", "forget", "aaaa", "--undo"]);
    assert!(undone.contains("is in the archive again: 3 files"), "{undone}");
    assert_eq!(count_sessions(&home), 2);
    assert_eq!(home.run_json(&["archive", "--json"])["grown"], 1);
}

#[test]
fn filters_select_by_age_and_project() {
    let home = new_archived_home();
    let list = |args: &[&str]| -> Vec<String> {
        let args = [&["archive", "forget", "--dry-run", "--json"], args].concat();
        let run = home.run(&args);
        let lines = run.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines.map(|value| value["session"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(list(&["--older-than", "10d"]), [SECOND]);
    assert_eq!(list(&["--older-than", "30d"]), [""; 0]);
    assert_eq!(list(&["--project", "/home/ann/shop"]), [FIRST]);
    assert_eq!(list(&["--project", "/home/ann/shop-api"]), [SECOND]);
    assert_eq!(list(&["--project", "/home/ann"]), [SECOND, FIRST]);
    assert_eq!(list(&["--project", "/home/ann", "--older-than", "10d"]), [SECOND]);
    assert_eq!(home.run(&["archive", "forget", "--project", "/home/bob", "--yes"]).code, 1);
    assert_eq!(home.run(&["archive", "forget"]).code, 2);
    assert_eq!(home.run(&["archive", "forget", FIRST, "--older-than", "1d"]).code, 2);
    assert_eq!(home.run(&["archive", "forget", "--older-than", "soon"]).code, 2);
    run(&home, &["archive", "forget", "--project", "/home/ann", "--yes"]);
    assert_eq!(count_sessions(&home), 0);
}

#[test]
fn a_prune_deletes_the_content_after_a_confirmation() {
    let home = new_archived_home();
    run(&home, &["archive", "forget", "aaaa", "--yes"]);
    assert_eq!(home.run(&["archive", "prune"]).code, 3);
    let dry = run(&home, &["archive", "prune", "--dry-run"]);
    assert!(dry.contains("would delete 1 forgotten session: 3 files"), "{dry}");
    let pruned = home.run_json(&["archive", "prune", "--yes", "--json"]);
    assert_eq!(
        (&pruned["sessions"], &pruned["files"], &pruned["dry_run"]),
        (&1.into(), &3.into(), &false.into())
    );
    assert!(pruned["bytes_after"].as_u64() < pruned["bytes_before"].as_u64(), "{pruned}");
    run(&home, &["archive", "verify", "--deep"]);
    let undone = run(&home, &["archive", "forget", "aaaa", "--undo"]);
    assert!(undone.contains("a prune has deleted its earlier content"), "{undone}");
    assert_eq!(home.run_json(&["archive", "--json"])["created"], 3);
}

#[test]
fn a_copy_forgets_with_the_next_synchronisation() {
    let home = new_archived_home();
    let disk = home.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let disk = disk.to_str().unwrap();
    run(&home, &["archive", "sync", disk]);
    let count = || home.run_json(&["archive", "--to", disk, "status", "--json"])["sessions"].clone();
    run(&home, &["archive", "forget", "aaaa", "--yes"]);
    assert_eq!(count(), 2);
    run(&home, &["archive", "sync", disk]);
    assert_eq!(count(), 1);
    let pruned = home.run_json(&["archive", "--to", disk, "prune", "--yes", "--json"]);
    assert_eq!(pruned["sessions"], 1);
    run(&home, &["archive", "--to", disk, "verify", "--deep"]);
    run(&home, &["archive", "sync", disk]);
    assert_eq!(home.run_json(&["archive", "--to", disk, "prune", "--dry-run", "--json"])["sessions"], 0);
}

/// The archive in the fixture contains two sessions, one of which is forgotten, and a taken back tombstone.
#[test]
fn the_frozen_archive_is_read_as_documented() {
    let home = Home::new(env!("CARGO_BIN_EXE_rethread"));
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/archive-1-tombstones");
    let archive = home.path().join("archive");
    copy_folder(std::path::Path::new(fixture), &archive);
    let dir = archive.to_str().unwrap();
    run(&home, &["archive", "--to", dir, "verify", "--deep"]);
    let status = home.run_json_lines(&["archive", "--to", dir, "status", "--json"]);
    assert_eq!((&status[0]["sessions"], &status[0]["files"]), (&1.into(), &1.into()));
    assert_eq!(status[1]["session"], SECOND);
    assert_eq!(status[0]["forgotten"][0]["session"], FIRST);
    assert_eq!(status[0]["forgotten"][0]["files"], 3);
    let Some(listed) = read_with_documented_reader(&[dir]) else { return };
    let listed = String::from_utf8(listed).unwrap();
    assert_eq!(listed.lines().count(), 1, "{listed}");
    assert!(listed.contains(SECOND), "{listed}");
    let path = listed.trim_end().rsplit('\t').next().unwrap();
    assert!(read_with_documented_reader(&[dir, path]).unwrap().starts_with(b"{\"cwd\""));
}

#[test]
fn status_lists_what_the_client_deletes_next() {
    let home = new_archived_home();
    let status = || home.run_json(&["archive", "status", "--json"]);
    let first = status();
    assert_eq!(
        (&first["retention"][0]["days"], &first["retention"][0]["is_default"]),
        (&30.into(), &true.into())
    );
    assert_eq!(first["deletions"].as_array().unwrap().len(), 1, "the next one");
    assert_eq!(first["deletions"][0]["session"], SECOND);
    let out = run(&home, &["archive", "status"]);
    assert!(out.contains("deleted next  none within 7 days; the first in 9 d"), "{out}");
    assert!(out.contains("retention     30 days in ~/.claude, the default"), "{out}");
    home.write(".claude/settings.json", r#"{"cleanupPeriodDays": 21}"#);
    let out = run(&home, &["archive", "status"]);
    assert!(out.contains("deleted next  1 session within 7 days; all archived"), "{out}");
    assert!(out.contains(&format!("{SECOND}: in 23 h, archived")), "{out}");
    home.write(".claude/settings.json", r#"{"cleanupPeriodDays": 2}"#);
    home.append(&session_path(FIRST), "{\"type\":\"mark\"}\n");
    let deletions = status()["deletions"].clone();
    let listed = |idx: usize| (deletions[idx]["session"].clone(), deletions[idx]["archived"].clone());
    assert_eq!(listed(0), (SECOND.into(), true.into()));
    assert_eq!(listed(1), (FIRST.into(), false.into()));
    let out = run(&home, &["archive", "status"]);
    assert!(out.contains("2 sessions within 7 days; 1 not archived"), "{out}");
    assert!(out.contains(&format!("{SECOND}: at its next start, archived")), "{out}");
    home.write(".claude/settings.json", r#"{"cleanupPeriodDays": "x"}"#);
    let out = run(&home, &["archive", "status"]);
    assert!(out.contains("unknown in ~/.claude") && !out.contains("deleted next"), "{out}");
}

#[test]
fn rm_forget_removes_a_session_from_the_archive_too() {
    let home = new_archived_home();
    let dry = run(&home, &["rm", FIRST, "--forget", "--dry-run"]);
    assert!(dry.contains("would remove from the archive: 1 session, 3 files"), "{dry}");
    assert_eq!(count_sessions(&home), 2);
    let done = run(&home, &["rm", FIRST, "--forget", "--yes"]);
    assert!(done.contains("removed from the archive: 1 session, 3 files"), "{done}");
    assert_eq!(count_sessions(&home), 1);
    assert!(!home.path().join(session_path(FIRST)).exists());
    run(&home, &["undo"]);
    assert!(home.path().join(session_path(FIRST)).exists());
    assert_eq!(count_sessions(&home), 1, "it stays forgotten");
    run(&home, &["archive", "forget", FIRST, "--undo"]);
    assert_eq!(count_sessions(&home), 2);
    // A session that is not in the archive is removed, and no other one is forgotten.
    let third = "cccccccc-0000-4000-8000-000000000003";
    home.write_old(&session_path(third), script::bytes("* cwd=/home/ann/shop\nu1: one\n  a1: first"));
    let done = run(&home, &["rm", third, "--forget", "--yes"]);
    assert!(!done.contains("from the archive"), "{done}");
    assert_eq!(count_sessions(&home), 2);
    let lines = home.run(&["rm", FIRST, "--forget", "--yes", "--json"]).out;
    assert!(lines.contains("\"type\":\"archive_forget\""), "{lines}");
}

/// Returns the sessions that exist only in the archive, with how they were removed.
fn list_removed(home: &Home) -> Vec<(String, String)> {
    let lines = home.run_json_lines(&["archive", "status", "--json"]);
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("unknown").to_owned();
    lines[1..].iter().map(|line| (text(&line["session"]), text(&line["removed"]))).collect()
}

#[test]
fn sessions_removed_on_purpose_are_told_from_those_the_client_deleted() {
    let home = new_archived_home();
    let second = format!(".claude/projects/-home-ann-shop-api/{SECOND}.jsonl");
    assert_eq!(list_removed(&home), []);
    run(&home, &["rm", FIRST, "--yes"]);
    assert_eq!(list_removed(&home), [(FIRST.to_owned(), "rm".to_owned())]);
    let out = run(&home, &["archive", "status"]);
    assert!(
        out.contains("removed       1 session on purpose") && out.contains("only here     0 sessions"),
        "{out}"
    );
    run(&home, &["undo"]);
    assert_eq!(list_removed(&home), []);
    std::fs::remove_file(home.path().join(&second)).unwrap();
    assert_eq!(list_removed(&home), [(SECOND.to_owned(), "unknown".to_owned())]);
    // `claude purge` removes the project from the list of the client, which a deletion for its age does not.
    home.write(".claude.json", r#"{"projects": {"/home/ann/shop-api": {}, "/home/ann/shop": {}}}"#);
    assert_eq!(list_removed(&home), [(SECOND.to_owned(), "unknown".to_owned())]);
    home.write(".claude.json", r#"{"projects": {"/home/ann/shop": {}}}"#);
    assert_eq!(list_removed(&home), [(SECOND.to_owned(), "purge".to_owned())]);
    home.write(".claude.json", "noise");
    assert_eq!(list_removed(&home), [(SECOND.to_owned(), "unknown".to_owned())]);
}

#[test]
fn excluded_projects_are_not_archived() {
    let home = new_archived_home();
    let list = || home.run(&["archive", "exclude"]).out;
    assert_eq!(home.run(&["archive", "exclude"]).code, 1);
    run(&home, &["archive", "exclude", "/home/ann/shop", "--dry-run"]);
    assert_eq!(list(), "");
    let done = run(&home, &["archive", "exclude", "/home/ann/shop"]);
    assert!(done.contains("rethread archive forget --project /home/ann/shop"), "{done}");
    assert_eq!(home.run(&["archive", "exclude", "/home/ann/shop"]).code, 1, "it is listed already");
    assert_eq!(list(), "/home/ann/shop\n");
    home.append(&session_path(FIRST), "{\"type\":\"mark\"}\n");
    home.write(".claude/projects/-home-ann-shop/memory/MEMORY.md", "notes");
    let archived = home.run_json(&["archive", "--json"]);
    // The session, its file history, its subagent and the memory. The folder next to it, whose name has the same start, is archived.
    assert_eq!((&archived["excluded"], &archived["added_bytes"]), (&4.into(), &0.into()));
    let status = home.run_json(&["archive", "status", "--json"]);
    assert_eq!(status["excluded"].as_array().unwrap().len(), 1);
    assert_eq!(status["not_archived"].as_array().unwrap().len(), 0);
    let out = run(&home, &["archive", "status"]);
    assert!(out.contains("excluded      /home/ann/shop\n"), "{out}");
    run(&home, &["archive", "exclude", "/home/ann/shop", "--remove"]);
    assert_eq!(home.run(&["archive", "exclude", "/home/ann/shop", "--remove"]).code, 1);
    let archived = home.run_json(&["archive", "--json"]);
    assert_eq!(
        (&archived["excluded"], &archived["grown"], &archived["created"]),
        (&0.into(), &1.into(), &1.into())
    );
    // The configuration file does the same.
    home.write(".config/rethread/config.toml", "[archive]\nexclude = [\"/home/ann\"]\n");
    let archived = home.run_json(&["archive", "--json"]);
    assert_eq!(archived["excluded"], 5, "{archived}");
    assert_eq!(list(), "/home/ann\n");
}

/// A program in the place of `systemctl` that logs its arguments.
#[cfg(target_os = "linux")]
#[test]
fn a_schedule_is_written_started_and_removed() {
    let home = new_archived_home();
    home.write_program("bin/systemctl", "#!/bin/sh\necho \"$@\" >> \"$HOME/systemctl.log\"\n");
    let path = format!("{}:/usr/bin:/bin", home.path().join("bin").display());
    let run_with = |args: &[&str], path: &str| {
        let mut command = home.command(args);
        let output = command.env("PATH", path).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout) + &text(output.stderr))
    };
    let timer = home.path().join(".config/systemd/user/rethread-archive.timer");
    let service = timer.with_extension("service");
    let (code, dry) = run_with(&["archive", "schedule", "--every", "2h", "--dry-run"], &path);
    assert_eq!(code, Some(0), "{dry}");
    assert!(dry.contains("OnUnitActiveSec=120min") && dry.contains("systemctl --user enable --now"), "{dry}");
    assert!(!timer.exists() && !home.path().join("systemctl.log").exists());
    let root = home.path().join(".claude");
    let (code, done) = run_with(&["--root", root.to_str().unwrap(), "archive", "schedule"], &path);
    assert_eq!(code, Some(0), "{done}");
    assert!(done.contains("every 15m") && done.contains("enable-linger"), "{done}");
    let unit = std::fs::read_to_string(&service).unwrap();
    let program = format!(
        "ExecStart=\"{}\" \"--root\" \"{}\" \"--quiet\" \"archive\" \"--to\" ",
        home.program().display(),
        root.display()
    );
    assert!(unit.contains(&program), "{unit}");
    let log = std::fs::read_to_string(home.path().join("systemctl.log")).unwrap();
    assert!(log.ends_with("--user daemon-reload\n--user enable --now rethread-archive.timer\n"), "{log}");
    assert!(run(&home, &["archive", "status"]).contains("schedule      installed"));
    // The same schedule changes nothing, another one replaces it.
    assert_eq!(run_with(&["--root", root.to_str().unwrap(), "archive", "schedule"], &path).0, Some(0));
    assert_eq!(run_with(&["archive", "schedule", "--every", "1d"], &path).0, Some(0));
    assert!(std::fs::read_to_string(&timer).unwrap().contains("OnUnitActiveSec=1440min"));
    let (code, removed) = run_with(&["archive", "schedule", "--remove"], &path);
    assert_eq!(code, Some(0), "{removed}");
    assert!(!timer.exists() && !service.exists());
    assert_eq!(run_with(&["archive", "schedule", "--remove"], &path).0, Some(1));
    assert!(run(&home, &["archive", "status"]).contains("schedule      none"));
    assert_eq!(run_with(&["archive", "schedule", "--every", "soon"], &path).0, Some(2));
    // Without systemd, a line for cron is printed.
    home.write_program("bin/systemctl", "#!/bin/sh\nexit 1\n");
    let (code, cron) = run_with(&["archive", "schedule"], &path);
    assert_eq!(code, Some(2), "{cron}");
    assert!(cron.contains("*/15 * * * * XDG_STATE_HOME=") && !timer.exists(), "{cron}");
}

fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            std::fs::copy(&path, target).unwrap();
        }
    }
}

/// Runs docs/archive/read.py. Returns `None` without Python or zstd.
fn read_with_documented_reader(args: &[&str]) -> Option<Vec<u8>> {
    let has_zstd = ProcessCommand::new("zstd").arg("--version").output().is_ok();
    let has_module = ProcessCommand::new("python3").args(["-c", "import zstandard"]).output();
    if !has_zstd && !has_module.is_ok_and(|output| output.status.success()) {
        rethread_testkit::real::print_skipped("reader of archives", "python3 with zstd is not installed");
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/archive/read.py");
    let output = ProcessCommand::new("python3").arg(script).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}
