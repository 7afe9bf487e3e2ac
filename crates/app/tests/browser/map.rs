//! The map next to a session: its turns, the branches at each fork, and the current turn.

use rethread_testkit::web_server::WebServer;

use crate::fixtures;
use crate::new_home;
use crate::server_page::ServerPage;

#[test]
fn the_map_lists_turns_and_branches_and_marks_the_current_turn() {
    let home = new_home();
    let mut session = fixtures::write_varied_session(&home);
    let path = home.path().join(session.path_in_home());
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.wait_visible("#map");
    let map_text = page.text("#map");
    for expected in
        ["Measure the depth", "Look at this chart", "Sail north", "Sail south", "Sail west", "resumes here"]
    {
        assert!(map_text.contains(expected), "{expected}: {map_text}");
    }
    assert_eq!((page.count("#map .map-turn"), page.count("#map .map-branch")), (5, 2));
    page.wait_for("document.querySelector('#map [aria-current]')?.dataset.turn === '1'");
    // A click scrolls to the turn, which becomes the current one.
    page.click("#map a[data-turn='3']");
    page.wait_in_view("#t3");
    page.wait_for("document.querySelector('#map [aria-current]')?.dataset.turn === '3'");
    page.assert_usable();
    // Turns that the client appends are added to the map.
    session.add_prompt("Drop the anchor");
    session.append_to(&path);
    page.wait_for_text("#map .map-turn", "Drop the anchor");
    // Another branch opens at its fork, and its map lists the active branch.
    page.click("#map .map-branch a[title='Sail south']");
    page.wait_for_text("#map .map-turn", "And on to the south");
    page.wait_in_view(".part.part-target");
    assert!(page.text(".part.part-target").contains("Sail south"));
    assert_eq!(page.count("#map .map-resume-point"), 0, "the branch has no resume point");
    assert!(
        page.text("#map .map-branch-active").contains("Sail west"),
        "{}",
        page.text("#map .map-branch-active")
    );
    page.assert_problem_free();
}

#[test]
fn the_fork_switch_keeps_its_position_on_the_screen() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.eval("document.querySelector('.fork-switch').scrollIntoView({ block: 'center' })");
    page.wait_for_paint();
    let before = page.top_of(".fork-switch");
    for branch_number in [2, 1] {
        page.click(".fork-switch a[aria-label='Previous branch']");
        page.wait_for(&format!(
            "document.querySelector('.fork-switch')?.innerText.includes('{branch_number} of 3')"
        ));
        page.wait_for(&format!(
            "Math.abs(document.querySelector('.fork-switch').getBoundingClientRect().top - {before}) < 3"
        ));
    }
    page.assert_problem_free();
}
