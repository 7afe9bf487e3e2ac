//! Damaged sessions: `doctor`, `explain` and `repair` agree on what clients lose, and a repair loses nothing.
//!
//! Each law is checked on generated sessions, and on sessions of real clients if `RETHREAD_GOLDEN` names them.

#![expect(clippy::disallowed_methods, reason = "the test writes the sessions that it repairs")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rethread_engine::core::check::{Code, Diagnostic, Severity};
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::fix::{FixAction, needs_repair};
use rethread_engine::core::resume::{KNOWN_CLIENTS, LossCause, SkipReason};
use rethread_engine::core::version::Version;
use rethread_engine::ops;
use rethread_engine::ops::EntrySelector;
use rethread_engine::ops::explain::{ClientSelector, ClientVerdict, ExplainRequest, Explanation};
use rethread_engine::ops::repair::{RepairReport, RepairRequest, RepairTarget};
use rethread_engine::{Error, SessionWriter};
use rethread_testkit::spending::Rng;
use rethread_testkit::{random, real, script};
use tempfile::TempDir;

/// A way in which a file loses or moves a line, or gets lines of another session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineDamage {
    Drop,
    Nuls,
    Truncate,
    Swap,
    /// A run of lines names another session.
    Rename,
    /// Lines of another session are inserted as a block. Their tree is not connected, or only by time.
    Insert,
}

const KINDS: [LineDamage; 4] = [LineDamage::Drop, LineDamage::Nuls, LineDamage::Truncate, LineDamage::Swap];
const MIXED_KINDS: [LineDamage; 6] = [
    LineDamage::Drop,
    LineDamage::Nuls,
    LineDamage::Truncate,
    LineDamage::Swap,
    LineDamage::Rename,
    LineDamage::Insert,
];

/// Damages one line of a file, or swaps it with another one. Returns the file and the lines that lost their content.
fn damage_line(bytes: &[u8], kind: LineDamage, rng: &mut Rng) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let idx = rng.below(lines.len() as u64) as usize;
    let damaged = lines[idx].clone();
    let text_len = damaged.trim_ascii_end().len();
    match kind {
        LineDamage::Drop => drop(lines.remove(idx)),
        LineDamage::Nuls => lines[idx][..text_len].fill(0),
        LineDamage::Truncate => {
            let len = rng.below(text_len.max(1) as u64) as usize;
            lines[idx].drain(len..text_len);
        }
        LineDamage::Swap => {
            let other = rng.below(lines.len() as u64) as usize;
            lines.swap(idx, other);
            return (lines.concat(), Vec::new());
        }
        LineDamage::Rename => {
            let end = lines.len().min(idx + 1 + rng.below(6) as usize);
            lines[idx..end].iter_mut().for_each(rename_session);
            return (lines.concat(), Vec::new());
        }
        LineDamage::Insert => {
            lines.splice(idx..idx, generate_foreign_lines(&damaged, rng));
            return (lines.concat(), Vec::new());
        }
    }
    (lines.concat(), vec![damaged])
}

/// The session that lines of another session name.
const OTHER_SESSION: &str = "0e0e0e0e-1111-4222-8333-444444444444";

/// Makes a line name another session.
fn rename_session(line: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(line).into_owned();
    let Some(start) = text.find("\"sessionId\":\"").map(|at| at + 13) else { return };
    if text.len() >= start + 36 {
        *line = [&text[..start], OTHER_SESSION, &text[start + 36..]].concat().into_bytes();
    }
}

