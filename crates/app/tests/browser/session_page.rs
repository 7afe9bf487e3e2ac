//! A session is read: folds, branches, links to places, subagents, pictures, paper.

use rethread_testkit::browser::EmulatedMedia;
use serde_json::json;

use crate::client::Site;
use crate::fixtures;
use crate::home::Home;
use crate::server_page::{NARROW, Visit};
use crate::session_builder::Tale;

#[test]
fn calls_and_thoughts_unfold() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    assert!(!visit.text("#t1").contains("locker."), "thoughts are folded");
    visit.click("#t1 .think > summary");
    visit.wait_for("document.querySelector('#t1 .think .md').innerText.includes('in the locker')");
    assert_eq!(visit.count("#t1 .tool [data-src]"), 1, "only the long body waits to be fetched");
    visit.click("#t1 .tool > summary");
    visit.wait_said("#t1 .tool[open] .tool-body", "sounding 1: 1 fathoms");
    visit.click("#t1 .tool[open] .more > summary");
    visit.wait_for("document.querySelector('#t1 .tool-body').innerText.includes('sounding 900:')");
    visit.check();
    visit.open(&tale.address());
    visit.press("o");
    visit.wait_for("document.querySelectorAll('#t1 details.part[open]').length === 3");
    visit.press("o");
    visit.wait_for("document.querySelectorAll('#t1 details.part[open]').length === 0");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn a_fork_switches_to_the_other_branch_at_the_same_place() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    assert!(visit.text(".switch").contains("3 of 3"), "{}", visit.text(".switch"));
    for (way, words) in [(2, "Sail south"), (1, "Sail north")] {
        visit.click(".switch a[aria-label='Previous branch']");
        visit.wait_for(&format!("document.querySelector('.switch')?.innerText.includes('{way} of 3')"));
        visit.wait_seen(".switch");
        visit.wait_seen(".part.here");
        assert!(visit.text(".part.here").contains(words), "{}", visit.text(".part.here"));
    }
    visit.click(".switch a[aria-label='Next branch']");
    visit.wait_said(".part.here", "Sail south");
    assert!(visit.text("#main").contains("Far in the south") && !visit.text("#main").contains("west"));
    assert!(visit.text(".session-way").contains("Another branch"), "{}", visit.text(".session-way"));
    visit.check();
    visit.click(".session-way a");
    visit.wait_said("#main", "Far in the west");
}

#[test]
fn a_link_to_a_turn_of_another_branch_leads_to_it() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let site = Site::of(home);
    let Some(mut visit) = Visit::new(&site) else { return };
    // It is asked for on the branch that goes on, in vain.
    visit.expect_status(404);
    visit.open(&format!("{}?view=all", tale.address()));
    let turn = visit.eval(
        "[...document.querySelectorAll('article.turn[id]')].find(one => one.textContent.includes('Sail north')).id",
    );
    let turn = turn.as_str().unwrap().to_owned();
    visit.open(&tale.address());
    assert_eq!(visit.count(&format!("#{turn}")), 0, "it is on another branch");
    // The page goes on to another one by itself: nothing is waited for in the first.
    visit.goto("about:blank");
    visit.goto(&format!("{}{}#{turn}", visit.origin(), tale.address()));
    visit.wait_for("location.search.startsWith('?tip=')");
    visit.wait_said(&format!("article#{turn}"), "Sail north");
    visit.wait_seen(&format!("article#{turn}"));
    visit.open(&format!("{}#t999", tale.address()));
    visit.wait_said("#say", "There is no such turn");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn a_link_to_a_place_far_down_lands_there() {
    let home = Home::new();
    let tale = fixtures::long(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    for turn in [12, 1234, fixtures::TURNS] {
        visit.open(&format!("{}#t{turn}", tale.address()));
        let place = format!("article#t{turn}");
        visit.wait_seen(&place);
        visit.settle();
        visit.wait_seen(&place);
        assert!(visit.text(&place).contains(&format!("Log of watch {turn}")));
        // The last turn cannot come to the top of the window, where the one before takes the place of all others.
        if turn < fixtures::TURNS {
            let top = visit.top(&place);
            visit.press("k");
            visit.wait_for(&format!(
                "Math.abs(document.querySelector('article#t{}').getBoundingClientRect().top - {top}) < 2",
                turn - 1
            ));
        }
    }
    assert!(
        visit.count("article.turn") < 600,
        "what is far away is not loaded: {}",
        visit.count("article.turn")
    );
    visit.check();
}

#[test]
fn subagents_unfold_in_place_and_inside_each_other() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.click("#t3 .tool > summary");
    visit.wait_said("#t3 .agent", "said by the outer agent");
    visit.click("#t3 .agent .tool > summary");
    visit.wait_said("#t3 .agent .agent", "said by the inner agent");
    visit.check();
    visit.click("[data-do=agents]");
    visit.wait_shown("#agents a");
    visit.assert_accessible();
    visit.click("#agents a");
    visit.wait_for("location.pathname.includes('/agent/') && document.querySelector('.turn')");
    visit.wait_said("#main", "said by the");
    visit.check();
}

