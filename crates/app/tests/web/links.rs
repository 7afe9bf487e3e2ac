//! Links lead to what they promise, also where much has changed since the server looked.
#![expect(clippy::disallowed_methods, reason = "tests make their own store in a temporary folder")]

use std::io::Write;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rethread_testkit::script;

use crate::client::Site;
use crate::fixtures::{self, Session};
use crate::home::Home;

/// A little longer than the server takes what it has seen for what there is.
const WHILE: Duration = Duration::from_millis(1200);

/// A session with a way that was left.
const EDITED: &str = "
    u1: sort the harbours
      a1: sorted
        u2: by name
          a2: by name it is
        u3: by code instead
          a3: by code it is
";

const ID: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// Returns the links of hits on a page, without the words that are to be marked there.
fn links(page: &str) -> Vec<String> {
    let hits = page.split("class=\"found-link\" href=\"").skip(1);
    let links = hits.filter_map(|rest| rest.split(['"']).next()?.split(":q=").next());
    links.map(|link| link.replace("&amp;", "&")).collect()
}

/// Follows a link as the script does: the page, and the leaf that holds the line.
fn follow(site: &Site, link: &str) -> String {
    let (page, line) = link.split_once('#').unwrap();
    site.page(page);
    let (base, query) =
        page.split_once('?').map_or((page, String::new()), |(base, query)| (base, format!("{query}&")));
    site.page(&format!("{base}/leaf?{query}at={line}"))
}

fn append(path: &Path, line: &str) {
    writeln!(std::fs::File::options().append(true).open(path).unwrap(), "{line}").unwrap();
}

#[test]
fn every_hit_is_read_where_it_stands() {
    let site = Site::demo();
    for (query, least) in [("is%3Asubagent", 2), ("is%3Aabandoned", 2), ("is%3Acompacted", 2), ("the", 20)] {
        let links = links(&site.page(&format!("/search?q={query}")));
        assert!(links.len() >= least, "{query}: {links:?}");
        for link in links.iter().filter(|link| link.contains('#')) {
            assert!(follow(&site, link).contains("data-line"), "{link}");
        }
    }
    let home = Home::new();
    home.write_old(&format!(".claude/projects/-code/{ID}.jsonl"), script::bytes(EDITED));
    let site = Site::of(home);
    for (query, link) in [("%22by+name+it+is%22", "?tip=L4#L4"), ("%22by+code+it+is%22", "#L6")] {
        let link = format!("/s/{ID}{link}");
        assert_eq!(links(&site.page(&format!("/search?q={query}"))), [link.as_str()]);
        assert!(follow(&site, &link).contains("it is"), "{link}");
    }
}

#[test]
fn what_is_new_has_an_address_and_its_title() {
    let site = Site::of(fixtures::small());
    let new = Session { id: "0009", prompts: &["a new leviathan"], ..Session::default() };
    sleep(WHILE);
    new.write(site.home());
    let key = new.key();
    let link = format!("/s/{key}#L1");
    let typed = site.page("/search/hits?q=leviathan");
    assert!(
        typed.contains(&format!("href=\"{link}:q=leviathan\"")) && typed.contains("All 1 hit"),
        "{typed}"
    );
    assert_eq!(links(&site.page("/search?q=leviathan")), [link.as_str()]);
    assert!(site.page(&format!("/s/{key}")).contains(">a new leviathan</h1>"));
    sleep(WHILE);
    let path = site.home().path().join(format!(".claude/projects/-code/{key}.jsonl"));
    append(
        &path,
        &format!("{{\"type\":\"custom-title\",\"customTitle\":\"the whale\",\"sessionId\":\"{key}\"}}"),
    );
    let page = site.page(&format!("/s/{key}"));
    assert!(page.contains(">the whale</h1>") && page.contains("<title>the whale"), "{page}");
    sleep(WHILE);
    std::fs::remove_file(path).unwrap();
    assert_eq!(site.get(&format!("/s/{key}")).status, 404, "what is gone has none");
}

