//! Turns, one case per script.

use insta::assert_snapshot;
use rethread_core::entry::{Entry, read_line};
use rethread_core::lines::LineSplitter;
use rethread_core::turn::{Turn, TurnPart, build_turn};
use rethread_testkit::script;

/// Builds a turn from all lines of a script.
fn build_script_turn(text: &str) -> Turn {
    let bytes = script::bytes(text);
    let mut entries: Vec<(u32, Entry<'_>)> = Vec::new();
    LineSplitter::default().feed(&bytes, true, &mut Vec::new(), |line, problems| {
        read_line(&line, problems, |entry, _| entries.push((line.number, entry)));
    });
    build_turn(&entries)
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