/// Generates one to four lines of another session. Their first line has no parent, or one that is not in the file. Their
/// times are those of the line `next`, of an old session or of a newer one.
fn generate_foreign_lines(next: &[u8], rng: &mut Rng) -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(next).into_owned();
    let field = |name: &str| {
        let start = text.find(&format!("\"{name}\":\""))? + name.len() + 4;
        text.get(start..)?.split('"').next().map(str::to_owned)
    };
    let near = field("timestamp").unwrap_or_else(|| "2026-01-01T00:00:00.000Z".to_owned());
    let time = rng
        .pick(&["2020-01-01T00:00:00.000Z".to_owned(), near, "2029-01-01T00:00:00.000Z".to_owned()])
        .clone();
    let version = field("version").unwrap_or_else(|| "2.1.325".to_owned());
    let number = rng.below(1 << 30);
    let root = if rng.chance(50) { "null".to_owned() } else { format!("gone{number}") };
    let mut out = format!("* v={version} session=other\n");
    let mut parent = root;
    for idx in 0..1 + rng.below(4) {
        let kind = if idx % 2 == 0 { "u" } else { "a" };
        let name = format!("{kind}{number}{idx}");
        out += &format!("{name} ^{parent} @{time}: elsewhere {idx}\n");
        parent = name;
    }
    script::bytes(&out).split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// A session file in a temporary store.
struct TestSession {
    _folder: TempDir,
    path: PathBuf,
    writer: SessionWriter,
}

impl TestSession {
    fn new(name: &str, bytes: &[u8]) -> TestSession {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = folder.path().join("projects/-x");
        std::fs::create_dir_all(&project).expect("the folder can be created");
        let path = project.join(name);
        std::fs::write(&path, bytes).expect("the file can be written");
        let writer = SessionWriter::new(folder.path().join("state"));
        TestSession { _folder: folder, path, writer }
    }

    fn repair(&self) -> Result<RepairReport, Error> {
        ops::repair::repair(&self.request(true), &self.writer)
    }

    fn request(&self, in_place: bool) -> RepairRequest {
        RepairRequest {
            path: self.path.clone(),
            in_place,
            even_if_live: true,
            now: Timestamp(1_900_000_000_000),
            ..RepairRequest::default()
        }
    }

    /// Checks that `doctor` and `ls` offer a repair exactly if a dry run of `repair` changes something.
    fn check_offer(&self, errors: &mut Vec<String>) {
        let report = ops::doctor::check_session(&self.path).expect("the session can be read");
        let offers = needs_repair(&report.findings);
        for in_place in [true, false] {
            let request = RepairRequest { dry_run: true, ..self.request(in_place) };
            let result = ops::repair::repair(&request, &self.writer);
            let changes =
                matches!(&result, Ok(report) if report.target.is_some() && !report.fixes.is_empty());
            if offers != changes {
                let outcome = result.map(|report| report.fixes.len());
                errors.push(format!(
                    "doctor offers a repair: {offers}, repair changes the session: {changes} {outcome:?}: {}",
                    describe(&report.findings)
                ));
            }
        }
    }

    fn explain(&self, client: ClientSelector) -> Explanation {
        ops::explain::explain_resume(&ExplainRequest { path: self.path.clone(), client })
            .expect("the session can be read")
    }

    /// Returns the resume of the session's own client and of the newest one.
    fn verdicts(&self) -> Vec<(Explanation, &'static str)> {
        let newest = Version::parse_lenient(KNOWN_CLIENTS[KNOWN_CLIENTS.len() - 1]);
        vec![
            (self.explain(ClientSelector::Newest), "own client"),
            (self.explain(ClientSelector::Client(newest)), "newest client"),
        ]
    }
}

/// Returns the uuids of the entries that a client loads and that the API accepts.
fn loaded_uuids(explanation: &Explanation, verdict: &ClientVerdict) -> BTreeSet<String> {
    let rejected: BTreeSet<u32> = verdict.rejections.iter().map(|rejection| rejection.node()).collect();
    let path = verdict.resume.path.iter().filter(|id| !rejected.contains(id));
    path.map(|&id| explanation.uuid(id)).collect()
}

/// Returns the last line with each uuid.
fn lines_by_uuid(explanation: &Explanation) -> BTreeMap<String, u32> {
    let nodes = explanation.session.tree.nodes();
    (0..).zip(nodes).map(|(id, node)| (explanation.uuid(id), node.span.line)).collect()
}

