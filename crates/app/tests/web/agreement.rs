//! Pages and commands agree on title, facts, turns and losses of a session, before and after a goto to any message.

use std::collections::BTreeSet;

use rethread_engine::core::resume::KNOWN_CLIENTS;

use crate::actions::action_server::{ActionServer, SESSION, between};

/// Sessions with branches, a compaction, damage, and an answer above its prompt.
const SCRIPTS: [&str; 5] = [
    "u1: one\n  a1: one\n    u2: two\n      a2: two\n    u3: three\n      a3: three\n        u4: four\n          a4: four",
    "* v=2.1.326\nu1: one\n  a1: one\n    u2: two\n      a2: two\n        s1: compact_boundary\nu3 ^s1 recap: so far\n  u4: three\n    a4: three",
    "u1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two",
    "* v=2.0.76\nu1: one\n  a1 #m1: !Bash x\n    a2 #m1: !Bash y\n      u3: =a2 second\n    u2: =a1 first\n      a3: done",
    "a1 ^u1: one\nu1: one\n  u2 ^a1: two\n    a2: two",
];

/// Returns the numbers of the turns on the session page.
fn list_page_turns(body: &str) -> BTreeSet<u64> {
    let articles = body.split("<article ").skip(1).filter_map(|article| article.split_once('>'));
    articles.filter_map(|(tag, _)| between(tag, "data-turn=\"", "\"")?.parse().ok()).collect()
}

/// Compares the pages of a session with the output of the commands. Returns whether a resume loses entries.
fn check_agreement(server: &ActionServer, context: &str) -> bool {
    let home = server.home();
    let page = server.get_page(&format!("/s/{SESSION}")).body;
    let shown = home.run_json_lines(&["show", SESSION, "--json"]);
    let shown: BTreeSet<u64> = shown
        .iter()
        .filter(|object| object["type"] == "turn")
        .filter_map(|turn| turn["turn"].as_u64())
        .collect();
    assert_eq!(list_page_turns(&page), shown, "{context}");
    let header = home.run(&["show", SESSION]).out;
    let facts = between(&page, "<p class=\"session-facts muted num\">", "</p>").expect("the page has facts");
    let is_compared =
        |fact: &&str| fact.ends_with('B') || fact.contains("turn") || fact.contains("compaction");
    for fact in facts.split(" · ").filter(is_compared) {
        assert!(header.contains(fact), "{context}: {fact:?} is not in\n{header}");
    }
    let row = home.run_json(&["ls", "--all", "--json"]);
    let title = row["title"].as_str().expect("a title");
    assert!(
        header.starts_with(title)
            && between(&page, "<h1", "</h1>").is_some_and(|heading| heading.contains(title)),
        "{context}: {title}"
    );
    let counts = home.run(&["branches", SESSION]).out;
    let counts = counts.lines().find(|line| line.contains("branch") && line.contains('·')).expect("a footer");
    let buttons = page.split("/branches\">").skip(1).filter_map(|rest| rest.split("</a>").next());
    for button in buttons.filter(|label| label.starts_with(char::is_numeric)) {
        assert!(counts.starts_with(button), "{context}: {button:?} is not in {counts:?}");
    }
    // The banner, `explain` and `doctor` report the same losses.
    let branches = server.get_page(&format!("/s/{SESSION}/branches")).body;
    let has_banner = branches.contains("<details class=\"resume-banner");
    let explain_codes = ["", KNOWN_CLIENTS[KNOWN_CLIENTS.len() - 1]].map(|client| {
        let client: &[&str] = if client.is_empty() { &[] } else { &["--client", client] };
        home.run(&[&["explain", SESSION], client].concat()).code
    });
    let is_lost = explain_codes.contains(&1);
    // Exit code 1 reports findings.
    let findings = home.run(&["doctor", SESSION, "--json"]).out;
    let has_loss = findings
        .lines()
        .any(|line| line.contains(r#""code":"unreachable""#) && line.contains(r#""severity":"warning""#));
    assert_eq!((has_banner, has_loss), (is_lost, is_lost), "{context}: {explain_codes:?}");
    is_lost
}

#[test]
fn pages_agree_with_commands_before_and_after_a_goto() {
    let (mut goto_count, mut loss_count) = (0, 0);
    for text in SCRIPTS {
        let server = ActionServer::new(text);
        loss_count += u32::from(check_agreement(&server, text));
        for line in 1..=text.lines().filter(|line| !line.starts_with('*')).count() {
            let server = ActionServer::new(text);
            let before = server.read_session();
            let target = format!("L{line}");
            server.post(&format!("/s/{SESSION}/action/goto"), &[("at", &target), ("go", "do")]);
            goto_count += u32::from(server.read_session() != before);
            loss_count += u32::from(check_agreement(&server, &format!("{text}\ngoto {target}")));
        }
    }
    // Some lines cannot be resumed from, and most sessions lose nothing.
    assert!(goto_count > 20 && (2..20).contains(&loss_count), "{goto_count} {loss_count}");
}