#[test]
fn a_link_to_a_line_means_the_session_and_not_an_unfolded_subagent() {
    let home = Home::new();
    let mut tale = Tale::new("5");
    tale.prompt("Send somebody");
    let task = json!({ "description": "Look around", "prompt": "Look", "subagent_type": "Explore" });
    let call = tale.calls("Task", &task, &json!("Seen"), &json!({ "agentId": "a0000001" }));
    let mut agent = tale.agent("a0000001");
    agent.prompt("Look");
    for no in 2..=9 {
        agent.says(&format!("line {no} of the agent"));
    }
    agent.keep_agent(&home, &call, "Explore");
    tale.says("line 4 of the session");
    tale.keep(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.click("#t1 .tool > summary");
    visit.wait_said("#t1 .agent", "line 4 of the agent");
    visit.eval("location.hash = '#L4'");
    visit.wait_for("document.querySelector('.part.here')");
    assert_eq!(visit.text(".part.here"), "line 4 of the session");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn what_is_copied_is_the_turn_and_the_command() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let file = std::fs::read_to_string(home.path().join(tale.file())).unwrap();
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.allow_clipboard(&visit.origin());
    visit.open(&tale.address());
    // What is said goes away by itself: it is kept for the test.
    visit.eval("rethread.say = words => { window.said = words; }");
    let copied = |button: &str, said: &str| {
        visit.wait_shown(button);
        visit.click(button);
        visit.wait_for(&format!("window.said?.includes('{said}')"));
        visit.eval("window.said = ''");
        visit.copied()
    };
    let turn = |kind: &str| {
        visit.click("#t2 .menu > summary");
        copied(&format!("#t2 [data-as={kind}]"), "Copied")
    };
    let text = turn("text");
    assert!(text.contains("Look at this chart") && text.contains("A small chart, three by two."), "{text}");
    let markdown = turn("md");
    assert!(markdown.starts_with("## ") && markdown.contains("A small chart"), "{markdown}");
    let lines: Vec<&str> =
        file.lines().filter(|line| line.contains("chart\"") || line.contains("three by two")).collect();
    assert_eq!(turn("json"), lines.join("\n"), "as it stands in the file");
    visit.click("#t2 .menu > summary");
    let link = copied("#t2 [data-do=link]", "Copied the link");
    assert_eq!(link, format!("{}{}#t2", visit.origin(), tale.address()));
    let command = copied(".session-actions [data-do=copy-text]", "opied");
    assert!(command.contains("claude --resume") && command.contains(tale.id()), "{command}");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn a_picture_opens_large_and_closes() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.wait_for("document.querySelector('.picture img').naturalWidth === 3");
    visit.click(".picture");
    visit.wait_shown("dialog.lightbox img");
    visit.assert_accessible();
    visit.press("Escape");
    visit.wait_for("!document.querySelector('dialog.lightbox')");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn colours_follow_the_system_until_somebody_chooses() {
    let site = Site::demo();
    let Some(visit) = Visit::new(&site) else { return };
    let ground = || visit.eval("getComputedStyle(document.documentElement).backgroundColor").to_string();
    let light = ground();
    visit.emulate(EmulatedMedia { dark: true, ..EmulatedMedia::default() });
    let dark = ground();
    assert_ne!(light, dark);
    visit.click("[data-do=theme]");
    assert_eq!(ground(), light, "the switch is stronger than the system");
    visit.open("/sessions");
    assert_eq!(ground(), light, "and is remembered");
    visit.click("[data-do=theme]");
    assert_eq!(ground(), dark);
    visit.assert_quiet(&visit.origin());
}

#[test]
fn the_keyboard_map_tells_the_keys() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    for (target, known, unknown) in [
        ("/", "search all sessions", "turn"),
        (&*tale.address(), "next turn", "session before"),
        ("/sessions", "next session", "presentation"),
    ] {
        visit.open(target);
        visit.eval("document.activeElement.blur()");
        visit.press("?");
        visit.wait_said("#keys", known);
        visit.wait_shown("#keys");
        assert!(!visit.text("#keys").contains(unknown), "{target} tells only its own keys");
        visit.assert_accessible();
        visit.press("Escape");
        visit.wait_for("!document.getElementById('keys').open");
    }
    visit.assert_quiet(&visit.origin());
}

#[test]
fn paper_gets_the_words_and_not_the_buttons() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.emulate(EmulatedMedia { print: true, ..EmulatedMedia::default() });
    visit.settle();
    let shown =
        |selector: &str| visit.eval(&format!("document.querySelector('{selector}').checkVisibility()"));
    assert_eq!(shown("#t1"), true);
    for selector in [".bar", ".session-actions", ".menu", ".follow"] {
        assert_eq!(shown(selector), false, "{selector}");
    }
    visit.assert_quiet(&visit.origin());
}

