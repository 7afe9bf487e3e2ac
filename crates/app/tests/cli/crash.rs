//! The process dies at any point: old state or new state, a consistent journal, a way back, nothing else touched.
#![expect(clippy::disallowed_methods, reason = "tests change their own store")]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use super::home::Home;
use super::journal::{SESSION, file, store};
use serde_json::Value;

type Picture = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// A command, and what must have happened before it.
struct Case {
    before: &'static [&'static [&'static str]],
    delete: bool,
    /// Whether journal and backups lie on another file system.
    elsewhere: bool,
    command: &'static [&'static str],
}

/// Every kind of deed: append, replace, remove, return, create.
const CASES: &[Case] = &[
    Case { before: &[], delete: false, elsewhere: false, command: &["rename", SESSION, "new"] },
    Case { before: &[&["rename", SESSION, "new"]], delete: false, elsewhere: false, command: &["undo"] },
    Case { before: &[], delete: false, elsewhere: false, command: &["rm", SESSION] },
    Case { before: &[&["rm", SESSION]], delete: false, elsewhere: false, command: &["undo"] },
    Case {
        before: &[&["rename", SESSION, "new"]],
        delete: true,
        elsewhere: false,
        command: &["restore", SESSION],
    },
    Case {
        before: &[&["rename", SESSION, "new"], &["rename", SESSION, "newer"]],
        delete: false,
        elsewhere: false,
        command: &["restore", SESSION],
    },
    Case { before: &[], delete: false, elsewhere: true, command: &["rm", SESSION] },
    Case { before: &[&["rm", SESSION]], delete: false, elsewhere: true, command: &["undo"] },
];

impl Case {
    fn home(&self) -> Home {
        #[cfg(unix)]
        if self.elsewhere
            && let Some(home) = store().with_state_elsewhere()
        {
            return self.prepare(home);
        }
        self.prepare(store())
    }

    fn prepare(&self, home: Home) -> Home {
        for args in self.before {
            let run = home.run(args);
            assert_eq!(run.code, 0, "{args:?}: {}", run.err);
        }
        if self.delete {
            std::fs::remove_dir_all(home.path().join(file()).parent().unwrap()).unwrap();
        }
        home
    }
}

/// Tells a picture without the folder it was taken in.
fn picture(home: &Home) -> Picture {
    let below = |path: PathBuf| path.strip_prefix(home.path()).unwrap().to_owned();
    home.picture().into_iter().map(|(path, bytes)| (below(path), bytes)).collect()
}

