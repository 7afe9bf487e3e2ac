//! Tests of the resume simulation: every case of `resume/cases.txt` with every measured client, and general
//! properties.

use std::collections::{BTreeMap, HashMap};

use rethread_core::entry::{self, BlockKind, Entry, Kind};
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{
    BlockOrigin, KNOWN_CLIENTS, LoadFailure, MessageRole, ResumeIndex, ResumeOutcome, SentBlock, list_rules,
    simulate_resume,
};
use rethread_core::tree::{LineSpan, NodeId, Tree, TreeBuilder};
use rethread_core::version::Version;
use rethread_testkit::{check, random, script};

const CASES: &str = include_str!("resume/cases.txt");

/// A session file, and the messages that each client version sent for it.
struct Case {
    name: &'static str,
    file: Vec<u8>,
    answers: BTreeMap<usize, &'static str>,
}

fn load_cases() -> Vec<Case> {
    let texts = CASES.split("\n=== ").skip(1);
    let cases: Vec<Case> = texts.map(parse_case).collect();
    assert!(cases.len() > 90, "{} cases", cases.len());
    cases
}

fn parse_case(text: &'static str) -> Case {
    let mut parts = text.split("\n---\n");
    let name = parts.next().and_then(|head| head.lines().next()).expect("a case has a name");
    let file = parts.next().unwrap_or_else(|| panic!("{name} has a file")).replace("\\0", "\0");
    let mut answers = BTreeMap::new();
    for line in parts.next().unwrap_or_else(|| panic!("{name} has answers")).trim().lines() {
        let (range, answer) = line.split_once(": ").expect("an answer has versions");
        let (from, to) = range.split_once(' ').expect("versions are a range");
        let position =
            |version| KNOWN_CLIENTS.iter().position(|known| *known == version).expect("it was measured");
        answers.extend((position(from)..=position(to)).map(|version_idx| (version_idx, answer)));
    }
    assert_eq!(answers.len(), KNOWN_CLIENTS.len(), "{name} has an answer for every version");
    Case { name, file: script::bytes(&file), answers }
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
        for (version_idx, version) in KNOWN_CLIENTS.iter().enumerate() {
            let resume = simulate_resume(&session.tree, &session.index, &Version::parse_lenient(version));
            let simulated = describe(&session, &resume);
            if simulated != case.answers[&version_idx] {
                wrong.push(format!(
                    "{} in {version}\n  sent {}\n  simulated {simulated}",
                    case.name, case.answers[&version_idx]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
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
            let version_idx =
                KNOWN_CLIENTS.iter().position(|version| Version::parse_lenient(version).is_at_least(*since));
            let version_idx = version_idx.expect("a rule changes at or before a measured version");
            let shows_change = |case: &&Case| case.answers[&version_idx] != case.answers[&(version_idx - 1)];
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
}
