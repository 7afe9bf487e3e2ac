//! Tests of line edits and drafts: the requested bytes change, and no others.

use proptest::prelude::*;
use rethread_core::edit::{
    Draft, Envelope, JsonEdit, MarkerKind, PathSegment, ResumeMarker, SessionStateLines, UuidMap,
    apply_edits, required_entries,
};
use rethread_core::entry::{self, Kind, Timestamp};
use rethread_core::id::Id;
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{
    KNOWN_CLIENTS, ResumeIndex, TrailingEntries, simulate_resume, simulate_resume_at,
};
use rethread_core::tree::{LineSpan, Node, NodeId, Tree, TreeBuilder};
use rethread_core::version::Version;
use rethread_testkit::{random, script};
use serde_json::Value;

fn path(text: &str) -> Vec<PathSegment> {
    let segment = |segment: &str| {
        segment.parse::<usize>().map_or_else(|_| PathSegment::from(segment), PathSegment::from)
    };
    text.split('.').map(segment).collect()
}

/// Applies edits written as `path=json` or `path` (remove), and returns the edited line.
fn edit_line(line: &str, edits: &[&str]) -> String {
    let edit = |text: &&str| match text.split_once('=') {
        Some((target, json)) => JsonEdit::set(path(target), json),
        None => JsonEdit::remove(path(text)),
    };
    let edits: Vec<JsonEdit> = edits.iter().map(edit).collect();
    apply_edits(line.as_bytes(), &edits)
        .map_or_else(|| "refused".to_owned(), |line| String::from_utf8(line).expect("text stays text"))
}

