//! That facts are believed where they may be, and only there.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rethread_core::pack::Pack;
use rethread_core::session::SessionInfo;
use rethread_testkit::script;
use tempfile::TempDir;

use super::{CacheDir, NewCacheEntry};
use crate::disk::{Roots, SessionFile, find};
use crate::ops::{self, Filter};

const KIND: &str = "sketches";

struct Store {
    folder: TempDir,
    index: CacheDir,
}

impl Store {
    fn new() -> Store {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let index = CacheDir::at(folder.path().join("cache"));
        std::fs::create_dir(folder.path().join("store")).expect("a folder");
        let store = Store { folder, index };
        store.write("a", "the shed");
        store.write("b", "the hens");
        store
    }

    fn write(&self, name: &str, words: &str) {
        let path = self.folder.path().join("store").join(name).with_extension("jsonl");
        std::fs::write(path, script::bytes(&format!("u1: {words}\n  a1: done"))).expect("it can be written");
    }

    fn roots(&self) -> Roots {
        Roots { paths: vec![self.folder.path().join("store")] }
    }

    fn files(&self) -> Vec<SessionFile> {
        find(&self.roots()).0
    }

    fn kept(&self) -> PathBuf {
        self.index.folder_for(&self.roots()).expect("a folder").join(KIND)
    }

    fn titles(&self) -> Vec<String> {
        let mut rows = ops::list(&self.roots(), &Filter::default(), Some(&self.index)).rows;
        rows.sort_by(|a, b| a.path.cmp(&b.path));
        rows.into_iter().map(|row| row.title.text).collect()
    }

    /// Keeps something of each file that cannot be read from it.
    fn lie(&self, words: &str) {
        let files = self.files();
        let mut sketch = SessionInfo::default();
        (sketch.custom_title, sketch.turns) = (Some(words.to_owned()), 1);
        let lie = |no| NewCacheEntry { no, cost: u64::MAX / 4, blob: sketch.packed() };
        let facts = self.index.facts(&self.roots(), KIND, &files).expect("a folder");
        assert!(facts.keep(&files, (0..files.len()).map(lie).collect()).is_none());
    }
}

/// Waits until what was written so far is old enough to be believed.
fn settle() {
    let start = SystemTime::now();
    while start.elapsed().is_ok_and(|passed| passed < Duration::from_millis(25)) {
        std::thread::yield_now();
    }
}

#[test]
fn facts_are_believed_until_the_file_changes() {
    let store = Store::new();
    settle();
    store.lie("a lie");
    assert_eq!(store.titles(), ["a lie", "a lie"]);
    // Another text of the same length.
    store.write("a", "the barn");
    assert_eq!(store.titles(), ["the barn", "a lie"]);
    store.write("c", "the cows");
    assert_eq!(store.titles(), ["the barn", "a lie", "the cows"]);
}

#[test]
fn what_was_just_written_is_not_kept() {
    let store = Store::new();
    settle();
    store.lie("a lie");
    let mut files = store.files();
    // As if they had been found in the tick of their last change.
    files.iter_mut().for_each(|file| file.settled = false);
    let facts = store.index.facts(&store.roots(), KIND, &files).expect("a folder");
    assert_eq!(facts.known(), 0);
    let fresh = NewCacheEntry { no: 0, cost: u64::MAX / 4, blob: SessionInfo::default().packed() };
    assert!(facts.keep(&files, vec![fresh]).is_none());
    assert_eq!(store.titles(), ["the shed", "the hens"]);
}

#[test]
fn one_that_grows_does_not_have_all_written_again() {
    let store = Store::new();
    settle();
    store.lie(&"a long lie ".repeat(10_000));
    let before = std::fs::read(store.kept()).expect("facts are kept");
    store.write("b", "the eggs");
    settle();
    assert_eq!(store.titles()[1], "the eggs");
    assert!(std::fs::read(store.kept()).expect("facts are kept") == before);
}

#[test]
fn facts_of_other_code_are_passed_over() {
    let store = Store::new();
    settle();
    store.lie("a lie");
    let mut bytes = std::fs::read(store.kept()).expect("facts are kept");
    bytes[8] ^= 1;
    std::fs::write(store.kept(), &bytes).expect("it can be written");
    assert_eq!(store.titles(), ["the shed", "the hens"]);
}

#[test]
fn who_comes_second_does_not_write() {
    let store = Store::new();
    settle();
    let folder = store.index.folder_for(&store.roots()).expect("a folder");
    let lock = super::lock::Lock::take(&folder, KIND).expect("a lock").expect("it is free");
    assert!(super::lock::Lock::take(&folder, KIND).expect("no failure").is_none());
    assert_eq!(store.titles(), ["the shed", "the hens"]);
    assert!(!store.kept().exists());
    drop(lock);
    assert_eq!(store.titles(), ["the shed", "the hens"]);
    assert!(store.kept().exists());
}

#[test]
fn a_folder_is_known_by_what_it_is() {
    let store = Store::new();
    let folder = |paths: &[PathBuf]| store.index.folder_for(&Roots { paths: paths.to_vec() });
    let (one, cache) = (store.folder.path().join("store"), store.folder.path().to_owned());
    let around = store.folder.path().join("store/../store/.");
    let alone = folder(std::slice::from_ref(&one));
    assert_eq!(alone, folder(&[around]));
    assert_eq!(folder(&[one.clone(), cache.clone()]), folder(&[cache.clone(), one.clone(), cache.clone()]));
    assert_ne!(alone, folder(&[cache]));
    assert_eq!(folder(&[]), None);
    assert_eq!(folder(&[one.join("a.jsonl")]), None);
    assert_eq!(folder(&[one.join("nowhere")]), None);
}