fn ops(home: &Home) -> Vec<Value> {
    let run = home.run(&["log", "--json"]);
    assert!(run.code < 2, "{}", run.err);
    run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// In the middle of it every file is the old or the new one; only drafts may stand beside them.
fn check_middle(now: &Picture, old: &Picture, new: &Picture, context: &str) {
    for (path, bytes) in now {
        let name = path.file_name().unwrap().to_string_lossy();
        let known = old.get(path) == Some(bytes) || new.get(path) == Some(bytes);
        assert!(known || name.starts_with(".rethread-"), "{context}: {}", path.display());
    }
    for (path, bytes) in old {
        assert!(
            new.get(path) != Some(bytes) || now.get(path) == Some(bytes),
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
    let whole = case.home();
    let old = picture(&whole);
    assert_eq!(whole.run(case.command).code, 0, "{:?}", case.command);
    let new = picture(&whole);
    assert_ne!(old, new);
    let mut crashes = 0;
    for stop in 1.. {
        let home = case.home();
        let run = home.command(case.command).env("RETHREAD_STOP_AFTER", stop.to_string()).output().unwrap();
        if run.status.success() {
            break;
        }
        crashes += 1;
        let context = format!("{:?} stopped after step {stop}", case.command);
        check_middle(&picture(&home), &old, &new, &context);
        // A reader is not disturbed, and recovery may be cut short as well.
        assert!(home.run(&["ls", "--all"]).code < 2, "{context}");
        for again in 1..3 {
            home.command(&["log"]).env("RETHREAD_STOP_AFTER", again.to_string()).output().unwrap();
            check_middle(&picture(&home), &old, &new, &context);
        }
        let ops = ops(&home);
        assert!(ops.iter().all(|op| op["state"] != "unfinished"), "{context}: {ops:?}");
        let now = picture(&home);
        assert!(now == old || now == new, "{context}: neither old nor new");
        if now == old {
            let run = home.run(case.command);
            assert_eq!(run.code, 0, "{context}: {}", run.err);
            assert_eq!(picture(&home), new, "{context}");
        }
        let newest = self::ops(&home)[0]["op"].to_string();
        assert_eq!(home.run(&["undo", &newest]).code, 0, "{context}");
        assert_eq!(picture(&home), old, "{context}");
    }
    assert!(crashes > 6, "{:?} has only {crashes} steps", case.command);
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_or_the_new_state() {
    let home = store();
    let path = home.path().join(file());
    let base = picture(&home);
    let mut random = 0x9e37_79b9_u32;
    let mut next = |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % below
    };
    for round in 0..250 {
        let before = std::fs::read(&path).unwrap();
        let title = format!("title {round}");
        let args: &[&str] = if next(3) == 0 { &["undo"] } else { &["rename", SESSION, &title] };
        let mut child = home.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(u64::from(next(40_000))));
        child.kill().unwrap();
        child.wait().unwrap();
        let now = std::fs::read(&path).unwrap();
        let grew = now.starts_with(&before) && now.ends_with(b"\n");
        let shrank = before.starts_with(&now) && now.ends_with(b"\n");
        assert!(grew || shrank, "{args:?}: neither old nor new");
        for line in now.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
            assert!(serde_json::from_slice::<Value>(line).is_ok(), "{}", String::from_utf8_lossy(line));
        }
    }
    assert!(ops(&home).iter().all(|op| op["state"] != "unfinished"));
    let run = home.run(&["restore", SESSION]);
    assert!(run.code < 2, "{}", run.err);
    assert_eq!(picture(&home), base, "everything is as it was, and nothing else is there");
}

#[test]
fn two_pens_and_a_writer_lose_no_line() {
    const LINES: usize = 400;
    let home = store();
    let path = home.path().join(file());
    let base = std::fs::read_to_string(&path).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    let is_done = || done.load(std::sync::atomic::Ordering::Relaxed);
    std::thread::scope(|scope| {
        for pen in 0..2 {
            let (home, is_done) = (&home, &is_done);
            scope.spawn(move || {
                let mut round = 0;
                while !is_done() {
                    round += 1;
                    let title = format!("pen {pen} round {round}");
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
            // As the client does it: open, append, close.
            let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
            writeln!(file, "{{\"type\":\"mark\",\"n\":{line}}}").unwrap();
            drop(file);
            std::thread::sleep(Duration::from_millis(5));
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(ops(&home).iter().all(|op| op["state"] != "unfinished"));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(&base));
    let objects: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let marks: Vec<u64> = objects.iter().filter_map(|object| object["n"].as_u64()).collect();
    assert_eq!(marks, (0..LINES as u64).collect::<Vec<_>>());
    let left: Vec<_> =
        picture(&home).into_keys().filter(|path| path.to_string_lossy().contains(".rethread-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A writer that never lets go of the file keeps it: another file in its place would lose what it writes.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_somebody_holds_is_not_replaced() {
    let home = store();
    assert_eq!(home.run(&["rename", SESSION, "new"]).code, 0);
    let path = home.path().join(file());
    let before = std::fs::read(&path).unwrap();
    let mut held = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    let run = home.run(&["undo", "--even-if-live"]);
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("has it open for writing"), "{}", run.err);
    held.write_all(b"{\"still\":\"here\"}\n").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), [&before[..], b"{\"still\":\"here\"}\n"].concat());
    assert_eq!(ops(&home)[0]["state"], "rolled-back");
}
