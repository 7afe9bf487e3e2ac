//! `archive`: everything is kept, found and restored; a run that is interrupted anywhere loses nothing.
#![expect(clippy::disallowed_methods, reason = "tests change their own store and archive")]

use std::path::PathBuf;

use rethread_testkit::home::Home;
use rethread_testkit::process::ProcessCommand;
use serde_json::Value;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const PROJECT: &str = ".claude/projects/-home-ann";

fn session_path() -> String {
    format!("{PROJECT}/{SESSION}.jsonl")
}

/// Returns a home with a session that has all kinds of other files, and the paths of all of them.
fn new_home() -> (Home, Vec<(String, Vec<u8>)>) {
    let home = Home::new(env!("CARGO_BIN_EXE_rethread"));
    let lines = rethread_testkit::script::bytes(
        "* cwd=/home/ann\nu1: one\n  a1: first\n    u2: two\n      a2: second",
    );
    let files = [
        (session_path(), lines),
        (format!("{PROJECT}/{SESSION}/subagents/agent-1.jsonl"), b"{\"type\":\"user\"}\n".to_vec()),
        (format!("{PROJECT}/{SESSION}/subagents/agent-1.meta.json"), b"{}".to_vec()),
        (format!("{PROJECT}/{SESSION}/tool-results/r.txt"), b"result \xff\x00 bytes".to_vec()),
        (format!(".claude/file-history/{SESSION}/0123@v1"), b"old content".to_vec()),
        (format!(".claude/tasks/{SESSION}/1.json"), b"{}".to_vec()),
        (format!(".claude/todos/{SESSION}-agent-{SESSION}.json"), b"[]".to_vec()),
        (format!("{PROJECT}/agent-9.jsonl"), format!("{{\"sessionId\":\"{SESSION}\"}}\n").into_bytes()),
    ];
    for (path, bytes) in &files {
        home.write_old(path, bytes);
    }
    home.write_old(".claude/history.jsonl", b"{\"display\":\"one\"}\n");
    (home, files.to_vec())
}

fn run(home: &Home, args: &[&str]) {
    let run = home.run(args);
    assert_eq!(run.code, 0, "{args:?}: {}", run.err);
}

/// Deletes the session with all its files.
fn delete_files(home: &Home, files: &[(String, Vec<u8>)]) {
    for (path, _) in files {
        std::fs::remove_file(home.path().join(path)).unwrap();
    }
}

fn archive_dir(home: &Home) -> PathBuf {
    home.path().join(".local/share/rethread/archive")
}

#[test]
fn a_deleted_session_is_restored_byte_for_byte() {
    let (home, files) = new_home();
    run(&home, &["archive"]);
    delete_files(&home, &files);
    let status = home.run_json_lines(&["archive", "status", "--json"]);
    assert_eq!((&status[0]["sessions"], &status[0]["only_archived"]), (&1.into(), &1.into()));
    assert_eq!(status[1]["session"], SESSION);
    let before = home.snapshot();
    run(&home, &["archive", "restore", "aaaa", "--dry-run"]);
    assert_eq!(home.snapshot(), before);
    run(&home, &["archive", "restore", "aaaa"]);
    for (path, bytes) in &files {
        assert_eq!(std::fs::read(home.path().join(path)).ok().as_ref(), Some(bytes), "{path}");
    }
    // The client deletes by the modification time.
    let age =
        std::fs::metadata(home.path().join(session_path())).unwrap().modified().unwrap().elapsed().unwrap();
    assert!(age.as_secs() < 3600);
    assert_eq!(home.run(&["archive", "restore", "aaaa"]).code, 1, "nothing is left to do");
    let added = home.run_json(&["archive", "--json"]);
    assert_eq!(added["added_bytes"], 0, "restored files are archived already");
    run(&home, &["undo"]);
    assert!(!home.path().join(session_path()).exists());
}

