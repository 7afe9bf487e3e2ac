//! Every action: form, preview, execution, undo, redo.

use rethread_testkit::sample_session::EDITED_PROMPT;
use rethread_testkit::script;
use rethread_testkit::web_server::HttpResponse;

use super::action_server::{ActionServer, SESSION, between, url_encode};

/// The change that an action makes to the store.
#[derive(Clone, Copy, PartialEq)]
enum Effect {
    /// Appends this many lines to the session.
    AppendsLines(usize),
    /// Creates a session.
    CreatesSession,
}

/// A session script, an action, its form fields, its effect, and a part of the equivalent command.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)], Effect, &'static str);

/// A session with an entry whose parent is not in the file.
const MISSING_PARENT: &str = "
    u1: sort the harbours
      a1: sorted
    u2 ^gone @+60: by name
      a2: by name it is
";

fn op_id(response: &HttpResponse) -> String {
    between(&response.body, "name=\"op\" value=\"", "\"").expect("the response offers to undo").to_owned()
}

/// Returns the labels of the undo buttons in a response.
fn undo_labels(response: &HttpResponse) -> Vec<String> {
    let forms = response.body.split("class=\"action-undo\"").skip(1);
    let label =
        |form: &str| Some(form.split_once("<button")?.1.split_once('>')?.1.split_once('<')?.0.to_owned());
    forms.filter_map(label).collect()
}

#[test]
fn buttons_name_the_change_that_they_undo_or_redo() {
    let server = ActionServer::new(EDITED_PROMPT);
    let url = format!("/s/{SESSION}/action/rename");
    let done = server.post(&url, &[("title", "harbours"), ("go", "do")]);
    assert_eq!(undo_labels(&done), ["Undo: rename to &quot;harbours&quot;"], "{}", done.body);
    // An undo is undone by a redo, and that by an undo again.
    let mut last = done;
    for (label, title) in
        [("Redo", "Op 1 was undone"), ("Undo", "Op 1 was redone"), ("Redo", "Op 1 was undone")]
    {
        last = server.post("/undo", &[("op", &op_id(&last)), ("key", SESSION)]);
        assert!(last.body.contains(title), "{title}: {}", last.body);
        assert_eq!(undo_labels(&last), [format!("{label}: rename to &quot;harbours&quot;")], "{}", last.body);
        let log = undo_labels(&server.get_fragment("/log"));
        assert_eq!(log.first(), undo_labels(&last).first(), "the newest operation is first");
    }
}

#[test]
fn previews_write_nothing_and_undo_restores_every_byte() {
    let cases: [Case; 6] = [
        (EDITED_PROMPT, "goto", &[("at", "L6")], Effect::AppendsLines(2), "rethread goto"),
        (EDITED_PROMPT, "goto", &[("at", "L7"), ("before", "1")], Effect::AppendsLines(2), "--before"),
        (
            EDITED_PROMPT,
            "fork",
            &[("at", "L6"), ("title", "the other way")],
            Effect::CreatesSession,
            "--title",
        ),
        (EDITED_PROMPT, "clone", &[("preset", "bare")], Effect::CreatesSession, "rethread clone"),
        (
            EDITED_PROMPT,
            "rename",
            &[("title", "harbours, sorted")],
            Effect::AppendsLines(2),
            "rethread rename",
        ),
        (MISSING_PARENT, "repair", &[], Effect::CreatesSession, "rethread repair"),
    ];
    for (text, action, fields, effect, command) in cases {
        let server = ActionServer::new(text);
        let url = format!("/s/{SESSION}/action/{action}");
        let query: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", url_encode(value))).collect();
        let before = server.snapshot();
        let form = server.get_fragment(&format!("{url}?{}", query.join("&")));
        assert_eq!(form.status, 200, "{action}: {}", form.body);
        let fields_with_step = |step: &'static str| -> Vec<(&str, &str)> {
            fields.iter().copied().chain([("go", step)]).collect()
        };
        let preview = server.post(&url, &fields_with_step("preview"));
        assert!(preview.status == 200 && preview.body.contains("Do it"), "{action}: {}", preview.body);
        assert!(preview.body.contains(command), "{action}: {}", preview.body);
        assert_eq!(server.snapshot(), before, "{action}: a preview writes nothing");

        let done = server.post(&url, &fields_with_step("do"));
        assert_eq!(done.status, 200, "{action}: {}", done.body);
        assert!(done.body.contains(&format!("data-changed=\"{SESSION}\"")), "{action}: {}", done.body);
        let after = server.snapshot();
        match effect {
            Effect::AppendsLines(line_count) => {
                assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>(), "{action}");
                let new_bytes = server.read_session();
                let old_bytes = script::bytes(text);
                assert!(new_bytes.starts_with(&old_bytes), "{action}: lines are only appended");
                let appended = &new_bytes[old_bytes.len()..];
                assert_eq!(appended.iter().filter(|&&byte| byte == b'\n').count(), line_count, "{action}");
                if action == "goto" {
                    assert!(done.body.contains("claude --resume"), "{}", done.body);
                    let announced =
                        between(&preview.body, "at the end, ", ";").expect("the preview states the size");
                    assert_eq!(announced, format!("{} B", appended.len()).as_str(), "{action}");
                }
            }
            Effect::CreatesSession => {
                let is_unchanged = before.iter().all(|(path, bytes)| after.get(path) == Some(bytes));
                let created_count = after.keys().filter(|path| !before.contains_key(*path)).count();
                assert!(is_unchanged && created_count == 1, "{action}: exactly one file is created");
                let link = between(&done.body, "button-primary\" href=\"", "\"")
                    .expect("the response links the new session");
                assert!(link.starts_with("/s/") && !link.contains(SESSION), "{action}: {link}");
                assert!(done.body.contains("claude --resume"), "{action}: {}", done.body);
            }
        }

        let undone = server.post("/undo", &[("op", &op_id(&done)), ("key", SESSION)]);
        assert_eq!(undone.status, 200, "{action}: {}", undone.body);
        assert_eq!(server.snapshot(), before, "{action}: undo restores every byte");
        let redone = server.post("/undo", &[("op", &op_id(&undone)), ("key", SESSION)]);
        assert_eq!((redone.status, server.snapshot()), (200, after), "{action}: undoing the undo redoes it");
    }
}

