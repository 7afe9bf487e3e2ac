//! The laws of repair: no repairable problem remains, other lines keep their bytes, and undo restores every byte.

#![expect(clippy::disallowed_methods, reason = "the test writes the store that it repairs")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rethread_engine::core::check::{Code, Diagnostic, Severity};
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::fix::{FixAction, RelinkReason};
use rethread_engine::ops;
use rethread_engine::ops::EntrySelector;
use rethread_engine::ops::doctor::ReachableEntries;
use rethread_engine::ops::repair::{RepairReport, RepairRequest, RepairTarget};
use rethread_engine::ops::undo::UndoRequest;
use rethread_engine::{Error, SessionWriter};
use rethread_testkit::{random, script};
use tempfile::TempDir;

struct TestStore {
    folder: TempDir,
    session: PathBuf,
    writer: SessionWriter,
}

impl TestStore {
    fn new(bytes: &[u8]) -> TestStore {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = folder.path().join("projects/-home-ada-shed");
        std::fs::create_dir_all(&project).expect("the folder can be created");
        let session = project.join(format!("{}.jsonl", script::uuid_from_name("session")));
        std::fs::write(&session, bytes).expect("the file can be written");
        let writer = SessionWriter::new(folder.path().join("state"));
        TestStore { folder, session, writer }
    }

    fn request(&self) -> RepairRequest {
        RepairRequest {
            path: self.session.clone(),
            in_place: false,
            drop_unpaired: false,
            extract: None,
            leaf: None,
            now: Timestamp(1_900_000_000_000),
            dry_run: false,
            even_if_live: true,
        }
    }

    fn repair(&self, in_place: bool) -> Result<RepairReport, Error> {
        ops::repair::repair(&RepairRequest { in_place, ..self.request() }, &self.writer)
    }

    /// Returns the content of every file by its path.
    fn read_files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.folder.path().join("projects")];
        while let Some(folder) = folders.pop() {
            for entry in
                std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path())
            {
                match std::fs::read(&entry) {
                    Ok(bytes) => drop(files.insert(entry, bytes)),
                    Err(_) => folders.push(entry),
                }
            }
        }
        files
    }
}

/// Returns the path of the repaired file.
fn repaired_path(repair: &RepairReport, store: &TestStore) -> PathBuf {
    match &repair.target {
        Some(RepairTarget::New(session)) => session.path.clone(),
        _ => store.session.clone(),
    }
}

/// Returns the fixes as text: `L3 missing-parent relinked L2 order`.
fn fix_texts(repair: &RepairReport) -> Vec<String> {
    let line_text = |line: Option<u32>| line.map_or_else(|| "-".to_owned(), |line| format!("L{line}"));
    let fix_text = |repaired: &ops::repair::RepairedLine| {
        let action = &repaired.fix.action;
        let details = match action {
            FixAction::Relinked { reason, .. } => {
                format!(" {} {}", line_text(repaired.to_line), reason.name())
            }
            FixAction::LogicalParentSet { .. } => format!(" {}", line_text(repaired.to_line)),
            FixAction::Recovered(records) => format!(" {records}"),
            FixAction::BlocksRemoved(blocks) => format!(" {blocks:?}"),
            _ => String::new(),
        };
        format!("{} {} {}{details}", line_text(repaired.line), repaired.fix.code.name(), action.name())
    };
    repair.fixes.iter().map(fix_text).collect()
}

/// Repairs a file in place and as a new session. Checks the fixes and that no repairable problem remains.
#[track_caller]
fn check(damaged: &[u8], expected: &[&str]) -> RepairReport {
    let mut last_report = None;
    for in_place in [true, false] {
        let store = TestStore::new(damaged);
        let repair = store.repair(in_place).expect("the session can be repaired");
        assert_eq!(fix_texts(&repair), expected);
        assert!(repairable(&repair.after.findings).is_empty(), "{:?}", repair.after.findings);
        last_report = Some(repair);
    }
    last_report.expect("the session was repaired")
}

fn check_script(damaged: &str, expected: &[&str]) -> RepairReport {
    check(&script::bytes(&damaged.replace("\\0", "\0")), expected)
}

