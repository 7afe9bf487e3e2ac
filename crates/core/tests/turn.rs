//! Turns, one case per script.

use insta::assert_snapshot;
use rethread_core::entry::{Entry, read_line};
use rethread_core::lines::LineSplitter;
use rethread_core::tree::LineSpan;
use rethread_core::turn::{ToolCallIndex, Turn, TurnPart, build_turn};
use rethread_testkit::script;

/// Calls `visit` with all entries of a script and their line numbers.
fn with_entries<T>(text: &str, visit: impl FnOnce(&[(u32, Entry<'_>)]) -> T) -> T {
    let bytes = script::bytes(text);
    let mut entries: Vec<(u32, Entry<'_>)> = Vec::new();
    LineSplitter::default().feed(&bytes, true, &mut Vec::new(), |line, problems| {
        read_line(&line, problems, |entry, _| entries.push((line.number, entry)));
    });
    visit(&entries)
}

/// Builds a turn from all lines of a script.
fn build_script_turn(text: &str) -> Turn {
    with_entries(text, build_turn)
}

/// Pairs the calls and results of a script.
fn index_calls(text: &str) -> ToolCallIndex {
    with_entries(text, |entries| {
        let mut index = ToolCallIndex::default();
        for (line, entry) in entries {
            index.add(entry, LineSpan { offset: 0, len: 0, line: *line });
        }
        index
    })
}

fn render_turn(text: &str) -> String {
    let turn = build_script_turn(text);
    let mut lines = Vec::new();
    if let Some(prompt) = &turn.prompt {
        lines.push(format!("{}: {}", prompt.role.name(), prompt.text));
    }
    for part in turn.parts.iter().map(|item| &item.part) {
        lines.push(match part {
            TurnPart::Tool(call) => {
                let result = call.result.as_ref();
                let mark = if result.is_some_and(|result| result.is_error) { " failed" } else { "" };
                let result = result.map_or("no result".to_owned(), |result| format!("→ {}", result.text));
                format!("tool {} {} {result}{mark}", call.name, call.input)
            }
            other => format!("{other:?}"),
        });
    }
    lines.push(format!("{} responses, {} out", turn.responses, turn.usage.output));
    lines.join("\n")
}

#[test]
fn result_names_the_tools_that_it_loads() {
    let parent = script::uuid_from_name("a1");
    let text = format!(
        r#"
u1: remember it
  a1: !ToolSearch memory
raw: {{"type":"user","uuid":"u2","parentUuid":"{parent}","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_a1","content":[{{"type":"text","text":"two tools"}},{{"type":"tool_reference","tool_name":"Remember"}},{{"type":"tool_reference","tool_name":"Recall"}}]}}]}}}}
"#
    );
    assert_snapshot!(render_turn(&text), @r#"
    prompt: remember it
    tool ToolSearch {"command":"memory"} → two tools
    tool loaded: Remember
    tool loaded: Recall
    1 responses, 5 out
    "#);
}

#[test]
fn texts_of_a_prompt_are_separated_by_a_blank_line() {
    let prompt = build_script_turn("u1: tidy the shed | and the garden\n  a1: ok").prompt.expect("a prompt");
    assert_eq!(prompt.text, "tidy the shed\n\nand the garden");
}

