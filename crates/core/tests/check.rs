//! Tests of the checks, one case per code: the smallest file that has the problem, and a healthy variant.

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

/// A session with its diagnostics.
struct CheckedSession {
    tree: Tree,
    collector: CheckCollector,
    diagnostics: Vec<Diagnostic>,
}

/// Checks a file as clients read it: complete lines only.
fn check_session(bytes: &[u8], live: bool) -> CheckedSession {
    let mut builder = TreeBuilder::with_content_hashes();
    let mut index = ResumeIndex::default();
    let mut collector = CheckCollector::default();
    let mut problems = Vec::new();
    let mut reader = Reader::default();
    LineSplitter::default().feed(bytes, true, &mut problems, |line, problems| {
        reader.read_line(&line, problems, |entry, offset| {
            let span = LineSpan { offset, len: entry.raw.len() as u32, line: line.number };
            if entry.raw.len() < line.bytes.len() || !entry.is_strict_json() {
                return collector.add_recovered(span);
            }
            builder.add_entry(&entry, span);
            index.add_entry(&entry, span);
            collector.add_entry(&entry, span);
        });
    });
    let tree = builder.finish();
    collector.finish(&tree, bytes.len() as u64);
    let newest = Version::parse_lenient(KNOWN_CLIENTS[KNOWN_CLIENTS.len() - 1]);
    let client = index.version().map_or_else(|| newest.clone(), Version::parse_lenient);
    let outcome = simulate_resume(&tree, &index, &client);
    let latest = simulate_resume(&tree, &index, &newest);
    let diagnostics = run_checks(&CheckInput {
        tree: &tree,
        resume_index: &index,
        collector: &collector,
        problems: &problems,
        resume: &outcome,
        newest: &latest,
        session: Some(Id::from_text(script::uuid_from_name("session").as_bytes())),
        live,
    });
    CheckedSession { tree, collector, diagnostics }
}

/// Describes the diagnostics of a file as `code severity L1 L2.block L3.block.inner`.
fn describe_all(bytes: &[u8]) -> Vec<String> {
    check_session(bytes, false).diagnostics.iter().map(describe).collect()
}

fn describe(diagnostic: &Diagnostic) -> String {
    let number = |number: Option<u16>| number.map_or(String::new(), |number| format!(".{number}"));
    let locations = diagnostic.locations.iter();
    let locations = locations
        .map(|location| format!(" L{}{}{}", location.line, number(location.block), number(location.inner)));
    format!("{} {}{}", diagnostic.code.name(), diagnostic.severity.name(), locations.collect::<String>())
}

/// Asserts that a script has the `expected` diagnostic, and that its healthy variant has none with that code.
#[track_caller]
fn check(expected: &str, broken: &str, healthy: &str) {
    let bytes = |text: &str| script::bytes(&text.replace("\\0", "\0"));
    check_bytes(expected, &bytes(broken), &bytes(healthy));
}

#[track_caller]
fn check_bytes(expected: &str, broken: &[u8], healthy: &[u8]) {
    let found = describe_all(broken);
    assert!(found.iter().any(|text| text == expected), "no `{expected}` among {found:#?}");
    let code = expected.split(' ').next().unwrap_or_default();
    let found = describe_all(healthy);
    assert!(
        !found.iter().any(|text| text.starts_with(&format!("{code} "))),
        "the healthy variant: {found:#?}"
    );
}

const HEALTHY: &str = "u1: one\n  a1: one\n    u2: two\n      a2: two";

#[test]
fn healthy_session_has_no_diagnostics() {
    assert_eq!(describe_all(&script::bytes(HEALTHY)), Vec::<String>::new());
    assert_eq!(describe_all(b""), Vec::<String>::new());
    let tools = "u1: one\n  a1: ?hm | let me see | !Bash ls\n    u2: =a1 a file\n      a2: done";
    assert_eq!(describe_all(&script::bytes(tools)), Vec::<String>::new());
}

#[test]
fn code_names_are_unique() {
    let names: HashSet<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(names.len(), Code::ALL.len());
    assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
}

