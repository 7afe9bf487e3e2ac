//! The laws of repair: what it claims to mend is mended, all else keeps its bytes, and undo brings every byte back.

#![expect(clippy::disallowed_methods, reason = "the test writes the store that it repairs")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rethread_engine::core::check::{Code, Diagnostic, Severity};
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::fix::{FixAction, RelinkReason};
use rethread_engine::ops::{self, EntrySelector, Repair, RepairRequest, UndoRequest, Written};
use rethread_engine::{Error, SessionWriter};
use rethread_testkit::{random, script};
use tempfile::TempDir;

struct Store {
    folder: TempDir,
    session: PathBuf,
    pen: SessionWriter,
}

impl Store {
    fn new(bytes: &[u8]) -> Store {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let project = folder.path().join("projects/-home-ada-shed");
        std::fs::create_dir_all(&project).expect("the folder can be made");
        let session = project.join(format!("{}.jsonl", script::uuid_of("session")));
        std::fs::write(&session, bytes).expect("the file can be written");
        let pen = SessionWriter::new(folder.path().join("state"));
        Store { folder, session, pen }
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

    fn repair(&self, in_place: bool) -> Result<Repair, Error> {
        ops::repair(&RepairRequest { in_place, ..self.request() }, &self.pen)
    }

    /// Returns every file of the project and what it holds.
    fn picture(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut picture = BTreeMap::new();
        let mut folders = vec![self.folder.path().join("projects")];
        while let Some(folder) = folders.pop() {
            for entry in
                std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path())
            {
                match std::fs::read(&entry) {
                    Ok(bytes) => drop(picture.insert(entry, bytes)),
                    Err(_) => folders.push(entry),
                }
            }
        }
        picture
    }
}

fn written(repair: &Repair, store: &Store) -> PathBuf {
    match &repair.written {
        Some(Written::New(born)) => born.path.clone(),
        _ => store.session.clone(),
    }
}

/// Tells what was mended: `L3 missing-parent relinked L2 order`.
fn told(repair: &Repair) -> Vec<String> {
    let line = |line: Option<u32>| line.map_or_else(|| "-".to_owned(), |line| format!("L{line}"));
    let tell = |mend: &ops::Repaired| {
        let act = &mend.mended.act;
        let more = match act {
            FixAction::Relinked { how, .. } => format!(" {} {}", line(mend.to_line), how.name()),
            FixAction::Followed { .. } => format!(" {}", line(mend.to_line)),
            FixAction::Salvaged(records) => format!(" {records}"),
            FixAction::BlocksLeftOut(blocks) => format!(" {blocks:?}"),
            _ => String::new(),
        };
        format!("{} {} {}{more}", line(mend.line), mend.mended.code.name(), act.name())
    };
    repair.mends.iter().map(tell).collect()
}

/// Repairs a script both ways, and checks what was mended and that no finding of that code is left.
#[track_caller]
fn check(sick: &[u8], expected: &[&str]) -> Repair {
    let mut last = None;
    for in_place in [true, false] {
        let store = Store::new(sick);
        let repair = store.repair(in_place).expect("it can be repaired");
        assert_eq!(told(&repair), expected);
        assert!(claimed(&repair.after.findings).is_empty(), "{:?}", repair.after.findings);
        last = Some(repair);
    }
    last.expect("it was repaired")
}

fn check_script(sick: &str, expected: &[&str]) -> Repair {
    check(&script::bytes(&sick.replace("\\0", "\0")), expected)
}

/// What repair claims to mend, whatever the file.
fn claimed(findings: &[Diagnostic]) -> Vec<(Code, Severity)> {
    let is_claimed = |finding: &&Diagnostic| match finding.code {
        Code::ClientHangs | Code::NoConversation | Code::Cycle | Code::ReplayedLine | Code::RepeatedUuid => {
            true
        }
        Code::TornLine | Code::GluedLine | Code::NulBytes | Code::NotJson => true,
        Code::UnpairedCall | Code::UnpairedResult | Code::ThinkingUnsigned | Code::ThinkingLast => true,
        Code::ImageTooLarge | Code::ImageMislabelled => true,
        Code::EmptyContent | Code::SnapshotCollision => finding.severity > Severity::Harmless,
        _ => false,
    };
    findings.iter().filter(is_claimed).map(|finding| (finding.code, finding.severity)).collect()
}

