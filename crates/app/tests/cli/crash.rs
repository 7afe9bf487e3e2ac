//! The process dies at any point: files are in the old or the new state, the journal is consistent, and undo works.
#![expect(clippy::disallowed_methods, reason = "tests change their own store")]

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use rethread_testkit::home::{Home, Snapshot};
use serde_json::Value;

use super::journal::{SESSION, new_home_with_sessions, session_path};

/// A command with its preparation.
struct Case {
    /// The commands that run before it.
    before: &'static [&'static [&'static str]],
    /// Whether the project folder is deleted before it.
    delete: bool,
    /// Whether journal and backups are on another file system.
    other_file_system: bool,
    command: &'static [&'static str],
}

/// Every kind of change: append, replace, trash, restore, create.
const CASES: &[Case] = &[
    Case { before: &[], delete: false, other_file_system: false, command: &["rename", SESSION, "new"] },
    Case {
        before: &[&["rename", SESSION, "new"]],
        delete: false,
        other_file_system: false,
        command: &["undo"],
    },
    Case { before: &[], delete: false, other_file_system: false, command: &["rm", SESSION, "--yes"] },
    Case {
        before: &[&["rm", SESSION, "--yes"]],
        delete: false,
        other_file_system: false,
        command: &["undo"],
    },
    Case {
        before: &[&["rename", SESSION, "new"]],
        delete: true,
        other_file_system: false,
        command: &["restore", SESSION],
    },
    Case {
        before: &[&["rename", SESSION, "new"], &["rename", SESSION, "newer"]],
        delete: false,
        other_file_system: false,
        command: &["restore", SESSION],
    },
    Case { before: &[], delete: false, other_file_system: true, command: &["rm", SESSION, "--yes"] },
    Case { before: &[&["rm", SESSION, "--yes"]], delete: false, other_file_system: true, command: &["undo"] },
];

impl Case {
    fn new_home(&self) -> Home {
        #[cfg(unix)]
        if self.other_file_system
            && let Some(home) = new_home_with_sessions().with_state_on_other_file_system()
        {
            return self.prepare(home);
        }
        self.prepare(new_home_with_sessions())
    }

    fn prepare(&self, home: Home) -> Home {
        for args in self.before {
            let run = home.run(args);
            assert_eq!(run.code, 0, "{args:?}: {}", run.err);
        }
        if self.delete {
            std::fs::remove_dir_all(home.path().join(session_path()).parent().unwrap()).unwrap();
        }
        home
    }
}

/// Returns a snapshot with paths relative to the home.
fn relative_snapshot(home: &Home) -> Snapshot {
    let relative = |path: PathBuf| path.strip_prefix(home.path()).unwrap().to_owned();
    home.snapshot().into_iter().map(|(path, bytes)| (relative(path), bytes)).collect()
}

fn list_ops(home: &Home) -> Vec<Value> {
    let run = home.run(&["log", "--json"]);
    assert!(run.code < 2, "{}", run.err);
    run.json_lines()
}

/// Checks the state after a crash: every file is old or new, and only temporary files are added.
fn check_interrupted(current: &Snapshot, old: &Snapshot, new: &Snapshot, context: &str) {
    for (path, bytes) in current {
        let is_temporary =
            path.components().any(|part| part.as_os_str().to_string_lossy().starts_with(".rethread-"));
        let is_old_or_new = old.get(path) == Some(bytes) || new.get(path) == Some(bytes);
        assert!(is_old_or_new || is_temporary, "{context}: {}", path.display());
    }
    for (path, bytes) in old {
        assert!(
            new.get(path) != Some(bytes) || current.get(path) == Some(bytes),
            "{context}: {}",
            path.display()
        );
    }
}

#[test]
fn a_crash_after_any_step_leaves_the_old_or_the_new_state() {
    std::thread::scope(|scope| {
        for case in CASES {
            scope.spawn(|| check_crashes(case));
        }
    });
}

