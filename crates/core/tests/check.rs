//! Findings, one case per code: the smallest file that has it, and its healthy twin.

use std::collections::HashSet;

use rethread_core::check::{
    CheckCollector, CheckInput, Code, Diagnostic, Impact, Severity, SizeCategory, SuggestedFix, run_checks,
};
use rethread_core::entry::Reader;
use rethread_core::id::Id;
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{KNOWN_CLIENTS, ResumeIndex, simulate_resume};
use rethread_core::tree::{LineSpan, Tree, TreeBuilder};
use rethread_core::version::Version;
use rethread_testkit::{random, script};

/// A session that was examined.
struct Examined {
    tree: Tree,
    checkup: CheckCollector,
    findings: Vec<Diagnostic>,
}

/// Examines bytes as a client reads them: whole lines only.
fn examined(bytes: &[u8], live: bool) -> Examined {
    let mut weaver = TreeBuilder::with_content_hashes();
    let mut facts = ResumeIndex::default();
    let mut checkup = CheckCollector::default();
    let mut problems = Vec::new();
    let mut reader = Reader::default();
    LineSplitter::default().feed(bytes, true, &mut problems, |line, problems| {
        reader.read(&line, problems, |entry, offset| {
            let place = LineSpan { offset, len: entry.raw.len() as u32, line: line.no };
            if entry.raw.len() < line.bytes.len() || !entry.is_strict_json() {
                return checkup.add_recovered(place);
            }
            weaver.add(&entry, place);
            facts.add(&entry, place);
            checkup.add(&entry, place);
        });
    });
    let tree = weaver.finish();
    checkup.finish(&tree, bytes.len() as u64);
    let newest = Version::read(KNOWN_CLIENTS[KNOWN_CLIENTS.len() - 1]);
    let client = facts.version().map_or_else(|| newest.clone(), Version::read);
    let resumed = simulate_resume(&tree, &facts, &client);
    let latest = simulate_resume(&tree, &facts, &newest);
    let findings = run_checks(&CheckInput {
        tree: &tree,
        facts: &facts,
        checkup: &checkup,
        problems: &problems,
        resume: &resumed,
        newest: &latest,
        session: Some(Id::of(script::uuid_of("session").as_bytes())),
        live,
    });
    Examined { tree, checkup, findings }
}

/// Tells findings: `code severity L1 L2.block L3.block.inner`.
fn told(bytes: &[u8]) -> Vec<String> {
    examined(bytes, false).findings.iter().map(tell).collect()
}

fn tell(finding: &Diagnostic) -> String {
    let number = |number: Option<u16>| number.map_or(String::new(), |number| format!(".{number}"));
    let spots = finding.spots.iter();
    let spots = spots.map(|spot| format!(" L{}{}{}", spot.line, number(spot.block), number(spot.inner)));
    format!("{} {}{}", finding.code.name(), finding.severity.name(), spots.collect::<String>())
}

/// Checks that a script has a finding, told as `expected`, and that its twin has none of that code.
#[track_caller]
fn check(expected: &str, sick: &str, twin: &str) {
    let bytes = |text: &str| script::bytes(&text.replace("\\0", "\0"));
    check_bytes(expected, &bytes(sick), &bytes(twin));
}

#[track_caller]
fn check_bytes(expected: &str, sick: &[u8], twin: &[u8]) {
    let found = told(sick);
    assert!(found.iter().any(|found| found == expected), "no `{expected}` among {found:#?}");
    let code = expected.split(' ').next().unwrap_or_default();
    let healthy = told(twin);
    assert!(!healthy.iter().any(|found| found.starts_with(&format!("{code} "))), "the twin: {healthy:#?}");
}

const TALK: &str = "u1: one\n  a1: one\n    u2: two\n      a2: two";

#[test]
fn a_healthy_session_has_no_finding() {
    assert_eq!(told(&script::bytes(TALK)), Vec::<String>::new());
    assert_eq!(told(b""), Vec::<String>::new());
    let tools = "u1: one\n  a1: ?hm | let me see | !Bash ls\n    u2: =a1 a file\n      a2: done";
    assert_eq!(told(&script::bytes(tools)), Vec::<String>::new());
}

#[test]
fn codes_are_stable_names_that_differ() {
    let names: HashSet<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), Code::ALL.len());
    assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
}

