//! Journals of all released versions can be read. The fixture contains the lines of version 1.
#![expect(clippy::disallowed_methods, reason = "tests write their own state folder")]

use rethread_engine::ops;
use rethread_engine::ops::rename::RenameRequest;
use rethread_engine::{Error, SessionWriter};

const V1: &str = include_str!("fixtures/journal_v1.jsonl");

fn write_journal(journal: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("journal.jsonl"), journal).expect("the journal can be written");
    folder
}

#[test]
fn journal_of_version_1_can_be_read() {
    let folder = write_journal(V1);
    let rows = ops::log::log(&SessionWriter::new(folder.path().to_owned())).unwrap();
    let texts: Vec<String> = rows
        .iter()
        .map(|row| {
            let names: Vec<_> =
                row.paths.iter().map(|path| path.file_name().unwrap().to_string_lossy()).collect();
            format!(
                "{} {} {} {:?} {:?} {} {names:?}",
                row.id, row.started_at.0, row.command, row.status, row.undoes, row.pruned
            )
        })
        .collect();
    let session = "65ab4bef-aa7f-43ab-b1a8-d98cea395f95.jsonl";
    assert_eq!(
        texts,
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
fn torn_line_is_terminated_and_skipped() {
    let folder = write_journal(V1);
    let session = folder.path().join("s.jsonl");
    std::fs::write(&session, "{\"type\":\"user\",\"uuid\":\"a\",\"message\":{\"content\":\"x\"}}\n").unwrap();
    let writer = SessionWriter::new(folder.path().to_owned());
    let request = RenameRequest { path: session, title: "t".to_owned(), even_if_live: true, dry_run: false };
    assert_eq!(ops::rename::rename(&writer, &request).unwrap().op.unwrap().0, 5);
    let journal = std::fs::read_to_string(folder.path().join("journal.jsonl")).unwrap();
    assert!(
        journal.starts_with(V1) && journal[V1.len()..].starts_with(['\n', '{']),
        "the journal is only appended to"
    );
    assert_eq!(ops::log::log(&writer).unwrap().len(), 5);
}

#[test]
fn newer_journal_is_not_changed() {
    let journal = format!("{V1}\n{{\"v\":2,\"op\":6,\"anything\":true}}\n");
    let folder = write_journal(&journal);
    let writer = SessionWriter::new(folder.path().to_owned());
    assert!(matches!(ops::log::log(&writer), Err(Error::NewerJournal { .. })));
    assert_eq!(std::fs::read_to_string(folder.path().join("journal.jsonl")).unwrap(), journal);
}