#[test]
fn islands_hang_on_what_they_followed() {
    let repair = check_script(
        "u1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two",
        &["L3 missing-parent relinked L2 order"],
    );
    assert_eq!((repair.before.within_reach(), repair.after.reach), ((2, 4), (4, 4)));
    // A result hangs on its call, whatever stands between.
    check_script(
        "u1: one\n  a1: !Bash ls\n    s1: informational x\nu2 ^gone @+60: =a1 a file\n  a2: done",
        &["L4 missing-parent relinked L2 call"],
    );
    // Nobody named a parent.
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
fn nothing_hangs_on_what_a_compaction_has_behind_it() {
    let sick = "u1: one\n  a1: one\ns1 ~gone: compact_boundary\nu2 ^gone recap @+60: so far\n  a2: ok\nu3 ^lost @+90: on\n  a3: on";
    let expected = [
        "L4 missing-parent relinked L3 order",
        "L6 missing-parent relinked L5 order",
        "L3 missing-logical-parent followed L2",
    ];
    check_script(sick, &expected);
}

#[test]
fn circles_are_cut() {
    let circle = "* v=2.1.15\nu1 ^a2: one\na1 ^: one\nu2 ^: two\na2 ^: two";
    check_script(circle, &["L1 cycle relinked - beginning"]);
    let own = "* v=2.1.15\nu1: one\n  a1: one\nu2 ^u2 @+60: two\n  a2: two";
    check_script(own, &["L3 cycle relinked L2 order"]);
}

#[test]
fn repeated_uuids_are_parted_and_replays_leave() {
    let mut sick = script::bytes(
        "u1: one\n  a1: one\n    u2: two\n      a2: two\na1 ^u1 @+60: another\n  u3: three\n    a3: three",
    );
    check(&sick, &["L5 repeated-uuid renamed", "L6 repeated-uuid relinked L5 order"]);
    let first = sick.split_inclusive(|&byte| byte == b'\n').next().expect("a line").to_vec();
    sick.extend(first);
    let expected =
        ["L8 replayed-line left-out", "L5 repeated-uuid renamed", "L6 repeated-uuid relinked L5 order"];
    check(&sick, &expected);
}

#[test]
fn what_is_sent_and_refused_leaves_or_gets_its_other_half() {
    // What only the client sees to is mended where there is something else to mend.
    let cut = "u1: one\n  a1: !Bash ls\nu2 ^gone @+60: two\n  a2: two";
    let expected = [
        "L3 missing-parent relinked L2 order",
        "L2 unpaired-call answered",
        "L3 unpaired-call relinked - added",
    ];
    check_script(cut, &expected);
    let result = "u1: one\n  a1: one\nu2 ^gone @+60: =a9 what was it\n  a2: two";
    let expected = [
        "L3 missing-parent relinked L2 order",
        "L3 unpaired-result left-out",
        "L4 unpaired-result relinked L2 above",
    ];
    check_script(result, &expected);
}

#[test]
fn pictures_over_a_limit_give_way_and_can_be_kept() {
    let talk = String::from_utf8(script::bytes("u1: look\n  a1: I see")).expect("a script is text");
    // A header says 9,000 pixels; behind a wrong name stands a sound one.
    let wide = "iVBORw0KGgoAAAANSUhEUgAAIygAAAAB";
    let small = "iVBORw0KGgoAAAANSUhEUgAAACgAAAAB";
    let picture = |media: &str, data: &str| {
        format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"{media}","data":"{data}"}}}}"#)
    };
    let blocks = format!(
        r#""content":[{{"type":"text","text":"look"}},{},{}]"#,
        picture("image/png", wide),
        picture("image/jpeg", small)
    );
    let sick = talk.replacen(r#""content":"look""#, &blocks, 1);
    assert_ne!(sick, talk);
    let store = Store::new(sick.as_bytes());
    let folder = store.folder.path().join("pictures");
    let request = RepairRequest { extract: Some(folder), ..store.request() };
    let repair = ops::repair(&request, &store.pen).expect("it can be repaired");
    assert_eq!(told(&repair), ["L1 image-too-large told", "L1 image-mislabelled relabelled"]);
    assert!(claimed(&repair.after.findings).is_empty(), "{:?}", repair.after.findings);
    let [kept] = &repair.pictures[..] else { panic!("one picture is kept: {:?}", repair.pictures) };
    assert!(std::fs::read(kept).expect("it is there").starts_with(b"\x89PNG\r\n\x1a\n"));
    let line = lines_of(&written(&repair, &store)).remove(0);
    let line = String::from_utf8(line).expect("text");
    assert!(line.contains("a picture stood here: image/png, 9000 x 1 pixels"), "{line}");
    assert!(!line.contains(wide) && line.contains(&picture("image/png", small)), "{line}");
}

