//! Every real session can be exported in every form, with all its turns.

use std::collections::BTreeSet;

use rethread_testkit::real;
use serde_json::Value;

use crate::home::{Home, objects};
use crate::session_builder::unpacked;

/// Finds the numbers of the turns that begin in a page.
fn turns(page: &str) -> Vec<u64> {
    let articles = page.split("<article ").skip(1).filter_map(|article| article.split('>').next());
    articles.filter_map(|tag| tag.split(" id=\"t").nth(1)?.split('"').next()?.parse().ok()).collect()
}

fn check(variable: &str) {
    let Some(root) = real::folder(variable) else { return };
    let home = Home::new();
    let rows = objects(&home, &["--root", root.to_str().unwrap(), "ls", "--all", "--json"]);
    let mut known = BTreeSet::new();
    for row in rows.iter().filter(|row| row["type"] == "session") {
        let path = row["path"].as_str().unwrap();
        if !known.insert(path) {
            continue;
        }
        let wanted: Vec<u64> = (1..=row["turns"].as_u64().unwrap()).collect();
        let told = |format: &str, detail: &str| {
            let run = home.run(&["export", path, "--format", format, "--detail", detail, "--all"]);
            assert_eq!(run.code, 0, "{path}: {}", run.err);
            run.out
        };
        let numbers = |text: &str, mark: &str| {
            let lines = text.lines().filter_map(|line| line.strip_prefix(mark));
            lines.filter_map(|rest| rest.split(' ').next()?.parse().ok()).collect::<Vec<u64>>()
        };
        for detail in ["prompts", "everything"] {
            let mut found = [
                turns(&unpacked(&told("html", detail))),
                numbers(&told("md", detail), "## Turn "),
                numbers(&told("text", detail), "── t"),
                told("json", detail)
                    .lines()
                    .skip(1)
                    .filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["turn"].as_u64())
                    .collect(),
            ];
            for (form, found) in found.iter_mut().enumerate() {
                found.sort_unstable();
                assert_eq!(*found, wanted, "{path} in form {form} with {detail}");
            }
        }
        assert_eq!(home.run(&["export", path, "--format", "html"]).code, 0, "{path}");
    }
    assert!(known.len() > 10, "{} sessions", known.len());
}

#[test]
fn every_golden_session_is_exported_with_all_its_turns() {
    check("RETHREAD_GOLDEN");
}

#[test]
fn every_session_of_the_corpus_is_exported_with_all_its_turns() {
    check("RETHREAD_CORPUS");
}
