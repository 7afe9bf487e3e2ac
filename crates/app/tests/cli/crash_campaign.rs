//! Random crashes and faults of every writing command while a client appends: no line is lost, torn, doubled or moved.
//!
//! `RETHREAD_CRASH_CYCLES=10000 RETHREAD_CRASH_SEED=3 cargo test -p rethread --test cli crash_campaign` runs more cycles.
#![expect(clippy::disallowed_methods, reason = "tests act as a client and change their own store")]

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use rethread_testkit::home::Home;
use rethread_testkit::script;
use serde_json::Value;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const PROJECT: &str = ".claude/projects/-home-ann";
const CONVERSATION: &str = "* cwd=/home/ann\nu1: one\n  a1: first\n    u2: two\n      a2: second\n        u3: three\n          a3: third";
const LARGE: &str = "* cwd=/home/ann\nu1: FILLER\n  a1: first\n    u2: two\n      a2: second\n        u3: three\n          a3 read=150000: third";
const DAMAGED: &str = "* cwd=/home/ann\nu1: one\n  a1: !Bash ls\nu2 ^gone @+60: two\n  a2: two";

/// A command with its preparation.
struct Case {
    name: &'static str,
    script: &'static str,
    before: &'static [&'static [&'static str]],
    command: &'static [&'static str],
    other_file_system: bool,
}

const fn case(
    name: &'static str,
    before: &'static [&'static [&'static str]],
    command: &'static [&'static str],
) -> Case {
    Case { name, script: CONVERSATION, before, command, other_file_system: false }
}

const RENAME: &[&str] = &["rename", SESSION, "new", "--even-if-live"];
const GOTO: &[&str] = &["goto", SESSION, "t1", "--even-if-live"];
const RM: &[&str] = &["rm", SESSION, "--even-if-live", "--yes"];
const UNDO: &[&str] = &["undo", "--even-if-live"];

const CASES: &[Case] = &[
    case("rename", &[], RENAME),
    case("goto", &[], GOTO),
    case("fork", &[], &["fork", SESSION]),
    case("clone", &[], &["clone", SESSION]),
    Case { script: LARGE, ..case("rescue", &[], &["rescue", SESSION, "--fit", "149000"]) },
    Case {
        script: DAMAGED,
        ..case("repair in place", &[], &["repair", SESSION, "--in-place", "--even-if-live"])
    },
    Case { script: DAMAGED, ..case("repair", &[], &["repair", SESSION]) },
    case("undo of an append", &[GOTO], UNDO),
    case("restore", &[GOTO, RENAME], &["restore", SESSION, "--even-if-live"]),
    case("rm", &[], RM),
    case("undo of rm", &[RM], UNDO),
    Case { other_file_system: true, ..case("rm to another file system", &[], RM) },
    Case { other_file_system: true, ..case("undo of rm from another file system", &[RM], UNDO) },
    case("prune", &[GOTO, UNDO, RENAME], &["log", "--prune", "--older-than", "now", "--json"]),
];

/// A generator of reproducible random numbers.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(limit)).unwrap()
    }

    pub(super) fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }
}

/// A client that appends numbered lines. It opens the file for each line, or keeps it open.
pub(super) struct Client {
    pub(super) path: PathBuf,
    pub(super) open_file: Option<File>,
    pub(super) keeps_open: bool,
    pub(super) count: u64,
}

impl Client {
    pub(super) fn append(&mut self) {
        let line = format!(
            "{{\"parentUuid\":\"00000000-0000-4000-8000-{:012}\",\"type\":\"mark\",\"mark\":{}}}\n",
            self.count, self.count
        );
        let mut file = self.open_file.take().unwrap_or_else(|| {
            OpenOptions::new()
                .append(true)
                .create(true)
                .open(&self.path)
                .expect("the client can open the file")
        });
        file.write_all(line.as_bytes()).expect("the client can write");
        self.count += 1;
        self.open_file = self.keeps_open.then_some(file);
    }
}

/// A home with a session, a client, and the description of the cycle.
struct Cycle {
    home: Home,
    client: Client,
    old_lines: Vec<String>,
    context: String,
}

/// Returns the program to test. `RETHREAD_CRASH_PROGRAM` names another debug build.
fn program() -> PathBuf {
    std::env::var_os("RETHREAD_CRASH_PROGRAM")
        .map_or_else(|| env!("CARGO_BIN_EXE_rethread").into(), PathBuf::from)
}

fn read_lines(path: &Path) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

fn read_mark(line: &str) -> Option<u64> {
    serde_json::from_str::<Value>(line).ok()?["mark"].as_u64()
}