/// Returns the findings that repair must fix in every file.
fn repairable(findings: &[Diagnostic]) -> Vec<(Code, Severity)> {
    let is_repairable = |finding: &&Diagnostic| match finding.code {
        Code::ClientHangs | Code::NoConversation | Code::Cycle | Code::ReplayedLine | Code::RepeatedUuid => {
            true
        }
        Code::TornLine | Code::GluedLine | Code::NulBytes | Code::NotJson => true,
        Code::UnpairedCall | Code::UnpairedResult | Code::ThinkingUnsigned | Code::ThinkingLast => true,
        Code::ImageTooLarge | Code::ImageMislabelled => true,
        Code::EmptyContent | Code::SnapshotCollision => finding.severity > Severity::Info,
        _ => false,
    };
    findings.iter().filter(is_repairable).map(|finding| (finding.code, finding.severity)).collect()
}

#[test]
fn orphaned_entries_are_linked_to_the_entry_before_them() {
    let repair = check_script(
        "u1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two",
        &["L3 missing-parent relinked L2 order"],
    );
    let count = |reachable, total| ReachableEntries { reachable, total };
    assert_eq!((repair.before.reachable_entries(), repair.after.reachable), (count(2, 4), count(4, 4)));
    // A result is linked to its call even if other entries are in between.
    check_script(
        "u1: one\n  a1: !Bash ls\n    s1: informational x\nu2 ^gone @+60: =a1 a file\n  a2: done",
        &["L4 missing-parent relinked L2 call"],
    );
    // No entry has a parent.
    check_script(
        "u1 ^null: one\na1 ^null @+60: one\nu2 ^null @+60: two\na2 ^null @+60: two",
        &[
            "L2 unreachable relinked L1 order",
            "L3 unreachable relinked L2 order",
            "L4 unreachable relinked L3 order",
        ],
    );
}

#[test]
fn orphaned_result_follows_the_whole_response() {
    // The second call and its result stay on the path of clients that follow only parents.
    let text = "
        * v=2.0.1
        u1: one
          a1 #m: !Bash a
            a2 #m: !Bash b
        u2 ^gone @+60: =a1 a
          u3: =a2 b
            a3: done
    ";
    let repair = check_script(text, &["L4 missing-parent relinked L3 call"]);
    assert_eq!(repair.after.reachable, ReachableEntries { reachable: 6, total: 6 });
}

#[test]
fn parallel_calls_are_linked_for_a_client_that_follows_one_branch() {
    let text = "
        * v=2.1.42
        u1: one
          a1 #m: !Bash a
            a2 #m: !Bash b
              u3: =a2 b
            u2 ^a1: =a1 a
              a3: done
    ";
    let repair = check_script(text, &["L5 unreachable relinked L4 parallel"]);
    assert_eq!(repair.after.reachable, ReachableEntries { reachable: 6, total: 6 });
}

#[test]
fn entries_without_parents_keep_the_first_prompt() {
    let expected = ["L2 unreachable relinked L1 order", "L3 unreachable relinked L2 order"];
    let repair = check_script("u1 ^null: one\nu2 ^null @+60: two\na2 ^null @+60: two", &expected);
    assert_eq!(repair.after.reachable, ReachableEntries { reachable: 3, total: 3 });
    // Neither a uuid nor a parent.
    let line = |kind: &str, text: &str| {
        format!(
            r#"{{"type":"{kind}","message":{{"role":"{kind}","content":"{text}"}},"timestamp":"2026-01-01T00:00:00Z"}}"#
        )
    };
    let text = [line("user", "one"), line("assistant", "one"), line("user", "two")].join("\n") + "\n";
    let store = TestStore::new(text.as_bytes());
    let repair = store.repair(true).expect("the session can be repaired");
    assert_eq!(repair.after.reachable, ReachableEntries { reachable: 3, total: 3 }, "{:?}", repair.fixes);
}

#[test]
fn missing_entries_are_removed_from_the_list_of_preserved_ones() {
    let text = "
        * v=2.1.325
        u1: one
          a1: one
            u2: two
              a2: two
        s1 ~a2 @+60 list=u2,gone,a2>u3: compact_boundary
          u3 ^s1 recap: so far
            u4 @+60: on
    ";
    let repair = check_script(text, &["L5 unreachable preserved-removed"]);
    assert_eq!(repair.after.reachable, ReachableEntries { reachable: 6, total: 6 });
}

