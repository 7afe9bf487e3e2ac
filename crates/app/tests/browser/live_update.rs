//! A session that a client appends to while its page is open.

use std::path::PathBuf;

use rethread_testkit::home::Home;
use rethread_testkit::web_server::WebServer;
use serde_json::json;

use crate::new_home;
use crate::server_page::ServerPage;
use crate::session_builder::{SessionBuilder, append};

/// Writes a session of 40 turns.
fn write_orders_session(home: &Home) -> (SessionBuilder, PathBuf) {
    let mut session = SessionBuilder::new("7");
    for idx in 1..=40 {
        session.add_prompt(format!("Order {idx}"));
        session.add_text("Aye.\n\nAye.\n\nAye, captain.");
    }
    let path = session.write_to(home);
    (session, path)
}

/// The answer is longer than a page shows at once.
#[test]
fn opened_text_stays_open_and_is_found() {
    let home = new_home();
    let mut session = SessionBuilder::new("8");
    session.add_prompt("Read me the log");
    let log_entries: Vec<String> =
        (0..3000).map(|idx| format!("Day {idx}: nothing was seen but water and sky.")).collect();
    session.add_text(&log_entries.join("\n\n"));
    let path = session.write_to(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    assert!(!page.text("#main").contains("Day 2999:"));
    page.press("f");
    page.type_text("Day 2998:");
    page.wait_for("CSS.highlights.get('match')?.size === 1");
    page.wait_for("document.querySelector('#main details.more').open");
    page.press("Escape");
    let scroll_before = page.eval("scrollY");
    assert!(scroll_before.as_f64() > Some(20_000.0), "{scroll_before}");
    session.add_prompt("And the day after");
    session.append_to(&path);
    page.wait_for_text("#main", "And the day after");
    page.wait_for_paint();
    assert_eq!(page.count("#main details.more[open]"), 1, "the text stays open");
    assert_eq!(page.eval("scrollY"), scroll_before);
    page.assert_problem_free();
}

#[test]
fn new_turns_appear_without_moving_the_displayed_text() {
    let home = new_home();
    let (mut session, path) = write_orders_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &format!("{}#t20", session.url_path())) else { return };
    page.wait_in_view("#t20");
    page.wait_for_paint();
    page.wait_for_paint();
    let top_before = page.top_of("#t20");
    session.add_prompt("Man overboard");
    session.add_text("Boat is lowered.");
    session.append_to(&path);
    page.wait_for_text("#t41", "Boat is lowered");
    page.wait_visible("[data-command=newest]");
    page.wait_for_paint();
    let offset = page.top_of("#t20") - top_before;
    assert!(offset.abs() < 1.5, "the text moved by {offset}");
    page.wait_for_text(".session-header", "41 turns");
    page.assert_usable();
    page.click("[data-command=newest]");
    page.wait_in_view("#t41");
    page.wait_for("document.querySelector('[data-command=newest]').hidden");
    page.assert_problem_free();
}

#[test]
fn following_keeps_the_newest_turn_in_view() {
    let home = new_home();
    let (mut session, path) = write_orders_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.click("input[name=follow]");
    page.wait_in_view("#t40");
    // The client writes a line in two steps.
    session.add_prompt("Full speed");
    let first = session.take_lines();
    session.add_prompt("Slow ahead");
    let line = session.take_lines();
    let (first_half, second_half) = line.split_at(line.len() / 2);
    append(&path, &format!("{first}{first_half}"));
    page.wait_for_turn(41);
    assert_eq!(page.count("#t42"), 0, "an incomplete line is not displayed");
    append(&path, second_half);
    page.wait_for_turn(42);
    page.wait_in_view("#t42");
    // Opened parts stay open while the turn grows.
    session.add_thinking("The engine is *warm*.");
    session.append_to(&path);
    page.wait_for("document.querySelector('#t42 .thinking')");
    page.open_details("#t42 .thinking");
    session.add_text("Slow it is.");
    for idx in 43..60 {
        session.add_prompt(format!("Order {idx}"));
        session.add_text("Aye.");
    }
    session.append_to(&path);
    page.wait_for_turn(59);
    page.wait_in_view("#t59");
    assert_eq!(page.count("#t42 .thinking[open]"), 1);
    page.wait_for_text("#t42", "Slow it is.");
    assert_eq!(page.count("article.turn[id]"), 59, "each turn is displayed once");
    // Scrolling up ends following.
    page.eval("scrollTo({ top: 0, behavior: 'instant' })");
    page.wait_for("!document.querySelector('input[name=follow]').checked");
    page.assert_problem_free();
}

