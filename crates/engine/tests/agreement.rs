//! All operations agree on the active path, the resume point, turns, titles, sizes and durations, before and after a goto.

#![expect(clippy::disallowed_methods, reason = "the tests write session files of their own")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use rethread_engine::core::entry::{EntryRole, Timestamp};
use rethread_engine::core::resume::SkipReason;
use rethread_engine::core::session::SessionInfo;
use rethread_engine::core::tree::{ForkKind, PathRelation};
use rethread_engine::core::usage::PriceTable;
use rethread_engine::core::version::Version;
use rethread_engine::ops;
use rethread_engine::ops::EntrySelector;
use rethread_engine::ops::diff::BranchSpec;
use rethread_engine::ops::explain::{ClientSelector, ExplainRequest, Explanation};
use rethread_engine::ops::goto::{GotoOutcome, GotoRequest};
use rethread_engine::ops::list::{SessionFilter, SessionRow};
use rethread_engine::ops::read::{BranchSelector, SessionView};
use rethread_engine::ops::show::{ShowRequest, ShownTurn};
use rethread_engine::ops::tree::TreeRequest;
use rethread_engine::{Error, Roots, SessionWriter};
use rethread_testkit::spending::Rng;
use rethread_testkit::{random, real, script};
use tempfile::TempDir;

/// A turn as an operation reports it: relation, start and end.
type TurnFacts = (PathRelation, Option<Timestamp>, Option<Timestamp>);

/// What all operations agree on, as far as a goto must not change it.
#[derive(Debug, PartialEq)]
struct Invariants {
    turns: usize,
    title: String,
    first_time: Option<Timestamp>,
    last_time: Option<Timestamp>,
    git_branch: Option<String>,
    fork_kinds: Vec<ForkKind>,
}

/// A copy of a session in a temporary store.
struct SessionCopy {
    folder: TempDir,
    path: PathBuf,
}

impl SessionCopy {
    fn new(bytes: &[u8], name: &str) -> SessionCopy {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("projects/-home-ada-shed").join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be created");
        std::fs::write(&path, bytes).expect("a file can be written");
        SessionCopy { folder, path }
    }

    fn goto(&self, name: &str) -> Result<GotoOutcome, Error> {
        let request = GotoRequest {
            path: self.path.clone(),
            at: EntrySelector { name: name.to_owned(), exact: true, ..EntrySelector::default() },
            now: Timestamp(4_000_000_000_000),
            even_if_live: true,
            ..GotoRequest::default()
        };
        let writer = SessionWriter::new(self.folder.path().join("state"));
        ops::goto::goto(&request, &writer)
    }
}

fn list_row(path: &Path) -> SessionRow {
    let roots = Roots::new(vec![path.to_owned()]);
    let list =
        ops::list::list_sessions(&roots, &SessionFilter { all: true, ..SessionFilter::default() }, None);
    list.rows.into_iter().next().expect("the session is listed")
}

fn show_turns(path: &Path, branch: BranchSelector) -> Vec<ShownTurn> {
    let request = ShowRequest { path: path.to_owned(), branch, ..ShowRequest::default() };
    let session = ops::show::show_session(&request).expect("a session can be shown");
    session.map(|turn| turn.expect("a turn can be read")).collect()
}

fn facts_by_number(turns: &[ShownTurn]) -> BTreeMap<u32, TurnFacts> {
    let numbered = turns.iter().filter_map(|turn| Some((turn.number?, turn)));
    numbered
        .map(|(number, turn)| (number, (turn.relation, turn.turn.started_at, turn.turn.ended_at)))
        .collect()
}

/// Checks that the pages of a branch have the turns that `show` prints.
fn check_view(view: &SessionView, path: &Path, selector: &BranchSelector) -> BTreeMap<u32, TurnFacts> {
    let shown = show_turns(path, selector.clone());
    let branch = view.branch_view(selector).expect("a branch");
    let numbers = |turns: &[ShownTurn]| turns.iter().map(|turn| turn.number).collect::<Vec<_>>();
    let paged: Vec<Option<u32>> = branch.turns.iter().map(|turn| turn.number).collect();
    assert_eq!(paged, numbers(&shown), "pages and show have the same turns in the same order");
    let facts = facts_by_number(&shown);
    for turn in &branch.turns {
        if let Some(number) = turn.number {
            assert_eq!((turn.relation, turn.started_at, turn.ended_at), facts[&number], "t{number}");
        }
    }
    let mut seen = paged.into_iter().flatten().collect::<Vec<_>>();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), branch.turn_count(), "no turn is shown twice");
    assert_eq!(branch.scope.selected, branch.turn_count());
    let map = view.build_map(&branch, 10_000).expect("a map");
    assert_eq!(map.len(), branch.turns.len(), "the map has every turn");
    facts
}

