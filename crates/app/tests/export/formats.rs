//! What exports say, in every form.

use serde_json::{Value, json};

use crate::home::Home;
use crate::session_builder::{SESSION, Talk, garden};

const FORMATS: [&str; 4] = ["html", "md", "json", "text"];
const DETAILS: [&str; 4] = ["prompts", "answers", "tools", "everything"];

fn home() -> Home {
    let home = Home::new();
    home.write_old(&format!(".claude/projects/-home-ada-garden/{SESSION}.jsonl"), garden().text());
    home
}

fn export(home: &Home, more: &[&str]) -> String {
    let run = home.run(&[&["export", SESSION], more].concat());
    assert_eq!(run.code, 0, "{more:?}: {}", run.err);
    run.out
}

#[test]
fn the_same_session_gives_the_same_bytes_everywhere() {
    let home = home();
    for format in FORMATS {
        for detail in DETAILS {
            let args = ["export", SESSION, "--format", format, "--detail", detail, "--all"];
            let first = home.run(&args);
            assert_eq!(first.code, 0, "{}", first.err);
            // Neither the zone nor the width of the screen is heard of.
            let other = home.command(&args).env("TZ", "Asia/Tokyo").env("COLUMNS", "60").output().unwrap();
            assert_eq!(first.out.as_bytes(), other.stdout, "{format} {detail}");
        }
    }
}

#[test]
fn details_nest() {
    let home = home();
    for format in ["md", "text"] {
        let told = DETAILS.map(|detail| export(&home, &["--format", format, "--detail", detail]));
        for pair in told.windows(2) {
            let mut more = pair[1].lines();
            for line in pair[0].lines().filter(|line| !line.is_empty()) {
                assert!(more.any(|found| found == line), "{format}: {line:?} is missing in\n{}", pair[1]);
            }
            assert!(pair[0].len() < pair[1].len());
        }
    }
    for format in FORMATS {
        let told = DETAILS.map(|detail| export(&home, &["--format", format, "--detail", detail]));
        let holds = |words: &str| [0, 1, 2, 3].map(|no| told[no].contains(words));
        assert_eq!(holds("trees"), [true; 4], "{format}");
        assert_eq!(holds("Done: one oak."), [false, true, true, true], "{format}");
        assert_eq!(holds("plant oak"), [false, false, true, true], "{format}");
        assert_eq!(holds("list.md"), [false, false, true, true], "{format}");
        assert_eq!(holds("An oak first."), [false, false, false, true], "{format}");
        assert_eq!(holds("sapling"), [false, false, false, true], "{format}");
    }
}

#[test]
fn a_branch_is_told_alone_and_all_are_told_together() {
    let home = home();
    for format in FORMATS {
        let told = |more: &[&str]| export(&home, &[&["--format", format], more].concat());
        let holds = |text: &str| ["A birch it is.", "An elm it is."].map(|words| text.contains(words));
        assert_eq!(holds(&told(&[])), [false, true], "{format}");
        assert_eq!(holds(&told(&["--branch", "t2"])), [true, false], "{format}");
        assert_eq!(holds(&told(&["--all"])), [true, true], "{format}");
    }
    let page = export(&home, &["--format", "html", "--all"]);
    assert!(page.contains("<details class=\"ways\"><summary>2 branches</summary>"), "the ways are listed");
    assert!(
        page.contains("<a href=\"#t2\">And a birch?</a>")
            && page.contains("<a href=\"#t3\">Rather an elm</a>")
    );
    assert!(
        page.contains("aria-label=\"Next branch\"") && !page.contains("?tip=L"),
        "ways are linked in the page"
    );
    assert!(!export(&home, &["--format", "html"]).contains("class=\"switch"));
}

#[test]
fn markdown_is_told_turn_by_turn() {
    let told = export(&home(), &["--detail", "tools", "--branch", "t2"]);
    let expected = "# Plant \\*three\\* trees

- session `11111111-2222-4333-8444-555555550001`
- in `/home/ada/garden`
- git branch `main`
- 2026-01-01 10:00 (11.0s), times in UTC
- claude-opus-4-5

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
    assert_eq!(told, expected);
}

#[test]
fn everything_stands_in_fences() {
    let told = export(&home(), &["--detail", "everything", "--branch", "t2"]);
    for block in [
        "- **Bash** `plant oak`\n\n  ```\n  $ plant oak\n  ```\n\n  ```text\n  planted\n  an oak\n  ```",
        "  ```diff\n    file_path: /home/ada/garden/list.md\n  + sapling\n  ```",
        "<details><summary>Thinking</summary>\n\nAn oak first.\n\n</details>",
    ] {
        assert!(told.contains(block), "{block}\nis not in\n{told}");
    }
}

