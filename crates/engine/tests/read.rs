//! A session read in leaves is the session: every entry once, every turn, and the same words
//! as when it is shown at once.

#![expect(clippy::disallowed_methods, reason = "the tests write session files of their own")]

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use rethread_engine::core::turn::{Part, Turn};
use rethread_engine::core::usage::Prices;
use rethread_engine::ops::{self, Reading, Scene, ShowRequest, Way, Which};
use rethread_testkit::{random, real, script};

fn opened(path: &Path) -> Reading {
    ops::read(path, &Prices::built_in()).expect("a session can be opened")
}

fn told(reading: &Reading, way: &Way) -> Vec<Scene> {
    (0..way.leaves()).flat_map(|leaf| reading.leaf(way, leaf).expect("a leaf can be told")).collect()
}

fn lines(scenes: &[Scene]) -> Vec<u32> {
    scenes.iter().flat_map(|scene| scene.raw.iter().map(|(line, _)| *line)).collect()
}

/// What a turn says, without its order: calls with their results.
fn words(turn: &Turn) -> Vec<String> {
    turn.parts.iter().map(|piece| said(&piece.part)).collect()
}

fn said(part: &Part) -> String {
    match part {
        Part::Tool(call) => format!("{} {:?}", call.id, call.result.as_ref().map(|result| &result.text)),
        part => part.words().unwrap_or_default().to_owned(),
    }
}

/// Calls by their id, and all words.
fn set(said: &[String]) -> BTreeSet<&str> {
    said.iter()
        .map(
            |text| if text.starts_with("toolu_") { text.split(' ').next().unwrap_or_default() } else { text },
        )
        .collect()
}

/// Holds everything that a reading promises; returns how many leaves there were. In files that no client writes, a response
/// may be repeated on the other side of a cut: what is told twice then is not `exact`.
fn check(path: &Path, exact: bool) -> usize {
    let reading = opened(path);
    let everything = reading.way(&Which::Everything).expect("a way");
    let scenes = told(&reading, &everything);
    let mut show =
        ops::show(&ShowRequest { path: path.to_owned(), everything: true, ..ShowRequest::default() })
            .expect("it can be shown");
    let mut turns = Vec::new();
    while let Some(turn) = show.next_turn() {
        turns.push(turn.expect("a turn can be told"));
    }
    let shown: Vec<u32> = turns.iter().flat_map(|turn| turn.raw.iter().map(|(line, _)| *line)).collect();
    assert_eq!(lines(&scenes), shown, "the same lines in the same order");
    let begun: Vec<Option<u32>> = scenes.iter().filter(|scene| scene.begins).map(|scene| scene.no).collect();
    assert_eq!(begun, turns.iter().map(|turn| turn.no).collect::<Vec<_>>(), "each turn begins once");
    assert_eq!(scenes.iter().filter(|scene| scene.ends).count(), turns.len(), "and ends once");
    let read: Vec<String> = scenes.iter().flat_map(|scene| words(&scene.turn)).collect();
    let whole: Vec<String> = turns.iter().flat_map(|turn| words(&turn.turn)).collect();
    if exact {
        assert_eq!(read, whole, "the same words");
    }
    assert_eq!(set(&read), set(&whole), "nothing is missing, nothing is made up");
    let mut found = BTreeSet::new();
    let mut ways = vec![reading.way(&Which::Active).expect("a way")];
    for branch in &reading.branches.list {
        let name = Which::Through(reading.session.handle(branch.tip));
        ways.push(reading.way(&name).expect("a tip names its way"));
    }
    for way in &ways {
        let scenes = told(&reading, way);
        let all = lines(&scenes);
        let nodes: Vec<(u32, Option<String>)> =
            scenes.iter().map(|scene| (scene.raw[0].0, scene.uuid.clone())).collect();
        assert_eq!(nodes.len(), nodes.iter().collect::<BTreeSet<_>>().len(), "no scene twice: {all:?}");
        found.extend(scenes.iter().filter(|scene| scene.begins).filter_map(|scene| scene.no));
        let by_line = reading.leaves_by_line(way);
        for stop in &way.stops {
            assert_eq!(by_line.get(&stop.line), Some(&stop.leaf), "a stop is on the leaf where it begins");
        }
        for (_, crossing) in reading.crossings(way) {
            assert!(crossing.way >= 1 && crossing.way <= crossing.ways.len() && crossing.ways.len() > 1);
        }
    }
    // A summary of a part of the way may stand for turns that are on none; but something is always shown.
    let all: BTreeSet<u32> = turns.iter().filter_map(|turn| turn.no).collect();
    assert!(found.is_subset(&all));
    assert!(all.is_empty() || ways[0].turns() > 0, "where there are turns, the usual way has some");
    everything.leaves()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_session_read_in_leaves_is_the_session(records in random::records()) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("11111111-2222-4333-8444-555555555555.jsonl");
        std::fs::write(&path, script::file(&records)).expect("it can be written");
        check(&path, false);
    }
}

#[test]
fn real_sessions_are_read_in_leaves() {
    let files: Vec<_> = ["RETHREAD_GOLDEN", "RETHREAD_CORPUS"].into_iter().flat_map(real::sessions).collect();
    let leaves: usize = files.iter().map(|path| check(path, true)).sum();
    assert!(files.is_empty() || leaves > files.len(), "some have more than one leaf");
}

#[test]
fn a_long_turn_is_cut_and_its_calls_keep_their_results() {
    let mut text = String::from("u0: go\n");
    for no in 1..=200 {
        let indent = "  ".repeat(2 * no - 1);
        text.push_str(&format!("{indent}a{no}: !Bash step {no}\n{indent}  u{no}: =a{no} done {no}\n"));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("11111111-2222-4333-8444-555555555555.jsonl");
    std::fs::write(&path, script::bytes(&text)).unwrap();
    assert!(check(&path, true) > 5, "one turn on several leaves");
    let reading = opened(&path);
    let scenes = told(&reading, &reading.way(&Which::Active).unwrap());
    let calls = scenes.iter().flat_map(|scene| &scene.turn.parts);
    let answered = calls.filter(|piece| matches!(&piece.part, Part::Tool(call) if call.result.is_some()));
    assert_eq!(answered.count(), 200);
    assert_eq!(scenes.iter().filter(|scene| scene.no == Some(1)).count(), scenes.len());
}
