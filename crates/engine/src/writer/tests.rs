//! Tests every kind of file operation: commit, undo, rollback after a failed verification, and refusal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{FileOp, NewContent, OpId, OpStatus, Plan, SessionWriter};
use crate::disk::{Roots, TailFingerprint};
use crate::error::{Error, FileChange, LiveEvidence};
use crate::ops::restore::{RestoreRequest, restore};
use crate::ops::undo::{UndoRequest, undo};

/// A folder with some files, and a writer for them.
struct TestStore {
    folder: tempfile::TempDir,
    writer: SessionWriter,
}

impl TestStore {
    fn new() -> TestStore {
        let folder = tempfile::tempdir().unwrap();
        let store = TestStore { writer: SessionWriter::new(folder.path().join("state")), folder };
        store.put("p/a.jsonl", b"{\"a\":1}\n{\"a\":2}\n");
        store.put("p/side/tool.txt", b"result");
        store.put("p/side/deep/agent.jsonl", b"{}\n");
        store
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        std::fs::write(self.at(name), bytes).unwrap();
    }

    fn fingerprint(&self, name: &str) -> TailFingerprint {
        TailFingerprint::from_path(&self.at(name)).unwrap()
    }

    fn plan<'a>(&self, file_ops: Vec<FileOp<'a>>) -> Plan<'a> {
        Plan { command: "test", session: "a".to_owned(), about: String::new(), file_ops, even_if_live: true }
    }

    fn append(&self, bytes: &[u8]) -> FileOp<'static> {
        let (path, fingerprint) = (self.at("p/a.jsonl"), self.fingerprint("p/a.jsonl"));
        FileOp::Append { path, fingerprint, bytes: bytes.to_vec() }
    }

    /// Returns a file operation of every kind except `Return`, each on a different path.
    fn file_ops(&self) -> Vec<FileOp<'static>> {
        self.put("p/b.jsonl", b"{\"b\":1}\n");
        vec![
            self.append(b"{\"a\":3}\n"),
            FileOp::Replace {
                path: self.at("p/b.jsonl"),
                fingerprint: self.fingerprint("p/b.jsonl"),
                content: NewContent::Bytes(b"{\"b\":2}\n".to_vec()),
            },
            FileOp::Create {
                path: self.at("p/new/deep/c.jsonl"),
                content: NewContent::Copy(self.at("p/a.jsonl")),
            },
            FileOp::Remove { path: self.at("p/side") },
            FileOp::Create {
                path: self.at("p/d.jsonl"),
                content: NewContent::Generated(Box::new(|out| out.write_all(b"{}\n"))),
            },
        ]
    }

    /// Returns the path and the bytes of everything outside the state folder.
    fn snapshot(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let entries = walkdir::WalkDir::new(self.at("p")).into_iter().map(Result::unwrap);
        entries.map(|entry| (entry.path().to_owned(), std::fs::read(entry.path()).ok())).collect()
    }

    fn undo(&self, op: Option<u64>) -> Result<crate::ops::undo::UndoOutcome, Error> {
        undo(&self.writer, &UndoRequest { op, even_if_live: true, dry_run: false })
    }
}