#[test]
fn missing_parent_warns_about_the_entries_it_cuts_off() {
    let cut = "u1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two";
    check("missing-parent warning L3", cut, HEALTHY);
    check("unreachable warning L1 L2", cut, HEALTHY);
    // If the start of the file is missing, no entry of the file is lost.
    let head = "u1 ^gone: one\n  a1: one";
    check("missing-parent info L1", head, HEALTHY);
    assert_eq!(describe_all(&script::bytes(head)), ["missing-parent info L1"]);
    // The entries below the missing parent are lost, not the loaded ones.
    let orphaned = "u1: one\nu8 ^gone @+90: lost\n  a8: lost\na1 ^u1 @+90: one";
    check("missing-parent warning L2", &format!("{orphaned}\n  u2: two\n    a2: two"), HEALTHY);
}

#[test]
fn missing_logical_parent_is_info() {
    let broken = "u1: one\n  a1: one\ns1 ~gone: compact_boundary\n  u2 recap: so far\n    a2: ok";
    check("missing-logical-parent info L3", broken, &broken.replace("~gone", "~a1"));
}

#[test]
fn cycle_hangs_old_clients() {
    let cyclic = |version: &str| format!("* v={version}\nu1 ^a2: one\na1 ^: one\nu2 ^: two\na2 ^: two");
    check("client-hangs error L1 L2 L3 L4", &cyclic("2.1.15"), &cyclic("2.1.42"));
    check("cycle error L1", &cyclic("2.1.15"), HEALTHY);
    check("cycle info L1", &cyclic("2.1.325"), HEALTHY);
    check("no-conversation error L1 L2 L3 L4", &cyclic("2.1.104"), HEALTHY);
    let self_parent = "u1: one\n  a1: one\nu2 ^u2 @+60: two\n  a2: two";
    check(
        "cycle warning L3",
        &format!("* v=2.1.325\n{self_parent}\nu3 ^a1 @+90: three\n  a3: three"),
        HEALTHY,
    );
}