#[cfg(unix)]
#[test]
fn permissions_are_restored() {
    use std::os::unix::fs::PermissionsExt;
    let (home, files) = new_home();
    let path = home.path().join(session_path());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    run(&home, &["archive"]);
    delete_files(&home, &files);
    run(&home, &["archive", "restore", SESSION]);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_file_with_other_content_is_never_overwritten() {
    let (home, _) = new_home();
    run(&home, &["archive"]);
    home.write_old(&session_path(), "{\"type\":\"user\"}\n");
    run(&home, &["archive", "restore", SESSION]);
    assert_eq!(std::fs::read(home.path().join(session_path())).unwrap(), b"{\"type\":\"user\"}\n");
    assert!(home.path().join(format!("{}.generation-1", session_path())).exists());
    let other = home.path().join("elsewhere");
    run(&home, &["archive", "restore", SESSION, "--into", other.to_str().unwrap()]);
    assert!(other.join("projects/-home-ann").join(format!("{SESSION}.jsonl")).exists());
}

#[test]
fn a_file_that_became_shorter_is_reported_and_kept() {
    let (home, _) = new_home();
    run(&home, &["archive"]);
    let path = home.path().join(session_path());
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let second = home.run(&["archive"]);
    assert!(second.err.contains("became shorter"), "{}", second.err);
    let status = home.run_json(&["archive", "status", "--json"]);
    assert_eq!(status["earlier_states"], 1);
}

#[test]
fn damage_is_found_and_unknown_sessions_are_an_error() {
    let (home, _) = new_home();
    run(&home, &["archive"]);
    run(&home, &["archive", "verify", "--deep"]);
    let unknown = home.run(&["archive", "restore", "ffff"]);
    assert_eq!(unknown.code, 2, "{}", unknown.err);
    let packs =
        std::fs::read_dir(archive_dir(&home).join("machines")).unwrap().next().unwrap().unwrap().path();
    let pack = std::fs::read_dir(packs.join("packs")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&pack).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&pack, bytes).unwrap();
    let verified = home.run(&["archive", "verify"]);
    assert_eq!(verified.code, 1);
    verified.assert_out_contains(&["does not have the recorded hash"]);
}

/// Every file system call of a run fails or is the last one of the process. The next run completes the archive.
#[test]
fn an_interrupted_run_loses_nothing() {
    for fault in ["abort", "eio", "enospc", "short"] {
        let mut interrupted = 0;
        for call in 1..200 {
            let (home, files) = new_home();
            if call % 2 == 0 {
                run(&home, &["archive"]);
                home.append(&session_path(), "{\"type\":\"mark\"}\n");
            }
            let content = std::fs::read(home.path().join(session_path())).unwrap();
            let mut command = home.command(&["archive"]);
            command.env("RETHREAD_FAULT", format!("{fault}:{call}"));
            let output = command.output().unwrap();
            interrupted += u32::from(!output.status.success());
            run(&home, &["archive"]);
            run(&home, &["archive", "verify", "--deep"]);
            delete_files(&home, &files);
            run(&home, &["archive", "restore", SESSION]);
            assert_eq!(std::fs::read(home.path().join(session_path())).unwrap(), content, "{fault}:{call}");
            if output.status.success() && call > 20 {
                break;
            }
        }
        assert!(interrupted > 10, "{fault}: only {interrupted} runs were interrupted");
    }
}

/// The program in docs/ARCHIVE.md needs Python and zstd, or its Python module.
#[test]
fn the_documented_reader_reads_every_state() {
    let has_zstd = ProcessCommand::new("zstd").arg("--version").output().is_ok();
    let has_module = ProcessCommand::new("python3").args(["-c", "import zstandard"]).output();
    if !has_zstd && !has_module.is_ok_and(|output| output.status.success()) {
        rethread_testkit::real::print_skipped("reader of archives", "python3 with zstd is not installed");
        return;
    }
    let (home, files) = new_home();
    run(&home, &["archive"]);
    home.append(&session_path(), "{\"type\":\"mark\"}\n");
    run(&home, &["archive"]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/archive/read.py");
    let read = |args: &[&str]| {
        let output =
            ProcessCommand::new("python3").arg(script).arg(archive_dir(&home)).args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let listed = String::from_utf8(read(&[])).unwrap();
    assert_eq!(listed.lines().count(), files.len() + 1, "{listed}");
    for (path, _) in &files {
        let path = home.path().join(path);
        assert_eq!(read(&[path.to_str().unwrap()]), std::fs::read(&path).unwrap(), "{}", path.display());
    }
}

#[test]
fn json_describes_a_run() {
    let (home, _) = new_home();
    let first = home.run_json(&["archive", "--json"]);
    assert_eq!(
        (&first["type"], &first["files"], &first["created"]),
        (&"archive".into(), &9.into(), &9.into())
    );
    let second: Value = home.run_json(&["archive", "--json"]);
    assert_eq!((&second["created"], &second["added_bytes"]), (&0.into(), &0.into()));
}
