//! From the first page to the place that somebody looks for, and back.

use crate::client::Site;
use crate::fixtures;
use crate::home::Home;
use crate::server_page::Visit;
use crate::session_builder::Tale;

#[test]
fn hits_come_while_typing_and_lead_to_their_place() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    fixtures::short(&home, 5);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.wait_shown(".home-search input");
    visit.click(".home-search input");
    visit.type_text("sailing wes");
    // Hits of fewer letters came before: those of all letters are waited for.
    visit.wait_for(
        "[...document.querySelectorAll('.hits a')].some(link => new URL(link.href).searchParams.get('q') === 'sailing wes')",
    );
    visit.wait_said(".hits [role=option]", "Sailing west");
    visit.assert_accessible();
    visit.press("ArrowDown");
    visit.wait_for("document.querySelector('.hits [aria-selected=true]')");
    visit.press("Enter");
    visit.wait_for(&format!("location.pathname === '{}' && location.hash.startsWith('#L')", tale.address()));
    visit.wait_seen(".part.here");
    assert!(visit.text(".part.here").contains("Sailing west"), "{}", visit.text(".part.here"));
    visit.wait_for("CSS.highlights.get('found')?.size > 0");
    visit.check();
}

#[test]
fn an_address_may_say_anything_of_what_was_found() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    let long = "x".repeat(100_000);
    for words in ["%", "%zz+%F0%9F", "(+[+*", "%3Cscript%3E", long.as_str()] {
        visit.open(&format!("{}#L1:q={words}", tale.address()));
        visit.wait_seen("#t1 .part.here");
        visit.settle();
    }
    visit.assert_quiet(&visit.origin());
    visit.open(&format!("{}#L1:q=%zz+depth", tale.address()));
    visit.wait_for("CSS.highlights.get('found')?.size === 1");
}

#[test]
fn a_search_has_a_page_of_its_own() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open("/sessions");
    visit.press("/");
    visit.type_text("fathoms\n");
    visit.wait_for("location.pathname === '/search' && document.querySelector('a.found-link')");
    visit.check();
    visit.eval("document.activeElement.blur()");
    visit.press("j");
    visit.wait_for("document.activeElement.matches('a.found-link')");
    visit.press("Enter");
    visit.wait_for(&format!("location.pathname === '{}'", tale.address()));
    visit.assert_quiet(&visit.origin());
}

#[test]
fn the_way_back_leads_to_the_same_row() {
    let home = Home::new();
    fixtures::short(&home, 250);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open("/sessions?sort=oldest");
    visit.click("[data-more]");
    visit.wait_for("document.querySelectorAll('.row').length === 200");
    let row = ".row:nth-child(180)";
    visit.eval(&format!("document.querySelector('{row}').scrollIntoView({{ block: 'center' }})"));
    let (title, top) = (visit.text(&format!("{row} .row-link")), visit.top(row));
    visit.click(&format!("{row} .row-link"));
    visit.wait_for("location.pathname.startsWith('/s/') && document.querySelector('.turn')");
    visit.eval("history.back()");
    visit.wait_for("location.pathname === '/sessions' && document.querySelectorAll('.row').length === 200");
    visit.wait_said(".row-on .row-link", &title);
    visit.wait_for(&format!(
        "Math.abs(document.querySelector('{row}').getBoundingClientRect().top - {top}) < 2"
    ));
    visit.check();
}

#[test]
fn a_list_is_gone_through_with_keys_and_shows_what_is_in_it() {
    let home = Home::new();
    fixtures::varied(&home);
    fixtures::short(&home, 3);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open("/sessions");
    visit.press("j");
    visit.press("j");
    visit.wait_for("[...document.querySelectorAll('.row')].indexOf(document.querySelector('.row-on')) === 1");
    visit.press("p");
    visit.wait_shown("#preview");
    visit.assert_accessible();
    visit.press("Escape");
    visit.wait_for("document.getElementById('preview').hidden");
    visit.press("f");
    visit.wait_for("document.activeElement.matches('[data-filters] input')");
    visit.type_text("Measure\n");
    visit.wait_for("location.search.includes('Measure') && document.querySelectorAll('.row').length === 1");
    visit.check();
}

#[test]
fn words_are_found_where_nothing_was_loaded_yet() {
    let home = Home::new();
    let tale = fixtures::long(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    let turn = format!("#t{}", fixtures::NEEDLE_TURN);
    assert_eq!(visit.count(&format!("article{turn}")), 0, "it is far down");
    visit.press("f");
    visit.type_text("needle lies");
    visit.wait_said(".find-at", "1 of 1");
    visit.wait_seen(&format!("article{turn} details.tool[open]"));
    visit.wait_for(
        "(range => range?.toString() === 'needle lies' && (box => box.height > 0 && box.top > 0 && box.bottom < innerHeight)\
         (range.getBoundingClientRect()))([...CSS.highlights.get('found') ?? []][0])",
    );
    visit.assert_accessible();
    visit.press("Escape");
    visit.wait_for("document.getElementById('find').hidden");
    visit.assert_quiet(&visit.origin());
}

/// Looks for words in the session that is open, in the place of those before.
#[track_caller]
fn look(visit: &Visit<'_>, words: &str) {
    visit.eval("document.querySelector('#find input').select()");
    visit.press("Backspace");
    visit.type_text(words);
}

#[test]
fn words_that_are_typed_and_deleted_leave_the_page_alive() {
    let home = Home::new();
    let mut tale = Tale::new("5");
    tale.prompt("İİİİ comes before the harbour");
    tale.says("a+b (or c?) is the harbour, and HARBOUR again");
    tale.keep(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.press("f");
    let marked = |words: &[&str]| {
        visit.wait_for(&format!(
            "JSON.stringify([...CSS.highlights.get('found') ?? []].map(String)) === JSON.stringify({})",
            serde_json::json!(words)
        ));
    };
    visit.type_text("harbour");
    visit.wait_said(".find-at", "1 of 2");
    marked(&["harbour"]);
    visit.press("Enter");
    visit.wait_said(".find-at", "2 of 2");
    marked(&["harbour", "HARBOUR"]);
    // Nothing is marked for words that are gone meanwhile.
    look(&visit, "before");
    visit.wait_said(".find-at", "1 of 1");
    look(&visit, "");
    visit.wait_for("document.querySelector('.find-at').textContent === ''");
    marked(&[]);
    look(&visit, "b (or c?)");
    marked(&["b (or c?)"]);
    look(&visit, "nowhere");
    visit.wait_said(".find-at", "none");
    visit.press("Escape");
    visit.wait_for("document.getElementById('find').hidden");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn more_hits_than_are_listed_are_counted() {
    let home = Home::new();
    let tale = fixtures::long(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.press("f");
    visit.type_text("log of watch");
    visit.wait_said(".find-at", "1 of 500 (the first 500 of 2,000)");
    visit.assert_quiet(&visit.origin());
}