/// Returns the uuids that each measured client loads, and those that a loaded summary replaces.
fn loads_by_client(session: &TestSession) -> Vec<(BTreeSet<String>, BTreeSet<String>)> {
    let explanation = session.explain(ClientSelector::All);
    let load = |verdict: &ClientVerdict| {
        let compacted = verdict.resume.skipped.iter().filter(|entry| entry.reason == SkipReason::Compacted);
        let compacted = compacted.filter_map(|entry| Some(explanation.uuid(entry.node?))).collect();
        (loaded_uuids(&explanation, verdict), compacted)
    };
    explanation.verdicts.iter().map(load).collect()
}

fn has_warning(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.severity > Severity::Info)
}

/// Describes findings as `code severity L1 L2`.
fn describe(findings: &[Diagnostic]) -> String {
    let describe_one = |finding: &Diagnostic| {
        let lines: Vec<String> = finding.locations.iter().map(|at| format!("L{}", at.line)).collect();
        format!("{} {} {}", finding.code.name(), finding.severity.name(), lines.join(" "))
    };
    findings.iter().map(describe_one).collect::<Vec<_>>().join("; ")
}

/// Checks that `doctor` and `explain` agree on a session: `doctor` is clean only if neither client loses an entry.
fn check_agreement(session: &TestSession, errors: &mut Vec<String>) {
    let report = ops::doctor::check_session(&session.path).expect("the session can be read");
    let warns = has_warning(&report.findings);
    for (explanation, client) in session.verdicts() {
        let verdict = &explanation.verdicts[0];
        if verdict.is_loss() && !warns {
            let lost: Vec<u32> = verdict
                .resume
                .skipped
                .iter()
                .filter(|lost| lost.is_unintended())
                .map(|lost| lost.line)
                .collect();
            errors.push(format!(
                "doctor is clean, but the {client} loses {lost:?}: {}",
                describe(&report.findings)
            ));
        }
    }
    let is_unreachable =
        |finding: &Diagnostic| finding.code == Code::Unreachable && finding.severity > Severity::Info;
    let is_loss = |(explanation, _): &(Explanation, &str)| explanation.verdicts[0].is_loss();
    if report.findings.iter().any(is_unreachable) && !session.verdicts().iter().any(is_loss) {
        errors.push(format!("explain reports no loss: {}", describe(&report.findings)));
    }
}

/// Checks what the damage hides: entries that a client loaded from the intact file, and that still are in the file.
///
/// `intact` is what the own client and the newest one load from the intact file.
fn check_hidden(intact: &[BTreeSet<String>], session: &TestSession, errors: &mut Vec<String>) {
    let report = ops::doctor::check_session(&session.path).expect("the session can be read");
    for ((explanation, client), before) in session.verdicts().iter().zip(intact) {
        let hidden = hidden_lines(explanation, before);
        if !hidden.is_empty() && !has_warning(&report.findings) {
            errors.push(format!(
                "the damage hides {hidden:?} from the {client}: {}",
                describe(&report.findings)
            ));
        }
    }
}

/// Returns the lines of entries in `before` that are still in the file and that the client loses.
fn hidden_lines(explanation: &Explanation, before: &BTreeSet<String>) -> Vec<u32> {
    let verdict = &explanation.verdicts[0];
    let is_hidden = |reason: SkipReason| reason.is_loss() || reason == SkipReason::Compacted;
    let skipped = verdict.resume.skipped.iter().filter(|skipped| is_hidden(skipped.reason));
    let named =
        skipped.filter(|skipped| skipped.node.is_some_and(|id| before.contains(&explanation.uuid(id))));
    named.map(|skipped| skipped.line).collect()
}

/// Returns the numbers of the lines with content that the API refuses from any client.
fn find_refused_lines(explanation: &Explanation) -> BTreeSet<u32> {
    let rejections = explanation.verdicts.iter().flat_map(|verdict| &verdict.rejections);
    rejections.map(|rejection| explanation.session.tree.node(rejection.node()).span.line).collect()
}

