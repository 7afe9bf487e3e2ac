//! The index is a shortcut: with it everything is as it is without, whatever happened to the files or to it.

#![expect(clippy::disallowed_methods, reason = "the test writes the store that it reads")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index as Pick;
use rethread_engine::ops::{self, Filter, SessionList, Stats};
use rethread_engine::{CacheDir, CacheWarning, Roots};
use rethread_testkit::{random, script};
use tempfile::TempDir;

struct Store {
    folder: TempDir,
}

/// What may happen to a store between two looks.
#[derive(Debug, Clone)]
enum Change {
    Append(Vec<u8>),
    /// The same lines in another order.
    Reorder,
    /// The same, and dated back to when it was.
    ReorderInSecret,
    Truncate(Pick),
    Delete,
    Touch,
    /// Under the name of another file, which is gone.
    Rename(Pick),
    Swap(Pick),
    Come(Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        random::file().prop_map(Change::Append),
        Just(Change::Reorder),
        Just(Change::ReorderInSecret),
        any::<Pick>().prop_map(Change::Truncate),
        Just(Change::Delete),
        Just(Change::Touch),
        any::<Pick>().prop_map(Change::Rename),
        any::<Pick>().prop_map(Change::Swap),
        random::file().prop_map(Change::Come),
    ]
}

/// Waits until what was written so far is old enough to be believed.
fn settle() {
    let start = SystemTime::now();
    while start.elapsed().is_ok_and(|passed| passed < Duration::from_millis(25)) {
        std::thread::yield_now();
    }
}

impl Store {
    fn new(files: &[Vec<u8>]) -> Store {
        let store = Store { folder: tempfile::tempdir().expect("a temporary folder") };
        std::fs::create_dir_all(store.root()).expect("a folder");
        files.iter().enumerate().for_each(|(no, bytes)| store.write(no, bytes));
        store
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join(".claude/projects")
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache/rethread")
    }

    /// Writes a main file, or a subagent's in one of two layouts.
    fn write(&self, no: usize, bytes: &[u8]) {
        let session = |no: usize| format!("-home-ada-p{}/{:08x}-0000-4000-8000-000000000000", no % 2, no);
        let name = match no % 4 {
            0 | 1 => format!("{}.jsonl", session(no)),
            2 => format!("{}/subagents/agent-{no}.jsonl", session(no - 2)),
            _ => format!("-home-ada-p1/agent-{no}.jsonl"),
        };
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
        std::fs::write(path, bytes).expect("the file can be written");
    }

