//! Scrolling through a long session: distant chunks are unloaded, and loaded again when they come into view.

use rethread_testkit::web_server::WebServer;

use crate::fixtures;
use crate::new_home;
use crate::server_page::ServerPage;

/// Scrolls down by four viewports at a time until a turn is reached.
fn scroll_down_to(page: &ServerPage<'_>, turn: u32) {
    let is_reached =
        format!("document.querySelector('article#t{turn}')?.getBoundingClientRect().top < innerHeight");
    for _ in 0..2000 {
        if page.eval(&is_reached) == true {
            return;
        }
        page.eval("scrollBy({ top: 4 * innerHeight, behavior: 'instant' })");
        page.wait_for("!document.querySelector('#main > [data-loading]')");
        page.wait_for_paint();
    }
    panic!("turn {turn} was never reached");
}

#[test]
fn distant_chunks_are_unloaded_and_loaded_again() {
    let home = new_home();
    let session = fixtures::write_long_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    scroll_down_to(&page, 50);
    page.click("article#t50 .tool > summary");
    page.wait_for_text("article#t50 .tool[open]", "nothing but hay");
    let height_script =
        "Math.round(document.querySelector('[data-chunk=\"12\"]').getBoundingClientRect().height)";
    scroll_down_to(&page, 200);
    let height_before = page.eval(height_script);
    scroll_down_to(&page, 700);
    page.wait_for("'pending' in document.querySelector('[data-chunk=\"12\"]').dataset");
    assert_eq!(page.eval(height_script), height_before, "the placeholder has the height of the chunk");
    assert!(page.count("article.turn") < 500, "{} turns are loaded", page.count("article.turn"));
    assert_eq!(page.count("article#t50 .tool[open]"), 1, "a chunk with an opened part stays loaded");
    page.eval("document.querySelector('[data-chunk=\"12\"]').scrollIntoView()");
    page.wait_for("document.querySelector('[data-chunk=\"12\"] > article.turn')");
    page.wait_for_paint();
    assert!(page.text("[data-chunk='12']").contains("Log of watch"), "{}", page.text("[data-chunk='12']"));
    page.assert_usable();
}
