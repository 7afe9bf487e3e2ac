//! Contents of exports in every format.

use rethread_testkit::home::Home;
use serde_json::{Value, json};

use crate::session_builder::{SESSION, SessionBuilder, garden_session};

const FORMATS: [&str; 4] = ["html", "md", "json", "text"];
const DETAILS: [&str; 4] = ["prompts", "answers", "tools", "everything"];

fn export(home: &Home, options: &[&str]) -> String {
    let run = home.run(&[&["export", SESSION], options].concat());
    assert_eq!(run.code, 0, "{options:?}: {}", run.err);
    run.out
}

#[test]
fn output_does_not_depend_on_time_zone_or_terminal_width() {
    let home = garden_session().write_to_new_home();
    for format in FORMATS {
        for detail in DETAILS {
            let args = ["export", SESSION, "--format", format, "--detail", detail, "--all"];
            let first = home.run(&args);
            assert_eq!(first.code, 0, "{}", first.err);
            let other = home.command(&args).env("TZ", "Asia/Tokyo").env("COLUMNS", "60").output().unwrap();
            assert_eq!(first.out.as_bytes(), other.stdout, "{format} {detail}");
        }
    }
}

#[test]
fn each_detail_contains_the_previous_one() {
    let home = garden_session().write_to_new_home();
    for format in ["md", "text"] {
        let outputs = DETAILS.map(|detail| export(&home, &["--format", format, "--detail", detail]));
        for pair in outputs.windows(2) {
            let mut longer = pair[1].lines();
            for line in pair[0].lines().filter(|line| !line.is_empty()) {
                assert!(
                    longer.any(|candidate| candidate == line),
                    "{format}: {line:?} is missing in\n{}",
                    pair[1]
                );
            }
            assert!(pair[0].len() < pair[1].len());
        }
    }
    for format in FORMATS {
        let outputs = DETAILS.map(|detail| export(&home, &["--format", format, "--detail", detail]));
        let details_with = |text: &str| [0, 1, 2, 3].map(|idx| outputs[idx].contains(text));
        assert_eq!(details_with("trees"), [true; 4], "{format}");
        assert_eq!(details_with("Done: one oak."), [false, true, true, true], "{format}");
        assert_eq!(details_with("plant oak"), [false, false, true, true], "{format}");
        assert_eq!(details_with("list.md"), [false, false, true, true], "{format}");
        assert_eq!(details_with("An oak first."), [false, false, false, true], "{format}");
        assert_eq!(details_with("sapling"), [false, false, false, true], "{format}");
    }
}

#[test]
fn one_branch_or_all_branches_are_exported() {
    let home = garden_session().write_to_new_home();
    for format in FORMATS {
        let export_format = |options: &[&str]| export(&home, &[&["--format", format], options].concat());
        let find_answers =
            |text: &str| ["A birch it is.", "An elm it is."].map(|answer| text.contains(answer));
        assert_eq!(find_answers(&export_format(&[])), [false, true], "{format}");
        assert_eq!(find_answers(&export_format(&["--branch", "t2"])), [true, false], "{format}");
        assert_eq!(find_answers(&export_format(&["--all"])), [true, true], "{format}");
    }
    let page = export(&home, &["--format", "html", "--all"]);
    assert!(
        page.contains("<details class=\"branch-links\"><summary>2 branches</summary>"),
        "the branches are listed"
    );
    assert!(
        page.contains("<a href=\"#t2\">And a birch?</a>")
            && page.contains("<a href=\"#t3\">Rather an elm</a>")
    );
    assert!(
        page.contains("aria-label=\"Next branch\"") && !page.contains("?tip=L"),
        "branches are linked within the page"
    );
    assert!(!export(&home, &["--format", "html"]).contains("class=\"fork-switch"));
}

#[test]
fn markdown_lists_the_turns() {
    let output = export(&garden_session().write_to_new_home(), &["--detail", "tools", "--branch", "t2"]);
    let expected = "# Plant \\*three\\* trees

- session `11111111-2222-4333-8444-555555550001`
- in `/home/ada/garden`
- git branch `main`
- 2026-01-01 10:00 (11.0s), times in UTC
- claude-opus-4-5
- 2 of 3 turns: one branch

## Turn 1

*2026-01-01 10:00:00*

> **You**
>
> Plant *three* trees

### Plan

I will plant an **oak**.

- **Bash** `plant oak`
- **Write** `list.md`

Done: one oak.

*claude-opus-4-5 · 5 responses · 50 in, 25 out · 7.0s*

## Turn 2

*2026-01-01 10:00:08*

> **You**
>
> And a birch?

A birch it is.

*claude-opus-4-5 · 1 response · 10 in, 5 out · 1.0s*
";
    assert_eq!(output, expected);
}

