//! Every real session opens: all its turns are there, as many as the command line counts.

use std::collections::BTreeSet;

use rethread_testkit::real;

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

fn check(variable: &str) {
    let Some(root) = real::folder(variable) else { return };
    let site = Site::root(&root);
    let root = root.to_str().unwrap();
    let rows = objects(site.home(), &["--root", root, "ls", "--all", "--json"]);
    let mut known = BTreeSet::new();
    let mut sessions = 0;
    for row in rows.iter().filter(|row| row["type"] == "session") {
        let id = row["id"].as_str().unwrap();
        // Of files that share an id the newest has the plain address.
        if !known.insert(id.to_owned()) {
            continue;
        }
        let key: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let usual = site.get(&format!("/s/{key}"));
        assert_eq!(usual.status, 200, "{id}");
        let page = site.page(&format!("/s/{key}?view=all"));
        let mut found = turns(&page);
        for address in later(&page) {
            found.extend(turns(&site.page(&address)));
        }
        let wanted: Vec<u32> = (1..=row["turns"].as_u64().unwrap() as u32).collect();
        found.sort_unstable();
        assert_eq!(found, wanted, "{id} {}", row["path"]);
        sessions += 1;
    }
    assert!(sessions > 10, "{sessions} sessions");
}

#[test]
fn every_golden_session_opens_with_all_its_turns() {
    check("RETHREAD_GOLDEN");
}

#[test]
fn every_session_of_the_corpus_opens_with_all_its_turns() {
    check("RETHREAD_CORPUS");
}
