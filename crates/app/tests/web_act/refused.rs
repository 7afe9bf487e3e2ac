//! Who may not act: nothing is written, and whoever asked is told.
#![expect(clippy::disallowed_methods, reason = "tests make their own store in a temporary folder")]

use super::site::{EDITED, SESSION, Site};
use rethread_testkit::script;

#[test]
fn a_form_that_is_not_ours_changes_no_byte() {
    let site = Site::new(EDITED);
    let before = site.picture();
    let seal = site.seal();
    let wrong = seal.chars().rev().collect::<String>();
    let origin = "Origin: http://evil.example";
    let cases: [(&str, &str, &[&str], u16); 6] = [
        ("no seal", "", &[], 403),
        ("the wrong seal", &wrong, &[], 403),
        ("half a seal", &seal[..16], &[], 403),
        ("another origin", &seal, &[origin], 403),
        ("another host", &seal, &["Host: evil.example"], 403),
        ("another type of form", &seal, &["Content-Type: text/plain"], 403),
    ];
    for (why, seal, headers, status) in cases {
        for (path, name, value) in [
            (format!("/s/{SESSION}/act/goto"), "at", "L6"),
            (format!("/s/{SESSION}/act/rename"), "title", "x"),
            ("/undo".to_owned(), "op", "1"),
        ] {
            let fields = [("seal", seal), (name, value), ("go", "do")];
            let answer = if why == "another type of form" {
                let cookie_free = ["Content-Type: text/plain"];
                site.send("POST", &path, &cookie_free, &format!("seal={seal}&{name}={value}&go=do"))
            } else {
                site.post_with(&path, &fields, headers)
            };
            assert_eq!(answer.status, status, "{why}, {path}: {}", answer.body);
            assert_eq!(site.picture(), before, "{why}, {path}");
        }
    }
}

#[test]
fn an_address_alone_does_nothing() {
    let site = Site::new(EDITED);
    let (before, seal) = (site.picture(), site.seal());
    for (path, status) in [
        (format!("/s/{SESSION}/act/goto?at=L6&go=do&seal={seal}"), 200),
        (format!("/s/{SESSION}/act/rename?title=x&go=do&seal={seal}"), 200),
        (format!("/undo?op=1&seal={seal}"), 405),
    ] {
        assert_eq!(site.get(&path).status, status, "{path}");
        assert_eq!(site.picture(), before, "{path}");
    }
    // Without the cookie nobody comes as far as that.
    let form = format!("seal={seal}&title=x&go=do");
    let kind = "Content-Type: application/x-www-form-urlencoded";
    let answer = site.send("POST", &format!("/s/{SESSION}/act/rename"), &[kind], &form);
    assert_eq!((answer.status, site.picture()), (403, before));
}

#[test]
fn a_live_session_is_left_alone() {
    let site = Site::with(&script::bytes(EDITED), |home| {
        let folder = home.join(".claude/sessions");
        std::fs::create_dir_all(&folder).unwrap();
        let pid = std::process::id();
        let text = format!("{{\"pid\":{pid},\"sessionId\":\"{SESSION}\"}}");
        std::fs::write(folder.join(format!("{pid}.json")), text).unwrap();
    });
    let before = site.picture();
    for (what, name, value) in [("goto", "at", "L6"), ("rename", "title", "x")] {
        let address = format!("/s/{SESSION}/act/{what}");
        let preview = site.post(&address, &[(name, value), ("go", "preview")]);
        assert!(preview.body.contains("A client has this session open"), "{}", preview.body);
        assert!(!preview.body.contains("Do it"), "{}", preview.body);
        let done = site.post(&address, &[(name, value), ("go", "do")]);
        assert_eq!(done.status, 409, "{}", done.body);
        assert!(
            done.body.contains("is live") && done.body.contains("close it in the client first"),
            "{}",
            done.body
        );
        assert!(!done.body.contains("even-if-live"), "{}", done.body);
        assert_eq!(site.picture(), before, "{what}");
    }
    let fork = site.post(&format!("/s/{SESSION}/act/fork"), &[("at", "L6"), ("go", "do")]);
    assert_eq!(fork.status, 200, "a fork leaves the session alone: {}", fork.body);
    assert_eq!(site.session(), script::bytes(EDITED));
}
