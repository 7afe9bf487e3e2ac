//! Links lead to their entries, even if files have changed since the server listed them.
#![expect(clippy::disallowed_methods, reason = "tests make their own store in a temporary folder")]

use std::io::Write;
use std::path::Path;

use rethread_testkit::script;
use rethread_testkit::web_server::WebServer;

use crate::fixtures::{self, SessionFixture};
use crate::new_home;

/// A session with an abandoned branch.
const TWO_BRANCHES: &str = "
    u1: sort the harbours
      a1: sorted
        u2: by name
          a2: by name it is
        u3: by code instead
          a3: by code it is
";

const ID: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// Returns the links of the search results on a page, without the words to highlight.
fn find_links(page: &str) -> Vec<String> {
    let results = page.split("class=\"result-link\" href=\"").skip(1);
    let hrefs = results.filter_map(|rest| rest.split(['"']).next()?.split(":q=").next());
    hrefs.map(|url| url.replace("&amp;", "&")).collect()
}

/// Follows a link as the script does: fetches the page, then the chunk with the line.
fn follow_link(server: &WebServer, url: &str) -> String {
    let (page, line) = url.split_once('#').unwrap();
    server.get_body(page);
    let (base, query) =
        page.split_once('?').map_or((page, String::new()), |(base, query)| (base, format!("{query}&")));
    server.get_body(&format!("{base}/chunk?{query}at={line}"))
}

fn append(path: &Path, line: &str) {
    writeln!(std::fs::File::options().append(true).open(path).unwrap(), "{line}").unwrap();
}

#[test]
fn every_search_result_links_to_its_entry() {
    let server = WebServer::start_demo(new_home());
    for (query, min_count) in
        [("is%3Asubagent", 2), ("is%3Aabandoned", 2), ("is%3Acompacted", 2), ("the", 20)]
    {
        let result_links = find_links(&server.get_body(&format!("/search?q={query}")));
        assert!(result_links.len() >= min_count, "{query}: {result_links:?}");
        for url in result_links.iter().filter(|url| url.contains('#')) {
            assert!(follow_link(&server, url).contains("data-line"), "{url}");
        }
    }
    let home = new_home();
    home.write_old(&format!(".claude/projects/-code/{ID}.jsonl"), script::bytes(TWO_BRANCHES));
    let server = WebServer::start(home);
    for (query, url) in [("%22by+name+it+is%22", "?tip=L4#L4"), ("%22by+code+it+is%22", "#L6")] {
        let url = format!("/s/{ID}{url}");
        assert_eq!(find_links(&server.get_body(&format!("/search?q={query}"))), [url.as_str()]);
        assert!(follow_link(&server, &url).contains("it is"), "{url}");
    }
}

#[test]
fn new_sessions_have_a_url_and_their_current_title() {
    let server = WebServer::start(fixtures::new_three_session_home());
    let new = SessionFixture { id: "0009", prompts: &["a new leviathan"], ..SessionFixture::default() };
    new.write(server.home());
    let key = new.key();
    let url = format!("/s/{key}#L1");
    let suggestions =
        server.wait_for_text("/search/hits?q=leviathan", &format!("href=\"{url}:q=leviathan\""));
    assert!(suggestions.contains("All 1 hit"), "{suggestions}");
    assert_eq!(find_links(&server.get_body("/search?q=leviathan")), [url.as_str()]);
    assert!(server.get_body(&format!("/s/{key}")).contains(">a new leviathan</h1>"));
    let path = server.home().path().join(format!(".claude/projects/-code/{key}.jsonl"));
    append(
        &path,
        &format!("{{\"type\":\"custom-title\",\"customTitle\":\"the whale\",\"sessionId\":\"{key}\"}}"),
    );
    let page = server.wait_for_text(&format!("/s/{key}"), ">the whale</h1>");
    assert!(page.contains("<title>the whale"), "{page}");
    std::fs::remove_file(path).unwrap();
    server.wait_for_response(&format!("/s/{key}"), |response| response.status == 404);
}

