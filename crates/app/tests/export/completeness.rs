//! Exports contain everything that their detail includes, and nothing false.

use pulldown_cmark::{Event, Parser, Tag};
use rethread_testkit::browser::Browser;
use rethread_testkit::home::Home;
use serde_json::{Value, json};

use crate::html_page::export_page;
use crate::new_home;
use crate::session_builder::{PROJECT, SESSION, SessionBuilder, unpack_page};

fn export(home: &Home, session: &SessionBuilder, options: &[&str]) -> String {
    session.write_to(home);
    let run = home.run(&[&["export", SESSION], options].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    run.out
}

/// Returns the text of markup without its tags.
fn visible_text(markup: &str) -> String {
    let parts = markup.split('<').filter_map(|part| part.split_once('>'));
    parts.map(|(_, text)| text).collect::<Vec<_>>().join(" ")
}

#[test]
fn calls_without_results_show_only_name_and_summary() {
    let declined_text =
        "The user doesn't want to proceed with this tool use. To tell you how, the user said:\nsecret";
    let call = |id: &str, name: &str, input: Value| json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
    let error_result = |id: &str, text: &str| json!([{ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": true }]);
    let session = SessionBuilder::default()
        .add_prompt("Look around")
        .add_call(
            "c1",
            "Grep",
            &json!({ "pattern": "needle" }),
            &json!("Found 2 files\na.rs\nb.rs"),
            &json!({ "numFiles": 2 }),
        )
        .add_call(
            "c2",
            "Read",
            &json!({ "file_path": "/home/ada/garden/a.rs" }),
            &json!("1\tone\n2\ttwo"),
            &Value::Null,
        )
        .add_call("c3", "Bash", &json!({ "command": "ls" }), &json!("a\nb"), &json!({ "stdout": "a\nb" }))
        .add_call(
            "c4",
            "Write",
            &json!({ "file_path": "/b.rs", "content": "secret" }),
            &json!("ok"),
            &Value::Null,
        )
        .add_entry("assistant", &call("c5", "Bash", json!({ "command": "rm x" })), &Value::Null)
        .add_entry("user", &error_result("c5", declined_text), &Value::Null)
        .add_entry("assistant", &call("c6", "Bash", json!({ "command": "false" })), &Value::Null)
        .add_entry("user", &error_result("c6", "Exit code 2"), &Value::Null)
        .add_answer("Done.");
    let home = new_home();
    let page = export(&home, &session, &["--format", "html", "--detail", "tools"]);
    let body = page.split_once("<main").unwrap().1;
    assert!(!body.contains("<details class=\"part tool"), "{body}");
    let text = visible_text(body).split_whitespace().collect::<Vec<_>>().join(" ");
    for call in
        ["Grep needle", "Read a.rs", "Bash ls", "Write /b.rs", "Bash rm x declined", "Bash false failed"]
    {
        assert!(text.contains(call), "{call:?} is not in {text}");
    }
    for unexpected in
        ["0 files", "0 lines", "1 line", "empty", "no output", "nothing found", "secret", "rm x failed"]
    {
        assert!(!text.contains(unexpected), "{unexpected:?} is in {text}");
    }
    for (format, expected) in [("md", "`rm x` · declined"), ("text", "rm x  ✗ by the user")] {
        let output = export(&home, &session, &["--format", format, "--detail", "tools"]);
        assert!(output.contains(expected) && !output.contains("secret"), "{output}");
    }
}

#[test]
fn turn_totals_appear_at_the_same_detail_in_every_format() {
    let session = SessionBuilder::default().add_prompt("Hello").add_answer("Hi.");
    let home = new_home();
    for (format, footer) in
        [("html", "<footer class=\"turn-foot"), ("md", "10 in, 5 out"), ("text", "10 in, 5 out")]
    {
        let is_present = ["prompts", "answers", "tools", "everything"].map(|detail| {
            export(&home, &session, &["--format", format, "--detail", detail]).contains(footer)
        });
        assert_eq!(is_present, [false, false, true, true], "{format}");
    }
}

/// Returns a session with two results that the client saved to files.
fn session_with_result_files() -> SessionBuilder {
    let persisted_output = |name: &str| {
        json!(format!(
            "<persisted-output>\nOutput too large (35.8KB). Full output saved to: /h/tool-results/{name}\n\n\
             Preview (first 2KB):\nfirst\n...\n</persisted-output>"
        ))
    };
    SessionBuilder::default()
        .add_prompt("Much")
        .add_call("c1", "Bash", &json!({ "command": "one" }), &persisted_output("b1.txt"), &Value::Null)
        .add_call("c2", "Bash", &json!({ "command": "two" }), &persisted_output("b2.txt"), &Value::Null)
}

/// Writes the first of these files. The second does not exist.
fn write_first_result_file(home: &Home) {
    home.write_old(&format!("{PROJECT}/{SESSION}/tool-results/b1.txt"), "first\n\u{1b}[31m<all of it>\n");
}

#[test]
fn result_files_are_embedded_or_reported_missing() {
    let home = new_home();
    write_first_result_file(&home);
    let page = export(&home, &session_with_result_files(), &["--format", "html"]);
    assert!(page.contains("data-result-file=\"b1.txt\"") && !page.contains("data-result-file=\"b2.txt\""));
    assert!(page.contains("<code>b2.txt</code>, which does not exist any more"), "{page}");
    assert_eq!(page.matches("class=\"packed\" data-name=").count(), 1);
    assert!(unpack_page(&page).contains("&lt;all of it&gt;"));
    // An export of calls only has no results.
    assert!(
        !export(&home, &session_with_result_files(), &["--format", "html", "--detail", "tools"])
            .contains("data-name=")
    );
}

#[test]
fn packed_result_files_and_subagents_open_in_the_page() {
    let Some(browser) = Browser::shared() else { return };
    let home = new_home();
    write_first_result_file(&home);
    let long = format!("seen {}", "word ".repeat(15_000));
    let agent = (0..4)
        .fold(SessionBuilder::new_subagent("ag1").add_prompt("go"), |session, _| session.add_answer(&long));
    home.write_old(&format!("{PROJECT}/{SESSION}/subagents/agent-ag1.jsonl"), agent.text());
    let url = export_page(&home, &session_with_result_files(), &[]);
    let page = browser.open_page();
    page.goto(&url);
    page.eval("for (const details of document.querySelectorAll('#main details')) details.open = true");
    page.wait_for("document.querySelector('[data-command=result-file]')");
    assert_eq!(page.count("[data-command=result-file]"), 1, "a missing file has no button");
    page.click("[data-command=result-file]");
    page.wait_for("document.querySelector('#main').textContent.includes('<all of it>')");
    page.wait_for("document.querySelector('.agent-loose .agent').textContent.includes('seen word')");
    page.assert_no_problems(&url);
}

#[test]
fn every_subagent_is_exported() {
    let agent_input = |text: &str| json!({ "description": text, "prompt": text });
    let session = SessionBuilder::default()
        .add_prompt("Use agents")
        .add_call("call_1", "Task", &agent_input("twice"), &json!("found"), &json!({ "agentId": "ag1" }))
        .add_call("call_9", "Other", &agent_input("no place"), &json!("found"), &json!({ "agentId": "ag3" }))
        .add_answer("All are back.");
    let long = "word after word ".repeat(5_000);
    let agents = [
        ("ag1", "call_1", "first of two", 0),
        ("ag2", "call_1", "second of two", 4),
        ("ag3", "call_9", "whose call has no place", 0),
        ("ag4", "", "loose and long", 4),
    ];
    let home = new_home();
    for (id, call, answer, extra_count) in agents {
        let file = format!("{PROJECT}/{SESSION}/subagents/agent-{id}");
        let subagent = (0..extra_count)
            .fold(SessionBuilder::new_subagent(id).add_prompt("go").add_answer(answer), |session, _| {
                session.add_answer(&long)
            });
        home.write_old(&format!("{file}.jsonl"), subagent.text());
        if !call.is_empty() {
            home.write_old(&format!("{file}.meta.json"), json!({ "toolUseId": call }).to_string());
        }
    }
    let page = export(&home, &session, &["--format", "html"]);
    assert!(!page.contains("loose and long"), "the long subagent is packed");
    let unpacked = unpack_page(&page);
    for (_, _, answer, _) in agents {
        assert_eq!(unpacked.matches(answer).count(), 1, "{answer}");
    }
    let packed_calls: Vec<_> = page.match_indices("class=\"packed\" data-call=\"").collect();
    assert_eq!(packed_calls.len(), 2);
    for call_id in packed_calls.iter().map(|(start, prefix)| &page[start + prefix.len()..]) {
        let call_id = call_id.split_once('"').unwrap().0;
        assert_eq!(
            unpacked.matches(&format!("agent-slot\" data-call=\"{call_id}\"")).count(),
            1,
            "{call_id:?} has a slot"
        );
    }
}

#[test]
fn a_subagent_of_a_repeated_call_is_exported_once() {
    let input = json!({ "description": "look", "prompt": "look" });
    let client_result = json!({ "agentId": "ag1" });
    let session = (0..3).fold(SessionBuilder::default().add_prompt("Use agents"), |session, _| {
        session.add_call("call_1", "Task", &input, &json!("found"), &client_result)
    });
    let home = new_home();
    let agent = SessionBuilder::new_subagent("ag1").add_prompt("look").add_answer("seen by the agent");
    home.write_old(&format!("{PROJECT}/{SESSION}/subagents/agent-ag1.jsonl"), agent.text());
    let page = export(&home, &session, &["--format", "html", "--all"]);
    let slot_count = page.matches("<div class=\"agent-slot\"").count();
    assert!(slot_count > 1, "{slot_count}");
    assert_eq!(page.matches("seen by the agent").count(), 1, "{page}");
    assert_eq!(page.matches("<a href=\"#L2\">its conversation is shown").count(), slot_count - 1, "{page}");
    assert_eq!(page.matches("id=\"a1-t1\"").count(), 1);
}

#[test]
fn markdown_of_one_part_does_not_affect_other_parts() {
    let session = SessionBuilder::default()
        .add_prompt("Go")
        .add_call("c1", "Bash", &json!({ "command": "ls" }), &json!("ok"), &Value::Null)
        .add_answer("    <script>alert(1)</script>\n\n    ![p](https://evil.invalid/t.png)\n\n- a list")
        .add_answer("    <img src=x>")
        .add_answer("![x][p]")
        .add_answer("[p]: https://evil.invalid/t.png");
    let home = new_home();
    let output = export(&home, &session, &["--detail", "tools"]);
    let events: Vec<_> = Parser::new(&output).collect();
    let is_html = |event: &Event<'_>| matches!(event, Event::Html(_) | Event::InlineHtml(_));
    assert!(!events.iter().any(is_html), "{output}");
    let is_image = |event: &Event<'_>| matches!(event, Event::Start(Tag::Image { .. }));
    assert!(!events.iter().any(is_image), "{output}");
}