/// Checks the relations of the turns against the prediction of `explain`.
fn check_explain(explanation: &Explanation, relations: &BTreeMap<u32, PathRelation>) {
    let tree = &explanation.session.tree;
    let verdict = &explanation.verdicts[0];
    if verdict.resume.failure.is_some() {
        return;
    }
    let reasons: BTreeMap<u32, SkipReason> =
        verdict.resume.skipped.iter().map(|skipped| (skipped.line, skipped.reason)).collect();
    let loaded: Vec<u32> =
        verdict.resume.chain.iter().map(|&id| tree.node(tree.original(id)).span.line).collect();
    let mut loaded_turns = 0;
    for (start, number) in tree.turn_starts().zip(1..) {
        let line = tree.node(start).span.line;
        let relation = relations[&number];
        if loaded.contains(&line) {
            loaded_turns += 1;
            assert_eq!(relation, PathRelation::OnPath, "t{number} is loaded");
        }
        match reasons.get(&line) {
            Some(SkipReason::Compacted) => assert_eq!(relation, PathRelation::Compacted, "t{number}"),
            Some(SkipReason::OtherBranch | SkipReason::OtherRoot) => {
                assert_ne!(relation, PathRelation::Compacted, "t{number} is on another branch");
            }
            _ => {}
        }
    }
    assert!(verdict.turns <= loaded_turns, "turns that are sent are loaded");
    // A loaded prompt that is not sent has a reason of its own, such as a message without content.
    let omitted = reasons.iter().filter(|(line, _)| loaded.contains(line)).count();
    assert!(verdict.turns + omitted >= loaded_turns, "{} of {loaded_turns} turns", verdict.turns);
}

/// Checks that all operations agree on a session.
fn check_session(path: &Path) -> Invariants {
    let row = list_row(path);
    let view = ops::read::open_view(path, &PriceTable::built_in()).expect("a session can be opened");
    let session = &view.session;
    let active = session.active_path();
    let resume_point = active.resume_point(&session.tree);
    assert_eq!(view.leaf, active.leaf);
    assert_eq!((&session.title.text, session.total_bytes()), (&row.title.text, row.bytes));
    let same_times = |info: &SessionInfo| (info.first_time, info.last_time, info.turns, info.branches);
    assert_eq!(same_times(&session.info), same_times(&row.info));

    let all = check_view(&view, path, &BranchSelector::AllTurns);
    let conversation = check_view(&view, path, &BranchSelector::Active);
    assert_eq!(all.len(), row.info.turns, "the list counts all turns");
    let stats = ops::stats::collect_stats(&Roots::new(vec![path.to_owned()]), false, None);
    // The prompts of a subagent are no turns of the store, but its file can be read turn by turn.
    let store_turns = if session.tree.is_sidechain_file() { 0 } else { row.info.turns as u64 };
    assert_eq!(stats.counts.turns, store_turns, "the statistics count the same turns");
    assert_eq!(session.tree.turn_starts().count(), row.info.turns);
    let relations: BTreeMap<u32, PathRelation> =
        all.iter().map(|(&number, facts)| (number, facts.0)).collect();
    for (number, facts) in &conversation {
        assert_eq!(facts.0, relations[number], "t{number} has the same relation in both views");
    }
    // If the active path has no turn, all turns are shown.
    let is_fallback = conversation.values().all(|facts| facts.0 == PathRelation::OtherBranch);
    for (number, relation) in &relations {
        let is_selected = is_fallback || *relation != PathRelation::OtherBranch;
        assert_eq!(conversation.contains_key(number), is_selected, "t{number}: {relation:?}");
    }
    for number in conversation.keys().take(5) {
        let request =
            ShowRequest { path: path.to_owned(), turns: Some(*number..=*number), ..Default::default() };
        let turns: Vec<ShownTurn> =
            ops::show::show_session(&request).expect("a session").map(|turn| turn.expect("a turn")).collect();
        assert_eq!(facts_by_number(&turns)[number], conversation[number], "a duration is the same alone");
    }

    let explanation =
        ops::explain::explain_resume(&ExplainRequest { path: path.to_owned(), ..Default::default() })
            .expect("a session can be explained");
    assert_eq!((explanation.turns, &explanation.header.title.text), (row.info.turns, &row.title.text));
    assert_eq!(
        explanation.verdicts[0]
            .resume
            .leaf
            .map(|(leaf, _)| leaf)
            .filter(|_| explanation.verdicts[0].resume.failure.is_none())
            .or(active.leaf),
        active.leaf
    );
    check_explain(&explanation, &relations);
    check_tree(path, &relations, resume_point.map(|id| session.tree.node(id).span.line));
    check_branches(path, &view);
    let spec = BranchSpec { path: path.to_owned(), entry: None };
    let diff = ops::diff::diff_branches(&spec, &spec).expect("a session can be compared");
    assert!(diff.branches.iter().all(|branch| branch.active), "the default branch is the active one");
    assert_eq!(
        diff.branches[0].tip_line,
        active.leaf.map(|leaf| session.tree.node(leaf).span.line),
        "diff ends where the client resumes"
    );
    if !is_fallback {
        assert_eq!(diff.common_turns, conversation.len(), "diff compares the conversation");
    }
    let fork_kinds =
        session.tree.find_forks().iter().map(|fork| fork.kind).filter(|kind| kind.is_real()).collect();
    Invariants {
        turns: row.info.turns,
        title: row.title.text,
        first_time: row.info.first_time,
        last_time: row.info.last_time,
        git_branch: row.info.git_branch,
        fork_kinds,
    }
}

