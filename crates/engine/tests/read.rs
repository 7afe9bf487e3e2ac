//! A session read in leaves is the session: every entry once, every turn, and the same words
//! as when it is shown at once.

#![expect(clippy::disallowed_methods, reason = "the tests write session files of their own")]

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use rethread_engine::core::turn::{Turn, TurnPart};
use rethread_engine::core::usage::Prices;
use rethread_engine::ops::{
    self, BranchSelector, BranchView, ForkSwitch, SessionView, ShowRequest, TurnSlice,
};
use rethread_testkit::{random, real, script};

fn opened(path: &Path) -> SessionView {
    ops::open_view(path, &Prices::built_in()).expect("a session can be opened")
}

fn told(reading: &SessionView, way: &BranchView) -> Vec<TurnSlice> {
    (0..way.leaves()).flat_map(|leaf| reading.page(way, leaf).expect("a leaf can be told")).collect()
}

fn lines(scenes: &[TurnSlice]) -> Vec<u32> {
    scenes.iter().flat_map(|scene| scene.raw.iter().map(|(line, _)| *line)).collect()
}

/// What a turn says, without its order: calls with their results.
fn words(turn: &Turn) -> Vec<String> {
    turn.parts.iter().map(|piece| said(&piece.part)).collect()
}

fn said(part: &TurnPart) -> String {
    match part {
        TurnPart::Tool(call) => format!("{} {:?}", call.id, call.result.as_ref().map(|result| &result.text)),
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
    let everything = reading.way(&BranchSelector::Everything).expect("a way");
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
    let mut ways = vec![reading.way(&BranchSelector::Active).expect("a way")];
    for branch in &reading.branches.list {
        let name = BranchSelector::Through(reading.session.handle(branch.tip));
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
        switches(&reading, way, &scenes);
    }
    switches(&reading, &everything, &scenes);
    // A summary of a part of the way may stand for turns that are on none; but something is always shown.
    let all: BTreeSet<u32> = turns.iter().filter_map(|turn| turn.no).collect();
    assert!(found.is_subset(&all));
    assert!(all.is_empty() || ways[0].turns() > 0, "where there are turns, the usual way has some");
    everything.leaves()
}

/// Holds that every fork of a way has its switch and is on its map, and that both lead where they say.
fn switches(reading: &SessionView, way: &BranchView, scenes: &[TurnSlice]) {
    let crossings: Vec<ForkSwitch> = scenes.iter().flat_map(|scene| scene.crossings.clone()).collect();
    let map = reading.map(way, usize::MAX).expect("a map can be drawn up");
    assert_eq!(
        map.iter().map(|sign| sign.stop).collect::<Vec<_>>(),
        (0..way.stops.len()).collect::<Vec<_>>()
    );
    let left = map.iter().map(|sign| sign.before.len() + sign.within.len() + sign.more).sum::<usize>();
    assert_eq!(
        left,
        crossings.iter().map(|crossing| crossing.ways - 1).sum::<usize>(),
        "every way that leaves is counted"
    );
    for off in map.iter().flat_map(|sign| sign.before.iter().chain(&sign.within)) {
        let there = reading.way(&BranchSelector::Through(off.to.tip.clone())).expect("a turnoff names a way");
        assert!(reading.leaves_by_line(&there).contains_key(&off.to.line), "{off:?}");
    }
    for crossing in crossings {
        assert!((1..=crossing.ways).contains(&crossing.way) && crossing.ways > 1, "{crossing:?}");
        assert_eq!(crossing.previous.is_some(), crossing.way > 1, "{crossing:?}");
        assert_eq!(crossing.next.is_some(), crossing.way < crossing.ways, "{crossing:?}");
        for neighbour in crossing.previous.iter().chain(&crossing.next) {
            let there =
                reading.way(&BranchSelector::Through(neighbour.tip.clone())).expect("a switch names a way");
            assert!(reading.leaves_by_line(&there).contains_key(&neighbour.line), "{neighbour:?}");
        }
    }
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
    let scenes = told(&reading, &reading.way(&BranchSelector::Active).unwrap());
    let calls = scenes.iter().flat_map(|scene| &scene.turn.parts);
    let answered = calls.filter(|piece| matches!(&piece.part, TurnPart::Tool(call) if call.result.is_some()));
    assert_eq!(answered.count(), 200);
    assert_eq!(scenes.iter().filter(|scene| scene.no == Some(1)).count(), scenes.len());
}

/// Writes a session of its own for a test.
fn written(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("11111111-2222-4333-8444-555555555555.jsonl");
    std::fs::write(&path, script::bytes(text)).expect("it can be written");
    (folder, path)
}

/// A line below line `no - 1`, however deep: the script would need as much white space.
fn chain(lines: impl Iterator<Item = serde_json::Value>) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("11111111-2222-4333-8444-555555555555.jsonl");
    let uuid = |no: usize| format!("00000000-0000-4000-8000-{no:012}");
    let mut text = String::new();
    for (no, mut line) in lines.enumerate() {
        line["uuid"] = uuid(no).into();
        if line.get("parentUuid").is_none() {
            line["parentUuid"] = no.checked_sub(1).map(uuid).into();
        }
        text.push_str(&format!("{line}\n"));
    }
    std::fs::write(&path, text).expect("it can be written");
    (folder, path)
}

