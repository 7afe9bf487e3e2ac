//! Properties of the tree, on random and on damaged session files.

use proptest::prelude::*;
use rethread_testkit::{check, random, script};

fn files() -> impl Strategy<Value = Vec<u8>> {
    random::records().prop_map(|records| script::write_records(&records))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_entry_is_in_the_tree(records in random::records()) {
        check::tree(&script::write_records(&records));
    }

    #[test]
    fn every_entry_of_a_damaged_file_is_in_the_tree(bytes in random::damaged(files())) {
        check::tree(&bytes);
    }

    #[test]
    fn reader_cache_does_not_change_the_result(records in random::records()) {
        check::reader_cache(&script::write_records(&records));
    }

    #[test]
    fn reader_cache_does_not_change_repeated_malformed_lines(line in random::object(), damage in random::damaged(files())) {
        let twice = [line.as_bytes(), &damage, line.as_bytes(), line.as_bytes()].join(&b'\n');
        check::reader_cache(&twice);
    }

    #[test]
    fn reader_cache_does_not_change_damaged_files(bytes in random::damaged(files())) {
        check::reader_cache(&bytes);
    }
}

#[test]
fn chain_of_100_000_entries_does_not_overflow_the_stack() {
    let mut file = Vec::new();
    for idx in 0..100_000u32 {
        let parent = if idx == 0 { "null".to_owned() } else { format!("\"{}\"", idx - 1) };
        let line = format!(
            "{{\"type\":\"user\",\"uuid\":\"{idx}\",\"parentUuid\":{parent},\"message\":{{\"content\":\"x\"}}}}\n"
        );
        file.extend_from_slice(line.as_bytes());
    }
    let mut builder = rethread_core::tree::TreeBuilder::default();
    let mut splitter = rethread_core::lines::LineSplitter::default();
    splitter.feed(&file, true, &mut Vec::new(), |line, problems| {
        rethread_core::entry::read_line(&line, problems, |entry, offset| {
            let span =
                rethread_core::tree::LineSpan { offset, len: entry.raw.len() as u32, line: line.number };
            builder.add_entry(&entry, span);
        });
    });
    let tree = builder.finish();
    let tip = tree.newest_tip().expect("there is a tip");
    assert_eq!(tree.ancestors(tip).len(), 100_000);
    assert_eq!(tree.branch_count(), 1);
}

#[test]
fn problems_of_a_cached_usage_are_reported_every_time() {
    let usage = |inner: &str| {
        format!("{{\"message\":{{\"id\":\"\u{1}m\",\"usage\":{{\"input_tokens\":1,\"x\":{inner}}}}}}}\n")
    };
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for inner in [deep.as_str(), "\"\u{1}\"", "\"\\ud800\""] {
        let malformed = usage(inner);
        let plain = malformed.replacen('\u{1}', "", 1);
        check::reader_cache([malformed.as_bytes(), plain.as_bytes(), plain.as_bytes()].concat().as_slice());
    }
}

#[test]
fn problems_of_a_cached_key_are_reported_every_time() {
    // Found by the fuzzer: a control byte in a key.
    let line = "{\"type\":\"user\",\"\u{19}\u{1}key\":1,\"message\":{\"content\":[{\"\u{1}\":2}]}}\n";
    check::reader_cache(line.repeat(3).as_bytes());
}