#[test]
fn everything_is_fetched_before_it_is_printed_and_paper_is_light() {
    let home = Home::new();
    let tale = fixtures::long(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.click("[data-do=theme]");
    visit.eval(
        "window.print = () => { window.printed = document.querySelectorAll('#main > .leaf-later').length; }",
    );
    visit.click(".session-actions .menu:has([data-do=print]) > summary");
    visit.click("[data-do=print]");
    visit.wait_for("window.printed === 0");
    assert_eq!(visit.count("#main > .leaf > article.turn[id]"), fixtures::TURNS as usize);
    let ground = || visit.eval("getComputedStyle(document.querySelector('#t1 .prompt')).backgroundColor");
    let dark = ground();
    visit.emulate(EmulatedMedia { print: true, ..EmulatedMedia::default() });
    visit.settle();
    assert_ne!(ground(), dark, "what is dark on a screen is light on paper");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn finding_has_a_button() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.resize(NARROW, 760, true);
    visit.open(&tale.address());
    visit.click("[data-do=find]");
    visit.wait_shown("#find");
    visit.type_text("sounding 900");
    visit.wait_said(".find-at", "1 of 1");
    visit.check();
}

#[test]
fn every_page_of_the_demo_can_be_used_by_everybody() {
    let site = Site::demo();
    let Some(visit) = Visit::new(&site) else { return };
    visit.open("/sessions?all=1");
    let links =
        visit.eval("[...document.querySelectorAll('.row-link')].map(link => link.getAttribute('href'))");
    let links: Vec<&str> = links.as_array().into_iter().flatten().filter_map(|link| link.as_str()).collect();
    assert!(links.len() > 3, "{links:?}");
    for target in ["/", "/sessions?all=1", "/search?q=tide", "/home/figures"].into_iter().chain(links) {
        visit.open(target);
        visit.resize(NARROW, 800, true);
        visit.unfold("#main details");
        visit.wait_for("!document.querySelector('[data-loading], details[open] > [data-src]')");
        visit.check();
    }
}
