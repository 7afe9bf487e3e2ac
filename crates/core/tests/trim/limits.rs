//! Limits of trims: sizes, recorded counts, and entries that stay with their compaction.

use rethread_core::resume::simulate_resume;
use rethread_core::trim::{ContentKind, TrimOptions, escalate};
use rethread_core::version::Version;
use rethread_testkit::script;

use crate::loaded_file::{NOTE, last_node, load, trim_with};
use crate::{drop_kinds, escalate_script, long_text, trim_script};

#[test]
fn result_of_exactly_the_limit_stays() {
    let conversation =
        format!("u1: read it\n  a1: !Read shed.md\n    u2: =a1 {}\n      a2: Done", long_text("planks"));
    let has_stub = |limit| {
        let options = TrimOptions { results_over: Some(limit), ..TrimOptions::default() };
        trim_script(&conversation, &options).contains("[tool result of 538 bytes removed")
    };
    assert_eq!([537, 538, 539].map(has_stub), [true, false, false]);
}

#[test]
fn recorded_context_size_is_at_least_a_quarter_of_the_remaining_bytes() {
    let conversation = format!(
        "
u1: {prompt}
  a1: !Read shed.md
    u2: =a1 {result}
      a2 in=10 out=20 read=4700: Done
        u3: thanks
",
        prompt = "tidy the shed ".repeat(100),
        result = long_text("planks").repeat(40)
    );
    let original = load(&script::bytes(&conversation));
    let client = Version::parse_lenient("2.1.325");
    let options = drop_kinds(&[ContentKind::ToolResults]);
    let (_, trimmed) = original
        .trim(&client, last_node(&original), |input| trim_with(&options)(input, &original))
        .expect("a path");
    // The recorded 4730 tokens without those of the removed bytes are fewer than the remaining bytes have.
    let saved = trimmed.savings.total().tokens();
    assert!((4400..4730).contains(&saved), "{saved}");
    let copy = load(&original.write(trimmed));
    let outcome = simulate_resume(&copy.tree, &copy.resume_index, &client);
    // The prompt alone has 1400 bytes.
    let tokens = outcome.estimate_tokens(&copy.resume_index);
    assert!((350..450).contains(&tokens), "{tokens}");
}