/// Repairs a session and checks the result. Returns `false` if there was nothing to repair.
fn check_repair(intact: &[BTreeSet<String>], session: &TestSession, errors: &mut Vec<String>) -> bool {
    let before = loads_by_client(session);
    let all = session.explain(ClientSelector::All);
    let lines = lines_by_uuid(&all);
    let refused = find_refused_lines(&all);
    let report = match session.repair() {
        Ok(report) => report,
        Err(Error::NothingToLoad { .. } | Error::CannotResumeFrom { .. }) => return false,
        Err(error) => {
            errors.push(format!("repair fails: {error}"));
            return false;
        }
    };
    let after = loads_by_client(session);
    // Content that the API refuses from one client is removed, and the report says so.
    let removed: BTreeSet<u32> = report
        .fixes
        .iter()
        .filter(|fix| fix.fix.action == FixAction::LineRemoved)
        .filter_map(|fix| fix.line.filter(|line| refused.contains(line)))
        .collect();
    let is_removed = |uuid: &str| lines.get(uuid).is_some_and(|line| removed.contains(line));
    let fixes: Vec<String> = report
        .fixes
        .iter()
        .map(|fix| format!("{:?} {} {:?}", fix.line, fix.fix.code.name(), fix.fix.action))
        .collect();
    for ((client, before), after) in KNOWN_CLIENTS.iter().zip(&before).zip(&after) {
        let (loaded, compacted) = after;
        let has_new_uuid = |uuid: &str| {
            report.fixes.iter().any(|fix| {
                let is_same = fix.line.is_some() && fix.line == lines.get(uuid).copied();
                is_same && matches!(&fix.fix.action, FixAction::UuidAssigned(uuid) if loaded.contains(uuid))
            })
        };
        let reduced = before.0.difference(loaded);
        let reduced: Vec<&String> = reduced
            .filter(|uuid| !compacted.contains(*uuid) && !has_new_uuid(uuid) && !is_removed(uuid))
            .collect();
        if !reduced.is_empty() {
            errors.push(format!("repair takes {reduced:?} from {client}: {fixes:#?}"));
            break;
        }
    }
    if report.target.is_some() {
        check_agreement(session, errors);
    }
    // A repair lists the lines that it cannot bring back, and those of which nothing is left.
    let reported: BTreeSet<u32> =
        report.after.findings.iter().flat_map(|finding| finding.locations.iter().map(|at| at.line)).collect();
    let is_set_aside = report.fixes.iter().any(|fix| fix.fix.action == FixAction::SetAside);
    let says_so = has_warning(&report.after.findings) || is_set_aside;
    for ((explanation, client), before) in session.verdicts().iter().zip(intact) {
        let hidden: Vec<u32> =
            hidden_lines(explanation, before).into_iter().filter(|line| !reported.contains(line)).collect();
        if !hidden.is_empty() && !says_so {
            errors.push(format!(
                "repair leaves {hidden:?} hidden from the {client}: {}, {fixes:#?}",
                describe(&report.after.findings)
            ));
        }
    }
    report.target.is_some()
}