#[test]
fn undo_restores_the_state_before_and_undoing_it_the_state_after() {
    let store = TestStore::new();
    let file_ops = store.file_ops();
    let before = store.snapshot();
    let op = store.writer.commit(store.plan(file_ops), || Ok(())).unwrap();
    let after = store.snapshot();
    assert_eq!(std::fs::read(store.at("p/a.jsonl")).unwrap(), b"{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
    assert_eq!(std::fs::read(store.at("p/b.jsonl")).unwrap(), b"{\"b\":2}\n");
    assert_eq!(std::fs::read(store.at("p/new/deep/c.jsonl")).unwrap(), b"{\"a\":1}\n{\"a\":2}\n");
    assert!(!store.at("p/side").exists());
    for _ in 0..3 {
        let undone = store.undo(Some(op.0)).unwrap();
        assert_eq!(store.snapshot(), before);
        store.undo(Some(undone.op.unwrap().0)).unwrap();
        assert_eq!(store.snapshot(), after);
    }
    let statuses: Vec<OpStatus> =
        store.writer.read_journal().unwrap().ops.iter().map(|op| op.status).collect();
    let undone = |by| OpStatus::Undone(OpId(by));
    let done = OpStatus::Done;
    assert_eq!(statuses, [done, undone(3), done, undone(5), done, undone(7), done]);
}

#[test]
fn failed_verification_rolls_back_every_change() {
    let store = TestStore::new();
    let file_ops = store.file_ops();
    let before = store.snapshot();
    let path = store.at("p/a.jsonl");
    let failed = store.writer.commit(store.plan(file_ops), || Err(Error::VerificationFailed { path }));
    assert!(matches!(failed, Err(Error::VerificationFailed { .. })), "{failed:?}");
    assert_eq!(store.snapshot(), before);
    assert_eq!(store.writer.read_journal().unwrap().ops[0].status, OpStatus::RolledBack);
    assert!(matches!(store.undo(None), Err(Error::NothingToUndo)));
}

#[test]
fn rollback_keeps_bytes_that_other_processes_appended() {
    let store = TestStore::new();
    let file_ops = store.file_ops();
    let append_as_other_process = |name: &str| {
        use std::io::Write;
        let mut file = std::fs::OpenOptions::new().append(true).open(store.at(name)).unwrap();
        file.write_all(b"{\"other\":1}\n").unwrap();
    };
    let failed = store.writer.commit(store.plan(file_ops), || {
        append_as_other_process("p/a.jsonl");
        append_as_other_process("p/b.jsonl");
        Err(Error::NothingToUndo)
    });
    assert!(failed.is_err());
    assert_eq!(std::fs::read(store.at("p/a.jsonl")).unwrap(), b"{\"a\":1}\n{\"a\":2}\n{\"other\":1}\n");
    assert_eq!(std::fs::read(store.at("p/b.jsonl")).unwrap(), b"{\"b\":1}\n{\"other\":1}\n");
}

#[test]
fn stale_plan_is_refused() {
    let store = TestStore::new();
    type ChangeFn<'a> = &'a dyn Fn(&Path);
    let changes: [(ChangeFn<'_>, FileChange); 4] = [
        (
            &|path| std::fs::write(path, "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n{\"a\":4}").unwrap(),
            FileChange::Grew(2),
        ),
        (&|path| std::fs::write(path, "{\"a\":1}\n{\"a\":9}\n").unwrap(), FileChange::Differs),
        (&|path| std::fs::write(path, "{\"a\":1}\n").unwrap(), FileChange::Shrank),
        (&|path| std::fs::remove_file(path).unwrap(), FileChange::Gone),
    ];
    for (change, expected) in changes {
        store.put("p/a.jsonl", b"{\"a\":1}\n{\"a\":2}\n");
        let file_op = store.append(b"{\"a\":3}\n");
        change(&store.at("p/a.jsonl"));
        let before = store.snapshot();
        match store.writer.commit(store.plan(vec![file_op]), || Ok(())) {
            Err(Error::Stale { change, .. }) => assert_eq!(change, expected),
            Err(Error::Unreadable { .. }) => assert_eq!(expected, FileChange::Gone),
            other => panic!("{expected:?}: {other:?}"),
        }
        assert_eq!(store.snapshot(), before);
    }
    assert!(store.writer.read_journal().unwrap().ops.is_empty());
}

#[test]
fn undo_is_refused_if_the_file_grew_since() {
    let store = TestStore::new();
    store.writer.commit(store.plan(vec![store.append(b"{\"a\":3}\n")]), || Ok(())).unwrap();
    store
        .writer
        .commit(
            store
                .plan(vec![FileOp::Create { path: store.at("p/c"), content: NewContent::Bytes(Vec::new()) }]),
            || Ok(()),
        )
        .unwrap();
    store.put("p/c", b"x\ny\nz\n");
    let refused = store.undo(Some(2));
    assert!(
        matches!(refused, Err(Error::ChangedSinceOp { op: 2, change: FileChange::Grew(3), .. })),
        "{refused:?}"
    );
    store.undo(Some(1)).unwrap();
    let again = store.undo(Some(1));
    assert!(matches!(again, Err(Error::NotApplied { op: 1, by: Some(3) })), "{again:?}");
    assert!(matches!(store.undo(Some(9)), Err(Error::UnknownOp { op: 9 })));
}

#[test]
fn existing_files_are_never_overwritten() {
    let store = TestStore::new();
    let file_op = FileOp::Create { path: store.at("p/a.jsonl"), content: NewContent::Bytes(b"x".to_vec()) };
    let before = store.snapshot();
    let refused = store.writer.commit(store.plan(vec![file_op]), || Ok(()));
    assert!(matches!(refused, Err(Error::AlreadyExists { .. })), "{refused:?}");
    store.writer.commit(store.plan(vec![FileOp::Remove { path: store.at("p/side") }]), || Ok(())).unwrap();
    store.put("p/side/other.txt", b"other");
    let refused = store.undo(None);
    assert!(
        matches!(refused, Err(Error::ChangedSinceOp { change: FileChange::Appeared, .. })),
        "{refused:?}"
    );
    std::fs::remove_dir_all(store.at("p/side")).unwrap();
    store.undo(None).unwrap();
    assert_eq!(store.snapshot(), before);
}

#[test]
fn rollback_keeps_a_created_file_that_another_process_has_changed() {
    let store = TestStore::new();
    let path = store.at("p/c.jsonl");
    let create =
        |content: &[u8]| FileOp::Create { path: path.clone(), content: NewContent::Bytes(content.to_vec()) };
    let failed = store.writer.commit(store.plan(vec![create(b"{}\n")]), || {
        std::fs::write(&path, "{}\n{\"other\":1}\n").unwrap();
        Err(Error::NothingToUndo)
    });
    assert!(failed.is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"{}\n{\"other\":1}\n");
    std::fs::remove_file(&path).unwrap();
    // An unchanged file is moved to the trash, not deleted.
    let failed = store.writer.commit(store.plan(vec![create(b"{\"c\":1}\n")]), || Err(Error::NothingToUndo));
    assert!(failed.is_err() && !path.exists());
    assert_eq!(std::fs::read(store.at("state/trash/2-0/c.jsonl")).unwrap(), b"{\"c\":1}\n");
}

/// Only a file that rethread itself wrote last may be changed within five seconds of its last change.
#[test]
fn file_that_another_process_changed_just_now_is_live() {
    let store = TestStore::new();
    let commit = || {
        let plan = Plan { even_if_live: false, ..store.plan(vec![store.append(b"{\"a\":3}\n")]) };
        store.writer.commit(plan, || Ok(()))
    };
    assert!(matches!(commit(), Err(Error::Live { evidence: LiveEvidence::Fresh, .. })));
    store.writer.commit(store.plan(vec![store.append(b"{\"a\":3}\n")]), || Ok(())).unwrap();
    commit().unwrap();
    use std::io::Write;
    let mut file = std::fs::OpenOptions::new().append(true).open(store.at("p/a.jsonl")).unwrap();
    file.write_all(b"{\"other\":1}\n").unwrap();
    drop(file);
    assert!(matches!(commit(), Err(Error::Live { evidence: LiveEvidence::Fresh, .. })));
}

/// A client that has another session open does not matter.
#[test]
fn session_is_live_if_a_running_client_registered_it() {
    let store = TestStore::new();
    let name = "client/projects/p/file.jsonl";
    store.put(name, b"{}\n");
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    std::fs::File::options().append(true).open(store.at(name)).unwrap().set_modified(long_ago).unwrap();
    let commit = || {
        let (path, fingerprint) = (store.at(name), store.fingerprint(name));
        let append = FileOp::Append { path, fingerprint, bytes: b"{}\n".to_vec() };
        store.writer.commit(Plan { even_if_live: false, ..store.plan(vec![append]) }, || Ok(()))
    };
    let register = |session: &str| {
        let record = format!("{{\"sessionId\":\"{session}\"}}");
        store.put(&format!("client/sessions/{}.json", std::process::id()), record.as_bytes());
    };
    register("other");
    commit().unwrap();
    // The id of the session, or the name of its file.
    for session in ["a", "file"] {
        register(session);
        let refused = commit();
        assert!(
            matches!(refused, Err(Error::Live { evidence: LiveEvidence::Registered, .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn damaged_file_in_the_trash_is_not_returned() {
    let store = TestStore::new();
    store.writer.commit(store.plan(vec![FileOp::Remove { path: store.at("p/side") }]), || Ok(())).unwrap();
    let trash = store.at("state/trash/1-0/side/tool.txt");
    std::fs::write(&trash, "rexult").unwrap();
    let refused = store.undo(None);
    assert!(matches!(refused, Err(Error::DamagedTrash { .. })), "{refused:?}");
    assert!(!store.at("p/side").exists());
    std::fs::write(&trash, "result").unwrap();
    store.undo(None).unwrap();
}

#[test]
fn prune_keeps_everything_if_a_journal_line_is_damaged() {
    let store = TestStore::new();
    store.writer.commit(store.plan(vec![FileOp::Remove { path: store.at("p/side") }]), || Ok(())).unwrap();
    store.writer.commit(store.plan(vec![store.append(b"{\"a\":3}\n")]), || Ok(())).unwrap();
    let journal = store.at("state/journal.jsonl");
    let undamaged = std::fs::read(&journal).unwrap();
    let mut damaged = undamaged.clone();
    damaged[30] ^= 1;
    std::fs::write(&journal, &damaged).unwrap();
    let far_future = rethread_core::entry::Timestamp(i64::MAX);
    let refused = store.writer.prune(far_future, false);
    assert!(matches!(refused, Err(Error::DamagedJournal { .. })), "{refused:?}");
    assert!(store.at("state/trash/1-0/side/tool.txt").exists());
    // Nor is anything deleted that no line names, because the journal was lost.
    std::fs::remove_file(&journal).unwrap();
    store.writer.prune(far_future, false).unwrap();
    assert!(store.at("state/trash/1-0/side/tool.txt").exists());
    std::fs::write(&journal, &undamaged).unwrap();
    assert_eq!(store.writer.prune(far_future, false).unwrap().ops, [OpId(1)]);
    assert!(!store.at("state/trash/1-0").exists());
}

/// Deletes the line from the journal that records the end of an op, as if the op had been interrupted.
fn forget_end(store: &TestStore, op: OpId) {
    let journal = store.at("state/journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let is_end = |line: &&str| line.contains(&format!("\"op\":{},", op.0)) && line.contains("done");
    assert_eq!(text.lines().filter(is_end).count(), 1, "{text}");
    let rest: String = text.lines().filter(|line| !is_end(line)).flat_map(|line| [line, "\n"]).collect();
    std::fs::write(&journal, rest).unwrap();
}

#[test]
fn interrupted_op_is_rolled_back_unless_a_later_op_changed_its_file() {
    let store = TestStore::new();
    let original = std::fs::read(store.at("p/a.jsonl")).unwrap();
    let first = store.writer.commit(store.plan(vec![store.append(b"{\"a\":3}\n")]), || Ok(())).unwrap();
    let remove = FileOp::Remove { path: store.at("p/side") };
    store.writer.commit(store.plan(vec![remove]), || Ok(())).unwrap();
    forget_end(&store, first);
    store.writer.read_journal().unwrap();
    assert_eq!(std::fs::read(store.at("p/a.jsonl")).unwrap(), original);

    let first = store.writer.commit(store.plan(vec![store.append(b"{\"a\":3}\n")]), || Ok(())).unwrap();
    store.writer.commit(store.plan(vec![store.append(b"{\"a\":4}\n")]), || Ok(())).unwrap();
    let after = std::fs::read(store.at("p/a.jsonl")).unwrap();
    forget_end(&store, first);
    store.writer.read_journal().unwrap();
    assert_eq!(std::fs::read(store.at("p/a.jsonl")).unwrap(), after);
}

#[test]
fn file_of_an_op_that_cannot_be_recovered_is_not_changed() {
    let store = TestStore::new();
    store.put("p/b.jsonl", b"{}\n");
    let append_to_b = || {
        let (path, fingerprint) = (store.at("p/b.jsonl"), store.fingerprint("p/b.jsonl"));
        FileOp::Append { path, fingerprint, bytes: b"{}\n".to_vec() }
    };
    let file_ops = vec![store.append(b"{\"a\":3}\n"), FileOp::Remove { path: store.at("p/side") }];
    let op = store.writer.commit(store.plan(file_ops), || Ok(())).unwrap();
    forget_end(&store, op);
    for entry in walkdir::WalkDir::new(store.at("state/chunks")).into_iter().map(Result::unwrap) {
        if entry.file_type().is_file() {
            std::fs::write(entry.path(), "damaged").unwrap();
        }
    }
    let after = std::fs::read(store.at("p/a.jsonl")).unwrap();
    let refused = store.writer.commit(store.plan(vec![store.append(b"{\"a\":4}\n")]), || Ok(()));
    assert!(matches!(refused, Err(Error::Unwritable { .. })), "{refused:?}");
    assert_eq!(std::fs::read(store.at("p/a.jsonl")).unwrap(), after);
    store.writer.commit(store.plan(vec![append_to_b()]), || Ok(())).unwrap();
}

#[test]
fn moved_file_stays_if_another_process_created_its_old_path() {
    let store = TestStore::new();
    store.put("moved", b"{\"a\":1}\n");
    store.put("p/old.jsonl", b"{\"other\":1}\n");
    let [moved, old, part] = ["moved", "p/old.jsonl", "p/part"].map(|name| store.at(name));
    let state = super::trash::read_file_state(&moved).unwrap().unwrap();
    super::trash::move_back(&old, &moved, &part, &state).unwrap();
    assert_eq!(std::fs::read(&moved).unwrap(), b"{\"a\":1}\n");
    assert_eq!(std::fs::read(&old).unwrap(), b"{\"other\":1}\n");
    // The old path has the moved content: the move was reverted before.
    store.put("p/old.jsonl", b"{\"a\":1}\n");
    super::trash::move_back(&old, &moved, &part, &state).unwrap();
    assert!(!moved.exists() && old.exists());
}

/// Each byte of the state folder is damaged, and each file deleted, in turn.
#[test]
fn damage_in_the_state_folder_changes_no_session() {
    let store = TestStore::new();
    let file_ops = store.file_ops();
    store.writer.commit(store.plan(file_ops), || Ok(())).unwrap();
    store.writer.commit(store.plan(vec![store.append(b"{\"a\":4}\n")]), || Ok(())).unwrap();
    let sessions = store.snapshot();
    let state: Vec<PathBuf> = walkdir::WalkDir::new(store.at("state"))
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.is_file() && path.file_name().is_some_and(|name| name != "lock"))
        .collect();
    assert!(state.len() > 8, "{state:?}");
    for path in state {
        let bytes = std::fs::read(&path).unwrap();
        let is_journal = path.file_name().is_some_and(|name| name == "journal.jsonl");
        for at in 0..=bytes.len() {
            let mut damaged = bytes.clone();
            match damaged.get_mut(at) {
                Some(byte) => *byte ^= 1 << (at % 8),
                None => damaged.clear(),
            }
            if damaged.is_empty() {
                std::fs::remove_file(&path).unwrap();
            } else {
                std::fs::write(&path, &damaged).unwrap();
            }
            let context = format!("{} at {at}", path.display());
            let journal = store.writer.read_journal().unwrap();
            assert_eq!(store.snapshot(), sessions, "{context}: reading the journal changed a session");
            assert!(!is_journal || damaged.is_empty() || !journal.damaged_lines.is_empty(), "{context}");
            for op in journal.ops.iter().rev() {
                check_dry_undo(&store, op, &context);
            }
        }
        std::fs::write(&path, &bytes).unwrap();
    }
    assert_eq!(store.snapshot(), sessions);
    assert!(store.undo(None).is_ok() && store.undo(None).is_ok());
}

/// Panics if an undo would restore other bytes than those before the op.
fn check_dry_undo(store: &TestStore, op: &super::Op, context: &str) {
    let backups = store.writer.open_backups().unwrap();
    for before in
        op.changes.iter().filter_map(|change| change.before.as_ref()).filter(|before| !before.folder)
    {
        let mut restored = Vec::new();
        if backups.write_content(before, &mut restored).is_ok() {
            let tail = blake3::hash(&restored).to_hex().to_string();
            assert!(restored.len() as u64 == before.len && tail == before.tail, "{context}: {before:?}");
        }
    }
}

#[test]
fn large_file_is_backed_up_by_a_hard_link_before_an_append() {
    let store = TestStore::new();
    let large: Vec<u8> = b"{\"a\":1}\n".repeat(17 << 17);
    store.put("p/a.jsonl", &large);
    let op = store.writer.commit(store.plan(vec![store.append(b"{\"a\":2}\n")]), || Ok(())).unwrap();
    let op = store.writer.read_journal().unwrap().find_op(op).cloned().unwrap();
    let before = op.changes[0].before.as_ref().unwrap();
    assert!(before.link.is_some() && before.hash.is_none(), "{before:?}");
    store.undo(None).unwrap();
    assert!(std::fs::read(store.at("p/a.jsonl")).unwrap() == large);
    // A link to a file that was rewritten in place is no backup.
    let link = before.link.clone().unwrap();
    let mut rewritten = std::fs::read(&link).unwrap();
    let end = large.len() - 9;
    rewritten[end] ^= 1;
    std::fs::write(&link, &rewritten).unwrap();
    assert!(!store.writer.open_backups().unwrap().has_content(before));
    rewritten[end] ^= 1;
    std::fs::write(&link, &rewritten).unwrap();
    assert!(store.writer.open_backups().unwrap().has_content(before));
    store.undo(Some(2)).unwrap();
    // The hard link remains when the original path is deleted.
    std::fs::remove_file(store.at("p/a.jsonl")).unwrap();
    let request = RestoreRequest { name: "a".to_owned(), even_if_live: true, ..RestoreRequest::default() };
    restore(&store.writer, &Roots::default(), &request).unwrap();
    assert!(std::fs::read(store.at("p/a.jsonl")).unwrap() == large);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// undo ∘ op = identity, over any sequence of ops, undone in reverse order.
    #[test]
    fn undoing_all_ops_restores_every_snapshot(
        ops in prop::collection::vec((0u8..4, 0usize..3, prop::collection::vec(any::<u8>(), 0..40)), 1..8),
    ) {
        let store = TestStore::new();
        let mut snapshots = vec![store.snapshot()];
        for (kind, file, bytes) in ops {
            let path = store.at(["p/a.jsonl", "p/side/tool.txt", "p/new/b.jsonl"][file]);
            let fingerprint = TailFingerprint::from_path(&path).ok();
            let file_op = match (kind, fingerprint) {
                (0, Some(fingerprint)) => FileOp::Append { path, fingerprint, bytes },
                (1, Some(fingerprint)) => FileOp::Replace { path, fingerprint, content: NewContent::Bytes(bytes) },
                (2, Some(_)) => FileOp::Remove { path },
                (_, None) => FileOp::Create { path, content: NewContent::Bytes(bytes) },
                _ => continue,
            };
            store.writer.commit(store.plan(vec![file_op]), || Ok(())).unwrap();
            snapshots.push(store.snapshot());
        }
        while let Some(expected) = snapshots.pop() {
            prop_assert_eq!(store.snapshot(), expected);
            prop_assert_eq!(store.undo(None).is_err(), snapshots.is_empty());
        }
    }
}
