//! Every action: asked for, previewed, done, taken back, done again.

use super::action_server::{Deck, EDITED, SESSION, between};
use crate::client::Answer;
use rethread_testkit::script;

/// What an action leaves behind.
#[derive(Clone, Copy, PartialEq)]
enum Leaves {
    /// So many lines at the end of the session.
    Lines(usize),
    /// A new session.
    File,
}

/// A session, an action, its fields, what it leaves, and words of the command that does the same.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)], Leaves, &'static str);

/// A session in which a line names a parent that is not there.
const BROKEN: &str = "
    u1: sort the harbours
      a1: sorted
    u2 ^gone @+60: by name
      a2: by name it is
";

fn op(answer: &Answer) -> String {
    between(&answer.body, "name=\"op\" value=\"", "\"").expect("what was done can be undone").to_owned()
}

#[test]
fn nothing_moves_before_it_is_said_and_everything_comes_back() {
    let cases: [Case; 6] = [
        (EDITED, "goto", &[("at", "L6")], Leaves::Lines(2), "rethread goto"),
        (EDITED, "goto", &[("at", "L7"), ("before", "1")], Leaves::Lines(2), "--before"),
        (EDITED, "fork", &[("at", "L6"), ("title", "the other way")], Leaves::File, "--title"),
        (EDITED, "clone", &[("preset", "bare")], Leaves::File, "rethread clone"),
        (EDITED, "rename", &[("title", "harbours, sorted")], Leaves::Lines(2), "rethread rename"),
        (BROKEN, "repair", &[], Leaves::File, "rethread repair"),
    ];
    for (text, what, fields, leaves, command) in cases {
        let deck = Deck::new(text);
        let address = format!("/s/{SESSION}/act/{what}");
        let query: Vec<String> = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", super::action_server::encoded(value)))
            .collect();
        let before = deck.picture();
        let asked = deck.get(&format!("{address}?{}", query.join("&")));
        assert_eq!(asked.status, 200, "{what}: {}", asked.body);
        let go =
            |go: &'static str| -> Vec<(&str, &str)> { fields.iter().copied().chain([("go", go)]).collect() };
        let preview = deck.post(&address, &go("preview"));
        assert!(preview.status == 200 && preview.body.contains("Do it"), "{what}: {}", preview.body);
        assert!(preview.body.contains(command), "{what}: {}", preview.body);
        assert_eq!(deck.picture(), before, "{what}: a preview writes nothing");

        let done = deck.post(&address, &go("do"));
        assert_eq!(done.status, 200, "{what}: {}", done.body);
        assert!(done.body.contains(&format!("data-changed=\"{SESSION}\"")), "{what}: {}", done.body);
        let after = deck.picture();
        match leaves {
            Leaves::Lines(number) => {
                assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>(), "{what}");
                let session = deck.session();
                let old = script::bytes(text);
                assert!(session.starts_with(&old), "{what}: lines are only added");
                let added = &session[old.len()..];
                assert_eq!(added.iter().filter(|&&byte| byte == b'\n').count(), number, "{what}");
                if what == "goto" {
                    assert!(done.body.contains("claude --resume"), "{}", done.body);
                    let promised = between(&preview.body, "at the end, ", ";").expect("the size is promised");
                    assert_eq!(promised, format!("{} B", added.len()).as_str(), "{what}");
                }
            }
            Leaves::File => {
                let kept = before.iter().all(|(path, bytes)| after.get(path) == Some(bytes));
                let made = after.keys().filter(|path| !before.contains_key(*path)).count();
                assert!(kept && made == 1, "{what}: one new file beside the others");
                let new =
                    between(&done.body, "button-main\" href=\"", "\"").expect("the new session is offered");
                assert!(new.starts_with("/s/") && !new.contains(SESSION), "{what}: {new}");
                assert!(done.body.contains("claude --resume"), "{what}: {}", done.body);
            }
        }

        let undone = deck.post("/undo", &[("op", &op(&done)), ("key", SESSION)]);
        assert_eq!(undone.status, 200, "{what}: {}", undone.body);
        assert_eq!(deck.picture(), before, "{what}: every byte comes back");
        let again = deck.post("/undo", &[("op", &op(&undone)), ("key", SESSION)]);
        assert_eq!((again.status, deck.picture()), (200, after), "{what}: and goes again");
    }
}

#[test]
fn nothing_is_done_that_was_not_seen() {
    let deck = Deck::new(EDITED);
    let address = format!("/s/{SESSION}/act/goto");
    let mark = |answer: &Answer| between(&answer.body, "name=\"mark\" value=\"", "\"").unwrap().to_owned();
    let seen = mark(&deck.post(&address, &[("at", "L6"), ("go", "preview")]));
    deck.append("u9 ^a4 @+900: and now by size\n  a9: by size it is");
    let grown = deck.picture();
    let again = deck.post(&address, &[("at", "L6"), ("go", "do"), ("mark", &seen)]);
    assert!(again.status == 200 && again.body.contains("Do it"), "{}", again.body);
    assert!(again.body.contains("changed since this was shown"), "{}", again.body);
    assert_eq!(deck.picture(), grown, "nothing was written");
    let done = deck.post(&address, &[("at", "L6"), ("go", "do"), ("mark", &mark(&again))]);
    assert!(done.body.contains("data-changed") && deck.picture() != grown, "{}", done.body);
}