#[test]
fn repeated_uuids_are_reported_by_cause() {
    let twice = format!("{HEALTHY}\nu2 ^a1: two");
    let bytes = script::bytes(HEALTHY);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    check_bytes("replayed-line info L5", &[&bytes[..], lines[2]].concat(), &bytes);
    check("copied-entry info L5", &twice, HEALTHY);
    check("repeated-uuid warning L5", &twice.replace("two", "other").replacen("other", "two", 1), HEALTHY);
    let uuid = script::uuid_from_name("u2");
    let snapshot = format!(r#"{{"type":"file-history-snapshot","uuid":"{uuid}","snapshot":{{}}}}"#);
    check("snapshot-collision warning L5", &format!("{HEALTHY}\nraw: {snapshot}"), &twice);
    let first = format!("raw: {snapshot}\n{HEALTHY}");
    check("snapshot-collision info L4", &first, HEALTHY);
}

#[test]
fn progress_line_forks_the_chain() {
    let broken = "
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
    let diagnostics = describe_all(&script::bytes(broken));
    assert!(diagnostics.iter().any(|text| text.starts_with("fork-by-progress ")), "{diagnostics:#?}");
    let harmless =
        "* v=2.1.42\nu1: one\n  a1: !Bash x\n    p1: hook_progress x\n    u2: =a1 done\n      a2: ok";
    check("fork-by-progress info L2", harmless, &harmless.replace("    p1: hook_progress x\n", ""));
    let chain = "* v=2.0.76\nu1: one\n  p1: hook_progress x\n    a1: one\n      u2: two";
    let diagnostics = describe_all(&script::bytes(chain));
    assert!(diagnostics.contains(&"fork-by-progress info L2".to_owned()), "{diagnostics:#?}");
}

#[test]
fn entries_replaced_by_a_retry_are_reported() {
    let broken = "u1: one\n  a1 #m1: first\n  a2 #m2: second\n    u2: go on\n      a3: done";
    check("retry-orphan info L2", broken, HEALTHY);
    let error = "u1: one\n  a1 apierror: API Error\n  a2: one\n    u2: two\n      a3: done";
    check("retry-orphan info L2", error, HEALTHY);
    let with_prompt_below =
        "u1: one\n  a1 #m1: first\n    u3: to the first\n  a2 #m2: second\n    u2: go on\n      a3: done";
    check("retry-orphan warning L2", with_prompt_below, HEALTHY);
}

#[test]
fn two_writers_lose_one_branch() {
    let broken = "
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
    check("two-writers warning L3 L4", broken, HEALTHY);
    // Clients may write late, so that only the timestamps show it.
    let late =
        "u1: one\n  a1: one\n    u2: left\n      a2 @+20: left\n    u3 @+-15: right\n      a3 @+20: right";
    check("two-writers warning L3 L5", late, HEALTHY);
    let copied = "u1: one\n  a1: one\n    u2: left\n      a2 #m @+20: left\n    u3 @+-20: left\n      a3 #m @+20: left";
    assert!(!describe_all(&script::bytes(copied)).iter().any(|text| text.starts_with("two-writers")));
    // A rewind leaves one branch before it starts another.
    let rewind = "u1: one\n  a1: one\n    u2: left\n      a2: left\n    u3: right\n      a3: right";
    check("unreachable info L3 L4", rewind, HEALTHY);
    assert!(!describe_all(&script::bytes(rewind)).iter().any(|text| text.starts_with("two-writers")));
}

#[test]
fn unconnected_lines_of_another_session_are_reported() {
    let mixed = "u1: one\n  a1: one\nu8 session=other: strange\n  a8 session=other: strange";
    check("foreign-lines info L3 L4", &format!("* v=2.1.325\n{mixed}\nu2 ^a1: two\n  a2: two"), HEALTHY);
    check("foreign-lines warning L3 L4", mixed, HEALTHY);
    // A fork copies lines with their old session id and continues from them.
    let fork = "u1 session=other: one\n  a1 session=other: one\n    u2: two\n      a2: two";
    assert_eq!(describe_all(&script::bytes(fork)), Vec::<String>::new());
    let compacted = "u1 session=other: one\n  a1 session=other: one\n    s1: compact_boundary\nu2 ^s1 recap: so far\n  a2: ok";
    assert_eq!(describe_all(&script::bytes(compacted)), Vec::<String>::new());
}

#[test]
fn unpaired_calls_and_results_are_refused_or_handled() {
    let call = "u1: one\n  a1: !Bash ls\n    u2: never mind\n      a2: ok";
    check("unpaired-call info L2", &format!("* v=2.1.325\n{call}"), HEALTHY);
    let result = "u1: one\n  a1: one\n    u2: =gone what\n      a2: ok";
    check("unpaired-result error L3.0", &format!("* v=2.0.1\n{result}"), HEALTHY);
    check("unpaired-result info L3", &format!("* v=2.1.325\n{result}"), HEALTHY);
    // The turn was interrupted: the client adds a result.
    check("unpaired-call info L2.0", "* v=2.1.325\nu1: one\n  a1: !Bash ls", HEALTHY);
    // Calls on another branch do not matter.
    let other = "* v=2.1.325\nu1: one\n  a1: !Bash ls\nu2 ^null: again\n  a2: ok";
    assert!(!describe_all(&script::bytes(other)).iter().any(|text| text.starts_with("unpaired")));
    // The result is too late for its message.
    let late = "* v=2.0.1\nu1: one\n  a1: !Bash ls\n    u2: words\n      a2: more\n        u3: =a1 late\n          a3: ok";
    check("unpaired-call error L2.0", late, HEALTHY);
}

#[test]
fn thinking_must_be_signed_and_not_last() {
    let with = |block: &str| format!("u1: one\n  a1: {block} | one\n    u2: two\n      a2: two");
    let signed = with("?hm");
    check("thinking-unsigned error L2.0", &with(r#"{"type":"thinking","thinking":"hm"}"#), &signed);
    let emptied = with(r#"{"type":"thinking","thinking":"","signature":"c2ln"}"#);
    check("thinking-emptied info L2.0", &emptied, &signed);
    check("thinking-last error L2.1", "u1: one\n  a1: one | ?hm\n    u2: two", &signed);
}

#[test]
fn empty_content_is_refused_or_handled() {
    let blank = |u1: &str, u2: &str| format!("u1: one{u1}\n  a1: one\n    u2: two{u2}");
    let block = r#" | {"type":"text","text":" "}"#;
    check("empty-content error L3.1", &blank("", block), HEALTHY);
    // The API has accepted it before.
    check("empty-content info L1", &blank(block, ""), HEALTHY);
    check("empty-content info L2", "* v=2.1.325\nu1: one\n  a1: []\n    u2: two\n      a2: two", HEALTHY);
}

fn image(media: &str, bytes: &str) -> String {
    format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"{media}","data":"{bytes}"}}}}"#)
}

