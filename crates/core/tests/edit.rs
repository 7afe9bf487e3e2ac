//! Surgery on lines: what changes, and that nothing else does.

use proptest::prelude::*;
use rethread_core::edit::{
    Draft, Envelope, JsonEdit, PathSegment, ResumeMarker, SessionStateLines, UuidMap, apply_edits,
    required_entries,
};
use rethread_core::entry::{self, Kind, Timestamp};
use rethread_core::id::Id;
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{KNOWN_CLIENTS, ResumeIndex, resume_at, simulate_resume};
use rethread_core::tree::{LineSpan, Node, NodeId, Tree, TreeBuilder};
use rethread_core::version::Version;
use rethread_testkit::{random, script};
use serde_json::Value;

fn path(text: &str) -> Vec<PathSegment> {
    let step = |step: &str| step.parse::<usize>().map_or_else(|_| PathSegment::from(step), PathSegment::from);
    text.split('.').map(step).collect()
}

/// Makes changes written as `path=json` or `path` (take out), and shows the line that comes of it.
fn check(line: &str, changes: &[&str]) -> String {
    let change = |text: &&str| match text.split_once('=') {
        Some((to, json)) => JsonEdit::set(path(to), json),
        None => JsonEdit::remove(path(text)),
    };
    let changes: Vec<JsonEdit> = changes.iter().map(change).collect();
    apply_edits(line.as_bytes(), &changes)
        .map_or_else(|| "refused".to_owned(), |line| String::from_utf8(line).expect("text stays text"))
}

