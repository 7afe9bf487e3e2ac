//! Compares a session that is read page by page with the same session read as a whole.

#![expect(clippy::disallowed_methods, reason = "the tests write session files of their own")]

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use rethread_engine::core::turn::{Turn, TurnPart};
use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops;
use rethread_engine::ops::read::{BranchSelector, BranchView, ForkSwitch, SessionView, TurnSlice};
use rethread_engine::ops::show::ShowRequest;
use rethread_testkit::{random, real, script};

fn open_view(path: &Path) -> SessionView {
    ops::read::open_view(path, &PriceTable::built_in()).expect("a session can be opened")
}

fn read_slices(view: &SessionView, branch: &BranchView) -> Vec<TurnSlice> {
    (0..branch.page_count())
        .flat_map(|page| view.read_page(branch, page).expect("a page can be read"))
        .collect()
}

fn line_numbers(slices: &[TurnSlice]) -> Vec<u32> {
    slices.iter().flat_map(|slice| slice.lines.iter().map(|line| line.number)).collect()
}

/// Returns the texts of a turn, and its calls with their results.
fn part_texts(turn: &Turn) -> Vec<String> {
    turn.parts.iter().map(|piece| part_text(&piece.part)).collect()
}

fn part_text(part: &TurnPart) -> String {
    match part {
        TurnPart::Tool(call) => format!("{} {:?}", call.id, call.result.as_ref().map(|result| &result.text)),
        part => part.text().unwrap_or_default().to_owned(),
    }
}

/// Returns the set of texts, and of calls by id.
fn to_set(texts: &[String]) -> BTreeSet<&str> {
    texts
        .iter()
        .map(
            |text| if text.starts_with("toolu_") { text.split(' ').next().unwrap_or_default() } else { text },
        )
        .collect()
}

/// Checks all invariants of a session view. Returns the number of pages. Pass `exact = false` for files that no client
/// writes: a response may be repeated after a page break there.
fn check_session(path: &Path, exact: bool) -> usize {
    let view = open_view(path);
    let all_turns = view.branch_view(&BranchSelector::AllTurns).expect("a branch");
    let slices = read_slices(&view, &all_turns);
    let session = ops::show::show_session(&ShowRequest {
        path: path.to_owned(),
        branch: BranchSelector::AllTurns,
        ..ShowRequest::default()
    })
    .expect("the session can be shown");
    let mut turns = Vec::new();
    for turn in session {
        turns.push(turn.expect("a turn can be read"));
    }
    let whole_lines: Vec<u32> =
        turns.iter().flat_map(|turn| turn.lines.iter().map(|line| line.number)).collect();
    assert_eq!(line_numbers(&slices), whole_lines, "the same lines in the same order");
    let started_turns: Vec<Option<u32>> =
        slices.iter().filter(|slice| slice.starts_turn).map(|slice| slice.number).collect();
    assert_eq!(
        started_turns,
        turns.iter().map(|turn| turn.number).collect::<Vec<_>>(),
        "each turn starts once"
    );
    assert_eq!(slices.iter().filter(|slice| slice.ends_turn).count(), turns.len(), "each turn ends once");
    let read_texts: Vec<String> = slices.iter().flat_map(|slice| part_texts(&slice.turn)).collect();
    let whole_texts: Vec<String> = turns.iter().flat_map(|turn| part_texts(&turn.turn)).collect();
    if exact {
        assert_eq!(read_texts, whole_texts, "the same texts");
    }
    assert_eq!(to_set(&read_texts), to_set(&whole_texts), "no text is missing or extra");
    let mut branch_turns = BTreeSet::new();
    let mut branches = vec![view.branch_view(&BranchSelector::Active).expect("a branch")];
    for branch in &view.branches.list {
        let name = BranchSelector::Through(view.session.entry_handle(branch.tip));
        branches.push(view.branch_view(&name).expect("a tip names its branch"));
    }
    for branch in &branches {
        let slices = read_slices(&view, branch);
        let numbers = line_numbers(&slices);
        let nodes: Vec<(u32, Option<String>)> =
            slices.iter().map(|slice| (slice.lines[0].number, slice.uuid.clone())).collect();
        assert_eq!(nodes.len(), nodes.iter().collect::<BTreeSet<_>>().len(), "no slice twice: {numbers:?}");
        branch_turns.extend(slices.iter().filter(|slice| slice.starts_turn).filter_map(|slice| slice.number));
        let by_line = view.pages_by_line(branch);
        for turn in &branch.turns {
            assert_eq!(by_line.get(&turn.line), Some(&turn.page), "a turn is on the page where it starts");
        }
        check_forks(&view, branch, &slices);
    }
    check_forks(&view, &all_turns, &slices);
    // A summary may replace turns that are on no branch, but some turns are always shown.
    let all: BTreeSet<u32> = turns.iter().filter_map(|turn| turn.number).collect();
    assert!(branch_turns.is_subset(&all));
    assert!(all.is_empty() || branches[0].turn_count() > 0, "the active branch has turns if there are any");
    all_turns.page_count()
}

