//! Searches, one case per script: which entries hold words, and where; and the law of the quick look.

use insta::assert_snapshot;
use proptest::prelude::*;
use rethread_core::entry::read;
use rethread_core::lines::LineSplitter;
use rethread_core::query::{Needle, Scope, TextSource};
use rethread_testkit::{random, script};

/// Looks through all lines of a script.
fn found(text: &str, needle: &Needle, scope: Scope, sources: &[TextSource]) -> String {
    let bytes = script::bytes(text);
    let mut lines = Vec::new();
    LineSplitter::default().feed(&bytes, true, &mut Vec::new(), |line, problems| {
        read(&line, problems, |entry, _| {
            let found = needle.find_in_entry(&entry, scope, sources);
            assert!(found.count == 0 || needle.may_hold(entry.raw), "the quick look passes over a match");
            for hit in &found.hits {
                let tool = hit.tool.as_deref().map(|tool| format!(" {tool}")).unwrap_or_default();
                let (before, behind) = (hit.before.escape_debug(), hit.after.escape_debug());
                let words = hit.words.escape_debug();
                lines.push(format!(
                    "L{} {}{tool} x{}: {before}[{words}]{behind}",
                    line.no,
                    hit.source.name(),
                    hit.count
                ));
            }
        });
    });
    lines.join("\n")
}

const SHED: &str = "
    summary ~a2: The Shed, tidied
    u1: tidy the shed
      a1 #m1: ?a shed has corners | I look into the shed | !Bash ls shed/ && echo \"shed\"
        u2: =a1 rake\\nshed key
          a2: the shed is tidy
            s1: local_command <command-name>/shed</command-name>
              t1: queued_command and the other shed
                t2: file shed.txt
                  p1: bash_progress shed so far
                    u3 meta: <system-reminder>the shed again</system-reminder>
                      u4 recap: all about the shed
    last-prompt ~a2: tidy the shed
    raw: {\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"shed, later\"}
";

#[test]
fn every_text_a_reader_sees_is_looked_through() {
    assert_snapshot!(found(SHED, &Needle::smart("shed"), Scope::Told, &[]), @r#"
    L1 summary x1: The [Shed], tidied
    L2 prompt x1: tidy the [shed]
    L3 thinking x1: a [shed] has corners
    L3 answer x1: I look into the [shed]
    L3 tool Bash x2: ls [shed]/ && echo \"shed\"
    L4 result x1: rake\n[shed] key
    L5 answer x1: the [shed] is tidy
    L6 prompt x1: <command-name>/[shed]</command-name>
    L7 prompt x1: and the other [shed]
    L10 system x1: <system-reminder>the [shed] again</system-reminder>
    L11 summary x1: all about the [shed]
    L13 prompt x1: [shed], later
    "#);
}

#[test]
fn what_stands_beside_the_conversation_is_asked_for() {
    let beside = found(SHED, &Needle::smart("shed"), Scope::All, &[TextSource::Context]);
    assert_snapshot!(beside, @"
    L8 context x1: [shed].txt
    L9 context x1: [shed] so far
    L12 context x1: tidy the [shed]
    ");
}

#[test]
fn words_are_those_a_reader_sees_not_their_escapes() {
    let text = r#"
        u1: say "shed" and\na \\ b
        raw: {"type":"user","uuid":"x1","parentUuid":null,"message":{"role":"user","content":"a \u0073\u0068ed \ud83c\udf31 \u001b[1m"}}
    "#;
    let at = |words: &str| found(text, &Needle::exact(words), Scope::Told, &[]);
    assert_snapshot!(at("\"shed\" and\na"), @r#"L1 prompt x1: say [\"shed\" and\na] \\ b"#);
    assert_snapshot!(at("a \\ b"), @r#"L1 prompt x1: say \"shed\" and\n[a \\ b]"#);
    assert_snapshot!(at("a shed 🌱"), @r"L2 prompt x1: [a shed 🌱] \u{1b}[1m");
    assert_eq!(at("u0073"), "");
    assert_eq!(at("\\n"), "");
}

#[test]
fn a_pattern_and_a_role_narrow_it() {
    let needle = Needle::pattern("(?i)SHED.(key|is)").expect("a pattern");
    assert_snapshot!(found(SHED, &needle, Scope::Told, &[]), @r"
    L4 result x1: rake\n[shed key]
    L5 answer x1: the [shed is] tidy
    ");
    assert_snapshot!(found(SHED, &Needle::smart("shed"), Scope::Told, &[TextSource::Thinking]), @"L3 thinking x1: a [shed] has corners");
}

#[test]
fn long_texts_are_quoted_around_the_match() {
    let long = format!("u1: {}needle{}", "é".repeat(5000), "ü".repeat(5000));
    let hit = {
        let bytes = script::bytes(&long);
        let mut hit = None;
        LineSplitter::default().feed(&bytes, true, &mut Vec::new(), |line, problems| {
            read(&line, problems, |entry, _| {
                hit = Needle::smart("needle").find_in_entry(&entry, Scope::Told, &[]).hits.pop();
            });
        });
        hit.expect("a match")
    };
    assert!(!hit.starts && !hit.ends && hit.before.len() <= 162 && hit.after.len() <= 320, "{hit:?}");
    assert!(hit.before.ends_with('é') && hit.after.starts_with('ü'));
}

fn settings() -> ProptestConfig {
    ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn whatever_stands_in_a_text_is_found(body in random::string_body(), from in any::<prop::sample::Index>(), len in 1usize..6) {
        let line = format!(r#"{{"type":"user","uuid":"u","message":{{"role":"user","content":"{body}"}}}}"#);
        let mut words = String::new();
        let splitter = |each: &mut dyn FnMut(&rethread_core::entry::Entry<'_>)| {
            LineSplitter::default().feed(line.as_bytes(), true, &mut Vec::new(), |line, problems| {
                read(&line, problems, |entry, _| each(&entry));
            });
        };
        splitter(&mut |entry| {
            rethread_core::query::for_each_text(entry, Scope::Told, |_, _, text| {
                let chars: Vec<char> = text.chars().collect();
                let start = if chars.is_empty() { 0 } else { from.index(chars.len()) };
                words = chars[start..(start + len).min(chars.len())].iter().collect();
            });
        });
        prop_assume!(!words.is_empty());
        let swapped: String = words.chars().map(|c| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }).collect();
        for needle in [Needle::exact(&words), Needle::folded(&words), Needle::folded(&swapped)] {
            splitter(&mut |entry| {
                assert!(needle.may_hold(entry.raw), "{words:?} in {line}");
                assert!(needle.find_in_entry(entry, Scope::Told, &[]).count > 0, "{words:?} in {line}");
            });
        }
    }
}
