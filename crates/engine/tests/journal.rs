//! Journals of all released versions can be read. The fixture contains the lines of version 1.
#![expect(clippy::disallowed_methods, reason = "tests write their own state folder")]

use rethread_engine::SessionWriter;
use rethread_engine::ops;
use rethread_engine::ops::rename::RenameRequest;

const V1: &str = include_str!("fixtures/journal_v1.jsonl");

fn write_journal(journal: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("journal.jsonl"), journal).expect("the journal can be written");
    folder
}

#[test]
fn journal_of_version_1_can_be_read() {
    let folder = write_journal(V1);
    let log = ops::log::log(&SessionWriter::new(folder.path().to_owned())).unwrap();
    assert!(log.damage.is_none(), "{:?}", log.damage);
    let rows = log.ops;
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

/// Renames a session with a journal and returns the id of the op.
fn rename_session(folder: &std::path::Path) -> u64 {
    let session = folder.join("s.jsonl");
    std::fs::write(&session, "{\"type\":\"user\",\"uuid\":\"a\",\"message\":{\"content\":\"x\"}}\n")
        .expect("the session can be written");
    let writer = SessionWriter::new(folder.to_owned());
    let request = RenameRequest { path: session, title: "t".to_owned(), even_if_live: true, dry_run: false };
    ops::rename::rename(&writer, &request).expect("the session is renamed").op.expect("an op").0
}

#[test]
fn torn_line_is_terminated_and_skipped() {
    let torn = "{\"v\":2,\"op\":5,\"at\":17948";
    let folder = write_journal(&format!("{V1}{torn}"));
    assert_eq!(rename_session(folder.path()), 5);
    let journal = std::fs::read_to_string(folder.path().join("journal.jsonl")).unwrap();
    assert!(journal.starts_with(&format!("{V1}{torn}\n{{")), "the journal is only appended to: {journal}");
    let log = ops::log::log(&SessionWriter::new(folder.path().to_owned())).unwrap();
    assert_eq!(log.ops.len(), 5);
    assert!(log.damage.is_none(), "a line that a crash truncated is not damage: {:?}", log.damage);
}

#[test]
fn op_ids_are_not_reused_if_the_journal_is_lost() {
    let folder = write_journal("");
    std::fs::create_dir_all(folder.path().join("trash/17-0")).unwrap();
    std::fs::write(folder.path().join("trash/17-0/s.jsonl"), "{}\n").unwrap();
    assert_eq!(rename_session(folder.path()), 18);
    assert!(folder.path().join("trash/17-0/s.jsonl").exists());
}