#[test]
fn entries_preserved_by_a_compaction_stay_when_their_turn_is_removed() {
    let conversation = "
u1: dig
  a1: Done
    u2: dig deeper
      a2: Done, too
        s1 list=u2,a2>u3: compact_boundary
u3 ^s1 recap: so far
  u4: go on
    a4: yes
      u5: thanks
        a5: welcome
";
    let options = TrimOptions { keep_last: Some(1), ..TrimOptions::default() };
    insta::assert_snapshot!(trim_script(conversation, &options), @"
    u2 ^a1: dig deeper
    a2 ^u2: Done, too
    s1 ^null: system
    u3 ^s1: so far
    u5 ^u3: thanks
    a5 ^u5: welcome
    - turns 1
    ");
}

#[test]
fn image_above_a_prompt_belongs_to_its_turn() {
    let conversation = "
u1: dig
  a1: Done
    u2: [image]
      u3: look
        a3: Nice
";
    let options = TrimOptions { keep_last: Some(1), ..TrimOptions::default() };
    insta::assert_snapshot!(trim_script(conversation, &options), @"
    u2 ^null: [image]
    u3 ^u2: look
    a3 ^u3: Nice
    - turns 1
    ");
}

#[test]
fn note_states_the_time_the_lines_and_the_turns_that_it_replaces() {
    let words = "planks ".repeat(200);
    let conversation = format!(
        "
u1 @2025-01-01T00:00:01.000Z: {words}
  a1 @2025-01-01T00:00:09.000Z: {words}
    u2 @2025-01-01T00:00:05.000Z: {words}
      a2 @2025-01-01T00:00:06.000Z: {words}
        u3 @2025-01-01T00:01:00.000Z: the third bed
          a3 @2025-01-01T00:01:01.000Z: Done
            u4 @2025-01-01T00:01:02.000Z: thanks
              a4 read=2000 @2025-01-01T00:01:03.000Z: welcome
"
    );
    let original = load(&script::bytes(&conversation));
    let read = |span| Ok::<_, std::convert::Infallible>(original.line_bytes(span));
    let client = Version::parse_lenient("2.1.325");
    let (_, trimmed) = original
        .trim(&client, last_node(&original), |input| {
            escalate(input, 100, NOTE, read).unwrap_or_else(|never| match never {}).trimmed
        })
        .expect("a path");
    let note = trimmed.note.expect("turns are removed");
    assert_eq!((note.line_idx, note.lines, note.turns), (0, (1, 4), 2));
    let latest: jiff::Timestamp = "2025-01-01T00:00:09Z".parse().expect("a time");
    assert_eq!(note.time.map(|time| time.0), Some(latest.as_millisecond()));
}

/// Returns the number of items that a stage removes from a script, for limits of the context from `limits`.
fn count_removed(conversation: &str, stage: &str, limits: impl Iterator<Item = u64>) -> Vec<u64> {
    let count = |limit| {
        let report = escalate_script(conversation, limit);
        assert!(report.contains("\nfits\n"), "{limit}: {report}");
        let step = report.lines().find_map(|line| line.strip_prefix(stage));
        step.and_then(|step| step.trim().split(':').next()?.parse().ok()).unwrap_or(0)
    };
    let mut counts: Vec<u64> = limits.map(count).collect();
    counts.dedup();
    counts
}

#[test]
fn no_more_old_turns_are_removed_than_necessary() {
    let words = "planks ".repeat(400);
    let turns: String =
        (1..=12).map(|turn| format!("u{turn} ^a{}: {words}\na{turn} ^u{turn}: Done\n", turn - 1)).collect();
    let conversation = format!("a0: Hello\n{turns}u13 ^a12: thanks\n  a13 read=8500: welcome\n");
    let counts = count_removed(&conversation, "turns", (900..8400).rev().step_by(200));
    assert_eq!(counts, (1..=11).collect::<Vec<u64>>());
}

#[test]
fn no_more_recent_calls_are_removed_than_necessary() {
    let words = "planks ".repeat(400);
    let calls: String = (1..=6)
        .map(|call| format!("a{call} ^u{call}: !Bash {words}\nu{} ^a{call}: =a{call} ok\n", call + 1))
        .collect();
    let conversation = format!("u1: dig\n{calls}a7 ^u7 read=4300: Done\n");
    let counts = count_removed(&conversation, "recent-tools", (400..4200).rev().step_by(200));
    assert_eq!(counts, (1..=6).collect::<Vec<u64>>());
}

#[test]
fn no_more_old_calls_are_removed_than_necessary() {
    let (input, result) = ("planks ".repeat(400), "nails ".repeat(800));
    let turn = |turn: u32| {
        let previous = turn - 1;
        format!(
            "
u{turn} ^a1{previous}: dig
  a{turn}: !Bash {input}
    u1{turn}: =a{turn} {result}
      a1{turn}: ok"
        )
    };
    let turns: String = (1..=6).map(turn).collect();
    let conversation = format!(
        "
a10: Hello{turns}
        u7: more
          a7: yes
            u8: thanks
              a8 read=12000: welcome
"
    );
    let counts = count_removed(&conversation, "tools", (700..4400).rev().step_by(200));
    assert_eq!(counts, (1..=6).collect::<Vec<u64>>());
}

#[test]
fn images_in_a_tool_result_are_replaced_and_its_text_stays() {
    let [parent, uuid] = ["a1", "u2"].map(script::uuid_from_name);
    let image =
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}"#;
    let conversation = format!(
        r#"
u1: look
  a1: !Read shed.png
raw: {{"type":"user","uuid":"{uuid}","parentUuid":"{parent}","timestamp":"2025-01-01T00:00:05.000Z","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_a1","content":[{{"type":"text","text":"two planks"}},{image}]}}]}}}}
a2 ^u2: Nice
"#
    );
    let trimmed = trim_script(&conversation, &drop_kinds(&[ContentKind::Images]));
    assert!(trimmed.contains(r#"{"type":"text","text":"two planks"}"#), "{trimmed}");
    assert!(trimmed.contains(&format!("image of {} bytes removed by rethread", image.len())), "{trimmed}");
    assert!(!trimmed.contains("iVBORw0KGgo="), "{trimmed}");
}

#[test]
fn result_that_loads_a_tool_is_not_replaced() {
    let [parent, uuid] = ["a1", "u2"].map(script::uuid_from_name);
    let words = long_text("planks");
    let conversation = format!(
        r#"
u1: look
  a1: !ToolSearch saw
raw: {{"type":"user","uuid":"{uuid}","parentUuid":"{parent}","timestamp":"2025-01-01T00:00:05.000Z","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_a1","content":[{{"type":"text","text":"{words}"}},{{"type":"tool_reference","tool_name":"Saw"}}]}}]}}}}
a2 ^u2: Nice
"#
    );
    let trimmed = trim_script(&conversation, &drop_kinds(&[ContentKind::ToolResults]));
    assert!(trimmed.contains(r#"{"type":"tool_reference","tool_name":"Saw"}"#), "{trimmed}");
}

#[test]
fn attachments_are_removed_with_lines_that_only_the_client_reads() {
    let with_kind = |kind: ContentKind| {
        let mut options = TrimOptions::default();
        assert!(options.add_kind(kind) && !options.add_kind(kind));
        options
    };
    assert!(with_kind(ContentKind::Attachments).client_only);
    assert!(!with_kind(ContentKind::Images).client_only);
}
