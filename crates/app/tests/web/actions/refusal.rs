//! Who may not act: nothing is written, and whoever asked is told.

use super::action_server::{Deck, EDITED, SESSION};
use rethread_testkit::script;

#[test]
fn a_form_that_is_not_ours_changes_no_byte() {
    let deck = Deck::new(EDITED);
    let before = deck.picture();
    let seal = deck.seal();
    let wrong = seal.chars().rev().collect::<String>();
    let cases = [
        ("no seal", "", None),
        ("the wrong seal", wrong.as_str(), None),
        ("half a seal", &seal[..16], None),
        ("another origin", &seal, Some(("Origin", "http://evil.example"))),
        ("another host", &seal, Some(("Host", "evil.example"))),
        ("no cookie", &seal, Some(("Cookie", ""))),
        ("another type of form", &seal, Some(("Content-Type", "text/plain"))),
    ];
    for (why, seal, header) in cases {
        for (path, name, value) in [
            (format!("/s/{SESSION}/act/goto"), "at", "L6"),
            (format!("/s/{SESSION}/act/rename"), "title", "x"),
            ("/undo".to_owned(), "op", "1"),
        ] {
            let answer =
                deck.post_with(&path, &[("seal", seal), (name, value), ("go", "do")], header.as_slice());
            assert_eq!(answer.status, 403, "{why}, {path}: {}", answer.body);
            assert_eq!(deck.picture(), before, "{why}, {path}");
        }
    }
}

#[test]
fn an_address_alone_does_nothing() {
    let deck = Deck::new(EDITED);
    let (before, seal) = (deck.picture(), deck.seal());
    for (path, status) in [
        (format!("/s/{SESSION}/act/goto?at=L6&go=do&seal={seal}"), 200),
        (format!("/s/{SESSION}/act/rename?title=x&go=do&seal={seal}"), 200),
        (format!("/undo?op=1&seal={seal}"), 405),
    ] {
        assert_eq!(deck.get(&path).status, status, "{path}");
        assert_eq!(deck.picture(), before, "{path}");
    }
}

#[test]
fn a_live_session_is_left_alone() {
    let deck = Deck::with(EDITED, |home| {
        let pid = std::process::id();
        let text = format!("{{\"pid\":{pid},\"sessionId\":\"{SESSION}\"}}");
        home.write(&format!(".claude/sessions/{pid}.json"), text);
    });
    let before = deck.picture();
    for (what, name, value) in [("goto", "at", "L6"), ("rename", "title", "x")] {
        let address = format!("/s/{SESSION}/act/{what}");
        let preview = deck.post(&address, &[(name, value), ("go", "preview")]);
        assert!(preview.body.contains("A client has this session open"), "{}", preview.body);
        assert!(!preview.body.contains("Do it"), "{}", preview.body);
        let done = deck.post(&address, &[(name, value), ("go", "do")]);
        assert_eq!(done.status, 409, "{}", done.body);
        assert!(
            done.body.contains("is live") && done.body.contains("close it in the client first"),
            "{}",
            done.body
        );
        assert!(!done.body.contains("even-if-live"), "{}", done.body);
        assert_eq!(deck.picture(), before, "{what}");
    }
    let fork = deck.post(&format!("/s/{SESSION}/act/fork"), &[("at", "L6"), ("go", "do")]);
    assert_eq!(fork.status, 200, "a fork leaves the session alone: {}", fork.body);
    assert_eq!(deck.session(), script::bytes(EDITED));
}