#[test]
fn text_is_a_hundred_columns_wide() {
    let home = home();
    let told = export(&home, &["--format", "text", "--detail", "everything"]);
    assert!(told.contains("── t1  2026-01-01 10:00:00 ──"), "{told}");
    assert!(told.contains("> Plant *three* trees\n"));
    assert!(told.contains("  ● Bash  plant oak\n    $ plant oak\n    │ planted\n    │ an oak\n"), "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 100 && line.trim_end() == line));
}

#[test]
fn json_is_a_head_and_the_turns_of_show() {
    let home = home();
    let lines =
        |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    let told = lines(&export(&home, &["--json", "--all"]));
    let shown = lines(&home.run(&["show", SESSION, "--everything", "--json"]).out);
    assert_eq!(told[1..], shown);
    let head = &told[0];
    assert_eq!(
        (&head["type"], &head["v"], &head["told"], &head["turns"]),
        (&"export".into(), &1.into(), &3.into(), &3.into())
    );
    assert_eq!(
        (&head["session"], &head["detail"], &head["everything"]),
        (&SESSION.into(), &"everything".into(), &true.into())
    );
}

fn home_of(talk: &Talk) -> Home {
    let home = Home::new();
    home.write_old(&format!(".claude/projects/-home-ada-garden/{SESSION}.jsonl"), talk.text());
    home
}

#[test]
fn a_subagent_inside_the_file_is_told_where_it_was_called() {
    let input = json!({ "description": "Look", "prompt": "look closely", "subagent_type": "Explore" });
    let side = json!({ "isSidechain": true });
    let talk = Talk::default()
        .asks("Use an agent")
        .calls("toolu_t", "Task", &input, &json!("found"), &Value::Null)
        .says("It is back.")
        .line("user", &json!("look closely"), &json!({ "isSidechain": true, "parentUuid": null }))
        .line("assistant", &json!([{ "type": "text", "text": "the agent speaks" }]), &side);
    let home = home_of(&talk);
    for more in [&["--format", "html"][..], &["--format", "html", "--all"]] {
        let page = export(&home, more);
        let call = page.find("data-call=\"toolu_t\"").expect("the call leaves a place");
        let words = page.find("the agent speaks").expect("the agent is told");
        let behind = page.find("It is back.").expect("the session is told");
        assert!(call < words && words < behind, "{more:?}");
    }
}

#[test]
fn calls_of_one_server_stand_together() {
    let calls = |talk: Talk, id: &str, name: &str| {
        talk.calls(id, name, &json!({ "query": "x" }), &json!("ok"), &Value::Null)
    };
    let mut talk = Talk::default().asks("Look around");
    for (id, name) in [
        ("toolu_1", "mcp__git<hub__list"),
        ("toolu_2", "mcp__git<hub__read"),
        ("toolu_3", "mcp__other__read"),
        ("toolu_4", "Bash"),
        ("toolu_5", "mcp__git<hub__list"),
    ] {
        talk = calls(talk, id, name);
    }
    let page = export(&home_of(&talk.says("Seen.")), &["--format", "html"]);
    assert_eq!(page.matches("<section class=\"group\"").count(), 1, "one call is no group");
    let group = page.split("<section class=\"group\"").nth(1).unwrap();
    let (head, rest) = group.split_once("</section>").unwrap();
    assert!(head.contains("aria-label=\"git&lt;hub: 2 calls\""), "{head}");
    assert_eq!(head.matches("class=\"part tool\"").count(), 2, "{head}");
    assert_eq!(rest.matches("class=\"part tool\"").count(), 3);
}

#[test]
fn counts_of_any_size_are_added_up() {
    let message = |usage: &Value| {
        let content = json!([{ "type": "text", "text": "so" }]);
        json!({ "message": { "role": "assistant", "id": "m", "model": "claude-opus-4-5", "content": content, "usage": usage } })
    };
    let told = |usage: &Value| {
        let talk = Talk::default().asks("Count").line("assistant", &Value::Null, &message(usage));
        let home = home_of(&talk);
        FORMATS.map(|format| export(&home, &["--format", format]))
    };
    told(
        &json!({ "input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": u64::MAX, "output_tokens": 5 }),
    );
    let page = &told(&json!({ "input_tokens": 10, "cache_creation_input_tokens": 5, "output_tokens": 5 }))[0];
    assert!(page.contains("15 in, 5 out"), "what was only put into the cache was not read from it");
}
