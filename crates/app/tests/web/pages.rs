//! Contents of the pages: markup is well formed, filters work, and hostile text is escaped.

use std::time::{Duration, Instant};

use rethread_testkit::home::Home;
use rethread_testkit::script;
use rethread_testkit::wait::wait_for;
use rethread_testkit::web_server::WebServer;

use crate::actions::action_server::between;
use crate::fixtures::{self, HOSTILE_TEXT, SessionFixture};
use crate::markup::check_markup;
use crate::new_home;

/// URLs of pages and fragments that exist in every store.
const URLS: &[&str] = &[
    "/",
    "/home/figures",
    "/sessions",
    "/sessions?all=1&sort=title&since=1y&live=1&damaged=1&branches=1",
    "/sessions?since=nonsense%22%3E",
    "/sessions?title=%3Cscript%3E&repo=%22%3E%3Cb%3E",
    "/sessions?from=99999999999999999999",
    "/sessions/rows?all=1",
    "/search",
    "/search?q=kraken",
    "/search?q=role%3Ausr",
    "/search?q=%22open",
    "/search?q=/(/",
    "/search?q=%3Cscript%3E%00%1b",
    "/search?q=an+answer&n=0&all=1&longer=1",
    "/search?q=%FF%FE&q=2",
    "/search/hits?q=answer",
    "/search/hits?q=is%3A",
    "/search/hits",
    "/sql",
    "/sql?example=cost-by-day",
    "/sql?example=cost-by-project",
    "/sql?q=SELECT+text+FROM+texts",
    "/sql?q=SELECT+%27%3Cscript%3E%27+AS+%22%3Cb%3E%22",
    "/sql?q=SELECT+%3Cscript%3E",
    "/sql?q=DROP+TABLE+turns",
    "/sql/csv?q=DROP+TABLE+turns",
];

#[test]
fn every_page_is_well_formed() {
    for server in [WebServer::start_demo(new_home()), WebServer::start(fixtures::new_three_session_home())] {
        for url in URLS {
            let page = server.get_body(url);
            assert_eq!(check_markup(&page), Ok(()), "{url}\n{page}");
        }
    }
    let page = WebServer::start_demo(new_home()).get_body("/");
    assert!(page.contains("these sessions are generated"), "the demo is marked as such");
}

#[test]
fn sql_results_are_on_the_page_and_in_a_file() {
    let server = WebServer::start(fixtures::new_three_session_home());
    let page = server.get_body("/sql?q=SELECT+count(*)+AS+sessions,+NULL+AS+empty+FROM+sessions");
    assert!(
        page.contains(">sessions</th>") && page.contains(">3</td>") && page.contains("1 row in"),
        "{page}"
    );
    let file = server.get("/sql/csv?q=SELECT+'a,b'+AS+x,+count(*)+AS+n+FROM+sessions");
    assert_eq!((file.status, file.body.as_str()), (200, "x,n\r\n\"a,b\",3\r\n"));
    let error = server.get_body("/sql?q=SELECT+colour+FROM+turns");
    assert!(error.contains("no such column: colour") && error.contains("role=\"alert\""), "{error}");
    assert!(server.get_body("/sql?q=DELETE+FROM+turns").contains("is not allowed"));
    let chart = server.get_body("/sql?q=SELECT+session_id,+lines+FROM+sessions");
    assert!(
        chart.contains("class=\"sql-chart\"") && chart.contains("aria-label=\"lines by session_id\""),
        "{chart}"
    );
}

#[test]
fn missing_pages_report_not_found() {
    let server = WebServer::start(fixtures::new_three_session_home());
    for url in ["/nowhere", "/s/nothing/preview", "/assets/nothing.css"] {
        let response = server.get(url);
        assert_eq!(response.status, 404, "{url}");
        assert_eq!(check_markup(&response.body), Ok(()), "{url}");
    }
    assert!(server.get_body("/sessions?title=absent").contains("No session matches"));
    assert!(server.get_body("/search?q=zebra").contains("No matches for"));
    assert!(server.get_body("/search?q=role%3Ausr").contains("does not take"));
    assert!(server.get_body("/sessions?since=soon").contains("is not a time"));
}

