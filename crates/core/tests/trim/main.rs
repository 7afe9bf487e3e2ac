//! Trims: which content is removed, and that the rest is valid.

mod laws;
mod limits;
mod loaded_file;

use std::collections::HashSet;

use insta::assert_snapshot;
use rethread_core::id::Id;
use rethread_core::resume::simulate_resume;
use rethread_core::trim::{ContentKind, EscalationStep, TrimInput, TrimOptions, TrimPreset, escalate};
use rethread_core::version::Version;
use rethread_testkit::script;
use serde_json::Value;

use loaded_file::{NOTE, last_node, load, trim_with};

/// Trims a script. Formats each remaining line with its parent and its blocks, and the removed content.
fn trim_script(text: &str, options: &TrimOptions) -> String {
    let original = load(&script::bytes(text));
    let client = Version::parse_lenient("2.1.325");
    let (_, trimmed) = original
        .trim(&client, last_node(&original), |input| trim_with(options)(input, &original))
        .expect("a path");
    let savings: Vec<String> =
        trimmed.savings.iter().map(|(cause, amount)| format!("{} {}", cause.name(), amount.count)).collect();
    let file = original.write(trimmed);
    let copy = String::from_utf8(file).expect("text");
    let mut formatted: Vec<String> = copy.lines().map(format_line).collect();
    formatted.truncate(formatted.len() - 2);
    format!("{}\n- {}", formatted.join("\n"), savings.join(", "))
}

fn format_line(line: &str) -> String {
    let value: Value = serde_json::from_str(line).expect("a line is JSON");
    let name = |key: &str| {
        value[key]
            .as_str()
            .map_or("null".into(), |uuid| script::name_from_uuid(uuid).unwrap_or_else(|| uuid.into()))
    };
    let blocks = match &value["message"]["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(format_block).collect::<Vec<_>>().join(" | "),
        _ => value["type"].as_str().unwrap_or_default().to_owned(),
    };
    let tool_use_result = if value["toolUseResult"].is_null() { "" } else { " +toolUseResult" };
    format!("{} ^{}: {blocks}{tool_use_result}", name("uuid"), name("parentUuid"))
}

fn format_block(block: &Value) -> String {
    let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
    match block["type"].as_str() {
        Some("text") => text("text"),
        Some("thinking") => format!("?{}", text("thinking")),
        Some("tool_use") => format!("!{}", text("name")),
        Some("tool_result") => match &block["content"] {
            Value::String(words) => format!("={}", words.chars().take(90).collect::<String>()),
            other => format!("={other}"),
        },
        other => format!("[{}]", other.unwrap_or_default()),
    }
}

fn drop_kinds(kinds: &[ContentKind]) -> TrimOptions {
    TrimOptions { drop: kinds.to_vec(), ..TrimOptions::default() }
}

/// Returns a text that is long enough for a stub.
fn long_text(words: &str) -> String {
    format!("{words} ").repeat(400 / words.len())
}