#[test]
fn a_page_ends_where_clients_go_on_also_before_a_fork() {
    let deck = Deck::new(EDITED);
    let done = deck.post(&format!("/s/{SESSION}/act/goto"), &[("at", "t1"), ("go", "do")]);
    assert_eq!(done.status, 200, "{}", done.body);
    let page = deck.page(&format!("/s/{SESSION}")).body;
    let turns = ["t1", "t2", "t3"].map(|turn| page.contains(&format!("id=\"{turn}\"")));
    assert_eq!(turns, [true, false, false]);
}

#[test]
fn the_log_tells_it_and_takes_it_back() {
    let deck = Deck::new(EDITED);
    assert!(deck.page("/log").body.contains("Nothing yet"));
    let before = deck.picture();
    deck.post(&format!("/s/{SESSION}/act/rename"), &[("title", "a <b>bold</b> title"), ("go", "do")]);
    let log = deck.page("/log");
    assert!(
        log.body.contains("a &lt;b&gt;bold&lt;/b&gt; title") && !log.body.contains("<b>"),
        "{}",
        log.body
    );
    let undone = deck.post("/undo", &[("op", &op(&log)), ("key", "")]);
    assert_eq!((undone.status, deck.picture()), (200, before));
    assert!(deck.page("/log").body.contains("undone by"));
    let twice = deck.post("/undo", &[("op", "1")]);
    assert_eq!(twice.status, 422, "{}", twice.body);
    assert!(twice.body.contains("op 1 was undone by op 2"), "{}", twice.body);
}

#[test]
fn without_the_script_every_answer_is_a_page() {
    let deck = Deck::new(EDITED);
    let (seal, address) = (deck.seal(), format!("/s/{SESSION}/act/goto"));
    let page = deck.page(&format!("{address}?at=L6"));
    assert!(page.body.starts_with("<!DOCTYPE html>") && page.body.contains("Do it"), "{}", page.body);
    let fields = [("seal", seal.as_str()), ("at", "L6"), ("go", "do")];
    let done = deck.post_with(&address, &fields, &[]);
    assert!(done.status == 200 && done.body.starts_with("<!DOCTYPE html>"), "{}", done.body);
    let failed = deck.post_with(&address, &[("seal", &seal), ("at", "L999"), ("go", "do")], &[]);
    assert!(failed.status == 404 && failed.body.starts_with("<!DOCTYPE html>"), "{}", failed.body);
}

#[test]
fn branches_are_listed_compared_and_drawn() {
    let deck = Deck::new(EDITED);
    let list = deck.page(&format!("/s/{SESSION}/branches"));
    for words in ["2 branches", "resumes here", "by name", "by code instead", "edit 2/2", "data-act=\"goto\""]
    {
        assert!(list.body.contains(words), "{words}: {}", list.body);
    }
    let diff = deck.page(&format!("/s/{SESSION}/diff?pick=L8&pick=L6"));
    for words in ["In common: 1 turn", "by code it is", "by name it is", "resumes here", "Go on from here"] {
        assert!(diff.body.contains(words), "{words}: {}", diff.body);
    }
    let same = deck.page(&format!("/s/{SESSION}/diff?a=L6&b=L6"));
    assert!(same.body.contains("nothing to compare"), "{}", same.body);
    let one = deck.page(&format!("/s/{SESSION}/diff?pick=L6"));
    assert!(one.status == 200 && one.body.contains("Choose two branches"), "{}", one.body);
    assert_eq!(deck.page(&format!("/s/{SESSION}/diff?a=L6&b=L99")).status, 404);
    let tree = deck.page(&format!("/s/{SESSION}/tree"));
    assert!(tree.body.contains("active tip L8") && !tree.body.contains("<style"), "{}", tree.body);
}

#[test]
fn what_a_resume_would_lose_stands_above_the_branches() {
    let straight = "u1: one\n  a1: one\n    u2: two\n      a2: two";
    let left = "u1: one\n  a1: one\n    u2: two\n      a2: two\n    u3: three\n      a3: three";
    let cases: [(&str, &str, &str, &str); 6] = [
        ("custom-title: nothing was said", "", "", ""),
        (straight, "", "", ""),
        (left, "", "", ""),
        (
            left,
            "L4",
            "Resume goes on from an older branch: the newest entry, L6, is not on it",
            "data-at=\"L6\"",
        ),
        (BROKEN, "", "A resume would lose 1 turn", "data-act=\"repair\""),
        (BROKEN, "", "<code>L3</code>: its parent is in no line", "rethread repair"),
    ];
    for (text, goto, line, act) in cases {
        let deck = Deck::new(text);
        if !goto.is_empty() {
            deck.post(&format!("/s/{SESSION}/act/goto"), &[("at", goto), ("go", "do")]);
        }
        let page = deck.page(&format!("/s/{SESSION}/branches"));
        let banner = between(&page.body, "<details class=\"verdict", "</details>").unwrap_or_default();
        assert_eq!(banner.is_empty(), line.is_empty(), "{text}: {banner}");
        assert!(banner.contains(line) && banner.contains(act), "{text}: {banner}");
    }
}
