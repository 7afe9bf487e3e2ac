//! Tests that cached values are used only while their files are unchanged, and that damage is noticed.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rethread_core::pack::Pack;
use rethread_core::session::SessionInfo;
use rethread_testkit::script;
use tempfile::TempDir;

use crate::cache::{CacheDir, CacheKind, IndexError, NewCacheEntry, PagedReader, PagedWriter};
use crate::disk::{Roots, SessionFile, find_sessions};
use crate::ops;
use crate::ops::list::SessionFilter;

const KIND: CacheKind = CacheKind::SessionInfos;

struct TestStore {
    folder: TempDir,
    cache: CacheDir,
}

impl TestStore {
    fn new() -> TestStore {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cache = CacheDir::new(folder.path().join("cache"));
        std::fs::create_dir(folder.path().join("store")).expect("a folder");
        let store = TestStore { folder, cache };
        store.write("a", "the shed");
        store.write("b", "the hens");
        store
    }

    fn write(&self, name: &str, prompt: &str) {
        let path = self.folder.path().join("store").join(name).with_extension("jsonl");
        std::fs::write(path, script::bytes(&format!("u1: {prompt}\n  a1: done")))
            .expect("the file can be written");
    }

    fn roots(&self) -> Roots {
        Roots::new(vec![self.folder.path().join("store")])
    }

    fn files(&self) -> Vec<SessionFile> {
        find_sessions(&self.roots()).0
    }

    fn cache_file(&self) -> PathBuf {
        self.cache.dir_for(&self.roots()).expect("a folder").join(KIND.file_name())
    }

    fn titles(&self) -> Vec<String> {
        let mut rows =
            ops::list::list_sessions(&self.roots(), &SessionFilter::default(), Some(&self.cache)).rows;
        rows.sort_by(|a, b| a.path.cmp(&b.path));
        rows.into_iter().map(|row| row.title.text).collect()
    }

    /// Caches a title for each file that differs from the one in the file.
    fn cache_false_titles(&self, title: &str) {
        let files = self.files();
        let mut info = SessionInfo::default();
        (info.custom_title, info.turns) = (Some(title.to_owned()), 1);
        let new_entry = |file_idx| NewCacheEntry {
            file_idx,
            cost: u64::MAX / 4,
            blob: (info.clone(), false).to_packed(),
        };
        let file_cache = self.cache.load_values(&self.roots(), KIND, &files).expect("a folder");
        assert!(file_cache.store(&files, (0..files.len()).map(new_entry).collect()).is_none());
    }
}

/// Waits until the fingerprints of all files written so far are stable.
fn wait_until_stable() {
    let start = SystemTime::now();
    while start.elapsed().is_ok_and(|elapsed| elapsed < Duration::from_millis(25)) {
        std::thread::yield_now();
    }
}

#[test]
fn cached_value_is_used_until_the_file_changes() {
    let store = TestStore::new();
    wait_until_stable();
    store.cache_false_titles("cached");
    assert_eq!(store.titles(), ["cached", "cached"]);
    // A text of the same length.
    store.write("a", "the barn");
    assert_eq!(store.titles(), ["the barn", "cached"]);
    store.write("c", "the cows");
    assert_eq!(store.titles(), ["the barn", "cached", "the cows"]);
}

#[test]
fn value_of_an_unstable_file_is_neither_used_nor_stored() {
    let store = TestStore::new();
    wait_until_stable();
    store.cache_false_titles("cached");
    let mut files = store.files();
    // As if they had been listed within one clock tick of their last change.
    files.iter_mut().for_each(|file| file.is_stable = false);
    let file_cache = store.cache.load_values(&store.roots(), KIND, &files).expect("a folder");
    assert_eq!(file_cache.loaded_count(), 0);
    let new_entry =
        NewCacheEntry { file_idx: 0, cost: u64::MAX / 4, blob: (SessionInfo::default(), false).to_packed() };
    assert!(file_cache.store(&files, vec![new_entry]).is_none());
    assert_eq!(store.titles(), ["the shed", "the hens"]);
}