#[test]
fn a_missing_parent_costs_what_it_cuts_off() {
    let cut = "u1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two";
    check("missing-parent costs L3", cut, TALK);
    check("unreachable costs L1 L2", cut, TALK);
    // A file that lost its head holds nothing that could be lost.
    let head = "u1 ^gone: one\n  a1: one";
    check("missing-parent harmless L1", head, TALK);
    assert_eq!(told(&script::bytes(head)), ["missing-parent harmless L1"]);
    // What hangs elsewhere is lost, not what is loaded.
    let island = "u1: one\nu8 ^gone @+90: lost\n  a8: lost\na1 ^u1 @+90: one";
    check("missing-parent costs L2", &format!("{island}\n  u2: two\n    a2: two"), TALK);
}

#[test]
fn a_missing_logical_parent_is_harmless() {
    let sick = "u1: one\n  a1: one\ns1 ~gone: compact_boundary\n  u2 recap: so far\n    a2: ok";
    check("missing-logical-parent harmless L3", sick, &sick.replace("~gone", "~a1"));
}

#[test]
fn a_circle_hangs_old_clients() {
    let circle = |version: &str| format!("* v={version}\nu1 ^a2: one\na1 ^: one\nu2 ^: two\na2 ^: two");
    check("client-hangs blocks L1 L2 L3 L4", &circle("2.1.15"), &circle("2.1.42"));
    check("cycle blocks L1", &circle("2.1.15"), TALK);
    check("cycle harmless L1", &circle("2.1.325"), TALK);
    check("no-conversation blocks L1 L2 L3 L4", &circle("2.1.104"), TALK);
    let own = "u1: one\n  a1: one\nu2 ^u2 @+60: two\n  a2: two";
    check("cycle costs L3", &format!("* v=2.1.325\n{own}\nu3 ^a1 @+90: three\n  a3: three"), TALK);
}