/// The first bytes of PNG images of 8001 × 1, 2001 × 1 and 8000 × 1 pixels.
const PNG_8001: &str = "iVBORw0KGgoAAAANSUhEUgAAH0EAAAAB";
const PNG_2001: &str = "iVBORw0KGgoAAAANSUhEUgAAB9EAAAAB";
const PNG_8000: &str = "iVBORw0KGgoAAAANSUhEUgAAH0AAAAAB";

#[test]
fn images_over_a_limit_are_errors() {
    let prompt = |image: &str| format!("u1: {image} | what is this\n  a1: a picture");
    let fine = prompt(&image("image/png", PNG_8000));
    check("image-too-large error L1.0", &prompt(&image("image/png", PNG_8001)), &fine);
    let prompt_of_size =
        |length: usize| prompt(&image("image/png", &("iVBORw0KGgo".to_owned() + &"A".repeat(length - 11))));
    check("image-too-large error L1.0", &prompt_of_size((5 << 20) + 4), &prompt_of_size(5 << 20));
    check("image-mislabelled error L1.0", &prompt(&image("image/jpeg", PNG_8000)), &fine);
    // With more than twenty images, the limit is 2000 pixels.
    let many = |number: usize| {
        let small = image("image/png", PNG_2001);
        format!("u1: {} | look\n  a1: many", vec![small.as_str(); number].join(" | "))
    };
    assert_eq!(describe_all(&script::bytes(&many(20))), Vec::<String>::new());
    assert!(describe_all(&script::bytes(&many(21)))[0].starts_with("image-too-large error L1.0 L1.1"));
    // The image of a tool is inside of its result.
    let inside = image("image/png", PNG_8001);
    let result = format!(
        r#"{{"type":"tool_result","tool_use_id":"toolu_a1","content":[{{"type":"text","text":"x"}},{inside}]}}"#
    );
    let read = format!("u1: look\n  a1: !Read x.png\n    u2: {result}\n      a2: seen");
    check("image-too-large error L3.0.1", &read, &read.replace(PNG_8001, PNG_8000));
    // An image on another branch is not sent.
    let left =
        format!("u1: {} | look\n  a1: seen\nu2 ^null: again\n  a2: fine", image("image/png", PNG_8001));
    assert!(!describe_all(&script::bytes(&left)).iter().any(|text| text.starts_with("image")));
}

#[test]
fn context_over_the_window_is_an_error() {
    let session = |tokens: u64, words: usize, model: &str| {
        format!("u1: one\n  a1 in={tokens} model={model}: one\n    u2: {}", "w".repeat(words))
    };
    let broken = session(190_000, 200_000, "m");
    check("context-over-window error L3", &broken, &session(190_000, 2_000, "m"));
    check(
        "context-over-window warning L3",
        &session(190_000, 60_000, "m"),
        &session(190_000, 200_000, "m[1m]"),
    );
    let diagnostic = &check_session(&script::bytes(&broken), false).diagnostics[0];
    assert_eq!(diagnostic.fix, SuggestedFix::Rescue);
    let Impact::Tokens { tokens, window } = diagnostic.impact else { panic!("{diagnostic:?}") };
    assert_eq!((tokens > 230_000, window), (true, 200_000));
    // A context that the API has accepted fits its window.
    assert_eq!(describe_all(&script::bytes(&session(300_000, 2_000, "m"))), Vec::<String>::new());
}

