//! A long session is scrolled through: what was read long ago is given back, and is there again when it is looked at.

use crate::client::Site;
use crate::fixtures;
use crate::home::Home;
use crate::server_page::Visit;

/// Goes down by a few windows at a time until a turn stands in the window.
fn down_to(visit: &Visit<'_>, turn: u32) {
    let there =
        format!("document.querySelector('article#t{turn}')?.getBoundingClientRect().top < innerHeight");
    for _ in 0..2000 {
        if visit.eval(&there) == true {
            return;
        }
        visit.eval("scrollBy({ top: 4 * innerHeight, behavior: 'instant' })");
        visit.wait_for("!document.querySelector('#main > [data-loading]')");
        visit.settle();
    }
    panic!("turn {turn} was never reached");
}

#[test]
fn what_was_read_long_ago_is_given_back_and_comes_again() {
    let home = Home::new();
    let tale = fixtures::long(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    down_to(&visit, 50);
    visit.click("article#t50 .tool > summary");
    visit.wait_said("article#t50 .tool[open]", "nothing but hay");
    let height = "Math.round(document.querySelector('[data-leaf=\"12\"]').getBoundingClientRect().height)";
    down_to(&visit, 200);
    let before = visit.eval(height);
    down_to(&visit, 700);
    visit.wait_for("'later' in document.querySelector('[data-leaf=\"12\"]').dataset");
    assert_eq!(visit.eval(height), before, "its place is as high as it was");
    assert!(visit.count("article.turn") < 500, "{} turns are held", visit.count("article.turn"));
    assert_eq!(visit.count("article#t50 .tool[open]"), 1, "where somebody unfolded something, it stays");
    visit.eval("document.querySelector('[data-leaf=\"12\"]').scrollIntoView()");
    visit.wait_for("document.querySelector('[data-leaf=\"12\"] > article.turn')");
    visit.settle();
    assert!(visit.text("[data-leaf='12']").contains("Log of watch"), "{}", visit.text("[data-leaf='12']"));
    visit.check();
}