/// Checks that the tree has every turn with its relation, and marks the resume point once.
fn check_tree(path: &Path, relations: &BTreeMap<u32, PathRelation>, resume_line: Option<u32>) {
    let request = TreeRequest { path: path.to_owned(), all: false, around: None };
    let mut tree = ops::tree::outline_tree(&request).expect("a tree");
    assert_eq!(tree.turns, relations.len());
    let mut resume_handles = Vec::new();
    for row_idx in 0..tree.rows.len() {
        let relation = tree.rows[row_idx].relation;
        let Some(details) = tree.read_row(row_idx).expect("a row can be read") else { continue };
        if let Some(number) = details.turn {
            assert_eq!(relation, relations[&number], "t{number} in the tree");
        }
        resume_handles.extend(details.resume_handle);
        resume_handles.extend(details.tip.filter(|tip| tip.is_active).map(|tip| tip.handle));
    }
    // Rows in gaps are not shown, and uuids of hostile files may be the handle of an entry.
    assert!(resume_handles.len() <= 1, "{resume_handles:?}");
    if let (Some(line), [handle]) = (resume_line, &resume_handles[..])
        && handle.starts_with('L')
    {
        assert_eq!(*handle, format!("L{line}"));
    }
}

/// Checks that at most one branch is active, and that the report names the resume point.
fn check_branches(path: &Path, view: &SessionView) {
    let list = ops::branches::list_branches(path).expect("branches");
    let tree = &view.session.tree;
    assert_eq!(list.rows.len(), view.branches.list.len());
    let active: Vec<usize> = (0..list.rows.len()).filter(|&idx| list.rows[idx].active).collect();
    assert_eq!(
        active,
        view.active.into_iter().collect::<Vec<_>>(),
        "branches and pages have one active branch"
    );
    let Some(resume_point) = view.leaf.map(|leaf| tree.resume_point(leaf)) else { return };
    if let Some(&active) = active.first() {
        let handle = list.resume_handle.clone().unwrap_or_else(|| list.rows[active].tip_handle.clone());
        assert_eq!(handle, view.session.entry_handle(resume_point), "the resume point is named");
    }
}

