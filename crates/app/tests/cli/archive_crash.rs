//! Crashes and faults of archive, sync, restore, forget and prune while a client appends: an archive is in its old or its new state, no
//! session file is changed, and the next run completes what was interrupted.
//!
//! `RETHREAD_CRASH_CYCLES=2000 RETHREAD_CRASH_SEED=3 cargo test -p rethread --test cli archive_crash` runs more cycles.
#![expect(clippy::disallowed_methods, reason = "tests act as a client and change their own store")]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rethread_testkit::home::Home;
use rethread_testkit::script;

use super::crash_campaign::{Client, FAULTS, Random, run_cycles};

const LIVE: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const DELETED: &str = "dddddddd-0000-4000-8000-000000000004";
const FORGOTTEN: &str = "ffffffff-0000-4000-8000-000000000006";
const PROJECT: &str = ".claude/projects/-home-ann";
const CONVERSATION: &str = "* cwd=/home/ann\nu1: one\n  a1: first\n    u2: two\n      a2: second";

/// A home with a live session, a deleted one, one to forget, an archive of them, and a second place.
struct ArchivedHome {
    home: Home,
    client: Client,
    /// The content of the live session when it was archived first.
    archived: Vec<u8>,
    /// The files of the deleted session.
    deleted: Vec<(PathBuf, Vec<u8>)>,
    context: String,
}

impl ArchivedHome {
    fn new(keeps_open: bool) -> ArchivedHome {
        let home = Home::new_in_memory(env!("CARGO_BIN_EXE_rethread"));
        let path = home.write_old(&format!("{PROJECT}/{LIVE}.jsonl"), script::bytes(CONVERSATION));
        home.write_old(&format!("{PROJECT}/{FORGOTTEN}.jsonl"), script::bytes(CONVERSATION));
        let prompt = format!("{{\"display\":\"one\",\"sessionId\":\"{DELETED}\"}}\n").into_bytes();
        home.write_old(".claude/history.jsonl", &prompt);
        let files = [
            (format!("{PROJECT}/{DELETED}.jsonl"), script::bytes(CONVERSATION)),
            (format!("{PROJECT}/{DELETED}/tool-results/r.txt"), b"long output".to_vec()),
            (format!(".claude/file-history/{DELETED}/0123@v1"), b"old content".to_vec()),
        ];
        let mut deleted: Vec<_> =
            files.into_iter().map(|(path, bytes)| (home.write_old(&path, &bytes), bytes)).collect();
        std::fs::create_dir(home.path().join("disk")).expect("the folder is new");
        let archived = std::fs::read(&path).expect("the session exists");
        let client = Client { path, open_file: None, keeps_open, count: 0 };
        let mut archived_home =
            ArchivedHome { home, client, archived, deleted: Vec::new(), context: String::new() };
        archived_home.run(&["archive"]);
        archived_home.sync();
        for (path, _) in &deleted {
            std::fs::remove_file(path).expect("the file exists");
        }
        let history = archived_home.home.write_old(".claude/history.jsonl", "");
        deleted.push((history, prompt));
        archived_home.deleted = deleted;
        archived_home.client.append();
        archived_home
    }

    #[track_caller]
    fn run(&self, args: &[&str]) {
        let run = self.home.run(args);
        assert_eq!(run.code, 0, "{}: {args:?}: {}{}", self.context, run.out, run.err);
    }

    fn disk(&self) -> String {
        self.home.path().join("disk").display().to_string()
    }

    #[track_caller]
    fn sync(&self) {
        self.run(&["archive", "sync", &self.disk()]);
    }

    /// Returns the content of the live session in an archive.
    #[track_caller]
    fn read_archived(&self, archive: Option<&str>) -> Vec<u8> {
        let folder = self.home.path().join("copy");
        let _ = std::fs::remove_dir_all(&folder);
        let folder_text = folder.display().to_string();
        let mut args = vec!["archive", "restore", LIVE, "--into", &folder_text];
        args.extend(archive.into_iter().flat_map(|archive| ["--to", archive]));
        self.run(&args);
        std::fs::read(folder.join(format!("projects/-home-ann/{LIVE}.jsonl"))).expect("the file was restored")
    }

