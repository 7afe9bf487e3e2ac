//! Something is done from a page: it is shown first, done when somebody says so, and taken back.

use crate::client::Site;
use crate::home::Home;
use crate::tale::Tale;
use crate::visit::Visit;

#[test]
fn going_on_from_a_turn_is_shown_done_and_taken_back() {
    let home = Home::new();
    let mut tale = Tale::new("3");
    for port in ["Bergen", "Leith", "Ghent"] {
        tale.prompt(format!("Sail to {port}"));
        tale.says(&format!("We are in {port}."));
    }
    let path = tale.keep(&home);
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
fn every_dialog_can_be_used_by_everybody_and_left() {
    let home = Home::new();
    let tale = crate::store::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    for act in ["rename", "clone", "repair"] {
        visit.click(&format!(".session-actions [data-act={act}]"));
        visit.wait_for("document.getElementById('act')?.open && !document.querySelector('#act [aria-busy]')");
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
