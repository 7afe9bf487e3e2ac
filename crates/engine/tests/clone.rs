//! Copies of sessions: the report of a copy accounts for every line, and a rescue states the size that it reached.

#![expect(clippy::disallowed_methods, reason = "the tests write session files of their own")]

use std::path::{Path, PathBuf};

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::trim::{ContentKind, TrimOptions, TrimPreset};
use rethread_engine::ops::clone::CloneRequest;
use rethread_engine::ops::rescue::RescueRequest;
use rethread_engine::{Error, SessionWriter, ops};
use rethread_testkit::{real, script};

/// A session with a fork, subagent lines, damaged lines and state lines.
const DAMAGED: &str = "
* v=2.1.325
mode: normal
u1: plan the beds
  a1: ?hm | !Bash ls
    u2: =a1 three
      a2: plant beans
    u3: plant peas
      a3: planted peas
raw: no JSON

raw: {\"type\":\"user\",\"uuid\":\"x
file-history-snapshot ~u1: {}
file-history-snapshot ~u2: {}
raw: {\"type\":\"api-request-shape\",\"sessionId\":\"x\",\"shapeHash\":\"s1\",\"shape\":{}}
raw: {\"type\":\"mode\",\"mode\":\"a\"}{\"type\":\"mode\",\"mode\":\"b\"}
custom-title: the garden
last-prompt ~a3: plant peas
mode: plan
";

fn write_session(folder: &Path, bytes: &[u8]) -> PathBuf {
    let project = folder.join("projects/-home-ada-shed");
    std::fs::create_dir_all(&project).expect("the folder can be created");
    let path = project.join(format!("{}.jsonl", script::uuid_from_name("session")));
    std::fs::write(&path, bytes).expect("the file can be written");
    path
}

/// Returns options of every kind.
fn list_options() -> Vec<TrimOptions> {
    let dropped = ContentKind::ALL.map(|kind| {
        let mut options = TrimOptions::default();
        options.add_kind(kind);
        options
    });
    let last = TrimOptions { keep_last: Some(1), ..TrimOptions::default() };
    TrimPreset::ALL.map(TrimPreset::options).into_iter().chain(dropped).chain([last]).collect()
}

/// Checks that the lines of each copy and the omitted lines are the lines of the session. Returns the number of copies.
fn check_copies(path: &Path, branch: Option<&str>) -> usize {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let writer = SessionWriter::new(folder.path().join("state"));
    let mut copies = 0;
    for trim in list_options() {
        let request = CloneRequest {
            path: path.to_owned(),
            branch: branch.map(str::to_owned),
            trim: trim.clone(),
            now: Timestamp(1_900_000_000_000),
            dry_run: true,
            ..CloneRequest::default()
        };
        let Ok(copy) = ops::clone::clone(&request, &writer) else { continue };
        let omitted = copy.savings.total().lines;
        assert_eq!(
            copy.before.lines,
            copy.after.lines + omitted,
            "{}: {trim:?}: {:?}",
            path.display(),
            copy.savings.iter().collect::<Vec<_>>()
        );
        assert_eq!(copy.after.lines, copy.session.lines as u64);
        copies += 1;
    }
    copies
}

#[test]
fn every_line_of_a_session_is_copied_or_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = write_session(folder.path(), &script::bytes(DAMAGED));
    assert_eq!(check_copies(&path, None) + check_copies(&path, Some("L5")), 26);
    let sessions = ["RETHREAD_GOLDEN", "RETHREAD_CORPUS"]
        .into_iter()
        .flat_map(|variable| real::find_sessions("lines of copies", variable));
    for path in sessions.filter(|path| path.metadata().is_ok_and(|meta| meta.len() < 200_000)).step_by(7) {
        check_copies(&path, None);
    }
}

#[test]
fn a_rescue_that_fails_states_the_size_that_it_reached() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut text = String::new();
    for turn in 0..30 {
        let indent = "  ".repeat(turn * 2);
        text += &format!(
            "{indent}u{turn}: prompt {turn} of some length that the note repeats in the copy, word by word\n"
        );
        text += &format!("{indent}  a{turn} in=700: yes\n");
    }
    let path = write_session(folder.path(), &script::bytes(&text));
    let writer = SessionWriter::new(folder.path().join("state"));
    let rescue = |max_tokens| {
        let request =
            RescueRequest { path: path.clone(), max_tokens, dry_run: true, ..RescueRequest::default() };
        ops::rescue::rescue(&request, &writer)
    };
    let mut failures = 0;
    for max_tokens in (20..690).step_by(20) {
        match rescue(max_tokens) {
            Err(Error::CannotFit { fit, min }) => {
                failures += 1;
                assert!(min > fit, "{min} tokens do not fit into {fit}");
            }
            result => drop(result.expect("the session fits")),
        }
    }
    assert!(failures > 2, "{failures}");
}