#[test]
fn files_with_the_same_id_keep_their_urls() {
    let home = new_home();
    let text = |words: &str| script::bytes(&format!("u1: {words}\n  a1: yes"));
    home.write_old(&format!(".claude/projects/-a/{ID}.jsonl"), text("the first"));
    let second = home.write_old(&format!(".claude/projects/-b/{ID}.jsonl"), text("the second"));
    let server = WebServer::start(home);
    let read_texts = |key: &str| {
        let line = server.get_body(&format!("/s/{key}/raw?line=1"));
        ["the first", "the second"].map(|words| line.contains(words))
    };
    let check_urls =
        || assert_eq!((read_texts(ID), read_texts(&format!("{ID}~2"))), ([true, false], [false, true]));
    check_urls();
    // The second file becomes the newest.
    let line = String::from_utf8(script::bytes("u2 @+900: more")).unwrap();
    append(&second, line.trim_end());
    append(
        &second,
        &format!("{{\"type\":\"custom-title\",\"customTitle\":\"the newest\",\"sessionId\":\"{ID}\"}}"),
    );
    server.wait_for_text("/sessions?all=1", "the newest");
    check_urls();
}

/// The file names are not ids: a URL stays with its file when another file sorts before it.
#[test]
fn urls_stay_with_their_files_when_a_file_is_added() {
    let home = new_home();
    let text = |words: &str| script::bytes(&format!("* session=s1\nu1: {words}\n  a1: yes"));
    home.write_old(".claude/projects/-b/full.jsonl", text("the first"));
    let server = WebServer::start(home);
    let find_url = |page: &str, title: &str| {
        let before = page.split(title).next().unwrap_or_default();
        before.rsplit("href=\"").next().and_then(|rest| rest.split('"').next()).unwrap_or_default().to_owned()
    };
    let first = find_url(&server.get_body("/sessions?all=1"), "the first");
    assert!(first.starts_with("/s/") && first.contains('~'), "{first}");
    server.home().write_old(".claude/projects/-a/full.jsonl", text("the second"));
    let page = server.wait_for_text("/sessions?all=1", "the second");
    let second = find_url(&page, "the second");
    assert_eq!(find_url(&page, "the first"), first);
    assert_ne!(second, first);
    for (url, words) in [(first, "the first"), (second, "the second")] {
        assert!(server.get_body(&url).contains(&format!(">{words}</h1>")), "{url}");
    }
}

#[test]
fn new_subagents_are_listed_although_the_session_file_is_unchanged() {
    let home = new_home();
    home.write_old(&format!(".claude/projects/-code/{ID}.jsonl"), script::bytes(TWO_BRANCHES));
    let server = WebServer::start(home);
    let page = format!("/s/{ID}/agent/a77");
    assert_eq!(server.get(&page).status, 404);
    let lines = script::bytes("u7: look for the leviathan\n  a7: it is gone");
    server.home().write(&format!(".claude/projects/-code/{ID}/subagents/agent-a77.jsonl"), lines);
    server.wait_for_text(&format!("/s/{ID}/agents"), "agent/a77");
    let agent_page = server.get_body(&page);
    assert!(agent_page.contains("it is gone") && !agent_page.contains("name=\"follow\""), "{agent_page}");
    assert!(agent_page.contains("name=\"only-typed\""), "a page of a subagent has the switch: {agent_page}");
    let find_results = server.get_body(&format!("{page}/find?q=leviathan"));
    assert!(
        find_results.contains("data-count=\"1\"") && find_results.contains("<mark>leviathan</mark>"),
        "{find_results}"
    );
    let results = server.wait_for_response("/search?q=leviathan", |page| !find_links(&page.body).is_empty());
    assert_eq!(find_links(&results.body), [format!("{page}#L1")]);
}

#[test]
fn copied_turns_contain_the_displayed_branch() {
    let home = new_home();
    let text = "u1: sort them\n  a1: by name it is\n  a2 @+60: by code it is";
    home.write_old(&format!(".claude/projects/-code/{ID}.jsonl"), script::bytes(text));
    let server = WebServer::start(home);
    for format in ["md", "text", "json"] {
        for (selection, name, code) in
            [("", false, true), ("tip=L2&", true, false), ("tip=L3&", false, true), ("view=all&", true, true)]
        {
            let copy = server.get_body(&format!("/s/{ID}/copy?{selection}turn=1&as={format}"));
            assert_eq!(
                (copy.contains("by name"), copy.contains("by code")),
                (name, code),
                "{format} {selection}: {copy}"
            );
        }
    }
    assert_eq!(server.get(&format!("/s/{ID}/copy?turn=2&as=md")).status, 404);
}