fn check_crashes(case: &Case) {
    let uninterrupted = case.new_home();
    let old = relative_snapshot(&uninterrupted);
    assert_eq!(uninterrupted.run(case.command).code, 0, "{:?}", case.command);
    let new = relative_snapshot(&uninterrupted);
    assert_ne!(old, new);
    let mut crash_count = 0;
    for step in 1.. {
        let home = case.new_home();
        let run = home.command(case.command).env("RETHREAD_FAULT", format!("abort:{step}")).output().unwrap();
        if run.status.success() {
            break;
        }
        crash_count += 1;
        let context = format!("{:?} stopped after step {step}", case.command);
        check_interrupted(&relative_snapshot(&home), &old, &new, &context);
        // Reading commands work, and recovery may be interrupted as well.
        assert!(home.run(&["ls", "--all"]).code < 2, "{context}");
        for recovery_step in [3, 6, 9] {
            home.command(&["log"]).env("RETHREAD_FAULT", format!("abort:{recovery_step}")).output().unwrap();
            check_interrupted(&relative_snapshot(&home), &old, &new, &context);
        }
        let operations = list_ops(&home);
        assert!(operations.iter().all(|op| op["status"] != "unfinished"), "{context}: {operations:?}");
        let current = relative_snapshot(&home);
        assert!(current == old || current == new, "{context}: neither the old nor the new state");
        if current == old {
            let run = home.run(case.command);
            assert_eq!(run.code, 0, "{context}: {}", run.err);
            assert_eq!(relative_snapshot(&home), new, "{context}");
        }
        let newest = list_ops(&home)[0]["op"].to_string();
        assert_eq!(home.run(&["undo", &newest]).code, 0, "{context}");
        assert_eq!(relative_snapshot(&home), old, "{context}");
    }
    assert!(crash_count > 20, "{:?} has only {crash_count} steps", case.command);
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_or_the_new_state() {
    let home = new_home_with_sessions();
    let path = home.path().join(session_path());
    let base = relative_snapshot(&home);
    let mut random = 0x9e37_79b9_u32;
    let mut next_random = |limit: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % limit
    };
    for round in 0..250 {
        let before = std::fs::read(&path).unwrap();
        let title = format!("title {round}");
        let args: &[&str] = if next_random(3) == 0 { &["undo"] } else { &["rename", SESSION, &title] };
        let mut child = home.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(u64::from(next_random(40_000))));
        child.kill().unwrap();
        child.wait().unwrap();
        let current = std::fs::read(&path).unwrap();
        let grew = current.starts_with(&before) && current.ends_with(b"\n");
        let shrank = before.starts_with(&current) && current.ends_with(b"\n");
        assert!(grew || shrank, "{args:?}: neither the old nor the new state");
        for line in current.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
            assert!(serde_json::from_slice::<Value>(line).is_ok(), "{}", String::from_utf8_lossy(line));
        }
    }
    assert!(list_ops(&home).iter().all(|op| op["status"] != "unfinished"));
    let run = home.run(&["restore", SESSION]);
    assert!(run.code < 2, "{}", run.err);
    assert_eq!(relative_snapshot(&home), base, "the store is in its first state");
}

#[test]
fn concurrent_commands_and_a_client_lose_no_line() {
    const LINES: usize = 400;
    let home = new_home_with_sessions();
    let path = home.path().join(session_path());
    let base = std::fs::read_to_string(&path).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    let is_done = || done.load(std::sync::atomic::Ordering::Relaxed);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (home, is_done) = (&home, &is_done);
            scope.spawn(move || {
                let mut round = 0;
                while !is_done() {
                    round += 1;
                    let title = format!("writer {writer} round {round}");
                    for args in
                        [&["rename", SESSION, &title, "--even-if-live"][..], &["undo", "--even-if-live"]]
                    {
                        let run = home.run(args);
                        assert!([0, 1, 3].contains(&run.code), "{args:?}: {}", run.err);
                    }
                }
            });
        }
        for line in 0..LINES {
            // The client opens, appends and closes for each line.
            let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
            writeln!(file, "{{\"type\":\"mark\",\"n\":{line}}}").unwrap();
            drop(file);
            std::thread::sleep(Duration::from_millis(5));
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(list_ops(&home).iter().all(|op| op["status"] != "unfinished"));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(&base));
    let objects: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let line_numbers: Vec<u64> = objects.iter().filter_map(|object| object["n"].as_u64()).collect();
    assert_eq!(line_numbers, (0..LINES as u64).collect::<Vec<_>>());
    let leftovers: Vec<_> = relative_snapshot(&home)
        .into_keys()
        .filter(|path| path.to_string_lossy().contains(".rethread-"))
        .collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

/// A process that keeps the file open would write to the replaced file, and its lines would be lost.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_open_for_writing_is_not_replaced() {
    let home = new_home_with_sessions();
    assert_eq!(home.run(&["rename", SESSION, "new"]).code, 0);
    let path = home.path().join(session_path());
    let before = std::fs::read(&path).unwrap();
    let mut open_file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    let run = home.run(&["undo", "--even-if-live"]);
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("has it open for writing"), "{}", run.err);
    open_file.write_all(b"{\"still\":\"here\"}\n").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), [&before[..], b"{\"still\":\"here\"}\n"].concat());
    assert_eq!(list_ops(&home)[0]["status"], "rolled-back");
}