/// Repairs a session of any shape. Checks that its own client and the newest one still load what they loaded, except
/// content that the API refuses and lines of other sessions.
fn check_repair_of_tree(session: &TestSession, errors: &mut Vec<String>) {
    let before = session.verdicts();
    // Content that the API refuses from one client is removed, and the report says so.
    let refused = find_refused_lines(&session.explain(ClientSelector::All));
    let Ok(report) = session.repair() else { return };
    let is_taken = |code: Code| !matches!(code, Code::UnpairedResult | Code::UnpairedCall);
    let removed: BTreeSet<u32> = report
        .fixes
        .iter()
        .filter(|fix| fix.fix.action == FixAction::LineRemoved)
        .filter(|fix| is_taken(fix.fix.code) || fix.line.is_some_and(|line| refused.contains(&line)))
        .filter_map(|fix| fix.line)
        .collect();
    let renamed: BTreeSet<u32> = report
        .fixes
        .iter()
        .filter(|fix| matches!(fix.fix.action, FixAction::UuidAssigned(_)))
        .filter_map(|fix| fix.line)
        .collect();
    for ((before, client), (after, _)) in before.iter().zip(session.verdicts()) {
        let verdict = &before.verdicts[0];
        let rejected: BTreeSet<u32> = verdict.rejections.iter().map(|rejection| rejection.node()).collect();
        let loaded: BTreeSet<String> =
            after.verdicts[0].resume.path.iter().map(|&id| after.uuid(id)).collect();
        let compacted = after.verdicts[0].resume.skipped.iter();
        let compacted = compacted.filter(|entry| entry.reason == SkipReason::Compacted);
        let compacted: BTreeSet<String> =
            compacted.filter_map(|entry| Some(after.uuid(entry.node?))).collect();
        for &id in verdict.resume.path.iter().filter(|id| !rejected.contains(id)) {
            let line = before.session.tree.node(id).span.line;
            let uuid = before.uuid(id);
            let is_exempt = removed.contains(&line) || renamed.contains(&line);
            if !is_exempt && !loaded.contains(&uuid) && !compacted.contains(&uuid) {
                errors.push(format!("repair takes L{line} from the {client}: {:?}", report.fixes));
            }
        }
    }
}

/// Counts of a campaign.
#[derive(Debug, Default)]
struct Tally {
    damages: usize,
    warned: usize,
    repaired: usize,
    complete: usize,
}

/// Damages a file once in each way, and checks the laws. Appends descriptions of violations to `errors`.
fn check_damages(name: &str, bytes: &[u8], rng: &mut Rng, tally: &mut Tally, errors: &mut Vec<String>) {
    let file_name = Path::new(name).file_name().expect("a file name").to_str().expect("a name in UTF-8");
    let intact_session = TestSession::new(file_name, bytes);
    let intact: Vec<BTreeSet<String>> = intact_session
        .verdicts()
        .iter()
        .map(|(explanation, _)| loaded_uuids(explanation, &explanation.verdicts[0]))
        .collect();
    for kind in KINDS {
        let (damaged, lost) = damage_line(bytes, kind, rng);
        let session = TestSession::new(file_name, &damaged);
        let mut found = Vec::new();
        check_agreement(&session, &mut found);
        session.check_offer(&mut found);
        // Without the pointer to the last prompt, nothing says which branch the client resumed from.
        if !lost.iter().any(|line| is_pointer(line)) {
            check_hidden(&intact, &session, &mut found);
        }
        tally.damages += 1;
        let warns = |session: &TestSession| {
            has_warning(&ops::doctor::check_session(&session.path).expect("the session can be read").findings)
        };
        tally.warned += usize::from(warns(&session));
        let is_pointer_lost = lost.iter().any(|line| is_pointer(line));
        let expected = if is_pointer_lost { &[][..] } else { &intact[..] };
        tally.repaired += usize::from(check_repair(expected, &session, &mut found));
        tally.complete += usize::from(!warns(&session));
        errors.extend(found.into_iter().map(|error| format!("{name} {kind:?}: {error}")));
    }
}

