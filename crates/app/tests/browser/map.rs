//! The map beside a session: its turns, the ways that leave them, and where one reads.

use crate::client::Site;
use crate::fixtures;
use crate::home::Home;
use crate::live_update::append;
use crate::server_page::Visit;

#[test]
fn a_map_shows_the_turns_and_the_ways_that_leave_them() {
    let home = Home::new();
    let mut tale = fixtures::varied(&home);
    let path = home.path().join(tale.file());
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.wait_shown("#map");
    let words = visit.text("#map");
    for said in
        ["Measure the depth", "Look at this chart", "Sail north", "Sail south", "Sail west", "resumes here"]
    {
        assert!(words.contains(said), "{said}: {words}");
    }
    assert_eq!((visit.count("#map .map-turn"), visit.count("#map .map-off")), (5, 2));
    visit.wait_for("document.querySelector('#map [aria-current]')?.dataset.turn === '1'");
    // One goes to a turn by its sign, and the map follows.
    visit.click("#map a[data-turn='3']");
    visit.wait_seen("#t3");
    visit.wait_for("document.querySelector('#map [aria-current]')?.dataset.turn === '3'");
    visit.check();
    // What is said at its end is on it as soon as it is told.
    tale.prompt("Drop the anchor");
    append(&path, &tale.take());
    visit.wait_said("#map .map-turn", "Drop the anchor");
    // Another way is read from where it leaves, and shows the way back.
    visit.click("#map .map-off a[title='Sail south']");
    visit.wait_said("#map .map-turn", "And on to the south");
    visit.wait_seen(".part.here");
    assert!(visit.text(".part.here").contains("Sail south"));
    assert_eq!(visit.count("#map .map-end"), 0, "the client does not go on from there");
    assert!(visit.text("#map .map-on").contains("Sail west"), "{}", visit.text("#map .map-on"));
    visit.assert_quiet(&visit.origin());
}

#[test]
fn the_switch_stays_where_it_is_pressed() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.eval("document.querySelector('.switch').scrollIntoView({ block: 'center' })");
    visit.settle();
    let before = visit.top(".switch");
    for way in [2, 1] {
        visit.click(".switch a[aria-label='Previous branch']");
        visit.wait_for(&format!("document.querySelector('.switch')?.innerText.includes('{way} of 3')"));
        visit.wait_for(&format!(
            "Math.abs(document.querySelector('.switch').getBoundingClientRect().top - {before}) < 3"
        ));
    }
    visit.assert_quiet(&visit.origin());
}
