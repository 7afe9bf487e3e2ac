//! Exported pages, opened from disk in a browser.

use std::path::Path;

use rethread_testkit::browser::{Browser, Page};
use rethread_testkit::home::Home;
use serde_json::json;

use crate::new_home;
use crate::session_builder::{PROJECT, SESSION, SessionBuilder, garden_session, unpack_page};

/// Exports a session as a page and returns its `file:` URL.
pub(crate) fn export_page(home: &Home, session: &SessionBuilder, options: &[&str]) -> String {
    session.write_to(home);
    let run = home.run(&[&["export", SESSION, "-o", "session.html", "--force"], options].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    file_url(&home.path().join("session.html"))
}

fn file_url(path: &Path) -> String {
    format!("file://{}", path.canonicalize().unwrap().display())
}

/// Returns a session that is so long that its last turns are packed.
fn long_session() -> SessionBuilder {
    (1..=600).fold(SessionBuilder::default(), |session, idx| {
        let text = format!("Answer {idx}: {}", "many words of no importance ".repeat(60));
        session.add_prompt(&format!("Question {idx}")).add_answer(&text)
    })
}

#[test]
fn a_short_session_is_not_packed_and_the_page_is_usable() {
    let Some(browser) = Browser::shared() else { return };
    let home = new_home();
    let url = export_page(&home, &garden_session(), &["--all"]);
    let page: Page = browser.open_page();
    page.goto(&url);
    assert_eq!(page.count("script.packed, .chunk-pending"), 0);
    assert_eq!(page.count("#main > .chunk > .turn[id]"), 3);
    page.assert_accessible();
    // Key list, theme, parts, presentation.
    page.press("?");
    assert!(page.text("#keys").contains("next turn") && !page.text("#keys").contains("search all"));
    page.press("Escape");
    page.click("[data-command=theme]");
    assert!(["light", "dark"].map(|theme| page.count(&format!("html[data-theme={theme}]"))).contains(&1));
    page.click(".tool-head");
    assert_eq!(page.count(".tool[open]"), 1);
    page.click("[data-command=present]");
    page.wait_for("document.querySelector('.present')");
    page.press("Escape");
    page.assert_no_problems(&url);
}

#[test]
fn packed_turns_are_unpacked_when_visible_or_linked() {
    let Some(browser) = Browser::shared() else { return };
    let home = new_home();
    let url = export_page(&home, &long_session(), &[]);
    let text = home.run(&["export", SESSION, "--format", "html"]).out;
    assert_eq!(unpack_page(&text).matches("<article ").count(), 600);
    let page = browser.open_page();
    page.goto(&url);
    let pending_count = page.count(".chunk-pending");
    assert!(pending_count > 5 && page.count("#main > .chunk > .turn[id]") > 20, "{pending_count} are packed");
    assert!(!page.text("#main").contains("Answer 590:"));
    page.eval("location.hash = '#t590'");
    page.wait_for("document.querySelector('#t590.turn') && document.querySelector('#t590').getBoundingClientRect().top < 300");
    assert!(page.text("#t590").contains("Answer 590:"));
    // The turns between are still packed.
    assert!(page.count(".chunk-pending") > 3);
    page.eval("location.hash = '#L602'");
    page.wait_for("document.querySelector('#t301.turn')");
    page.eval("scrollTo(0, 0)");
    page.eval("document.querySelector('.chunk-pending').scrollIntoView()");
    page.wait_for(&format!("document.querySelectorAll('.chunk-pending').length < {}", pending_count - 2));
    page.click("[data-command=unpack]");
    page.wait_for("document.querySelectorAll('.chunk-pending').length === 0");
    assert_eq!(page.count("#main > .chunk > .turn[id]"), 600);
    page.assert_no_problems(&url);
    // The URL of the page may name a packed turn.
    let page = browser.open_page();
    page.goto(&format!("{url}#t333"));
    page.wait_for("document.querySelector('#t333.turn')");
    page.assert_no_problems(&url);
}

#[test]
fn subagents_open_inside_the_call_that_started_them() {
    let Some(browser) = Browser::shared() else { return };
    let home = new_home();
    let folder = format!("{PROJECT}/{SESSION}/subagents");
    let add_agent_call = |session: SessionBuilder, idx: usize| {
        let input = json!({ "description": format!("Look {idx}"), "prompt": format!("prompt {idx}"), "subagent_type": "Explore" });
        session.add_call(
            &format!("toolu_a{idx}"),
            "Task",
            &input,
            &json!("found"),
            &json!({ "agentId": format!("ag{idx}") }),
        )
    };
    let session = add_agent_call(add_agent_call(SessionBuilder::default().add_prompt("Use agents"), 1), 2)
        .add_answer("Both are back.");
    let inner_input = json!({ "description": "Deeper", "prompt": "prompt 3" });
    let client_result = json!({ "agentId": "ag3" });
    let long_session = "word after word ".repeat(5_000);
    let subagents = [
        SessionBuilder::new_subagent("ag1")
            .add_prompt("prompt 1")
            .add_call("toolu_a3", "Task", &inner_input, &json!("deep"), &client_result)
            .add_answer("agent 1 says few words"),
        (0..4).fold(
            SessionBuilder::new_subagent("ag2").add_prompt("prompt 2").add_answer("agent 2 says"),
            |session, _| session.add_answer(&long_session),
        ),
        SessionBuilder::new_subagent("ag3").add_prompt("prompt 3").add_answer("agent 3 says deep words"),
    ];
    for (idx, session) in (1..).zip(subagents) {
        home.write_old(&format!("{folder}/agent-ag{idx}.jsonl"), session.text());
    }
    let url = export_page(&home, &session, &[]);
    let page = browser.open_page();
    page.goto(&url);
    assert_eq!(page.count("#main .agent .agent"), 1, "one subagent is inside another");
    assert_eq!(page.count("script.packed[data-call=toolu_a2]"), 1, "the long subagent is packed");
    assert_eq!(page.count("[id=t1]"), 1, "ids of turns are unique");
    page.eval(
        "for (const call of document.querySelectorAll('#main > .chunk > .turn > .tool')) call.open = true",
    );
    page.wait_for("document.querySelectorAll('#main .agent').length === 3");
    page.eval("for (const call of document.querySelectorAll('.agent .tool')) call.open = true");
    for text in ["agent 1 says", "agent 2 says", "agent 3 says deep words"] {
        assert!(page.text("#main").contains(text), "{text}");
    }
    page.assert_no_problems(&url);
    // The same without opening a call, and with a damaged part. Notifications disappear after a while: record the last one.
    let reload = || {
        page.goto("about:blank");
        page.goto(&url);
        page.eval("rethread.notify = text => { window.notified = text; }");
    };
    reload();
    assert_eq!(page.count(".chunk-pending"), 0, "only a subagent is packed");
    page.click("[data-command=unpack]");
    page.wait_for("window.notified === 'Everything is unpacked'");
    assert_eq!(page.count("#main .agent"), 3);
    assert_eq!(page.eval("document.querySelector('[data-command=unpack]').hidden"), true);
    page.assert_no_problems(&url);
    reload();
    page.eval("document.querySelector('script.packed').textContent = 'AAAA'");
    page.click("[data-command=unpack]");
    page.wait_for("window.notified === 'Some parts could not be unpacked'");
    assert_eq!(page.eval("document.querySelector('[data-command=unpack]').hidden"), false);
    assert_eq!(page.count("#main .agent"), 2);
}