impl Cycle {
    fn new(case: &Case, keeps_open: bool) -> Cycle {
        let mut home = Home::new_in_memory(program());
        #[cfg(unix)]
        if case.other_file_system
            && let Some(other) = Home::new(program()).with_state_on_other_file_system()
        {
            home = other;
        }
        let text = case.script.replace("FILLER", &"planks ".repeat(1000));
        let path = home.write_old(&format!("{PROJECT}/{SESSION}.jsonl"), script::bytes(&text));
        home.write_old(&format!("{PROJECT}/{SESSION}/tool-results/t1.txt"), "long output");
        for args in case.before {
            let run = home.run(args);
            assert_eq!(run.code, 0, "{args:?}: {}", run.err);
        }
        let client = Client { path, open_file: None, keeps_open, count: 0 };
        let mut cycle = Cycle { home, client, old_lines: Vec::new(), context: case.name.to_owned() };
        cycle.old_lines = cycle.read_all_lines();
        cycle
    }

    fn spawn(&self, args: &[&str], fault: &str) -> Child {
        let mut command = self.home.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env("RETHREAD_FAULT", fault).spawn().expect("the program can be started")
    }

    /// Runs a command until its `call`-th file system call. The client appends a line, then the command is killed or
    /// continues. Returns `true` if the call was reached.
    fn run_with_pause(&mut self, args: &[&str], call: u32, kills: bool) -> bool {
        let pause_file = self.home.path().join(format!("pause-{}", self.client.count));
        let mut child = self.spawn(args, &format!("pause:{call}:{}", pause_file.display()));
        let is_paused = loop {
            if pause_file.exists() {
                break true;
            }
            if child.try_wait().expect("the child can be waited for").is_some() {
                break false;
            }
            std::thread::sleep(Duration::from_micros(200));
        };
        std::thread::scope(|scope| {
            let client = &mut self.client;
            let append = scope.spawn(|| client.append());
            // The client cannot open a file on which the paused command has a lease.
            for _ in 0..100 {
                if append.is_finished() {
                    break;
                }
                std::thread::sleep(Duration::from_micros(200));
            }
            if kills {
                child.kill().expect("the child can be killed");
            }
            // The pause ends even if the command was not killed in time.
            let _ = std::fs::remove_file(&pause_file);
        });
        child.wait().expect("the child can be waited for");
        is_paused
    }

