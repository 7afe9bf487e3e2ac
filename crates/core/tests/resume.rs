//! Tests of the resume simulation: every case of `resume/cases.txt` with the clients that were asked, and general
//! properties.

use std::collections::HashMap;

use rethread_core::entry::{self, BlockKind, Entry, EntryRole, Kind};
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{
    BlockOrigin, KNOWN_CLIENTS, LoadFailure, MessageRole, ResumeIndex, ResumeOutcome, SentBlock, SentContext,
    SkippedEntry, TrailingEntries, active_path_at, have_same_rules, list_rules, simulate_resume,
    simulate_resume_at, simulate_sent_context, simulate_sent_context_at,
};
use rethread_core::tree::{LineSpan, NodeId, Tree, TreeBuilder};
use rethread_core::version::Version;
use rethread_testkit::{check, random, script};

const CASES: &str = include_str!("resume/cases.txt");
/// The published client versions, oldest first.
const PUBLISHED: &str = include_str!("resume/published.txt");

/// A session file, and the messages that each range of client versions sent for it.
struct Case {
    name: &'static str,
    file: Vec<u8>,
    ranges: Vec<AnswerRange>,
}

/// Versions with the same answer. The first and the last of them were measured.
struct AnswerRange {
    first: Version,
    last: Version,
    answer: &'static str,
}

impl Case {
    /// Returns the ends of the ranges and the known clients, oldest first.
    fn versions(&self) -> Vec<Version> {
        let ends = self.ranges.iter().flat_map(|range| [range.first.clone(), range.last.clone()]);
        let mut versions: Vec<Version> =
            ends.chain(KNOWN_CLIENTS.iter().map(|known| Version::parse_lenient(known))).collect();
        versions.sort();
        versions.dedup();
        versions
    }

    fn answer_of(&self, version: &Version) -> &'static str {
        let range = self.ranges.iter().find(|range| range.first <= *version && *version <= range.last);
        range.unwrap_or_else(|| panic!("{} has an answer of {}", self.name, version.text)).answer
    }
}

fn load_cases() -> Vec<Case> {
    let texts = CASES.split("\n=== ").skip(1);
    let cases: Vec<Case> = texts.map(parse_case).collect();
    assert!(cases.len() > 110, "{} cases", cases.len());
    cases
}

fn parse_case(text: &'static str) -> Case {
    let mut parts = text.split("\n---\n");
    let name = parts.next().and_then(|head| head.lines().next()).expect("a case has a name");
    let file = parts.next().unwrap_or_else(|| panic!("{name} has a file")).replace("\\0", "\0");
    let parse_range = |line: &'static str| {
        let (versions, answer) = line.split_once(": ").expect("an answer has versions");
        let (first, last) = versions.split_once(' ').expect("versions are a range");
        AnswerRange { first: Version::parse_lenient(first), last: Version::parse_lenient(last), answer }
    };
    let answers = parts.next().unwrap_or_else(|| panic!("{name} has answers"));
    Case { name, file: script::bytes(&file), ranges: answers.trim().lines().map(parse_range).collect() }
}

/// The parsed file, and the texts of its blocks.
struct ParsedSession {
    tree: Tree,
    index: ResumeIndex,
    texts: HashMap<(NodeId, u16), String>,
}

fn parse_session(file: &[u8]) -> ParsedSession {
    let mut builder = TreeBuilder::default();
    let mut index = ResumeIndex::default();
    let mut texts = HashMap::new();
    let mut nodes: NodeId = 0;
    let mut problems = Vec::new();
    LineSplitter::default().feed(file, true, &mut problems, |line, problems| {
        entry::read_line(&line, problems, |entry, offset| {
            let span = LineSpan { offset, len: entry.raw.len() as u32, line: line.number };
            builder.add_entry(&entry, span);
            index.add_entry(&entry, span);
            if entry.uuid.is_some() {
                texts.extend(
                    block_texts(&entry).into_iter().enumerate().map(|(k, text)| ((nodes, k as u16), text)),
                );
                nodes += 1;
            }
        });
    });
    ParsedSession { tree: builder.finish(), index, texts }
}

/// Returns the text of each block.
fn block_texts(entry: &Entry<'_>) -> Vec<String> {
    let text = |text: entry::JsonStr<'_>| text.decode().trim().to_owned();
    if entry.kind == Kind::System {
        return vec![entry.content.map(|value| entry::value_text(value).into_owned()).unwrap_or_default()];
    }
    let Some(message) = &entry.message else {
        return Vec::new();
    };
    let call = |block: &entry::Block<'_>| block.id.map(text).unwrap_or_default().replace("toolu_", "");
    if message.content.blocks().is_empty() {
        return message.content.texts().map(text).collect();
    }
    let blocks = message.content.blocks().iter();
    blocks
        .map(|block| match block.kind {
            BlockKind::ToolUse => format!("USE {}", call(block)),
            BlockKind::ToolResult => format!("RES {}", call(block)),
            BlockKind::Thinking => format!("THINK {}", block.text.map(text).unwrap_or_default()),
            _ => block.text.map(text).unwrap_or_default(),
        })
        .collect()
}

