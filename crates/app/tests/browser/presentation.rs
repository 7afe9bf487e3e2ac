//! A session is shown to others: one turn after the other, part by part.

use serde_json::json;

use crate::client::Site;
use crate::fixtures;
use crate::home::Home;
use crate::server_page::{NARROW, Visit};
use crate::session_builder::Tale;

#[test]
fn a_presentation_goes_part_by_part() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.press("P");
    visit.wait_shown(".present");
    visit.wait_said(".present-page", "Measure the depth");
    assert!(!visit.text(".present-page").contains("Thinking"), "one part at a time");
    let progress =
        || visit.eval("parseFloat(document.querySelector('.present-bar > div').style.width)").as_f64();
    let begin = progress();
    visit.press("Space");
    visit.wait_said(".present-page", "Thinking");
    assert!(progress() > begin, "{begin:?} {:?}", progress());
    visit.assert_accessible();
    visit.press("ArrowLeft");
    visit.wait_for("!document.querySelector('.present-page').textContent.includes('Thinking')");
    visit.press("ArrowDown");
    visit.wait_said(".present-page", "Look at this chart");
    visit.wait_said(".present-foot", "Turn 2, 2 of 5");
    visit.press("ArrowRight");
    visit.wait_said(".present-page", "three by two");
    // Keys come faster than turns.
    for _ in 0..60 {
        visit.press("ArrowRight");
    }
    visit.wait_said(".present-page", "Far in the west");
    visit.check();
    visit.press("Escape");
    visit.wait_for("!document.querySelector('.present')");
    visit.wait_seen("#main .turn:last-child");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn a_presentation_needs_no_keys_and_leaves_nothing_out() {
    let home = Home::new();
    let mut tale = Tale::new("5");
    let lines: Vec<String> = (0..200).map(|no| format!("Rule {no} of the ship.")).collect();
    tale.prompt(lines.join("\n\n"));
    tale.calls("Bash", &json!({ "command": "ring --bell" }), &json!("ding dong"), &json!({}));
    tale.says("Understood.");
    tale.keep(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.resize(NARROW, 760, true);
    visit.open(&tale.address());
    visit.click("[data-do=present]");
    visit.wait_said(".present-page", "Rule 199");
    let seen = "(page => page.lastElementChild.getBoundingClientRect().bottom <= page.getBoundingClientRect().bottom + 9)\
        (document.querySelector('.present-page'))";
    assert_eq!(visit.eval(seen), false, "it is higher than the screen");
    let mut steps = 0;
    while visit.count(".present-page > *") == 1 {
        visit.click(".present-foot [aria-label='Next part']");
        visit.settle();
        steps += 1;
        assert!(
            steps < 100 && (visit.count(".present-page > *") == 1 || steps > 5),
            "no part of it is passed over"
        );
    }
    visit.wait_for("document.querySelector('.present-page > .tool').open");
    visit.wait_said(".present-page .tool-body", "ding dong");
    visit.press("?");
    visit.wait_shown("#keys");
    visit.press("Escape");
    visit.wait_for("!document.getElementById('keys').open");
    assert_eq!(visit.count(".present"), 1, "only the map of keys was closed");
    // What stands behind it can neither be reached nor heard.
    visit.press("/");
    visit.press("j");
    assert_eq!(
        visit.eval(
            "document.activeElement.closest('.present') !== null || document.activeElement === document.body"
        ),
        true
    );
    assert_eq!(
        visit.eval("document.querySelector('.bar').inert && document.querySelector('#main').inert"),
        true
    );
    visit.click(".present-foot [aria-label='Leave the presentation']");
    visit.wait_for("!document.querySelector('.present')");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn a_long_turn_is_shown_to_its_end() {
    let home = Home::new();
    let mut tale = Tale::new("5");
    tale.prompt("Inspect every cabin");
    for no in 1..=150 {
        let command = json!({ "command": format!("inspect {no}") });
        tale.calls("Bash", &command, &json!("clean"), &json!({}));
    }
    tale.says("All cabins are clean.");
    tale.prompt("And the bridge");
    tale.says("The bridge, too.");
    tale.keep(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    assert!(visit.count(".leaf-later") > 3, "it is not all there at once");
    visit.press("P");
    visit.wait_shown(".present");
    visit.wait_said(".present-foot", "Turn 1, 1 of 2");
    visit.press("ArrowDown");
    visit.wait_said(".present-page", "And the bridge");
    visit.press("ArrowLeft");
    visit.wait_said(".present-page", "All cabins are clean.");
    assert_eq!(visit.count(".present-page .tool"), 150);
    visit.press("ArrowRight");
    visit.wait_said(".present-foot", "Turn 2, 2 of 2");
    visit.assert_quiet(&visit.origin());
}

#[test]
fn a_presentation_fills_the_screen_when_asked() {
    let home = Home::new();
    let tale = fixtures::varied(&home);
    let site = Site::of(home);
    let Some(visit) = Visit::new(&site) else { return };
    visit.open(&tale.address());
    visit.press("P");
    visit.wait_shown(".present");
    visit.press("F");
    visit.wait_for("document.fullscreenElement?.matches('.present')");
    visit.press("F");
    visit.wait_for("!document.fullscreenElement");
    visit.press("f");
    visit.wait_for("document.fullscreenElement");
    visit.press("Escape");
    visit.wait_for("!document.fullscreenElement");
    visit.assert_quiet(&visit.origin());
}