#[test]
fn a_change_after_the_preview_requires_a_new_confirmation() {
    let server = ActionServer::new(EDITED_PROMPT);
    let url = format!("/s/{SESSION}/action/goto");
    let read_fingerprint = |response: &HttpResponse| {
        between(&response.body, "name=\"fingerprint\" value=\"", "\"").unwrap().to_owned()
    };
    let old_fingerprint = read_fingerprint(&server.post(&url, &[("at", "L6"), ("go", "preview")]));
    server.append("u9 ^a4 @+900: and now by size\n  a9: by size it is");
    let before = server.snapshot();
    let preview = server.post(&url, &[("at", "L6"), ("go", "do"), ("fingerprint", &old_fingerprint)]);
    assert!(preview.status == 200 && preview.body.contains("Do it"), "{}", preview.body);
    assert!(preview.body.contains("changed since this was shown"), "{}", preview.body);
    assert_eq!(server.snapshot(), before, "nothing was written");
    let done = server.post(&url, &[("at", "L6"), ("go", "do"), ("fingerprint", &read_fingerprint(&preview))]);
    assert!(done.body.contains("data-changed") && server.snapshot() != before, "{}", done.body);
}

#[test]
fn the_session_page_ends_at_the_resume_point() {
    let server = ActionServer::new(EDITED_PROMPT);
    let done = server.post(&format!("/s/{SESSION}/action/goto"), &[("at", "t1"), ("go", "do")]);
    assert_eq!(done.status, 200, "{}", done.body);
    let page = server.get_page(&format!("/s/{SESSION}")).body;
    let has_turn = ["t1", "t2", "t3"].map(|turn| page.contains(&format!("id=\"{turn}\"")));
    assert_eq!(has_turn, [true, false, false]);
}

#[test]
fn the_log_lists_operations_and_undoes_them() {
    let server = ActionServer::new(EDITED_PROMPT);
    assert!(server.get_page("/log").body.contains("Nothing yet"));
    let before = server.snapshot();
    server.post(&format!("/s/{SESSION}/action/rename"), &[("title", "a <b>bold</b> title"), ("go", "do")]);
    let log = server.get_page("/log");
    assert!(
        log.body.contains("a &lt;b&gt;bold&lt;/b&gt; title") && !log.body.contains("<b>"),
        "{}",
        log.body
    );
    let undone = server.post("/undo", &[("op", &op_id(&log)), ("key", "")]);
    assert_eq!((undone.status, server.snapshot()), (200, before));
    assert!(server.get_page("/log").body.contains("undone by"));
    let repeated = server.post("/undo", &[("op", "1")]);
    assert_eq!(repeated.status, 422, "{}", repeated.body);
    assert!(repeated.body.contains("op 1 was undone by op 2"), "{}", repeated.body);
}

