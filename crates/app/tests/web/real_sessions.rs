//! Every real session opens: all its turns and calls are there, as many as the command line counts.

use std::collections::HashMap;

use rethread_testkit::real;
use serde_json::Value;

use crate::client::Site;
use crate::home::objects;

/// Finds the numbers of the turns that begin in markup.
fn turns(markup: &str) -> Vec<u32> {
    let starts = markup.split("<article ").skip(1).filter_map(|article| article.split('>').next());
    let ids = starts.filter_map(|tag| tag.split(" id=\"t").nth(1)?.split('"').next()?.parse().ok());
    ids.collect()
}

/// Returns the addresses of the leaves that a page leaves for later.
fn later(markup: &str) -> Vec<String> {
    let links =
        markup.split("data-later").skip(1).filter_map(|rest| rest.split("<a class=\"quiet\" href=\"").nth(1));
    links.filter_map(|rest| Some(rest.split('"').next()?.replace("&amp;", "&"))).collect()
}

/// Counts the calls that are drawn; a result without its call is drawn as one, too.
fn calls(markup: &str) -> usize {
    markup.matches("<details class=\"part tool").count() - markup.matches("result without its call").count()
}

/// Counts the calls of subagents that older clients wrote into the file of the session: they are no part of its turns.
fn inside(path: &str) -> usize {
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

/// Returns the addresses of all sessions, as the list links them.
fn links(site: &Site) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        let rows = site.page(&format!("/sessions/rows?all=1&from={}", all.len()));
        let before = all.len();
        let tags = rows.split("class=\"row-link cut\"").skip(1);
        all.extend(tags.filter_map(|rest| Some(rest.split("href=\"").nth(1)?.split('"').next()?.to_owned())));
        if all.len() == before {
            return all;
        }
    }
}

fn check(variable: &str) {
    let Some(root) = real::folder(variable) else { return };
    let site = Site::root(&root);
    let root = root.to_str().unwrap();
    let rows = objects(site.home(), &["--root", root, "ls", "--all", "--json"]);
    let rows: Vec<&Value> = rows.iter().filter(|row| row["type"] == "session").collect();
    let counted = objects(site.home(), &["--root", root, "stats", "--files", "--json"]);
    let counted: HashMap<&str, u64> = counted
        .iter()
        .filter_map(|file| Some((file["path"].as_str()?, file["tool_uses"].as_u64()?)))
        .collect();
    let links = links(&site);
    assert_eq!(links.len(), rows.len());
    assert!(links.len() > 10, "{links:?}");
    for (link, row) in links.iter().zip(rows) {
        let path = row["path"].as_str().unwrap();
        assert_eq!(site.get(link).status, 200, "{link} {path}");
        let page = site.page(&format!("{link}?view=all"));
        let (mut found, mut drawn) = (turns(&page), calls(&page));
        for address in later(&page) {
            let leaf = site.page(&address);
            found.extend(turns(&leaf));
            drawn += calls(&leaf);
        }
        let wanted: Vec<u32> = (1..=row["turns"].as_u64().unwrap() as u32).collect();
        found.sort_unstable();
        assert_eq!(found, wanted, "{link} {path}");
        let below = path.strip_prefix(root).unwrap_or(path).trim_start_matches('/');
        let told = drawn + inside(path);
        assert_eq!(counted.get(below).copied(), Some(told as u64), "calls of {link} {path}");
    }
}

#[test]
fn every_golden_session_opens_with_all_its_turns() {
    check("RETHREAD_GOLDEN");
}

#[test]
fn every_session_of_the_corpus_opens_with_all_its_turns() {
    check("RETHREAD_CORPUS");
}