/// Returns `true` for a line that names the leaf.
fn is_pointer(line: &[u8]) -> bool {
    line.windows(13).any(|text| text == br#""last-prompt""#)
}

fn assert_none(tally: &Tally, errors: &[String]) {
    let shown: Vec<&String> = errors.iter().take(40).collect();
    assert!(errors.is_empty(), "{} violations, {tally:?}:\n{shown:#?}", errors.len());
}

/// The number of damages of the two campaigns together is more than 400.
const GENERATED_SESSIONS: usize = 40;

#[test]
fn damage_of_generated_sessions_is_reported_and_repaired() {
    let mut rng = new_rng();
    let (mut tally, mut errors) = (Tally::default(), Vec::new());
    for number in 0..GENERATED_SESSIONS {
        let bytes = script::bytes(&generate_script(&mut rng));
        let name = format!("{number}/{}.jsonl", script::uuid_from_name("session"));
        check_damages(&name, &bytes, &mut rng, &mut tally, &mut errors);
    }
    assert!(tally.damages == 160 && tally.repaired > 40, "{tally:?}");
    assert_none(&tally, &errors);
}

#[test]
fn damage_of_real_sessions_is_reported_and_repaired() {
    let mut rng = new_rng();
    let (mut tally, mut errors) = (Tally::default(), Vec::new());
    let mut by_scenario: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in find_mains("RETHREAD_GOLDEN") {
        let scenario = path.ancestors().nth(3).and_then(Path::file_name).unwrap_or_default();
        by_scenario.entry(scenario.display().to_string()).or_default().push(path);
    }
    // Sessions of each scenario, of different clients.
    for paths in by_scenario.values() {
        for _ in 0..2 {
            let path = rng.pick(paths).clone();
            let bytes = std::fs::read(&path).expect("the file can be read");
            check_damages(&path.display().to_string(), &bytes, &mut rng, &mut tally, &mut errors);
        }
    }
    assert!(by_scenario.is_empty() || tally.damages >= 240, "{tally:?}");
    assert_none(&tally, &errors);
}

#[test]
fn file_with_only_an_odd_line_of_state_is_not_unreadable() {
    let bytes = b"{\"parentU\0\0\0\n{\"type\":\"\xc3ustom-title\",\"customTitle\":\"\"}\n";
    let session = TestSession::new("11111111-2222-4333-8444-555555555555.jsonl", bytes);
    let mut errors = Vec::new();
    check_agreement(&session, &mut errors);
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn repair_of_real_sessions_takes_nothing_from_a_client() {
    let (mut tally, mut errors) = (Tally::default(), Vec::new());
    for path in ["RETHREAD_GOLDEN", "RETHREAD_CORPUS"].into_iter().flat_map(find_mains) {
        let bytes = std::fs::read(&path).expect("the file can be read");
        // Thirteen clients read each session several times.
        if bytes.len() > 1 << 20 {
            continue;
        }
        let session =
            TestSession::new(path.file_name().and_then(|name| name.to_str()).expect("a name"), &bytes);
        let mut found = Vec::new();
        check_agreement(&session, &mut found);
        tally.damages += 1;
        tally.repaired += usize::from(check_repair(&[], &session, &mut found));
        errors.extend(found.into_iter().map(|error| format!("{}: {error}", path.display())));
    }
    assert_none(&tally, &errors);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn doctor_and_explain_agree_on_random_trees(bytes in random::damaged(random::file())) {
        let session = TestSession::new("11111111-2222-4333-8444-555555555555.jsonl", &bytes);
        let mut errors = Vec::new();
        check_agreement(&session, &mut errors);
        prop_assert!(errors.is_empty(), "{errors:#?}\n{}", String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn repair_of_random_trees_takes_nothing_from_its_client(bytes in random::file()) {
        let session = TestSession::new("11111111-2222-4333-8444-555555555555.jsonl", &bytes);
        let mut errors = Vec::new();
        check_repair_of_tree(&session, &mut errors);
        prop_assert!(errors.is_empty(), "{errors:#?}\n{}", String::from_utf8_lossy(&bytes));
    }
}

/// Damages a file in one to three ways, and checks that a repair takes nothing from any client and is offered if possible.
fn check_mixed_damages(name: &str, bytes: &[u8], rng: &mut Rng, tally: &mut Tally, errors: &mut Vec<String>) {
    let file_name = Path::new(name).file_name().expect("a file name").to_str().expect("a name in UTF-8");
    let mut damaged = bytes.to_vec();
    let mut kinds = Vec::new();
    for _ in 0..1 + rng.below(3) {
        let kind = *rng.pick(&MIXED_KINDS);
        damaged = damage_line(&damaged, kind, rng).0;
        kinds.push(kind);
        if damaged.is_empty() {
            return;
        }
    }
    let session = TestSession::new(file_name, &damaged);
    let mut found = Vec::new();
    session.check_offer(&mut found);
    tally.damages += 1;
    tally.repaired += usize::from(check_repair(&[], &session, &mut found));
    if !found.is_empty()
        && let Some(folder) = real::env_path("RETHREAD_KEEP")
    {
        std::fs::write(folder.join(format!("{}-{file_name}", tally.damages)), &damaged)
            .expect("a file can be kept");
    }
    errors.extend(found.into_iter().map(|error| format!("{} {name} {kinds:?}: {error}", tally.damages)));
}

#[test]
fn repair_of_mixed_damage_takes_nothing_from_any_client() {
    let mut rng = new_rng();
    let (mut tally, mut errors) = (Tally::default(), Vec::new());
    for number in 0..real::env_number("RETHREAD_DAMAGES").unwrap_or(40) {
        let bytes = script::bytes(&generate_script(&mut rng));
        let name = format!("{number}/{}.jsonl", script::uuid_from_name("session"));
        check_mixed_damages(&name, &bytes, &mut rng, &mut tally, &mut errors);
    }
    assert!(tally.repaired > 8, "{tally:?}");
    let paths: Vec<PathBuf> = find_mains("RETHREAD_GOLDEN");
    for _ in 0..if paths.is_empty() { 0 } else { real::env_number("RETHREAD_DAMAGES").unwrap_or(40) } {
        let path = rng.pick(&paths).clone();
        let bytes = std::fs::read(&path).expect("the file can be read");
        check_mixed_damages(&path.display().to_string(), &bytes, &mut rng, &mut tally, &mut errors);
    }
    assert_none(&tally, &errors);
}

/// A session of two clients that wrote at the same time. The last line has no timestamp, so no client resumes from it.
const TWO_WRITERS: &str = "
    * v=2.1.325
    u1 @2026-01-01T00:00:00.000Z: one
      a1 @2026-01-01T00:00:01.000Z: one
        u2 @2026-01-01T00:00:10.000Z: two
          a2 @2026-01-01T00:00:30.000Z: two
        u3 @2026-01-01T00:00:20.000Z: three
          a3 @2026-01-01T00:00:40.000Z: three
            u4 @none: four";

#[test]
fn losses_after_a_repair_are_not_called_left_by_the_user() {
    let name = format!("{}.jsonl", script::uuid_from_name("session"));
    let chosen = EntrySelector { name: "L7".to_owned(), exact: true, ..EntrySelector::default() };
    for (leaf, cause) in [(None, LossCause::Parallel), (Some(chosen), LossCause::User)] {
        for in_place in [true, false] {
            let session = TestSession::new(&name, &script::bytes(TWO_WRITERS));
            let request = RepairRequest { leaf: leaf.clone(), ..session.request(in_place) };
            let report = ops::repair::repair(&request, &session.writer).expect("a repair");
            let path = match report.target {
                Some(RepairTarget::New(new_session)) => new_session.path.clone(),
                Some(RepairTarget::InPlace { .. }) => session.path.clone(),
                None => panic!("nothing was repaired"),
            };
            let bytes = std::fs::read_to_string(&path).expect("the file can be read");
            assert!(bytes.contains("\"last-prompt\""), "the repair chooses the leaf: {bytes}");
            let request = ExplainRequest { path, client: ClientSelector::Newest };
            let explanation = ops::explain::explain_resume(&request).expect("the session can be read");
            let skipped = &explanation.verdicts[0].resume.skipped;
            let lost: Vec<(u32, Option<LossCause>)> = skipped
                .iter()
                .filter(|entry| entry.line < 6)
                .map(|entry| (entry.line, entry.cause))
                .collect();
            assert_eq!(lost, [(3, Some(cause)), (4, Some(cause))], "{in_place}");
        }
    }
}

#[test]
fn lines_of_a_subagent_are_not_what_the_user_continued_with() {
    // 2.0.1 resumes from the newest line, which is one of a subagent.
    let text = "* v=2.0.1\nu1: one\n  a1: one\nu2 side ^null: task\n  a2 side: done";
    let session = TestSession::new("11111111-2222-4333-8444-555555555555.jsonl", &script::bytes(text));
    let explanation = session.explain(ClientSelector::Newest);
    let skipped = &explanation.verdicts[0].resume.skipped;
    let lost: Vec<(u32, Option<LossCause>)> = skipped.iter().map(|entry| (entry.line, entry.cause)).collect();
    assert_eq!(lost, [(1, Some(LossCause::Damage)), (2, Some(LossCause::Damage))]);
}

fn new_rng() -> Rng {
    Rng::new(real::env_number("PROPTEST_RNG_SEED").unwrap_or(7))
}

/// Writes the script of a session with tool calls, parallel calls, rewinds and compactions.
fn generate_script(rng: &mut Rng) -> String {
    let client = *rng.pick(&["1.0.98", "2.0.76", "2.1.42", "2.1.104", "2.1.163", "2.1.221", "2.1.325"]);
    let mut out = format!("* v={client}\n");
    let mut number = 0;
    // The entry after which each turn starts, for rewinds.
    let mut starts: Vec<String> = vec!["null".to_owned()];
    let mut last = "null".to_owned();
    let mut write = |line: &str, parent: &str| {
        number += 1;
        let (kind, body) = line.split_at(1);
        let name = format!("{kind}{number}");
        out += &format!("{name} ^{parent} @+20{body}\n");
        name
    };
    for turn in 0..4 + rng.below(4) {
        if turn > 1 && rng.chance(20) {
            last = starts[rng.below(starts.len() as u64) as usize].clone();
        } else if turn > 1 && rng.chance(20) {
            let boundary = write(&format!("s ~{last}: compact_boundary"), "null");
            last = write("u recap: the story so far", &boundary);
            starts.clear();
        }
        starts.push(last.clone());
        last = write(&format!("u: prompt {turn}"), &last);
        for _ in 0..rng.below(3) {
            let message = format!("m{turn}{}", rng.below(1 << 30));
            let first = write(&format!("a #{message}: !Bash one"), &last);
            let second = rng.chance(50).then(|| write(&format!("a #{message}: !Bash two"), &first));
            let end = second.clone().unwrap_or_else(|| first.clone());
            last = write(&format!("u: ={first} done"), &end);
            if let Some(second) = second {
                last = write(&format!("u: ={second} done"), &last);
            }
        }
        last = write(&format!("a: answer {turn}"), &last);
        last = write("s: turn_duration 9", &last);
    }
    out
}

/// Returns the session files below the folder that a variable names, without those of subagents.
fn find_mains(variable: &str) -> Vec<PathBuf> {
    let sessions = real::find_sessions("damaged sessions", variable);
    sessions.into_iter().filter(|path| is_session(path)).collect()
}

/// Returns `true` for the file of a session with a conversation, not of a subagent.
fn is_session(path: &Path) -> bool {
    let is_main =
        path.parent().and_then(Path::parent).and_then(Path::file_name).is_some_and(|name| name == "projects");
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_corpus = real::env_path("RETHREAD_CORPUS").is_some_and(|corpus| path.starts_with(corpus));
    // 2.1.42 writes the end of a plan into the wrong file.
    let is_damaged = path.iter().any(|part| part == "12_plan") && path.iter().any(|part| part == "2.1.42");
    (is_main || is_corpus)
        && !is_damaged
        && !stem.starts_with("agent-")
        && path.metadata().is_ok_and(|meta| meta.len() > 0)
}
