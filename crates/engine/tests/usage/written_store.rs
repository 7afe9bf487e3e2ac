//! Writes a generated store to disk.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use jiff::tz::{Offset, TimeZone};
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops::usage::{GroupBy, UsageRequest};
use rethread_engine::{CacheDir, Roots};
use rethread_testkit::spending::StoreGenerator;
use tempfile::TempDir;

use super::expected_rows::PRICES;

/// Time zones: UTC, one west of it whose clocks change within the generated times, one east of it with a half hour.
pub(crate) fn zones() -> [TimeZone; 3] {
    [
        TimeZone::UTC,
        TimeZone::posix("PST8PDT,M3.2.0,M11.1.0").expect("a zone"),
        TimeZone::fixed(Offset::from_seconds(19_800).expect("an offset")),
    ]
}

pub(crate) fn prices() -> PriceTable {
    PriceTable::parse(PRICES).expect("the prices are valid")
}

/// Returns a request without filters.
pub(crate) fn request(by: GroupBy, zone: TimeZone, prices: &PriceTable) -> UsageRequest<'_> {
    UsageRequest {
        by,
        then_by: None,
        since: None,
        until: None,
        session: None,
        project: None,
        model: None,
        by_context_status: false,
        zone,
        now: Timestamp(0),
        prices,
    }
}

/// A temporary folder with the files of a generated store.
pub(crate) struct WrittenStore {
    folder: TempDir,
    /// The current files by their paths.
    files: BTreeMap<String, Vec<u8>>,
}

impl WrittenStore {
    pub(crate) fn new(generator: &StoreGenerator) -> WrittenStore {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut store = WrittenStore { folder, files: BTreeMap::new() };
        store.update(generator);
        store
    }

    /// Writes the changed files and removes the files that the generated store no longer has.
    pub(crate) fn update(&mut self, generator: &StoreGenerator) {
        let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for file in &generator.store.files {
            files.insert(file.path.clone(), file.bytes());
            files.extend(file.meta_file().map(|(path, text)| (path, text.into_bytes())));
        }
        for path in self.files.keys().filter(|path| !files.contains_key(*path)) {
            std::fs::remove_file(self.path(path)).expect("the file was written");
        }
        for (path, bytes) in files.iter().filter(|(path, bytes)| self.files.get(*path) != Some(bytes)) {
            let path = self.path(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be created");
            std::fs::write(path, bytes).expect("the file can be written");
        }
        self.files = files;
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(".claude/projects").join(path)
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots::new(vec![self.folder.path().join(".claude")])
    }

    pub(crate) fn cache(&self) -> CacheDir {
        CacheDir::new(self.folder.path().join("cache"))
    }
}

/// Waits until the fingerprints of the files written so far are stable.
pub(crate) fn wait_for_stable_fingerprints() {
    let start = SystemTime::now();
    while start.elapsed().is_ok_and(|elapsed| elapsed < Duration::from_millis(25)) {
        std::thread::yield_now();
    }
}