    /// Lists all files there are.
    fn files(&self) -> Vec<PathBuf> {
        let (mut files, mut folders) = (Vec::new(), vec![self.root()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files.sort();
        files
    }

    fn change(&self, at: Pick, change: &Change) {
        let files = self.files();
        if let Change::Come(bytes) = change {
            return self.write(100 + at.index(100), bytes);
        }
        let Some(path) = files.get(at.index(files.len().max(1))) else { return };
        let bytes = std::fs::read(path).expect("it was just there");
        let write = |bytes: &[u8]| std::fs::write(path, bytes).expect("it can be written");
        let reordered = || {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
            lines.reverse();
            lines.concat()
        };
        match change {
            Change::Append(more) => write(&[&bytes[..], more].concat()),
            Change::Reorder => write(&reordered()),
            Change::ReorderInSecret => {
                let date = std::fs::metadata(path).and_then(|meta| meta.modified()).expect("a date");
                write(&reordered());
                let file = std::fs::File::options().append(true).open(path).expect("it can be opened");
                file.set_modified(date).expect("it can be dated");
            }
            Change::Truncate(to) => write(&bytes[..to.index(bytes.len() + 1)]),
            Change::Delete => std::fs::remove_file(path).expect("it can be removed"),
            Change::Touch => write(&bytes),
            Change::Rename(to) => std::fs::rename(path, &files[to.index(files.len())]).expect("renamed"),
            Change::Swap(with) => {
                let (with, aside) = (&files[with.index(files.len())], self.folder.path().join("aside"));
                std::fs::rename(path, &aside).expect("aside");
                if with != path {
                    std::fs::rename(with, path).expect("back");
                }
                std::fs::rename(aside, with).expect("there");
            }
            Change::Come(_) => {}
        }
    }

    fn roots(&self) -> Roots {
        Roots { paths: vec![self.folder.path().join(".claude")] }
    }

    fn list(&self, index: Option<&CacheDir>) -> SessionList {
        ops::list(&self.roots(), &Filter { all: true, ..Filter::default() }, index)
    }

    fn stats(&self, index: Option<&CacheDir>) -> Stats {
        ops::stats(&self.roots(), true, index)
    }

    /// Checks that both commands say the same with and without an index; returns what was noticed.
    fn check(&self, index: &CacheDir) -> Vec<CacheWarning> {
        let (plain, quick) = (self.list(None), self.list(Some(index)));
        assert_eq!(told(&quick), told(&plain));
        let (plain, counts) = (self.stats(None), self.stats(Some(index)));
        assert_eq!(counts.counts, plain.counts);
        assert_eq!(counts.files, plain.files);
        assert_eq!(counts.failures.len(), plain.failures.len());
        quick.notice.into_iter().chain(counts.notice).collect()
    }

    /// Finds a file of the index.
    fn kept(&self, name: &str) -> PathBuf {
        let format = only(&self.cache());
        only(&format).join(name)
    }
}

fn only(folder: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(folder).expect("a folder");
    let path = entries.next().expect("something in it").expect("an entry").path();
    assert!(entries.next().is_none(), "one thing in {}", folder.display());
    path
}

/// Tells everything of a listing but what was noticed about the index.
fn told(listing: &SessionList) -> String {
    let SessionList { rows, hidden, failures, files, notice: _ } = listing;
    let mut text = format!("{files} {hidden:?} {failures:?}\n");
    rows.iter().for_each(|row| writeln!(text, "{row:#?}").expect("a text grows"));
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_to_files_all_is_as_without(
        files in vec(random::file(), 1..7),
        rounds in vec((any::<bool>(), vec((any::<Pick>(), change()), 0..4)), 1..4),
    ) {
        let store = Store::new(&files);
        let index = CacheDir::at(store.cache());
        for (settled, changes) in rounds {
            if settled {
                settle();
            }
            assert!(store.check(&index).is_empty());
            assert!(store.check(&index).is_empty());
            changes.iter().for_each(|(at, change)| store.change(*at, change));
            assert!(store.check(&index).is_empty());
        }
    }
}

fn three() -> Store {
    let text =
        |k: u32| script::bytes(&format!("u{k}: tidy shed {k}\n  a{k} #m{k}: done\n    v{k}: and now?"));
    Store::new(&[text(1), text(2), text(3)])
}

#[test]
fn no_damage_of_the_index_gives_a_wrong_answer() {
    let store = three();
    let index = CacheDir::at(store.cache());
    settle();
    assert!(store.check(&index).is_empty());
    for name in ["sketches", "counts"] {
        let path = store.kept(name);
        let sound = std::fs::read(&path).expect("facts are kept");
        let mut damages: Vec<Vec<u8>> = (0..sound.len())
            .step_by(5)
            .map(|at| {
                let mut bytes = sound.clone();
                bytes[at] ^= 1 << (at % 8);
                bytes
            })
            .collect();
        damages.extend((0..sound.len()).step_by(31).map(|len| sound[..len].to_vec()));
        damages.push([&sound[..], b"more"].concat());
        damages.push(b"something else, and quite a bit longer than any head".to_vec());
        let other = if name == "counts" { "sketches" } else { "counts" };
        damages.push(std::fs::read(store.kept(other)).expect("facts are kept"));
        for (no, damage) in damages.iter().enumerate() {
            std::fs::write(&path, damage).expect("it can be written");
            let notices = store.check(&index);
            // Eight bytes say what code it was made by: if it was another, there is nothing to complain about.
            let of_other_code = damage.len() == sound.len() && damage[8..16] != sound[8..16];
            let fine = matches!(&notices[..], [CacheWarning::Damaged { path: at }] if *at == path);
            assert!(fine != of_other_code, "{name} {no}: {notices:?}");
            assert_eq!(std::fs::read(&path).expect("it is made again"), sound, "{name} {no}");
        }
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_told_once_and_done_without() {
    let store = three();
    settle();
    std::fs::write(store.folder.path().join("cache"), "a file").expect("it can be written");
    let index = CacheDir::at(store.cache());
    let notices = store.check(&index);
    assert!(
        matches!(&notices[..], [CacheWarning::Unwritable { .. }, CacheWarning::Unwritable { .. }]),
        "{notices:?}"
    );
}

#[test]
fn a_folder_where_facts_should_be_is_no_reason_to_stop() {
    let store = three();
    let index = CacheDir::at(store.cache());
    settle();
    store.check(&index);
    let path = store.kept("sketches");
    std::fs::remove_file(&path).expect("it is there");
    std::fs::create_dir(&path).expect("a folder");
    assert!(matches!(&store.check(&index)[..], [CacheWarning::Unwritable { .. }]));
}

#[test]
fn a_single_file_uses_no_index() {
    let store = three();
    settle();
    let roots = Roots { paths: store.files()[2..].to_vec() };
    let index = CacheDir::at(store.cache());
    assert_eq!(ops::list(&roots, &Filter::default(), Some(&index)).rows.len(), 1);
    assert_eq!(ops::stats(&roots, false, Some(&index)).counts.files, 1);
    assert!(!store.cache().exists());
}

#[test]
fn many_at_once_are_all_right() {
    let store = three();
    settle();
    let truth = told(&store.list(None));
    let index = CacheDir::at(store.cache());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (store, index, truth) = (&store, &index, &truth);
            scope.spawn(move || {
                for round in 0..20 {
                    let listing = store.list(Some(index));
                    assert_eq!(told(&listing), *truth);
                    if round % 4 == thread {
                        // Not there, or there but another is faster: both may be.
                        let _ = std::fs::remove_file(store.kept("sketches"));
                    }
                }
            });
        }
    });
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_what_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let store = three();
    settle();
    store.check(&CacheDir::at(store.cache()));
    let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    let path = store.kept("sketches");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().expect("a folder")), 0o700);
    assert_eq!(mode(&store.cache()), 0o700);
}
