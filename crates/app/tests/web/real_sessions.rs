//! Every real session opens with all its turns, and with as many calls as the command line counts.

use std::collections::HashMap;

use rethread_testkit::real;
use rethread_testkit::web_server::WebServer;
use serde_json::Value;

use crate::new_home;

/// Returns the numbers of the turns that start in `markup`.
fn find_turn_numbers(markup: &str) -> Vec<u32> {
    let starts = markup.split("<article ").skip(1).filter_map(|article| article.split('>').next());
    let ids = starts.filter_map(|tag| tag.split(" id=\"t").nth(1)?.split('"').next()?.parse().ok());
    ids.collect()
}

/// Returns the URLs of the chunks that a page loads later.
fn find_pending_urls(markup: &str) -> Vec<String> {
    let hrefs = markup
        .split("data-pending")
        .skip(1)
        .filter_map(|rest| rest.split("<a class=\"muted\" href=\"").nth(1));
    hrefs.filter_map(|rest| Some(rest.split('"').next()?.replace("&amp;", "&"))).collect()
}

/// Counts the displayed calls, without the results whose call is missing.
fn count_calls(markup: &str) -> usize {
    markup.matches("<details class=\"part tool").count() - markup.matches("result without a call").count()
}

/// Counts the calls of subagents that older clients wrote into the session file. They are not part of its turns.
fn count_sidechain_calls(path: &str) -> usize {
    let text = std::fs::read(path).unwrap();
    let lines =
        text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let blocks = |line: Value| line["message"]["content"].as_array().cloned().unwrap_or_default();
    lines
        .filter(|line| line["isSidechain"] == true)
        .flat_map(blocks)
        .filter(|block| block["type"] == "tool_use")
        .count()
}

/// Returns the URLs of all sessions from the list.
fn list_links(server: &WebServer) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        let rows = server.get_body(&format!("/sessions/rows?all=1&from={}", all.len()));
        let before = all.len();
        let tags = rows.split("class=\"row-link ellipsis\"").skip(1);
        all.extend(tags.filter_map(|rest| Some(rest.split("href=\"").nth(1)?.split('"').next()?.to_owned())));
        if all.len() == before {
            return all;
        }
    }
}

fn check_sessions(variable: &str) {
    let Some(root) = real::data_path("web pages of real sessions", variable) else { return };
    let server = WebServer::start_at_root(new_home(), &root);
    let root = root.to_str().unwrap();
    let rows = server.home().run_json_lines(&["--root", root, "ls", "--all", "--json"]);
    let rows: Vec<&Value> = rows.iter().filter(|row| row["type"] == "session").collect();
    let file_stats = server.home().run_json_lines(&["--root", root, "stats", "--files", "--json"]);
    let calls_by_path: HashMap<&str, u64> = file_stats
        .iter()
        .filter_map(|file| Some((file["path"].as_str()?, file["tool_uses"].as_u64()?)))
        .collect();
    let session_urls = list_links(&server);
    assert_eq!(session_urls.len(), rows.len());
    assert!(session_urls.len() > 10, "{session_urls:?}");
    for (link, row) in session_urls.iter().zip(rows) {
        let path = row["path"].as_str().unwrap();
        assert_eq!(server.get(link).status, 200, "{link} {path}");
        let page = server.get_body(&format!("{link}?view=all"));
        let (mut displayed_turns, mut displayed_calls) = (find_turn_numbers(&page), count_calls(&page));
        for url in find_pending_urls(&page) {
            let chunk = server.get_body(&url);
            displayed_turns.extend(find_turn_numbers(&chunk));
            displayed_calls += count_calls(&chunk);
        }
        let expected_turns: Vec<u32> = (1..=row["turns"].as_u64().unwrap() as u32).collect();
        displayed_turns.sort_unstable();
        assert_eq!(displayed_turns, expected_turns, "{link} {path}");
        let relative_path = path.strip_prefix(root).unwrap_or(path).trim_start_matches('/');
        let total_calls = displayed_calls + count_sidechain_calls(path);
        assert_eq!(
            calls_by_path.get(relative_path).copied(),
            Some(total_calls as u64),
            "calls of {link} {path}"
        );
    }
}

#[test]
fn every_golden_session_opens_with_all_its_turns() {
    check_sessions("RETHREAD_GOLDEN");
}

#[test]
fn every_corpus_session_opens_with_all_its_turns() {
    check_sessions("RETHREAD_CORPUS");
}
