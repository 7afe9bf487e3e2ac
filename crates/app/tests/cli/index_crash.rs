//! A process dies while it makes or renews the index: the next search finds what a scan finds, in the same order.
#![expect(clippy::disallowed_methods, reason = "tests change their own store")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::home::Home;
use serde_json::Value;

const FILES: u32 = 24;
const LINES: u32 = 120;
/// One line of so many holds what is looked for; the others make work for who indexes them.
const HOLDING: u32 = 30;
/// A common word, a part of a name, and a phrase that is rare.
const QUERIES: &[&str] = &["common", "arent_uu", "\"parent_uuid of seldom30\""];

/// Numbers that look random and are the same in every run.
struct Chance(u32);

impl Chance {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % limit
    }
}

fn file(home: &Home, no: u32) -> PathBuf {
    home.path().join(format!(".claude/projects/-p/{no:08x}-0000-4000-8000-000000000000.jsonl"))
}

fn line(no: u32, at: u32, words: &str) -> String {
    let uuid = |at: u32| format!("{no:08x}-0000-4000-8000-{at:012x}");
    let parent = if at == 0 { "null".to_owned() } else { format!("\"{}\"", uuid(at - 1)) };
    format!(
        r#"{{"type":"user","uuid":"{}","parentUuid":{parent},"sessionId":"{no:08x}-0000-4000-8000-000000000000","timestamp":"2026-01-01T{:02}:{:02}:00.000Z","message":{{"role":"user","content":"{words}"}}}}"#,
        uuid(at),
        at / 60 % 24,
        at % 60,
    )
}

fn store() -> Home {
    let home = Home::new();
    for no in 0..FILES {
        let mut text = String::new();
        for at in 0..LINES {
            let words = match at % HOLDING {
                0 => format!("the common parent_uuid of seldom{at} and term{no}x{at}"),
                _ => (0..40).map(|word| format!("w{} ", (at * FILES + no) * 40 + word)).collect(),
            };
            writeln!(text, "{}", line(no, at, &words)).unwrap();
        }
        home.write_old(file(&home, no).to_str().unwrap(), text);
    }
    home
}

/// Returns what a search tells, but for how much it had to read, and what it says beside.
fn told(home: &Home, query: &str, more: &[&str]) -> (i32, Vec<Value>, String) {
    let args: Vec<&str> = [&["search", "--json", "--limit", "0"], more, &[query]].concat();
    let run = home.run(&args);
    let mut lines: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for total in lines.iter_mut().filter(|line| line["type"] == "search_total") {
        total["bytes_read"].take();
    }
    (run.code, lines, run.err)
}

/// With and without an index the same is told, in the same order; a notice comes once at most.
fn check(home: &Home, context: &str) {
    let mut notices = 0;
    for query in QUERIES {
        let (code, hits, err) = told(home, query, &[]);
        let scanned = told(home, query, &["--no-index"]);
        assert!(code < 2, "{context}: {query}: {err}");
        assert_eq!((code, hits), (scanned.0, scanned.1), "{context}: {query}: {err}");
        notices += err.matches("warning").count();
    }
    assert!(notices < 2, "{context}: {notices} notices");
}

/// Returns how long a command takes that nobody disturbs, in microseconds.
fn whole(home: &Home, args: &[&str]) -> u32 {
    let started = Instant::now();
    assert_eq!(home.run(args).code, 0);
    u32::try_from(started.elapsed().as_micros()).unwrap()
}

/// `RETHREAD_KILLS` says how often; ten times where it is not set.
#[test]
fn a_kill_at_any_moment_changes_no_hit() {
    let kills = std::env::var("RETHREAD_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(10);
    let home = store();
    let commands: [&[&str]; 2] = [&["index", "--rebuild"], &["search", "common"]];
    let times = commands.map(|args| whole(&home, args));
    let mut chance = Chance(0x9e37_79b9);
    let mut cut_short = 0;
    for round in 0..kills {
        // A session grows, or another comes to be, so that a search has something to renew.
        let no = chance.below(FILES + 2);
        let words = format!("the common parent_uuid of seldom{round} once more");
        let mut grown = std::fs::OpenOptions::new().create(true).append(true).open(file(&home, no)).unwrap();
        writeln!(grown, "{}", line(no, LINES + round, &words)).unwrap();
        drop(grown);
        let which = (round % 2) as usize;
        let mut child =
            home.command(commands[which]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(u64::from(chance.below(times[which]))));
        child.kill().unwrap();
        cut_short += u32::from(!child.wait().unwrap().success());
        check(&home, &format!("round {round}: {:?}", commands[which]));
    }
    assert!(cut_short > 0, "no kill came in time");
}
