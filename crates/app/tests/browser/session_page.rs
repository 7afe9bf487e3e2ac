//! The page of a session: parts, branches, links, subagents, images, printing.

use rethread_testkit::browser::EmulatedMedia;
use rethread_testkit::web_server::WebServer;
use serde_json::json;

use crate::fixtures;
use crate::new_home;
use crate::server_page::{NARROW, ServerPage};
use crate::session_builder::SessionBuilder;

#[test]
fn calls_and_thinking_open_on_click_and_by_key() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    assert!(!page.text("#t1").contains("locker."), "thinking is closed");
    page.click("#t1 .thinking > summary");
    page.wait_for("document.querySelector('#t1 .thinking .md').innerText.includes('in the locker')");
    assert_eq!(page.count("#t1 .tool [data-src]"), 1, "only the long body is loaded on demand");
    page.click("#t1 .tool > summary");
    page.wait_for_text("#t1 .tool[open] .tool-body", "sounding 1: 1 fathoms");
    page.click("#t1 .tool[open] .more > summary");
    page.wait_for("document.querySelector('#t1 .tool-body').innerText.includes('sounding 900:')");
    page.assert_usable();
    page.open(&session.url_path());
    page.press("o");
    page.wait_for("document.querySelectorAll('#t1 details.part[open]').length === 3");
    page.press("o");
    page.wait_for("document.querySelectorAll('#t1 details.part[open]').length === 0");
    page.assert_problem_free();
}

#[test]
fn the_fork_switch_opens_other_branches_at_the_fork() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    assert!(page.text(".fork-switch").contains("3 of 3"), "{}", page.text(".fork-switch"));
    for (branch_number, prompt) in [(2, "Sail south"), (1, "Sail north")] {
        page.click(".fork-switch a[aria-label='Previous branch']");
        page.wait_for(&format!(
            "document.querySelector('.fork-switch')?.innerText.includes('{branch_number} of 3')"
        ));
        page.wait_in_view(".fork-switch");
        page.wait_in_view(".part.part-target");
        assert!(page.text(".part.part-target").contains(prompt), "{}", page.text(".part.part-target"));
    }
    page.click(".fork-switch a[aria-label='Next branch']");
    page.wait_for_text(".part.part-target", "Sail south");
    assert!(page.text("#main").contains("Far in the south") && !page.text("#main").contains("west"));
    assert!(page.text(".session-note").contains("one branch"), "{}", page.text(".session-note"));
    page.assert_usable();
    page.click(".session-note a");
    page.wait_for_text("#main", "Far in the west");
}

#[test]
fn a_link_to_a_turn_of_another_branch_opens_that_branch() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(mut page) = ServerPage::new(&server) else { return };
    // The page first requests the turn on the active branch.
    page.expect_status(404);
    page.open(&format!("{}?view=all", session.url_path()));
    let turn = page.eval(
        "[...document.querySelectorAll('article.turn[id]')].find(turn => turn.textContent.includes('Sail north')).id",
    );
    let turn = turn.as_str().unwrap().to_owned();
    page.open(&session.url_path());
    assert_eq!(page.count(&format!("#{turn}")), 0, "the turn is on another branch");
    // The page redirects by itself, so `open` cannot wait for its paint.
    page.goto("about:blank");
    page.goto(&page.address(&format!("{}#{turn}", session.url_path())));
    page.wait_for("location.search.startsWith('?tip=')");
    page.wait_for_text(&format!("article#{turn}"), "Sail north");
    page.wait_in_view(&format!("article#{turn}"));
    page.open(&format!("{}#t999", session.url_path()));
    page.wait_for_text("#toast", "There is no such turn");
    page.assert_problem_free();
}

#[test]
fn a_link_to_a_distant_turn_scrolls_to_it() {
    let home = new_home();
    let session = fixtures::write_long_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::new(&server) else { return };
    for turn in [12, 1234, fixtures::LONG_SESSION_TURNS] {
        page.open(&format!("{}#t{turn}", session.url_path()));
        let selector = format!("article#t{turn}");
        page.wait_in_view(&selector);
        page.wait_for_paint();
        page.wait_in_view(&selector);
        assert!(page.text(&selector).contains(&format!("Log of watch {turn}")));
        // The last turn cannot scroll to the top of the viewport.
        if turn < fixtures::LONG_SESSION_TURNS {
            let top = page.top_of(&selector);
            page.press("k");
            page.wait_for(&format!(
                "Math.abs(document.querySelector('article#t{}').getBoundingClientRect().top - {top}) < 2",
                turn - 1
            ));
        }
    }
    assert!(page.count("article.turn") < 600, "distant turns are not loaded: {}", page.count("article.turn"));
    page.assert_usable();
}