#[test]
fn pinned_branch_stays_the_one_to_resume_from() {
    // The user went back to the first branch. A line of the other one is lost.
    let text = "
        * v=2.1.325
        u1: one
          a1: one
            u2: old
              a2: old
            u3: new
              a3: new
        u4 ^gone @+60: newer
          a4: newer
        last-prompt ~a2 +explicit=true: old
    ";
    let store = TestStore::new(&script::bytes(text));
    let repair = store.repair(true).expect("the session can be repaired");
    let Some(RepairTarget::InPlace { expected_loads, .. }) = &repair.target else { panic!("it is repaired") };
    assert!(expected_loads.iter().all(|load| load.path.len() == 4), "{expected_loads:?}");
}

#[test]
fn entries_are_not_linked_across_a_compaction() {
    let damaged = "u1: one\n  a1: one\ns1 ~gone: compact_boundary\nu2 ^gone recap @+60: so far\n  a2: ok\nu3 ^lost @+90: on\n  a3: on";
    let expected = [
        "L4 missing-parent relinked L3 order",
        "L6 missing-parent relinked L5 order",
        "L3 missing-logical-parent logical-parent-set L2",
    ];
    check_script(damaged, &expected);
}

#[test]
fn cycles_are_broken() {
    let cycle = "* v=2.1.15\nu1 ^a2: one\na1 ^: one\nu2 ^: two\na2 ^: two";
    check_script(cycle, &["L1 cycle relinked - root"]);
    let own_parent = "* v=2.1.15\nu1: one\n  a1: one\nu2 ^u2 @+60: two\n  a2: two";
    check_script(own_parent, &["L3 cycle relinked L2 order"]);
}

#[test]
fn repeated_uuids_are_replaced_and_replayed_lines_removed() {
    let mut damaged = script::bytes(
        "u1: one\n  a1: one\n    u2: two\n      a2: two\na1 ^u1 @+60: another\n  u3: three\n    a3: three",
    );
    check(&damaged, &["L5 repeated-uuid uuid-assigned", "L6 repeated-uuid relinked L5 order"]);
    let first_line = damaged.split_inclusive(|&byte| byte == b'\n').next().expect("a line").to_vec();
    damaged.extend(first_line);
    let expected = [
        "L8 replayed-line line-removed",
        "L5 repeated-uuid uuid-assigned",
        "L6 repeated-uuid relinked L5 order",
    ];
    check(&damaged, &expected);
}

#[test]
fn unpaired_calls_get_a_result_and_unpaired_results_are_removed() {
    // The client handles these itself, so they are repaired only together with another problem.
    let unpaired_call = "u1: one\n  a1: !Bash ls\nu2 ^gone @+60: two\n  a2: two";
    let expected = [
        "L3 missing-parent relinked L2 order",
        "L2 unpaired-call result-added",
        "L3 unpaired-call relinked - added",
    ];
    check_script(unpaired_call, &expected);
    let unpaired_result = "u1: one\n  a1: one\nu2 ^gone @+60: =a9 what was it\n  a2: two";
    let expected = [
        "L3 missing-parent relinked L2 order",
        "L3 unpaired-result line-removed",
        "L4 unpaired-result relinked L2 ancestor",
    ];
    check_script(unpaired_result, &expected);
}

