//! Journals of released versions are read for ever: the lines of version 1, frozen.
#![expect(clippy::disallowed_methods, reason = "tests write their own state folder")]

use rethread_engine::ops::{self, RenameRequest};
use rethread_engine::{Error, SessionWriter};

const V1: &str = include_str!("fixtures/journal_v1.jsonl");

fn state(journal: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("journal.jsonl"), journal).expect("it can be written");
    folder
}

#[test]
fn version_1_is_read() {
    let folder = state(V1);
    let rows = ops::log(&SessionWriter::new(folder.path().to_owned())).unwrap();
    let told: Vec<String> = rows
        .iter()
        .map(|row| {
            let names: Vec<_> =
                row.paths.iter().map(|path| path.file_name().unwrap().to_string_lossy()).collect();
            format!(
                "{} {} {} {:?} {:?} {} {names:?}",
                row.no, row.at.0, row.command, row.state, row.undoes, row.pruned
            )
        })
        .collect();
    let session = "65ab4bef-aa7f-43ab-b1a8-d98cea395f95.jsonl";
    assert_eq!(
        told,
        [
            format!("1 1794805986492 rename Undone(OpId(3)) None false [\"{session}\"]"),
            "2 1794805990000 rm Done None true [\"odd-\u{fffd}.jsonl\", \"side\"]".to_owned(),
            format!("3 1794805991000 undo Done Some(OpId(1)) false [\"{session}\"]"),
            "4 1794805992000 fork RolledBack None false [\"n.jsonl\"]".to_owned(),
        ]
    );
    assert_eq!(rows[0].about, "to \"the login bug\"");
}

#[test]
fn a_torn_line_is_ended_and_passed_over() {
    let folder = state(V1);
    let session = folder.path().join("s.jsonl");
    std::fs::write(&session, "{\"type\":\"user\",\"uuid\":\"a\",\"message\":{\"content\":\"x\"}}\n").unwrap();
    let pen = SessionWriter::new(folder.path().to_owned());
    let request = RenameRequest { path: session, title: "t".to_owned(), even_if_live: true, dry_run: false };
    assert_eq!(ops::rename(&pen, &request).unwrap().op.unwrap().0, 5);
    let journal = std::fs::read_to_string(folder.path().join("journal.jsonl")).unwrap();
    assert!(journal.starts_with(V1) && journal[V1.len()..].starts_with(['\n', '{']), "only ever added to");
    assert_eq!(ops::log(&pen).unwrap().len(), 5);
}

#[test]
fn a_newer_journal_is_not_touched() {
    let journal = format!("{V1}\n{{\"v\":2,\"op\":6,\"anything\":true}}\n");
    let folder = state(&journal);
    let pen = SessionWriter::new(folder.path().to_owned());
    assert!(matches!(ops::log(&pen), Err(Error::NewerJournal { .. })));
    assert_eq!(std::fs::read_to_string(folder.path().join("journal.jsonl")).unwrap(), journal);
}
