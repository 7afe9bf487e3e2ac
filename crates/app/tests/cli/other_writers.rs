//! Other processes that write to a session while rethread changes it, visible or not.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests act as a client and change their own store")]

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use rethread_testkit::home::{Home, RunOutput, set_modified};
use rethread_testkit::process::ProcessCommand;

use super::journal::{SESSION, new_home_with_sessions, session_path};

const CLIENT_LINE: &str = "{\"parentUuid\":\"00000000-0000-4000-8000-000000000001\",\"type\":\"client\"}\n";

fn open_for_append(path: &Path) -> File {
    OpenOptions::new().append(true).open(path).unwrap()
}

fn append_line(path: &Path) {
    open_for_append(path).write_all(CLIENT_LINE.as_bytes()).unwrap();
}

/// Runs a command, and `act` at its `call`-th file system call. Returns `None` if the command has fewer calls.
fn run_with_pause(home: &Home, args: &[&str], call: u32, act: impl FnOnce() + Send) -> Option<RunOutput> {
    let pause_file = home.path().join("pause");
    let mut command = home.command(args);
    command.env("RETHREAD_FAULT", format!("pause:{call}:{}", pause_file.display()));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !pause_file.exists() {
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::yield_now();
    }
    std::thread::scope(|scope| {
        let action = scope.spawn(act);
        // The client cannot open a file on which the paused command has a lease.
        for _ in 0..100 {
            if action.is_finished() {
                break;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        std::fs::remove_file(&pause_file).unwrap();
    });
    Some(RunOutput::new(child.wait_with_output().unwrap()))
}

/// A client appends a line at each call of a rename: the lines of the rename never follow a line it did not know.
#[test]
fn an_append_after_an_unknown_line_is_refused() {
    let mut refused_count = 0;
    for call in 1.. {
        let home = new_home_with_sessions();
        let path = home.path().join(session_path());
        let before = std::fs::read_to_string(&path).unwrap();
        let run =
            run_with_pause(&home, &["rename", SESSION, "new", "--even-if-live"], call, || append_line(&path));
        let Some(run) = run else { break };
        let after = std::fs::read_to_string(&path).unwrap();
        let appended = after.strip_prefix(&before).unwrap();
        match run.code {
            0 => assert!(
                appended.len() > CLIENT_LINE.len() && appended.ends_with(CLIENT_LINE),
                "{call}: {after}"
            ),
            3 => {
                refused_count += 1;
                assert_eq!(appended, CLIENT_LINE, "call {call}: nothing else is changed");
            }
            code => panic!("call {call}: exit {code}: {}", run.err),
        }
    }
    assert!(refused_count > 5, "{refused_count}");
}

/// A client appends a line at each call of an undo, which replaces the file: the line is kept.
#[test]
fn a_line_that_is_appended_while_a_file_is_replaced_is_kept() {
    for call in 1.. {
        let home = new_home_with_sessions();
        let path = home.path().join(session_path());
        let original = std::fs::read_to_string(&path).unwrap();
        assert_eq!(home.run(&["rename", SESSION, "new"]).code, 0);
        let renamed = std::fs::read_to_string(&path).unwrap();
        let run = run_with_pause(&home, &["undo", "--even-if-live"], call, || append_line(&path));
        let Some(run) = run else { break };
        let base = if run.code == 0 { &original } else { &renamed };
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            format!("{base}{CLIENT_LINE}"),
            "call {call}: {}",
            run.err
        );
    }
}

/// A client that continued after an interrupted change keeps the lines it continued from.
#[test]
fn recovery_completes_a_change_that_a_client_continued_from() {
    let mut completed_count = 0;
    for call in 1.. {
        let home = new_home_with_sessions();
        let path = home.path().join(session_path());
        let before = std::fs::read_to_string(&path).unwrap();
        let mut command = home.command(&["rename", SESSION, "new"]);
        if command.env("RETHREAD_FAULT", format!("abort:{call}")).output().unwrap().status.success() {
            break;
        }
        let interrupted = std::fs::read_to_string(&path).unwrap();
        append_line(&path);
        let op = home.run(&["log", "--json"]).json_lines().pop();
        let expected = if interrupted == before { "rolled-back" } else { "done" };
        assert!(op.is_none_or(|op| op["status"] == expected), "call {call}");
        let after = std::fs::read_to_string(&path).unwrap();
        assert_eq!(after, format!("{interrupted}{CLIENT_LINE}"), "call {call}");
        completed_count += u32::from(interrupted != before);
    }
    assert!(completed_count > 1, "{completed_count}");
}

/// Runs a command that knows nothing about other processes.
fn run_blind(home: &Home, args: &[&str]) -> RunOutput {
    RunOutput::new(home.command(args).env("RETHREAD_HIDE_PROCESSES", "1").output().unwrap())
}

fn find_temporary_files(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(".rethread-")).collect()
}

