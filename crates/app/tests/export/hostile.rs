//! A session made to do harm, opened from disk.

use rethread_testkit::browser::Browser;
use serde_json::{Value, json};

use crate::home::Home;
use crate::html_page::page_of;
use crate::session_builder::{SESSION, Talk, unpacked};

/// What a page, a terminal or a reader of markdown could obey, in one string.
const POISON: &str = "<script>window.hit = 1; alert(1)</script>\"><img src=x onerror=\"window.hit = 1\">\
    <svg onload=\"window.hit = 1\"><a href=\"javascript:window.hit = 1\">x</a></svg></script></style></textarea></title>-->\
    <!-- ]]><iframe src=\"http://elsewhere.invalid/\"></iframe><link rel=stylesheet href=\"http://elsewhere.invalid/\">\
    ' onmouseover='window.hit = 1' style='position:fixed' \u{1b}[2J\u{1b}]0;x\u{7}\u{202e}\u{2066}\u{2028}\0\n\n\
    [l](javascript:window.hit=1) ![p](http://elsewhere.invalid/p.png) <javascript:window.hit=1>\n\n```\n</details>\n";

/// Puts poison wherever text can stand.
fn talk(poison: &str) -> Talk {
    let all = json!({
        "command": poison, "file_path": poison, "content": poison, "old_string": poison, "new_string": poison, "pattern": poison,
        "path": poison, "url": poison, "query": poison, "prompt": poison, "description": poison, "subagent_type": poison,
        "plan": poison, "skill": poison, "todos": [{ "content": poison, "status": poison, "activeForm": poison }],
        "questions": [{ "question": poison, "header": poison, "options": [{ "label": poison, "description": poison }] }],
        "edits": [{ "old_string": poison, "new_string": poison }], "notebook_path": poison, "new_source": poison, poison: poison,
    });
    let noted = json!({
        "stdout": poison, "stderr": poison, "filePath": poison, "structuredPatch": [{ "lines": [poison], "oldStart": 1, "newStart": 1 }],
        "file": { "content": poison, "filePath": poison }, "content": [{ "type": "text", "text": poison }], "agentId": poison,
        "filenames": [poison], "answers": { poison: poison }, "results": [poison], poison: poison,
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
        poison,
    ];
    let picture = |kind: &str, data: &str| json!({ "type": "image", "source": { "type": "base64", "media_type": kind, "data": data } });
    let pictures = json!([
        { "type": "text", "text": poison },
        picture("image/svg+xml", "PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+"),
        picture("image/png", "\" onerror=\"window.hit = 1"),
        picture(poison, poison),
        picture("image/gif", "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
    ]);
    let talk = Talk::default()
        .line("user", &json!(poison), &json!({ "cwd": poison, "gitBranch": poison, "version": poison }))
        .line("assistant", &json!([{ "type": "thinking", "thinking": poison }, { "type": "text", "text": poison }, { "type": poison, "text": poison }]), &Value::Null)
        .line("user", &pictures, &Value::Null)
        .says(poison)
        .line("user", &json!(format!("<command-name>/{poison}</command-name><command-args>{poison}</command-args>")), &Value::Null)
        .line("user", &json!(format!("<local-command-stdout>{poison}</local-command-stdout>")), &Value::Null)
        .line("user", &json!(format!("<bash-input>{poison}</bash-input>")), &Value::Null)
        .line("user", &json!(poison), &json!({ "isMeta": true }))
        .line("user", &json!(poison), &json!({ "isCompactSummary": true }))
        .line("assistant", &json!([{ "type": "text", "text": poison }]), &json!({ "isApiErrorMessage": true }))
        .asks("calls");
    tools.iter().enumerate().fold(talk, |talk, (no, tool)| {
        talk.calls(
            &format!("toolu_{no}{}", if no == 1 { poison } else { "" }),
            tool,
            &all,
            &json!(poison),
            &noted,
        )
    })
}

fn check(poison: &str, more: &[&str]) {
    let Some(browser) = Browser::shared() else { return };
    let home = Home::new();
    let address = page_of(&home, &talk(poison).text(), more);
    let page = browser.page();
    page.goto(&address);
    page.wait_for("document.readyState === 'complete'");
    // One at a time: each may be long.
    for _ in 0..page.count(".leaf-later") {
        page.eval(
            "(leaf => leaf && rethread.load(leaf).then(() => null))(document.querySelector('.leaf-later'))",
        );
    }
    assert_eq!(page.count(".leaf-later"), 0);
    page.eval("for (const one of document.querySelectorAll('details')) one.open = true");
    page.wait_for("!document.querySelector('[data-loading]')");
    assert_eq!(page.eval("window.hit ?? null"), Value::Null);
    assert!(page.count("#main .tool") >= 20 && page.count(".turn[id]") >= 3);
    for bad in [
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
        assert_eq!(page.count(bad), 0, "{bad}");
    }
    assert_eq!(page.count("script:not([type]), style"), 2);
    assert!(page.count("img[src^='data:image/gif;base64,']") == 1 || more.contains(&"prompts"));
    page.assert_quiet(&address);
}

#[test]
fn nothing_in_a_page_runs_loads_or_leaves() {
    check(POISON, &["--all"]);
}

#[test]
fn nothing_does_so_where_it_is_long_and_packed() {
    let long = format!("{POISON}{}{POISON}", "x<b>".repeat(50_000));
    check(&long, &[]);
}

#[test]
fn lines_of_megabytes_are_exported_in_every_form() {
    let home = Home::new();
    let huge = "<p onclick=x>`*_[ \u{1b}[1m\n# ".repeat(250_000);
    assert!(huge.len() > 5_000_000);
    let talk = Talk::default().asks(&huge).says(&huge).calls(
        "t",
        "Bash",
        &json!({ "command": huge }),
        &json!(huge),
        &Value::Null,
    );
    home.write_old(&format!(".claude/projects/-x/{SESSION}.jsonl"), talk.text());
    for format in ["html", "md", "json", "text"] {
        let run = home.run(&["export", SESSION, "--format", format, "--detail", "everything"]);
        assert_eq!(run.code, 0, "{format}: {}", run.err);
        let all = if format == "html" { unpacked(&run.out) } else { run.out.clone() };
        assert!(all.len() > huge.len(), "{format} holds {} bytes", all.len());
        assert!(!run.out.contains('\u{1b}'), "{format}");
        match format {
            "html" => {
                assert!(all.contains("&lt;p onclick=x&gt;") && !all.contains("<p onclick"), "{format}");
                assert!(!all.contains('\u{1b}'), "{format}");
            }
            "md" => tame(&run.out, "lines of megabytes"),
            _ => {}
        }
    }
}

/// Panics where markdown holds markup that is not ours, loads anything, or has headings that somebody else wrote.
#[track_caller]
fn tame(markdown: &str, what: &str) {
    let options = pulldown_cmark::Options::ENABLE_TABLES | pulldown_cmark::Options::ENABLE_STRIKETHROUGH;
    let mut headings = 0;
    for event in pulldown_cmark::Parser::new_ext(markdown, options) {
        use pulldown_cmark::{Event, Tag};
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                let ours = ["<details><summary>", "</summary>", "</details>"];
                let left = ours.iter().fold(html.trim().to_owned(), |html, tag| html.replace(tag, ""));
                assert!(!left.contains('<'), "{what}: {html}");
            }
            Event::Start(Tag::Image { .. }) => panic!("{what}: a picture is loaded"),
            Event::Start(Tag::Link { dest_url, .. }) => {
                assert!(dest_url.starts_with("http"), "{what}: {dest_url}");
            }
            Event::Start(Tag::Heading { level, .. }) if level as usize == 2 => headings += 1,
            _ => {}
        }
    }
    assert_eq!(headings, markdown.lines().filter(|line| line.starts_with("## ")).count(), "{what}");
}

#[test]
fn markdown_and_text_hold_nothing_that_acts() {
    let home = Home::new();
    home.write_old(&format!(".claude/projects/-x/{SESSION}.jsonl"), talk(POISON).text());
    for detail in ["prompts", "answers", "tools", "everything"] {
        let markdown = home.run(&["export", SESSION, "--detail", detail]).out;
        tame(&markdown, detail);
        for text in [markdown, home.run(&["export", SESSION, "--format", "text", "--detail", detail]).out] {
            assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{2066}', '\0']), "{detail}");
        }
    }
}
