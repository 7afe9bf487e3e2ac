//! Search, the list of sessions, and finding text in a session.

use rethread_testkit::web_server::WebServer;

use crate::fixtures;
use crate::new_home;
use crate::server_page::ServerPage;
use crate::session_builder::SessionBuilder;

#[test]
fn suggestions_appear_while_typing_and_open_their_entry() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    fixtures::write_short_sessions(&home, 5);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::new(&server) else { return };
    page.wait_visible(".home-search input");
    page.click(".home-search input");
    page.type_text("sailing wes");
    // Wait for the results of the whole query, not of its prefixes.
    page.wait_for(
        "[...document.querySelectorAll('.hits a')].some(link => new URL(link.href).searchParams.get('q') === 'sailing wes')",
    );
    page.wait_for_text(".hits [role=option]", "Sailing west");
    page.assert_accessible();
    page.press("ArrowDown");
    page.wait_for("document.querySelector('.hits [aria-selected=true]')");
    page.press("Enter");
    page.wait_for(&format!("{} && location.hash.startsWith('#L')", page.is_at(&session.url_path())));
    page.wait_in_view(".part.part-target");
    assert!(page.text(".part.part-target").contains("Sailing west"), "{}", page.text(".part.part-target"));
    page.wait_for("CSS.highlights.get('match')?.size > 0");
    page.assert_usable();
}

#[test]
fn any_highlight_text_in_the_url_is_accepted() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::new(&server) else { return };
    let long_text = "x".repeat(100_000);
    for text in ["%", "%zz+%F0%9F", "(+[+*", "%3Cscript%3E", long_text.as_str()] {
        page.open(&format!("{}#L1:q={text}", session.url_path()));
        page.wait_in_view("#t1 .part.part-target");
        page.wait_for_paint();
    }
    page.assert_problem_free();
    page.open(&format!("{}#L1:q=%zz+depth", session.url_path()));
    page.wait_for("CSS.highlights.get('match')?.size === 1");
}

#[test]
fn search_results_have_their_own_page() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, "/sessions") else { return };
    page.press("/");
    page.type_text("fathoms\n");
    page.wait_for(&format!("{} && document.querySelector('a.result-link')", page.is_at("/search")));
    page.assert_usable();
    page.eval("document.activeElement.blur()");
    page.press("j");
    page.wait_for("document.activeElement.matches('a.result-link')");
    page.press("Enter");
    page.wait_for(&page.is_at(&session.url_path()));
    page.assert_problem_free();
}

#[test]
fn going_back_restores_the_selected_row() {
    let home = new_home();
    fixtures::write_short_sessions(&home, 250);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, "/sessions?sort=oldest") else { return };
    page.click("[data-more]");
    page.wait_for("document.querySelectorAll('.row').length === 200");
    let row = ".row:nth-child(180)";
    page.eval(&format!("document.querySelector('{row}').scrollIntoView({{ block: 'center' }})"));
    let (title, top) = (page.text(&format!("{row} .row-link")), page.top_of(row));
    page.click(&format!("{row} .row-link"));
    page.wait_for("location.pathname.includes('/s/') && document.querySelector('.turn')");
    page.eval("history.back()");
    page.wait_for(&format!(
        "{} && document.querySelectorAll('.row').length === 200",
        page.is_at("/sessions")
    ));
    page.wait_for_text(".row-selected .row-link", &title);
    page.wait_for(&format!(
        "Math.abs(document.querySelector('{row}').getBoundingClientRect().top - {top}) < 2"
    ));
    page.assert_usable();
}

#[test]
fn the_list_is_navigated_previewed_and_filtered_by_keys() {
    let home = new_home();
    fixtures::write_varied_session(&home);
    fixtures::write_short_sessions(&home, 3);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, "/sessions") else { return };
    page.press("j");
    page.press("j");
    page.wait_for(
        "[...document.querySelectorAll('.row')].indexOf(document.querySelector('.row-selected')) === 1",
    );
    page.press_and_wait("p", "#preview");
    page.assert_accessible();
    page.press("Escape");
    page.wait_for("document.getElementById('preview').hidden");
    page.press("f");
    page.wait_for("document.activeElement.matches('[data-filters] input')");
    page.type_text("Measure\n");
    page.wait_for("location.search.includes('Measure') && document.querySelectorAll('.row').length === 1");
    page.assert_usable();
}

#[test]
fn text_is_found_in_chunks_that_are_not_loaded() {
    let home = new_home();
    let session = fixtures::write_long_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    let turn = format!("#t{}", fixtures::NEEDLE_TURN);
    assert_eq!(page.count(&format!("article{turn}")), 0, "the turn is not loaded");
    page.press("f");
    page.type_text("needle lies");
    page.wait_for_text(".find-position", "1 of 1");
    page.wait_in_view(&format!("article{turn} details.tool[open]"));
    page.wait_for(
        "(range => range?.toString() === 'needle lies' && (box => box.height > 0 && box.top > 0 && box.bottom < innerHeight)\
         (range.getBoundingClientRect()))([...CSS.highlights.get('match') ?? []][0])",
    );
    page.assert_accessible();
    page.press("Escape");
    page.wait_for("document.getElementById('find').hidden");
    page.assert_problem_free();
}

/// Replaces the text in the find box.
#[track_caller]
fn replace_find_text(page: &ServerPage<'_>, text: &str) {
    page.eval("document.querySelector('#find input').select()");
    page.press("Backspace");
    page.type_text(text);
}

#[test]
fn changing_the_find_text_updates_the_highlights() {
    let home = new_home();
    let mut session = SessionBuilder::new("5");
    session.add_prompt("İİİİ comes before the harbour");
    session.add_text("a+b (or c?) is the harbour, and HARBOUR again");
    session.write_to(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.press("f");
    let wait_for_highlights = |text: &[&str]| {
        page.wait_for(&format!(
            "JSON.stringify([...CSS.highlights.get('match') ?? []].map(String)) === JSON.stringify({})",
            serde_json::json!(text)
        ));
    };
    page.type_text("harbour");
    page.wait_for_text(".find-position", "1 of 2");
    wait_for_highlights(&["harbour"]);
    page.press("Enter");
    page.wait_for_text(".find-position", "2 of 2");
    wait_for_highlights(&["harbour", "HARBOUR"]);
    // An empty find box has no highlights.
    replace_find_text(&page, "before");
    page.wait_for_text(".find-position", "1 of 1");
    replace_find_text(&page, "");
    page.wait_for("document.querySelector('.find-position').textContent === ''");
    wait_for_highlights(&[]);
    replace_find_text(&page, "b (or c?)");
    wait_for_highlights(&["b (or c?)"]);
    replace_find_text(&page, "nowhere");
    page.wait_for_text(".find-position", "none");
    page.press("Escape");
    page.wait_for("document.getElementById('find').hidden");
    page.assert_problem_free();
}

#[test]
fn matches_beyond_the_limit_are_counted() {
    let home = new_home();
    let session = fixtures::write_long_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.press("f");
    page.type_text("log of watch");
    page.wait_for_text(".find-position", "1 of 500 (the first 500 of 2,000)");
    page.assert_problem_free();
}
