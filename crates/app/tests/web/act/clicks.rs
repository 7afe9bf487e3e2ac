//! A reader moves the point of a session with the mouse, and takes it back.

use super::deck::{Deck, EDITED, SESSION};
use rethread_testkit::browser::Browser;

const OPEN: &str = "document.querySelector('#act')?.open === true";

#[test]
fn a_point_is_moved_and_taken_back_by_clicks() {
    let Some(browser) = Browser::shared() else { return };
    let deck = Deck::new(EDITED);
    let before = deck.session();
    let page = browser.page();
    page.goto(&deck.entry());
    page.goto(&format!("{}/s/{SESSION}/branches", deck.origin()));
    page.assert_accessible();
    page.eval("window.heard = []; document.addEventListener('rethread:changed', (event) => heard.push(event.detail.key))");

    page.click("[data-act=goto]");
    page.wait_for(&format!("{OPEN} && document.querySelector('#act .button-main') !== null"));
    page.assert_accessible();
    assert_eq!(page.eval("document.activeElement.id"), "act-title");
    assert!(page.text("#act").contains("no line is changed"), "{}", page.text("#act"));
    page.resize(360, 400, true);
    let seen = "document.querySelector('#act .act-buttons').getBoundingClientRect().bottom <= innerHeight";
    assert_eq!(page.eval(seen), true, "the buttons stay in sight, however long the plan is");
    page.resize(1280, 800, false);
    page.press("Escape");
    page.wait_for("!document.querySelector('#act').open");
    assert_eq!(page.eval("document.activeElement.dataset.act"), "goto", "the focus goes back to the button");
    assert_eq!(deck.session(), before);

    page.click("[data-act=goto]");
    page.wait_for(&format!("{OPEN} && document.querySelector('#act .button-main') !== null"));
    page.click("#act .act-form .button-main");
    page.wait_for("document.querySelector('#act [data-changed]') !== null");
    page.assert_accessible();
    assert!(deck.session().len() > before.len());
    page.click("#act .act-undo button");
    page.wait_for("document.querySelector('#act .act-title').textContent.includes('undone')");
    assert_eq!(deck.session(), before, "every byte is back");
    assert_eq!(page.eval("heard"), serde_json::json!([SESSION, SESSION]));
    page.click("#act [data-do=leave]");
    page.wait_for("!document.querySelector('#act')?.open && document.readyState === 'complete'");
    page.assert_quiet(&deck.origin());
}

#[test]
fn two_branches_are_chosen_and_compared() {
    let Some(browser) = Browser::shared() else { return };
    let deck = Deck::new(EDITED);
    let page = browser.page();
    page.goto(&deck.entry());
    page.goto(&format!("{}/s/{SESSION}/branches", deck.origin()));
    assert_eq!(page.eval("document.querySelector('.branch-compare button').disabled"), true);
    for n in [1, 2] {
        page.click(&format!(".branch:nth-child({n}) .branch-pick"));
    }
    page.click(".branch-compare button");
    page.wait_for("location.pathname.endsWith('/diff') && document.readyState === 'complete'");
    page.assert_accessible();
    for (width, columns) in [(1280, 2), (360, 1)] {
        page.resize(width, 800, width < 700);
        let tracks = page.eval(
            "getComputedStyle(document.querySelector('.sides-row')).gridTemplateColumns.split(' ').length",
        );
        assert_eq!(tracks, columns, "{width}");
        assert_eq!(page.eval("document.documentElement.scrollWidth <= innerWidth"), true, "{width}");
    }
    page.goto(&format!("{}/s/{SESSION}/tree", deck.origin()));
    page.assert_accessible();
    page.assert_quiet(&deck.origin());
}

#[test]
fn a_page_of_its_own_does_the_same_without_the_dialog() {
    let Some(browser) = Browser::shared() else { return };
    let deck = Deck::new(EDITED);
    let before = deck.session();
    let page = browser.page();
    page.goto(&deck.entry());
    page.goto(&format!("{}/s/{SESSION}/act/goto?at=L6", deck.origin()));
    page.assert_accessible();
    page.click(".act-form .button-main");
    page.wait_for("document.querySelector('[data-changed]') !== null && document.readyState === 'complete'");
    page.assert_accessible();
    assert!(deck.session().len() > before.len());
    page.goto(&format!("{}/log", deck.origin()));
    page.assert_accessible();
    page.click(".act-undo button");
    page.wait_for("document.querySelector('#act .act-title')?.textContent.includes('undone') === true");
    assert_eq!(deck.session(), before, "every byte is back");
    page.assert_quiet(&deck.origin());
}
