//! Characters that change or hide text: no page contains them unescaped.

use rethread_testkit::home::Home;
use rethread_testkit::web_server::WebServer;
use serde_json::{Value, json};

use crate::actions::action_server::url_encode;
use crate::new_home;

const ID: &str = "11111111-2222-4333-8444-555555555555";

/// One character of every kind: C0, DEL, C1, bidirectional, zero-width, annotation, separator, tag.
const INVISIBLE: &str = "pwn\u{1b}\u{8}\u{7f}\u{85}\u{9b}\u{61c}\u{200b}\u{200e}\u{200f}\u{202e}\u{2028}\u{2060}\u{2066}\
    \u{206a}\u{feff}\u{fff9}\u{e0001}\u{e0041}end";

fn is_invisible(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || (!c.is_control() && INVISIBLE.contains(c) && !c.is_ascii())
}

/// Creates a home with a session that contains the characters in every field that a page shows.
fn new_invisible_home() -> Home {
    let home = new_home();
    let text = INVISIBLE;
    let entry = |kind: &str, uuid: &str, parent: Option<&str>, message: Value| {
        json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": ID, "cwd": format!("/x/{text}"),
            "gitBranch": text, "version": format!("2.1.325{text}"), "timestamp": "2026-01-01T10:00:00.000Z",
            "message": message,
        })
    };
    let call = json!({ "type": "tool_use", "id": format!("t1{text}"), "name": format!("Bash{text}"), "input": { "command": text } });
    let task = json!({ "type": "tool_use", "id": "t2", "name": "Task", "input": { "description": text, "prompt": text } });
    let todo = json!({ "type": "tool_use", "id": "t3", "name": "TodoWrite", "input": { "todos": [{ "content": text, "status": "pending", "activeForm": text }] } });
    let prose = format!(
        "{text} `{text}` [{text}](https://a.b/{text})\n\n```{text}\n{text}\n```\n\n# {text}\n\n|{text}|\n|-|\n|{text}|"
    );
    let content = json!([{ "type": "thinking", "thinking": text }, { "type": "text", "text": prose }, call, task, todo]);
    let results = json!([
        { "type": "tool_result", "tool_use_id": format!("t1{text}"), "is_error": true, "content": text },
        { "type": "tool_result", "tool_use_id": "t2", "content": [{ "type": "text", "text": text }] },
    ]);
    let lines = [
        json!({ "type": "custom-title", "customTitle": text, "sessionId": ID }),
        entry("user", "u1", None, json!({ "role": "user", "content": text })),
        entry(
            "assistant",
            "a1",
            Some("u1"),
            json!({ "id": "m1", "role": "assistant", "model": format!("model{text}"), "content": content }),
        ),
        entry("user", "r1", Some("a1"), json!({ "role": "user", "content": results })),
        entry("user", "u2", Some("r1"), json!({ "role": "user", "content": format!("second {text}") })),
        entry(
            "user",
            "u3",
            Some("r1"),
            json!({ "role": "user", "content": format!("<command-name>/{text}</command-name>") }),
        ),
        entry("user", "u4", Some("gone"), json!({ "role": "user", "content": format!("lost {text}") })),
        json!({ "type": format!("odd{text}"), "uuid": "o1", "parentUuid": "u3", "sessionId": ID, text: text }),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    home.write_old(&format!(".claude/projects/-x/{ID}.jsonl"), lines);
    let agent = json!({
        "type": "user", "uuid": "s1", "parentUuid": null, "isSidechain": true, "agentId": "e1", "sessionId": ID,
        "timestamp": "2026-01-01T10:00:00.000Z", "message": { "role": "user", "content": text },
    });
    home.write_old(&format!(".claude/projects/-x/{ID}/subagents/agent-e1.jsonl"), format!("{agent}\n"));
    let meta = json!({ "agentType": text, "description": text, "toolUseId": "t2" });
    home.write_old(&format!(".claude/projects/-x/{ID}/subagents/agent-e1.meta.json"), meta.to_string());
    home
}

