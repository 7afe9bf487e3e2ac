//! Something is done from a page: it is shown first, done when somebody says so, and taken back.

use std::path::PathBuf;

use serde_json::json;

use crate::client::Site;
use crate::home::Home;
use crate::server_page::{NARROW, Visit};
use crate::session_builder::Tale;

/// Writes a session of three turns.
fn voyage(home: &Home) -> (Tale, PathBuf) {
    let mut tale = Tale::new("3");
    for port in ["Bergen", "Leith", "Ghent"] {
        tale.prompt(format!("Sail to {port}"));
        tale.says(&format!("We are in {port}."));
    }
    let path = tale.keep(home);
    (tale, path)
}

#[test]
fn going_on_from_a_turn_is_shown_done_and_taken_back() {
    let home = Home::new();
    let (tale, path) = voyage(&home);
    let before = std::fs::read(&path).unwrap();
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.click("#t2 .menu > summary");
    visit.wait_shown("#t2 .menu-list");
    visit.assert_accessible();
    visit.click("#t2 [data-act=goto]");
    visit.wait_shown("#act .act-form button[value=do]");
    visit.check();
    assert_eq!(std::fs::read(&path).unwrap(), before, "a preview changes nothing");
    visit.click("#act .act-form button[value=do]");
    visit.wait_shown("#act form.act-undo button");
    let after = std::fs::read(&path).unwrap();
    assert!(after.len() > before.len() && after.starts_with(&before), "lines were appended");
    // The page behind the dialog shows what goes on now.
    visit.wait_for("!document.querySelector('#main').textContent.includes('Ghent')");
    visit.assert_accessible();
    visit.click("#act form.act-undo button");
    visit.wait_for("document.querySelector('#main').textContent.includes('Ghent')");
    assert_eq!(std::fs::read(&path).unwrap(), before, "as it was, byte for byte");
    visit.press("Escape");
    visit.wait_for("!document.getElementById('act').open");
    visit.check();
}

#[test]
fn what_was_done_is_told_to_who_closed_the_dialog_meanwhile() {
    let home = Home::new();
    let (tale, path) = voyage(&home);
    let before = std::fs::read(&path).unwrap();
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    // What the server answers to forms comes when the test says so.
    visit.eval(
        "(ask => { window.fetch = async (...of) => {
            const answer = await ask(...of);
            if (of[1]?.method === 'POST') await new Promise(go => { window.deliver = go; });
            return answer;
        }; })(fetch)",
    );
    visit.click("#t2 .menu > summary");
    visit.click("#t2 [data-act=goto]");
    visit.wait_shown("#act .act-form button[value=do]");
    visit.click("#act .act-form button[value=do]");
    visit.wait_for("window.deliver");
    visit.press("Escape");
    // A dialog is closed before it says so.
    visit.wait_for("!document.getElementById('act').open && !document.querySelector('#act [aria-busy]')");
    assert_ne!(std::fs::read(&path).unwrap(), before, "it was done");
    visit.eval("deliver(); window.deliver = null");
    visit.wait_shown("#act form.act-undo button");
    visit.click("#act form.act-undo button");
    visit.wait_for("window.deliver");
    visit.eval("deliver()");
    visit.wait_said("#act .act-title", "undone");
    assert_eq!(std::fs::read(&path).unwrap(), before, "as it was, byte for byte");
    visit.press("Escape");
    visit.check();
}

#[test]
fn a_list_of_branches_is_told_anew_after_a_change() {
    let home = Home::new();
    let tale = crate::fixtures::varied(&home);
    let path = home.path().join(tale.file());
    let before = std::fs::read(&path).unwrap();
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&format!("{}/branches", tale.address()));
    visit.eval("window.heard = []; document.addEventListener('rethread:changed', event => heard.push(event.detail.key))");
    visit.click("[data-act=goto]");
    visit.wait_shown("#act .button-main");
    assert_eq!(visit.eval("document.activeElement.id"), "act-title");
    assert!(visit.text("#act").contains("no line is changed"), "{}", visit.text("#act"));
    visit.resize(NARROW, 400, true);
    let seen = "document.querySelector('#act .act-buttons').getBoundingClientRect().bottom <= innerHeight";
    assert_eq!(visit.eval(seen), true, "the buttons stay in sight, however long the plan is");
    visit.resize(1280, 800, false);
    visit.press("Escape");
    visit.wait_for("!document.querySelector('#act').open");
    assert_eq!(visit.eval("document.activeElement.dataset.act"), "goto", "the focus goes back to the button");
    visit.click("[data-act=goto]");
    visit.wait_shown("#act .button-main");
    visit.click("#act .act-form .button-main");
    visit.wait_shown("#act form.act-undo button");
    visit.click("#act form.act-undo button");
    visit.wait_said("#act .act-title", "undone");
    assert_eq!(std::fs::read(&path).unwrap(), before, "every byte is back");
    assert_eq!(visit.eval("heard"), json!([tale.id(), tale.id()]));
    // The list itself does not look whether it is still true: it is loaded anew.
    visit.eval("window.old = 1");
    visit.click("#act [data-do=leave]");
    visit.wait_for("!window.old && document.readyState === 'complete' && document.querySelector('.branch')");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn two_branches_are_chosen_and_compared() {
    let home = Home::new();
    let tale = crate::fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&format!("{}/branches", tale.address()));
    assert_eq!(visit.eval("document.querySelector('.branch-compare button').disabled"), true);
    for no in [1, 2] {
        visit.click(&format!(".branch:nth-child({no}) .branch-pick"));
    }
    visit.click(".branch-compare button");
    visit.wait_for("location.pathname.endsWith('/diff') && document.readyState === 'complete'");
    visit.check();
    for (width, columns) in [(1280, 2), (NARROW, 1)] {
        visit.resize(width, 800, width == NARROW);
        let tracks = visit.eval(
            "getComputedStyle(document.querySelector('.sides-row')).gridTemplateColumns.split(' ').length",
        );
        assert_eq!(tracks, columns, "{width}");
    }
}

#[test]
fn a_page_of_its_own_does_the_same_without_the_dialog() {
    let home = Home::new();
    let tale = crate::fixtures::varied(&home);
    let path = home.path().join(tale.file());
    let before = std::fs::read(&path).unwrap();
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&format!("{}/act/goto?at=t2", tale.address()));
    visit.check();
    visit.click(".act-form .button-main");
    visit.wait_for("document.querySelector('[data-changed]') && document.readyState === 'complete'");
    visit.check();
    assert!(std::fs::read(&path).unwrap().len() > before.len());
    visit.open("/log");
    visit.click(".act-undo button");
    visit.wait_said("#act .act-title", "undone");
    assert_eq!(std::fs::read(&path).unwrap(), before, "every byte is back");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn every_dialog_can_be_used_by_everybody_and_left() {
    let home = Home::new();
    let tale = crate::fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    for act in ["rename", "clone", "repair"] {
        visit.click(".session-actions .menu:has([data-act]) > summary");
        visit.click(&format!(".session-actions [data-act={act}]"));
        visit.wait_for("document.getElementById('act')?.open && !document.querySelector('#act [aria-busy]')");
        if act == "rename" {
            let chosen = visit
                .eval("getSelection().toString() === document.querySelector('#act input[name=title]').value");
            assert_eq!(chosen, true, "what is typed takes the place of the title");
        }
        visit.check();
        visit.press("Escape");
        visit.wait_for("!document.getElementById('act').open");
    }
    for page in ["branches", "branches?view=all", "tree"] {
        visit.open(&format!("{}/{page}", tale.address()));
        visit.check();
    }
    visit.open("/log");
    visit.check();
}
