//! Trims: what goes, what stays, and that what stays is sound.

mod laws;
mod loaded_file;

use std::collections::HashSet;

use insta::assert_snapshot;
use rethread_core::id::Id;
use rethread_core::resume::simulate_resume;
use rethread_core::trim::{ContentKind, EscalationStep, Preset, TrimInput, TrimOptions, escalate};
use rethread_core::version::Version;
use rethread_testkit::script;
use serde_json::Value;

use loaded_file::{NOTE, by, know, last};

/// Trims a script and shows every line that stays, its parent and its blocks in a word, and what went.
fn check(text: &str, trim: &TrimOptions) -> String {
    let known = know(&script::bytes(text));
    let client = Version::read("2.1.325");
    let (_, cut) = known.cut(&client, last(&known), |scene| by(trim)(scene, &known)).expect("a way");
    let rows: Vec<String> =
        cut.ledger.rows().map(|(cause, row)| format!("{} {}", cause.name(), row.count)).collect();
    let file = known.write(cut);
    let lines = String::from_utf8(file).expect("text");
    let mut shown: Vec<String> = lines.lines().map(show).collect();
    shown.truncate(shown.len() - 2);
    format!("{}\n- {}", shown.join("\n"), rows.join(", "))
}

fn show(line: &str) -> String {
    let value: Value = serde_json::from_str(line).expect("a line is JSON");
    let name = |key: &str| {
        value[key].as_str().map_or("null".into(), |uuid| script::name_of(uuid).unwrap_or_else(|| uuid.into()))
    };
    let blocks = match &value["message"]["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(word).collect::<Vec<_>>().join(" | "),
        _ => value["type"].as_str().unwrap_or_default().to_owned(),
    };
    let twin = if value["toolUseResult"].is_null() { "" } else { " +twin" };
    format!("{} ^{}: {blocks}{twin}", name("uuid"), name("parentUuid"))
}