#[test]
fn calls_and_results_are_removed_together_and_children_reparented() {
    let conversation = "
u1: dig a bed
  a1 #m1: ?where to
    a2 #m1: I look first
      a3 #m1: !Bash ls
        a4 #m1: !Bash pwd
          u3: =a4 /garden
        u2: =a3 beds
          a5: Done
            p1: hook_progress stop
              u4: thanks
                a6: welcome
";
    assert_snapshot!(trim_script(conversation, &drop_kinds(&[ContentKind::Tools])), @"
    u1 ^null: dig a bed
    a2 ^u1: I look first
    a5 ^a2: Done
    p1 ^a5: progress
    u4 ^p1: thanks
    a6 ^u4: welcome
    - tools 2
    ");
    assert_snapshot!(trim_script(conversation, &drop_kinds(&[ContentKind::Thinking, ContentKind::Progress])), @"
    u1 ^null: dig a bed
    a2 ^u1: I look first
    a3 ^a2: !Bash
    a4 ^a3: !Bash
    u3 ^a4: =/garden +toolUseResult
    u2 ^a3: =beds +toolUseResult
    a5 ^u2: Done
    u4 ^a5: thanks
    a6 ^u4: welcome
    - progress 1, thinking 1
    ");
    assert_snapshot!(trim_script(conversation, &drop_kinds(&[])), @"
    u1 ^null: dig a bed
    a1 ^u1: ?where to
    a2 ^a1: I look first
    a3 ^a2: !Bash
    a4 ^a3: !Bash
    u3 ^a4: =/garden +toolUseResult
    u2 ^a3: =beds +toolUseResult
    a5 ^u2: Done
    p1 ^a5: progress
    u4 ^p1: thanks
    a6 ^u4: welcome
    -
    ");
    assert_snapshot!(trim_script(conversation, &TrimOptions { keep_last: Some(1), ..TrimOptions::default() }), @"
    u4 ^null: thanks
    a6 ^u4: welcome
    - turns 1
    ");
    assert_snapshot!(trim_script(conversation, &TrimPreset::Bare.options()), @"
    u1 ^null: dig a bed
    a2 ^u1: I look first
    a5 ^a2: Done
    u4 ^a5: thanks
    a6 ^u4: welcome
    - progress 1, thinking 1, tools 2
    ");
}

#[test]
fn stubs_name_the_original_and_tool_use_results_are_removed() {
    let conversation = format!(
        "
u1: read it
  a1: !Read shed.md
    u2: =a1 {long}
      a2: !Read shed.md
        u3: =a2 {long}
          a3: !Bash ls
            u4: =a3 short
              a4: Done
                u5: look | [image]
                  a5: nice
",
        long = long_text("planks")
    );
    assert_snapshot!(trim_script(&conversation, &TrimOptions { dedupe_reads: true, ..TrimOptions::default() }), @"
    u1 ^null: read it
    a1 ^u1: !Read
    u2 ^a1: =[read of 538 bytes removed by rethread, the file is read again below: session 0af00000 lin
    a2 ^u2: !Read
    u3 ^a2: =planks planks planks planks planks planks planks planks planks planks planks planks planks +toolUseResult
    a3 ^u3: !Bash
    u4 ^a3: =short +toolUseResult
    a4 ^u4: Done
    u5 ^a4: look | [image]
    a5 ^u5: nice
    - reads 1
    ");
    assert_snapshot!(trim_script(&conversation, &TrimOptions { results_over: Some(300), ..TrimOptions::default() }), @"
    u1 ^null: read it
    a1 ^u1: !Read
    u2 ^a1: =[tool result of 538 bytes removed by rethread: session 0af00000 line 3]
    a2 ^u2: !Read
    u3 ^a2: =[tool result of 538 bytes removed by rethread: session 0af00000 line 5]
    a3 ^u3: !Bash
    u4 ^a3: =short +toolUseResult
    a4 ^u4: Done
    u5 ^a4: look | [image]
    a5 ^u5: nice
    - tool-results 2
    ");
    assert_snapshot!(trim_script(&conversation, &drop_kinds(&[ContentKind::ToolResults, ContentKind::Images])), @"
    u1 ^null: read it
    a1 ^u1: !Read
    u2 ^a1: =[tool result of 538 bytes removed by rethread: session 0af00000 line 3]
    a2 ^u2: !Read
    u3 ^a2: =[tool result of 538 bytes removed by rethread: session 0af00000 line 5]
    a3 ^u3: !Bash
    u4 ^a3: =short +toolUseResult
    a4 ^u4: Done
    u5 ^a4: look | [image of 90 bytes removed by rethread: session 0af00000 line 9]
    a5 ^u5: nice
    - tool-results 2, images 1
    ");
    assert_snapshot!(trim_script(&conversation, &TrimOptions { older_than: Some(1), ..drop_kinds(&[ContentKind::ToolResults, ContentKind::Images]) }), @"
    u1 ^null: read it
    a1 ^u1: !Read
    u2 ^a1: =[tool result of 538 bytes removed by rethread: session 0af00000 line 3]
    a2 ^u2: !Read
    u3 ^a2: =[tool result of 538 bytes removed by rethread: session 0af00000 line 5]
    a3 ^u3: !Bash
    u4 ^a3: =short +toolUseResult
    a4 ^u4: Done
    u5 ^a4: look | [image]
    a5 ^u5: nice
    - tool-results 2
    ");
}

#[test]
fn sent_attachments_stay_in_a_light_copy() {
    let conversation = "
u1: dig
  t1: file a bed
    t2: hook_success fine
      t3: queued_command and the hose
        a1: Done
";
    assert_snapshot!(trim_script(conversation, &TrimPreset::Light.options()), @"
    u1 ^null: dig
    t1 ^u1: attachment
    t3 ^t1: attachment
    a1 ^t3: Done
    - attachments 1
    ");
    assert_snapshot!(trim_script(conversation, &drop_kinds(&[ContentKind::Attachments])), @"
    u1 ^null: dig
    t3 ^u1: attachment
    a1 ^t3: Done
    - attachments 2
    ");
}

#[test]
fn boundaries_list_only_remaining_entries() {
    let conversation = "
u1: dig
  a1 #m1: ?deep
    a2 #m1: !Bash ls
      u2: =a2 beds
        a3: Done
          s1 run=a1..a3>u3 list=a1,a2,u2,a3>u3: compact_boundary
u3 ^s1 recap: so far
  u4: go on
    a4: yes
";
    let original = load(&script::bytes(conversation));
    let client = Version::parse_lenient("2.1.325");
    for (options, kept) in [
        (drop_kinds(&[]), "a1 a2 u2 a3 / a1..a3"),
        (drop_kinds(&[ContentKind::Thinking]), "a2 u2 a3 / a2..a3"),
        (drop_kinds(&[ContentKind::Tools]), "a3 / a3..a3"),
    ] {
        let (outcome, trimmed) = original
            .trim(&client, last_node(&original), |input| trim_with(&options)(input, &original))
            .expect("a path");
        let remaining: HashSet<Id> =
            trimmed.lines.iter().map(|(node_id, _)| original.tree.node(*node_id).uuid).collect();
        let file = original.write(trimmed);
        let boundary =
            file.split(|b| *b == b'\n').find(|line| line.windows(16).any(|w| w == b"compact_boundary"));
        let boundary: Value = serde_json::from_slice(boundary.expect("the boundary")).expect("JSON");
        let name = |value: &Value| script::name_from_uuid(value.as_str().expect("a uuid")).expect("a name");
        let metadata = &boundary["compactMetadata"];
        let listed = metadata["preservedMessages"]["uuids"].as_array().expect("a list");
        let listed: Vec<String> = listed.iter().map(name).collect();
        let segment = &metadata["preservedSegment"];
        let segment = format!("{}..{}", name(&segment["headUuid"]), name(&segment["tailUuid"]));
        assert_eq!(format!("{} / {segment}", listed.join(" ")), kept);
        let copy = load(&file);
        let copy_outcome = simulate_resume(&copy.tree, &copy.resume_index, &client);
        let expected: Vec<Id> =
            original.uuids(&outcome.path).into_iter().filter(|id| remaining.contains(id)).collect();
        assert_eq!(copy.uuids(&copy_outcome.path), expected);
    }
}

#[test]
fn copies_record_the_reduced_context_size() {
    let conversation = format!(
        "
u1: read it
  a1 in=10 out=20 write=30 read=90000: !Read shed.md
    u2: =a1 {}
      a2 in=10 out=20 write=1000 read=100000: Done
        u3: thanks
",
        long_text("planks").repeat(20)
    );
    let original = load(&script::bytes(&conversation));
    let client = Version::parse_lenient("2.1.325");
    let options = drop_kinds(&[ContentKind::ToolResults]);
    let (outcome, trimmed) = original
        .trim(&client, last_node(&original), |input| trim_with(&options)(input, &original))
        .expect("a path");
    let saved = trimmed.savings.total().tokens();
    let copy = load(&original.write(trimmed));
    let copy_outcome = simulate_resume(&copy.tree, &copy.resume_index, &client);
    assert!(saved > 1800, "{saved}");
    assert_eq!(
        copy_outcome.estimate_tokens(&copy.resume_index),
        outcome.estimate_tokens(&original.resume_index) - saved
    );
}

/// Makes a script fit. Formats each stage and the remaining lines.
fn escalate_script(text: &str, fit: u64) -> String {
    let original = load(&script::bytes(text));
    let client = Version::parse_lenient("2.1.325");
    let steps = std::cell::RefCell::new(Vec::new());
    let read = |span| Ok::<_, std::convert::Infallible>(original.line_bytes(span));
    let escalate_input = |input: &TrimInput<'_>| {
        let escalation = escalate(input, fit, NOTE, read).unwrap_or_else(|never| match never {});
        let format_step = |step: &EscalationStep| {
            format!("{} {}: {} -> {}", step.stage.name(), step.count, step.before, step.after)
        };
        steps.borrow_mut().extend(escalation.steps.iter().map(format_step));
        steps.borrow_mut().push(if escalation.fits { "fits".to_owned() } else { "too long".to_owned() });
        escalation.trimmed
    };
    let (_, trimmed) = original.trim(&client, last_node(&original), escalate_input).expect("a path");
    let lines = String::from_utf8(original.write(trimmed)).expect("text");
    let mut formatted: Vec<String> =
        lines.lines().map(|line| format_line(line).chars().take(60).collect()).collect();
    formatted.truncate(formatted.len() - 2);
    format!("{}\n{}", steps.borrow().join("\n"), formatted.join("\n"))
}

#[test]
fn escalation_stops_when_the_context_fits() {
    let words = "planks ".repeat(800);
    let conversation = format!(
        "
u1: dig the first bed
  a1 #m1: ?long thoughts about beds
    a2 #m1: !Bash ls
      u2: =a2 {words}
        a3: !Bash pwd
          u3: =a3 {words}
            a4: Done
              u4: the second bed
                a5: Done, too
                  u5: the third bed
                    a6: !Bash ls
                      u6: =a6 {words}
                        a7: Done again
                          u7: thanks
                            a8 read=4400: welcome
"
    );
    assert_snapshot!(escalate_script(&conversation, 3500), @"
    large-results 1: 4415 -> 3013
    fits
    u1 ^null: dig the first bed
    a1 ^u1: ?long thoughts about beds
    a2 ^a1: !Bash
    u2 ^a2: =[tool result of 6 kB removed by rethread: session 0
    a3 ^u2: !Bash
    u3 ^a3: =planks planks planks planks planks planks planks pl
    a4 ^u3: Done
    u4 ^a4: the second bed
    a5 ^u4: Done, too
    u5 ^a5: the third bed
    a6 ^u5: !Bash
    u6 ^a6: =planks planks planks planks planks planks planks pl
    a7 ^u6: Done again
    u7 ^a7: thanks
    a8 ^u7: welcome
    ");
    assert_snapshot!(escalate_script(&conversation, 2000), @"
    large-results 2: 4415 -> 1610
    fits
    u1 ^null: dig the first bed
    a1 ^u1: ?long thoughts about beds
    a2 ^a1: !Bash
    u2 ^a2: =[tool result of 6 kB removed by rethread: session 0
    a3 ^u2: !Bash
    u3 ^a3: =[tool result of 6 kB removed by rethread: session 0
    a4 ^u3: Done
    u4 ^a4: the second bed
    a5 ^u4: Done, too
    u5 ^a5: the third bed
    a6 ^u5: !Bash
    u6 ^a6: =planks planks planks planks planks planks planks pl
    a7 ^u6: Done again
    u7 ^a7: thanks
    a8 ^u7: welcome
    ");
    assert_snapshot!(escalate_script(&conversation, 1570), @"
    large-results 2: 4415 -> 1610
    thinking 1: 1610 -> 1590
    tools 2: 1590 -> 1520
    fits
    u1 ^null: dig the first bed
    a4 ^u1: Done
    u4 ^a4: the second bed
    a5 ^u4: Done, too
    u5 ^a5: the third bed
    a6 ^u5: !Bash
    u6 ^a6: =planks planks planks planks planks planks planks pl
    a7 ^u6: Done again
    u7 ^a7: thanks
    a8 ^u7: welcome
    ");
    assert_snapshot!(escalate_script(&conversation, 100), @"
    large-results 2: 4415 -> 1610
    thinking 1: 1610 -> 1590
    tools 2: 1590 -> 1520
    turns 2: 1520 -> 1497
    recent-results 1: 1497 -> 94
    fits
    00000000-0000-4000-8000-00000000aaaa ^null: note
    u5 ^00000000-0000-4000-8000-00000000aaaa: the third bed
    a6 ^u5: !Bash
    u6 ^a6: =[tool result of 6 kB removed by rethread: session 0
    a7 ^u6: Done again
    u7 ^a7: thanks
    a8 ^u7: welcome
    ");
}
