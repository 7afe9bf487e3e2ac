//! A session that somebody works in while another reads it.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use crate::client::Site;
use crate::home::Home;
use crate::tale::Tale;
use crate::visit::Visit;

/// How soon a new turn is seen; the machine of a test may be slow, and this is no measurement.
const SOON: Duration = Duration::from_secs(10);

/// Writes a session of some turns.
fn begun(home: &Home) -> (Tale, std::path::PathBuf) {
    let mut tale = Tale::new("7");
    for no in 1..=40 {
        tale.prompt(format!("Order {no}"));
        tale.says("Aye.\n\nAye.\n\nAye, captain.");
    }
    let path = tale.keep(home);
    (tale, path)
}

#[expect(clippy::disallowed_methods, reason = "the test is the client that works in the session")]
fn append(path: &Path, lines: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(lines.as_bytes()).unwrap();
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
    visit.wait_within("document.getElementById('t41')?.textContent.includes('Boat is lowered')", SOON);
    visit.wait_shown("[data-do=newest]");
    visit.settle();
    let moved = visit.top("#t20") - before;
    assert!(moved.abs() < 1.5, "it moved by {moved}");
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
    let line = tale.take();
    let (half, rest) = line.split_at(line.len() / 2);
    append(&path, half);
    append(&path, rest);
    visit.wait_within("document.getElementById('t41')", SOON);
    visit.wait_seen("#t41");
    // What is open stays open while the turn goes on.
    tale.thinks("The engine is *warm*.");
    append(&path, &tale.take());
    visit.wait_within("document.querySelector('#t41 .think')", SOON);
    visit.unfold("#t41 .think");
    tale.says("Full speed it is.");
    for no in 42..60 {
        tale.prompt(format!("Order {no}"));
        tale.says("Aye.");
    }
    append(&path, &tale.take());
    visit.wait_within("document.getElementById('t59')", SOON);
    visit.wait_seen("#t59");
    assert_eq!(visit.count("#t41 .think[open]"), 1);
    visit.wait_said("#t41", "Full speed it is.");
    assert_eq!(visit.count("article.turn[id]"), 59, "each turn once");
    visit.assert_quiet(&visit.origin());
}
