//! How fast lines become entries and entries a tree, in this process: bytes per second on invented sessions.
//!
//! `RETHREAD_BENCH_FILE` names a session file to read instead.

#![expect(clippy::disallowed_methods, reason = "the file to read comes from the environment")]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use rethread_core::entry::Reader;
use rethread_core::id::Id;
use rethread_core::lines::LineSplitter;
use rethread_core::stats::StatsCollector;
use rethread_core::tree::{LineSpan, TreeBuilder};
use rethread_testkit::script;

fn main() {
    divan::main();
}

/// Some megabytes of prompts, answers, calls and long results.
fn file() -> Vec<u8> {
    if let Some(path) = std::env::var_os("RETHREAD_BENCH_FILE") {
        return std::fs::read(path).expect("the file can be read");
    }
    let result = "   Compiling shed v0.1.0\\n   rake, hose and \\\"spade\\\" in src/shed.rs:42\\n".repeat(60);
    let mut text = String::new();
    for k in 0..2000 {
        text.push_str(&format!(
            "u{k} ^a{}: what is in drawer {k}\na{k} #m{k} ^u{k}: ?it may be nails | !Bash ls drawer{k}\n",
            k.max(1) - 1
        ));
        text.push_str(&format!("u{k}x ^a{k}: =a{k} {result}\na{k}x #n{k} ^u{k}x: nails, as I thought\n"));
    }
    script::bytes(&text)
}

#[divan::bench]
fn lines(bencher: Bencher<'_, '_>) {
    let file = file();
    bencher.counter(BytesCount::of_slice(&file)).bench_local(|| {
        let mut count = 0;
        LineSplitter::default().feed(&file, true, &mut Vec::new(), |_, _| count += 1);
        black_box(count)
    });
}

#[divan::bench]
fn entries(bencher: Bencher<'_, '_>) {
    let file = file();
    bencher.counter(BytesCount::of_slice(&file)).bench_local(|| {
        let mut reader = Reader::default();
        let mut count = 0;
        LineSplitter::default().feed(&file, true, &mut Vec::new(), |line, problems| {
            reader.read(&line, problems, |entry, _| count += usize::from(entry.uuid.is_some()));
        });
        black_box(count)
    });
}

#[divan::bench]
fn serde_json_values(bencher: Bencher<'_, '_>) {
    let file = file();
    bencher.counter(BytesCount::of_slice(&file)).bench_local(|| {
        let mut count = 0;
        LineSplitter::default().feed(&file, true, &mut Vec::new(), |line, _| {
            let value: serde_json::Value = serde_json::from_slice(line.bytes).expect("a whole line");
            count += usize::from(value.get("uuid").is_some());
        });
        black_box(count)
    });
}

#[divan::bench]
fn tree_and_counts(bencher: Bencher<'_, '_>) {
    let file = file();
    bencher.counter(BytesCount::of_slice(&file)).bench_local(|| {
        let mut reader = Reader::default();
        let mut weaver = TreeBuilder::default();
        let mut tally = StatsCollector::new(Id::NIL, "");
        LineSplitter::default().feed(&file, true, &mut Vec::new(), |line, problems| {
            let fate = reader.read(&line, problems, |entry, offset| {
                weaver.add(&entry, LineSpan { offset, len: entry.raw.len() as u32, line: line.no });
                tally.add(&entry);
            });
            tally.line(fate);
        });
        black_box(weaver.finish().branches())
    });
}