#[test]
fn values_are_set_where_they_stand() {
    assert_eq!(check(r#"{ "a" : 1 , "b":[1, 2]}"#, &["a=\"x\""]), r#"{ "a" : "x" , "b":[1, 2]}"#);
    assert_eq!(check(r#"{"a":{"b":{"c":null}}}"#, &["a.b.c=[]"]), r#"{"a":{"b":{"c":[]}}}"#);
    assert_eq!(check(r#"{"b":[1, {"c":2}]}"#, &["b.1.c=3"]), r#"{"b":[1, {"c":3}]}"#);
    // Of two members with one name the last is the one that parsers take.
    assert_eq!(check(r#"{"a":1,"a":2}"#, &["a=3"]), r#"{"a":1,"a":3}"#);
    assert_eq!(check(r#"{"\u0061":1}"#, &["a=3"]), r#"{"\u0061":3}"#);
}

#[test]
fn what_is_missing_is_added_at_the_end() {
    assert_eq!(check(r#"{"a":1 }"#, &["b=2"]), r#"{"a":1,"b":2 }"#);
    assert_eq!(check("{}", &["b=2"]), r#"{"b":2}"#);
    assert_eq!(check(r#"{"a":[ ]}"#, &["a.0=1"]), r#"{"a":[1 ]}"#);
    assert_eq!(check(r#"{"a":[1]}"#, &["a.1=2"]), r#"{"a":[1,2]}"#);
    assert_eq!(check(r#"{"a":[1]}"#, &["a.2=2"]), "refused");
    assert_eq!(check(r#"{"a":1}"#, &["a.b=2"]), "refused");
    assert_eq!(check(r#"{"a":1}"#, &["b.c=2"]), "refused");
    assert_eq!(check(r#"{"a":1"#, &["a=2"]), "refused");
    assert_eq!(check("[1]", &["a=2"]), "refused");
}

#[test]
fn commas_go_with_what_is_taken_out() {
    assert_eq!(check(r#"{"a":1, "b":2, "c":3}"#, &["a"]), r#"{"b":2, "c":3}"#);
    assert_eq!(check(r#"{"a":1, "b":2, "c":3}"#, &["b"]), r#"{"a":1, "c":3}"#);
    assert_eq!(check(r#"{"a":1, "b":2, "c":3}"#, &["c"]), r#"{"a":1, "b":2}"#);
    assert_eq!(check(r#"{"a":1}"#, &["a"]), "{}");
    assert_eq!(check(r#"{"a":1,"b":0,"a":2}"#, &["a"]), r#"{"b":0}"#);
    assert_eq!(check(r#"{"a":1,"a":2,"a":3}"#, &["a"]), "{}");
    assert_eq!(check(r#"{"a":[1,2,3]}"#, &["a.2", "a.0"]), r#"{"a":[2]}"#);
    assert_eq!(check(r#"{"a":1}"#, &["b", "c.d"]), r#"{"a":1}"#);
}

/// Makes a change the long way: on the whole value.
fn change(value: &mut Value, change: &JsonEdit) -> Option<()> {
    let (last, way) = change.path.split_last()?;
    let mut at = value;
    for step in way {
        let next = match (step, at) {
            (PathSegment::Key(key), Value::Object(object)) => object.get_mut(key),
            (PathSegment::Item(item), Value::Array(list)) => list.get_mut(*item),
            (_, Value::Object(_) | Value::Array(_)) => None,
            _ => return None,
        };
        match next {
            Some(next) => at = next,
            None => return change.to.is_none().then_some(()),
        }
    }
    let to = change.to.as_deref().map(|json| serde_json::from_slice::<Value>(json).expect("sound JSON"));
    match (last, at, to) {
        (PathSegment::Key(key), Value::Object(object), Some(to)) => {
            object.insert(key.clone(), to);
        }
        (PathSegment::Key(key), Value::Object(object), None) => {
            object.shift_remove(key);
        }
        (PathSegment::Item(item), Value::Array(list), Some(to)) if *item < list.len() => list[*item] = to,
        (PathSegment::Item(item), Value::Array(list), Some(to)) if *item == list.len() => list.push(to),
        (PathSegment::Item(item), Value::Array(list), None) => {
            if *item < list.len() {
                list.remove(*item);
            }
        }
        _ => return None,
    }
    Some(())
}

/// Finds every path into a value.
fn paths(value: &Value) -> Vec<Vec<PathSegment>> {
    let mut found = Vec::new();
    let mut stack = vec![(Vec::new(), value)];
    while let Some((path, value)) = stack.pop() {
        let mut push = |step: PathSegment, value| {
            let path: Vec<PathSegment> = path.iter().cloned().chain([step]).collect();
            found.push(path.clone());
            stack.push((path, value));
        };
        match value {
            Value::Object(object) => {
                object.iter().for_each(|(key, value)| push(PathSegment::from(key.as_str()), value));
            }
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(k, value)| push(PathSegment::from(k), value))
            }
            _ => {}
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    /// `apply(x, ∅) = x`, and every other change means what it means to a parser.
    #[test]
    fn surgery_means_what_it_says(
        line in random::object(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), "[a-c]|\"[a-z]\"|[0-9]"), 0..4),
    ) {
        prop_assert_eq!(apply_edits(line.as_bytes(), &[]), Some(line.clone().into_bytes()));
        let Ok(mut value) = serde_json::from_str::<Value>(&line) else { return Ok(()) };
        let mut bytes = line.into_bytes();
        for (index, remove, new) in cuts {
            let mut all = paths(&value);
            all.push(vec![PathSegment::from(new.as_str())]);
            let path = index.get(&all).clone();
            let cut = if remove { JsonEdit::remove(path) } else { JsonEdit::set_string(path, &new) };
            let expected = change(&mut value, &cut);
            let altered = apply_edits(&bytes, std::slice::from_ref(&cut));
            prop_assert_eq!(altered.is_some(), expected.is_some(), "{:?}", cut);
            let Some(altered) = altered else { return Ok(()) };
            let read: Value = serde_json::from_slice(&altered).expect("what was JSON stays JSON");
            prop_assert_eq!(&read, &value, "{:?}", cut);
            bytes = altered;
        }
    }

    #[test]
    fn no_bytes_are_too_odd(bytes in random::damaged(random::line().prop_map(String::into_bytes))) {
        let _ = apply_edits(&bytes, &[JsonEdit::remove(path("message.content.0")), JsonEdit::set_string(path("uuid"), "x")]);
    }
}

/// What the rooms know of a file.
fn know(file: &[u8]) -> (Tree, ResumeIndex, SessionStateLines) {
    let mut weaver = TreeBuilder::default();
    let mut facts = ResumeIndex::default();
    let mut states = SessionStateLines::default();
    LineSplitter::default().feed(file, true, &mut Vec::new(), |line, problems| {
        entry::read(&line, problems, |entry, offset| {
            let place = LineSpan { offset, len: entry.raw.len() as u32, line: line.no };
            weaver.add(&entry, place);
            facts.add(&entry, place);
            states.add(&entry, place);
        });
    });
    (weaver.finish(), facts, states)
}

/// Adds the two lines that make clients go on from an entry.
fn anchored(file: &[u8], leaf: Id, now: i64) -> Vec<u8> {
    let leaf = leaf.hyphenated();
    let anchor = ResumeMarker {
        leaf: &leaf,
        uuid: "00000000-0000-4000-8000-00000000ffff",
        session: "00000000-0000-4000-8000-000000000001",
        time: Some(Timestamp(now)),
        words: "here",
        ..ResumeMarker::default()
    };
    [file, &anchor.marker_line(), b"\n", &anchor.leaf_pointer_line(), b"\n"].concat()
}

#[test]
fn the_two_lines_are_as_a_client_would_write_them() {
    let anchor = ResumeMarker {
        leaf: "L",
        uuid: "U",
        session: "S",
        time: Some(Timestamp(1_767_225_600_000)),
        words: "goes on \"here\"",
        prompt: Some("tidy\n the   shed"),
        cwd: Some("/garden"),
        version: Some("2.1.325"),
        git_branch: Some("main"),
        entrypoint: Some("cli"),
    };
    assert_eq!(
        String::from_utf8(anchor.marker_line()).expect("text"),
        r#"{"parentUuid":"L","isSidechain":false,"type":"system","subtype":"informational","content":"goes on \"here\"","isMeta":false,"level":"info","timestamp":"2026-01-01T00:00:00.000Z","uuid":"U","userType":"external","entrypoint":"cli","cwd":"/garden","sessionId":"S","version":"2.1.325","gitBranch":"main"}"#
    );
    assert_eq!(
        String::from_utf8(anchor.leaf_pointer_line()).expect("text"),
        r#"{"type":"last-prompt","lastPrompt":"tidy the shed","leafUuid":"U","sessionId":"S"}"#
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_anchored_entry_is_where_clients_go_on(records in random::records()) {
        let file = script::file(&records);
        let (tree, facts, _) = know(&file);
        // Old clients go by time alone, and never leave a first line that has none.
        prop_assume!(tree.nodes().iter().all(|node| node.time().is_some()));
        let now = tree.nodes().iter().filter_map(Node::time).max().map_or(0, |time| time.0) + 1000;
        for (k, node) in tree.nodes().iter().enumerate() {
            let stands = tree.find(node.id) == Some(k as u32);
            if node.is_sidechain() || !stands || !matches!(node.kind, Kind::User | Kind::Assistant) {
                continue;
            }
            let (after, facts_after, _) = know(&anchored(&file, node.id, now));
            for version in KNOWN_CLIENTS {
                let client = Version::read(version);
                let Some(asked) = resume_at(&tree, &facts, &client, k as u32) else { continue };
                let found = simulate_resume(&after, &facts_after, &client);
                prop_assert_eq!((&found.path, found.halt), (&asked.path, asked.halt), "{} at L{}\n{}", version, node.place.line, String::from_utf8_lossy(&file));
            }
        }
    }
}

/// Copies the way to an entry into a session of its own.
fn forked(file: &[u8], tree: &Tree, way: &[NodeId], leaf: Id, now: i64) -> Vec<u8> {
    let envelope = Envelope { session: "new".to_owned(), origin: Some("old".to_owned()), folder: None };
    let draft = Draft { envelope: Some(envelope), ..Draft::default() };
    let mut copy = Vec::new();
    for &no in way {
        let place = tree.node(no).place;
        let from = place.offset as usize;
        copy.extend_from_slice(&draft.render(&file[from..from + place.len as usize], &[]));
        copy.push(b'\n');
    }
    anchored(&copy, leaf, now)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_fork_loads_what_its_origin_would(records in random::records()) {
        let file = script::file(&records);
        let (tree, facts, _) = know(&file);
        // Where lines contradict each other, the oracle is asked about the very fork before it is written.
        if tree.nodes().iter().any(|node| node.time().is_none()) || !tree.problems.is_empty() {
            return Ok(());
        }
        let now = tree.nodes().iter().filter_map(Node::time).max().map_or(0, |time| time.0) + 1000;
        let ids = |tree: &Tree, path: &[NodeId]| path.iter().map(|&no| tree.node(no).id).collect::<Vec<_>>();
        for (k, node) in tree.nodes().iter().enumerate() {
            let stands = tree.find(node.id) == Some(k as NodeId);
            if node.is_sidechain() || !stands || !matches!(node.kind, Kind::User | Kind::Assistant) {
                continue;
            }
            for version in KNOWN_CLIENTS {
                let client = Version::read(version);
                // A fork may do better than an origin that hangs its client.
                let Some(asked) = resume_at(&tree, &facts, &client, k as NodeId).filter(|r| r.halt.is_none()) else { continue };
                let way = required_entries(&tree, &facts, std::slice::from_ref(&client), k as NodeId);
                let (after, facts_after, _) = know(&forked(&file, &tree, &way, node.id, now));
                let found = simulate_resume(&after, &facts_after, &client);
                prop_assert_eq!(
                    (ids(&after, &found.path), found.halt), (ids(&tree, &asked.path), asked.halt),
                    "{} at L{}\n{}", version, node.place.line, String::from_utf8_lossy(&file)
                );
            }
        }
    }
}

#[test]
fn a_line_is_put_into_its_envelope_and_else_left_alone() {
    let envelope = Envelope {
        session: "new".to_owned(),
        origin: Some("old".to_owned()),
        folder: Some(("/garden".to_owned(), "/park".to_owned())),
    };
    let draft = Draft { envelope: Some(envelope), ..Draft::default() };
    let render = |line: &'static str| {
        String::from_utf8(draft.render(line.as_bytes(), &[]).into_owned()).expect("text")
    };
    assert_eq!(
        render(r#"{"uuid":"u1", "sessionId":"old","cwd":"/garden/shed","x":1.50}"#),
        r#"{"uuid":"u1", "sessionId":"new","cwd":"/park/shed","x":1.50,"forkedFrom":{"sessionId":"old","messageUuid":"u1"}}"#
    );
    assert_eq!(render(r#"{"cwd":"/gardens","type":"mode"}"#), r#"{"cwd":"/gardens","type":"mode"}"#);
    assert_eq!(render(r#"{"cwd":"/gar"#), r#"{"cwd":"/gar"#);
}

#[test]
fn a_line_written_again_refers_to_its_companions_by_their_new_names() {
    let mut names = UuidMap::default();
    names.add("a".to_owned(), "A".to_owned());
    names.add("b".to_owned(), "B".to_owned());
    let renamed = |line: &str| {
        let line = apply_edits(line.as_bytes(), &names.changes(line.as_bytes())).expect("it is an object");
        String::from_utf8(line).expect("text")
    };
    assert_eq!(
        renamed(r#"{"uuid":"b", "parentUuid":"a","sourceToolAssistantUUID":"a","message":{"id":"a"}}"#),
        r#"{"uuid":"B", "parentUuid":"A","sourceToolAssistantUUID":"A","message":{"id":"a"}}"#
    );
    assert_eq!(renamed(r#"{"uuid":"a","parentUuid":"gone"}"#), r#"{"uuid":"A","parentUuid":null}"#);
    assert_eq!(renamed(r#"{"uuid":"a","parentUuid":null}"#), r#"{"uuid":"A","parentUuid":null}"#);
    assert_eq!(
        renamed(
            r#"{"uuid":"b","compactMetadata":{"preservedMessages":{"anchorUuid":"b","uuids":["a","x"]}}}"#
        ),
        r#"{"uuid":"B","compactMetadata":{"preservedMessages":{"anchorUuid":"B","uuids":["A","x"]}}}"#
    );
}

#[test]
fn a_copy_takes_the_last_state_of_each_kind_and_the_backups_of_its_entries() {
    let file = script::bytes(
        "mode: plan\nu1: hello\n  a1: hi\nfile-history-snapshot ~u1: x\nmode: normal\nfile-history-snapshot ~u9: y\nqueue-operation: z",
    );
    let (_, _, states) = know(&file);
    let u1 = [Id::of(script::uuid_of("u1").as_bytes())].into_iter().collect();
    let lines = |places: Vec<LineSpan>| places.iter().map(|place| place.line).collect::<Vec<_>>();
    assert_eq!(lines(states.latest().collect()), [5]);
    assert_eq!(lines(states.backups(&u1).collect()), [4]);
}