#[track_caller]
fn assert_visible(target: &str, body: &str) {
    if let Some(at) = body.find(is_invisible) {
        let from = body[..at].char_indices().rev().nth(80).map_or(0, |(at, _)| at);
        let excerpt: String = body[from..].chars().take(120).collect();
        panic!("{target} contains {:?}: {excerpt:?}", body[at..].chars().next());
    }
}

#[test]
fn session_text_has_no_invisible_characters() {
    let server = WebServer::start(new_invisible_home());
    for page in
        ["/", "/sessions?all=1", "/sessions/rows?all=1", "/search?q=pwn", "/search/hits?q=pwn", "/log"]
    {
        assert_visible(page, &server.get_body(page));
    }
    for page in [
        "",
        "?view=all",
        "?tip=L5",
        "/preview",
        "/branches",
        "/tree",
        "/diff?a=L5&b=L6",
        "/chunk?number=0",
        "/map",
        "/agents",
        "/agent/e1",
        "/call?call=t2",
        "/find?q=pwn",
        "/action/goto?at=L5",
        "/action/fork?at=L5",
        "/action/clone",
        "/action/rename",
        "/action/repair",
        "/copy?view=all&turn=1&as=md",
        "/copy?view=all&turn=1&as=text",
        "/export?view=all&format=html",
        "/export?view=all&format=md",
        "/export?view=all&format=text",
        "/export?view=all&format=json",
    ] {
        let target = format!("/s/{ID}{page}");
        assert_visible(&target, &server.get_body(&target));
    }
    let part = format!("/s/{ID}/part?line=3&call={}", url_encode(&format!("t1{INVISIBLE}")));
    assert_visible(&part, &server.get_body(&part));
}

#[test]
fn addresses_and_forms_have_no_invisible_characters_in_their_pages() {
    let server = WebServer::start(new_invisible_home());
    let value = url_encode(INVISIBLE);
    for name in ["title", "project", "branch", "model", "since", "until", "sort", "repo", "from", "live"] {
        let target = format!("/sessions?all=1&{name}={value}");
        assert_visible(&target, &server.get_body(&target));
    }
    for target in [
        format!("/search?q={value}"),
        format!("/search?q=role%3A{value}"),
        format!("/search?q=%2F({value}"),
        format!("/search/hits?q={value}"),
        format!("/search/hits?q=role%3A{value}"),
        format!("/search/hits?q=pwn+{value}"),
        format!("/s/{ID}?tip={value}"),
        format!("/s/{value}"),
        format!("/s/{ID}/find?q={value}"),
        format!("/s/{ID}/diff?a={value}&b=L5"),
        format!("/s/{ID}/agent/{value}"),
        format!("/s/{ID}/action/goto?at={value}"),
        format!("/s/{ID}/action/{value}"),
        format!("/s/{ID}/export?format={value}"),
        format!("/s/{ID}/result-file?name={value}"),
        format!("/s/{ID}/chunk?number={value}"),
        format!("/{value}"),
    ] {
        assert_visible(&target, &server.get(&target).body);
    }
}

#[test]
fn hidden_fields_keep_invisible_characters() {
    let server = WebServer::start(new_invisible_home());
    // U+200F is part of titles in right-to-left scripts.
    let title = "a\u{200f}b\u{e0041}c";
    let form = server.get_body(&format!("/s/{ID}/action/rename"));
    let csrf = form.split("name=\"csrf\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let fields = format!("csrf={csrf}&go=preview&title={}", url_encode(title));
    let preview = server.post(&format!("/s/{ID}/action/rename"), &fields);
    assert_visible("the preview of a rename", &preview.body);
    assert!(preview.body.contains("name=\"title\" value=\"a&#x200F;b&#xE0041;c\""), "{}", preview.body);
    let page = server.get_body(&format!("/sessions?repo={}", url_encode("/x/\u{202e}y")));
    assert!(page.contains("name=\"repo\" value=\"/x/&#x202E;y\""), "{page}");
}
