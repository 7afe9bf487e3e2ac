//! Actions from a page: preview, confirmation, undo.

use std::path::PathBuf;

use rethread_testkit::home::Home;
use rethread_testkit::web_server::WebServer;
use serde_json::json;

use crate::new_home;
use crate::server_page::{CONFIRM_BUTTON, NARROW, ServerPage, UNDO_BUTTON};
use crate::session_builder::SessionBuilder;

/// Writes a session of three turns.
fn write_voyage_session(home: &Home) -> (SessionBuilder, PathBuf) {
    let mut session = SessionBuilder::new("3");
    for port in ["Bergen", "Leith", "Ghent"] {
        session.add_prompt(format!("Sail to {port}"));
        session.add_text(&format!("We are in {port}."));
    }
    let path = session.write_to(home);
    (session, path)
}

#[test]
fn goto_is_previewed_executed_and_undone() {
    let home = new_home();
    let (session, path) = write_voyage_session(&home);
    let before = std::fs::read(&path).unwrap();
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.click_and_wait("#t2 .menu > summary", "#t2 .menu-list");
    page.assert_accessible();
    page.click_and_wait("#t2 [data-action=goto]", CONFIRM_BUTTON);
    page.assert_usable();
    assert_eq!(std::fs::read(&path).unwrap(), before, "a preview changes nothing");
    page.confirm_action();
    let after = std::fs::read(&path).unwrap();
    assert!(after.len() > before.len() && after.starts_with(&before), "lines were appended");
    // The page below the dialog shows the new active path.
    page.wait_for("!document.querySelector('#main').textContent.includes('Ghent')");
    page.assert_accessible();
    page.click(UNDO_BUTTON);
    page.wait_for("document.querySelector('#main').textContent.includes('Ghent')");
    assert_eq!(std::fs::read(&path).unwrap(), before, "every byte is restored");
    page.close_dialog("action-dialog");
    page.assert_usable();
}

#[test]
fn the_result_is_shown_even_if_the_dialog_was_closed_meanwhile() {
    let home = new_home();
    let (session, path) = write_voyage_session(&home);
    let before = std::fs::read(&path).unwrap();
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    // Hold back the responses to forms until the test delivers them.
    page.eval(
        "(originalFetch => { window.fetch = async (...args) => {
            const response = await originalFetch(...args);
            if (args[1]?.method === 'POST') await new Promise(resolve => { window.deliver = resolve; });
            return response;
        }; })(fetch)",
    );
    page.open_goto_dialog("#t2");
    page.click(CONFIRM_BUTTON);
    page.wait_for("window.deliver");
    page.press("Escape");
    // The dialog closes before its `close` event is handled.
    page.wait_for("!document.getElementById('action-dialog').open && !document.querySelector('#action-dialog [aria-busy]')");
    assert_ne!(std::fs::read(&path).unwrap(), before, "the action was executed");
    page.eval("deliver(); window.deliver = null");
    page.wait_visible(UNDO_BUTTON);
    page.click(UNDO_BUTTON);
    page.wait_for("window.deliver");
    page.eval("deliver()");
    page.wait_for_text("#action-dialog .action-title", "undone");
    assert_eq!(std::fs::read(&path).unwrap(), before, "every byte is restored");
    page.press("Escape");
    page.assert_usable();
}

#[test]
fn the_list_of_branches_is_reloaded_after_a_change() {
    let home = new_home();
    let session = crate::fixtures::write_varied_session(&home);
    let path = home.path().join(session.path_in_home());
    let before = std::fs::read(&path).unwrap();
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &format!("{}/branches", session.url_path())) else {
        return;
    };
    page.eval("window.changedKeys = []; document.addEventListener('rethread:changed', event => changedKeys.push(event.detail.key))");
    page.click_and_wait("[data-action=goto]", "#action-dialog .button-primary");
    assert_eq!(page.eval("document.activeElement.id"), "action-title");
    assert!(page.text("#action-dialog").contains("no line is changed"), "{}", page.text("#action-dialog"));
    page.resize(NARROW, 400, true);
    let buttons_are_visible = "document.querySelector('#action-dialog .action-buttons').getBoundingClientRect().bottom <= innerHeight";
    assert_eq!(page.eval(buttons_are_visible), true, "the buttons stay visible however long the plan is");
    page.resize(1280, 800, false);
    page.close_dialog("action-dialog");
    assert_eq!(page.eval("document.activeElement.dataset.action"), "goto", "the focus returns to the button");
    page.click_and_wait("[data-action=goto]", "#action-dialog .button-primary");
    page.confirm_action();
    page.undo_action();
    assert_eq!(std::fs::read(&path).unwrap(), before, "every byte is restored");
    assert_eq!(page.eval("changedKeys"), json!([session.id(), session.id()]));
    // The list does not update itself: the page is loaded again.
    page.eval("window.isOldPage = true");
    page.click("#action-dialog [data-command=leave]");
    page.wait_for(
        "!window.isOldPage && document.readyState === 'complete' && document.querySelector('.branch')",
    );
    page.assert_problem_free();
}

#[test]
fn two_branches_are_chosen_and_compared() {
    let home = new_home();
    let session = crate::fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &format!("{}/branches", session.url_path())) else {
        return;
    };
    assert_eq!(page.eval("document.querySelector('.branch-compare button').disabled"), true);
    for idx in [1, 2] {
        page.click(&format!(".branch:nth-child({idx}) .branch-select"));
    }
    page.click(".branch-compare button");
    page.wait_for("location.pathname.endsWith('/diff') && document.readyState === 'complete'");
    page.assert_usable();
    for (width, expected_columns) in [(1280, 2), (NARROW, 1)] {
        page.resize(width, 800, width == NARROW);
        let column_count = page.eval(
            "getComputedStyle(document.querySelector('.diff-row')).gridTemplateColumns.split(' ').length",
        );
        assert_eq!(column_count, expected_columns, "{width}");
    }
}

#[test]
fn actions_also_work_on_their_own_page() {
    let home = new_home();
    let session = crate::fixtures::write_varied_session(&home);
    let path = home.path().join(session.path_in_home());
    let before = std::fs::read(&path).unwrap();
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &format!("{}/action/goto?at=t2", session.url_path()))
    else {
        return;
    };
    page.assert_usable();
    page.click(".action-form .button-primary");
    page.wait_for("document.querySelector('[data-changed]') && document.readyState === 'complete'");
    page.assert_usable();
    assert!(std::fs::read(&path).unwrap().len() > before.len());
    page.open("/log");
    page.click(".action-undo button");
    page.wait_for_text("#action-dialog .action-title", "undone");
    assert_eq!(std::fs::read(&path).unwrap(), before, "every byte is restored");
    page.assert_problem_free();
}

#[test]
fn every_dialog_is_accessible_and_closes_with_escape() {
    let home = new_home();
    let session = crate::fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    for action in ["rename", "clone", "repair"] {
        page.click(".session-actions .menu:has([data-action]) > summary");
        page.click(&format!(".session-actions [data-action={action}]"));
        page.wait_for("document.getElementById('action-dialog')?.open && !document.querySelector('#action-dialog [aria-busy]')");
        if action == "rename" {
            let title_is_selected = page
                .eval("getSelection().toString() === document.querySelector('#action-dialog input[name=title]').value");
            assert_eq!(title_is_selected, true, "typing replaces the title");
        }
        page.assert_usable();
        page.close_dialog("action-dialog");
    }
    for view in ["branches", "branches?view=all", "tree"] {
        page.open(&format!("{}/{view}", session.url_path()));
        page.assert_usable();
    }
    page.open("/log");
    page.assert_usable();
}