#[test]
fn damaged_page_is_an_error_and_other_pages_can_be_read() {
    const PAGE: usize = 16 << 10;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("pages");
    let body: Vec<u8> = (0..3 * PAGE + 700).map(|idx| (idx % 251) as u8).collect();
    let mut writer = PagedWriter::new(std::fs::File::create(&path).expect("a file"));
    writer.start_section();
    writer.write(&body).expect("written");
    writer.finish().expect("written");
    let bytes = std::fs::read(&path).expect("a file");
    let page_range = |page: usize| (page * PAGE) as u64..((page + 1) * PAGE).min(body.len()) as u64;
    for damaged_page in 0..4 {
        // The first, the middle and the last byte of the page.
        let range = page_range(damaged_page);
        for offset in [range.start, (range.start + range.end) / 2, range.end - 1] {
            let mut damaged = bytes.clone();
            damaged[offset as usize] ^= 1;
            std::fs::write(&path, damaged).expect("written");
            let reader = PagedReader::open(&path).expect("the tail is intact");
            for page in 0..4 {
                let read = reader.read(page_range(page));
                match read {
                    Ok(read) => assert!(page != damaged_page && read == body[page * PAGE..][..read.len()]),
                    Err(error) => assert!(page == damaged_page && matches!(error, IndexError::Corrupt)),
                }
            }
            assert!(matches!(reader.read_section(0), Err(IndexError::Corrupt)), "byte {offset}");
        }
    }
}

#[test]
fn one_changed_file_does_not_rewrite_a_large_cache() {
    let store = TestStore::new();
    wait_until_stable();
    store.cache_false_titles(&"long title ".repeat(10_000));
    let before = std::fs::read(store.cache_file()).expect("the cache file exists");
    store.write("b", "the eggs");
    wait_until_stable();
    assert_eq!(store.titles()[1], "the eggs");
    assert!(std::fs::read(store.cache_file()).expect("the cache file exists") == before);
}

#[test]
fn values_of_other_code_are_ignored() {
    let store = TestStore::new();
    wait_until_stable();
    store.cache_false_titles("cached");
    let mut bytes = std::fs::read(store.cache_file()).expect("the cache file exists");
    bytes[8] ^= 1;
    std::fs::write(store.cache_file(), &bytes).expect("the file can be written");
    assert_eq!(store.titles(), ["the shed", "the hens"]);
}

#[test]
fn second_writer_skips_writing() {
    let store = TestStore::new();
    wait_until_stable();
    let dir = store.cache.dir_for(&store.roots()).expect("a folder");
    let lock =
        crate::cache::CacheLock::try_acquire(&dir, KIND.file_name()).expect("a lock").expect("it is free");
    assert!(crate::cache::CacheLock::try_acquire(&dir, KIND.file_name()).expect("no failure").is_none());
    assert_eq!(store.titles(), ["the shed", "the hens"]);
    assert!(!store.cache_file().exists());
    drop(lock);
    assert_eq!(store.titles(), ["the shed", "the hens"]);
    assert!(store.cache_file().exists());
}

#[test]
fn cache_directory_depends_only_on_the_real_paths_of_the_roots() {
    let store = TestStore::new();
    let dir_for = |paths: &[PathBuf]| store.cache.dir_for(&Roots::new(paths.to_vec()));
    let (root, parent) = (store.folder.path().join("store"), store.folder.path().to_owned());
    let indirect = store.folder.path().join("store/../store/.");
    let single = dir_for(std::slice::from_ref(&root));
    assert_eq!(single, dir_for(&[indirect]));
    let both = dir_for(&[root.clone(), parent.clone()]);
    assert_eq!(both, dir_for(&[parent.clone(), root.clone(), parent.clone()]));
    assert_ne!(single, dir_for(&[parent]));
    assert_eq!(dir_for(&[]), None);
    assert_eq!(dir_for(&[root.join("a.jsonl")]), None);
    assert_eq!(dir_for(&[root.join("missing")]), None);
}