/// Checks a session, and copies of it after a goto to the end of each turn, up to `max_turns` of them, and to random entries:
/// `per_role` of each role.
///
/// Returns the number of gotos. Entries from which no client can resume are skipped. Pass `exact = false` for files that no
/// client writes: clients may load the promised entries from another leaf there.
fn check_with_gotos(bytes: &[u8], name: &str, max_turns: usize, per_role: usize, exact: bool) -> usize {
    let before = check_session(&SessionCopy::new(bytes, name).path);
    let step = before.turns.div_ceil(max_turns.max(1)).max(1);
    let turns = (1..=before.turns).step_by(step).take(max_turns).map(|turn| format!("t{turn}"));
    let targets: Vec<String> = turns.chain(pick_entries(bytes, name, per_role)).collect();
    targets.iter().filter(|target| check_goto(bytes, name, target, &before, exact)).count()
}

/// Returns the names of random entries outside of subagents: `per_role` of each role.
///
/// Images before a prompt are left out: the turn is on another branch like its prompt, although the image is loaded.
fn pick_entries(bytes: &[u8], name: &str, per_role: usize) -> Vec<String> {
    let copy = SessionCopy::new(bytes, name);
    let view = ops::read::open_view(&copy.path, &PriceTable::built_in()).expect("a session");
    let tree = &view.session.tree;
    let mut by_role: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for (_, node) in (0u32..).zip(tree.nodes()).filter(|&(id, _)| tree.is_main_chain(id)) {
        if node.role == EntryRole::ImageOnly {
            continue;
        }
        by_role.entry(node.role.name()).or_default().push(node.span.line);
    }
    let mut rng = Rng::new(real::env_number("PROPTEST_RNG_SEED").unwrap_or(7) + bytes.len() as u64);
    let picked = by_role.values().flat_map(|lines| {
        (0..per_role.min(lines.len())).map(|_| format!("L{}", rng.pick(lines))).collect::<Vec<_>>()
    });
    picked.collect()
}

/// Moves a copy of a session to an entry, and checks that all operations agree and name the entry. Returns `false` if no
/// client can resume from it.
fn check_goto(bytes: &[u8], name: &str, at: &str, before: &Invariants, exact: bool) -> bool {
    let copy = SessionCopy::new(bytes, name);
    let outcome = match copy.goto(at) {
        Ok(outcome) => outcome,
        Err(Error::CannotResumeFrom { .. } | Error::NotAResumePoint { .. } | Error::UnknownEntry { .. }) => {
            return false;
        }
        Err(error) => panic!("goto {at}: {error}"),
    };
    assert_eq!(check_session(&copy.path), *before, "a goto to {at} is no activity");
    let view = ops::read::open_view(&copy.path, &PriceTable::built_in()).expect("a session");
    let tree = &view.session.tree;
    let target = tree.nodes().iter().find(|node| node.span.line == outcome.to.line).expect("the target");
    // Clients may resume above an entry that they do not send: a queued prompt, or a message without content.
    let is_sent = outcome.replayed > 0 || outcome.expected_loads[0].path.contains(&target.uuid);
    if !is_sent || !exact {
        return true;
    }
    let active = view.session.active_path();
    let resume_point = active.resume_point(tree).expect("a resume point");
    assert_eq!(tree.node(resume_point).span.line, outcome.to.line, "goto {at} names the resume point");
    let turns = show_turns(&copy.path, BranchSelector::Active);
    let last = turns.iter().rev().find_map(|shown| shown.number);
    // A later line may have the uuid of the target, and other content.
    let is_repeated = tree.find_uuid(target.uuid) != Some(resume_point) || tree.repeated_line_count() > 0;
    let is_shown = outcome.to.turn.is_none_or(|turn| last == Some(turn)) || outcome.sent_below > 0;
    assert!(is_shown || is_repeated, "goto {at}: show ends with {last:?}, not {:?}", outcome.to.turn);
    true
}

const ID: &str = "aaaaaaaa-0000-4000-8000-000000000001.jsonl";