#[test]
fn oversized_images_are_replaced_and_can_be_extracted() {
    let script = String::from_utf8(script::bytes("u1: look\n  a1: I see")).expect("a script is text");
    // The first image is 9,000 pixels wide according to its header. The second one is valid but has a wrong media type.
    let wide = "iVBORw0KGgoAAAANSUhEUgAAIygAAAAB";
    let small = "iVBORw0KGgoAAAANSUhEUgAAACgAAAAB";
    let image_block = |media: &str, data: &str| {
        format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"{media}","data":"{data}"}}}}"#)
    };
    let blocks = format!(
        r#""content":[{{"type":"text","text":"look"}},{},{}]"#,
        image_block("image/png", wide),
        image_block("image/jpeg", small)
    );
    let damaged = script.replacen(r#""content":"look""#, &blocks, 1);
    assert_ne!(damaged, script);
    let store = TestStore::new(damaged.as_bytes());
    let folder = store.folder.path().join("images");
    let request = RepairRequest { extract: Some(folder), ..store.request() };
    let repair = ops::repair::repair(&request, &store.writer).expect("the session can be repaired");
    assert_eq!(fix_texts(&repair), ["L1 image-too-large image-replaced", "L1 image-mislabelled relabelled"]);
    assert!(repairable(&repair.after.findings).is_empty(), "{:?}", repair.after.findings);
    let [extracted] = &repair.images[..] else { panic!("one image is extracted: {:?}", repair.images) };
    assert!(std::fs::read(extracted).expect("the image exists").starts_with(b"\x89PNG\r\n\x1a\n"));
    let line = read_lines(&repaired_path(&repair, &store)).remove(0);
    let line = String::from_utf8(line).expect("text");
    assert!(line.contains("exceeds a limit of the API: image/png, 9000 x 1 pixels"), "{line}");
    assert!(!line.contains(wide) && line.contains(&image_block("image/png", small)), "{line}");
}