/// Describes the sent blocks in the notation of the cases.
fn describe(session: &ParsedSession, resume: &ResumeOutcome) -> String {
    match resume.failure {
        Some(LoadFailure::Hangs) => return "hangs".into(),
        Some(LoadFailure::GivesUp) => return "gives up".into(),
        _ => {}
    }
    let describe_block = |block: &SentBlock| {
        let texts = match block.origin {
            BlockOrigin::Block(id, block_idx) => session.texts[&(id, block_idx)].clone(),
            BlockOrigin::Synthetic(_, Some(call)) => session.texts[&call].replace("USE", "RES"),
            BlockOrigin::Synthetic(block_kind, None) => block_kind.text().to_owned(),
        };
        let role = if block.role == MessageRole::User { 'u' } else { 'a' };
        format!("{role}:{}", texts.chars().take(60).collect::<String>())
    };
    let texts: Vec<String> = resume.sent.iter().map(describe_block).collect();
    if texts.is_empty() { "nothing".into() } else { texts.join(" | ") }
}

#[test]
fn every_case_matches_every_client() {
    let mut wrong = Vec::new();
    for case in load_cases() {
        let session = parse_session(&case.file);
        for version in case.versions() {
            let simulated = describe(&session, &simulate_resume(&session.tree, &session.index, &version));
            let sent = case.answer_of(&version);
            if simulated != sent {
                wrong.push(format!(
                    "{} in {}\n  sent {sent}\n  simulated {simulated}",
                    case.name, version.text
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_ranges_of_a_case_are_consecutive() {
    let published: Vec<&str> = PUBLISHED.split_whitespace().collect();
    let position = |version: &Version| {
        let position = published.iter().position(|published| *published == version.text);
        position.unwrap_or_else(|| panic!("{} was published", version.text))
    };
    for case in load_cases() {
        assert_eq!(case.ranges[0].first.text, KNOWN_CLIENTS[0], "{}", case.name);
        assert_eq!(case.ranges[case.ranges.len() - 1].last.text, KNOWN_CLIENTS[KNOWN_CLIENTS.len() - 1]);
        for pair in case.ranges.windows(2) {
            let (last, next) = (&pair[0].last, &pair[1].first);
            assert_eq!(position(last) + 1, position(next), "{}: {} {}", case.name, last.text, next.text);
            assert_ne!(pair[0].answer, pair[1].answer, "{}: {}", case.name, next.text);
        }
    }
}

#[test]
fn every_rule_change_is_shown_by_a_case() {
    let cases: HashMap<&str, Case> = load_cases().into_iter().map(|case| (case.name, case)).collect();
    for row in list_rules() {
        let cited: Vec<&Case> = row
            .cases
            .iter()
            .map(|name| cases.get(name).unwrap_or_else(|| panic!("`{}` cites `{name}`", row.name)))
            .collect();
        for since in &row.since[1..] {
            let is_known =
                KNOWN_CLIENTS.iter().any(|known| Version::parse_lenient(known).numbers() == *since);
            assert!(is_known, "`{}` changes at {since:?}, which is no known client", row.name);
            // The ranges of a case are consecutive, so the version before was measured too.
            let starts_here = |range: &AnswerRange| range.first.numbers() == *since;
            let shows_change = |case: &&Case| case.ranges[1..].iter().any(starts_here);
            assert!(cited.iter().any(shows_change), "no case of `{}` changes at {since:?}", row.name);
        }
    }
}

#[test]
fn properties_hold_for_every_case() {
    load_cases().iter().for_each(|case| check::resume(&case.file));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    #[test]
    fn properties_hold_for_any_session(records in random::records()) {
        check::resume(&script::write_records(&records));
    }

    #[test]
    fn properties_hold_for_damaged_files(file in random::damaged(random::file())) {
        check::resume(&file);
    }

    #[test]
    fn lines_outside_the_tree_do_not_change_the_path(records in random::records(), seed: u64) {
        // Titles, modes and snapshots may occur anywhere. Pointers and summaries refer to the tree.
        let is_outside = |record: &script::Record| {
            matches!(&record.kind, script::RecordKind::State(kind, _) if kind != "last-prompt" && kind != "summary")
        };
        let (outside, mut moved): (Vec<_>, Vec<_>) = records.clone().into_iter().partition(is_outside);
        for (idx, record) in outside.into_iter().enumerate() {
            let position = (seed.rotate_left(idx as u32) % (moved.len() as u64 + 1)) as usize;
            moved.insert(position, record);
        }
        let (before, after) = (parse_session(&script::write_records(&records)), parse_session(&script::write_records(&moved)));
        for version in KNOWN_CLIENTS {
            let version = Version::parse_lenient(version);
            let paths = [&before, &after].map(|session| simulate_resume(&session.tree, &session.index, &version).path);
            proptest::prop_assert_eq!(&paths[0], &paths[1]);
        }
    }

    #[test]
    fn sent_context_is_that_of_the_whole_outcome(file in random::file()) {
        let ParsedSession { tree, index, .. } = parse_session(&file);
        for client in KNOWN_CLIENTS.iter().map(|known| Version::parse_lenient(known)) {
            let outcome = simulate_resume(&tree, &index, &client);
            let context = simulate_sent_context(&tree, &index, &client);
            let tokens = outcome.estimate_tokens(&index);
            let is_attached = |id: &NodeId| !matches!(tree.node(*id).kind, Kind::User | Kind::Assistant)
                && !matches!(tree.node(*id).role, EntryRole::Structural | EntryRole::CompactBoundary);
            let attached = outcome.chain.iter().copied().filter(is_attached).collect();
            proptest::prop_assert_eq!(&context, &SentContext { path: outcome.path, attached, tokens });
            for leaf in 0..tree.nodes().len() as NodeId {
                let outcome = simulate_resume_at(&tree, &index, &client, leaf).filter(|outcome| outcome.failure.is_none());
                let chain = active_path_at(&tree, &index, &client, leaf, TrailingEntries::All);
                proptest::prop_assert_eq!(chain.as_ref(), outcome.as_ref().map(|outcome| &outcome.chain));
                let context = simulate_sent_context_at(&tree, &index, &client, leaf, TrailingEntries::All);
                let path = outcome.map(|outcome| outcome.path);
                proptest::prop_assert_eq!(context.map(|context| context.path), path);
            }
        }
    }

    #[test]
    fn clients_with_the_same_rules_load_the_same(file in random::file()) {
        let ParsedSession { tree, index, .. } = parse_session(&file);
        let clients: Vec<Version> = KNOWN_CLIENTS.iter().map(|known| Version::parse_lenient(known)).collect();
        for pair in clients.windows(2).filter(|pair| have_same_rules(&pair[0], &pair[1])) {
            let contexts = [&pair[0], &pair[1]].map(|client| simulate_sent_context(&tree, &index, client));
            proptest::prop_assert_eq!(&contexts[0], &contexts[1]);
        }
    }
}

/// Returns the reason of each skipped line of a script, and whether it is a loss.
fn list_skipped(text: &str) -> Vec<(u32, &'static str, bool)> {
    let session = parse_session(&script::bytes(text));
    let outcome = simulate_resume(&session.tree, &session.index, &Version::parse_lenient("2.1.325"));
    let describe = |skipped: &SkippedEntry| (skipped.line, skipped.reason.name(), skipped.reason.is_loss());
    outcome.skipped.iter().map(describe).collect()
}

#[test]
fn command_without_a_message_below_is_no_loss() {
    let command =
        "u2: <command-name>/cost</command-name>\n      u3: <local-command-stdout>1 $</local-command-stdout>";
    let text = format!("u1: dig\n  a1: ok\n    {command}\n    u4: more\n      a4: sure");
    assert_eq!(list_skipped(&text), [(3, "local-command", false), (4, "local-command", false)]);
    let text =
        format!("u1: dig\n  a1: ok\n    {command}\n        u5: and this\n    u4: more\n      a4: sure");
    let lines = [(3, "other-branch", true), (4, "other-branch", true), (5, "other-branch", true)];
    assert_eq!(list_skipped(&text), lines);
}

#[test]
fn message_without_a_uuid_is_lost() {
    let text = r#"
        u1: dig
          a1: ok
        raw: {"type":"user","message":{"role":"user","content":"more"}}
    "#;
    assert_eq!(list_skipped(text), [(3, "no-uuid", true)]);
}

#[test]
fn a_path_is_resumed_as_measured_around_every_change() {
    use rethread_core::resume::{PathResume, find_first_path_resume, predict_path_resume};
    let expected = [
        ("1.0.123", PathResume::Refused),
        ("1.0.124", PathResume::CopiedWithNewId),
        ("2.1.81", PathResume::CopiedWithNewId),
        ("2.1.83", PathResume::CopiedWithId),
        ("2.1.186", PathResume::CopiedWithId),
        ("2.1.187", PathResume::Appended),
        ("2.1.326", PathResume::Appended),
    ];
    for (client, behaviour) in expected {
        assert_eq!(predict_path_resume(&Version::parse_lenient(client)), behaviour, "{client}");
    }
    assert_eq!(find_first_path_resume(PathResume::Appended), "2.1.187");
}
