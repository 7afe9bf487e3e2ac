//! Every real session is exported in every format with all its turns.

use std::collections::BTreeSet;

use rethread_testkit::real;
use serde_json::Value;

use crate::new_home;
use crate::session_builder::unpack_page;

/// Returns the numbers of the turns that start in a page.
fn find_turn_numbers(page: &str) -> Vec<u64> {
    let articles = page.split("<article ").skip(1).filter_map(|article| article.split('>').next());
    articles.filter_map(|tag| tag.split(" id=\"t").nth(1)?.split('"').next()?.parse().ok()).collect()
}

fn check_sessions(variable: &str) {
    let Some(root) = real::data_path("exports of real sessions", variable) else { return };
    let home = new_home();
    let rows = home.run_json_lines(&["--root", root.to_str().unwrap(), "ls", "--all", "--json"]);
    let mut paths = BTreeSet::new();
    for row in rows.iter().filter(|row| row["type"] == "session") {
        let path = row["path"].as_str().unwrap();
        if !paths.insert(path) {
            continue;
        }
        let expected: Vec<u64> = (1..=row["turns"].as_u64().unwrap()).collect();
        let export = |format: &str, detail: &str| {
            let run = home.run(&["export", path, "--format", format, "--detail", detail, "--all"]);
            assert_eq!(run.code, 0, "{path}: {}", run.err);
            run.out
        };
        let parse_turn_numbers = |text: &str, prefix: &str| {
            let lines = text.lines().filter_map(|line| line.strip_prefix(prefix));
            lines.filter_map(|rest| rest.split(' ').next()?.parse().ok()).collect::<Vec<u64>>()
        };
        for detail in ["prompts", "everything"] {
            let mut numbers_by_format = [
                find_turn_numbers(&unpack_page(&export("html", detail))),
                parse_turn_numbers(&export("md", detail), "## Turn "),
                parse_turn_numbers(&export("text", detail), "── t"),
                export("json", detail)
                    .lines()
                    .skip(1)
                    .filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["turn"].as_u64())
                    .collect(),
            ];
            for (format_idx, parse_turn_numbers) in numbers_by_format.iter_mut().enumerate() {
                parse_turn_numbers.sort_unstable();
                assert_eq!(*parse_turn_numbers, expected, "{path} in format {format_idx} with {detail}");
            }
        }
        assert_eq!(home.run(&["export", path, "--format", "html"]).code, 0, "{path}");
    }
    assert!(paths.len() > 10, "{} sessions", paths.len());
}

#[test]
fn every_golden_session_is_exported_with_all_its_turns() {
    check_sessions("RETHREAD_GOLDEN");
}

#[test]
fn every_corpus_session_is_exported_with_all_its_turns() {
    check_sessions("RETHREAD_CORPUS");
}