fn prompt(text: &str) -> serde_json::Value {
    serde_json::json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn answer(no: usize) -> serde_json::Value {
    let content = serde_json::json!([{"type": "text", "text": format!("answer {no}")}]);
    serde_json::json!({"type": "assistant", "message": {"id": format!("m{no}"), "role": "assistant", "content": content}})
}

#[test]
fn no_leaf_is_more_than_can_be_drawn() {
    let notice = |no: usize| prompt(&format!("<task-notification>task {no}</task-notification>"));
    let output = |no: usize| prompt(&format!("<local-command-stdout>line {no}</local-command-stdout>"));
    let meta = |no: usize| {
        let mut line = prompt(&format!("hint {no}"));
        line["isMeta"] = true.into();
        line
    };
    let result = |_: usize| serde_json::json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}]}});
    let attachment =
        |no: usize| serde_json::json!({"type": "attachment", "attachment": {"type": "hook", "no": no}});
    type Make<'a> = &'a dyn Fn(usize) -> serde_json::Value;
    let kinds: [(&str, Make<'_>, usize); 5] = [
        ("answers", &answer, 20),
        ("notices", &notice, 20),
        ("outputs", &output, 20),
        ("meta lines", &meta, 200),
        ("results", &result, 200),
    ];
    for (name, make, most) in kinds {
        let (_folder, path) = chain(std::iter::once(prompt("go")).chain((0..3000).map(make)));
        check(&path, name != "results");
        let reading = opened(&path);
        let way = reading.way(&BranchSelector::Active).unwrap();
        assert_eq!(way.turns(), 1, "{name}");
        assert_eq!(way.weights().max(), Some(most), "{name}");
    }
    // What is not drawn does not part a call from its result.
    let call = serde_json::json!({"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}]}});
    let lines =
        [prompt("go"), call].into_iter().chain((0..3000).map(attachment)).chain([result(0), answer(1)]);
    let (_folder, path) = chain(lines);
    check(&path, true);
}

#[test]
fn every_fork_has_its_switch_on_every_way() {
    let seen = |text: &str, tip: BranchSelector| {
        let (_folder, path) = written(text);
        check(&path, true);
        let reading = opened(&path);
        let scenes = told(&reading, &reading.way(&tip).unwrap());
        let shown = |scene: &TurnSlice| {
            let lines: Vec<u32> = scene.raw.iter().map(|(line, _)| *line).collect();
            scene.crossings.iter().map(move |at| (lines.clone(), at.way, at.ways)).collect::<Vec<_>>()
        };
        scenes.iter().flat_map(shown).collect::<Vec<_>>()
    };
    let line = |no: u32| BranchSelector::Through(format!("L{no}"));
    // The older way begins with a result, which belongs to the call before the fork.
    let stopped = "u1: go\n  a1: first\n    a2: !Bash ls\n      u3: =a2 done\n        a3: so\n      u4: rather not\n        a4: fine\n";
    assert_eq!(seen(stopped, line(5)), [(vec![3, 4, 5], 1, 2)]);
    assert_eq!(seen(stopped, line(7)), [(vec![6, 7], 2, 2)]);
    // Each way begins with a link that belongs to the turn before.
    let linked = "u1: go\n  a1: first\n    s1: hook ran\n      u2: this\n        a2: yes\n    s2: hook ran\n      u3: that\n        a3: no\n";
    assert_eq!(seen(linked, line(5)), [(vec![4, 5], 1, 2)]);
    assert_eq!(seen(linked, line(8)), [(vec![7, 8], 2, 2)]);
}

#[test]
fn many_ways_are_crossed_in_no_time() {
    // Ten thousand ways from one node, and a fork at every fourth line of a long chain.
    let wide = (0..20_000).map(|no| match no {
        0 => prompt("go"),
        1 => answer(1),
        _ => {
            let mut line = prompt("another");
            line["parentUuid"] = format!("00000000-0000-4000-8000-{:012}", 1).into();
            line
        }
    });
    let long = (0..40_000usize).map(|no| {
        let mut line = if no % 2 == 0 { prompt(&format!("prompt {no}")) } else { answer(no) };
        if no % 4 == 0 && no > 4 {
            line["parentUuid"] = format!("00000000-0000-4000-8000-{:012}", no - 3).into();
        }
        line
    });
    for (_folder, path) in [chain(wide), chain(long)] {
        let reading = opened(&path);
        let begun = std::time::Instant::now();
        let everything = reading.way(&BranchSelector::Everything).unwrap();
        let map = reading.map(&everything, 2_000).unwrap();
        let left = map.iter().map(|sign| sign.before.len() + sign.within.len() + sign.more).sum::<usize>();
        assert!(map.len() >= 1_900 && left >= 1_900, "{} {left}", map.len());
        assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
    }
}

#[test]
fn a_subagent_inside_the_file_is_read_for_itself() {
    let text = "u1: go\n  a1: !Task look\n    u2: =a1 found\n      a2: so\nu5 side: look\n  a5 side: !Bash ls\n    u6 side: =a5 x\n      a6 side: found\nu7 side: another\n  a7 side: yes\n";
    let (_folder, path) = written(text);
    let reading = opened(&path);
    for name in ["L5", "L7"] {
        let way = reading.way(&BranchSelector::Side(name.to_owned())).unwrap();
        let scenes = told(&reading, &way);
        assert_eq!(lines(&scenes), [5, 6, 7, 8], "{name}");
        assert_eq!((scenes[0].no, way.turns()), (Some(1), 1), "its turns are counted for themselves");
        assert_eq!(reading.leaf_of(&way, "t1"), Some(0));
    }
    assert_eq!(
        lines(&told(&reading, &reading.way(&BranchSelector::Side("L9".to_owned())).unwrap())),
        [9, 10]
    );
    assert!(reading.way(&BranchSelector::Side("L2".to_owned())).is_err(), "that is the session itself");
}

#[test]
fn a_command_behind_a_response_without_words_is_part_of_its_turn() {
    let mut silent = answer(1);
    silent["message"]["content"] = serde_json::json!([]);
    let command = prompt("<command-name>/clear</command-name>");
    let said = |lines: Vec<serde_json::Value>| {
        let (_folder, path) = chain(lines.into_iter());
        check(&path, true);
        let reading = opened(&path);
        let scenes = told(&reading, &reading.way(&BranchSelector::Everything).unwrap());
        scenes.iter().flat_map(|scene| words(&scene.turn)).collect::<Vec<_>>()
    };
    let parted = std::iter::once(prompt("go")).chain((1..20).map(answer));
    let words = said(parted.chain([silent.clone(), command.clone()]).collect());
    assert_eq!(words.last().map(String::as_str), Some("/clear"));
    assert_eq!(said(vec![silent, command]), ["/clear"]);
}

#[test]
fn a_switch_leads_to_words_that_stand_before_the_link_to_them() {
    let uuid = |no: usize| serde_json::Value::from(format!("00000000-0000-4000-8000-{no:012}"));
    let link = || serde_json::json!({"type": "attachment", "attachment": {"type": "hook"}});
    let below = |mut line: serde_json::Value, parent: serde_json::Value| {
        line["parentUuid"] = parent;
        line
    };
    let lines = [
        prompt("go"),
        answer(1),
        below(prompt("this"), uuid(3)),
        below(link(), uuid(1)),
        below(prompt("that"), uuid(1)),
        answer(5),
    ];
    let (_folder, path) = chain(lines.into_iter());
    check(&path, true);
    let reading = opened(&path);
    let scenes = told(&reading, &reading.way(&BranchSelector::Active).unwrap());
    let crossing = scenes.iter().flat_map(|scene| &scene.crossings).next().unwrap();
    let previous = crossing.previous.as_ref().unwrap();
    assert_eq!((previous.line, previous.tip.as_str()), (3, "L3"));
}

#[test]
fn what_is_beside_the_conversation_is_found_where_it_was_written() {
    let queued =
        serde_json::json!({"type": "queue-operation", "operation": "enqueue", "content": "and then"});
    let lines = [queued.clone(), prompt("go")].into_iter().chain((0..60).map(answer)).chain([queued]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("11111111-2222-4333-8444-555555555555.jsonl");
    let mut above = serde_json::Value::Null;
    let mut text = String::new();
    for (no, mut line) in lines.enumerate() {
        if line["type"] != "queue-operation" {
            line["parentUuid"] = above;
            line["uuid"] = format!("00000000-0000-4000-8000-{no:012}").into();
            above = line["uuid"].clone();
        }
        text.push_str(&format!("{line}\n"));
    }
    std::fs::write(&path, text).unwrap();
    let reading = opened(&path);
    let way = reading.way(&BranchSelector::Active).unwrap();
    let cases =
        [("L1", Some(0)), ("L62", Some(way.leaves() - 1)), ("L63", Some(way.leaves() - 1)), ("L64", None)];
    for (name, leaf) in cases {
        assert_eq!(reading.leaf_of(&way, name), leaf, "{name}");
    }
    assert!(way.leaves() > 2);
}