fn word(block: &Value) -> String {
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

fn drop(what: &[ContentKind]) -> TrimOptions {
    TrimOptions { drop: what.to_vec(), ..TrimOptions::default() }
}

/// Words that are worth a stub.
fn long(words: &str) -> String {
    format!("{words} ").repeat(400 / words.len())
}

#[test]
fn calls_and_results_leave_together_and_what_hung_on_them_hangs_above() {
    let talk = "
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
    assert_snapshot!(check(talk, &drop(&[ContentKind::Tools])), @"
    u1 ^null: dig a bed
    a2 ^u1: I look first
    a5 ^a2: Done
    p1 ^a5: progress
    u4 ^p1: thanks
    a6 ^u4: welcome
    - tools 2
    ");
    assert_snapshot!(check(talk, &drop(&[ContentKind::Thinking, ContentKind::Progress])), @"
    u1 ^null: dig a bed
    a2 ^u1: I look first
    a3 ^a2: !Bash
    a4 ^a3: !Bash
    u3 ^a4: =/garden +twin
    u2 ^a3: =beds +twin
    a5 ^u2: Done
    u4 ^a5: thanks
    a6 ^u4: welcome
    - progress 1, thinking 1
    ");
    assert_snapshot!(check(talk, &drop(&[])), @"
    u1 ^null: dig a bed
    a1 ^u1: ?where to
    a2 ^a1: I look first
    a3 ^a2: !Bash
    a4 ^a3: !Bash
    u3 ^a4: =/garden +twin
    u2 ^a3: =beds +twin
    a5 ^u2: Done
    p1 ^a5: progress
    u4 ^p1: thanks
    a6 ^u4: welcome
    -
    ");
    assert_snapshot!(check(talk, &TrimOptions { keep_last: Some(1), ..TrimOptions::default() }), @"
    u4 ^null: thanks
    a6 ^u4: welcome
    - turns 1
    ");
    assert_snapshot!(check(talk, &Preset::Bare.trim()), @"
    u1 ^null: dig a bed
    a2 ^u1: I look first
    a5 ^a2: Done
    u4 ^a5: thanks
    a6 ^u4: welcome
    - progress 1, thinking 1, tools 2
    ");
}

#[test]
fn stubs_say_where_the_original_is_and_the_second_copy_goes() {
    let talk = format!(
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
        long = long("planks")
    );
    assert_snapshot!(check(&talk, &TrimOptions { dedupe_reads: true, ..TrimOptions::default() }), @"
    u1 ^null: read it
    a1 ^u1: !Read
    u2 ^a1: =[read of 538 bytes left out by rethread, the file is read again below: session 0af00000 li
    a2 ^u2: !Read
    u3 ^a2: =planks planks planks planks planks planks planks planks planks planks planks planks planks +twin
    a3 ^u3: !Bash
    u4 ^a3: =short +twin
    a4 ^u4: Done
    u5 ^a4: look | [image]
    a5 ^u5: nice
    - reads 1
    ");
    assert_snapshot!(check(&talk, &TrimOptions { results_over: Some(300), ..TrimOptions::default() }), @"
    u1 ^null: read it
    a1 ^u1: !Read
    u2 ^a1: =[tool result of 538 bytes left out by rethread: session 0af00000 line 3]
    a2 ^u2: !Read
    u3 ^a2: =[tool result of 538 bytes left out by rethread: session 0af00000 line 5]
    a3 ^u3: !Bash
    u4 ^a3: =short +twin
    a4 ^u4: Done
    u5 ^a4: look | [image]
    a5 ^u5: nice
    - tool-results 2
    ");
    assert_snapshot!(check(&talk, &drop(&[ContentKind::ToolResults, ContentKind::Images])), @"
    u1 ^null: read it
    a1 ^u1: !Read
    u2 ^a1: =[tool result of 538 bytes left out by rethread: session 0af00000 line 3]
    a2 ^u2: !Read
    u3 ^a2: =[tool result of 538 bytes left out by rethread: session 0af00000 line 5]
    a3 ^u3: !Bash
    u4 ^a3: =short +twin
    a4 ^u4: Done
    u5 ^a4: look | [picture of 90 bytes left out by rethread: session 0af00000 line 9]
    a5 ^u5: nice
    - tool-results 2, images 1
    ");
    assert_snapshot!(check(&talk, &TrimOptions { older_than: Some(1), ..drop(&[ContentKind::ToolResults, ContentKind::Images]) }), @"
    u1 ^null: read it
    a1 ^u1: !Read
    u2 ^a1: =[tool result of 538 bytes left out by rethread: session 0af00000 line 3]
    a2 ^u2: !Read
    u3 ^a2: =[tool result of 538 bytes left out by rethread: session 0af00000 line 5]
    a3 ^u3: !Bash
    u4 ^a3: =short +twin
    a4 ^u4: Done
    u5 ^a4: look | [image]
    a5 ^u5: nice
    - tool-results 2
    ");
}

#[test]
fn attachments_that_say_something_stay_in_a_light_copy() {
    let talk = "
u1: dig
  t1: file a bed
    t2: hook_success fine
      t3: queued_command and the hose
        a1: Done
";
    assert_snapshot!(check(talk, &Preset::Light.trim()), @"
    u1 ^null: dig
    t1 ^u1: attachment
    t3 ^t1: attachment
    a1 ^t3: Done
    - attachments 1
    ");
    assert_snapshot!(check(talk, &drop(&[ContentKind::Attachments])), @"
    u1 ^null: dig
    t3 ^u1: attachment
    a1 ^t3: Done
    - attachments 2
    ");
}

#[test]
fn what_a_compaction_kept_is_named_only_as_far_as_it_stays() {
    let talk = "
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
    let known = know(&script::bytes(talk));
    let client = Version::read("2.1.325");
    for (trim, kept) in [
        (drop(&[]), "a1 a2 u2 a3 / a1..a3"),
        (drop(&[ContentKind::Thinking]), "a2 u2 a3 / a2..a3"),
        (drop(&[ContentKind::Tools]), "a3 / a3..a3"),
    ] {
        let (asked, cut) = known.cut(&client, last(&known), |scene| by(&trim)(scene, &known)).expect("a way");
        let stays: HashSet<Id> = cut.lines.iter().map(|(no, _)| known.tree.node(*no).id).collect();
        let file = known.write(cut);
        let boundary =
            file.split(|b| *b == b'\n').find(|line| line.windows(16).any(|w| w == b"compact_boundary"));
        let boundary: Value = serde_json::from_slice(boundary.expect("the boundary")).expect("JSON");
        let name = |value: &Value| script::name_of(value.as_str().expect("a uuid")).expect("a name");
        let metadata = &boundary["compactMetadata"];
        let listed = metadata["preservedMessages"]["uuids"].as_array().expect("a list");
        let listed: Vec<String> = listed.iter().map(name).collect();
        let run = &metadata["preservedSegment"];
        let run = format!("{}..{}", name(&run["headUuid"]), name(&run["tailUuid"]));
        assert_eq!(format!("{} / {run}", listed.join(" ")), kept);
        let copy = know(&file);
        let found = simulate_resume(&copy.tree, &copy.facts, &client);
        let wanted: Vec<Id> = known.ids(&asked.path).into_iter().filter(|id| stays.contains(id)).collect();
        assert_eq!(copy.ids(&found.path), wanted);
    }
}

#[test]
fn a_copy_counts_the_context_that_it_has() {
    let talk = format!(
        "
u1: read it
  a1 in=10 out=20 write=30 read=90000: !Read shed.md
    u2: =a1 {}
      a2 in=10 out=20 write=1000 read=100000: Done
        u3: thanks
",
        long("planks").repeat(20)
    );
    let known = know(&script::bytes(&talk));
    let client = Version::read("2.1.325");
    let trim = drop(&[ContentKind::ToolResults]);
    let (asked, cut) = known.cut(&client, last(&known), |scene| by(&trim)(scene, &known)).expect("a way");
    let saved = cut.ledger.total().tokens();
    let copy = know(&known.write(cut));
    let found = simulate_resume(&copy.tree, &copy.facts, &client);
    assert!(saved > 1800, "{saved}");
    assert_eq!(found.tokens(&copy.facts), asked.tokens(&known.facts) - saved);
}

/// Makes a script fit and tells each step, then the lines that stay.
fn fitted(text: &str, fit: u64) -> String {
    let known = know(&script::bytes(text));
    let client = Version::read("2.1.325");
    let steps = std::cell::RefCell::new(Vec::new());
    let read = |place| Ok::<_, std::convert::Infallible>(known.line(place));
    let made = |scene: &TrimInput<'_>| {
        let made = escalate(scene, fit, NOTE, read).unwrap_or_else(|never| match never {});
        let step = |taken: &EscalationStep| {
            format!("{} {}: {} -> {}", taken.stage.name(), taken.count, taken.before, taken.after)
        };
        steps.borrow_mut().extend(made.taken.iter().map(step));
        steps.borrow_mut().push(if made.fits { "fits".to_owned() } else { "too long".to_owned() });
        made.cut
    };
    let (_, cut) = known.cut(&client, last(&known), made).expect("a way");
    let lines = String::from_utf8(known.write(cut)).expect("text");
    let mut shown: Vec<String> = lines.lines().map(|line| show(line).chars().take(60).collect()).collect();
    shown.truncate(shown.len() - 2);
    format!("{}\n{}", steps.borrow().join("\n"), shown.join("\n"))
}

#[test]
fn more_and_more_goes_until_it_fits() {
    let words = "planks ".repeat(800);
    let talk = format!(
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
    assert_snapshot!(fitted(&talk, 3500), @"
    large-results 1: 4415 -> 3013
    fits
    u1 ^null: dig the first bed
    a1 ^u1: ?long thoughts about beds
    a2 ^a1: !Bash
    u2 ^a2: =[tool result of 6 kB left out by rethread: session 
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
    assert_snapshot!(fitted(&talk, 2000), @"
    large-results 2: 4415 -> 1611
    fits
    u1 ^null: dig the first bed
    a1 ^u1: ?long thoughts about beds
    a2 ^a1: !Bash
    u2 ^a2: =[tool result of 6 kB left out by rethread: session 
    a3 ^u2: !Bash
    u3 ^a3: =[tool result of 6 kB left out by rethread: session 
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
    assert_snapshot!(fitted(&talk, 1570), @"
    large-results 2: 4415 -> 1611
    thinking 1: 1611 -> 1591
    tools 2: 1591 -> 1520
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
    assert_snapshot!(fitted(&talk, 100), @"
    large-results 2: 4415 -> 1611
    thinking 1: 1611 -> 1591
    tools 2: 1591 -> 1520
    turns 2: 1520 -> 1497
    recent-results 1: 1497 -> 95
    fits
    00000000-0000-4000-8000-00000000aaaa ^null: note
    u5 ^00000000-0000-4000-8000-00000000aaaa: the third bed
    a6 ^u5: !Bash
    u6 ^a6: =[tool result of 6 kB left out by rethread: session 
    a7 ^u6: Done again
    u7 ^a7: thanks
    a8 ^u7: welcome
    ");
}
