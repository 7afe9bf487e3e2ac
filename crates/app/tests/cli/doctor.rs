//! `doctor`: what it says, of one session and of a store. Which findings there are is tested in core.

use super::home::{Home, date};
use rethread_testkit::script;

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

/// Writes a session of the store from a script.
fn write(home: &Home, id: &str, text: &str) -> std::path::PathBuf {
    let bytes = String::from_utf8(script::bytes(text)).expect("a script is text");
    home.write(&format!(".claude/projects/-x/{id}.jsonl"), &bytes)
}

#[test]
fn a_clean_session_says_so() {
    let home = Home::new();
    write(&home, SESSION, "u1: one\n  a1: one");
    let run = home.run(&["doctor", "last"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("clean: nothing is wrong"), "{}", run.out);
    assert!(run.out.contains("bytes         "), "{}", run.out);
}

#[test]
fn a_finding_says_where_what_it_costs_and_what_mends_it() {
    let home = Home::new();
    write(&home, SESSION, "u1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two");
    let run = home.run(&["doctor", "1111"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let expected = [
        "2 findings that cost something",
        "costs         unreachable L1 L2",
        "a resume reaches 2 of 4 entries; 2 are cut off",
        "costs         missing-parent L3",
        "mend          rethread repair 1111",
    ];
    for words in expected {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
}

#[test]
fn a_store_is_examined_as_a_whole() {
    let home = Home::new();
    write(&home, SESSION, "* cwd=/no/such/folder\nu1: one\n  a1: one");
    let sick = "22222222-2222-4333-8444-555555555555";
    write(&home, sick, "u1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two");
    home.write(&format!(".claude/projects/-x/{}/tool-results/x.txt", SESSION.replace('1', "9")), "12345");
    let run = home.run(&["doctor"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let expected = [
        "2 sessions: 1 clean, 1 with a cost",
        "22222222",
        "retention-unset",
        "orphaned-folder",
        "1 folder of sessions that are gone, 5 B",
        "project-gone",
        "in all",
        "rethread doctor 22222222",
    ];
    for words in expected {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    let rows = run.out.lines().filter(|line| line.starts_with("costs ")).count();
    assert_eq!(rows, 1, "{}", run.out);
    assert_eq!(home.run(&["doctor", "--all"]).out, run.out);
}

#[test]
fn the_setting_of_retention_is_read() {
    let home = Home::new();
    let file = write(&home, SESSION, "u1: one\n  a1: one");
    let said = |settings: &str| {
        home.write(".claude/settings.json", settings);
        let run = home.run(&["doctor"]);
        (run.code, run.out)
    };
    let (code, out) = said(r#"{"cleanupPeriodDays": 0}"#);
    assert!(code == 1 && out.contains("retention-zero") && out.contains("does not mean forever"), "{out}");
    assert!(out.contains("expires-soon"), "{out}");
    let (code, out) = said(r#"{"cleanupPeriodDays": 99999}"#);
    assert!(code == 0 && !out.contains("retention") && !out.contains("expires"), "{out}");
    let (code, out) = said(r#"{"cleanupPeriodDays": "never"}"#);
    assert!(code == 1 && out.contains("retention-unreadable"), "{out}");
    let (_, out) = said(r#"{"model": "x"}"#);
    assert!(out.contains("retention-unset") && !out.contains("expires-soon"), "{out}");
    // Twenty-five of thirty days have gone by.
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(25 * 86_400);
    date(&file, then);
    let (code, out) = said(r#"{"model": "x"}"#);
    assert!(code == 1 && out.contains("the client deletes 1 session within 7 days"), "{out}");
    let (_, out) = said(r#"{"cleanupPeriodDays": 10}"#);
    assert!(out.contains("retention-short") && out.contains("1 of them at its next start"), "{out}");
}
