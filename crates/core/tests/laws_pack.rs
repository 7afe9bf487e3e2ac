//! Packed values round-trip, and decoding arbitrary bytes is harmless.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Debug;

use proptest::collection::{btree_map, hash_map, hash_set, vec};
use proptest::prelude::*;
use rethread_core::entry::{self, Timestamp, Usage};
use rethread_core::id::Id;
use rethread_core::lines::LineSplitter;
use rethread_core::pack::{Pack, Unpacker};
use rethread_core::session::{SessionInfo, SessionInfoBuilder};
use rethread_core::stats::{StatsCollector, StoreCounts};
use rethread_core::tree::{LineSpan, TreeBuilder};
use rethread_core::turn::ToolCallIndex;
use rethread_testkit::{random, script};

fn assert_round_trip<T: Pack + PartialEq + Debug>(value: &T) {
    let bytes = value.to_packed();
    assert_eq!(T::from_packed(&bytes).as_ref(), Some(value));
    // Bytes after the value stay unread, and truncated bytes decode to nothing.
    let more = [&bytes[..], b"more"].concat();
    let mut from = Unpacker::new(&more);
    assert_eq!(T::unpack_from(&mut from).as_ref(), Some(value));
    assert_eq!(from.remaining(), 4);
    assert!(T::from_packed(&more).is_none());
    for cut in (0..bytes.len()).step_by(1 + bytes.len() / 50) {
        assert!(T::from_packed(&bytes[..cut]).is_none(), "cut at {cut} of {}", bytes.len());
    }
}

/// Reads a file like `ls` and `stats` do.
fn collect_file(bytes: &[u8]) -> (SessionInfo, StoreCounts) {
    let (mut tree_builder, mut info_builder, mut calls) =
        (TreeBuilder::default(), SessionInfoBuilder::default(), ToolCallIndex::default());
    let mut stats = StatsCollector::new(Id::from_text(b"a/file.jsonl"), "");
    let (mut problems, mut lines) = (Vec::new(), 0);
    LineSplitter::default().feed(bytes, true, &mut problems, |line, problems| {
        lines += 1;
        let status = entry::read_line(&line, problems, |entry, offset| {
            let span = LineSpan { offset, len: entry.raw.len() as u32, line: line.number };
            let role = tree_builder.add_entry(&entry, span);
            info_builder.add(&entry, role);
            calls.add(&entry, span);
            stats.add(&entry);
        });
        stats.add_line(status);
    });
    let tree = tree_builder.finish();
    let counts = stats.finish(bytes.len() as u64, &tree, &calls, &problems);
    (info_builder.finish(&tree, lines, &problems), counts)
}

fn decode_all(bytes: &[u8]) {
    let _ = SessionInfo::from_packed(bytes);
    let _ = StoreCounts::from_packed(bytes);
    let _ = Vec::<(String, Option<u64>)>::from_packed(bytes);
    let _ = HashMap::<u64, i64>::from_packed(bytes);
    let _ = HashSet::<bool>::from_packed(bytes);
}

fn usage() -> impl Strategy<Value = Usage> {
    any::<[u64; 6]>().prop_map(|[input, output, cache_write, cache_write_1h, cache_read, web_searches]| {
        Usage { input, output, cache_write, cache_write_1h, cache_read, web_searches }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn numbers_and_strings_round_trip(
        number: u64, small in 0u64..300, signed: i64, short: u32, flag: bool, text in "\\PC{0,40}",
    ) {
        assert_round_trip(&number);
        assert_round_trip(&small);
        assert_round_trip(&signed);
        assert_round_trip(&short);
        assert_round_trip(&flag);
        assert_round_trip(&(Timestamp(signed), Id::from_text(text.as_bytes())));
        assert_round_trip(&(Some(text), None::<String>));
    }

    #[test]
    fn lists_and_maps_round_trip(
        list in vec(("\\PC{0,8}", any::<Option<i64>>()), 0..9),
        sorted in btree_map("\\PC{0,8}", any::<u64>(), 0..9),
        hashed in hash_map(any::<u64>(), usage(), 0..9),
        set in hash_set(any::<i64>(), 0..9),
    ) {
        assert_round_trip(&list);
        assert_round_trip::<BTreeMap<String, u64>>(&sorted);
        assert_round_trip::<HashMap<u64, Usage>>(&hashed);
        assert_round_trip::<HashSet<i64>>(&set);
    }

    #[test]
    fn file_summaries_round_trip(records in random::records()) {
        let (info, counts) = collect_file(&script::write_records(&records));
        assert_round_trip(&info);
        assert_round_trip(&counts);
    }

    #[test]
    fn decoding_random_bytes_never_panics(bytes in vec(any::<u8>(), 0..200)) {
        decode_all(&bytes);
    }

    #[test]
    fn decoding_corrupted_values_never_panics(records in random::records(), at: prop::sample::Index, byte: u8) {
        let (info, counts) = collect_file(&script::write_records(&records));
        for mut bytes in [info.to_packed(), counts.to_packed()] {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            decode_all(&bytes);
        }
    }
}

#[test]
fn huge_lengths_allocate_no_memory() {
    // The bytes claim a list, a string and a map with 2^62 items.
    let mut bytes = (1u64 << 62).to_packed();
    bytes.extend_from_slice(&[0; 16]);
    decode_all(&bytes);
    assert_eq!(String::from_packed(&bytes), None);
    assert_eq!(Vec::<Usage>::from_packed(&bytes), None);
}

#[test]
fn numbers_have_a_maximum_length() {
    assert_eq!(
        u64::from_packed(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
        Some(u64::MAX)
    );
    assert_eq!(u64::from_packed(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), None);
    assert_eq!(u64::from_packed(&[0x80; 11]), None);
    assert_eq!(u32::from_packed(&(1u64 << 32).to_packed()), None);
    assert_eq!(i64::MIN.to_packed().len(), 10);
    assert_eq!((-1i64).to_packed(), [1]);
}

#[test]
fn recovered_lines_are_counted() {
    let (_, counts) = collect_file(b"{\"type\":\"user\"}{\"type\":\"user\"}\n");
    assert_eq!(counts.total.malformed, 1);
    assert_round_trip(&counts);
}