#[test]
fn lists_are_filtered_and_sorted() {
    let server = WebServer::start(fixtures::new_three_session_home());
    // Returns the titles of a list in order.
    let list_titles = |query: &str| -> String {
        let page = server.get_body(&format!("/sessions{query}"));
        let link = "class=\"row-link ellipsis\"";
        let title = |part: &str| part.split_once('>')?.1.split_once('<').map(|(title, _)| title.to_owned());
        page.split(link).skip(1).filter_map(title).collect::<Vec<_>>().join("|")
    };
    let (kraken, blue, ebb) = ("fix the kraken", "paint it blue", "ebb");
    for (query, expected) in [
        ("", format!("{blue}|{kraken}")),
        ("?all=1&sort=title", format!("{ebb}|{kraken}|{blue}")),
        ("?sort=oldest", format!("{kraken}|{blue}")),
        ("?sort=longest", format!("{kraken}|{blue}")),
        ("?title=BLUE", blue.to_owned()),
        ("?branch=blue", blue.to_owned()),
        ("?model=opus&title=kraken", kraken.to_owned()),
        ("?model=sonnet", String::new()),
        ("?project=worktrees", blue.to_owned()),
        ("?repo=/code/shop", format!("{blue}|{kraken}")),
        ("?repo=/code", String::new()),
        ("?since=2026-02-01", blue.to_owned()),
        ("?until=2026-02-01", kraken.to_owned()),
        ("?live=1", String::new()),
        ("?damaged=1", String::new()),
        ("?branches=1", String::new()),
        ("?title=+&branch=", format!("{blue}|{kraken}")),
        ("?from=1", kraken.to_owned()),
    ] {
        assert_eq!(list_titles(query), expected, "{query}");
    }
    let page = server.get_body("/sessions");
    assert!(page.contains("hidden: 1 headless") && page.contains("all=1"), "{page}");
}

#[test]
fn long_lists_are_split_into_pages() {
    let home = new_home();
    let ids: Vec<String> = (0..120).map(|idx| format!("{idx:04}")).collect();
    for id in &ids {
        SessionFixture { id, ..SessionFixture::default() }.write(&home);
    }
    let server = WebServer::start(home);
    let count_rows = |page: &str| page.matches("class=\"row\"").count();
    let first = server.get_body("/sessions?sort=oldest");
    assert_eq!(count_rows(&first), 100);
    assert!(
        first.contains("href=\"/sessions?sort=oldest&amp;from=100\""),
        "the page links to the remaining rows"
    );
    let rest = server.get_body("/sessions/rows?sort=oldest&from=100");
    assert_eq!((count_rows(&rest), rest.contains("data-more")), (20, false));
}

#[test]
fn the_home_page_groups_sessions_by_repository() {
    let server = WebServer::start(fixtures::new_three_session_home());
    let page = server.get_body("/");
    assert!(page.contains("href=\"/sessions?repo=%2Fcode%2Fshop\""), "{page}");
    assert!(page.contains("2 sessions") && page.contains("1 worktree"), "{page}");
    assert!(!page.contains("%2Fcode%2Ftides"), "hidden sessions are not listed as a project");
    let figures = server.get_with_headers("/home/figures", &[("x-rethread", "fragment")]);
    assert!(figures.body.contains("role=\"img\"") && !figures.body.contains("<html"), "{}", figures.body);
    assert!(server.get_body("/home/figures").contains("<html"), "without the script it is a page");
}

#[test]
fn a_preview_shows_prompt_folder_and_version() {
    let server = WebServer::start(fixtures::new_three_session_home());
    let fragment = server.get_body(&format!("/s/{}/preview", SessionFixture::default().key()));
    assert!(
        fragment.contains("fix the kraken") && fragment.contains("/code/shop") && fragment.contains("2.1.0"),
        "{fragment}"
    );
    assert_eq!(check_markup(&fragment), Ok(()));
}

