//! Every kind of deed: done, taken back by `undo`, rolled back when its check fails, refused when it may not be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{Content, FileOp, OpState, Plan, SessionWriter};
use crate::disk::{Roots, TailFingerprint};
use crate::error::{Error, FileChange};
use crate::ops::{RestoreRequest, UndoRequest, restore, undo};

/// A folder with some files, and a pen.
struct Room {
    folder: tempfile::TempDir,
    pen: SessionWriter,
}

impl Room {
    fn new() -> Room {
        let folder = tempfile::tempdir().unwrap();
        let room = Room { pen: SessionWriter::new(folder.path().join("state")), folder };
        room.put("p/a.jsonl", b"{\"a\":1}\n{\"a\":2}\n");
        room.put("p/side/tool.txt", b"result");
        room.put("p/side/deep/agent.jsonl", b"{}\n");
        room
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::create_dir_all(self.at(name).parent().unwrap()).unwrap();
        std::fs::write(self.at(name), bytes).unwrap();
    }

    fn stamp(&self, name: &str) -> TailFingerprint {
        TailFingerprint::of(&self.at(name)).unwrap()
    }

    fn plan<'a>(&self, deeds: Vec<FileOp<'a>>) -> Plan<'a> {
        Plan { command: "test", session: "a".to_owned(), about: String::new(), deeds, even_if_live: true }
    }

    fn append(&self, bytes: &[u8]) -> FileOp<'static> {
        let (path, stamp) = (self.at("p/a.jsonl"), self.stamp("p/a.jsonl"));
        FileOp::Append { path, stamp, bytes: bytes.to_vec() }
    }

    /// One deed of every kind, each on something else.
    fn deeds(&self) -> Vec<FileOp<'static>> {
        self.put("p/b.jsonl", b"{\"b\":1}\n");
        vec![
            self.append(b"{\"a\":3}\n"),
            FileOp::Replace {
                path: self.at("p/b.jsonl"),
                stamp: self.stamp("p/b.jsonl"),
                content: Content::Bytes(b"{\"b\":2}\n".to_vec()),
            },
            FileOp::Create {
                path: self.at("p/new/deep/c.jsonl"),
                content: Content::Copy(self.at("p/a.jsonl")),
            },
            FileOp::Remove { path: self.at("p/side") },
            FileOp::Create {
                path: self.at("p/d.jsonl"),
                content: Content::Generated(Box::new(|out| out.write_all(b"{}\n"))),
            },
        ]
    }

    /// Everything outside the state folder: path and bytes.
    fn picture(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let all = walkdir::WalkDir::new(self.at("p")).into_iter().map(Result::unwrap);
        all.map(|found| (found.path().to_owned(), std::fs::read(found.path()).ok())).collect()
    }

    fn undo(&self, op: Option<u64>) -> Result<crate::ops::Undo, Error> {
        undo(&self.pen, &UndoRequest { op, even_if_live: true, dry_run: false })
    }
}

#[test]
fn undo_of_every_deed_is_the_identity_and_undo_of_undo_too() {
    let room = Room::new();
    let deeds = room.deeds();
    let before = room.picture();
    let op = room.pen.commit(room.plan(deeds), || Ok(())).unwrap();
    let after = room.picture();
    assert_eq!(std::fs::read(room.at("p/a.jsonl")).unwrap(), b"{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n");
    assert_eq!(std::fs::read(room.at("p/b.jsonl")).unwrap(), b"{\"b\":2}\n");
    assert_eq!(std::fs::read(room.at("p/new/deep/c.jsonl")).unwrap(), b"{\"a\":1}\n{\"a\":2}\n");
    assert!(!room.at("p/side").exists());
    for _ in 0..3 {
        let undone = room.undo(Some(op.0)).unwrap();
        assert_eq!(room.picture(), before);
        room.undo(Some(undone.op.unwrap().0)).unwrap();
        assert_eq!(room.picture(), after);
    }
    let states: Vec<OpState> = room.pen.journal().unwrap().ops.iter().map(|op| op.state).collect();
    assert_eq!(states, [OpState::Done; 7]);
}

#[test]
fn a_failed_check_takes_everything_back() {
    let room = Room::new();
    let deeds = room.deeds();
    let before = room.picture();
    let path = room.at("p/a.jsonl");
    let failed = room.pen.commit(room.plan(deeds), || Err(Error::VerificationFailed { path }));
    assert!(matches!(failed, Err(Error::VerificationFailed { .. })), "{failed:?}");
    assert_eq!(room.picture(), before);
    assert_eq!(room.pen.journal().unwrap().ops[0].state, OpState::RolledBack);
    assert!(matches!(room.undo(None), Err(Error::NothingToUndo)));
}

#[test]
fn a_failed_check_keeps_what_others_wrote_meanwhile() {
    let room = Room::new();
    let deeds = room.deeds();
    let others = |name: &str| {
        use std::io::Write;
        let mut file = std::fs::OpenOptions::new().append(true).open(room.at(name)).unwrap();
        file.write_all(b"{\"other\":1}\n").unwrap();
    };
    let failed = room.pen.commit(room.plan(deeds), || {
        others("p/a.jsonl");
        others("p/b.jsonl");
        Err(Error::NothingToUndo)
    });
    assert!(failed.is_err());
    assert_eq!(std::fs::read(room.at("p/a.jsonl")).unwrap(), b"{\"a\":1}\n{\"a\":2}\n{\"other\":1}\n");
    assert_eq!(std::fs::read(room.at("p/b.jsonl")).unwrap(), b"{\"b\":1}\n{\"other\":1}\n");
}