    /// Checks both places after a command was interrupted: they are intact, and what was archived is readable.
    fn check_interrupted(&self) {
        let live = std::fs::read(&self.client.path).expect("the session exists");
        let marks = live.len() - self.archived.len();
        assert!(live.starts_with(&self.archived) && marks > 0, "{}: the session changed", self.context);
        let disk = self.disk();
        for archive in [None, Some(disk.as_str())] {
            let mut verify = vec!["archive", "verify", "--deep"];
            verify.extend(archive.into_iter().flat_map(|archive| ["--to", archive]));
            self.run(&verify);
            let archived = self.read_archived(archive);
            let is_state = live.starts_with(&archived) && archived.starts_with(&self.archived);
            assert!(is_state, "{}: {archive:?} has {} bytes", self.context, archived.len());
        }
        // An interrupted restore is rolled back or completed by the next command that reads the journal.
        let log = self.home.run(&["log", "--json"]);
        assert!(log.code < 2, "{}: {}", self.context, log.err);
        let is_complete =
            |(path, bytes): &(PathBuf, Vec<u8>)| std::fs::read(path).is_ok_and(|found| found == *bytes);
        let is_absent =
            |(path, _): &(PathBuf, Vec<u8>)| std::fs::read(path).map_or(true, |found| found.is_empty());
        let is_old_or_new = self.deleted.iter().all(is_complete) || self.deleted.iter().all(is_absent);
        assert!(is_old_or_new, "{}: a part was restored", self.context);
    }

    /// Forgets a session, unless an earlier command has done it.
    #[track_caller]
    fn forget(&self) {
        let run = self.home.run(&["archive", "forget", FORGOTTEN, "--yes"]);
        let is_forgotten = run.code < 2 || run.err.contains("no session matches");
        assert!(is_forgotten, "{}: {}", self.context, run.err);
    }

    /// Forgets a session and checks that later runs bring it back nowhere, and that its file is unchanged.
    fn check_forgotten(&self) {
        self.forget();
        self.run(&["archive"]);
        self.sync();
        let (disk, folder) = (self.disk(), self.home.path().join("forgotten").display().to_string());
        for archive in [None, Some(disk.as_str())] {
            let mut args = vec!["archive", "restore", FORGOTTEN, "--into", &folder];
            args.extend(archive.into_iter().flat_map(|archive| ["--to", archive]));
            let run = self.home.run(&args);
            assert_ne!(run.code, 0, "{}: {archive:?} still has the session: {}", self.context, run.out);
        }
        let path = self.home.path().join(format!("{PROJECT}/{FORGOTTEN}.jsonl"));
        assert_eq!(std::fs::read(path).ok(), Some(script::bytes(CONVERSATION)), "{}", self.context);
    }

    /// Runs all commands without a fault and checks that nothing is missing.
    fn check_healed(&mut self) {
        self.client.append();
        self.client.open_file = None;
        self.run(&["archive"]);
        self.sync();
        let live = std::fs::read(&self.client.path).expect("the session exists");
        let disk = self.disk();
        assert!(self.read_archived(None) == live, "{}: the archive is incomplete", self.context);
        assert!(self.read_archived(Some(&disk)) == live, "{}: the second place is incomplete", self.context);
        let restored = self.home.run(&["restore", DELETED]);
        assert!(restored.code < 2, "{}: {}", self.context, restored.err);
        for (path, bytes) in &self.deleted {
            assert_eq!(
                std::fs::read(path).ok().as_ref(),
                Some(bytes),
                "{}: {}",
                self.context,
                path.display()
            );
        }
        self.check_forgotten();
        let leftovers = find_drafts(&self.home.path().join(".claude"));
        assert!(leftovers.is_empty(), "{}: {leftovers:?}", self.context);
    }

    /// Runs a command with a fault. The client appends until the command ends or is killed. Returns whether it succeeded.
    fn run_with_client(&mut self, args: &[&str], fault: &str, kill_after: Option<Duration>) -> bool {
        let mut command = self.home.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.env("RETHREAD_FAULT", fault).spawn().expect("the program can be started");
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().expect("the child can be waited for") {
                return status.success();
            }
            if kill_after.is_some_and(|limit| start.elapsed() > limit) {
                child.kill().expect("the child can be killed");
            }
            self.client.append();
            std::thread::sleep(Duration::from_micros(500));
        }
    }
}

/// Returns the temporary files of rethread below a folder.
fn find_drafts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("the folder can be listed").path();
        let is_draft = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".rethread-"));
        if path.is_dir() {
            found.extend(find_drafts(&path));
        } else if is_draft {
            found.push(path);
        }
    }
    found
}

/// Returns the arguments of a command by its index.
fn choose_command(idx: u32, disk: &str) -> Vec<&str> {
    match idx {
        0 => vec!["archive"],
        1 => vec!["archive", "sync", disk],
        2 => vec!["restore", DELETED],
        3 => vec!["archive", "forget", FORGOTTEN, "--yes"],
        _ => vec!["archive", "prune", "--yes"],
    }
}

/// Runs what a command needs, so that it has something to do.
fn prepare_command(idx: u32, cycle: &ArchivedHome) {
    match idx {
        1 => cycle.run(&["archive"]),
        4 => cycle.forget(),
        _ => {}
    }
}

/// The number of commands that [`choose_command`] knows.
const COMMAND_COUNT: u32 = 5;