#[test]
fn markdown_of_everything_uses_code_fences() {
    let output = export(&garden_session().write_to_new_home(), &["--detail", "everything", "--branch", "t2"]);
    for block in [
        "- **Bash** `plant oak`\n\n  ```\n  $ plant oak\n  ```\n\n  ```text\n  planted\n  an oak\n  ```",
        "  ```diff\n    file_path: /home/ada/garden/list.md\n  + sapling\n  ```",
        "<details><summary>Thinking</summary>\n\nAn oak first.\n\n</details>",
    ] {
        assert!(output.contains(block), "{block}\nis not in\n{output}");
    }
}

#[test]
fn text_is_a_hundred_columns_wide() {
    let home = garden_session().write_to_new_home();
    let output = export(&home, &["--format", "text", "--detail", "everything"]);
    assert!(output.contains("── t1  2026-01-01 10:00:00 ──"), "{output}");
    assert!(output.contains("> Plant *three* trees\n"));
    assert!(
        output.contains("  ● Bash  plant oak\n    $ plant oak\n    │ planted\n    │ an oak\n"),
        "{output}"
    );
    assert!(output.lines().all(|line| line.chars().count() <= 100 && line.trim_end() == line));
}

#[test]
fn json_is_a_header_and_the_turns_of_show() {
    let home = garden_session().write_to_new_home();
    let parse_lines =
        |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    let output = parse_lines(&export(&home, &["--json", "--all"]));
    let show_output = parse_lines(&home.run(&["show", SESSION, "--all", "--json"]).out);
    assert_eq!(output[1..], show_output);
    let header = &output[0];
    assert_eq!(
        (&header["type"], &header["v"], &header["exported_turns"], &header["turns"]),
        (&"export".into(), &1.into(), &3.into(), &3.into())
    );
    assert_eq!(
        (&header["session"], &header["detail"], &header["all_branches"]),
        (&SESSION.into(), &"everything".into(), &true.into())
    );
}

#[test]
fn a_subagent_inside_the_session_file_is_exported_at_its_call() {
    let input = json!({ "description": "Look", "prompt": "look closely", "subagent_type": "Explore" });
    let side = json!({ "isSidechain": true });
    let session = SessionBuilder::default()
        .add_prompt("Use an agent")
        .add_call("toolu_t", "Task", &input, &json!("found"), &Value::Null)
        .add_answer("It is back.")
        .add_entry("user", &json!("look closely"), &json!({ "isSidechain": true, "parentUuid": null }))
        .add_entry("assistant", &json!([{ "type": "text", "text": "the agent speaks" }]), &side);
    let home = session.write_to_new_home();
    for options in [&["--format", "html"][..], &["--format", "html", "--all"]] {
        let page = export(&home, options);
        let call = page.find("data-call=\"toolu_t\"").expect("the call has a slot");
        let agent_text = page.find("the agent speaks").expect("the agent is exported");
        let after_agent = page.find("It is back.").expect("the session is exported");
        assert!(call < agent_text && agent_text < after_agent, "{options:?}");
    }
}

#[test]
fn consecutive_calls_of_one_mcp_server_are_grouped() {
    let add_call = |session: SessionBuilder, id: &str, name: &str| {
        session.add_call(id, name, &json!({ "query": "x" }), &json!("ok"), &Value::Null)
    };
    let mut session = SessionBuilder::default().add_prompt("Look around");
    for (id, name) in [
        ("toolu_1", "mcp__git<hub__list"),
        ("toolu_2", "mcp__git<hub__read"),
        ("toolu_3", "mcp__other__read"),
        ("toolu_4", "Bash"),
        ("toolu_5", "mcp__git<hub__list"),
    ] {
        session = add_call(session, id, name);
    }
    let page = export(&session.add_answer("Seen.").write_to_new_home(), &["--format", "html"]);
    assert_eq!(page.matches("<section class=\"tool-group\"").count(), 1, "a single call is not grouped");
    let group = page.split("<section class=\"tool-group\"").nth(1).unwrap();
    let (head, rest) = group.split_once("</section>").unwrap();
    assert!(head.contains("aria-label=\"git&lt;hub: 2 calls\""), "{head}");
    assert_eq!(head.matches("class=\"part tool\"").count(), 2, "{head}");
    assert_eq!(rest.matches("class=\"part tool\"").count(), 3);
}

#[test]
fn token_counts_are_summed_without_overflow() {
    let message = |usage: &Value| {
        let content = json!([{ "type": "text", "text": "so" }]);
        json!({ "message": { "role": "assistant", "id": "m", "model": "claude-opus-4-5", "content": content, "usage": usage } })
    };
    let export_usage = |usage: &Value| {
        let session = SessionBuilder::default().add_prompt("Count").add_entry(
            "assistant",
            &Value::Null,
            &message(usage),
        );
        let home = session.write_to_new_home();
        FORMATS.map(|format| export(&home, &["--format", format]))
    };
    export_usage(
        &json!({ "input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": u64::MAX, "output_tokens": 5 }),
    );
    let page =
        &export_usage(&json!({ "input_tokens": 10, "cache_creation_input_tokens": 5, "output_tokens": 5 }))
            [0];
    assert!(page.contains("15 in, 5 out"), "cache writes count as input");
}