#[test]
fn thoughts_without_a_signature_leave_whole() {
    let talk = String::from_utf8(script::bytes(
        "u1: one\n  a1: ?hm | yes\n    u2: two\n      a2: ?so\n        u3: three\n          a3: done",
    ));
    let talk = talk.expect("a script is text");
    let sick = talk.replace(r#""signature""#, r#""lost""#);
    let store = Store::new(sick.as_bytes());
    let repair = store.repair(true).expect("it can be repaired");
    assert_eq!(told(&repair)[0], "L2 thinking-unsigned blocks-left-out [0]");
    assert!(claimed(&repair.after.findings).is_empty(), "{:?}", repair.after.findings);
}

#[test]
fn calls_without_a_result_may_leave() {
    let store =
        Store::new(&script::bytes("u1: one\n  a1: let me see | !Bash ls\nu2 ^gone @+60: two\n  a2: two"));
    let request = RepairRequest { drop_unpaired: true, ..store.request() };
    let repair = ops::repair(&request, &store.pen).expect("it can be repaired");
    let expected = ["L3 missing-parent relinked L2 order", "L2 unpaired-call blocks-left-out [1]"];
    assert_eq!(told(&repair), expected);
}

#[test]
fn records_are_read_out_of_damaged_lines_and_the_bytes_are_kept() {
    let talk = script::bytes("u1: one\n  a1: one\n    u2: two\n      a2: two");
    let lines: Vec<&[u8]> = talk.split(|&byte| byte == b'\n').collect();
    let glued =
        [lines[0], b"\n", &lines[1][..40], lines[2], b"\n\0\0\0\0\n", lines[3], b"\n{\"type\":\"us"].concat();
    let store = Store::new(&glued);
    let repair = store.repair(false).expect("it can be repaired");
    let expected = [
        "L2 glued-line salvaged 1",
        "L3 nul-bytes set-aside",
        "L5 torn-line set-aside",
        "L2 missing-parent relinked L1 order",
    ];
    assert_eq!(told(&repair), expected);
    let aside = repair.damaged.expect("damaged bytes are kept");
    let kept = [&lines[1][..40], lines[2], b"\n\0\0\0\0\n{\"type\":\"us\n"].concat();
    assert_eq!(std::fs::read(&aside).expect("it is there"), kept);
    assert!(aside.parent().is_some_and(|folder| folder.with_extension("jsonl").is_file()));
}

#[test]
fn clients_go_on_from_the_entry_that_is_named() {
    let store = Store::new(&script::bytes("u1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two"));
    let leaf = Some(EntrySelector { name: "L3".to_owned(), before: false, exact: true });
    let repair =
        ops::repair(&RepairRequest { leaf, ..store.request() }, &store.pen).expect("it can be repaired");
    let Some(Written::New(born)) = &repair.written else { panic!("a new session") };
    assert!(born.promises.iter().all(|promise| promise.path.len() == 3), "{:?}", born.promises);
}

#[test]
fn most_of_a_long_session_comes_back() {
    const ENTRIES: usize = 5783;
    const REACHED: usize = 301;
    let mut text = String::from("u1 ^null: one\n");
    for no in 2..=ENTRIES {
        let role = if no % 2 == 0 { 'a' } else { 'u' };
        let before = if no % 2 == 0 { 'u' } else { 'a' };
        // Three gaps: what is behind the last can still be reached.
        let gap = [1000, 3001, ENTRIES - REACHED + 1].contains(&no);
        let parent = if gap { "gone".to_owned() } else { format!("{before}{}", no - 1) };
        text += &format!("{role}{no} ^{parent} @+60: words {no}\n");
    }
    let repair = check_script(
        &text,
        &[
            "L1000 missing-parent relinked L999 order",
            "L3001 missing-parent relinked L3000 order",
            "L5483 missing-parent relinked L5482 order",
        ],
    );
    assert_eq!(repair.before.within_reach(), (REACHED, ENTRIES));
    assert_eq!(repair.after.reach, (ENTRIES, ENTRIES));
}

#[test]
fn a_healthy_session_stays_as_it_is() {
    for talk in
        ["u1: one\n  a1: one", "u1: one\n  a1: ?hm | !Bash ls\n    u2: =a1 a file\n      a2: done", ""]
    {
        let store = Store::new(&script::bytes(talk));
        let before = store.picture();
        for in_place in [true, false] {
            let repair = store.repair(in_place).expect("it can be looked at");
            assert!(repair.written.is_none() && repair.mends.is_empty());
        }
        assert_eq!(store.picture(), before);
    }
}

/// The lines of a file that no mend touches.
fn untouched(bytes: &[u8], repair: &Repair) -> Vec<Vec<u8>> {
    let touched: BTreeSet<u32> = repair.mends.iter().filter_map(|mend| mend.line).collect();
    let lines = (1..).zip(bytes.split(|&byte| byte == b'\n'));
    let still = lines.filter(|(no, _)| !touched.contains(no)).map(|(_, line)| line.to_vec());
    still.filter(|line| !line.is_empty()).collect()
}

fn lines_of(path: &Path) -> Vec<Vec<u8>> {
    std::fs::read(path).expect("it is there").split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// Repairs a file in both ways and checks the laws.
fn law(bytes: &[u8]) -> Result<(), TestCaseError> {
    for in_place in [true, false] {
        let store = Store::new(bytes);
        let before = store.picture();
        let repair = match store.repair(in_place) {
            Ok(repair) => repair,
            // Nothing in it can be loaded, whatever is done.
            Err(Error::NothingToLoad { .. } | Error::CannotResumeFrom { .. }) => {
                prop_assert_eq!(store.picture(), before);
                continue;
            }
            Err(failure) => return Err(TestCaseError::fail(failure.to_string())),
        };
        if repair.written.is_none() {
            prop_assert_eq!(store.picture(), before);
            continue;
        }
        let left = claimed(&repair.after.findings);
        prop_assert!(left.is_empty(), "{:?}, in place {}: {:?}", left, in_place, told(&repair));
        if in_place {
            let lines = lines_of(&written(&repair, &store));
            let mut at = lines.iter();
            for line in untouched(bytes, &repair) {
                prop_assert!(at.any(|other| *other == line), "{}", String::from_utf8_lossy(&line));
            }
        } else {
            let still = std::fs::read(&store.session).ok();
            prop_assert_eq!(still.as_deref(), Some(bytes));
        }
        let undo = UndoRequest { even_if_live: true, ..UndoRequest::default() };
        ops::undo(&store.pen, &undo).map_err(|failure| TestCaseError::fail(failure.to_string()))?;
        prop_assert_eq!(store.picture(), before);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn random_sessions_are_mended(bytes in random::file()) {
        law(&bytes)?;
    }

    #[test]
    fn damaged_sessions_are_mended(bytes in random::damaged(random::file())) {
        law(&bytes)?;
    }
}

#[test]
fn reasons_have_names_that_differ() {
    let names: BTreeSet<&str> = [
        RelinkReason::Call,
        RelinkReason::Order,
        RelinkReason::Above,
        RelinkReason::Added,
        RelinkReason::Beginning,
    ]
    .iter()
    .map(|how| how.name())
    .collect();
    assert_eq!(names.len(), 5);
}