#[test]
fn thinking_without_signature_is_removed() {
    let script = String::from_utf8(script::bytes(
        "u1: one\n  a1: ?hm | yes\n    u2: two\n      a2: ?so\n        u3: three\n          a3: done",
    ));
    let script = script.expect("a script is text");
    let damaged = script.replace(r#""signature""#, r#""lost""#);
    let store = TestStore::new(damaged.as_bytes());
    let repair = store.repair(true).expect("the session can be repaired");
    assert_eq!(fix_texts(&repair)[0], "L2 thinking-unsigned blocks-removed [0]");
    assert!(repairable(&repair.after.findings).is_empty(), "{:?}", repair.after.findings);
}

#[test]
fn unpaired_calls_can_be_dropped() {
    let store =
        TestStore::new(&script::bytes("u1: one\n  a1: let me see | !Bash ls\nu2 ^gone @+60: two\n  a2: two"));
    let request = RepairRequest { drop_unpaired: true, ..store.request() };
    let repair = ops::repair::repair(&request, &store.writer).expect("the session can be repaired");
    let expected = ["L3 missing-parent relinked L2 order", "L2 unpaired-call blocks-removed [1]"];
    assert_eq!(fix_texts(&repair), expected);
}

#[test]
fn entries_are_recovered_from_damaged_lines_and_the_bytes_are_saved() {
    let file = script::bytes("u1: one\n  a1: one\n    u2: two\n      a2: two");
    let lines: Vec<&[u8]> = file.split(|&byte| byte == b'\n').collect();
    let damaged =
        [lines[0], b"\n", &lines[1][..40], lines[2], b"\n\0\0\0\0\n", lines[3], b"\n{\"type\":\"us"].concat();
    let store = TestStore::new(&damaged);
    let repair = store.repair(false).expect("the session can be repaired");
    let expected = [
        "L2 glued-line recovered 1",
        "L3 nul-bytes set-aside",
        "L5 torn-line set-aside",
        "L2 missing-parent relinked L1 order",
    ];
    assert_eq!(fix_texts(&repair), expected);
    let saved_path = repair.damaged.expect("damaged bytes are saved");
    let expected_bytes = [&lines[1][..40], lines[2], b"\n\0\0\0\0\n{\"type\":\"us\n"].concat();
    assert_eq!(std::fs::read(&saved_path).expect("the file exists"), expected_bytes);
    assert!(saved_path.parent().is_some_and(|folder| folder.with_extension("jsonl").is_file()));
}

#[test]
fn clients_resume_from_the_selected_leaf() {
    let store = TestStore::new(&script::bytes("u1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two"));
    let leaf = Some(EntrySelector { name: "L3".to_owned(), before: false, exact: true });
    let repair = ops::repair::repair(&RepairRequest { leaf, ..store.request() }, &store.writer)
        .expect("the session can be repaired");
    let Some(RepairTarget::New(session)) = &repair.target else { panic!("a new session") };
    let loads = &session.expected_loads;
    assert!(loads.iter().all(|load| load.path.len() == 3), "{loads:?}");
}

#[test]
fn long_session_becomes_completely_reachable() {
    const ENTRIES: usize = 5783;
    const REACHABLE: usize = 301;
    let mut text = String::from("u1 ^null: one\n");
    for idx in 2..=ENTRIES {
        let (kind, previous_kind) = if idx % 2 == 0 { ('a', 'u') } else { ('u', 'a') };
        // Three parents are missing. The entries after the last gap are still reachable.
        let has_gap = [1000, 3001, ENTRIES - REACHABLE + 1].contains(&idx);
        let parent = if has_gap { "gone".to_owned() } else { format!("{previous_kind}{}", idx - 1) };
        text += &format!("{kind}{idx} ^{parent} @+60: words {idx}\n");
    }
    let repair = check_script(
        &text,
        &[
            "L1000 missing-parent relinked L999 order",
            "L3001 missing-parent relinked L3000 order",
            "L5483 missing-parent relinked L5482 order",
        ],
    );
    let count = |reachable| ReachableEntries { reachable, total: ENTRIES };
    let reachable = (repair.before.reachable_entries(), repair.after.reachable);
    assert_eq!(reachable, (count(REACHABLE), count(ENTRIES)));
}

#[test]
fn intact_session_is_not_changed() {
    for text in
        ["u1: one\n  a1: one", "u1: one\n  a1: ?hm | !Bash ls\n    u2: =a1 a file\n      a2: done", ""]
    {
        let store = TestStore::new(&script::bytes(text));
        let before = store.read_files();
        for in_place in [true, false] {
            let repair = store.repair(in_place).expect("the session can be checked");
            assert!(repair.target.is_none() && repair.fixes.is_empty());
        }
        assert_eq!(store.read_files(), before);
    }
}

/// Returns the lines of a file that no fix changes.
fn unchanged_lines(bytes: &[u8], repair: &RepairReport) -> Vec<Vec<u8>> {
    let fixed: BTreeSet<u32> = repair.fixes.iter().filter_map(|repaired| repaired.line).collect();
    let lines = (1..).zip(bytes.split(|&byte| byte == b'\n'));
    let unchanged = lines.filter(|(number, _)| !fixed.contains(number)).map(|(_, line)| line.to_vec());
    unchanged.filter(|line| !line.is_empty()).collect()
}

fn read_lines(path: &Path) -> Vec<Vec<u8>> {
    std::fs::read(path).expect("the file exists").split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// Repairs a file in place and as a new session, and checks the laws.
fn check_laws(bytes: &[u8]) -> Result<(), TestCaseError> {
    for in_place in [true, false] {
        let store = TestStore::new(bytes);
        let before = store.read_files();
        let repair = match store.repair(in_place) {
            Ok(repair) => repair,
            // No repair makes this file loadable.
            Err(Error::NothingToLoad { .. } | Error::CannotResumeFrom { .. }) => {
                prop_assert_eq!(store.read_files(), before);
                continue;
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        if repair.target.is_none() {
            prop_assert_eq!(store.read_files(), before);
            continue;
        }
        let remaining = repairable(&repair.after.findings);
        prop_assert!(
            remaining.is_empty(),
            "{:?}, in place {}: {:?}",
            remaining,
            in_place,
            fix_texts(&repair)
        );
        if in_place {
            let lines = read_lines(&repaired_path(&repair, &store));
            let mut rest = lines.iter();
            for line in unchanged_lines(bytes, &repair) {
                prop_assert!(rest.any(|other| *other == line), "{}", String::from_utf8_lossy(&line));
            }
        } else {
            let original = std::fs::read(&store.session).ok();
            prop_assert_eq!(original.as_deref(), Some(bytes));
        }
        let undo = UndoRequest { even_if_live: true, ..UndoRequest::default() };
        ops::undo::undo(&store.writer, &undo).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(store.read_files(), before);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn random_sessions_are_repaired(bytes in random::file()) {
        check_laws(&bytes)?;
    }

    #[test]
    fn damaged_sessions_are_repaired(bytes in random::damaged(random::file())) {
        check_laws(&bytes)?;
    }
}

#[test]
fn relink_reasons_have_distinct_names() {
    let names: BTreeSet<&str> = [
        RelinkReason::Call,
        RelinkReason::Order,
        RelinkReason::Ancestor,
        RelinkReason::Added,
        RelinkReason::Root,
    ]
    .iter()
    .map(|reason| reason.name())
    .collect();
    assert_eq!(names.len(), 5);
}
