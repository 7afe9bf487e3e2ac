//! A process dies while it builds or refreshes the index: the next search gives the same results as without the index.
#![expect(clippy::disallowed_methods, reason = "tests change their own store")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rethread_testkit::home::Home;
use serde_json::Value;

use crate::new_home;

const FILES: u32 = 24;
const LINES: u32 = 120;
/// One in this many lines matches the queries; the others are filler for the indexer.
const LINES_PER_MATCH: u32 = 30;
/// A common word, a part of an identifier, and a rare phrase.
const QUERIES: &[&str] = &["common", "arent_uu", "\"parent_uuid of rare30\""];

/// A pseudorandom number generator with a fixed seed.
struct Rng(u32);

impl Rng {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % limit
    }
}

fn session_path(home: &Home, idx: u32) -> PathBuf {
    home.path().join(format!(".claude/projects/-p/{idx:08x}-0000-4000-8000-000000000000.jsonl"))
}

fn session_line(idx: u32, line_idx: u32, words: &str) -> String {
    let uuid = |line_idx: u32| format!("{idx:08x}-0000-4000-8000-{line_idx:012x}");
    let parent = if line_idx == 0 { "null".to_owned() } else { format!("\"{}\"", uuid(line_idx - 1)) };
    format!(
        r#"{{"type":"user","uuid":"{}","parentUuid":{parent},"sessionId":"{idx:08x}-0000-4000-8000-000000000000","timestamp":"2026-01-01T{:02}:{:02}:00.000Z","message":{{"role":"user","content":"{words}"}}}}"#,
        uuid(line_idx),
        line_idx / 60 % 24,
        line_idx % 60,
    )
}

fn new_home_with_sessions() -> Home {
    let home = new_home();
    for idx in 0..FILES {
        let mut text = String::new();
        for line_idx in 0..LINES {
            let words = match line_idx % LINES_PER_MATCH {
                0 => format!("the common parent_uuid of rare{line_idx} and term{idx}x{line_idx}"),
                _ => (0..40).map(|word| format!("w{} ", (line_idx * FILES + idx) * 40 + word)).collect(),
            };
            writeln!(text, "{}", session_line(idx, line_idx, &words)).unwrap();
        }
        home.write_old(session_path(&home, idx).to_str().unwrap(), text);
    }
    home
}

/// Returns exit code, results and stderr of a search, without the number of bytes read.
fn search_results(home: &Home, query: &str, options: &[&str]) -> (i32, Vec<Value>, String) {
    let args: Vec<&str> = [&["search", "--json", "--limit", "0"], options, &[query]].concat();
    let run = home.run(&args);
    let mut objects = run.json_lines();
    for total in objects.iter_mut().filter(|object| object["type"] == "search_total") {
        total["bytes_read"].take();
    }
    (run.code, objects, run.err)
}

/// Checks that results are the same with and without the index, with at most one warning.
fn check_queries(home: &Home, context: &str) {
    let mut warning_count = 0;
    for query in QUERIES {
        let (code, hits, err) = search_results(home, query, &[]);
        let scanned = search_results(home, query, &["--no-index"]);
        assert!(code < 2, "{context}: {query}: {err}");
        assert_eq!((code, hits), (scanned.0, scanned.1), "{context}: {query}: {err}");
        warning_count += err.matches("warning").count();
    }
    assert!(warning_count < 2, "{context}: {warning_count} warnings");
}

/// Returns the duration of an undisturbed run, in microseconds.
fn measure_run(home: &Home, args: &[&str]) -> u32 {
    let started = Instant::now();
    assert_eq!(home.run(args).code, 0);
    u32::try_from(started.elapsed().as_micros()).unwrap()
}

/// `RETHREAD_KILLS` sets the number of rounds; the default is ten.
#[test]
fn a_kill_at_any_moment_changes_no_hit() {
    let round_count = std::env::var("RETHREAD_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(10);
    let home = new_home_with_sessions();
    let commands: [&[&str]; 2] = [&["index", "--rebuild"], &["search", "common"]];
    // The longest time after which a command is killed.
    let mut max_delays = commands.map(|args| measure_run(&home, args));
    let mut rng = Rng(0x9e37_79b9);
    let mut killed_count = 0;
    for round in 0.. {
        if round >= round_count && killed_count > 0 {
            break;
        }
        assert!(round < 10 * round_count, "every run ended before it was killed");
        // A session grows or is created, so that the search has to refresh the index.
        let idx = rng.below(FILES + 2);
        let words = format!("the common parent_uuid of rare{round} once more");
        let mut file =
            std::fs::OpenOptions::new().create(true).append(true).open(session_path(&home, idx)).unwrap();
        writeln!(file, "{}", session_line(idx, LINES + round, &words)).unwrap();
        drop(file);
        let command_idx = (round % 2) as usize;
        let mut child =
            home.command(commands[command_idx]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let delay = rng.below(max_delays[command_idx]);
        std::thread::sleep(Duration::from_micros(u64::from(delay)));
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            // The machine was busier when the time was measured.
            max_delays[command_idx] = delay.max(1);
        } else {
            killed_count += 1;
        }
        check_queries(&home, &format!("round {round}: {:?}", commands[command_idx]));
    }
}
