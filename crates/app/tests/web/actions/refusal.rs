//! Refused actions: nothing is written, and the response gives the reason.

use rethread_testkit::sample_session::EDITED_PROMPT;
use rethread_testkit::script;

use super::action_server::{ActionServer, SESSION};

#[test]
fn forged_forms_are_refused_and_change_nothing() {
    let server = ActionServer::new(EDITED_PROMPT);
    let before = server.snapshot();
    let csrf_token = server.csrf_token();
    let reversed_token = csrf_token.chars().rev().collect::<String>();
    let cases = [
        ("no token", "", None),
        ("the wrong token", reversed_token.as_str(), None),
        ("half of the token", &csrf_token[..16], None),
        ("another origin", &csrf_token, Some(("Origin", "http://evil.example"))),
        ("another host", &csrf_token, Some(("Host", "evil.example"))),
        ("no cookie", &csrf_token, Some(("Cookie", ""))),
        ("another content type", &csrf_token, Some(("Content-Type", "text/plain"))),
    ];
    for (case, csrf_token, header) in cases {
        for (path, field, value) in [
            (format!("/s/{SESSION}/action/goto"), "at", "L6"),
            (format!("/s/{SESSION}/action/rename"), "title", "x"),
            ("/undo".to_owned(), "op", "1"),
        ] {
            let response = server.post_with_headers(
                &path,
                &[("csrf", csrf_token), (field, value), ("go", "do")],
                header.as_slice(),
            );
            assert_eq!(response.status, 403, "{case}, {path}: {}", response.body);
            assert_eq!(server.snapshot(), before, "{case}, {path}");
        }
    }
}

#[test]
fn get_requests_change_nothing() {
    let server = ActionServer::new(EDITED_PROMPT);
    let (before, csrf_token) = (server.snapshot(), server.csrf_token());
    for (path, status) in [
        (format!("/s/{SESSION}/action/goto?at=L6&go=do&csrf={csrf_token}"), 200),
        (format!("/s/{SESSION}/action/rename?title=x&go=do&csrf={csrf_token}"), 200),
        (format!("/undo?op=1&csrf={csrf_token}"), 405),
    ] {
        assert_eq!(server.get_fragment(&path).status, status, "{path}");
        assert_eq!(server.snapshot(), before, "{path}");
    }
}

#[test]
fn live_sessions_are_refused() {
    let server = ActionServer::with_home(EDITED_PROMPT, |home| {
        let pid = std::process::id();
        let text = format!("{{\"pid\":{pid},\"sessionId\":\"{SESSION}\"}}");
        home.write(&format!(".claude/sessions/{pid}.json"), text);
    });
    let before = server.snapshot();
    for (action, field, value) in [("goto", "at", "L6"), ("rename", "title", "x")] {
        let url = format!("/s/{SESSION}/action/{action}");
        let preview = server.post(&url, &[(field, value), ("go", "preview")]);
        assert!(preview.body.contains("A client has this session open"), "{}", preview.body);
        assert!(!preview.body.contains("Do it"), "{}", preview.body);
        let done = server.post(&url, &[(field, value), ("go", "do")]);
        assert_eq!(done.status, 409, "{}", done.body);
        assert!(
            done.body.contains("is live") && done.body.contains("close it in the client first"),
            "{}",
            done.body
        );
        assert!(!done.body.contains("even-if-live"), "{}", done.body);
        assert_eq!(server.snapshot(), before, "{action}");
    }
    let fork = server.post(&format!("/s/{SESSION}/action/fork"), &[("at", "L6"), ("go", "do")]);
    assert_eq!(fork.status, 200, "a fork does not change the session: {}", fork.body);
    assert_eq!(server.read_session(), script::bytes(EDITED_PROMPT));
}
