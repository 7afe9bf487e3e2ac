//! What is packed comes out again as it was, and no bytes do any harm.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Debug;

use proptest::collection::{btree_map, hash_map, hash_set, vec};
use proptest::prelude::*;
use rethread_core::entry::{self, Timestamp, Usage};
use rethread_core::id::Id;
use rethread_core::lines::LineSplitter;
use rethread_core::pack::{Pack, Unpacker};
use rethread_core::session::{SessionInfo, SessionInfoBuilder};
use rethread_core::stats::{Counts, StatsCollector};
use rethread_core::tree::{LineSpan, TreeBuilder};
use rethread_core::turn::ToolCallIndex;
use rethread_testkit::{random, script};

fn comes_back<T: Pack + PartialEq + Debug>(value: &T) {
    let bytes = value.packed();
    assert_eq!(T::unpacked(&bytes).as_ref(), Some(value));
    // What follows is left to whoever reads on, and what is cut short is nothing.
    let more = [&bytes[..], b"more"].concat();
    let mut from = Unpacker::new(&more);
    assert_eq!(T::unpack(&mut from).as_ref(), Some(value));
    assert_eq!(from.left(), 4);
    assert!(T::unpacked(&more).is_none());
    for cut in (0..bytes.len()).step_by(1 + bytes.len() / 50) {
        assert!(T::unpacked(&bytes[..cut]).is_none(), "cut at {cut} of {}", bytes.len());
    }
}

/// Reads a file as `ls` and `stats` do.
fn folded(bytes: &[u8]) -> (SessionInfo, Counts) {
    let (mut weaver, mut sketcher, mut pairs) =
        (TreeBuilder::default(), SessionInfoBuilder::default(), ToolCallIndex::default());
    let mut tally = StatsCollector::new(Id::of(b"a/file.jsonl"), "");
    let (mut problems, mut lines) = (Vec::new(), 0);
    LineSplitter::default().feed(bytes, true, &mut problems, |line, problems| {
        lines += 1;
        let fate = entry::read(&line, problems, |entry, offset| {
            let place = LineSpan { offset, len: entry.raw.len() as u32, line: line.no };
            let voice = weaver.add(&entry, place);
            sketcher.add(&entry, voice);
            pairs.add(&entry, place);
            tally.add(&entry);
        });
        tally.line(fate);
    });
    let tree = weaver.finish();
    let counts = tally.finish(bytes.len() as u64, &tree, &pairs, &problems);
    (sketcher.finish(&tree, lines, &problems), counts)
}

fn harmless(bytes: &[u8]) {
    let _ = SessionInfo::unpacked(bytes);
    let _ = Counts::unpacked(bytes);
    let _ = Vec::<(String, Option<u64>)>::unpacked(bytes);
    let _ = HashMap::<u64, i64>::unpacked(bytes);
    let _ = HashSet::<bool>::unpacked(bytes);
}

fn usage() -> impl Strategy<Value = Usage> {
    any::<[u64; 6]>().prop_map(|[input, output, cache_write, cache_write_1h, cache_read, web_searches]| {
        Usage { input, output, cache_write, cache_write_1h, cache_read, web_searches }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn numbers_and_texts_come_back(
        number: u64, small in 0u64..300, signed: i64, short: u32, truth: bool, text in "\\PC{0,40}",
    ) {
        comes_back(&number);
        comes_back(&small);
        comes_back(&signed);
        comes_back(&short);
        comes_back(&truth);
        comes_back(&(Timestamp(signed), Id::of(text.as_bytes())));
        comes_back(&(Some(text), None::<String>));
    }

    #[test]
    fn lists_and_maps_come_back(
        list in vec(("\\PC{0,8}", any::<Option<i64>>()), 0..9),
        sorted in btree_map("\\PC{0,8}", any::<u64>(), 0..9),
        hashed in hash_map(any::<u64>(), usage(), 0..9),
        set in hash_set(any::<i64>(), 0..9),
    ) {
        comes_back(&list);
        comes_back::<BTreeMap<String, u64>>(&sorted);
        comes_back::<HashMap<u64, Usage>>(&hashed);
        comes_back::<HashSet<i64>>(&set);
    }

    #[test]
    fn what_files_say_comes_back(records in random::records()) {
        let (sketch, counts) = folded(&script::file(&records));
        comes_back(&sketch);
        comes_back(&counts);
    }

    #[test]
    fn no_bytes_do_harm(bytes in vec(any::<u8>(), 0..200)) {
        harmless(&bytes);
    }

    #[test]
    fn nor_do_changed_ones(records in random::records(), at: prop::sample::Index, byte: u8) {
        let (sketch, counts) = folded(&script::file(&records));
        for mut bytes in [sketch.packed(), counts.packed()] {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            harmless(&bytes);
        }
    }
}

#[test]
fn huge_promises_take_no_memory() {
    // Of a list, a text and a map with 2^62 things in it there are but a few bytes.
    let mut bytes = (1u64 << 62).packed();
    bytes.extend_from_slice(&[0; 16]);
    harmless(&bytes);
    assert_eq!(String::unpacked(&bytes), None);
    assert_eq!(Vec::<Usage>::unpacked(&bytes), None);
}

#[test]
fn a_number_has_one_end() {
    assert_eq!(u64::unpacked(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), Some(u64::MAX));
    assert_eq!(u64::unpacked(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), None);
    assert_eq!(u64::unpacked(&[0x80; 11]), None);
    assert_eq!(u32::unpacked(&(1u64 << 32).packed()), None);
    assert_eq!(i64::MIN.packed().len(), 10);
    assert_eq!((-1i64).packed(), [1]);
}

#[test]
fn a_salvaged_line_is_part_of_the_counts() {
    let (_, counts) = folded(b"{\"type\":\"user\"}{\"type\":\"user\"}\n");
    assert_eq!(counts.total.malformed, 1);
    comes_back(&counts);
}