#[test]
fn search_results_link_to_their_lines() {
    let server = WebServer::start(fixtures::new_three_session_home());
    let key = SessionFixture::default().key();
    let page = server.get_body("/search?q=arms");
    assert!(page.contains("and its <mark>arms</mark>") && page.contains("in context"), "{page}");
    assert!(page.contains(&format!("href=\"/s/{key}#L3:q=arms\"")), "{page}");
    let fragment = server.get_body("/search/hits?q=arms&limit=1");
    assert!(
        fragment.contains(&format!("href=\"/s/{key}#L3:q=arms\"")) && fragment.contains("role=\"option\""),
        "{fragment}"
    );
    assert!(fragment.contains("href=\"/search?q=arms\""), "{fragment}");
    assert!(
        server.get_body("/search/hits?q=ar").contains("Keep typing"),
        "two letters match nearly every entry"
    );
    let page = server.get_body("/search?q=answer&n=1");
    assert!(page.contains("the best 1 of 4 hits") && page.contains("n=4"), "{page}");
}

#[test]
fn a_subagent_has_its_own_page() {
    let server = WebServer::start_demo(new_home());
    let page = server.get_body("/search?q=is%3Asubagent");
    let key =
        between(&page, "class=\"result-link\" href=\"/s/", "/agent/").unwrap_or_else(|| panic!("{page}"));
    let list = server.get_body(&format!("/s/{key}/agents"));
    let agent = between(&list, &format!("href=\"/s/{key}/agent/"), "\"").unwrap_or_else(|| panic!("{list}"));
    let agent_page = server.get_body(&format!("/s/{key}/agent/{agent}"));
    assert_eq!(check_markup(&agent_page), Ok(()));
    assert!(
        agent_page.contains("id=\"t1\"") && agent_page.contains(&format!("href=\"/s/{key}\"")),
        "{agent_page}"
    );
    let chunk = server.get_body(&format!("/s/{key}/agent/{agent}/chunk?number=0"));
    assert!(agent_page.contains(&chunk) && chunk.contains("class=\"turn\""), "{chunk}");
    // The page of the session embeds the same content without the surrounding page.
    let fragment = server.get_with_headers(&format!("/s/{key}/agent/{agent}"), &[("x-rethread", "fragment")]);
    assert!(fragment.body.contains(&chunk) && !fragment.body.contains("<html"), "{}", fragment.body);
}

#[test]
fn hostile_text_is_escaped_in_every_page() {
    let home = new_home();
    let session = SessionFixture {
        cwd: HOSTILE_TEXT,
        branch: HOSTILE_TEXT,
        prompts: &[HOSTILE_TEXT],
        ..SessionFixture::default()
    };
    session.write(&home);
    let server = WebServer::start(home);
    let preview = format!("/s/{}/preview", session.key());
    let urls = [
        "/",
        "/sessions",
        "/sessions/rows",
        "/search?q=alert",
        "/search/hits?q=alert",
        "/home/figures",
        &preview,
    ];
    for url in urls {
        let page = server.get_body(url);
        assert_eq!(check_markup(&page), Ok(()), "{url}");
        for markup in ["<script>alert", "<img", "\u{1b}", "\u{202e}", "\0"] {
            assert!(!page.contains(markup), "{markup:?} in {url}: {page}");
        }
        assert!(url == "/home/figures" || page.contains("&lt;script&gt;"), "{url}");
    }
}