    /// Runs a command with a fault, or kills it after some time, while the client appends lines.
    fn run_with_client(&mut self, args: &[&str], fault: &str, kill_after: Option<Duration>) {
        let mut child = self.spawn(args, fault);
        let start = std::time::Instant::now();
        while child.try_wait().expect("the child can be waited for").is_none() {
            if kill_after.is_some_and(|limit| start.elapsed() > limit) {
                child.kill().expect("the child can be killed");
            }
            self.client.append();
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    /// Recovers and checks the result.
    fn finish(&mut self) {
        self.client.append();
        self.client.open_file = None;
        self.client.keeps_open = false;
        for _ in 0..2 {
            let run = self.home.run(&["log", "--json"]);
            assert!(run.code < 2, "{}: {}", self.context, run.err);
            let unfinished = run.json_lines().into_iter().find(|op| op["status"] == "unfinished");
            assert!(unfinished.is_none(), "{}: {unfinished:?}", self.context);
            self.client.append();
        }
        self.check();
    }

    /// Returns the lines of the session in the trash and in the store.
    fn read_all_lines(&self) -> Vec<String> {
        let trash = find_files(&self.home.state_path().join("trash"), &format!("{SESSION}.jsonl"));
        let mut lines: Vec<String> = trash.iter().flat_map(|path| read_lines(path)).collect();
        lines.extend(read_lines(&self.client.path));
        lines
    }

    /// Panics if a line is lost, torn, doubled or out of order.
    fn check(&self) {
        let lines = self.read_all_lines();
        for line in &lines {
            assert!(serde_json::from_str::<Value>(line).is_ok(), "{}: torn: {line}", self.context);
        }
        let marks: Vec<u64> = lines.iter().filter_map(|line| read_mark(line)).collect();
        // `restore` removes the lines that it finds when it starts, and backs them up.
        let first = if self.context.contains("restore") { marks.first().copied().unwrap_or(0) } else { 0 };
        let expected: Vec<u64> = (first..self.client.count).collect();
        assert_eq!(marks, expected, "{}: lost, doubled or moved", self.context);
        let ops = self.home.run(&["log", "--json"]).json_lines();
        let newest = ops.iter().map(|op| (op["op"].as_u64(), op["status"].as_str())).max();
        let own: Vec<&String> = lines.iter().filter(|line| read_mark(line).is_none()).collect();
        let is_old = own.iter().eq(&self.old_lines.iter().collect::<Vec<_>>());
        if newest.is_some_and(|(_, status)| status == Some("rolled-back")) {
            assert!(
                is_old,
                "{}: rolled back, but {} lines became {}",
                self.context,
                self.old_lines.len(),
                own.len()
            );
        }
        let leftovers = find_files(&self.home.path().join(PROJECT), ".rethread-");
        assert!(leftovers.is_empty(), "{}: {leftovers:?}", self.context);
    }
}

/// Returns the files below a folder with names that start with `name`.
fn find_files(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() {
            found.extend(find_files(&path, name));
        } else if path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The faults of error cycles. `N` is the number of the call.
pub(super) const FAULTS: &[&str] = &["eio:N", "enospc:N", "enospc:N+", "short:N", "abort:N", "eio:N+"];

/// Runs a command with a fault and no client. Returns `false` if the command succeeds.
fn run_with_fault(case: &Case, fault: &str, call: u32) -> bool {
    let mut cycle = Cycle::new(case, false);
    cycle.context = format!("{}, {} {call}", case.name, fault);
    let mut command = cycle.home.command(case.command);
    command.env("RETHREAD_FAULT", fault.replace('N', &call.to_string()));
    let output = command.output().expect("the program can be started");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code();
    let ops = cycle.home.run(&["log", "--json"]).json_lines();
    let newest = ops.iter().find(|op| op["command"] == case.command[0]);
    let status = newest.map_or("none", |op| op["status"].as_str().unwrap_or_default());
    let is_truthful = match code {
        Some(0) => status == "done" || status == "undone",
        // The process was aborted.
        None => true,
        _ if error.contains("is complete") => status == "done",
        _ => status != "done",
    };
    // `log --prune` is no op of its own.
    assert!(is_truthful || case.name == "prune", "{}: exit {code:?}, {status}: {error}", cycle.context);
    cycle.finish();
    code != Some(0)
}

/// Each file system call of each command fails in turn: nothing is lost, and the exit code tells the truth.
#[test]
fn every_failing_call_is_reported_and_loses_nothing() {
    // All calls, or a sample of one in 24.
    let stride = if std::env::var_os("RETHREAD_CRASH_ALL").is_some() { 1 } else { 24 };
    std::thread::scope(|scope| {
        for (idx, case) in CASES.iter().enumerate() {
            scope.spawn(move || {
                let cycle = Cycle::new(case, false);
                let run = cycle.home.run(case.command);
                assert_eq!(run.code, 0, "{}: {}", case.name, run.err);
                for (fault_idx, fault) in FAULTS.iter().enumerate() {
                    let mut successes = 0;
                    // Failures of some calls are harmless. After 40 in a row the command has no more calls.
                    for call in (1 + (idx + 5 * fault_idx) % stride..).step_by(stride) {
                        let failed = run_with_fault(case, fault, u32::try_from(call).unwrap());
                        successes = if failed { 0 } else { successes + stride };
                        if successes > 40 {
                            break;
                        }
                    }
                }
            });
        }
    });
}

/// Runs one cycle. The same seed gives the same cycle, except for its timing.
fn run_cycle(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5eed);
    let case = &CASES[random.below(u32::try_from(CASES.len()).unwrap()) as usize];
    // A client that keeps the file open makes the command wait for two seconds.
    let mut cycle = Cycle::new(case, random.one_in(20));
    let call = 1 + random.below(120);
    let kind = random.below(8);
    cycle.context =
        format!("seed {seed}: {}, call {call}, kind {kind}, open {}", case.name, cycle.client.keeps_open);
    match kind {
        0..=3 => {
            let kills = !random.one_in(4);
            cycle.run_with_pause(case.command, call, kills);
        }
        4..=5 => {
            let fault = FAULTS[random.below(u32::try_from(FAULTS.len()).unwrap()) as usize];
            cycle.context += &format!(", fault {fault}");
            cycle.run_with_client(case.command, &fault.replace('N', &call.to_string()), None);
        }
        _ => {
            let limit = Duration::from_micros(u64::from(random.below(40_000)));
            cycle.run_with_client(case.command, "abort:100000", Some(limit));
        }
    }
    cycle.client.append();
    for _ in 0..random.below(3) {
        let kills = !random.one_in(3);
        cycle.run_with_pause(&["log"], 1 + random.below(60), kills);
        cycle.client.append();
    }
    cycle.finish();
}

/// Runs cycles in four threads: `default_count` of them, or as many as `RETHREAD_CRASH_CYCLES` says. Each gets a seed of its own.
pub(crate) fn run_cycles(default_count: u64, run_cycle: impl Fn(u64) + Sync) {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let cycles = number("RETHREAD_CRASH_CYCLES").unwrap_or(default_count);
    let first = number("RETHREAD_CRASH_SEED").unwrap_or(1);
    let next = std::sync::atomic::AtomicU64::new(first);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if seed >= first + cycles {
                        break;
                    }
                    run_cycle(seed);
                }
            });
        }
    });
}

#[test]
fn no_crash_or_fault_loses_a_line() {
    run_cycles(1000, run_cycle);
}