#[test]
fn repeated_uuids_are_told_by_cause() {
    let twice = format!("{TALK}\nu2 ^a1: two");
    let bytes = script::bytes(TALK);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    check_bytes("replayed-line harmless L5", &[&bytes[..], lines[2]].concat(), &bytes);
    check("copied-entry harmless L5", &twice, TALK);
    check("repeated-uuid costs L5", &twice.replace("two", "other").replacen("other", "two", 1), TALK);
    let uuid = script::uuid_of("u2");
    let snapshot = format!(r#"{{"type":"file-history-snapshot","uuid":"{uuid}","snapshot":{{}}}}"#);
    check("snapshot-collision costs L5", &format!("{TALK}\nraw: {snapshot}"), &twice);
    let first = format!("raw: {snapshot}\n{TALK}");
    check("snapshot-collision harmless L4", &first, TALK);
}

#[test]
fn a_progress_line_forks_the_chain() {
    let sick = "
        * v=2.1.42
        u1: one
          a1: !Bash sleep
            p1: bash_progress still
              u2 @+50: are you there
                a2 @+50: yes
            u3 ^a1 @+1: =a1 done
              a3 @+1: it is done
                u4 @+1: good
                  a4 @+1: yes
                    u5 @+1: more
    ";
    let found = told(&script::bytes(sick));
    assert!(found.iter().any(|found| found.starts_with("fork-by-progress ")), "{found:#?}");
    let harmless =
        "* v=2.1.42\nu1: one\n  a1: !Bash x\n    p1: hook_progress x\n    u2: =a1 done\n      a2: ok";
    check("fork-by-progress harmless L2", harmless, &harmless.replace("    p1: hook_progress x\n", ""));
    let chain = "* v=2.0.76\nu1: one\n  p1: hook_progress x\n    a1: one\n      u2: two";
    let found = told(&script::bytes(chain));
    assert!(found.contains(&"fork-by-progress harmless L2".to_owned()), "{found:#?}");
}

#[test]
fn what_a_retry_left_aside_is_told() {
    let sick = "u1: one\n  a1 #m1: first\n  a2 #m2: second\n    u2: go on\n      a3: done";
    check("retry-orphan harmless L2", sick, TALK);
    let error = "u1: one\n  a1 apierror: API Error\n  a2: one\n    u2: two\n      a3: done";
    check("retry-orphan harmless L2", error, TALK);
    let talk =
        "u1: one\n  a1 #m1: first\n    u3: to the first\n  a2 #m2: second\n    u2: go on\n      a3: done";
    check("retry-orphan costs L2", talk, TALK);
}

#[test]
fn two_writers_lose_one_way() {
    let sick = "
        * v=2.1.325
        u1: one
          a1: one
            u2: left
            u3: right
              a3: right
        a2 ^u2: left again
          u4: left more
        a4 ^a3: right more
          u5: right end
    ";
    check("two-writers costs L3 L4", sick, TALK);
    // Clients that write late leave only the moments to tell.
    let late =
        "u1: one\n  a1: one\n    u2: left\n      a2 @+20: left\n    u3 @+-15: right\n      a3 @+20: right";
    check("two-writers costs L3 L5", late, TALK);
    let copied = "u1: one\n  a1: one\n    u2: left\n      a2 #m @+20: left\n    u3 @+-20: left\n      a3 #m @+20: left";
    assert!(!told(&script::bytes(copied)).iter().any(|found| found.starts_with("two-writers")));
    // A rewind leaves a way before it begins another.
    let rewind = "u1: one\n  a1: one\n    u2: left\n      a2: left\n    u3: right\n      a3: right";
    check("unreachable harmless L3 L4", rewind, TALK);
    assert!(!told(&script::bytes(rewind)).iter().any(|found| found.starts_with("two-writers")));
}

#[test]
fn lines_of_another_session_are_no_copies() {
    let mixed = "u1: one\n  a1: one\nu8 session=other: strange\n  a8 session=other: strange";
    check("foreign-lines harmless L3 L4", &format!("* v=2.1.325\n{mixed}\nu2 ^a1: two\n  a2: two"), TALK);
    check("foreign-lines costs L3 L4", mixed, TALK);
    // A fork copies lines with the id they had and goes on from them.
    let fork = "u1 session=other: one\n  a1 session=other: one\n    u2: two\n      a2: two";
    assert_eq!(told(&script::bytes(fork)), Vec::<String>::new());
    let compacted = "u1 session=other: one\n  a1 session=other: one\n    s1: compact_boundary\nu2 ^s1 recap: so far\n  a2: ok";
    assert_eq!(told(&script::bytes(compacted)), Vec::<String>::new());
}

#[test]
fn unpaired_calls_and_results_are_refused_or_seen_to() {
    let call = "u1: one\n  a1: !Bash ls\n    u2: never mind\n      a2: ok";
    check("unpaired-call harmless L2", &format!("* v=2.1.325\n{call}"), TALK);
    let result = "u1: one\n  a1: one\n    u2: =gone what\n      a2: ok";
    check("unpaired-result blocks L3.0", &format!("* v=2.0.1\n{result}"), TALK);
    check("unpaired-result harmless L3", &format!("* v=2.1.325\n{result}"), TALK);
    // The turn broke off: the client makes up a result.
    check("unpaired-call harmless L2.0", "* v=2.1.325\nu1: one\n  a1: !Bash ls", TALK);
    // Another branch does not matter.
    let other = "* v=2.1.325\nu1: one\n  a1: !Bash ls\nu2 ^null: again\n  a2: ok";
    assert!(!told(&script::bytes(other)).iter().any(|found| found.starts_with("unpaired")));
    // A result that comes too late for its message.
    let late = "* v=2.0.1\nu1: one\n  a1: !Bash ls\n    u2: words\n      a2: more\n        u3: =a1 late\n          a3: ok";
    check("unpaired-call blocks L2.0", late, TALK);
}

#[test]
fn thoughts_must_be_signed_and_not_last() {
    let with = |block: &str| format!("u1: one\n  a1: {block} | one\n    u2: two\n      a2: two");
    let signed = with("?hm");
    check("thinking-unsigned blocks L2.0", &with(r#"{"type":"thinking","thinking":"hm"}"#), &signed);
    let emptied = with(r#"{"type":"thinking","thinking":"","signature":"c2ln"}"#);
    check("thinking-emptied harmless L2.0", &emptied, &signed);
    check("thinking-last blocks L2.1", "u1: one\n  a1: one | ?hm\n    u2: two", &signed);
}

#[test]
fn empty_content_is_refused_or_seen_to() {
    let blank = |u1: &str, u2: &str| format!("u1: one{u1}\n  a1: one\n    u2: two{u2}");
    let block = r#" | {"type":"text","text":" "}"#;
    check("empty-content blocks L3.1", &blank("", block), TALK);
    // The API took it once.
    check("empty-content harmless L1", &blank(block, ""), TALK);
    check("empty-content harmless L2", "* v=2.1.325\nu1: one\n  a1: []\n    u2: two\n      a2: two", TALK);
}

fn picture(media: &str, bytes: &str) -> String {
    format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"{media}","data":"{bytes}"}}}}"#)
}

