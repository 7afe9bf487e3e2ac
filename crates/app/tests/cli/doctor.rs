//! `doctor`: output for one session and for a store. The checks themselves are tested in core.

use rethread_engine::core::resume::KNOWN_CLIENTS;
use rethread_testkit::home::{Home, set_modified};
use rethread_testkit::script;

use crate::new_home;

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

/// Writes a session file from a script.
fn write_session(home: &Home, id: &str, text: &str) -> std::path::PathBuf {
    let bytes = String::from_utf8(script::bytes(text)).expect("a script is text");
    home.write(&format!(".claude/projects/-x/{id}.jsonl"), &bytes)
}

#[test]
fn a_session_without_problems_is_reported_as_such() {
    let home = new_home();
    write_session(&home, SESSION, "u1: one\n  a1: one");
    let run = home.run(&["doctor", "last"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("no problems"), "{}", run.out);
    assert!(run.out.contains("size          "), "{}", run.out);
}

#[test]
fn a_finding_lists_lines_effect_and_fix() {
    let home = new_home();
    write_session(&home, SESSION, "u1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two");
    let run = home.run(&["doctor", "1111"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let expected = [
        "2 warnings",
        "warning       unreachable, unreachable entries L1 L2",
        "a resume loads 2 of 4 entries; 2 are unreachable",
        "warning       missing-parent, missing parent L3",
        "fix           rethread repair 1111",
    ];
    run.assert_out_contains(&expected);
}

#[test]
fn the_report_of_a_store_summarizes_all_sessions() {
    let home = new_home();
    write_session(&home, SESSION, "* cwd=/no/such/folder\nu1: one\n  a1: one");
    let damaged = "22222222-2222-4333-8444-555555555555";
    write_session(&home, damaged, "u1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two");
    home.write(&format!(".claude/projects/-x/{}/tool-results/x.txt", SESSION.replace('1', "9")), "12345");
    let run = home.run(&["doctor"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let expected = [
        "2 sessions: 1 without problems, 1 with warnings",
        "22222222",
        "retention-unset",
        "orphaned-folder",
        "1 folder of deleted sessions, 5 B",
        "project-gone",
        "total  ",
        "rethread doctor 22222222",
    ];
    run.assert_out_contains(&expected);
    let rows = run.out.lines().filter(|line| line.starts_with("warning ")).count();
    // The session, the deleted project folder and the retention time.
    assert_eq!(rows, 3, "{}", run.out);
    assert_eq!(home.run(&["doctor", "--all"]).out, run.out);
}

#[test]
fn the_retention_setting_is_checked() {
    let home = new_home();
    let file = write_session(&home, SESSION, "* cwd=/\nu1: one\n  a1: one");
    let run_with_settings = |settings: &str| {
        home.write(".claude/settings.json", settings);
        let run = home.run(&["doctor"]);
        (run.code, run.out)
    };
    let (code, out) = run_with_settings(r#"{"cleanupPeriodDays": 0}"#);
    assert!(code == 1 && out.contains("retention-zero") && out.contains("does not mean forever"), "{out}");
    assert!(out.contains("expires-soon"), "{out}");
    let (code, out) = run_with_settings(r#"{"cleanupPeriodDays": 99999}"#);
    assert!(code == 0 && !out.contains("retention") && !out.contains("expires"), "{out}");
    let (code, out) = run_with_settings(r#"{"cleanupPeriodDays": "never"}"#);
    assert!(code == 1 && out.contains("retention-unreadable"), "{out}");
    let (_, out) = run_with_settings(r#"{"model": "x"}"#);
    assert!(out.contains("retention-unset") && !out.contains("expires-soon"), "{out}");
    // 25 of the default 30 days have passed.
    let modified = std::time::SystemTime::now() - std::time::Duration::from_secs(25 * 86_400);
    set_modified(&file, modified);
    let (code, out) = run_with_settings(r#"{"model": "x"}"#);
    assert!(code == 1 && out.contains("the client deletes 1 session within 7 days"), "{out}");
    let (_, out) = run_with_settings(r#"{"cleanupPeriodDays": 10}"#);
    assert!(out.contains("retention-short") && out.contains("1 of them at its next start"), "{out}");
}

#[test]
fn file_without_a_readable_line_is_an_error() {
    let home = new_home();
    home.write(&format!(".claude/projects/-x/{SESSION}.jsonl"), "\u{1}noise\u{2}\nmore noise\n");
    let run = home.run(&["doctor", SESSION]);
    assert_eq!(run.code, 1, "{}", run.err);
    run.assert_out_contains(&[
        "error         no-entry, nothing readable L1 L2",
        "no line can be read",
        "2 lines that cannot be parsed as JSON; clients skip them",
    ]);
    assert_eq!(home.run(&["explain", SESSION]).code, 1);
    assert_eq!(home.run(&["repair", SESSION, "--dry-run"]).code, 1);
}

#[test]
fn doctor_and_ls_show_the_same_title() {
    let home = new_home();
    let damaged = "* v=2.0.1\nu1: one\n  a1: one\nu2 ^gone @+60: two\n  a2: two";
    write_session(&home, SESSION, damaged);
    // Old clients write the title of a session into another file.
    let other = "22222222-2222-4333-8444-555555555555";
    write_session(&home, other, "* v=2.0.1\nsummary ~a2: A title from elsewhere\nu8: eight\n  a8: eight");
    let title = "A title from elsewhere";
    for command in [&["ls"][..], &["doctor"], &["doctor", SESSION], &["explain", SESSION]] {
        let run = home.run(command);
        assert!(run.out.contains(title), "{command:?}: {}", run.out);
    }
}

#[test]
fn entries_that_only_the_newest_client_loses_are_reported() {
    let home = new_home();
    let text = "* v=2.0.65\nu1: one\n  a1: one\n    u2 @+60: two\n      a2: two\nu3 ^gone @+-30: three";
    write_session(&home, SESSION, text);
    let run = home.run(&["doctor", SESSION]);
    assert_eq!(run.code, 1, "{}", run.err);
    let newest = KNOWN_CLIENTS[KNOWN_CLIENTS.len() - 1];
    let effect = format!("Claude Code {newest} loses 4 of 5 entries; Claude Code 2.0.65 does not");
    run.assert_out_contains(&[effect.as_str()]);
    let codes = ["2.0.65", newest].map(|client| home.run(&["explain", SESSION, "--client", client]).code);
    assert_eq!(codes, [1, 1]);
}

/// Sets the age of a session so that the client deletes it after `remaining` days of its default of 30.
fn set_remaining_days(path: &std::path::Path, remaining: f64) {
    let age = std::time::Duration::from_secs_f64((30.0 - remaining) * 86_400.0);
    set_modified(path, std::time::SystemTime::now() - age);
}

/// Returns the severity of each finding about the store, by code.
fn store_findings(home: &Home) -> std::collections::BTreeMap<String, String> {
    let run = home.run(&["doctor", "--json"]);
    let lines = run.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let findings = lines.filter(|line| line["type"] == "finding" && line["session"].is_null());
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    findings.map(|finding| (text(&finding["code"]), text(&finding["severity"]))).collect()
}

#[test]
fn sessions_that_will_be_lost_are_errors_and_archived_ones_are_not() {
    let home = new_home();
    let file = write_session(&home, SESSION, "* cwd=/\nu1: one\n  a1: one");
    let severity = |remaining: f64, code: &str| {
        set_remaining_days(&file, remaining);
        store_findings(&home).get(code).cloned()
    };
    for (remaining, expected) in [(8.0, None), (5.0, Some("warning")), (-10.0, Some("error"))] {
        assert_eq!(severity(remaining, "expires-soon").as_deref(), expected, "{remaining} days");
    }
    set_remaining_days(&file, 1.5);
    let out = home.run(&["doctor"]).out;
    assert!(
        out.contains("not all of it is in the archive") && out.contains("fix           rethread archive\n"),
        "{out}"
    );
    assert_eq!(home.run(&["archive"]).code, 0);
    for (remaining, expected) in [(8.0, None), (1.5, Some("info")), (-1.0, Some("info"))] {
        assert_eq!(severity(remaining, "expires-archived").as_deref(), expected, "{remaining} days");
        assert_eq!(severity(remaining, "expires-soon"), None);
    }
    // An append makes the archive incomplete.
    home.append(&format!(".claude/projects/-x/{SESSION}.jsonl"), "{\"type\":\"mark\"}\n");
    assert_eq!(severity(1.5, "expires-soon").as_deref(), Some("error"));
    // The user does not want to keep a forgotten session.
    assert_eq!(home.run(&["archive", "forget", SESSION, "--yes"]).code, 0);
    assert_eq!((severity(1.5, "expires-soon"), severity(1.5, "expires-archived")), (None, None));
}

#[test]
fn a_missing_archive_is_reported() {
    let home = new_home();
    assert_eq!(store_findings(&home).get("archive-missing"), None, "there is nothing to archive");
    write_session(&home, SESSION, "* cwd=/\nu1: one\n  a1: one");
    assert_eq!(store_findings(&home)["archive-missing"], "info");
    assert_eq!(home.run(&["archive"]).code, 0);
    assert!(!store_findings(&home).contains_key("archive-missing"));
}

#[test]
fn managed_settings_have_precedence_and_desktop_sessions_have_their_own_setting() {
    let home = new_home();
    write_session(&home, SESSION, "* cwd=/\nu1: one\n  a1: one");
    home.write(".claude/settings.json", r#"{"cleanupPeriodDays": 3650}"#);
    assert!(!store_findings(&home).contains_key("retention-short"));
    let managed = home.write("managed.json", r#"{"cleanupPeriodDays": 7}"#);
    let mut command = home.command(&["doctor"]);
    command.env("RETHREAD_MANAGED_SETTINGS", &managed);
    let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(out.contains("retention-short") && out.contains("7 days"), "{out}");
    let mut command = home.command(&["archive", "status"]);
    command.env("RETHREAD_MANAGED_SETTINGS", &managed);
    let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(out.contains("retention     7 days in ~/.claude\n"), "{out}");
    for (days, is_reported) in [("0", false), ("14", true), ("\"x\"", false)] {
        let settings = format!(r#"{{"cleanupPeriodDays": 3650, "desktopSessionCleanupPeriodDays": {days}}}"#);
        home.write(".claude/settings.json", settings);
        assert_eq!(store_findings(&home).contains_key("desktop-retention"), is_reported, "{days}");
    }
}