/// Two sessions with a missing parent: the client of the first loads all entries all the same, that of the second none
/// before it.
#[test]
fn a_session_is_called_damaged_only_if_a_repair_is_offered() {
    let home = new_home();
    let (harmless, damaged) =
        ("11111111-2222-4333-8444-555555550001", "11111111-2222-4333-8444-555555550002");
    let structural = "u1: one\n  a1: one\ns1 ^gone @+60: turn_duration 1200\n";
    home.write_old(&format!(".claude/projects/-x/{harmless}.jsonl"), script::bytes(structural));
    let lost = "u1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two";
    home.write_old(&format!(".claude/projects/-x/{damaged}.jsonl"), script::bytes(lost));
    for (id, is_repairable) in [(harmless, false), (damaged, true)] {
        let repair = home.run(&["repair", id, "--dry-run"]);
        assert_eq!(!repair.out.contains("nothing to repair"), is_repairable, "{}", repair.out);
    }
    let server = WebServer::start(home);
    let list = server.get_body("/sessions");
    assert_eq!(list.matches(">damaged<").count(), 1, "{list}");
    assert!(list.contains(&format!("href=\"/s/{damaged}/doctor\"")), "{list}");
    let filtered = server.get_body("/sessions?damaged=1");
    assert!(filtered.contains(damaged) && !filtered.contains(harmless), "{filtered}");
    let page = server.get_body(&format!("/s/{damaged}"));
    assert!(page.contains("The file is damaged: 1 part with a missing parent"), "{page}");
    assert!(page.contains(&format!("href=\"/s/{damaged}/doctor\"")), "{page}");
    let page = server.get_body(&format!("/s/{harmless}"));
    assert!(!page.contains("damaged"), "{page}");
    let diagnostics = server.get_body(&format!("/s/{damaged}/doctor"));
    for text in ["2 warnings", "unreachable entries", "missing-parent", "#L3", "data-action=\"repair\""] {
        assert!(diagnostics.contains(text), "{text} in {diagnostics}");
    }
    let diagnostics = server.get_body(&format!("/s/{harmless}/doctor"));
    assert!(diagnostics.contains("no problems, 1 info"), "{diagnostics}");
    assert!(!diagnostics.contains("data-action=\"repair\""), "{diagnostics}");
}

/// Nobody searches: the server builds the index by itself.
#[test]
fn the_search_index_is_built_when_the_server_starts() {
    let home = fixtures::new_three_session_home();
    let status = |home: &Home| home.run(&["index", "--status", "--json"]).out;
    assert!(status(&home).contains("\"files\":0,"), "{}", status(&home));
    // A file that was written within the last clock tick is indexed by the next update only.
    let written = Instant::now();
    wait_for("stable files", || (written.elapsed() > Duration::from_millis(25)).then_some(()));
    let server = WebServer::start(home);
    wait_for("the index", || status(server.home()).contains("\"files\":3,").then_some(()));
    // The progress of an update that has ended is not shown.
    assert_eq!(server.wait_for_response("/search/index", |response| response.body.is_empty()).status, 200);
    assert!(!server.get_body("/search?q=kraken").contains("data-poll"));
}

#[test]
fn a_damaged_session_has_a_notice_above_its_turns() {
    let server = WebServer::start_demo(new_home());
    let list = server.get_body("/sessions");
    let links = list.split("href=\"/s/").skip(1);
    let keys: std::collections::BTreeSet<&str> =
        links.filter_map(|rest| rest.split(['"', '/', '?', '#']).next()).collect();
    let damaged = keys.iter().filter(|key| {
        server.get_body(&format!("/s/{key}")).contains("The file is damaged: 1 defect in its lines")
    });
    assert_eq!(damaged.count(), list.matches(">damaged<").count());
    assert_eq!(list.matches(">damaged<").count(), 1);
}

/// If the file name is not an id, the id is read from the lines, which may contain anything.
#[test]
fn the_command_to_paste_contains_no_options_from_a_session() {
    let home = new_home();
    let id = "--dangerously-skip-permissions";
    let line = format!(
        r#"{{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"{id}","cwd":"-P","timestamp":"2026-01-01T10:00:00.000Z","message":{{"role":"user","content":"hello"}}}}"#
    );
    home.write_old(".claude/projects/-code/full.jsonl", format!("{line}\n"));
    let server = WebServer::start(home);
    let list = server.get_body("/sessions?all=1");
    let link =
        list.split("class=\"row-link ellipsis\" href=\"").nth(1).and_then(|rest| rest.split('"').next());
    let page = server.get_body(link.unwrap_or_default());
    assert!(page.contains("data-text=\"cd ./-P &amp;&amp; claude --resume\""), "{page}");
}