/// The first bytes of PNG pictures of 8001 × 1, 2001 × 1 and 8000 × 1 pixels.
const PNG_8001: &str = "iVBORw0KGgoAAAANSUhEUgAAH0EAAAAB";
const PNG_2001: &str = "iVBORw0KGgoAAAANSUhEUgAAB9EAAAAB";
const PNG_8000: &str = "iVBORw0KGgoAAAANSUhEUgAAH0AAAAAB";

#[test]
fn pictures_have_limits() {
    let shown = |picture: &str| format!("u1: {picture} | what is this\n  a1: a picture");
    let fine = shown(&picture("image/png", PNG_8000));
    check("image-too-large blocks L1.0", &shown(&picture("image/png", PNG_8001)), &fine);
    let heavy =
        |length: usize| shown(&picture("image/png", &("iVBORw0KGgo".to_owned() + &"A".repeat(length - 11))));
    check("image-too-large blocks L1.0", &heavy((5 << 20) + 4), &heavy(5 << 20));
    check("image-mislabelled blocks L1.0", &shown(&picture("image/jpeg", PNG_8000)), &fine);
    // Among more than twenty, each may have 2000 pixels.
    let many = |number: usize| {
        let small = picture("image/png", PNG_2001);
        format!("u1: {} | look\n  a1: many", vec![small.as_str(); number].join(" | "))
    };
    assert_eq!(told(&script::bytes(&many(20))), Vec::<String>::new());
    assert!(told(&script::bytes(&many(21)))[0].starts_with("image-too-large blocks L1.0 L1.1"));
    // What a tool shows stands inside its result.
    let inside = picture("image/png", PNG_8001);
    let result = format!(
        r#"{{"type":"tool_result","tool_use_id":"toolu_a1","content":[{{"type":"text","text":"x"}},{inside}]}}"#
    );
    let read = format!("u1: look\n  a1: !Read x.png\n    u2: {result}\n      a2: seen");
    check("image-too-large blocks L3.0.1", &read, &read.replace(PNG_8001, PNG_8000));
    // A picture on another branch is not sent.
    let left =
        format!("u1: {} | look\n  a1: seen\nu2 ^null: again\n  a2: fine", picture("image/png", PNG_8001));
    assert!(!told(&script::bytes(&left)).iter().any(|found| found.starts_with("image")));
}

#[test]
fn a_context_over_the_window_blocks() {
    let talk = |tokens: u64, words: usize, model: &str| {
        format!("u1: one\n  a1 in={tokens} model={model}: one\n    u2: {}", "w".repeat(words))
    };
    let sick = talk(190_000, 200_000, "m");
    check("context-over-window blocks L3", &sick, &talk(190_000, 2_000, "m"));
    check("context-over-window costs L3", &talk(190_000, 60_000, "m"), &talk(190_000, 200_000, "m[1m]"));
    let finding = &examined(&script::bytes(&sick), false).findings[0];
    assert_eq!(finding.mend, SuggestedFix::Rescue);
    let Impact::Tokens { tokens, window } = finding.measure else { panic!("{finding:?}") };
    assert_eq!((tokens > 230_000, window), (true, 200_000));
    // A context that the API once took is no larger than its window.
    assert_eq!(told(&script::bytes(&talk(300_000, 2_000, "m"))), Vec::<String>::new());
}

#[test]
fn a_resume_that_goes_on_from_an_older_branch_is_told() {
    let sick = "* v=2.1.221\nu1: one\n  a1: one\n    u2: old\n      a2: old\n    u3: new\n      a3: new\nlast-prompt ~a2: old";
    check("stale-leaf costs L5 L6", sick, &sick.replace("~a2", "~a3"));
    let found = examined(&script::bytes(sick), false);
    let stale = found.findings.iter().find(|finding| finding.code == Code::StaleLeaf).expect("it is found");
    let SuggestedFix::Goto(node) = stale.mend else { panic!("{stale:?}") };
    assert_eq!(found.tree.node(node).place.line, 6);
    // Whoever hung a later line there means it.
    let moved = sick.replace("last-prompt ~a2", "s1 ^a2: informational here\nlast-prompt ~s1");
    check("stale-leaf harmless L5 L6", &moved, &moved.replace("^a2", "^a3"));
}

#[test]
fn what_only_an_older_client_loses_is_harmless() {
    let sick = "* v=2.1.42\nu1: one\n  a1 #m: !Bash a\n    a2 #m: !Bash b\n      u3: =a2 b\n    u2 ^a1: =a1 a\n      a3: done";
    let found = examined(&script::bytes(sick), false);
    let lost = found.findings.iter().find(|finding| finding.code == Code::Unreachable).expect("it is found");
    assert_eq!((lost.severity, lost.mend), (Severity::Harmless, SuggestedFix::Update));
    assert!(matches!(lost.measure, Impact::ByClient { part: 2, whole: 6 }), "{:?}", lost.measure);
}