#[test]
fn a_plan_for_another_file_is_refused() {
    let room = Room::new();
    type Hand<'a> = &'a dyn Fn(&Path);
    let changes: [(Hand<'_>, FileChange); 4] = [
        (
            &|path| std::fs::write(path, "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n{\"a\":4}").unwrap(),
            FileChange::Grew(2),
        ),
        (&|path| std::fs::write(path, "{\"a\":1}\n{\"a\":9}\n").unwrap(), FileChange::Differs),
        (&|path| std::fs::write(path, "{\"a\":1}\n").unwrap(), FileChange::Shrank),
        (&|path| std::fs::remove_file(path).unwrap(), FileChange::Gone),
    ];
    for (change, expected) in changes {
        room.put("p/a.jsonl", b"{\"a\":1}\n{\"a\":2}\n");
        let deed = room.append(b"{\"a\":3}\n");
        change(&room.at("p/a.jsonl"));
        let before = room.picture();
        match room.pen.commit(room.plan(vec![deed]), || Ok(())) {
            Err(Error::Stale { drift, .. }) => assert_eq!(drift, expected),
            Err(Error::Unreadable { .. }) => assert_eq!(expected, FileChange::Gone),
            other => panic!("{expected:?}: {other:?}"),
        }
        assert_eq!(room.picture(), before);
    }
    assert!(room.pen.journal().unwrap().ops.is_empty());
}

#[test]
fn undo_is_refused_where_the_file_went_on() {
    let room = Room::new();
    room.pen.commit(room.plan(vec![room.append(b"{\"a\":3}\n")]), || Ok(())).unwrap();
    room.pen
        .commit(
            room.plan(vec![FileOp::Create { path: room.at("p/c"), content: Content::Bytes(Vec::new()) }]),
            || Ok(()),
        )
        .unwrap();
    room.put("p/c", b"x\ny\nz\n");
    let refused = room.undo(Some(2));
    assert!(
        matches!(refused, Err(Error::ChangedSinceOp { op: 2, drift: FileChange::Grew(3), .. })),
        "{refused:?}"
    );
    room.undo(Some(1)).unwrap();
    let again = room.undo(Some(1));
    assert!(matches!(again, Err(Error::NotApplied { op: 1, by: Some(3) })), "{again:?}");
    assert!(matches!(room.undo(Some(9)), Err(Error::UnknownOp { op: 9 })));
}

#[test]
fn nothing_is_overwritten() {
    let room = Room::new();
    let deed = FileOp::Create { path: room.at("p/a.jsonl"), content: Content::Bytes(b"x".to_vec()) };
    let before = room.picture();
    let refused = room.pen.commit(room.plan(vec![deed]), || Ok(()));
    assert!(matches!(refused, Err(Error::AlreadyExists { .. })), "{refused:?}");
    room.pen.commit(room.plan(vec![FileOp::Remove { path: room.at("p/side") }]), || Ok(())).unwrap();
    room.put("p/side/other.txt", b"somebody's");
    let refused = room.undo(None);
    assert!(matches!(refused, Err(Error::ChangedSinceOp { drift: FileChange::Appeared, .. })), "{refused:?}");
    std::fs::remove_dir_all(room.at("p/side")).unwrap();
    room.undo(None).unwrap();
    assert_eq!(room.picture(), before);
}

#[test]
fn a_large_file_that_grows_is_kept_by_a_second_name() {
    let room = Room::new();
    let large: Vec<u8> = b"{\"a\":1}\n".repeat(17 << 17);
    room.put("p/a.jsonl", &large);
    let op = room.pen.commit(room.plan(vec![room.append(b"{\"a\":2}\n")]), || Ok(())).unwrap();
    let op = room.pen.journal().unwrap().op(op).cloned().unwrap();
    let before = op.changes[0].before.as_ref().unwrap();
    assert!(before.link.is_some() && before.hash.is_none(), "{before:?}");
    room.undo(None).unwrap();
    assert!(std::fs::read(room.at("p/a.jsonl")).unwrap() == large);
    room.undo(Some(2)).unwrap();
    // The second name outlives the first.
    std::fs::remove_file(room.at("p/a.jsonl")).unwrap();
    let request = RestoreRequest { name: "a".to_owned(), even_if_live: true, dry_run: false };
    restore(&room.pen, &Roots::default(), &request).unwrap();
    assert!(std::fs::read(room.at("p/a.jsonl")).unwrap() == large);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// undo ∘ op = identity, over any row of ops, each undone in turn.
    #[test]
    fn undoing_every_op_gives_every_byte_back(
        ops in prop::collection::vec((0u8..4, 0usize..3, prop::collection::vec(any::<u8>(), 0..40)), 1..8),
    ) {
        let room = Room::new();
        let mut pictures = vec![room.picture()];
        for (kind, file, bytes) in ops {
            let path = room.at(["p/a.jsonl", "p/side/tool.txt", "p/made/b.jsonl"][file]);
            let stamp = TailFingerprint::of(&path).ok();
            let deed = match (kind, stamp) {
                (0, Some(stamp)) => FileOp::Append { path, stamp, bytes },
                (1, Some(stamp)) => FileOp::Replace { path, stamp, content: Content::Bytes(bytes) },
                (2, Some(_)) => FileOp::Remove { path },
                (_, None) => FileOp::Create { path, content: Content::Bytes(bytes) },
                _ => continue,
            };
            room.pen.commit(room.plan(vec![deed]), || Ok(())).unwrap();
            pictures.push(room.picture());
        }
        while let Some(now) = pictures.pop() {
            prop_assert_eq!(room.picture(), now);
            prop_assert_eq!(room.undo(None).is_err(), pictures.is_empty());
        }
    }
}