/// Each file system call of each command fails in turn, or is the last one of the process.
#[test]
fn every_failing_call_leaves_the_old_or_the_new_state() {
    let is_complete = std::env::var_os("RETHREAD_CRASH_ALL").is_some();
    std::thread::scope(|scope| {
        for idx in 0..COMMAND_COUNT {
            scope.spawn(move || {
                for (fault_idx, fault) in FAULTS.iter().enumerate() {
                    let stride = if is_complete { 1 } else { 11 };
                    let mut interrupted = 0;
                    let mut successes = 0;
                    // A failing call may be harmless. After 40 in a row the command has no more calls.
                    for call in (1 + (3 * fault_idx + idx as usize) % stride..).step_by(stride) {
                        let mut cycle = ArchivedHome::new(false);
                        let disk = cycle.disk();
                        let args = choose_command(idx, &disk);
                        prepare_command(idx, &cycle);
                        cycle.context = format!("{args:?}, {fault}, call {call}");
                        let fault = fault.replace('N', &call.to_string());
                        let succeeded = cycle.run_with_client(&args, &fault, None);
                        interrupted += usize::from(!succeeded);
                        successes = if succeeded { successes + stride } else { 0 };
                        cycle.check_interrupted();
                        cycle.check_healed();
                        if successes > 40 {
                            break;
                        }
                    }
                    assert!(interrupted * stride > 5, "{fault}, command {idx}: {interrupted} interrupted");
                }
            });
        }
    });
}

/// The disk is removed while a synchronisation waits before each of its file system calls.
#[test]
fn a_folder_that_disappears_is_an_error_and_is_not_created_again() {
    let mut interrupted = 0;
    for call in (1..).step_by(3) {
        let cycle = ArchivedHome::new(false);
        cycle.run(&["archive"]);
        let (disk, removed) = (PathBuf::from(cycle.disk()), cycle.home.path().join("removed"));
        let pause_file = cycle.home.path().join("pause");
        let mut command = cycle.home.command(&["archive", "sync", &cycle.disk()]);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.env("RETHREAD_FAULT", format!("pause:{call}:{}", pause_file.display()));
        let mut child = command.spawn().expect("the program can be started");
        while !pause_file.exists() && child.try_wait().expect("the child can be waited for").is_none() {
            std::thread::sleep(Duration::from_micros(200));
        }
        if !pause_file.exists() {
            break;
        }
        std::fs::rename(&disk, &removed).expect("the folder can be moved");
        std::fs::remove_file(&pause_file).expect("the command waits");
        let output = child.wait_with_output().expect("the child can be waited for");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "call {call}: {error}");
        let is_clear =
            error.contains("disappeared during the synchronisation") || error.contains("there is no folder");
        assert!(is_clear, "call {call}: {error}");
        assert!(!disk.exists(), "call {call}: the folder was created again");
        interrupted += 1;
        std::fs::rename(&removed, &disk).expect("the folder can be moved");
        cycle.check_interrupted();
    }
    assert!(interrupted > 3, "only {interrupted} calls");
}

#[test]
fn an_archive_can_be_on_another_file_system() {
    let mut cycle = ArchivedHome::new(false);
    let disk = tempfile::tempdir().expect("a temporary folder can be created");
    let archive = disk.path().join("archive").display().to_string();
    cycle.run(&["archive", "--to", &archive]);
    cycle.run(&["archive", "sync", disk.path().to_str().expect("the path is text"), "--to", &archive]);
    let live = std::fs::read(&cycle.client.path).expect("the session exists");
    assert_eq!(cycle.read_archived(Some(&archive)), live);
    cycle.check_healed();
}

/// Runs one cycle. The same seed gives the same cycle, except for its timing.
fn run_cycle(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xa5c1);
    let mut cycle = ArchivedHome::new(random.one_in(2));
    let disk = cycle.disk();
    for step in 0..1 + random.below(2) {
        let idx = random.below(COMMAND_COUNT);
        let args = choose_command(idx, &disk);
        prepare_command(idx, &cycle);
        let call = 1 + random.below(60);
        let kind = random.below(3);
        cycle.context = format!("seed {seed}, step {step}: {args:?}, call {call}, kind {kind}");
        match kind {
            0 => {
                let fault = FAULTS[random.below(u32::try_from(FAULTS.len()).expect("a few")) as usize];
                cycle.context += &format!(", fault {fault}");
                cycle.run_with_client(&args, &fault.replace('N', &call.to_string()), None);
            }
            1 => {
                cycle.run_with_client(&args, &format!("abort:{call}"), None);
            }
            _ => {
                let limit = Duration::from_micros(u64::from(random.below(40_000)));
                cycle.run_with_client(&args, "abort:100000", Some(limit));
            }
        }
        cycle.check_interrupted();
    }
    cycle.check_healed();
}

#[test]
fn no_crash_or_fault_damages_an_archive() {
    run_cycles(40, run_cycle);
}
