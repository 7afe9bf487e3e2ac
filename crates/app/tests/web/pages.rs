//! What the pages show: everything is well formed, filters filter, and hostile text is only ever text.

use crate::actions::action_server::between;
use crate::client::Site;
use crate::fixtures::{self, POISON, Session};
use crate::home::Home;
use crate::markup::check;

/// Every page and piece of a store.
const TARGETS: &[&str] = &[
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
    "/search?q=an+answer&n=0&all=1&patient=1",
    "/search?q=%FF%FE&q=2",
    "/search/hits?q=answer",
    "/search/hits?q=is%3A",
    "/search/hits",
];

#[test]
fn every_page_is_well_formed() {
    for site in [Site::demo(), Site::of(fixtures::small())] {
        for target in TARGETS {
            let page = site.page(target);
            assert_eq!(check(&page), Ok(()), "{target}\n{page}");
        }
    }
    let page = Site::demo().page("/");
    assert!(page.contains("invented"), "a demo says so");
}

#[test]
fn what_is_not_there_is_said() {
    let site = Site::of(fixtures::small());
    for target in ["/nowhere", "/s/nothing/preview", "/assets/nothing.css"] {
        let answer = site.get(target);
        assert_eq!(answer.status, 404, "{target}");
        assert_eq!(check(&answer.body), Ok(()), "{target}");
    }
    assert!(site.page("/sessions?title=nobody").contains("No session matches"));
    assert!(site.page("/search?q=zebra").contains("Nothing holds"));
    assert!(site.page("/search?q=role%3Ausr").contains("does not take"));
    assert!(site.page("/sessions?since=soon").contains("is no time"));
}

#[test]
fn filters_filter_and_orders_order() {
    let site = Site::of(fixtures::small());
    // The titles that stand in a list, in order.
    let titles = |asked: &str| -> String {
        let page = site.page(&format!("/sessions{asked}"));
        let link = "class=\"row-link cut\"";
        let title = |part: &str| part.split_once('>')?.1.split_once('<').map(|(title, _)| title.to_owned());
        page.split(link).skip(1).filter_map(title).collect::<Vec<_>>().join("|")
    };
    let (kraken, blue, ebb) = ("fix the kraken", "paint it blue", "ebb");
    for (asked, wanted) in [
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
        assert_eq!(titles(asked), wanted, "{asked}");
    }
    let page = site.page("/sessions");
    assert!(page.contains("hidden: 1 headless") && page.contains("all=1"), "{page}");
}

#[test]
fn long_lists_come_in_pages() {
    let home = Home::new();
    let ids: Vec<String> = (0..120).map(|no| format!("{no:04}")).collect();
    for id in &ids {
        Session { id, ..Session::default() }.write(&home);
    }
    let site = Site::of(home);
    let count = |page: &str| page.matches("class=\"row\"").count();
    let first = site.page("/sessions?sort=oldest");
    assert_eq!(count(&first), 100);
    assert!(first.contains("href=\"/sessions?sort=oldest&amp;from=100\""), "the way to the rest");
    let rest = site.page("/sessions/rows?sort=oldest&from=100");
    assert_eq!((count(&rest), rest.contains("data-more")), (20, false));
}

#[test]
fn the_first_page_sums_up_by_repository() {
    let site = Site::of(fixtures::small());
    let page = site.page("/");
    assert!(page.contains("href=\"/sessions?repo=%2Fcode%2Fshop\""), "{page}");
    assert!(page.contains("2 sessions") && page.contains("1 worktree"), "{page}");
    assert!(!page.contains("%2Fcode%2Ftides"), "what is hidden is no project");
    let figures = site.get_with("/home/figures", &[("x-rethread", "piece")]);
    assert!(figures.body.contains("role=\"img\"") && !figures.body.contains("<html"), "{}", figures.body);
    assert!(site.page("/home/figures").contains("<html"), "without a script it is a page");
}

#[test]
fn a_preview_says_what_a_session_is_about() {
    let site = Site::of(fixtures::small());
    let piece = site.page(&format!("/s/{}/preview", Session::default().key()));
    assert!(
        piece.contains("fix the kraken") && piece.contains("/code/shop") && piece.contains("2.1.0"),
        "{piece}"
    );
    assert_eq!(check(&piece), Ok(()));
}