#[test]
fn summary_behind_a_broken_link_is_lost() {
    // The newest clients link `u3` to the newest line of the five seconds before it, which is the boundary.
    let text = "
        * v=2.1.325
        u1: one
          a1: one
        s1 ~a1 @+60: compact_boundary
          u2 ^s1 recap @+-1: so far
            u8 @+-1: caveat
        u3 ^gone @+4: on
          a3: on
    ";
    let intact = text.replace("^gone", "^u8");
    check("unreachable warning L1 L2 L4 L5", text, &intact);
    check("missing-parent warning L6", text, &intact);
}

#[test]
fn entries_lost_only_by_the_newest_client_are_reported() {
    // 2.0.65 resumes from the newest timestamp, 2.1.325 from the last line, whose parent is missing.
    let text = "* v=2.0.65\nu1: one\n  a1: one\n    u2 @+60: two\n      a2: two\nu3 ^gone @+-30: three";
    let found = check_session(&script::bytes(text), false).diagnostics;
    let by_newest = found.iter().find(|finding| matches!(finding.impact, Impact::ByNewest { .. }));
    let by_newest = by_newest.expect("it is found");
    assert_eq!(describe(by_newest), "unreachable warning L1 L2 L3 L4");
    assert!(found.iter().any(|finding| describe(finding) == "missing-parent warning L5"), "{found:#?}");
}

#[test]
fn preserved_entry_that_is_missing_drops_the_others() {
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
    check("unreachable warning L3 L4", text, &text.replace("gone,", ""));
}

#[test]
fn file_without_a_readable_line_is_an_error() {
    let noise: Vec<u8> = (0..900u32).map(|idx| (idx.wrapping_mul(2_654_435_761) >> 11) as u8 | 128).collect();
    check_bytes("no-entry error L1", &noise, &script::bytes(HEALTHY));
    check_bytes("no-entry error L1", &[0; 64], b"\n\n");
    // A file with nothing but state has no conversation to lose.
    assert_eq!(describe_all(&script::bytes("mode: normal")), Vec::<String>::new());
}

#[test]
fn resume_from_an_older_branch_is_reported() {
    let broken = "* v=2.1.221\nu1: one\n  a1: one\n    u2: old\n      a2: old\n    u3: new\n      a3: new\nlast-prompt ~a2: old";
    check("stale-leaf warning L5 L6", broken, &broken.replace("~a2", "~a3"));
    let session = check_session(&script::bytes(broken), false);
    let stale = session
        .diagnostics
        .iter()
        .find(|diagnostic| diagnostic.code == Code::StaleLeaf)
        .expect("it is found");
    let SuggestedFix::Goto(node) = stale.fix else { panic!("{stale:?}") };
    assert_eq!(session.tree.node(node).span.line, 6);
    // A line that was appended there later is the user's decision.
    let moved = broken.replace("last-prompt ~a2", "s1 ^a2: informational here\nlast-prompt ~s1");
    check("stale-leaf info L5 L6", &moved, &moved.replace("^a2", "^a3"));
    // A line that is older than the other branch was not appended there later.
    let older = moved.replace("s1 ^a2:", "s1 ^a2 @+-3600:");
    check("stale-leaf warning L5 L6", &older, &older.replace("^a2", "^a3"));
}

#[test]
fn entries_lost_only_by_the_session_client_are_reported() {
    let broken = "* v=2.1.42\nu1: one\n  a1 #m: !Bash a\n    a2 #m: !Bash b\n      u3: =a2 b\n    u2 ^a1: =a1 a\n      a3: done";
    let session = check_session(&script::bytes(broken), false);
    let lost = session
        .diagnostics
        .iter()
        .find(|diagnostic| diagnostic.code == Code::Unreachable)
        .expect("it is found");
    assert_eq!((lost.severity, lost.fix), (Severity::Warning, SuggestedFix::Repair));
    assert!(matches!(lost.impact, Impact::ByClient { affected: 2, total: 6 }), "{:?}", lost.impact);
}

#[test]
fn answers_do_not_start_a_conversation() {
    let loose = "u1: one\na1: one\nu2: two\na2: two";
    check("unreachable warning L1 L2 L3", loose, HEALTHY);
    // A rewind to the first prompt starts a new root.
    let again = "u1: one\n  a1: one\nu2: two\n  a2: two";
    assert_eq!(describe_all(&script::bytes(again)), ["unreachable info L1 L2"]);
}