const SESSIONS: [&str; 9] = [
    rethread_testkit::sample_session::EDITED_PROMPT,
    "
    * v=2.1.325
    u1: one
      a1: one
        u2: two
          a2: two
            u3: three
              a3: three
    s1 ~a1 list=u1,a1>s1: compact_boundary x
    u4 ^s1 recap: the summary
      u5: four
        a5: four",
    "
    * v=2.1.325
    u1: one
      a1: one
        u2: two
          a2: two
            u3: three
              a3: three
    s1 ~a2 list=u2,a2>s1: compact_boundary x
    u4 ^s1 recap: the summary
      u5: four
        a5: four
    s2 ~a5: compact_boundary x
    u6 ^s2 recap: another summary
      u7: five
        a7: five",
    "
    * v=2.1.325
    u1: one
      a1: one
        u2: two
          a2: two
            u3: three
              a3: three
    s1 ~a2 list=u3,a3>u4: compact_boundary x
    u4 ^s1 recap: the summary
      u5: four
        a5: four",
    "
    * v=2.1.325
    u1 @2025-01-01T00:00:01.000Z: one
      a1 @2025-01-01T00:00:02.000Z: one
        s1 ^a1 list=u1,a1>s1: compact_boundary x
    u1 ^s1 @2025-01-01T00:00:01.000Z: one
      a1 ^u1 @2025-01-01T00:00:02.000Z: one
        u4 recap: the summary
          u5: four
            a5: four",
    "
    * v=2.1.221
    a1 ^u1: one
      s1: turn_duration 5
    u1 ^null: one
    u2 ^s1: two
      a2: two",
    "
    * v=2.1.325
    u1: one
      a1: !Bash ls
        u2: =a1 shed
          t1: queued_command and the hose
            a2: two
        u3: other
          a3: other",
    // A queued prompt and a local command are directly below an answer.
    "
    * v=2.1.325
    u1: one
      a1: one
        t1: queued_command and the hose
          a2: two
        s1: local_command <command-name>/cost</command-name>
        u3: three
          a3: three",
    // A compaction with a parent is directly below an answer.
    "
    * v=2.1.325
    u1: one
      a1: one
        s1: compact_boundary x
          u4 recap: the summary
            u5: four
              a5: four
        u2: two
          a2: two",
];

#[test]
fn operations_agree_before_and_after_a_goto() {
    for (idx, text) in SESSIONS.iter().enumerate() {
        let bytes = script::bytes(text);
        let turns = check_session(&SessionCopy::new(&bytes, ID).path).turns;
        assert_eq!(
            check_with_gotos(&bytes, ID, usize::MAX, 0, true),
            turns,
            "session {idx}: every turn can be resumed"
        );
        let gotos = check_with_gotos(&bytes, ID, 0, usize::MAX, true);
        assert!(gotos > 4, "session {idx}: {gotos} entries can be resumed");
    }
}

#[test]
fn lines_of_subagents_are_counted_apart() {
    let text = "u1: one\n  a1: one\nu2 side ^null: task\n  u3 side meta: be brief\n    a2 side: done";
    let row = list_row(&SessionCopy::new(&script::bytes(text), ID).path);
    assert_eq!((row.info.entries, row.info.sidechain_entries), (2, 3));
}

#[test]
fn turn_that_is_written_twice_counts_twice_everywhere() {
    let bytes = script::bytes("u1: one\n  a1: one\n    u2: two\n      a2: two");
    let twice = [&bytes[..], &bytes[..]].concat();
    check_session(&SessionCopy::new(&twice, ID).path);
}

#[test]
fn queued_prompt_counts_as_a_loaded_turn() {
    let copy = SessionCopy::new(
        &script::bytes(
            "
    * v=2.1.325
    u1: one
      a1: !Bash ls
        u2: =a1 shed
          t1: queued_command and the hose
            a2: two",
        ),
        ID,
    );
    let request = ExplainRequest { path: copy.path.clone(), ..Default::default() };
    let explanation = ops::explain::explain_resume(&request).expect("a session can be explained");
    assert_eq!((explanation.verdicts[0].turns, explanation.turns), (2, 2));
}

/// Moves the session of [`SESSIONS`] to an entry. Returns the number of turns that each of two clients sends then, and the number of
/// their entries.
fn count_sent_after_goto(idx: usize, at: &str) -> Vec<(usize, usize)> {
    let copy = SessionCopy::new(&script::bytes(SESSIONS[idx]), ID);
    let outcome = copy.goto(at).expect("every entry can be resumed");
    assert_eq!((outcome.replayed, outcome.sent_below), (0, 0));
    let explain = |client: &str| {
        let client = ClientSelector::Client(Version::parse_lenient(client));
        let request = ExplainRequest { path: copy.path.clone(), client };
        let explanation = ops::explain::explain_resume(&request).expect("a session can be explained");
        (explanation.verdicts[0].turns, explanation.verdicts[0].resume.loaded)
    };
    // The first one loads the entries below the last message, the second one only those on the walk.
    vec![explain("2.1.325"), explain("2.1.61")]
}