#[test]
fn lines_of_an_unseen_writer_are_copied_by_the_next_command() {
    let home = new_home_with_sessions();
    let path = home.path().join(session_path());
    let original = std::fs::read_to_string(&path).unwrap();
    assert_eq!(home.run(&["rename", SESSION, "new"]).code, 0);
    let mut client = open_for_append(&path);
    let run = run_blind(&home, &["undo", "--even-if-live"]);
    assert_eq!(run.code, 0, "{}", run.err);
    client.write_all(CLIENT_LINE.as_bytes()).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), original);
    for _ in 0..2 {
        assert_eq!(run_blind(&home, &["log"]).code, 0);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{original}{CLIENT_LINE}"));
    }
    // A line that was copied once is not copied again, even if it was removed since.
    std::fs::write(&path, &original).unwrap();
    assert_eq!(run_blind(&home, &["log"]).code, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), original);
    // The file stays while a process may write to it, and for a day after the last write.
    let [displaced] = &find_temporary_files(&path)[..] else { panic!("one replaced file") };
    set_modified(displaced, SystemTime::now() - Duration::from_secs(25 * 3600));
    assert_eq!(run_blind(&home, &["log"]).code, 0);
    assert_eq!(find_temporary_files(&path), [] as [PathBuf; 0]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), original);
}

/// Runs a command without `/proc`. Returns `None` if it cannot be hidden here.
fn run_without_proc(home: &Home, args: &[&str]) -> Option<RunOutput> {
    let mut command = ProcessCommand::new("unshare");
    command.args(["--mount", "sh", "-c", "mount -t tmpfs none /proc || exit 99; exec \"$0\" \"$@\""]);
    command.arg(home.program()).args(args).env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin");
    let output = command.current_dir(home.path()).output().ok()?;
    (output.status.code() != Some(99) && !output.stderr.starts_with(b"unshare"))
        .then(|| RunOutput::new(output))
}

#[test]
fn without_proc_ended_clients_and_open_files_are_recognised() {
    let home = new_home_with_sessions();
    let path = home.path().join(session_path());
    let mut ended = ProcessCommand::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let register = |pid: u32| {
        home.write(&format!(".claude/sessions/{pid}.json"), format!("{{\"sessionId\":\"{SESSION}\"}}"));
    };
    register(ended.id());
    let Some(run) = run_without_proc(&home, &["rename", SESSION, "new"]) else {
        // A user without the right to mount file systems cannot hide it.
        return;
    };
    assert_eq!(run.code, 0, "the registered client has ended: {}", run.err);
    // The lease of the kernel shows the process that has the file open.
    let before = std::fs::read(&path).unwrap();
    let client = open_for_append(&path);
    let run = run_without_proc(&home, &["undo", "--even-if-live"]).unwrap();
    assert!(run.code == 3 && run.err.contains("has it open for writing"), "{}", run.err);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    drop(client);
    register(std::process::id());
    assert_eq!(run_without_proc(&home, &["undo"]).unwrap().code, 3, "the registered client is running");
    assert_eq!(run_without_proc(&home, &["undo", "--even-if-live"]).unwrap().code, 0);
}