/// Checks that every fork of a branch has a switch and is on the map, and that both name existing branches.
fn check_forks(view: &SessionView, branch: &BranchView, slices: &[TurnSlice]) {
    let forks: Vec<ForkSwitch> = slices.iter().flat_map(|slice| slice.forks.clone()).collect();
    let map = view.build_map(branch, usize::MAX).expect("a map can be built");
    assert_eq!(
        map.iter().map(|entry| entry.turn_idx).collect::<Vec<_>>(),
        (0..branch.turns.len()).collect::<Vec<_>>()
    );
    let branch_count =
        map.iter().map(|entry| entry.before.len() + entry.within.len() + entry.more_count).sum::<usize>();
    assert_eq!(
        branch_count,
        forks.iter().map(|fork| fork.branch_count - 1).sum::<usize>(),
        "every branch is counted"
    );
    for map_branch in map.iter().flat_map(|entry| entry.before.iter().chain(&entry.within)) {
        let target = view
            .branch_view(&BranchSelector::Through(map_branch.branch.tip.clone()))
            .expect("a map branch names a branch");
        assert!(view.pages_by_line(&target).contains_key(&map_branch.branch.line), "{map_branch:?}");
    }
    for fork in forks {
        assert!((1..=fork.branch_count).contains(&fork.position) && fork.branch_count > 1, "{fork:?}");
        assert_eq!(fork.previous.is_some(), fork.position > 1, "{fork:?}");
        assert_eq!(fork.next.is_some(), fork.position < fork.branch_count, "{fork:?}");
        for sibling in fork.previous.iter().chain(&fork.next) {
            let target = view
                .branch_view(&BranchSelector::Through(sibling.tip.clone()))
                .expect("a fork switch names a branch");
            assert!(view.pages_by_line(&target).contains_key(&sibling.line), "{sibling:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn pages_contain_every_entry_once(records in random::records()) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("11111111-2222-4333-8444-555555555555.jsonl");
        std::fs::write(&path, script::write_records(&records)).expect("the file can be written");
        check_session(&path, false);
    }
}

#[test]
fn pages_of_real_sessions_contain_every_entry_once() {
    let find_sessions = |variable| real::find_sessions("pages of real sessions", variable);
    let files: Vec<_> = ["RETHREAD_GOLDEN", "RETHREAD_CORPUS"].into_iter().flat_map(find_sessions).collect();
    let pages: usize = files.iter().map(|path| check_session(path, true)).sum();
    assert!(files.is_empty() || pages > files.len(), "some sessions have more than one page");
}

#[test]
fn long_turn_is_paginated_without_separating_calls_from_results() {
    let mut text = String::from("u0: go\n");
    for idx in 1..=200 {
        let indent = "  ".repeat(2 * idx - 1);
        text.push_str(&format!("{indent}a{idx}: !Bash step {idx}\n{indent}  u{idx}: =a{idx} done {idx}\n"));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("11111111-2222-4333-8444-555555555555.jsonl");
    std::fs::write(&path, script::bytes(&text)).unwrap();
    assert!(check_session(&path, true) > 5, "one turn on several pages");
    let view = open_view(&path);
    let slices = read_slices(&view, &view.branch_view(&BranchSelector::Active).unwrap());
    let calls = slices.iter().flat_map(|slice| &slice.turn.parts);
    let answered = calls.filter(|piece| matches!(&piece.part, TurnPart::Tool(call) if call.result.is_some()));
    assert_eq!(answered.count(), 200);
    assert_eq!(slices.iter().filter(|slice| slice.number == Some(1)).count(), slices.len());
}

/// Writes a script to a session file.
fn write_script(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("11111111-2222-4333-8444-555555555555.jsonl");
    std::fs::write(&path, script::bytes(text)).expect("the file can be written");
    (folder, path)
}

/// Writes lines that are each the child of the line before. A script would need indentation for every level.
fn write_chain(lines: impl Iterator<Item = serde_json::Value>) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("11111111-2222-4333-8444-555555555555.jsonl");
    let uuid = |idx: usize| format!("00000000-0000-4000-8000-{idx:012}");
    let mut text = String::new();
    for (idx, mut line) in lines.enumerate() {
        line["uuid"] = uuid(idx).into();
        if line.get("parentUuid").is_none() {
            line["parentUuid"] = idx.checked_sub(1).map(uuid).into();
        }
        text.push_str(&format!("{line}\n"));
    }
    std::fs::write(&path, text).expect("the file can be written");
    (folder, path)
}

fn prompt(text: &str) -> serde_json::Value {
    serde_json::json!({"type": "user", "message": {"role": "user", "content": text}})
}

fn answer(idx: usize) -> serde_json::Value {
    let content = serde_json::json!([{"type": "text", "text": format!("answer {idx}")}]);
    serde_json::json!({"type": "assistant", "message": {"id": format!("m{idx}"), "role": "assistant", "content": content}})
}

#[test]
fn page_size_is_limited() {
    let notification = |idx: usize| prompt(&format!("<task-notification>task {idx}</task-notification>"));
    let output = |idx: usize| prompt(&format!("<local-command-stdout>line {idx}</local-command-stdout>"));
    let meta = |idx: usize| {
        let mut line = prompt(&format!("hint {idx}"));
        line["isMeta"] = true.into();
        line
    };
    let result = |_: usize| serde_json::json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}]}});
    let attachment =
        |idx: usize| serde_json::json!({"type": "attachment", "attachment": {"type": "hook", "idx": idx}});
    type LineBuilder<'a> = &'a dyn Fn(usize) -> serde_json::Value;
    let kinds: [(&str, LineBuilder<'_>, usize); 5] = [
        ("answers", &answer, 20),
        ("notifications", &notification, 20),
        ("outputs", &output, 20),
        ("meta lines", &meta, 200),
        ("results", &result, 200),
    ];
    for (name, build, max_entries) in kinds {
        let (_folder, path) = write_chain(std::iter::once(prompt("go")).chain((0..3000).map(build)));
        check_session(&path, name != "results");
        let view = open_view(&path);
        let branch = view.branch_view(&BranchSelector::Active).unwrap();
        assert_eq!(branch.turn_count(), 1, "{name}");
        assert_eq!(branch.page_lengths().max(), Some(max_entries), "{name}");
    }
    // Entries that are not rendered do not separate a call from its result.
    let call = serde_json::json!({"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}]}});
    let lines =
        [prompt("go"), call].into_iter().chain((0..3000).map(attachment)).chain([result(0), answer(1)]);
    let (_folder, path) = write_chain(lines);
    check_session(&path, true);
}

#[test]
fn every_fork_is_shown_on_each_of_its_branches() {
    let shown_forks = |text: &str, tip: BranchSelector| {
        let (_folder, path) = write_script(text);
        check_session(&path, true);
        let view = open_view(&path);
        let slices = read_slices(&view, &view.branch_view(&tip).unwrap());
        let fork_positions = |slice: &TurnSlice| {
            let lines: Vec<u32> = slice.lines.iter().map(|line| line.number).collect();
            slice
                .forks
                .iter()
                .map(move |fork| (lines.clone(), fork.position, fork.branch_count))
                .collect::<Vec<_>>()
        };
        slices.iter().flat_map(fork_positions).collect::<Vec<_>>()
    };
    let line = |idx: u32| BranchSelector::Through(format!("L{idx}"));
    // The older branch starts with a result, which belongs to the call before the fork.
    let result_first = "u1: go\n  a1: first\n    a2: !Bash ls\n      u3: =a2 done\n        a3: so\n      u4: rather not\n        a4: fine\n";
    assert_eq!(shown_forks(result_first, line(5)), [(vec![3, 4, 5], 1, 2)]);
    assert_eq!(shown_forks(result_first, line(7)), [(vec![6, 7], 2, 2)]);
    // Each branch starts with a structural entry that belongs to the turn before.
    let structural_first = "u1: go\n  a1: first\n    s1: hook ran\n      u2: this\n        a2: yes\n    s2: hook ran\n      u3: that\n        a3: no\n";
    assert_eq!(shown_forks(structural_first, line(5)), [(vec![4, 5], 1, 2)]);
    assert_eq!(shown_forks(structural_first, line(8)), [(vec![7, 8], 2, 2)]);
}

#[test]
fn map_of_many_forks_is_complete() {
    // Twenty thousand branches from one node, and a fork at every fourth line of a long chain.
    let wide = (0..20_000).map(|idx| match idx {
        0 => prompt("go"),
        1 => answer(1),
        _ => {
            let mut line = prompt("another");
            line["parentUuid"] = format!("00000000-0000-4000-8000-{:012}", 1).into();
            line
        }
    });
    let long = (0..40_000usize).map(|idx| {
        let mut line = if idx % 2 == 0 { prompt(&format!("prompt {idx}")) } else { answer(idx) };
        if idx % 4 == 0 && idx > 4 {
            line["parentUuid"] = format!("00000000-0000-4000-8000-{:012}", idx - 3).into();
        }
        line
    });
    for (_folder, path) in [write_chain(wide), write_chain(long)] {
        let view = open_view(&path);
        let all_turns = view.branch_view(&BranchSelector::AllTurns).unwrap();
        let map = view.build_map(&all_turns, 2_000).unwrap();
        let branch_count =
            map.iter().map(|entry| entry.before.len() + entry.within.len() + entry.more_count).sum::<usize>();
        assert!(map.len() >= 1_900 && branch_count >= 1_900, "{} {branch_count}", map.len());
    }
}

#[test]
fn inline_subagent_has_its_own_turns() {
    let text = "u1: go\n  a1: !Task look\n    u2: =a1 found\n      a2: so\nu5 side: look\n  a5 side: !Bash ls\n    u6 side: =a5 x\n      a6 side: found\nu7 side: another\n  a7 side: yes\n";
    let (_folder, path) = write_script(text);
    let view = open_view(&path);
    for name in ["L5", "L7"] {
        let branch = view.branch_view(&BranchSelector::Sidechain(name.to_owned())).unwrap();
        let slices = read_slices(&view, &branch);
        assert_eq!(line_numbers(&slices), [5, 6, 7, 8], "{name}");
        assert_eq!((slices[0].number, branch.turn_count()), (Some(1), 1), "it has its own turn numbers");
        assert_eq!(view.page_of_entry(&branch, "t1"), Some(0));
    }
    assert_eq!(
        line_numbers(&read_slices(
            &view,
            &view.branch_view(&BranchSelector::Sidechain("L9".to_owned())).unwrap()
        )),
        [9, 10]
    );
    assert!(
        view.branch_view(&BranchSelector::Sidechain("L2".to_owned())).is_err(),
        "L2 is not part of a subagent"
    );
}

#[test]
fn command_after_an_empty_response_belongs_to_its_turn() {
    let mut empty_response = answer(1);
    empty_response["message"]["content"] = serde_json::json!([]);
    let command = prompt("<command-name>/clear</command-name>");
    let read_texts = |lines: Vec<serde_json::Value>| {
        let (_folder, path) = write_chain(lines.into_iter());
        check_session(&path, true);
        let view = open_view(&path);
        let slices = read_slices(&view, &view.branch_view(&BranchSelector::AllTurns).unwrap());
        slices.iter().flat_map(|slice| part_texts(&slice.turn)).collect::<Vec<_>>()
    };
    let full_page = std::iter::once(prompt("go")).chain((1..20).map(answer));
    let texts = read_texts(full_page.chain([empty_response.clone(), command.clone()]).collect());
    assert_eq!(texts.last().map(String::as_str), Some("/clear"));
    assert_eq!(read_texts(vec![empty_response, command]), ["/clear"]);
}

#[test]
fn fork_switch_names_the_first_message_even_before_its_parent_in_the_file() {
    let uuid = |idx: usize| serde_json::Value::from(format!("00000000-0000-4000-8000-{idx:012}"));
    let attachment = || serde_json::json!({"type": "attachment", "attachment": {"type": "hook"}});
    let with_parent = |mut line: serde_json::Value, parent: serde_json::Value| {
        line["parentUuid"] = parent;
        line
    };
    let lines = [
        prompt("go"),
        answer(1),
        with_parent(prompt("this"), uuid(3)),
        with_parent(attachment(), uuid(1)),
        with_parent(prompt("that"), uuid(1)),
        answer(5),
    ];
    let (_folder, path) = write_chain(lines.into_iter());
    check_session(&path, true);
    let view = open_view(&path);
    let slices = read_slices(&view, &view.branch_view(&BranchSelector::Active).unwrap());
    let fork = slices.iter().flat_map(|slice| &slice.forks).next().unwrap();
    let previous = fork.previous.as_ref().unwrap();
    assert_eq!((previous.line, previous.tip.as_str()), (3, "L3"));
}

#[test]
fn line_outside_the_conversation_is_on_the_page_before_it() {
    let queued =
        serde_json::json!({"type": "queue-operation", "operation": "enqueue", "content": "and then"});
    let lines = [queued.clone(), prompt("go")].into_iter().chain((0..60).map(answer)).chain([queued]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("11111111-2222-4333-8444-555555555555.jsonl");
    let mut parent = serde_json::Value::Null;
    let mut text = String::new();
    for (idx, mut line) in lines.enumerate() {
        if line["type"] != "queue-operation" {
            line["parentUuid"] = parent;
            line["uuid"] = format!("00000000-0000-4000-8000-{idx:012}").into();
            parent = line["uuid"].clone();
        }
        text.push_str(&format!("{line}\n"));
    }
    std::fs::write(&path, text).unwrap();
    let view = open_view(&path);
    let branch = view.branch_view(&BranchSelector::Active).unwrap();
    let cases = [
        ("L1", Some(0)),
        ("L62", Some(branch.page_count() - 1)),
        ("L63", Some(branch.page_count() - 1)),
        ("L64", None),
    ];
    for (name, page) in cases {
        assert_eq!(view.page_of_entry(&branch, name), page, "{name}");
    }
    assert!(branch.page_count() > 2);
}
