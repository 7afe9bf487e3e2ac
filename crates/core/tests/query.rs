//! Matches in entries, one case per script, and the laws of the line filter.

use insta::assert_snapshot;
use proptest::prelude::*;
use rethread_core::entry::read_line;
use rethread_core::lines::LineSplitter;
use rethread_core::query::{Needle, TextScope, TextSource};
use rethread_testkit::{random, script};

/// Finds the matches in all lines of a script.
fn find_all(text: &str, needle: &Needle, scope: TextScope, sources: &[TextSource]) -> String {
    let bytes = script::bytes(text);
    let mut lines = Vec::new();
    LineSplitter::default().feed(&bytes, true, &mut Vec::new(), |line, problems| {
        read_line(&line, problems, |entry, _| {
            let matches = needle.find_in_entry(&entry, scope, sources);
            assert!(
                matches.count == 0 || needle.may_match_line(entry.raw),
                "the line filter rejects a match"
            );
            for hit in &matches.hits {
                let tool = hit.tool.as_deref().map(|tool| format!(" {tool}")).unwrap_or_default();
                let (before, after) = (hit.before.escape_debug(), hit.after.escape_debug());
                let matched = hit.matched.escape_debug();
                lines.push(format!(
                    "L{} {}{tool} x{}: {before}[{matched}]{after}",
                    line.number,
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
fn every_displayed_text_is_searched() {
    assert_snapshot!(find_all(SHED, &Needle::smart_case("shed"), TextScope::Conversation, &[]), @r#"
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
fn context_is_searched_only_on_request() {
    let context = find_all(SHED, &Needle::smart_case("shed"), TextScope::All, &[TextSource::Context]);
    assert_snapshot!(context, @"
    L8 context x1: [shed].txt
    L9 context x1: [shed] so far
    L12 context x1: tidy the [shed]
    ");
}

#[test]
fn decoded_text_is_searched_not_escapes() {
    let text = r#"
        u1: say "shed" and\na \\ b
        raw: {"type":"user","uuid":"x1","parentUuid":null,"message":{"role":"user","content":"a \u0073\u0068ed \ud83c\udf31 \u001b[1m"}}
    "#;
    let find = |words: &str| find_all(text, &Needle::case_sensitive(words), TextScope::Conversation, &[]);
    assert_snapshot!(find("\"shed\" and\na"), @r#"L1 prompt x1: say [\"shed\" and\na] \\ b"#);
    assert_snapshot!(find("a \\ b"), @r#"L1 prompt x1: say \"shed\" and\n[a \\ b]"#);
    assert_snapshot!(find("a shed 🌱"), @r"L2 prompt x1: [a shed 🌱] \u{1b}[1m");
    assert_eq!(find("u0073"), "");
    assert_eq!(find("\\n"), "");
}

#[test]
fn patterns_and_sources_restrict_matches() {
    let needle = Needle::from_pattern("(?i)SHED.(key|is)").expect("a pattern");
    assert_snapshot!(find_all(SHED, &needle, TextScope::Conversation, &[]), @r"
    L4 result x1: rake\n[shed key]
    L5 answer x1: the [shed is] tidy
    ");
    assert_snapshot!(find_all(SHED, &Needle::smart_case("shed"), TextScope::Conversation, &[TextSource::Thinking]), @"L3 thinking x1: a [shed] has corners");
}

#[test]
fn long_texts_are_truncated_around_the_match() {
    let long = format!("u1: {}needle{}", "é".repeat(5000), "ü".repeat(5000));
    let hit = {
        let bytes = script::bytes(&long);
        let mut hit = None;
        LineSplitter::default().feed(&bytes, true, &mut Vec::new(), |line, problems| {
            read_line(&line, problems, |entry, _| {
                hit = Needle::smart_case("needle")
                    .find_in_entry(&entry, TextScope::Conversation, &[])
                    .hits
                    .pop();
            });
        });
        hit.expect("a match")
    };
    assert!(
        !hit.is_text_start && !hit.is_text_end && hit.before.len() <= 162 && hit.after.len() <= 320,
        "{hit:?}"
    );
    assert!(hit.before.ends_with('é') && hit.after.starts_with('ü'));
}

fn settings() -> ProptestConfig {
    ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn every_part_of_a_text_is_found(body in random::string_body(), from in any::<prop::sample::Index>(), len in 1usize..6) {
        let line = format!(r#"{{"type":"user","uuid":"u","message":{{"role":"user","content":"{body}"}}}}"#);
        let mut words = String::new();
        let for_each_entry = |visit: &mut dyn FnMut(&rethread_core::entry::Entry<'_>)| {
            LineSplitter::default().feed(line.as_bytes(), true, &mut Vec::new(), |line, problems| {
                read_line(&line, problems, |entry, _| visit(&entry));
            });
        };
        for_each_entry(&mut |entry| {
            rethread_core::query::for_each_text(entry, TextScope::Conversation, |_, _, text| {
                let chars: Vec<char> = text.chars().collect();
                let start = if chars.is_empty() { 0 } else { from.index(chars.len()) };
                words = chars[start..(start + len).min(chars.len())].iter().collect();
            });
        });
        prop_assume!(!words.is_empty());
        let swapped: String = words.chars().map(|c| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }).collect();
        for needle in [Needle::case_sensitive(&words), Needle::case_insensitive(&words), Needle::case_insensitive(&swapped)] {
            for_each_entry(&mut |entry| {
                assert!(needle.may_match_line(entry.raw), "{words:?} in {line}");
                assert!(needle.find_in_entry(entry, TextScope::Conversation, &[]).count > 0, "{words:?} in {line}");
            });
        }
    }

    #[test]
    fn matching_text_contains_the_required_texts(
        (pattern, text) in pattern_and_match(),
        other in "[abkxABKſK \\\\é]{0,12}",
    ) {
        let needle = Needle::from_pattern(&pattern).expect("a valid pattern");
        for text in [format!("x{text}B"), text, other] {
            if needle.find(&text, 0).is_none() {
                continue;
            }
            for set in needle.required() {
                prop_assert!(set.iter().any(|part| part.find(&text, 0).is_some()), "{pattern} {text:?}");
            }
            let line = serde_json::to_string(&text).expect("a string");
            prop_assert!(needle.may_match_line(line.as_bytes()), "{pattern} {line}");
        }
    }
}

/// Generates a regular expression of few characters.
fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(
        &["a", "b", "k", "ab", "xa", "bk", " ", "é", "[ab]", "[^b]", ".", "\\\\", "[a-c][xk]", "\\w"][..],
    );
    let leaf = leaf.prop_map(str::to_owned);
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 2..5).prop_map(|parts| parts.concat()),
            2 => prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("({})", parts.join("|"))),
            2 => (inner, prop::sample::select(&["?", "*", "+", "{2}", "{1,3}", "{0}", "{9}"][..]))
                .prop_map(|(part, times)| format!("(?:{part}){times}")),
        ]
    })
}

/// Generates a regular expression and a text that it matches.
fn pattern_and_match() -> impl Strategy<Value = (String, String)> {
    (pattern(), any::<bool>()).prop_flat_map(|(pattern, ignores_case)| {
        let pattern = if ignores_case { format!("(?i){pattern}") } else { pattern };
        let text = prop::string::string_regex(&pattern).expect("a valid pattern");
        (Just(pattern), text)
    })
}
