//! Exports tell nothing false, and lose nothing.

use pulldown_cmark::{Event, Parser, Tag};
use rethread_testkit::browser::Browser;
use serde_json::{Value, json};

use crate::home::Home;
use crate::html_page::page_of;
use crate::session_builder::{SESSION, Talk, unpacked};

const FOLDER: &str = ".claude/projects/-home-ada-garden";

fn export(home: &Home, talk: &Talk, more: &[&str]) -> String {
    home.write_old(&format!("{FOLDER}/{SESSION}.jsonl"), talk.text());
    let run = home.run(&[&["export", SESSION], more].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    run.out
}

/// Returns the words of markup, without tags.
fn words(markup: &str) -> String {
    let pieces = markup.split('<').filter_map(|piece| piece.split_once('>'));
    pieces.map(|(_, words)| words).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_call_without_its_result_is_told_by_name_and_words_alone() {
    let declined =
        "The user doesn't want to proceed with this tool use. To tell you how, the user said:\nsecret";
    let call = |id: &str, name: &str, input: Value| json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
    let failed = |id: &str, words: &str| json!([{ "type": "tool_result", "tool_use_id": id, "content": words, "is_error": true }]);
    let talk = Talk::default()
        .asks("Look around")
        .calls(
            "c1",
            "Grep",
            &json!({ "pattern": "needle" }),
            &json!("Found 2 files\na.rs\nb.rs"),
            &json!({ "numFiles": 2 }),
        )
        .calls(
            "c2",
            "Read",
            &json!({ "file_path": "/home/ada/garden/a.rs" }),
            &json!("1\tone\n2\ttwo"),
            &Value::Null,
        )
        .calls("c3", "Bash", &json!({ "command": "ls" }), &json!("a\nb"), &json!({ "stdout": "a\nb" }))
        .calls(
            "c4",
            "Write",
            &json!({ "file_path": "/b.rs", "content": "secret" }),
            &json!("ok"),
            &Value::Null,
        )
        .line("assistant", &call("c5", "Bash", json!({ "command": "rm x" })), &Value::Null)
        .line("user", &failed("c5", declined), &Value::Null)
        .line("assistant", &call("c6", "Bash", json!({ "command": "false" })), &Value::Null)
        .line("user", &failed("c6", "Exit code 2"), &Value::Null)
        .says("Done.");
    let home = Home::new();
    let page = export(&home, &talk, &["--format", "html", "--detail", "tools"]);
    let body = page.split_once("<main").unwrap().1;
    assert!(!body.contains("<details class=\"part tool"), "{body}");
    let said = words(body).split_whitespace().collect::<Vec<_>>().join(" ");
    for call in
        ["Grep needle", "Read a.rs", "Bash ls", "Write /b.rs", "Bash rm x declined", "Bash false failed"]
    {
        assert!(said.contains(call), "{call:?} is not in {said}");
    }
    for false_words in
        ["0 files", "0 lines", "1 line", "empty", "no output", "nothing found", "secret", "rm x failed"]
    {
        assert!(!said.contains(false_words), "{false_words:?} is in {said}");
    }
    for (format, mark) in [("md", "`rm x` · declined"), ("text", "rm x  ✗ by the user")] {
        let told = export(&home, &talk, &["--format", format, "--detail", "tools"]);
        assert!(told.contains(mark) && !told.contains("secret"), "{told}");
    }
}

#[test]
fn what_a_turn_came_to_is_told_at_the_same_detail_in_every_form() {
    let talk = Talk::default().asks("Hello").says("Hi.");
    let home = Home::new();
    for (format, foot) in
        [("html", "<footer class=\"turn-foot"), ("md", "10 in, 5 out"), ("text", "10 in, 5 out")]
    {
        let told = ["prompts", "answers", "tools", "everything"]
            .map(|detail| export(&home, &talk, &["--format", format, "--detail", detail]).contains(foot));
        assert_eq!(told, [false, false, true, true], "{format}");
    }
}

/// A talk with two results that lie in files of their own.
fn much() -> Talk {
    let kept = |name: &str| {
        json!(format!(
            "<persisted-output>\nOutput too large (35.8KB). Full output saved to: /h/tool-results/{name}\n\n\
             Preview (first 2KB):\nfirst\n...\n</persisted-output>"
        ))
    };
    Talk::default()
        .asks("Much")
        .calls("c1", "Bash", &json!({ "command": "one" }), &kept("b1.txt"), &Value::Null)
        .calls("c2", "Bash", &json!({ "command": "two" }), &kept("b2.txt"), &Value::Null)
}

/// Writes the file of the first of them.
fn keep(home: &Home) {
    home.write_old(&format!("{FOLDER}/{SESSION}/tool-results/b1.txt"), "first\n\u{1b}[31m<all of it>\n");
}

#[test]
fn results_kept_apart_are_in_the_page_or_said_to_be_gone() {
    let home = Home::new();
    keep(&home);
    let page = export(&home, &much(), &["--format", "html"]);
    assert!(page.contains("data-kept=\"b1.txt\"") && !page.contains("data-kept=\"b2.txt\""));
    assert!(page.contains("<code>b2.txt</code>, which is not there any more"), "{page}");
    assert_eq!(page.matches("class=\"packed\" data-name=").count(), 1);
    assert!(unpacked(&page).contains("&lt;all of it&gt;"));
    // Whoever wants only the calls does not get what they answered.
    assert!(!export(&home, &much(), &["--format", "html", "--detail", "tools"]).contains("data-name="));
}

#[test]
fn what_is_packed_by_name_unfolds_in_the_page() {
    let Some(browser) = Browser::shared() else { return };
    let home = Home::new();
    keep(&home);
    let long = format!("seen {}", "word ".repeat(15_000));
    let agent = (0..4).fold(Talk::of_agent("ag1").asks("go"), |talk, _| talk.says(&long));
    home.write_old(&format!("{FOLDER}/{SESSION}/subagents/agent-ag1.jsonl"), agent.text());
    let address = page_of(&home, &much().text(), &[]);
    let page = browser.page();
    page.goto(&address);
    page.eval("for (const one of document.querySelectorAll('#main details')) one.open = true");
    page.wait_for("document.querySelector('[data-do=kept]')");
    assert_eq!(page.count("[data-do=kept]"), 1, "what is gone has no button");
    page.click("[data-do=kept]");
    page.wait_for("document.querySelector('#main').textContent.includes('<all of it>')");
    page.wait_for("document.querySelector('.agent-loose .agent').textContent.includes('seen word')");
    page.assert_quiet(&address);
}

#[test]
fn no_subagent_is_lost() {
    let asked = |words: &str| json!({ "description": words, "prompt": words });
    let talk = Talk::default()
        .asks("Use agents")
        .calls("call_1", "Task", &asked("twice"), &json!("found"), &json!({ "agentId": "ag1" }))
        .calls("call_9", "Other", &asked("no place"), &json!("found"), &json!({ "agentId": "ag3" }))
        .says("All are back.");
    let long = "word after word ".repeat(5_000);
    let agents = [
        ("ag1", "call_1", "first of two", 0),
        ("ag2", "call_1", "second of two", 4),
        ("ag3", "call_9", "whose call has no place", 0),
        ("ag4", "", "loose and long", 4),
    ];
    let home = Home::new();
    for (id, call, says, more) in agents {
        let file = format!("{FOLDER}/{SESSION}/subagents/agent-{id}");
        let told = (0..more).fold(Talk::of_agent(id).asks("go").says(says), |talk, _| talk.says(&long));
        home.write_old(&format!("{file}.jsonl"), told.text());
        if !call.is_empty() {
            home.write_old(&format!("{file}.meta.json"), json!({ "toolUseId": call }).to_string());
        }
    }
    let page = export(&home, &talk, &["--format", "html"]);
    assert!(!page.contains("loose and long"), "what is long is packed");
    let all = unpacked(&page);
    for (_, _, says, _) in agents {
        assert_eq!(all.matches(says).count(), 1, "{says}");
    }
    let packed: Vec<_> = page.match_indices("class=\"packed\" data-call=\"").collect();
    assert_eq!(packed.len(), 2);
    for key in packed.iter().map(|(at, found)| &page[at + found.len()..]) {
        let key = key.split_once('"').unwrap().0;
        assert_eq!(
            all.matches(&format!("agent-here\" data-call=\"{key}\"")).count(),
            1,
            "{key:?} has a place"
        );
    }
}

#[test]
fn a_subagent_whose_call_is_repeated_stands_once() {
    let asked = json!({ "description": "look", "prompt": "look" });
    let noted = json!({ "agentId": "ag1" });
    let talk = (0..3).fold(Talk::default().asks("Use agents"), |talk, _| {
        talk.calls("call_1", "Task", &asked, &json!("found"), &noted)
    });
    let home = Home::new();
    let agent = Talk::of_agent("ag1").asks("look").says("seen by the agent");
    home.write_old(&format!("{FOLDER}/{SESSION}/subagents/agent-ag1.jsonl"), agent.text());
    let page = export(&home, &talk, &["--format", "html", "--all"]);
    let places = page.matches("<div class=\"agent-here\"").count();
    assert!(places > 1, "{places}");
    assert_eq!(page.matches("seen by the agent").count(), 1, "{page}");
    assert_eq!(page.matches("<a href=\"#L2\">its conversation stands").count(), places - 1, "{page}");
    assert_eq!(page.matches("id=\"a1-t1\"").count(), 1);
}

#[test]
fn markdown_of_one_part_does_nothing_to_another() {
    let talk = Talk::default()
        .asks("Go")
        .calls("c1", "Bash", &json!({ "command": "ls" }), &json!("ok"), &Value::Null)
        .says("    <script>alert(1)</script>\n\n    ![p](https://evil.invalid/t.png)\n\n- a list")
        .says("    <img src=x>")
        .says("![x][p]")
        .says("[p]: https://evil.invalid/t.png");
    let home = Home::new();
    let told = export(&home, &talk, &["--detail", "tools"]);
    let events: Vec<_> = Parser::new(&told).collect();
    let html = |event: &Event<'_>| matches!(event, Event::Html(_) | Event::InlineHtml(_));
    assert!(!events.iter().any(html), "{told}");
    let picture = |event: &Event<'_>| matches!(event, Event::Start(Tag::Image { .. }));
    assert!(!events.iter().any(picture), "{told}");
}