#[test]
fn answers_without_a_parent_are_no_beginnings() {
    let loose = "u1: one\na1: one\nu2: two\na2: two";
    check("unreachable costs L1 L2 L3", loose, TALK);
    // A rewind to the first prompt begins again.
    let again = "u1: one\n  a1: one\nu2: two\n  a2: two";
    assert_eq!(told(&script::bytes(again)), ["unreachable harmless L1 L2"]);
}

#[test]
fn lines_without_a_uuid_are_out_of_reach() {
    let line = r#"raw: {"type":"user","parentUuid":null,"message":{"role":"user","content":"x"}}"#;
    check("unreachable costs L5", &format!("{TALK}\n{line}"), TALK);
}

#[test]
fn damaged_lines_cost_the_records_on_them() {
    let bytes = script::bytes(TALK);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let glued = [lines[0], lines[1].trim_ascii_end(), lines[2], lines[3]].concat();
    check_bytes("glued-line costs L2", &glued, &bytes);
    let torn = &bytes[..bytes.len() - 40];
    check_bytes("torn-line costs L4", torn, &bytes);
    let live = examined(torn, true).findings;
    assert_eq!((live[0].severity, live[0].mend), (Severity::Harmless, SuggestedFix::Wait));
    let nuls = [lines[0], &[0; 9], lines[1], lines[2], lines[3]].concat();
    check_bytes("nul-bytes costs L2", &nuls, &bytes);
    check_bytes("nul-bytes harmless L5", &[&bytes[..], &[0; 9], b"\n"].concat(), &bytes);
    check("not-json harmless L5", &format!("{TALK}\nraw: // a note"), TALK);
    let lost = [lines[0], b"{\"type\":\"assistant\",\n", lines[2], lines[3]].concat();
    check_bytes("not-json costs L2", &lost, &bytes);
}

#[test]
fn records_on_damaged_lines_can_be_had_back() {
    let bytes = script::bytes(TALK);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let glued = [lines[0], lines[1].trim_ascii_end(), lines[2], lines[3]].concat();
    let found = examined(&glued, false);
    let salvage: Vec<&[u8]> = found
        .checkup
        .salvage()
        .iter()
        .map(|place| &glued[place.offset as usize..place.offset as usize + place.len as usize])
        .collect();
    assert_eq!(salvage, [lines[1].trim_ascii_end(), lines[2].trim_ascii_end()]);
}

#[test]
fn every_code_is_checked_here() {
    let cases = include_str!("check.rs");
    for code in Code::ALL {
        assert!(cases.contains(&format!("\"{} ", code.name())), "no case for {}", code.name());
    }
}

#[test]
fn bytes_add_up_by_cause() {
    let text = format!(
        "{TALK}\n  p1: bash_progress x\n  t1: file x\nmode: normal\nfile-history-snapshot ~u1: x\nraw: // note\nu7 ^a2: {} | look\n  a7: !Bash x\n    u8: =a7 done",
        picture("image/png", PNG_8000)
    );
    let bytes = script::bytes(&text);
    let weight = examined(&bytes, false).checkup.weight();
    assert_eq!(weight.total(), bytes.len() as u64);
    for cause in SizeCategory::ALL.iter().filter(|cause| **cause != SizeCategory::ApiLog) {
        assert!(weight.of(*cause) > 0, "{}", cause.name());
    }
    assert_eq!(weight.of(SizeCategory::Unread), 8);
}

#[test]
fn any_file_is_examined() {
    use proptest::prelude::*;
    proptest!(ProptestConfig::with_cases(128), |(bytes in random::damaged(random::file()))| {
        let found = examined(&bytes, false);
        prop_assert_eq!(found.checkup.weight().total(), bytes.len() as u64);
        for finding in &found.findings {
            prop_assert!(!finding.spots.is_empty());
            let nodes = finding.spots.iter().filter_map(|spot| spot.node.or(spot.other));
            prop_assert!(nodes.into_iter().all(|no| (no as usize) < found.tree.nodes().len()));
        }
        let severities: Vec<Severity> = found.findings.iter().map(|finding| finding.severity).collect();
        prop_assert!(severities.is_sorted_by(|a, b| a >= b));
    });
}