#[test]
fn subagents_open_in_place_and_inside_each_other() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.click("#t3 .tool > summary");
    page.wait_for_text("#t3 .agent", "said by the outer agent");
    page.click("#t3 .agent .tool > summary");
    page.wait_for_text("#t3 .agent .agent", "said by the inner agent");
    page.assert_usable();
    page.click_and_wait("[data-command=agents]", "#agents a");
    page.assert_accessible();
    page.click("#agents a");
    page.wait_for("location.pathname.includes('/agent/') && document.querySelector('.turn')");
    page.wait_for_text("#main", "said by the");
    page.assert_usable();
}

#[test]
fn a_line_link_refers_to_the_session_and_not_to_an_opened_subagent() {
    let home = new_home();
    let mut session = SessionBuilder::new("5");
    session.add_prompt("Send an agent");
    let task = json!({ "description": "Look around", "prompt": "Look", "subagent_type": "Explore" });
    let call = session.add_call("Task", &task, &json!("Seen"), &json!({ "agentId": "a0000001" }));
    let mut agent = session.new_subagent("a0000001");
    agent.add_prompt("Look");
    for idx in 2..=9 {
        agent.add_text(&format!("line {idx} of the agent"));
    }
    agent.write_subagent_to(&home, &call, "Explore");
    session.add_text("line 4 of the session");
    session.write_to(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.click("#t1 .tool > summary");
    page.wait_for_text("#t1 .agent", "line 4 of the agent");
    page.eval("location.hash = '#L4'");
    page.wait_for("document.querySelector('.part.part-target')");
    assert_eq!(page.text(".part.part-target"), "line 4 of the session");
    page.assert_problem_free();
}

#[test]
fn turns_links_and_the_resume_command_are_copied() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let file = std::fs::read_to_string(home.path().join(session.path_in_home())).unwrap();
    let server = WebServer::start(home);
    let Some(page) = ServerPage::new(&server) else { return };
    page.allow_clipboard(&page.origin());
    page.open(&session.url_path());
    // Notifications disappear after a while: record the last one.
    page.eval("rethread.notify = text => { window.notified = text; }");
    let click_and_read_clipboard = |button: &str, notification: &str| {
        page.wait_visible(button);
        page.click(button);
        page.wait_for(&format!("window.notified?.includes('{notification}')"));
        page.eval("window.notified = ''");
        page.clipboard_text()
    };
    let copy_turn = |format: &str| {
        page.click("#t2 .menu > summary");
        click_and_read_clipboard(&format!("#t2 [data-as={format}]"), "Copied")
    };
    let text = copy_turn("text");
    assert!(text.contains("Look at this chart") && text.contains("A small chart, three by two."), "{text}");
    let markdown = copy_turn("md");
    assert!(markdown.starts_with("## ") && markdown.contains("A small chart"), "{markdown}");
    let lines: Vec<&str> =
        file.lines().filter(|line| line.contains("chart\"") || line.contains("three by two")).collect();
    assert_eq!(copy_turn("json"), lines.join("\n"), "the lines are copied unchanged");
    page.click("#t2 .menu > summary");
    let link = click_and_read_clipboard("#t2 [data-command=link]", "Copied the link");
    assert_eq!(link, page.address(&format!("{}#t2", session.url_path())));
    let command = click_and_read_clipboard(".session-actions [data-command=copy-text]", "opied");
    assert!(command.contains("claude --resume") && command.contains(session.id()), "{command}");
    page.assert_problem_free();
}

#[test]
fn an_image_opens_in_a_dialog_and_closes() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.wait_for("document.querySelector('.image img').naturalWidth === 3");
    page.click_and_wait(".image", "dialog.lightbox img");
    page.assert_accessible();
    page.press("Escape");
    page.wait_for("!document.querySelector('dialog.lightbox')");
    page.assert_problem_free();
}

#[test]
fn the_theme_follows_the_system_until_the_user_chooses() {
    let server = WebServer::start_demo(new_home());
    let Some(page) = ServerPage::new(&server) else { return };
    let background = || page.eval("getComputedStyle(document.documentElement).backgroundColor").to_string();
    let light = background();
    page.emulate(EmulatedMedia { dark: true, ..EmulatedMedia::default() });
    let dark = background();
    assert_ne!(light, dark);
    page.click("[data-command=theme]");
    assert_eq!(background(), light, "the choice overrides the system");
    page.open("/sessions");
    assert_eq!(background(), light, "the choice is remembered");
    page.click("[data-command=theme]");
    assert_eq!(background(), dark);
    page.assert_problem_free();
}

