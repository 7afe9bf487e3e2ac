//! Results with a cache equal those without, after any change of the files and any damage to the cache.

#![expect(clippy::disallowed_methods, reason = "the test writes the store that it reads")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index as Pick;
use rethread_engine::ops;
use rethread_engine::ops::list::{SessionFilter, SessionList};
use rethread_engine::ops::stats::StatsReport;
use rethread_engine::{CacheDir, CacheWarning, Roots};
use rethread_testkit::{random, script};
use tempfile::TempDir;

struct TestStore {
    folder: TempDir,
}

/// A change of a store between two reads.
#[derive(Debug, Clone)]
enum Change {
    Append(Vec<u8>),
    /// Reverses the lines.
    ReverseLines,
    /// Reverses the lines and restores the modification time.
    ReverseLinesKeepTime,
    Truncate(Pick),
    Delete,
    /// Writes the same bytes again.
    Touch,
    /// Renames the file and replaces another file.
    Rename(Pick),
    /// Exchanges the names of two files.
    Swap(Pick),
    /// Adds a file.
    Add(Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        random::file().prop_map(Change::Append),
        Just(Change::ReverseLines),
        Just(Change::ReverseLinesKeepTime),
        any::<Pick>().prop_map(Change::Truncate),
        Just(Change::Delete),
        Just(Change::Touch),
        any::<Pick>().prop_map(Change::Rename),
        any::<Pick>().prop_map(Change::Swap),
        random::file().prop_map(Change::Add),
    ]
}

/// Waits until the fingerprints of the files written so far are stable.
fn wait_for_stable_fingerprints() {
    let start = SystemTime::now();
    while start.elapsed().is_ok_and(|elapsed| elapsed < Duration::from_millis(25)) {
        std::thread::yield_now();
    }
}

impl TestStore {
    fn new(files: &[Vec<u8>]) -> TestStore {
        let store = TestStore { folder: tempfile::tempdir().expect("a temporary folder") };
        std::fs::create_dir_all(store.root()).expect("a folder");
        files.iter().enumerate().for_each(|(idx, bytes)| store.write(idx, bytes));
        store
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join(".claude/projects")
    }

    fn cache_path(&self) -> PathBuf {
        self.folder.path().join("cache/rethread")
    }

    /// Writes a session file, or a subagent file in one of two layouts.
    fn write(&self, idx: usize, bytes: &[u8]) {
        let session = |idx: usize| format!("-home-ada-p{}/{:08x}-0000-4000-8000-000000000000", idx % 2, idx);
        let name = match idx % 4 {
            0 | 1 => format!("{}.jsonl", session(idx)),
            2 => format!("{}/subagents/agent-{idx}.jsonl", session(idx - 2)),
            _ => format!("-home-ada-p1/agent-{idx}.jsonl"),
        };
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be created");
        std::fs::write(path, bytes).expect("the file can be written");
    }

