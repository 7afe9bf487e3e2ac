//! `show` with colours renders Markdown, edits and recorded output; without colours it prints their source.

use rethread_testkit::home::Home;
use serde_json::{Value, json};

use crate::new_home;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const MARKDOWN: &str = "# Plan\n\n- **bold** `code`\n\n| a | b |\n|---|---|\n| 1 | 2 |";

/// Returns the line of a message that was written in this second.
fn message_line(second: u32, uuid: &str, parent: &Value, role: &str, content: &Value) -> String {
    json!({
        "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "cwd": "/x", "version": "2.1.100",
        "timestamp": format!("2026-01-02T00:00:0{second}.000Z"), "message": { "id": uuid, "role": role, "model": "m", "content": content }
    })
    .to_string()
}

fn new_home_with_answer(answer: &str) -> Home {
    let home = new_home();
    let edit = json!({ "file_path": "/x/a", "old_string": "same\nold\n", "new_string": "same\nnew\n" });
    let blocks = json!([
        { "type": "text", "text": answer },
        { "type": "tool_use", "id": "t1", "name": "Edit", "input": edit },
        { "type": "tool_use", "id": "t2", "name": "Bash", "input": { "command": "make" } },
    ]);
    let results = json!([
        { "type": "tool_result", "tool_use_id": "t1", "content": "updated" },
        { "type": "tool_result", "tool_use_id": "t2", "content": "\u{1b}[31mfailed\u{1b}[0m\u{1b}[2J" },
    ]);
    let lines = [
        message_line(1, "u1", &Value::Null, "user", &json!("do *it*")),
        message_line(2, "a1", &json!("u1"), "assistant", &blocks),
        message_line(3, "u2", &json!("a1"), "user", &results),
    ];
    home.write_old(&format!(".claude/projects/-x/{SESSION}.jsonl"), lines.join("\n") + "\n");
    home
}

fn show(home: &Home, args: &[&str]) -> String {
    let run = home.run(&[&["show", "last", "--tools", "full"], args].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    run.out
}

#[test]
fn output_with_colours_is_rendered() {
    let home = new_home_with_answer(MARKDOWN);
    let rendered = show(&home, &["--color", "always"]);
    let text = anstream::adapter::strip_str(&rendered).to_string();
    for part in ["> do it\n", "  Plan\n", "  • bold `code`\n", "  a │ b\n  ──┼──\n  1 │ 2\n"]
    {
        assert!(text.contains(part), "{part:?} in\n{text}");
    }
    assert!(text.contains("      same\n    - old\n    + new\n    │ updated\n"), "{text}");
    assert!(text.contains("    $ make\n"), "{text}");
    assert!(rendered.contains("\u{1b}[31mfailed\u{1b}[0m\n"), "the recorded colour is kept: {rendered:?}");
}

#[test]
fn output_without_colours_and_plain_output_is_the_source() {
    let home = new_home_with_answer(MARKDOWN);
    let plain = show(&home, &[]);
    for line in MARKDOWN.lines().filter(|line| !line.is_empty()) {
        assert!(plain.contains(&format!("  {line}\n")), "{line:?} in\n{plain}");
    }
    assert!(plain.contains("> do *it*\n"), "{plain}");
    assert!(plain.contains("    - same\n    - old\n    + same\n    + new\n    │ updated\n"), "{plain}");
    assert!(!plain.contains('\u{1b}'));
    assert_eq!(show(&home, &["--color", "never"]), plain);
    assert_eq!(show(&home, &["--plain"]), plain);
    let colored = show(&home, &["--plain", "--color", "always"]);
    assert!(colored.contains('\u{1b}'));
    assert_eq!(anstream::adapter::strip_str(&colored).to_string(), plain);
    assert_eq!(home.run(&["show", "last", "--plain", "--raw"]).code, 2);
}

#[test]
fn long_texts_are_shown_as_source() {
    let home = new_home_with_answer(&format!("{MARKDOWN}\n{}", "long **text**\n".repeat(20_000)));
    let text = anstream::adapter::strip_str(&show(&home, &["--color", "always"])).to_string();
    assert!(text.contains("  - **bold** `code`\n") && text.contains("  long **text**\n"));
    assert!(text.contains("> do it\n"), "other texts of the turn are rendered");
}
