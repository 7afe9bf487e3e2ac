//! The laws of the tree, on random and on damaged session files.

use proptest::prelude::*;
use rethread_testkit::{check, random, script};

fn files() -> impl Strategy<Value = Vec<u8>> {
    random::records().prop_map(|records| script::file(&records))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_entry_hangs_somewhere(records in random::records()) {
        check::tree(&script::file(&records));
    }

    #[test]
    fn so_it_does_in_damaged_files(bytes in random::damaged(files())) {
        check::tree(&bytes);
    }

    #[test]
    fn memory_changes_nothing(records in random::records()) {
        check::memory(&script::file(&records));
    }

    #[test]
    fn nor_does_it_where_odd_lines_come_twice(line in random::object(), damage in random::damaged(files())) {
        let twice = [line.as_bytes(), &damage, line.as_bytes(), line.as_bytes()].join(&b'\n');
        check::memory(&twice);
    }

    #[test]
    fn nor_does_it_in_damaged_files(bytes in random::damaged(files())) {
        check::memory(&bytes);
    }
}

#[test]
fn a_hundred_thousand_entries_in_a_row_cost_no_stack() {
    let mut file = Vec::new();
    for k in 0..100_000u32 {
        let parent = if k == 0 { "null".to_owned() } else { format!("\"{}\"", k - 1) };
        let line = format!(
            "{{\"type\":\"user\",\"uuid\":\"{k}\",\"parentUuid\":{parent},\"message\":{{\"content\":\"x\"}}}}\n"
        );
        file.extend_from_slice(line.as_bytes());
    }
    let mut weaver = rethread_core::tree::TreeBuilder::default();
    let mut splitter = rethread_core::lines::LineSplitter::default();
    splitter.feed(&file, true, &mut Vec::new(), |line, problems| {
        rethread_core::entry::read(&line, problems, |entry, offset| {
            let place = rethread_core::tree::LineSpan { offset, len: entry.raw.len() as u32, line: line.no };
            weaver.add(&entry, place);
        });
    });
    let tree = weaver.finish();
    let tip = tree.newest_tip().expect("there is a tip");
    assert_eq!(tree.ancestors(tip).len(), 100_000);
    assert_eq!(tree.branches(), 1);
}

#[test]
fn what_is_odd_about_a_remembered_usage_is_told_each_time() {
    let usage = |inner: &str| {
        format!("{{\"message\":{{\"id\":\"\u{1}m\",\"usage\":{{\"input_tokens\":1,\"x\":{inner}}}}}}}\n")
    };
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for inner in [deep.as_str(), "\"\u{1}\"", "\"\\ud800\""] {
        let odd = usage(inner);
        let plain = odd.replacen('\u{1}', "", 1);
        check::memory([odd.as_bytes(), plain.as_bytes(), plain.as_bytes()].concat().as_slice());
    }
}

#[test]
fn what_is_odd_about_a_remembered_key_is_told_each_time() {
    // Found by the fuzzer: a control byte in a key.
    let line = "{\"type\":\"user\",\"\u{19}\u{1}key\":1,\"message\":{\"content\":[{\"\u{1}\":2}]}}\n";
    check::memory(line.repeat(3).as_bytes());
}