    /// Returns all files, sorted by path.
    fn list_files(&self) -> Vec<PathBuf> {
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

    fn apply_change(&self, at: Pick, change: &Change) {
        let files = self.list_files();
        if let Change::Add(bytes) = change {
            return self.write(100 + at.index(100), bytes);
        }
        let Some(path) = files.get(at.index(files.len().max(1))) else { return };
        let bytes = std::fs::read(path).expect("the file was listed");
        let write = |bytes: &[u8]| std::fs::write(path, bytes).expect("the file can be written");
        let reversed = || {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
            lines.reverse();
            lines.concat()
        };
        match change {
            Change::Append(more) => write(&[&bytes[..], more].concat()),
            Change::ReverseLines => write(&reversed()),
            Change::ReverseLinesKeepTime => {
                let modified = std::fs::metadata(path).and_then(|meta| meta.modified()).expect("a time");
                write(&reversed());
                let file = std::fs::File::options().append(true).open(path).expect("the file can be opened");
                file.set_modified(modified).expect("the time can be set");
            }
            Change::Truncate(to) => write(&bytes[..to.index(bytes.len() + 1)]),
            Change::Delete => std::fs::remove_file(path).expect("the file can be removed"),
            Change::Touch => write(&bytes),
            Change::Rename(to) => std::fs::rename(path, &files[to.index(files.len())]).expect("renamed"),
            Change::Swap(with) => {
                let (other, temporary) =
                    (&files[with.index(files.len())], self.folder.path().join("temporary"));
                std::fs::rename(path, &temporary).expect("renamed");
                if other != path {
                    std::fs::rename(other, path).expect("renamed");
                }
                std::fs::rename(temporary, other).expect("renamed");
            }
            Change::Add(_) => {}
        }
    }

    fn roots(&self) -> Roots {
        Roots::new(vec![self.folder.path().join(".claude")])
    }

    fn list(&self, cache: Option<&CacheDir>) -> SessionList {
        ops::list::list_sessions(
            &self.roots(),
            &SessionFilter { all: true, ..SessionFilter::default() },
            cache,
        )
    }

    fn stats(&self, cache: Option<&CacheDir>) -> StatsReport {
        ops::stats::collect_stats(&self.roots(), true, cache)
    }

    /// Checks that `list` and `stats` give the same results with and without a cache. Returns the cache warnings.
    fn check(&self, cache: &CacheDir) -> Vec<CacheWarning> {
        let (expected_list, list) = (self.list(None), self.list(Some(cache)));
        assert_eq!(list_text(&list), list_text(&expected_list));
        let (expected_stats, stats) = (self.stats(None), self.stats(Some(cache)));
        assert_eq!(stats.counts, expected_stats.counts);
        assert_eq!(stats.files, expected_stats.files);
        assert_eq!(stats.failures.len(), expected_stats.failures.len());
        list.warning.into_iter().chain(stats.warning).collect()
    }

    /// Returns the path of a cache file.
    fn cache_file(&self, name: &str) -> PathBuf {
        let version_folder = only_entry(&self.cache_path());
        only_entry(&version_folder).join(name)
    }
}

fn only_entry(folder: &Path) -> PathBuf {
    let mut entries = std::fs::read_dir(folder).expect("a folder");
    let path = entries.next().expect("the folder is not empty").expect("an entry").path();
    assert!(entries.next().is_none(), "one entry in {}", folder.display());
    path
}

/// Returns a session list as text, without the cache warning.
fn list_text(list: &SessionList) -> String {
    let SessionList { rows, hidden, failures, files, warning: _ } = list;
    let mut text = format!("{files} {hidden:?} {failures:?}\n");
    rows.iter().for_each(|row| writeln!(text, "{row:#?}").expect("a string can be written"));
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cache_gives_the_same_results_after_any_change(
        files in vec(random::file(), 1..7),
        rounds in vec((any::<bool>(), vec((any::<Pick>(), change()), 0..4)), 1..4),
    ) {
        let store = TestStore::new(&files);
        let cache = CacheDir::new(store.cache_path());
        for (is_stable, changes) in rounds {
            if is_stable {
                wait_for_stable_fingerprints();
            }
            assert!(store.check(&cache).is_empty());
            assert!(store.check(&cache).is_empty());
            changes.iter().for_each(|(at, change)| store.apply_change(*at, change));
            assert!(store.check(&cache).is_empty());
        }
    }
}

fn store_with_three_files() -> TestStore {
    let file = |idx: u32| {
        script::bytes(&format!("u{idx}: tidy shed {idx}\n  a{idx} #m{idx}: done\n    v{idx}: and now?"))
    };
    TestStore::new(&[file(1), file(2), file(3)])
}

#[test]
fn damaged_cache_never_gives_a_wrong_result() {
    let store = store_with_three_files();
    let cache = CacheDir::new(store.cache_path());
    wait_for_stable_fingerprints();
    assert!(store.check(&cache).is_empty());
    for name in ["session-info", "stats"] {
        let path = store.cache_file(name);
        let intact = std::fs::read(&path).expect("the cache file exists");
        let mut damaged_files: Vec<Vec<u8>> = (0..intact.len())
            .step_by(5)
            .map(|at| {
                let mut bytes = intact.clone();
                bytes[at] ^= 1 << (at % 8);
                bytes
            })
            .collect();
        damaged_files.extend((0..intact.len()).step_by(31).map(|len| intact[..len].to_vec()));
        damaged_files.push([&intact[..], b"more"].concat());
        damaged_files.push(b"other content that is longer than the header of a cache file".to_vec());
        let other = if name == "stats" { "session-info" } else { "stats" };
        damaged_files.push(std::fs::read(store.cache_file(other)).expect("the cache file exists"));
        for (idx, damaged) in damaged_files.iter().enumerate() {
            std::fs::write(&path, damaged).expect("the file can be written");
            let warnings = store.check(&cache);
            // Bytes 8 to 16 identify the code that wrote the file. A file of other code gives no warning.
            let is_other_code = damaged.len() == intact.len() && damaged[8..16] != intact[8..16];
            let has_warning =
                matches!(&warnings[..], [CacheWarning::Damaged { path: reported }] if *reported == path);
            assert!(has_warning != is_other_code, "{name} {idx}: {warnings:?}");
            assert_eq!(std::fs::read(&path).expect("the file is written again"), intact, "{name} {idx}");
        }
    }
}

#[test]
fn unwritable_cache_gives_one_warning_and_correct_results() {
    let store = store_with_three_files();
    wait_for_stable_fingerprints();
    std::fs::write(store.folder.path().join("cache"), "a file").expect("the file can be written");
    let cache = CacheDir::new(store.cache_path());
    let warnings = store.check(&cache);
    // One warning for `list`, one for `stats`.
    assert!(
        matches!(&warnings[..], [CacheWarning::Unwritable { .. }, CacheWarning::Unwritable { .. }]),
        "{warnings:?}"
    );
}

#[test]
fn folder_in_place_of_a_cache_file_gives_a_warning() {
    let store = store_with_three_files();
    let cache = CacheDir::new(store.cache_path());
    wait_for_stable_fingerprints();
    store.check(&cache);
    let path = store.cache_file("session-info");
    std::fs::remove_file(&path).expect("the cache file exists");
    std::fs::create_dir(&path).expect("a folder");
    assert!(matches!(&store.check(&cache)[..], [CacheWarning::Unwritable { .. }]));
}

#[test]
fn single_file_uses_no_cache() {
    let store = store_with_three_files();
    wait_for_stable_fingerprints();
    let roots = Roots::new(store.list_files()[2..].to_vec());
    let cache = CacheDir::new(store.cache_path());
    assert_eq!(ops::list::list_sessions(&roots, &SessionFilter::default(), Some(&cache)).rows.len(), 1);
    assert_eq!(ops::stats::collect_stats(&roots, false, Some(&cache)).counts.files, 1);
    assert!(!store.cache_path().exists());
}

#[test]
fn concurrent_readers_get_correct_results() {
    let store = store_with_three_files();
    wait_for_stable_fingerprints();
    let expected = list_text(&store.list(None));
    let cache = CacheDir::new(store.cache_path());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (store, cache, expected) = (&store, &cache, &expected);
            scope.spawn(move || {
                for round in 0..20 {
                    let list = store.list(Some(cache));
                    assert_eq!(list_text(&list), *expected);
                    if round % 4 == thread {
                        // The file may not exist yet, or another thread may remove it first.
                        let _ = std::fs::remove_file(store.cache_file("session-info"));
                    }
                }
            });
        }
    });
}

#[cfg(unix)]
#[test]
fn cache_is_readable_only_by_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let store = store_with_three_files();
    wait_for_stable_fingerprints();
    store.check(&CacheDir::new(store.cache_path()));
    let mode = |path: &Path| std::fs::metadata(path).expect("it exists").permissions().mode() & 0o777;
    let path = store.cache_file("session-info");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().expect("a folder")), 0o700);
    assert_eq!(mode(&store.cache_path()), 0o700);
}