#[test]
fn results_do_not_end_a_turn() {
    let text = "
        u1: what is in the shed
          a1 #m1 out=5: ?let me look
            a2 #m1 out=5: !Bash ls shed
              u2: =a2 rake
                a3 #m2 out=7: a rake
    ";
    assert_snapshot!(render_turn(text), @r#"
    prompt: what is in the shed
    Thinking("let me look")
    tool Bash {"command":"ls shed"} → rake
    Text("a rake")
    2 responses, 12 out
    "#);
}

#[test]
fn lines_of_one_message_are_merged() {
    let added = "u1: q\n  a1 #m1 out=1: one\n    a2 #m1 out=9: !Read f";
    let repeated = "u1: q\n  a1 #m1 out=1: one\n    a2 #m1 out=9: one | !Read f";
    let grown = "u1: q\n  a1 #m1 out=1: on\n    a2 #m1 out=9: one | !Read f";
    let expected = render_turn(added);
    assert_snapshot!(expected, @r#"
    prompt: q
    Text("one")
    tool Read {"command":"f"} no result
    1 responses, 9 out
    "#);
    // A call on another line has another id; otherwise the three turns are equal.
    assert_eq!(render_turn(repeated), expected);
    assert_eq!(render_turn(grown), expected);
}

#[test]
fn results_are_paired_with_calls_in_any_order() {
    let text = "
        u1: both
          a1 #m1: !Read one
            a2 #m1: !Read two
              u3: =!a2 no such file
            u2: =a1 first
    ";
    assert_snapshot!(render_turn(text), @r#"
    prompt: both
    tool Read {"command":"one"} → first
    tool Read {"command":"two"} → no such file failed
    1 responses, 5 out
    "#);
}

#[test]
fn commands_and_shell_output_are_extracted_from_tags() {
    let text = "
        u1: <command-message>greet</command-message>\\n<command-name>/greet</command-name>\\n<command-args>Bob</command-args>
          u2 meta: say hello to Bob
            a1: hello
              u3: <bash-input>ls</bash-input>
                u4: <bash-stdout>rake</bash-stdout><bash-stderr></bash-stderr>
    ";
    assert_snapshot!(render_turn(text), @r#"
    command: /greet Bob
    Meta("say hello to Bob")
    Text("hello")
    Command("! ls")
    Output("rake")
    1 responses, 5 out
    "#);
}

#[test]
fn text_of_the_client_is_not_a_prompt() {
    let text = "
        u1: go
          u2: [Request interrupted by user]
            u3: <task-notification>\\n<task-id>t</task-id>\\n</task-notification>
              u4 meta: <system-reminder>be kind</system-reminder>
                a1 apierror model=<synthetic>: API Error: overloaded
                  a2 model=<synthetic>: No response requested.
                    s1: compact_boundary
                      u5 recap: all that was said
    ";
    assert_snapshot!(render_turn(text), @r#"
    prompt: go
    Interrupt("[Request interrupted by user]")
    Notification("<task-notification>\n<task-id>t</task-id>\n</task-notification>")
    Meta("<system-reminder>be kind</system-reminder>")
    Error("API Error: overloaded")
    Compaction { trigger: "manual", before: Some(1000), after: None, micro: false }
    CompactSummary("all that was said")
    0 responses, 0 out
    "#);
}

#[test]
fn queued_prompts_keep_their_position() {
    let text = "u1: go\n  a1: !Bash make\n    t1: queued_command and test\n      a2: done";
    assert_snapshot!(render_turn(text), @r#"
    prompt: go
    tool Bash {"command":"make"} no result
    Queued("and test")
    Text("done")
    2 responses, 10 out
    "#);
}

#[test]
fn empty_block_is_not_the_start_of_the_next_one() {
    let text = r#"
        u1: q
          a1 #m1: {"type":"thinking","thinking":"","signature":"first"}
            a2 #m1: ?let me look
    "#;
    assert_snapshot!(render_turn(text), @r#"
    prompt: q
    Thinking("")
    Thinking("let me look")
    1 responses, 5 out
    "#);
}

#[test]
fn call_that_a_line_repeats_with_other_bytes_is_one_part() {
    let text = r#"
        u1: q
          a1 #m1: {"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}
            a2 #m1: {"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command": "ls"}}
    "#;
    assert_snapshot!(render_turn(text), @r#"
    prompt: q
    tool Bash {"command":"ls"} no result
    1 responses, 5 out
    "#);
}

#[test]
fn result_before_its_call_is_paired_with_it() {
    let text = "
        u1: q
        u2 ^u1: =a1 rake
        a1 ^u1: !Bash ls
    ";
    assert_snapshot!(render_turn(text), @r#"
    prompt: q
    tool Bash {"command":"ls"} → rake
    1 responses, 5 out
    "#);
}

#[test]
fn text_of_the_client_next_to_results_is_meta_and_text_of_the_user_is_queued() {
    let text = "
        u1: q
          a1: !Bash ls
            u2: =a1 rake | <system-reminder>be kind</system-reminder> | [the client says] | stop there
    ";
    assert_snapshot!(render_turn(text), @r#"
    prompt: q
    tool Bash {"command":"ls"} → rake
    Meta("<system-reminder>be kind</system-reminder>")
    Meta("[the client says]")
    Queued("stop there")
    1 responses, 5 out
    "#);
}

#[test]
fn result_next_to_an_interruption_or_meta_text_is_shown() {
    let text = "
        u1: q
          a1: !Bash ls | !Bash pwd
            u2: =!a1 denied | [Request interrupted by user for tool use]
              u3 meta: =a1.2 /garden | noted
    ";
    assert_snapshot!(render_turn(text), @r#"
    prompt: q
    tool Bash {"command":"ls"} → denied failed
    tool Bash {"command":"pwd"} → /garden
    Interrupt("[Request interrupted by user for tool use]")
    Meta("noted")
    1 responses, 5 out
    "#);
}

#[test]
fn last_of_several_lines_with_equal_output_counts() {
    let turn = build_script_turn("u1: q\n  a1 #m1 in=1 out=5: one\n    a2 #m1 in=7 read=30 out=5: two");
    assert_eq!((turn.responses, turn.usage.input, turn.usage.cache_read, turn.usage.output), (1, 7, 30, 5));
}

#[test]
fn duration_of_a_call_is_unknown_if_its_result_is_older() {
    let millis = |text: &str| index_calls(text).calls()[0].millis();
    assert_eq!(millis("u1: q\n  a1: !Bash ls\n    u2 @+3: =a1 rake"), Some(3000));
    assert_eq!(millis("u1: q\n  a1: !Bash ls\n    u2 @+0: =a1 rake"), Some(0));
    assert_eq!(millis("u1: q\n  a1: !Bash ls\n    u2 @+-1: =a1 rake"), None);
    assert_eq!(millis("u1: q\n  a1: !Bash ls\n    u2 @none: =a1 rake"), None);
}

#[test]
fn call_failed_if_any_of_its_results_is_an_error() {
    let index = index_calls("u1: q\n  a1: !Bash ls\n    u2: =!a1 denied\n      u3: =a1 rake");
    let [call] = index.calls() else { panic!("one call") };
    assert!(call.is_error);
    assert_eq!(call.result.map(|span| span.line), Some(4));
}

#[test]
fn duration_of_a_turn_is_the_sum_of_those_that_are_known() {
    let text = "u1: one\n  a1: one\n    s1: turn_duration 5\n      s2: turn_duration none\n        s3: turn_duration 7";
    assert_eq!(build_script_turn(text).duration_ms, Some(12));
    assert_eq!(build_script_turn("u1: one\n  s1: turn_duration none").duration_ms, None);
}