#[test]
fn values_are_set_in_place() {
    assert_eq!(edit_line(r#"{ "a" : 1 , "b":[1, 2]}"#, &["a=\"x\""]), r#"{ "a" : "x" , "b":[1, 2]}"#);
    assert_eq!(edit_line(r#"{"a":{"b":{"c":null}}}"#, &["a.b.c=[]"]), r#"{"a":{"b":{"c":[]}}}"#);
    assert_eq!(edit_line(r#"{"b":[1, {"c":2}]}"#, &["b.1.c=3"]), r#"{"b":[1, {"c":3}]}"#);
    // Parsers use the last of two members with the same name.
    assert_eq!(edit_line(r#"{"a":1,"a":2}"#, &["a=3"]), r#"{"a":1,"a":3}"#);
    assert_eq!(edit_line(r#"{"\u0061":1}"#, &["a=3"]), r#"{"\u0061":3}"#);
}

#[test]
fn missing_values_are_added_at_the_end() {
    assert_eq!(edit_line(r#"{"a":1 }"#, &["b=2"]), r#"{"a":1,"b":2 }"#);
    assert_eq!(edit_line("{}", &["b=2"]), r#"{"b":2}"#);
    assert_eq!(edit_line(r#"{"a":[ ]}"#, &["a.0=1"]), r#"{"a":[1 ]}"#);
    assert_eq!(edit_line(r#"{"a":[1]}"#, &["a.1=2"]), r#"{"a":[1,2]}"#);
    assert_eq!(edit_line(r#"{"a":[1]}"#, &["a.2=2"]), "refused");
    assert_eq!(edit_line(r#"{"a":1}"#, &["a.b=2"]), "refused");
    assert_eq!(edit_line(r#"{"a":1}"#, &["b.c=2"]), "refused");
    assert_eq!(edit_line(r#"{"a":1"#, &["a=2"]), "refused");
    assert_eq!(edit_line("[1]", &["a=2"]), "refused");
}

#[test]
fn removal_includes_a_comma() {
    assert_eq!(edit_line(r#"{"a":1, "b":2, "c":3}"#, &["a"]), r#"{"b":2, "c":3}"#);
    assert_eq!(edit_line(r#"{"a":1, "b":2, "c":3}"#, &["b"]), r#"{"a":1, "c":3}"#);
    assert_eq!(edit_line(r#"{"a":1, "b":2, "c":3}"#, &["c"]), r#"{"a":1, "b":2}"#);
    assert_eq!(edit_line(r#"{"a":1}"#, &["a"]), "{}");
    assert_eq!(edit_line(r#"{"a":1,"b":0,"a":2}"#, &["a"]), r#"{"b":0}"#);
    assert_eq!(edit_line(r#"{"a":1,"a":2,"a":3}"#, &["a"]), "{}");
    assert_eq!(edit_line(r#"{"a":[1,2,3]}"#, &["a.2", "a.0"]), r#"{"a":[2]}"#);
    assert_eq!(edit_line(r#"{"a":1}"#, &["b", "c.d"]), r#"{"a":1}"#);
}

/// Applies an edit to the parsed value.
fn apply_to_value(value: &mut Value, edit: &JsonEdit) -> Option<()> {
    let (last, parents) = edit.path.split_last()?;
    let mut container = value;
    for segment in parents {
        let next = match (segment, container) {
            (PathSegment::Key(key), Value::Object(object)) => object.get_mut(key),
            (PathSegment::Index(item), Value::Array(list)) => list.get_mut(*item),
            (_, Value::Object(_) | Value::Array(_)) => None,
            _ => return None,
        };
        match next {
            Some(next) => container = next,
            None => return edit.value.is_none().then_some(()),
        }
    }
    let new_value =
        edit.value.as_deref().map(|json| serde_json::from_slice::<Value>(json).expect("valid JSON"));
    match (last, container, new_value) {
        (PathSegment::Key(key), Value::Object(object), Some(new_value)) => {
            object.insert(key.clone(), new_value);
        }
        (PathSegment::Key(key), Value::Object(object), None) => {
            object.shift_remove(key);
        }
        (PathSegment::Index(item), Value::Array(list), Some(new_value)) if *item < list.len() => {
            list[*item] = new_value;
        }
        (PathSegment::Index(item), Value::Array(list), Some(new_value)) if *item == list.len() => {
            list.push(new_value);
        }
        (PathSegment::Index(item), Value::Array(list), None) => {
            if *item < list.len() {
                list.remove(*item);
            }
        }
        _ => return None,
    }
    Some(())
}

/// Returns every path into a value.
fn list_paths(value: &Value) -> Vec<Vec<PathSegment>> {
    let mut paths = Vec::new();
    let mut stack = vec![(Vec::new(), value)];
    while let Some((path, value)) = stack.pop() {
        let mut push = |segment: PathSegment, value| {
            let path: Vec<PathSegment> = path.iter().cloned().chain([segment]).collect();
            paths.push(path.clone());
            stack.push((path, value));
        };
        match value {
            Value::Object(object) => {
                object.iter().for_each(|(key, value)| push(PathSegment::from(key.as_str()), value));
            }
            Value::Array(list) => {
                list.iter().enumerate().for_each(|(idx, value)| push(PathSegment::from(idx), value));
            }
            _ => {}
        }
    }
    paths
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    /// An empty list of edits changes nothing. Every other edit has the same effect as on the parsed value.
    #[test]
    fn edits_equal_edits_of_the_parsed_value(
        line in random::object(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), "[a-c]|\"[a-z]\"|[0-9]"), 0..4),
    ) {
        prop_assert_eq!(apply_edits(line.as_bytes(), &[]), Some(line.clone().into_bytes()));
        let Ok(mut value) = serde_json::from_str::<Value>(&line) else { return Ok(()) };
        let mut bytes = line.into_bytes();
        for (index, remove, new) in edits {
            let mut paths = list_paths(&value);
            paths.push(vec![PathSegment::from(new.as_str())]);
            let path = index.get(&paths).clone();
            let edit = if remove { JsonEdit::remove(path) } else { JsonEdit::set_string(path, &new) };
            let expected = apply_to_value(&mut value, &edit);
            let edited = apply_edits(&bytes, std::slice::from_ref(&edit));
            prop_assert_eq!(edited.is_some(), expected.is_some(), "{:?}", edit);
            let Some(edited) = edited else { return Ok(()) };
            let parsed: Value = serde_json::from_slice(&edited).expect("edited JSON is valid");
            prop_assert_eq!(&parsed, &value, "{:?}", edit);
            bytes = edited;
        }
    }

    #[test]
    fn edits_of_damaged_lines_do_not_panic(bytes in random::damaged(random::line().prop_map(String::into_bytes))) {
        let _ = apply_edits(&bytes, &[JsonEdit::remove(path("message.content.0")), JsonEdit::set_string(path("uuid"), "x")]);
    }
}

fn parse_session(file: &[u8]) -> (Tree, ResumeIndex, SessionStateLines) {
    let mut builder = TreeBuilder::default();
    let mut index = ResumeIndex::default();
    let mut states = SessionStateLines::default();
    LineSplitter::default().feed(file, true, &mut Vec::new(), |line, problems| {
        entry::read_line(&line, problems, |entry, offset| {
            let span = LineSpan { offset, len: entry.raw.len() as u32, line: line.number };
            builder.add_entry(&entry, span);
            index.add_entry(&entry, span);
            states.add_entry(&entry, span);
        });
    });
    (builder.finish(), index, states)
}

/// Appends the two lines that make clients resume from an entry.
fn append_marker(file: &[u8], leaf: Id, now: i64) -> Vec<u8> {
    let leaf = leaf.to_hyphenated();
    let marker = ResumeMarker {
        leaf: &leaf,
        uuid: "00000000-0000-4000-8000-00000000ffff",
        session: "00000000-0000-4000-8000-000000000001",
        time: Some(Timestamp(now)),
        text: "here",
        ..ResumeMarker::default()
    };
    [file, &marker.marker_line(), b"\n", &marker.leaf_pointer_line(), b"\n"].concat()
}

#[test]
fn marker_lines_match_the_client_format() {
    let marker = ResumeMarker {
        is_explicit: true,
        leaf: "L",
        uuid: "U",
        session: "S",
        time: Some(Timestamp(1_767_225_600_000)),
        text: "goes on \"here\"",
        prompt: Some("tidy\n the   shed"),
        cwd: Some("/garden"),
        version: Some("2.1.325"),
        git_branch: Some("main"),
        entrypoint: Some("cli"),
        ..ResumeMarker::default()
    };
    assert_eq!(
        String::from_utf8(marker.marker_line()).expect("text"),
        r#"{"parentUuid":"L","isSidechain":false,"type":"system","subtype":"informational","content":"goes on \"here\"","isMeta":false,"level":"info","timestamp":"2026-01-01T00:00:00.000Z","uuid":"U","userType":"external","entrypoint":"cli","cwd":"/garden","sessionId":"S","version":"2.1.325","gitBranch":"main"}"#
    );
    assert_eq!(
        String::from_utf8(marker.leaf_pointer_line()).expect("text"),
        r#"{"type":"last-prompt","lastPrompt":"tidy the shed","leafUuid":"U","explicit":true,"sessionId":"S"}"#
    );
    let message = ResumeMarker { kind: MarkerKind::Message, ..marker };
    assert_eq!(
        String::from_utf8(message.marker_line()).expect("text"),
        r#"{"parentUuid":"L","isSidechain":false,"type":"assistant","isApiErrorMessage":true,"message":{"id":"U","type":"message","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"goes on \"here\""}],"stop_reason":"stop_sequence","stop_sequence":"","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}},"timestamp":"2026-01-01T00:00:00.000Z","uuid":"U","userType":"external","entrypoint":"cli","cwd":"/garden","sessionId":"S","version":"2.1.325","gitBranch":"main"}"#
    );
    let long = ResumeMarker { prompt: Some(&"ä".repeat(300)), ..marker };
    let line: Value = serde_json::from_slice(&long.leaf_pointer_line()).expect("JSON");
    assert_eq!(line["lastPrompt"], "ä".repeat(200));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn clients_resume_from_a_marked_entry(records in random::records()) {
        let file = script::write_records(&records);
        let (tree, index, _) = parse_session(&file);
        // Old clients choose the newest timestamp, and never leave a first line without one.
        prop_assume!(tree.nodes().iter().all(|node| node.time().is_some()));
        let now = tree.nodes().iter().filter_map(Node::time).max().map_or(0, |time| time.0) + 1000;
        for (node_id, node) in tree.nodes().iter().enumerate() {
            let is_last = tree.find_uuid(node.uuid) == Some(node_id as u32);
            if node.is_sidechain() || !is_last || !matches!(node.kind, Kind::User | Kind::Assistant) {
                continue;
            }
            let (after, index_after, _) = parse_session(&append_marker(&file, node.uuid, now));
            for version in KNOWN_CLIENTS {
                let client = Version::parse_lenient(version);
                let Some(expected) = simulate_resume_at(&tree, &index, &client, node_id as u32) else { continue };
                let actual = simulate_resume(&after, &index_after, &client);
                prop_assert_eq!((&actual.path, actual.failure), (&expected.path, expected.failure), "{} at L{}\n{}", version, node.span.line, String::from_utf8_lossy(&file));
            }
        }
    }
}

/// Copies entries into a new session and marks `leaf`.
fn copy_entries(file: &[u8], tree: &Tree, entries: &[NodeId], leaf: Id, now: i64) -> Vec<u8> {
    let envelope = Envelope { session: "new".to_owned(), origin: Some("old".to_owned()), folder: None };
    let draft = Draft { envelope: Some(envelope), ..Draft::default() };
    let mut copy = Vec::new();
    for &node_id in entries {
        let span = tree.node(node_id).span;
        let start = span.offset as usize;
        copy.extend_from_slice(&draft.render_line(&file[start..start + span.len as usize], &[]));
        copy.push(b'\n');
    }
    append_marker(&copy, leaf, now)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fork_loads_the_same_entries_as_its_origin(records in random::records()) {
        let file = script::write_records(&records);
        let (tree, index, _) = parse_session(&file);
        // If lines contradict each other, the engine simulates the actual fork before it is written.
        if tree.nodes().iter().any(|node| node.time().is_none()) || !tree.problems.is_empty() {
            return Ok(());
        }
        let now = tree.nodes().iter().filter_map(Node::time).max().map_or(0, |time| time.0) + 1000;
        let ids = |tree: &Tree, path: &[NodeId]| path.iter().map(|&id| tree.node(id).uuid).collect::<Vec<_>>();
        for (node_id, node) in tree.nodes().iter().enumerate() {
            let is_last = tree.find_uuid(node.uuid) == Some(node_id as NodeId);
            if node.is_sidechain() || !is_last || !matches!(node.kind, Kind::User | Kind::Assistant) {
                continue;
            }
            for version in KNOWN_CLIENTS {
                let client = Version::parse_lenient(version);
                // A fork may be loadable although its origin never returns.
                let Some(expected) = simulate_resume_at(&tree, &index, &client, node_id as NodeId).filter(|outcome| outcome.failure.is_none()) else { continue };
                let entries = required_entries(&tree, &index, std::slice::from_ref(&client), node_id as NodeId, TrailingEntries::All);
                let (after, index_after, _) = parse_session(&copy_entries(&file, &tree, &entries, node.uuid, now));
                let actual = simulate_resume(&after, &index_after, &client);
                prop_assert_eq!(
                    (ids(&after, &actual.path), actual.failure), (ids(&tree, &expected.path), expected.failure),
                    "{} at L{}\n{}", version, node.span.line, String::from_utf8_lossy(&file)
                );
            }
        }
    }
}

#[test]
fn envelope_changes_only_its_fields() {
    let envelope = Envelope {
        session: "new".to_owned(),
        origin: Some("old".to_owned()),
        folder: Some(("/garden".to_owned(), "/park".to_owned())),
    };
    let draft = Draft { envelope: Some(envelope), ..Draft::default() };
    let render = |line: &'static str| {
        String::from_utf8(draft.render_line(line.as_bytes(), &[]).into_owned()).expect("text")
    };
    assert_eq!(
        render(r#"{"uuid":"u1", "sessionId":"old","cwd":"/garden/shed","x":1.50}"#),
        r#"{"uuid":"u1", "sessionId":"new","cwd":"/park/shed","x":1.50,"forkedFrom":{"sessionId":"old","messageUuid":"u1"}}"#
    );
    assert_eq!(render(r#"{"cwd":"/gardens","type":"mode"}"#), r#"{"cwd":"/gardens","type":"mode"}"#);
    assert_eq!(render(r#"{"cwd":"/gar"#), r#"{"cwd":"/gar"#);
}

#[test]
fn uuid_map_renames_all_references() {
    let mut uuids = UuidMap::default();
    uuids.insert_pair("a".to_owned(), "A".to_owned());
    uuids.insert_pair("b".to_owned(), "B".to_owned());
    let renamed = |line: &str| {
        let line = apply_edits(line.as_bytes(), &uuids.line_edits(line.as_bytes())).expect("a valid line");
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
fn session_state_is_the_last_line_of_each_kind_and_the_backups_of_entries() {
    let file = script::bytes(
        "mode: plan\nu1: hello\n  a1: hi\nfile-history-snapshot ~u1: x\nmode: normal\nfile-history-snapshot ~u9: y\nqueue-operation: z",
    );
    let (_, _, states) = parse_session(&file);
    let u1 = [Id::from_text(script::uuid_from_name("u1").as_bytes())].into_iter().collect();
    let lines = |spans: Vec<LineSpan>| spans.iter().map(|span| span.line).collect::<Vec<_>>();
    assert_eq!(lines(states.latest_lines().collect()), [5]);
    assert_eq!(lines(states.file_history_lines(&u1).collect()), [4]);
}

#[test]
fn only_a_chosen_entry_gets_an_explicit_pointer() {
    let pointer = |is_explicit| {
        let marker = ResumeMarker { is_explicit, ..ResumeMarker::default() };
        String::from_utf8(marker.leaf_pointer_line()).expect("text")
    };
    assert!(pointer(true).contains(r#""explicit":true,"#));
    assert!(!pointer(false).contains("explicit"));
}
