//! The layout of a session page: which element is on top, and which columns align.

use rethread_testkit::web_server::WebServer;
use serde_json::{Value, json};

use crate::new_home;
use crate::server_page::{NARROW, ServerPage};
use crate::session_builder::SessionBuilder;

/// The text before which the columns are measured.
const MARK: &str = "anchor";

#[test]
fn the_menu_of_a_compacted_turn_is_above_the_turns_after_it() {
    let home = new_home();
    let mut session = SessionBuilder::new("21");
    for watch in 1..=4 {
        session.add_prompt(format!("Log of watch {watch}"));
        session.add_text("Calm.");
    }
    session.add_compaction("Four calm watches");
    session.add_prompt("Log of watch 5");
    session.add_text("A breeze.");
    session.write_to(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    assert_eq!(page.count(".turn-compacted"), 4, "{}", page.text("#main"));
    for width in [1280, NARROW] {
        page.resize(width, 800, width == NARROW);
        for turn in [1, 2, 3, 4, 5] {
            page.click_and_wait(&format!("#t{turn} .menu > summary"), &format!("#t{turn} .menu-list"));
            let covered = page.eval(&format!(
                "[...document.querySelectorAll('#t{turn} .menu-list > button')].filter(item => {{
                    const box = item.getBoundingClientRect();
                    return !item.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
                }}).map(item => item.innerText)"
            ));
            assert_eq!(covered, json!([]), "turn {turn} in a viewport of {width}");
            page.click(&format!("#t{turn} .menu > summary"));
        }
    }
    page.open_goto_dialog("#t2");
    page.close_dialog("action-dialog");
    page.assert_usable();
}

/// Returns the positions of [`MARK`] in the lines that match a selector, in characters after the first of them.
fn measure_columns(page: &ServerPage<'_>, selector: &str) -> Vec<f64> {
    let columns = page.eval(&format!(
        "(() => {{
            const lines = [...document.querySelectorAll({selector})].filter(line => line.textContent.includes({MARK:?}));
            return lines.map(line => {{
                const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
                let node = walker.nextNode();
                while (!node.data.includes({MARK:?})) node = walker.nextNode();
                const range = document.createRange();
                const at = node.data.indexOf({MARK:?});
                range.setStart(node, at);
                range.setEnd(node, at + {length});
                const box = range.getBoundingClientRect();
                return [box.left - line.parentElement.getBoundingClientRect().left, box.width / {length}];
            }});
        }})()",
        selector = json!(selector),
        length = MARK.len(),
    ));
    let columns: Vec<(f64, f64)> = serde_json::from_value(columns).unwrap();
    let first = columns.first().map_or(f64::NAN, |(left, _)| *left);
    columns.iter().map(|(left, width)| (left - first) / width).collect()
}

/// Asserts that [`MARK`] is at these columns, relative to the first line.
#[track_caller]
fn assert_columns(page: &ServerPage<'_>, selector: &str, expected: &[f64]) {
    let columns = measure_columns(page, selector);
    let is_equal = |(found, expected): (&f64, &f64)| (found - expected).abs() < 0.05;
    assert!(
        columns.len() == expected.len() && columns.iter().zip(expected).all(is_equal),
        "{selector}: the columns are {columns:?}, not {expected:?}"
    );
}

/// Writes a session that shows tab-indented lines in a file, a patch, a search and a fenced block.
fn write_tabbed_session(session: &mut SessionBuilder) {
    let file = "anchor\n    anchor\n\tanchor\nab\tanchor\n\t\tanchor\n";
    session.add_prompt("Show the tabs");
    let read = json!({ "file_path": "/code/harbour/chart.go" });
    let content = json!({ "filePath": "/code/harbour/chart.go", "content": file, "numLines": 5, "startLine": 998, "totalLines": 2000 });
    session.add_call("Read", &read, &json!("read"), &json!({ "type": "text", "file": content }));
    let hunk = json!({
        "oldStart": 9998, "oldLines": 4, "newStart": 9998, "newLines": 4,
        "lines": [" anchor", "-    anchor", "+\tanchor", " ab\tanchor", "+\t\tanchor", "-        anchor"],
    });
    let edit = json!({ "file_path": "/code/harbour/chart.go", "old_string": "a", "new_string": "b" });
    let patch: Value = json!({ "filePath": "/code/harbour/chart.go", "structuredPatch": [hunk] });
    session.add_call("Edit", &edit, &json!("The file was updated."), &patch);
    let grep = json!({ "pattern": "anchor", "output_mode": "content", "-n": true });
    let output = "chart.go:8:anchor\nchart.go:9:    anchor\nchart.go:10:\tanchor\nchart.go:1234:ab\tanchor\n";
    session.add_call(
        "Grep",
        &grep,
        &json!(output),
        &json!({ "mode": "content", "content": output, "numLines": 4 }),
    );
    session.add_text("```go\nanchor\n    anchor\n\tanchor\n```");
}

#[test]
fn code_that_is_indented_with_tabs_aligns() {
    let home = new_home();
    let mut session = SessionBuilder::new("22");
    write_tabbed_session(&mut session);
    session.write_to(&home);
    let server = WebServer::start(home);
    let Some(page) = ServerPage::open_at(&server, &session.url_path()) else { return };
    page.open_details("#t1 .tool");
    page.wait_for("!document.querySelector('[data-loading], details[open] > [data-src]')");
    for width in [1280, NARROW] {
        page.resize(width, 800, width == NARROW);
        page.wait_for_paint();
        assert_columns(&page, "#t1 .ln", &[0.0, 4.0, 4.0, 4.0, 8.0]);
        assert_columns(&page, "#t1 .pl", &[0.0, 4.0, 4.0, 4.0, 8.0, 8.0]);
        assert_columns(&page, "#t1 .grep-lines > span", &[0.0, 4.0, 4.0, 4.0]);
    }
    page.assert_usable();
}