#[test]
fn lines_without_a_uuid_are_unreachable() {
    let line = r#"raw: {"type":"user","parentUuid":null,"message":{"role":"user","content":"x"}}"#;
    check("unreachable warning L5", &format!("{HEALTHY}\n{line}"), HEALTHY);
    check("no-conversation error L1 L2", &format!("{line}\n{line}"), HEALTHY);
}

#[test]
fn damaged_lines_lose_their_records() {
    let bytes = script::bytes(HEALTHY);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let glued = [lines[0], lines[1].trim_ascii_end(), lines[2], lines[3]].concat();
    check_bytes("glued-line warning L2", &glued, &bytes);
    let torn = &bytes[..bytes.len() - 40];
    check_bytes("torn-line warning L4", torn, &bytes);
    let live = check_session(torn, true).diagnostics;
    assert_eq!((live[0].severity, live[0].fix), (Severity::Info, SuggestedFix::Wait));
    let nuls = [lines[0], &[0; 9], lines[1], lines[2], lines[3]].concat();
    check_bytes("nul-bytes warning L2", &nuls, &bytes);
    check_bytes("nul-bytes info L5", &[&bytes[..], &[0; 9], b"\n"].concat(), &bytes);
    check("not-json info L5", &format!("{HEALTHY}\nraw: // a note"), HEALTHY);
    let lost = [lines[0], b"{\"type\":\"assistant\",\n", lines[2], lines[3]].concat();
    check_bytes("not-json warning L2", &lost, &bytes);
}

#[test]
fn records_on_damaged_lines_can_be_recovered() {
    let bytes = script::bytes(HEALTHY);
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let glued = [lines[0], lines[1].trim_ascii_end(), lines[2], lines[3]].concat();
    let session = check_session(&glued, false);
    let recovered: Vec<&[u8]> = session
        .collector
        .recovered_spans()
        .iter()
        .map(|span| &glued[span.offset as usize..span.offset as usize + span.len as usize])
        .collect();
    assert_eq!(recovered, [lines[1].trim_ascii_end(), lines[2].trim_ascii_end()]);
}

#[test]
fn every_code_has_a_case() {
    let cases = include_str!("check.rs");
    for code in Code::ALL {
        assert!(cases.contains(&format!("\"{} ", code.name())), "no case for {}", code.name());
    }
}

#[test]
fn sizes_add_up_to_the_file() {
    let text = format!(
        "{HEALTHY}\n  p1: bash_progress x\n  t1: file x\nmode: normal\nfile-history-snapshot ~u1: x\nraw: // note\nu7 ^a2: {} | look\n  a7: !Bash x\n    u8: =a7 done",
        image("image/png", PNG_8000)
    );
    let bytes = script::bytes(&text);
    let sizes = check_session(&bytes, false).collector.size_breakdown();
    assert_eq!(sizes.total(), bytes.len() as u64);
    for category in SizeCategory::ALL.iter().filter(|category| **category != SizeCategory::ApiLog) {
        assert!(sizes.bytes_of(*category) > 0, "{}", category.name());
    }
    assert_eq!(sizes.bytes_of(SizeCategory::Unread), 8);
}

#[test]
fn any_file_can_be_checked() {
    use proptest::prelude::*;
    proptest!(ProptestConfig::with_cases(128), |(bytes in random::damaged(random::file()))| {
        let session = check_session(&bytes, false);
        prop_assert_eq!(session.collector.size_breakdown().total(), bytes.len() as u64);
        for diagnostic in &session.diagnostics {
            prop_assert!(!diagnostic.locations.is_empty());
            let nodes = diagnostic.locations.iter().filter_map(|location| location.node.or(location.other));
            prop_assert!(nodes.into_iter().all(|node_id| (node_id as usize) < session.tree.nodes().len()));
        }
        let severities: Vec<Severity> = session.diagnostics.iter().map(|diagnostic| diagnostic.severity).collect();
        prop_assert!(severities.is_sorted_by(|a, b| a >= b));
    });
}