#[test]
fn an_opened_call_receives_its_result_and_stays_open() {
    let home = new_home();
    let (mut session, path) = write_orders_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.click("input[name=follow]");
    session.add_prompt("Take the soundings");
    let bash_call = session.start_call("Bash", &json!({ "command": "sound --all" }));
    session.append_to(&path);
    page.wait_for("document.querySelector('#t41 .tool')");
    page.open_details("#t41 .tool");
    session.finish_call(&bash_call, &json!("nine fathoms"), &json!({}));
    let options = json!([{ "label": "Ebb", "description": "" }, { "label": "Flood", "description": "" }]);
    let question = json!({ "question": "Which tide?", "header": "Tide", "options": options });
    let question_call = session.start_call("AskUserQuestion", &json!({ "questions": [question] }));
    session.append_to(&path);
    page.wait_for_text("#t41 .tool[open]", "nine fathoms");
    page.wait_for_text("#t41 .tool[open]", "Which tide?");
    session.finish_call(
        &question_call,
        &json!("User has answered your questions: \"Which tide?\"=\"the spring tide\"."),
        &json!({ "answers": { "Which tide?": "the spring tide" } }),
    );
    session.append_to(&path);
    page.wait_for_text("#t41 .tool[open]", "the spring tide");
    assert_eq!(page.count("#t41 .tool[open]"), 2);
    page.assert_problem_free();
}

#[test]
fn after_a_rewind_the_page_shows_the_active_path() {
    let home = new_home();
    let mut session = SessionBuilder::new("7");
    let mut tips = Vec::new();
    for idx in 1..=40 {
        session.add_prompt(format!("Order {idx}"));
        session.add_text("Aye.");
        tips.push(session.tip());
    }
    let path = session.write_to(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &format!("{}#t20", session.url_path())) else { return };
    page.wait_in_view("article#t20");
    page.eval("window.isOldPage = true");
    // The fork is in the last chunk: only that chunk is replaced.
    session.set_tip(tips[37].clone());
    session.add_prompt("Order 41");
    session.append_to(&path);
    page.wait_for("document.getElementById('t41') && !document.getElementById('t40')");
    assert_eq!(page.eval("window.isOldPage"), true);
    // The fork is in an earlier chunk, and the new path is longer: the page is loaded again.
    session.set_tip(tips[27].clone());
    for idx in 42..=50 {
        session.add_prompt(format!("Order {idx}"));
        session.add_text("Aye.");
    }
    session.append_to(&path);
    page.wait_for("!window.isOldPage && document.getElementById('t50')");
    page.wait_in_view("article#t20");
    page.eval("document.documentElement.scrollTo(0, document.documentElement.scrollHeight)");
    page.wait_for("!document.querySelector('.chunk-pending')");
    let turns = page.eval("[...document.querySelectorAll('article.turn[id]')].map(turn => turn.id)");
    let expected: Vec<String> = (1..=28).chain(42..=50).map(|idx| format!("t{idx}")).collect();
    assert_eq!(turns, json!(expected));
    page.assert_problem_free();
}

#[test]
fn after_goto_an_early_turn_the_page_ends_there() {
    let home = new_home();
    let (session, _) = write_orders_session(&home);
    let server = WebServer::start(home);
    let Some(mut page) = ServerPage::new(&server) else { return };
    // The page requests its last chunk, which no longer exists.
    page.expect_status(404);
    page.open(&session.url_path());
    page.eval("window.isOldPage = true");
    page.open_goto_dialog("#t3");
    page.confirm_action();
    // The page is not reloaded while the dialog shows the result and the undo button.
    assert_eq!(page.eval("window.isOldPage"), true);
    page.press("Escape");
    page.wait_for("!window.isOldPage && document.readyState === 'complete'");
    page.wait_for("document.querySelectorAll('article.turn[id]').length === 3");
    page.assert_problem_free();
}

#[test]
fn hidden_pages_disconnect_and_catch_up_when_visible() {
    let home = new_home();
    let (mut session, path) = write_orders_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    let set_hidden = |hidden: bool| {
        page.eval(&format!(
            "Object.defineProperty(document, 'hidden', {{ configurable: true, value: {hidden} }});
             document.dispatchEvent(new Event('visibilitychange'))"
        ))
    };
    let Some(visible_page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    set_hidden(true);
    session.add_prompt("Man overboard");
    session.append_to(&path);
    visible_page.wait_for_turn(41);
    assert_eq!(page.count("#t41"), 0, "a hidden page is not connected");
    set_hidden(false);
    page.wait_for_turn(41);
    session.add_prompt("Boat is lowered");
    session.append_to(&path);
    page.wait_for_turn(42);
    page.assert_problem_free();
}
