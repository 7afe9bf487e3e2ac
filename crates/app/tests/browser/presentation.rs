//! The presentation mode: turns are revealed part by part.

use rethread_testkit::web_server::WebServer;
use serde_json::json;

use crate::fixtures;
use crate::new_home;
use crate::server_page::{NARROW, ServerPage};
use crate::session_builder::SessionBuilder;

#[test]
fn a_presentation_reveals_turns_part_by_part() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.press_and_wait("P", ".present");
    page.wait_for_text(".present-page", "Measure the depth");
    assert!(!page.text(".present-page").contains("Thinking"), "one part at a time");
    let read_progress =
        || page.eval("parseFloat(document.querySelector('.present-bar > div').style.width)").as_f64();
    let progress_before = read_progress();
    page.press("Space");
    page.wait_for_text(".present-page", "Thinking");
    assert!(read_progress() > progress_before, "{progress_before:?} {:?}", read_progress());
    page.assert_accessible();
    page.press("ArrowLeft");
    page.wait_for("!document.querySelector('.present-page').textContent.includes('Thinking')");
    page.press("ArrowDown");
    page.wait_for_text(".present-page", "Look at this chart");
    page.wait_for_text(".present-foot", "Turn 2, 2 of 5");
    page.press("ArrowRight");
    page.wait_for_text(".present-page", "three by two");
    // The keys arrive faster than the turns are loaded.
    for _ in 0..60 {
        page.press("ArrowRight");
    }
    page.wait_for_text(".present-page", "Far in the west");
    page.assert_usable();
    page.press("Escape");
    page.wait_for("!document.querySelector('.present')");
    page.wait_in_view("#main .turn:last-child");
    page.assert_problem_free();
}

#[test]
fn a_presentation_works_by_clicks_and_scrolls_through_tall_parts() {
    let home = new_home();
    let mut session = SessionBuilder::new("5");
    let rules: Vec<String> = (0..200).map(|idx| format!("Rule {idx} of the ship.")).collect();
    session.add_prompt(rules.join("\n\n"));
    session.add_call("Bash", &json!({ "command": "ring --bell" }), &json!("ding dong"), &json!({}));
    session.add_text("Understood.");
    session.write_to(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::new(&server) else { return };
    page.resize(NARROW, 760, true);
    page.open(&session.url_path());
    page.click("[data-command=present]");
    page.wait_for_text(".present-page", "Rule 199");
    let end_is_visible = "(page => page.lastElementChild.getBoundingClientRect().bottom <= page.getBoundingClientRect().bottom + 9)\
        (document.querySelector('.present-page'))";
    assert_eq!(page.eval(end_is_visible), false, "the part is taller than the screen");
    let mut steps = 0;
    while page.count(".present-page > *") == 1 {
        page.click(".present-foot [aria-label='Next part']");
        page.wait_for_paint();
        steps += 1;
        assert!(
            steps < 100 && (page.count(".present-page > *") == 1 || steps > 5),
            "the part is scrolled to its end"
        );
    }
    page.wait_for("document.querySelector('.present-page > .tool').open");
    page.wait_for_text(".present-page .tool-body", "ding dong");
    page.press_and_wait("?", "#keys");
    page.close_dialog("keys");
    assert_eq!(page.count(".present"), 1, "only the list of keys was closed");
    // The page below it gets neither the focus nor key presses.
    page.press("/");
    page.press("j");
    assert_eq!(
        page.eval(
            "document.activeElement.closest('.present') !== null || document.activeElement === document.body"
        ),
        true
    );
    assert_eq!(
        page.eval("document.querySelector('.bar').inert && document.querySelector('#main').inert"),
        true
    );
    page.click(".present-foot [aria-label='Close the presentation']");
    page.wait_for("!document.querySelector('.present')");
    page.assert_problem_free();
}

#[test]
fn a_turn_of_several_chunks_is_presented_completely() {
    let home = new_home();
    let mut session = SessionBuilder::new("5");
    session.add_prompt("Inspect every cabin");
    for idx in 1..=150 {
        let command = json!({ "command": format!("inspect {idx}") });
        session.add_call("Bash", &command, &json!("clean"), &json!({}));
    }
    session.add_text("All cabins are clean.");
    session.add_prompt("And the bridge");
    session.add_text("The bridge, too.");
    session.write_to(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    assert!(page.count(".chunk-pending") > 3, "some chunks are not loaded yet");
    page.press_and_wait("P", ".present");
    page.wait_for_text(".present-foot", "Turn 1, 1 of 2");
    page.press("ArrowDown");
    page.wait_for_text(".present-page", "And the bridge");
    page.press("ArrowLeft");
    page.wait_for_text(".present-page", "All cabins are clean.");
    assert_eq!(page.count(".present-page .tool"), 150);
    page.press("ArrowRight");
    page.wait_for_text(".present-foot", "Turn 2, 2 of 2");
    page.assert_problem_free();
}

#[test]
fn the_f_key_toggles_full_screen() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.press_and_wait("P", ".present");
    page.press("F");
    page.wait_for("document.fullscreenElement?.matches('.present')");
    page.press("F");
    page.wait_for("!document.fullscreenElement");
    page.press("f");
    page.wait_for("document.fullscreenElement");
    page.press("Escape");
    page.wait_for("!document.fullscreenElement");
    page.assert_problem_free();
}
