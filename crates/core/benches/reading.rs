//! Measures parsing and tree building in bytes per second, on generated sessions.
//!
//! `RETHREAD_BENCH_FILE` names a session file to use instead.

#![expect(clippy::disallowed_methods, reason = "the file to read comes from the environment")]

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use rethread_core::context::ContextCollector;
use rethread_core::entry::Reader;
use rethread_core::id::Id;
use rethread_core::lines::LineSplitter;
use rethread_core::resume::ResumeIndex;
use rethread_core::stats::StatsCollector;
use rethread_core::tree::{LineSpan, TreeBuilder};
use rethread_core::trim::BlockInventory;
use rethread_testkit::script;

fn main() {
    divan::main();
}

/// Returns a session of several megabytes: prompts, answers, calls and long results.
fn session_file() -> Vec<u8> {
    if let Some(path) = std::env::var_os("RETHREAD_BENCH_FILE") {
        return std::fs::read(path).expect("the file can be read");
    }
    let result = "   Compiling shed v0.1.0\\n   rake, hose and \\\"spade\\\" in src/shed.rs:42\\n".repeat(60);
    let mut text = String::new();
    for idx in 0..2000 {
        text.push_str(&format!(
            "u{idx} ^a{}: what is in drawer {idx}\na{idx} #m{idx} ^u{idx}: ?it may be nails | !Bash ls drawer{idx}\n",
            idx.max(1) - 1
        ));
        text.push_str(&format!(
            "u{idx}x ^a{idx}: =a{idx} {result}\na{idx}x #n{idx} ^u{idx}x: nails, as I thought\n"
        ));
    }
    script::bytes(&text)
}

#[divan::bench]
fn lines(bencher: Bencher<'_, '_>) {
    let file = session_file();
    bencher.counter(BytesCount::of_slice(&file)).bench_local(|| {
        let mut count = 0;
        LineSplitter::default().feed(&file, true, &mut Vec::new(), |_, _| count += 1);
        black_box(count)
    });
}

#[divan::bench]
fn entries(bencher: Bencher<'_, '_>) {
    let file = session_file();
    bencher.counter(BytesCount::of_slice(&file)).bench_local(|| {
        let mut reader = Reader::default();
        let mut count = 0;
        LineSplitter::default().feed(&file, true, &mut Vec::new(), |line, problems| {
            reader.read_line(&line, problems, |entry, _| count += usize::from(entry.uuid.is_some()));
        });
        black_box(count)
    });
}

#[divan::bench]
fn serde_json_values(bencher: Bencher<'_, '_>) {
    let file = session_file();
    bencher.counter(BytesCount::of_slice(&file)).bench_local(|| {
        let mut count = 0;
        LineSplitter::default().feed(&file, true, &mut Vec::new(), |line, _| {
            let value: serde_json::Value = serde_json::from_slice(line.bytes).expect("a complete line");
            count += usize::from(value.get("uuid").is_some());
        });
        black_box(count)
    });
}

#[divan::bench]
fn tree_and_counts(bencher: Bencher<'_, '_>) {
    let file = session_file();
    bencher.counter(BytesCount::of_slice(&file)).bench_local(|| {
        let mut reader = Reader::default();
        let mut builder = TreeBuilder::default();
        let mut stats = StatsCollector::new(Id::NIL, "");
        LineSplitter::default().feed(&file, true, &mut Vec::new(), |line, problems| {
            let status = reader.read_line(&line, problems, |entry, offset| {
                builder
                    .add_entry(&entry, LineSpan { offset, len: entry.raw.len() as u32, line: line.number });
                stats.add(&entry);
            });
            stats.add_line(status);
        });
        black_box(builder.finish().branch_count())
    });
}

/// Measures the collectors that keep a table of blocks.
#[divan::bench]
fn block_tables(bencher: Bencher<'_, '_>) {
    let file = session_file();
    bencher.counter(BytesCount::of_slice(&file)).bench_local(|| {
        let mut reader = Reader::default();
        let mut resume_index = ResumeIndex::default();
        let mut inventory = BlockInventory::default();
        let mut collector = ContextCollector::default();
        LineSplitter::default().feed(&file, true, &mut Vec::new(), |line, problems| {
            reader.read_line(&line, problems, |entry, offset| {
                let span = LineSpan { offset, len: entry.raw.len() as u32, line: line.number };
                resume_index.add_entry(&entry, span);
                inventory.add(&entry, span);
                collector.add(&entry, span);
            });
        });
        black_box((resume_index, inventory, collector))
    });
}
