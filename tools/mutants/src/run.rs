//! Runs test programs, with a fault or without.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::build::TestBinary;
use crate::plant::Copy;

/// The memory that a test program may use, in kilobytes. A fault may fill it in an endless loop.
const MAX_MEMORY_KB: u64 = 6 << 20;

/// The result of a test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutcome {
    Passed,
    /// The first test that failed.
    Failed(String),
    /// The program ended without a failed test, with this status.
    Crashed(String),
    TimedOut,
}

/// The time that a test program needs without a fault, and the faults that it reaches.
#[derive(Debug, Clone, Default)]
pub struct Baseline {
    pub time: Duration,
    pub reached: BTreeSet<usize>,
}

/// The number of times that a test program is run, if only tests fail that succeed alone.
const ATTEMPTS: usize = 3;

/// Runs all test programs without a fault. Returns an error if one of them fails.
pub fn run_baseline(copy: &Copy, binaries: &[TestBinary]) -> io::Result<BTreeMap<String, Baseline>> {
    let trace = copy.selection.with_file_name("reached");
    let mut baselines = BTreeMap::new();
    for binary in binaries {
        let _ = std::fs::remove_file(&trace);
        std::fs::write(&copy.selection, format!("trace {}", trace.display()))?;
        let start = Instant::now();
        let outcome = run_stable(binary, Duration::from_secs(3600))?;
        if outcome != RunOutcome::Passed {
            return Err(io::Error::other(format!("{} fails without a fault: {outcome:?}", binary.name)));
        }
        let time = start.elapsed();
        let reached = std::fs::read_to_string(&trace).unwrap_or_default();
        let reached: BTreeSet<usize> = reached.lines().filter_map(|line| line.parse().ok()).collect();
        println!("{:<40} {:>7.1} s, reaches {}", binary.name, time.as_secs_f64(), reached.len());
        baselines.insert(binary.name.clone(), Baseline { time, reached });
    }
    Ok(baselines)
}

/// Runs the test programs that reach a fault in the file `path`, the fastest of each package first, until one fails.
///
/// Returns the name of the program and its outcome. Returns `None` if all pass.
pub fn run_fault(
    copy: &Copy,
    binaries: &[TestBinary],
    baselines: &BTreeMap<String, Baseline>,
    id: usize,
    path: &str,
) -> io::Result<Option<(String, RunOutcome)>> {
    std::fs::write(&copy.selection, id.to_string())?;
    for binary in binaries.iter().filter(|binary| binary.area.is_none_or(|area| path.starts_with(area))) {
        let Some(baseline) = baselines.get(&binary.name).filter(|baseline| baseline.reached.contains(&id))
        else {
            continue;
        };
        let outcome = run_stable(binary, Duration::from_secs(30) + baseline.time * 5)?;
        if outcome != RunOutcome::Passed {
            return Ok(Some((binary.name.clone(), outcome)));
        }
    }
    Ok(None)
}

/// Runs a test program. Runs it again if the test that failed succeeds alone: a busy machine may be the cause.
fn run_stable(binary: &TestBinary, timeout: Duration) -> io::Result<RunOutcome> {
    let mut outcome = run_binary(binary, binary.args, timeout)?;
    for _ in 1..ATTEMPTS {
        let RunOutcome::Failed(test) = &outcome else { break };
        if run_binary(binary, &["--exact", test], timeout)? != RunOutcome::Passed {
            break;
        }
        outcome = run_binary(binary, binary.args, timeout)?;
    }
    Ok(outcome)
}

/// Runs a test program until it ends, a test fails, or the time is over.
fn run_binary(binary: &TestBinary, args: &[&str], timeout: Duration) -> io::Result<RunOutcome> {
    let limited = format!("ulimit -v {MAX_MEMORY_KB}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limited]).arg(&binary.program).args(args);
    command.current_dir(&binary.folder).process_group(0);
    command.env("CARGO_MANIFEST_DIR", &binary.folder).env("RUST_BACKTRACE", "0");
    // The same cases in every run. A failing case need not be small.
    let seed = std::env::var("PROPTEST_RNG_SEED").unwrap_or_else(|_| "7".to_owned());
    command.env("PROPTEST_RNG_SEED", seed).env("PROPTEST_MAX_SHRINK_ITERS", "0");
    command.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1").env("INSTA_UPDATE", "no");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let lines = read_lines(&mut child);
    let deadline = Instant::now() + timeout;
    let outcome = loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                if let Some(test) =
                    line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... FAILED"))
                {
                    break Some(RunOutcome::Failed(test.to_owned()));
                }
            }
            Err(RecvTimeoutError::Timeout) => break Some(RunOutcome::TimedOut),
            Err(RecvTimeoutError::Disconnected) => break None,
        }
    };
    if outcome.is_some() {
        kill_group(&child);
    }
    let status = child.wait()?;
    Ok(outcome.unwrap_or_else(|| match status.success() {
        true => RunOutcome::Passed,
        false => RunOutcome::Crashed(status.to_string()),
    }))
}

/// Reads the output of a program in a thread.
fn read_lines(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut lines = BufReader::new(stdout).split(b'\n').map_while(Result::ok);
            while lines
                .next()
                .is_some_and(|line| sender.send(String::from_utf8_lossy(&line).into_owned()).is_ok())
            {
            }
        });
    }
    receiver
}

/// Kills a program and the processes that it started.
fn kill_group(child: &Child) {
    let _ = Command::new("kill")
        .args(["-KILL", "--", &format!("-{}", child.id())])
        .stderr(Stdio::null())
        .status();
}