#[test]
fn hits_lead_to_their_line() {
    let site = Site::of(fixtures::small());
    let key = Session::default().key();
    let page = site.page("/search?q=arms");
    assert!(page.contains("and its <mark>arms</mark>") && page.contains("remembered"), "{page}");
    assert!(page.contains(&format!("href=\"/s/{key}#L3:q=arms\"")), "{page}");
    let piece = site.page("/search/hits?q=arms&limit=1");
    assert!(
        piece.contains(&format!("href=\"/s/{key}#L3:q=arms\"")) && piece.contains("role=\"option\""),
        "{piece}"
    );
    assert!(piece.contains("href=\"/search?q=arms\""), "{piece}");
    assert!(site.page("/search/hits?q=ar").contains("Go on typing"), "nearly everything holds two letters");
    let page = site.page("/search?q=answer&n=1");
    assert!(page.contains("the best 1 of 4 hits") && page.contains("n=4"), "{page}");
}

#[test]
fn a_subagent_is_read_on_its_own_page() {
    let site = Site::demo();
    let page = site.page("/search?q=is%3Asubagent");
    let key =
        between(&page, "class=\"found-link\" href=\"/s/", "/agent/").unwrap_or_else(|| panic!("{page}"));
    let list = site.page(&format!("/s/{key}/agents"));
    let agent = between(&list, &format!("href=\"/s/{key}/agent/"), "\"").unwrap_or_else(|| panic!("{list}"));
    let own = site.page(&format!("/s/{key}/agent/{agent}"));
    assert_eq!(check(&own), Ok(()));
    assert!(own.contains("id=\"t1\"") && own.contains(&format!("href=\"/s/{key}\"")), "{own}");
    let leaf = site.page(&format!("/s/{key}/agent/{agent}/leaf?no=0"));
    assert!(own.contains(&leaf) && leaf.contains("class=\"turn\""), "{leaf}");
    // In the page of its session the same is unfolded without a frame around it.
    let piece = site.get_with(&format!("/s/{key}/agent/{agent}"), &[("x-rethread", "piece")]);
    assert!(piece.body.contains(&leaf) && !piece.body.contains("<html"), "{}", piece.body);
}

#[test]
fn hostile_text_is_only_ever_text() {
    let home = Home::new();
    let session = Session { cwd: POISON, branch: POISON, prompts: &[POISON], ..Session::default() };
    session.write(&home);
    let site = Site::of(home);
    let preview = format!("/s/{}/preview", session.key());
    let targets = [
        "/",
        "/sessions",
        "/sessions/rows",
        "/search?q=alert",
        "/search/hits?q=alert",
        "/home/figures",
        &preview,
    ];
    for target in targets {
        let page = site.page(target);
        assert_eq!(check(&page), Ok(()), "{target}");
        for bad in ["<script>alert", "<img", "\u{1b}", "\u{202e}", "\0"] {
            assert!(!page.contains(bad), "{bad:?} in {target}: {page}");
        }
        assert!(target == "/home/figures" || page.contains("&lt;script&gt;"), "{target}");
    }
}

#[test]
fn a_damaged_session_says_so_above_its_turns() {
    let site = Site::demo();
    let list = site.page("/sessions");
    let keys = list.split("href=\"/s/").skip(1).filter_map(|rest| rest.split(['"', '/', '?', '#']).next());
    let keys: std::collections::BTreeSet<&str> = keys.collect();
    let damaged = keys
        .iter()
        .filter(|key| site.page(&format!("/s/{key}")).contains("The file is damaged: 1 defect in its lines"));
    assert_eq!(damaged.count(), list.matches(">damaged<").count());
    assert_eq!(list.matches(">damaged<").count(), 1);
}

/// A file whose name is no id is called by what its lines say, and they may say anything.
#[test]
fn what_is_to_be_pasted_has_no_options_of_a_session() {
    let home = Home::new();
    let id = "--dangerously-skip-permissions";
    let line = format!(
        r#"{{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"{id}","cwd":"-P","timestamp":"2026-01-01T10:00:00.000Z","message":{{"role":"user","content":"hello"}}}}"#
    );
    home.write_old(".claude/projects/-code/full.jsonl", format!("{line}\n"));
    let site = Site::of(home);
    let list = site.page("/sessions?all=1");
    let address = list.split("class=\"row-link cut\" href=\"").nth(1).and_then(|rest| rest.split('"').next());
    let page = site.page(address.unwrap_or_default());
    assert!(page.contains("data-text=\"cd ./-P &amp;&amp; claude --resume\""), "{page}");
}