#[test]
fn the_key_list_contains_the_keys_of_the_page() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::new(&server) else { return };
    for (target, expected, unexpected) in [
        ("/", "search all sessions", "turn"),
        (&*session.url_path(), "next turn", "session before"),
        ("/sessions", "next session", "presentation"),
    ] {
        page.open(target);
        page.eval("document.activeElement.blur()");
        page.press("?");
        page.wait_for_text("#keys", expected);
        page.wait_visible("#keys");
        assert!(!page.text("#keys").contains(unexpected), "{target} lists only its own keys");
        page.assert_accessible();
        page.close_dialog("keys");
    }
    page.assert_problem_free();
}

#[test]
fn printing_omits_controls() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.emulate(EmulatedMedia { print: true, ..EmulatedMedia::default() });
    page.wait_for_paint();
    let is_visible =
        |selector: &str| page.eval(&format!("document.querySelector('{selector}').checkVisibility()"));
    assert_eq!(is_visible("#t1"), true);
    for selector in [".bar", ".session-actions", ".menu", ".follow"] {
        assert_eq!(is_visible(selector), false, "{selector}");
    }
    page.assert_problem_free();
}

#[test]
fn printing_loads_all_chunks_and_uses_the_light_theme() {
    let home = new_home();
    let session = fixtures::write_long_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.click("[data-command=theme]");
    page.eval(
        "window.print = () => { window.pendingAtPrint = document.querySelectorAll('#main > .chunk-pending').length; }",
    );
    page.click(".session-actions .menu:has([data-command=print]) > summary");
    page.click("[data-command=print]");
    page.wait_for("window.pendingAtPrint === 0");
    assert_eq!(page.count("#main > .chunk > article.turn[id]"), fixtures::LONG_SESSION_TURNS as usize);
    let background = || page.eval("getComputedStyle(document.querySelector('#t1 .prompt')).backgroundColor");
    let dark = background();
    page.emulate(EmulatedMedia { print: true, ..EmulatedMedia::default() });
    page.wait_for_paint();
    assert_ne!(background(), dark, "the print style is light");
    page.assert_problem_free();
}

#[test]
fn the_find_box_opens_by_a_button() {
    let home = new_home();
    let session = fixtures::write_varied_session(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::new(&server) else { return };
    page.resize(NARROW, 760, true);
    page.open(&session.url_path());
    page.click_and_wait("[data-command=find]", "#find");
    page.type_text("sounding 900");
    page.wait_for_text(".find-position", "1 of 1");
    page.assert_usable();
}

#[test]
fn every_demo_page_is_accessible() {
    let server = WebServer::start_demo(new_home());
    let Some(page) = ServerPage::open_at(&server, "/sessions?all=1") else { return };
    let links =
        page.eval("[...document.querySelectorAll('.row-link')].map(link => link.getAttribute('href'))");
    let links = links.as_array().into_iter().flatten().filter_map(|link| link.as_str());
    let links: Vec<&str> = links.filter_map(|link| link.strip_prefix(server.prefix())).collect();
    assert!(links.len() > 3, "{links:?}");
    for target in ["/", "/sessions?all=1", "/search?q=tide", "/home/figures"].into_iter().chain(links) {
        page.open(target);
        page.resize(NARROW, 800, true);
        page.open_details("#main details");
        page.wait_for("!document.querySelector('[data-loading], details[open] > [data-src]')");
        page.assert_usable();
    }
}

#[test]
fn texts_that_no_user_typed_can_be_hidden() {
    let home = new_home();
    let mut session = SessionBuilder::new("000000000077");
    session.add_prompt("Take a sounding");
    session.add_prompt("<local-command-stdout>nine fathoms</local-command-stdout>");
    session.add_prompt("<task-notification>the anchor drags</task-notification>");
    session.add_answer_with_stop_reason("Deep enough", "end_turn");
    session.write_to(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    let untyped = ["nine fathoms", "the anchor drags"];
    assert!(untyped.iter().all(|text| page.text("#t1").contains(text)), "{}", page.text("#t1"));
    assert!(page.text("#t1 .turn-foot").contains("stopped: end_turn"), "{}", page.text("#t1"));
    page.click("input[name=only-typed]");
    page.wait_for("!document.querySelector('#t1').innerText.includes('nine fathoms')");
    let text = page.text("#t1");
    assert!(untyped.iter().all(|untyped| !text.contains(untyped)), "{text}");
    assert!(text.contains("Take a sounding") && text.contains("Deep enough"), "{text}");
    page.assert_usable();
    page.click("input[name=only-typed]");
    page.wait_for("document.querySelector('#t1').innerText.includes('nine fathoms')");
}