#[test]
fn every_response_is_a_page_without_the_script() {
    let server = ActionServer::new(EDITED_PROMPT);
    let (csrf_token, url) = (server.csrf_token(), format!("/s/{SESSION}/action/goto"));
    let page = server.get_page(&format!("{url}?at=L6"));
    assert!(page.body.starts_with("<!DOCTYPE html>") && page.body.contains("Do it"), "{}", page.body);
    let fields = [("csrf", csrf_token.as_str()), ("at", "L6"), ("go", "do")];
    let done = server.post_with_headers(&url, &fields, &[]);
    assert!(done.status == 200 && done.body.starts_with("<!DOCTYPE html>"), "{}", done.body);
    let fields = [("csrf", csrf_token.as_str()), ("at", "L999"), ("go", "do")];
    let failed = server.post_with_headers(&url, &fields, &[]);
    assert!(failed.status == 404 && failed.body.starts_with("<!DOCTYPE html>"), "{}", failed.body);
}

#[test]
fn branches_are_listed_compared_and_drawn() {
    let server = ActionServer::new(EDITED_PROMPT);
    let list = server.get_page(&format!("/s/{SESSION}/branches"));
    for expected in
        ["2 branches", "resumes here", "by name", "by code instead", "edit 2/2", "data-action=\"goto\""]
    {
        assert!(list.body.contains(expected), "{expected}: {}", list.body);
    }
    let diff = server.get_page(&format!("/s/{SESSION}/diff?pick=L8&pick=L6"));
    for expected in
        ["In common: 1 turn", "by code it is", "by name it is", "resumes here", "Resume from here"]
    {
        assert!(diff.body.contains(expected), "{expected}: {}", diff.body);
    }
    let same_branch = server.get_page(&format!("/s/{SESSION}/diff?a=L6&b=L6"));
    assert!(same_branch.body.contains("nothing to compare"), "{}", same_branch.body);
    let one_branch = server.get_page(&format!("/s/{SESSION}/diff?pick=L6"));
    assert!(
        one_branch.status == 200 && one_branch.body.contains("Select two branches"),
        "{}",
        one_branch.body
    );
    assert_eq!(server.get_page(&format!("/s/{SESSION}/diff?a=L6&b=L99")).status, 404);
    let tree = server.get_page(&format!("/s/{SESSION}/tree"));
    assert!(tree.body.contains("active tip L8") && !tree.body.contains("<style"), "{}", tree.body);
}

#[test]
fn a_banner_above_the_branches_warns_of_entries_that_a_resume_loses() {
    let one_branch = "u1: one\n  a1: one\n    u2: two\n      a2: two";
    let two_branches = "u1: one\n  a1: one\n    u2: two\n      a2: two\n    u3: three\n      a3: three";
    let stale_pointer = "* v=2.1.221\nu1: one\n  a1: one\n    u2: two\n      a2: two\n    u3: three\n      a3: three\nlast-prompt ~a2: two";
    let cases: [(&str, &str, &str, &str); 7] = [
        ("custom-title: nothing was said", "", "", ""),
        (one_branch, "", "", ""),
        (two_branches, "", "", ""),
        // The user chose the older branch.
        (two_branches, "L4", "", ""),
        (
            stale_pointer,
            "",
            "The client resumes an older branch: the newest entry, L6, is not on it",
            "data-at=\"L6\"",
        ),
        (MISSING_PARENT, "", "A resume would lose 1 turn", "data-action=\"repair\""),
        (MISSING_PARENT, "", "<code>L3</code>: its parent is not in the file", "rethread repair"),
    ];
    for (text, goto_entry, message, action) in cases {
        let server = ActionServer::new(text);
        if !goto_entry.is_empty() {
            server.post(&format!("/s/{SESSION}/action/goto"), &[("at", goto_entry), ("go", "do")]);
        }
        let page = server.get_page(&format!("/s/{SESSION}/branches"));
        let banner = between(&page.body, "<details class=\"resume-banner", "</details>").unwrap_or_default();
        assert_eq!(banner.is_empty(), message.is_empty(), "{text}: {banner}");
        assert!(banner.contains(message) && banner.contains(action), "{text}: {banner}");
    }
}
