//! A session that somebody works in while another reads it.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::client::Site;
use crate::home::Home;
use crate::server_page::Visit;
use crate::session_builder::Tale;

/// Writes a session of some turns.
fn begun(home: &Home) -> (Tale, PathBuf) {
    let mut tale = Tale::new("7");
    for no in 1..=40 {
        tale.prompt(format!("Order {no}"));
        tale.says("Aye.\n\nAye.\n\nAye, captain.");
    }
    let path = tale.keep(home);
    (tale, path)
}

/// Writes lines at the end of a file.
#[expect(clippy::disallowed_methods, reason = "the test is the client that works in the session")]
pub(crate) fn append(path: &Path, lines: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(lines.as_bytes()).unwrap();
}

/// Words longer than a page shows at once.
#[test]
fn what_is_unfolded_stays_so_and_is_found() {
    let home = Home::new();
    let mut tale = Tale::new("8");
    tale.prompt("Read me the log");
    let log: Vec<String> =
        (0..3000).map(|no| format!("Day {no}: nothing was seen but water and sky.")).collect();
    tale.says(&log.join("\n\n"));
    let path = tale.keep(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    assert!(!visit.text("#main").contains("Day 2999:"));
    visit.press("f");
    visit.type_text("Day 2998:");
    visit.wait_for("CSS.highlights.get('found')?.size === 1");
    visit.wait_for("document.querySelector('#main details.more').open");
    visit.press("Escape");
    let top = visit.eval("scrollY");
    assert!(top.as_f64() > Some(20_000.0), "{top}");
    tale.prompt("And the day after");
    append(&path, &tale.take());
    visit.wait_said("#main", "And the day after");
    visit.settle();
    assert_eq!(visit.count("#main details.more[open]"), 1, "nobody is thrown out of what is read");
    assert_eq!(visit.eval("scrollY"), top);
    visit.assert_quiet(&visit.origin());
}

#[test]
fn new_turns_appear_and_nothing_moves_for_who_reads_in_the_middle() {
    let home = Home::new();
    let (mut tale, path) = begun(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&format!("{}#t20", tale.address()));
    visit.wait_seen("#t20");
    visit.settle();
    visit.settle();
    let before = visit.top("#t20");
    tale.prompt("Man overboard");
    tale.says("Boat is lowered.");
    append(&path, &tale.take());
    visit.wait_said("#t41", "Boat is lowered");
    visit.wait_shown("[data-do=newest]");
    visit.settle();
    let moved = visit.top("#t20") - before;
    assert!(moved.abs() < 1.5, "it moved by {moved}");
    visit.wait_said(".session-top", "41 turns");
    visit.check();
    visit.click("[data-do=newest]");
    visit.wait_seen("#t41");
    visit.wait_for("document.querySelector('[data-do=newest]').hidden");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn who_follows_is_always_at_the_end() {
    let home = Home::new();
    let (mut tale, path) = begun(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.click("input[name=follow]");
    visit.wait_seen("#t40");
    // A line comes in two pieces, as a client may write it.
    tale.prompt("Full speed");
    let first = tale.take();
    tale.prompt("Slow ahead");
    let line = tale.take();
    let (half, rest) = line.split_at(line.len() / 2);
    append(&path, &format!("{first}{half}"));
    visit.wait_for("document.getElementById('t41')");
    assert_eq!(visit.count("#t42"), 0, "half a line is no turn");
    append(&path, rest);
    visit.wait_for("document.getElementById('t42')");
    visit.wait_seen("#t42");
    // What is open stays open while the turn goes on.
    tale.thinks("The engine is *warm*.");
    append(&path, &tale.take());
    visit.wait_for("document.querySelector('#t42 .think')");
    visit.unfold("#t42 .think");
    tale.says("Slow it is.");
    for no in 43..60 {
        tale.prompt(format!("Order {no}"));
        tale.says("Aye.");
    }
    append(&path, &tale.take());
    visit.wait_for("document.getElementById('t59')");
    visit.wait_seen("#t59");
    assert_eq!(visit.count("#t42 .think[open]"), 1);
    visit.wait_said("#t42", "Slow it is.");
    assert_eq!(visit.count("article.turn[id]"), 59, "each turn once");
    // Who goes up wants to read, and follows no more.
    visit.eval("scrollTo({ top: 0, behavior: 'instant' })");
    visit.wait_for("!document.querySelector('input[name=follow]').checked");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn a_call_that_is_open_gets_its_result_and_stays_open() {
    let home = Home::new();
    let (mut tale, path) = begun(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.click("input[name=follow]");
    tale.prompt("Take the soundings");
    let shell = tale.starts("Bash", &json!({ "command": "sound --all" }));
    append(&path, &tale.take());
    visit.wait_for("document.querySelector('#t41 .tool')");
    visit.unfold("#t41 .tool");
    tale.ends(&shell, &json!("nine fathoms"), &json!({}));
    let options = json!([{ "label": "Ebb", "description": "" }, { "label": "Flood", "description": "" }]);
    let question = json!({ "question": "Which tide?", "header": "Tide", "options": options });
    let asked = tale.starts("AskUserQuestion", &json!({ "questions": [question] }));
    append(&path, &tale.take());
    visit.wait_said("#t41 .tool[open]", "nine fathoms");
    visit.wait_said("#t41 .tool[open]", "Which tide?");
    tale.ends(
        &asked,
        &json!("User has answered your questions: \"Which tide?\"=\"the spring tide\"."),
        &json!({ "answers": { "Which tide?": "the spring tide" } }),
    );
    append(&path, &tale.take());
    visit.wait_said("#t41 .tool[open]", "the spring tide");
    assert_eq!(visit.count("#t41 .tool[open]"), 2);
    visit.assert_quiet(&visit.origin());
}

#[test]
fn after_a_rewind_the_page_shows_the_way_that_goes_on() {
    let home = Home::new();
    let mut tale = Tale::new("7");
    let mut tips = Vec::new();
    for no in 1..=40 {
        tale.prompt(format!("Order {no}"));
        tale.says("Aye.");
        tips.push(tale.tip());
    }
    let path = tale.keep(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&format!("{}#t20", tale.address()));
    visit.wait_seen("article#t20");
    visit.eval("window.old = 1");
    // Near the end, on the last leaf: nothing else moves.
    tale.back(tips[37].clone());
    tale.prompt("Order 41");
    append(&path, &tale.take());
    visit.wait_for("document.getElementById('t41') && !document.getElementById('t40')");
    assert_eq!(visit.eval("window.old"), 1);
    // Farther up, and longer than the way before: what was read on the leaves between never was.
    tale.back(tips[27].clone());
    for no in 42..=50 {
        tale.prompt(format!("Order {no}"));
        tale.says("Aye.");
    }
    append(&path, &tale.take());
    visit.wait_for("!window.old && document.getElementById('t50')");
    visit.wait_seen("article#t20");
    visit.eval("document.documentElement.scrollTo(0, document.documentElement.scrollHeight)");
    visit.wait_for("!document.querySelector('.leaf-later')");
    let turns = visit.eval("[...document.querySelectorAll('article.turn[id]')].map(turn => turn.id)");
    let wanted: Vec<String> = (1..=28).chain(42..=50).map(|no| format!("t{no}")).collect();
    assert_eq!(turns, json!(wanted));
    visit.assert_quiet(&visit.origin());
}

#[test]
fn after_going_far_up_the_page_ends_there() {
    let home = Home::new();
    let (tale, _) = begun(&home);
    let site = Site::of(home);
    let Some(mut visit) = Visit::new(&site) else { return };
    // The last leaf is asked for, and is not there any more.
    visit.expect_status(404);
    visit.open(&tale.address());
    visit.eval("window.old = 1");
    visit.click("#t3 .menu > summary");
    visit.click("#t3 [data-act=goto]");
    visit.wait_shown("#act .act-form button[value=do]");
    visit.click("#act .act-form button[value=do]");
    visit.wait_shown("#act form.act-undo button");
    // Nobody is torn away from what was done, and how to take it back.
    assert_eq!(visit.eval("window.old"), 1);
    visit.press("Escape");
    visit.wait_for("!window.old && document.readyState === 'complete'");
    visit.wait_for("document.querySelectorAll('article.turn[id]').length === 3");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn who_does_not_look_holds_no_connection_and_misses_nothing() {
    let home = Home::new();
    let (mut tale, path) = begun(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    let turn = |hidden: bool| {
        visit.eval(&format!(
            "Object.defineProperty(document, 'hidden', {{ configurable: true, value: {hidden} }});
             document.dispatchEvent(new Event('visibilitychange'))"
        ))
    };
    turn(true);
    tale.prompt("Man overboard");
    append(&path, &tale.take());
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert_eq!(visit.count("#t41"), 0, "nobody listens");
    turn(false);
    visit.wait_for("document.getElementById('t41')");
    tale.prompt("Boat is lowered");
    append(&path, &tale.take());
    visit.wait_for("document.getElementById('t42')");
    visit.assert_quiet(&visit.origin());
}
