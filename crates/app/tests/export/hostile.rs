//! Exports of a session with hostile text in every field.

use rethread_testkit::browser::Browser;
use serde_json::{Value, json};

use crate::html_page::export_page;
use crate::new_home;
use crate::session_builder::{SESSION, SessionBuilder, unpack_page};

/// Text that a browser, a terminal or a Markdown renderer could interpret.
const HOSTILE_TEXT: &str = "<script>window.hit = 1; alert(1)</script>\"><img src=x onerror=\"window.hit = 1\">\
    <svg onload=\"window.hit = 1\"><a href=\"javascript:window.hit = 1\">x</a></svg></script></style></textarea></title>-->\
    <!-- ]]><iframe src=\"http://elsewhere.invalid/\"></iframe><link rel=stylesheet href=\"http://elsewhere.invalid/\">\
    ' onmouseover='window.hit = 1' style='position:fixed' \u{1b}[2J\u{1b}]0;x\u{7}\u{202e}\u{2066}\u{2028}\0\n\n\
    [l](javascript:window.hit=1) ![p](http://elsewhere.invalid/p.png) <javascript:window.hit=1>\n\n```\n</details>\n";

/// Returns a session with `text` in every field that can hold text.
fn hostile_session(text: &str) -> SessionBuilder {
    let input = json!({
        "command": text, "file_path": text, "content": text, "old_string": text, "new_string": text, "pattern": text,
        "path": text, "url": text, "query": text, "prompt": text, "description": text, "subagent_type": text,
        "plan": text, "skill": text, "todos": [{ "content": text, "status": text, "activeForm": text }],
        "questions": [{ "question": text, "header": text, "options": [{ "label": text, "description": text }] }],
        "edits": [{ "old_string": text, "new_string": text }], "notebook_path": text, "new_source": text, text: text,
    });
    let client_result = json!({
        "stdout": text, "stderr": text, "filePath": text, "structuredPatch": [{ "lines": [text], "oldStart": 1, "newStart": 1 }],
        "file": { "content": text, "filePath": text }, "content": [{ "type": "text", "text": text }], "agentId": text,
        "filenames": [text], "answers": { text: text }, "results": [text], text: text,
    });
    let tools = [
        "Bash",
        "Read",
        "Write",
        "Edit",
        "MultiEdit",
        "Grep",
        "Glob",
        "LS",
        "WebFetch",
        "WebSearch",
        "Task",
        "TodoWrite",
        "ExitPlanMode",
        "AskUserQuestion",
        "Skill",
        "NotebookEdit",
        "TaskCreate",
        "SendMessage",
        "mcp__a__b",
        text,
    ];
    let image = |media_type: &str, data: &str| json!({ "type": "image", "source": { "type": "base64", "media_type": media_type, "data": data } });
    let images = json!([
        { "type": "text", "text": text },
        image("image/svg+xml", "PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+"),
        image("image/png", "\" onerror=\"window.hit = 1"),
        image(text, text),
        image("image/gif", "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
    ]);
    let session = SessionBuilder::default()
        .add_entry("user", &json!(text), &json!({ "cwd": text, "gitBranch": text, "version": text }))
        .add_entry("assistant", &json!([{ "type": "thinking", "thinking": text }, { "type": "text", "text": text }, { "type": text, "text": text }]), &Value::Null)
        .add_entry("user", &images, &Value::Null)
        .add_answer(text)
        .add_entry("user", &json!(format!("<command-name>/{text}</command-name><command-args>{text}</command-args>")), &Value::Null)
        .add_entry("user", &json!(format!("<local-command-stdout>{text}</local-command-stdout>")), &Value::Null)
        .add_entry("user", &json!(format!("<bash-input>{text}</bash-input>")), &Value::Null)
        .add_entry("user", &json!(text), &json!({ "isMeta": true }))
        .add_entry("user", &json!(text), &json!({ "isCompactSummary": true }))
        .add_entry("assistant", &json!([{ "type": "text", "text": text }]), &json!({ "isApiErrorMessage": true }))
        .add_prompt("calls");
    tools.iter().enumerate().fold(session, |session, (idx, tool)| {
        session.add_call(
            &format!("toolu_{idx}{}", if idx == 1 { text } else { "" }),
            tool,
            &input,
            &json!(text),
            &client_result,
        )
    })
}

fn check_page(text: &str, options: &[&str]) {
    let Some(browser) = Browser::shared() else { return };
    let home = new_home();
    let url = export_page(&home, &hostile_session(text), options);
    let page = browser.open_page();
    page.goto(&url);
    page.wait_for("document.readyState === 'complete'");
    // Load the chunks one at a time: each may be long.
    for _ in 0..page.count(".chunk-pending") {
        page.eval(
            "(chunk => chunk && rethread.load(chunk).then(() => null))(document.querySelector('.chunk-pending'))",
        );
    }
    assert_eq!(page.count(".chunk-pending"), 0);
    page.eval("for (const details of document.querySelectorAll('details')) details.open = true");
    page.wait_for("!document.querySelector('[data-loading]')");
    assert_eq!(page.eval("window.hit ?? null"), Value::Null);
    assert!(page.count("#main .tool") >= 20 && page.count(".turn[id]") >= 3);
    for selector in [
        "iframe",
        "svg",
        "object",
        "embed",
        "form",
        "base",
        "link[rel=stylesheet]",
        "[style]",
        "[onload], [onerror], [onmouseover]",
        "main script:not([type='text/plain'].packed)",
        "[href^=javascript i]",
        "img:not([src^='data:image/'])",
        "img[src*=svg]",
    ] {
        assert_eq!(page.count(selector), 0, "{selector}");
    }
    assert_eq!(page.count("script:not([type]), style"), 2);
    assert!(page.count("img[src^='data:image/gif;base64,']") == 1 || options.contains(&"prompts"));
    page.assert_no_problems(&url);
}

#[test]
fn exported_pages_run_and_load_nothing() {
    check_page(HOSTILE_TEXT, &["--all"]);
}

#[test]
fn long_packed_pages_run_and_load_nothing() {
    let long = format!("{HOSTILE_TEXT}{}{HOSTILE_TEXT}", "x<b>".repeat(50_000));
    check_page(&long, &[]);
}

#[test]
fn lines_of_megabytes_are_exported_in_every_format() {
    let home = new_home();
    let long_text = "<p onclick=x>`*_[ \u{1b}[1m\n# ".repeat(250_000);
    assert!(long_text.len() > 5_000_000);
    let session = SessionBuilder::default().add_prompt(&long_text).add_answer(&long_text).add_call(
        "t",
        "Bash",
        &json!({ "command": long_text }),
        &json!(long_text),
        &Value::Null,
    );
    session.write_to(&home);
    for format in ["html", "md", "json", "text"] {
        let run = home.run(&["export", SESSION, "--format", format, "--detail", "everything"]);
        assert_eq!(run.code, 0, "{format}: {}", run.err);
        let content = if format == "html" { unpack_page(&run.out) } else { run.out.clone() };
        assert!(content.len() > long_text.len(), "{format} has {} bytes", content.len());
        assert!(!run.out.contains('\u{1b}'), "{format}");
        match format {
            "html" => {
                assert!(
                    content.contains("&lt;p onclick=x&gt;") && !content.contains("<p onclick"),
                    "{format}"
                );
                assert!(!content.contains('\u{1b}'), "{format}");
            }
            "md" => assert_harmless_markdown(&run.out, "lines of megabytes"),
            _ => {}
        }
    }
}

/// Panics if Markdown has HTML that is not ours, an image, a link without HTTP, or a heading from the session.
#[track_caller]
fn assert_harmless_markdown(markdown: &str, name: &str) {
    let options = pulldown_cmark::Options::ENABLE_TABLES | pulldown_cmark::Options::ENABLE_STRIKETHROUGH;
    let mut headings = 0;
    for event in pulldown_cmark::Parser::new_ext(markdown, options) {
        use pulldown_cmark::{Event, Tag};
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                let own_tags = ["<details><summary>", "</summary>", "</details>"];
                let remainder =
                    own_tags.iter().fold(html.trim().to_owned(), |html, tag| html.replace(tag, ""));
                assert!(!remainder.contains('<'), "{name}: {html}");
            }
            Event::Start(Tag::Image { .. }) => panic!("{name}: it loads an image"),
            Event::Start(Tag::Link { dest_url, .. }) => {
                assert!(dest_url.starts_with("http"), "{name}: {dest_url}");
            }
            Event::Start(Tag::Heading { level, .. }) if level as usize == 2 => headings += 1,
            _ => {}
        }
    }
    assert_eq!(headings, markdown.lines().filter(|line| line.starts_with("## ")).count(), "{name}");
}

#[test]
fn markdown_and_text_contain_nothing_active() {
    let home = new_home();
    hostile_session(HOSTILE_TEXT).write_to(&home);
    for detail in ["prompts", "answers", "tools", "everything"] {
        let markdown = home.run(&["export", SESSION, "--detail", detail]).out;
        assert_harmless_markdown(&markdown, detail);
        for text in [markdown, home.run(&["export", SESSION, "--format", "text", "--detail", detail]).out] {
            assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{2066}', '\0']), "{detail}");
        }
    }
}