#[test]
fn of_two_files_with_one_id_each_keeps_its_address() {
    let home = Home::new();
    let text = |words: &str| script::bytes(&format!("u1: {words}\n  a1: yes"));
    home.write_old(&format!(".claude/projects/-a/{ID}.jsonl"), text("the first"));
    let second = home.write_old(&format!(".claude/projects/-b/{ID}.jsonl"), text("the second"));
    let site = Site::of(home);
    let seen = |key: &str| {
        let line = site.page(&format!("/s/{key}/raw?line=1"));
        ["the first", "the second"].map(|words| line.contains(words))
    };
    for _ in 0..2 {
        assert_eq!((seen(ID), seen(&format!("{ID}~2"))), ([true, false], [false, true]));
        sleep(WHILE);
        // Now the other one is the newest.
        let line = String::from_utf8(script::bytes("u2 @+900: more")).unwrap();
        append(&second, line.trim_end());
    }
}

/// Files that are not named by their id: an address stays with its file when another one turns up before it.
#[test]
fn an_address_means_the_same_when_another_file_is_new() {
    let home = Home::new();
    let text = |words: &str| script::bytes(&format!("* session=s1\nu1: {words}\n  a1: yes"));
    home.write_old(".claude/projects/-b/full.jsonl", text("the first"));
    let site = Site::of(home);
    let address = |page: &str, title: &str| {
        let before = page.split(title).next().unwrap_or_default();
        before.rsplit("href=\"").next().and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
    };
    let first = address(&site.page("/sessions?all=1"), "the first");
    assert!(first.starts_with("/s/") && first.contains('~'), "{first}");
    site.home().write_old(".claude/projects/-a/full.jsonl", text("the second"));
    sleep(WHILE);
    let page = site.page("/sessions?all=1");
    let second = address(&page, "the second");
    assert_eq!(address(&page, "the first"), first);
    assert_ne!(second, first);
    for (address, words) in [(first, "the first"), (second, "the second")] {
        assert!(site.page(&address).contains(&format!(">{words}</h1>")), "{address}");
    }
}

#[test]
fn subagents_that_begin_while_the_session_stands_still_are_there() {
    let home = Home::new();
    home.write_old(&format!(".claude/projects/-code/{ID}.jsonl"), script::bytes(EDITED));
    let site = Site::of(home);
    let page = format!("/s/{ID}/agent/a77");
    assert_eq!(site.get(&page).status, 404);
    let lines = script::bytes("u7: look for the leviathan\n  a7: it is gone");
    site.home().write(&format!(".claude/projects/-code/{ID}/subagents/agent-a77.jsonl"), lines);
    sleep(WHILE);
    assert!(site.page(&format!("/s/{ID}/agents")).contains("agent/a77"));
    let drawn = site.page(&page);
    assert!(drawn.contains("it is gone") && !drawn.contains("name=\"follow\""), "{drawn}");
    let found = site.page(&format!("{page}/find?q=leviathan"));
    assert!(found.contains("data-count=\"1\"") && found.contains("<mark>leviathan</mark>"), "{found}");
    assert_eq!(links(&site.page("/search?q=leviathan")), [format!("{page}#L1")]);
}

#[test]
fn a_copy_holds_the_way_that_is_read() {
    let home = Home::new();
    let text = "u1: sort them\n  a1: by name it is\n  a2 @+60: by code it is";
    home.write_old(&format!(".claude/projects/-code/{ID}.jsonl"), script::bytes(text));
    let site = Site::of(home);
    for kind in ["md", "text", "json"] {
        for (way, name, code) in
            [("", false, true), ("tip=L2&", true, false), ("tip=L3&", false, true), ("view=all&", true, true)]
        {
            let copy = site.page(&format!("/s/{ID}/copy?{way}turn=1&as={kind}"));
            assert_eq!(
                (copy.contains("by name"), copy.contains("by code")),
                (name, code),
                "{kind} {way}: {copy}"
            );
        }
    }
    assert_eq!(site.get(&format!("/s/{ID}/copy?turn=2&as=md")).status, 404);
}
