//! What clients load: every case of `resume/cases.txt` with every measured version, and the laws of any path.

use std::collections::{BTreeMap, HashMap};

use rethread_core::entry::{self, BlockKind, Entry, Kind};
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{
    BlockOrigin, KNOWN_CLIENTS, LoadFailure, MessageRole, ResumeIndex, ResumeOutcome, SentBlock, rows,
    simulate_resume,
};
use rethread_core::tree::{LineSpan, NodeId, Tree, TreeBuilder};
use rethread_core::version::Version;
use rethread_testkit::{check, random, script};

const CASES: &str = include_str!("resume/cases.txt");

/// A question to the client, and what each version answered.
struct Case {
    name: &'static str,
    file: Vec<u8>,
    answers: BTreeMap<usize, &'static str>,
}

fn cases() -> Vec<Case> {
    let texts = CASES.split("\n=== ").skip(1);
    let found: Vec<Case> = texts.map(case).collect();
    assert!(found.len() > 90, "{} cases", found.len());
    found
}

fn case(text: &'static str) -> Case {
    let mut parts = text.split("\n---\n");
    let name = parts.next().and_then(|head| head.lines().next()).expect("a case has a name");
    let file = parts.next().unwrap_or_else(|| panic!("{name} has a file")).replace("\\0", "\0");
    let mut answers = BTreeMap::new();
    for line in parts.next().unwrap_or_else(|| panic!("{name} has answers")).trim().lines() {
        let (range, answer) = line.split_once(": ").expect("an answer has versions");
        let (from, to) = range.split_once(' ').expect("versions are a range");
        let place =
            |version| KNOWN_CLIENTS.iter().position(|known| *known == version).expect("it was measured");
        answers.extend((place(from)..=place(to)).map(|k| (k, answer)));
    }
    assert_eq!(answers.len(), KNOWN_CLIENTS.len(), "{name} has an answer for every version");
    Case { name, file: script::bytes(&file), answers }
}

/// What the rooms know of a file, and the words of its blocks.
struct Known {
    tree: Tree,
    facts: ResumeIndex,
    words: HashMap<(NodeId, u16), String>,
}

fn know(file: &[u8]) -> Known {
    let mut weaver = TreeBuilder::default();
    let mut facts = ResumeIndex::default();
    let mut words = HashMap::new();
    let mut nodes: NodeId = 0;
    let mut problems = Vec::new();
    LineSplitter::default().feed(file, true, &mut problems, |line, problems| {
        entry::read(&line, problems, |entry, offset| {
            let place = LineSpan { offset, len: entry.raw.len() as u32, line: line.no };
            weaver.add(&entry, place);
            facts.add(&entry, place);
            if entry.uuid.is_some() {
                words.extend(said(&entry).into_iter().enumerate().map(|(k, said)| ((nodes, k as u16), said)));
                nodes += 1;
            }
        });
    });
    Known { tree: weaver.finish(), facts, words }
}

/// Returns the words of each block.
fn said(entry: &Entry<'_>) -> Vec<String> {
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
            BlockKind::Thinking => format!("THINK {}", block.words.map(text).unwrap_or_default()),
            _ => block.words.map(text).unwrap_or_default(),
        })
        .collect()
}

/// Writes what is sent as the cases write it.
fn told(known: &Known, resume: &ResumeOutcome) -> String {
    match resume.halt {
        Some(LoadFailure::Hangs) => return "hangs".into(),
        Some(LoadFailure::GivesUp) => return "gives up".into(),
        _ => {}
    }
    let word = |block: &SentBlock| {
        let words = match block.said {
            BlockOrigin::Block(no, k) => known.words[&(no, k)].clone(),
            BlockOrigin::MadeUp(_, Some(call)) => known.words[&call].replace("USE", "RES"),
            BlockOrigin::MadeUp(what, None) => what.text().to_owned(),
        };
        let side = if block.side == MessageRole::User { 'u' } else { 'a' };
        format!("{side}:{}", words.chars().take(60).collect::<String>())
    };
    let words: Vec<String> = resume.sent.iter().map(word).collect();
    if words.is_empty() { "nothing".into() } else { words.join(" | ") }
}

#[test]
fn every_case_is_answered_as_every_client_did() {
    let mut wrong = Vec::new();
    for case in cases() {
        let known = know(&case.file);
        for (k, version) in KNOWN_CLIENTS.iter().enumerate() {
            let resume = simulate_resume(&known.tree, &known.facts, &Version::read(version));
            let ours = told(&known, &resume);
            if ours != case.answers[&k] {
                wrong.push(format!("{} in {version}\n  sent {}\n  ours {ours}", case.name, case.answers[&k]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_row_of_the_table_is_shown_by_its_cases() {
    let cases: HashMap<&str, Case> = cases().into_iter().map(|case| (case.name, case)).collect();
    for row in rows() {
        let cited: Vec<&Case> = row
            .cases
            .iter()
            .map(|name| cases.get(name).unwrap_or_else(|| panic!("`{}` cites `{name}`", row.name)))
            .collect();
        for since in &row.since[1..] {
            let new = KNOWN_CLIENTS.iter().position(|version| Version::read(version).is_since(*since));
            let new = new.expect("a rule changes at or before a measured version");
            let shows = |case: &&Case| case.answers[&new] != case.answers[&(new - 1)];
            assert!(cited.iter().any(shows), "no case of `{}` changes at {since:?}", row.name);
        }
    }
}

#[test]
fn the_laws_hold_for_every_case() {
    cases().iter().for_each(|case| check::resume(&case.file));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    #[test]
    fn the_laws_hold_for_any_session(records in random::records()) {
        check::resume(&script::file(&records));
    }

    #[test]
    fn the_laws_hold_for_damaged_files(file in random::damaged(random::file())) {
        check::resume(&file);
    }

    #[test]
    fn lines_without_a_place_in_the_tree_move_nothing(records in random::records(), seed: u64) {
        // Titles, modes and snapshots may stand anywhere; pins and summaries speak of the tree.
        let is_loose = |record: &script::Record| {
            matches!(&record.role, script::Role::State(kind, _) if kind != "last-prompt" && kind != "summary")
        };
        let (loose, mut fixed): (Vec<_>, Vec<_>) = records.clone().into_iter().partition(is_loose);
        for (k, record) in loose.into_iter().enumerate() {
            let place = (seed.rotate_left(k as u32) % (fixed.len() as u64 + 1)) as usize;
            fixed.insert(place, record);
        }
        let (before, after) = (know(&script::file(&records)), know(&script::file(&fixed)));
        for version in KNOWN_CLIENTS {
            let version = Version::read(version);
            let paths = [&before, &after].map(|known| simulate_resume(&known.tree, &known.facts, &version).path);
            proptest::prop_assert_eq!(&paths[0], &paths[1]);
        }
    }
}