#[test]
fn goto_loads_no_text_below_its_entry() {
    assert_eq!(count_sent_after_goto(7, "t1"), [(1, 2); 2], "above a queued prompt and a local command");
    assert_eq!(count_sent_after_goto(8, "t1"), [(1, 2); 2], "above a compaction with a parent");
    assert_eq!(count_sent_after_goto(7, "t3"), [(2, 4); 2], "the end of the branch with the local command");
}

#[test]
fn clients_in_a_row_share_equal_outcomes() {
    let copy = SessionCopy::new(&script::bytes("u1: one\n  a1: one\n  a2: two\n    u2: three"), ID);
    let request = ExplainRequest { path: copy.path.clone(), client: ClientSelector::All };
    let verdicts = ops::explain::explain_resume(&request).expect("a session can be explained").verdicts;
    let pairs = || verdicts.iter().zip(&verdicts[1..]).map(|(a, b)| (&a.resume, &b.resume));
    assert!(pairs().all(|(a, b)| (a == b) == Arc::ptr_eq(a, b)));
    assert!(pairs().any(|(a, b)| a == b));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn operations_agree_on_files_of_any_shape(records in random::records()) {
        let bytes = script::write_records(&records);
        check_with_gotos(&bytes, ID, 2, 1, false);
    }
}

/// Checks sessions of real clients. Returns the number of gotos.
fn check_real_sessions(variable: &str, max_bytes: u64, (max_turns, per_role): (usize, usize)) -> usize {
    let mut gotos = 0;
    for path in real::find_sessions("agreement of operations", variable) {
        let is_session = path.parent().and_then(Path::parent).is_some_and(|dir| dir.ends_with("projects"));
        let len = std::fs::metadata(&path).expect("a file").len();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        if !is_session || len > max_bytes || name.starts_with("agent-") {
            continue;
        }
        let bytes = std::fs::read(&path).expect("a session can be read");
        let result = std::panic::catch_unwind(|| check_with_gotos(&bytes, name, max_turns, per_role, true));
        gotos += result.unwrap_or_else(|_| panic!("{}", path.display()));
    }
    gotos
}

#[test]
fn operations_agree_on_golden_sessions() {
    let gotos = check_real_sessions("RETHREAD_GOLDEN", u64::MAX, (2, 1));
    assert!(gotos > 300 || real::env_path("RETHREAD_GOLDEN").is_none(), "{gotos} gotos");
}

#[test]
fn operations_agree_on_the_corpus() {
    let gotos = check_real_sessions("RETHREAD_CORPUS", 400_000, (1, 1));
    assert!(gotos > 100 || real::env_path("RETHREAD_CORPUS").is_none(), "{gotos} gotos");
}

#[test]
fn operations_agree_on_large_sessions_of_the_corpus() {
    let is_large = |path: &PathBuf| {
        let is_agent = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"));
        !is_agent && path.metadata().is_ok_and(|meta| (400_001..6 << 20).contains(&meta.len()))
    };
    let sessions = real::find_sessions("agreement of operations", "RETHREAD_CORPUS");
    let large: Vec<PathBuf> = sessions.into_iter().filter(is_large).collect();
    let mut rng = Rng::new(real::env_number("PROPTEST_RNG_SEED").unwrap_or(7));
    // Two gotos in a few files take about a minute.
    for _ in 0..if large.is_empty() { 0 } else { 4 } {
        let path = rng.pick(&large);
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let bytes = std::fs::read(path).expect("a session can be read");
        let mut entries = pick_entries(&bytes, name, 1);
        let before = check_session(&SessionCopy::new(&bytes, name).path);
        while entries.len() > 2 {
            entries.swap_remove(rng.below(entries.len() as u64) as usize);
        }
        for at in &entries {
            check_goto(&bytes, name, at, &before, true);
        }
    }
}
