//! A generated store on disk.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use jiff::tz::{Offset, TimeZone};
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::Prices;
use rethread_engine::ops::{GroupBy, UsageRequest};
use rethread_engine::{CacheDir, Roots};
use rethread_testkit::spending::StoreGenerator;
use tempfile::TempDir;

use super::expected_rows::PRICES;

/// All there is to group by.
pub(crate) const BYS: [GroupBy; 11] = [
    GroupBy::Day,
    GroupBy::Week,
    GroupBy::Month,
    GroupBy::Project,
    GroupBy::Session,
    GroupBy::Model,
    GroupBy::Tool,
    GroupBy::Agent,
    GroupBy::Branch,
    GroupBy::Block,
    GroupBy::Reach,
];

/// Zones: west and east of UTC, one of them with clocks that change within the time of the generator, one with half hours.
pub(crate) fn zones() -> [TimeZone; 3] {
    [
        TimeZone::UTC,
        TimeZone::posix("PST8PDT,M3.2.0,M11.1.0").expect("a zone"),
        TimeZone::fixed(Offset::from_seconds(19_800).expect("an offset")),
    ]
}

pub(crate) fn prices() -> Prices {
    Prices::parse(PRICES).expect("the prices can be read")
}

/// Asks for everything.
pub(crate) fn request(by: GroupBy, zone: TimeZone, prices: &Prices) -> UsageRequest<'_> {
    UsageRequest {
        by,
        since: None,
        until: None,
        session: None,
        project: None,
        model: None,
        reach: false,
        zone,
        now: Timestamp(0),
        prices,
    }
}

/// A folder with the files of a store.
pub(crate) struct Disk {
    folder: TempDir,
    written: BTreeMap<String, Vec<u8>>,
}

impl Disk {
    pub(crate) fn new(maker: &StoreGenerator) -> Disk {
        let mut disk =
            Disk { folder: tempfile::tempdir().expect("a temporary folder"), written: BTreeMap::new() };
        disk.write(maker);
        disk
    }

    /// Makes the files those of a store: what is the same is left alone, what is not there any more goes.
    pub(crate) fn write(&mut self, maker: &StoreGenerator) {
        let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for file in &maker.store.files {
            files.insert(file.path.clone(), file.bytes());
            files.extend(file.meta().map(|(path, text)| (path, text.into_bytes())));
        }
        for path in self.written.keys().filter(|path| !files.contains_key(*path)) {
            std::fs::remove_file(self.path(path)).expect("it was written");
        }
        for (path, bytes) in files.iter().filter(|(path, bytes)| self.written.get(*path) != Some(bytes)) {
            let path = self.path(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be made");
            std::fs::write(path, bytes).expect("the file can be written");
        }
        self.written = files;
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(".claude/projects").join(path)
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots { paths: vec![self.folder.path().join(".claude")] }
    }

    pub(crate) fn index(&self) -> CacheDir {
        CacheDir::at(self.folder.path().join("cache"))
    }
}

/// Waits until what was written so far is old enough to be believed.
pub(crate) fn settle() {
    let start = SystemTime::now();
    while start.elapsed().is_ok_and(|passed| passed < Duration::from_millis(25)) {
        std::thread::yield_now();
    }
}
