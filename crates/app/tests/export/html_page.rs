//! Exported pages in a browser, from disk.

use std::path::Path;

use rethread_testkit::browser::{Browser, Page};
use serde_json::json;

use crate::home::Home;
use crate::session_builder::{SESSION, Talk, garden, unpacked};

/// Exports a session as a page and returns its address.
pub(crate) fn page_of(home: &Home, session: &str, more: &[&str]) -> String {
    home.write_old(&format!(".claude/projects/-home-ada-garden/{SESSION}.jsonl"), session);
    let run = home.run(&[&["export", SESSION, "-o", "talk.html", "--force"], more].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    address(&home.path().join("talk.html"))
}

fn address(path: &Path) -> String {
    format!("file://{}", path.canonicalize().unwrap().display())
}

/// A session whose last turns are far behind what stands in a page plainly.
fn long() -> Talk {
    (1..=600).fold(Talk::default(), |talk, no| {
        let words = format!("Answer {no}: {}", "many words of no weight ".repeat(60));
        talk.asks(&format!("Question {no}")).says(&words)
    })
}

#[test]
fn a_short_session_stands_in_its_page_plainly_and_is_usable() {
    let Some(browser) = Browser::shared() else { return };
    let home = Home::new();
    let address = page_of(&home, &garden().text(), &["--all"]);
    let page: Page = browser.page();
    page.goto(&address);
    assert_eq!(page.count("script.packed, .leaf-later"), 0);
    assert_eq!(page.count("#main > .leaf > .turn[id]"), 3);
    page.assert_accessible();
    // Keys, theme, presentation, unfolding.
    page.press("?");
    assert!(page.text("#keys").contains("next turn") && !page.text("#keys").contains("search all"));
    page.press("Escape");
    page.click("[data-do=theme]");
    assert!(["light", "dark"].map(|theme| page.count(&format!("html[data-theme={theme}]"))).contains(&1));
    page.click(".tool-head");
    assert_eq!(page.count(".tool[open]"), 1);
    page.click("[data-do=present]");
    page.wait_for("document.querySelector('.present')");
    page.press("Escape");
    page.assert_quiet(&address);
}

#[test]
fn packed_turns_unpack_where_one_reads_and_where_a_link_leads() {
    let Some(browser) = Browser::shared() else { return };
    let home = Home::new();
    let address = page_of(&home, &long().text(), &[]);
    let text = home.run(&["export", SESSION, "--format", "html"]).out;
    assert_eq!(unpacked(&text).matches("<article ").count(), 600);
    let page = browser.page();
    page.goto(&address);
    let later = page.count(".leaf-later");
    assert!(later > 5 && page.count("#main > .leaf > .turn[id]") > 20, "{later} are packed");
    assert!(!page.text("#main").contains("Answer 590:"));
    page.eval("location.hash = '#t590'");
    page.wait_for("document.querySelector('#t590.turn') && document.querySelector('#t590').getBoundingClientRect().top < 300");
    assert!(page.text("#t590").contains("Answer 590:"));
    // What stands between is still packed.
    assert!(page.count(".leaf-later") > 3);
    page.eval("location.hash = '#L602'");
    page.wait_for("document.querySelector('#t301.turn')");
    page.eval("scrollTo(0, 0)");
    page.eval("document.querySelector('.leaf-later').scrollIntoView()");
    page.wait_for(&format!("document.querySelectorAll('.leaf-later').length < {}", later - 2));
    page.click("[data-do=unpack]");
    page.wait_for("document.querySelectorAll('.leaf-later').length === 0");
    assert_eq!(page.count("#main > .leaf > .turn[id]"), 600);
    page.assert_quiet(&address);
    // The address may name the turn from the beginning.
    let page = browser.page();
    page.goto(&format!("{address}#t333"));
    page.wait_for("document.querySelector('#t333.turn')");
    page.assert_quiet(&address);
}

#[test]
fn subagents_unfold_where_they_were_called() {
    let Some(browser) = Browser::shared() else { return };
    let home = Home::new();
    let folder = format!(".claude/projects/-home-ada-garden/{SESSION}/subagents");
    let calls = |talk: Talk, no: usize| {
        let input = json!({ "description": format!("Look {no}"), "prompt": format!("prompt {no}"), "subagent_type": "Explore" });
        talk.calls(
            &format!("toolu_a{no}"),
            "Task",
            &input,
            &json!("found"),
            &json!({ "agentId": format!("ag{no}") }),
        )
    };
    let talk = calls(calls(Talk::default().asks("Use agents"), 1), 2).says("Both are back.");
    let deeper = json!({ "description": "Deeper", "prompt": "prompt 3" });
    let noted = json!({ "agentId": "ag3" });
    let long = "word after word ".repeat(5_000);
    let conversations = [
        Talk::of_agent("ag1")
            .asks("prompt 1")
            .calls("toolu_a3", "Task", &deeper, &json!("deep"), &noted)
            .says("agent 1 says few words"),
        (0..4).fold(Talk::of_agent("ag2").asks("prompt 2").says("agent 2 says"), |talk, _| talk.says(&long)),
        Talk::of_agent("ag3").asks("prompt 3").says("agent 3 says deep words"),
    ];
    for (no, talk) in (1..).zip(conversations) {
        home.write_old(&format!("{folder}/agent-ag{no}.jsonl"), talk.text());
    }
    let address = page_of(&home, &talk.text(), &[]);
    let page = browser.page();
    page.goto(&address);
    assert_eq!(page.count("#main .agent .agent"), 1, "one stands in another");
    assert_eq!(page.count("script.packed[data-call=toolu_a2]"), 1, "the long one is packed");
    assert_eq!(page.count("[id=t1]"), 1, "names of turns are said once");
    page.eval(
        "for (const one of document.querySelectorAll('#main > .leaf > .turn > .tool')) one.open = true",
    );
    page.wait_for("document.querySelectorAll('#main .agent').length === 3");
    page.eval("for (const one of document.querySelectorAll('.agent .tool')) one.open = true");
    for words in ["agent 1 says", "agent 2 says", "agent 3 says deep words"] {
        assert!(page.text("#main").contains(words), "{words}");
    }
    page.assert_quiet(&address);
    // The same without unfolding anything, and where a part is damaged.
    // What is said goes away by itself: it is kept for the test.
    let again = || {
        page.goto("about:blank");
        page.goto(&address);
        page.eval("rethread.say = words => { window.said = words; }");
    };
    again();
    assert_eq!(page.count(".leaf-later"), 0, "only a subagent is packed");
    page.click("[data-do=unpack]");
    page.wait_for("window.said === 'Everything is unpacked'");
    assert_eq!(page.count("#main .agent"), 3);
    assert_eq!(page.eval("document.querySelector('[data-do=unpack]').hidden"), true);
    page.assert_quiet(&address);
    again();
    page.eval("document.querySelector('script.packed').textContent = 'AAAA'");
    page.click("[data-do=unpack]");
    page.wait_for("window.said === 'Some parts could not be unpacked'");
    assert_eq!(page.eval("document.querySelector('[data-do=unpack]').hidden"), false);
    assert_eq!(page.count("#main .agent"), 2);
}
