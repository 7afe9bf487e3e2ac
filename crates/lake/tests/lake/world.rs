//! Several machines with generated sessions, and their lake.

use std::path::{Path, PathBuf};

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::PriceTable;
use rethread_engine::{ArchiveScope, Roots};
use rethread_lake::{
    LakeError, LakeFolder, LakeManifest, Level, PushReport, PushRequest, PushState, TeamKey, derive_dev_id,
    init_folder, push,
};
use rethread_testkit::spending::GeneratedFile;
use tempfile::TempDir;

const PRICES: &str = r#"
source = "made up"
date = 2026-04-01
[[price]]
models = ["claude-opus-4-5-20251101"]
input = 5
output = 25
[[price]]
models = ["claude-opus-4-5-20251101"]
from = 2026-02-10
input = 4
output = 20
[[price]]
models = ["claude-sonnet-4-6"]
input = 3
output = 15
"#;

/// Returns prices that change within the generated times.
pub(crate) fn prices() -> PriceTable {
    PriceTable::parse(PRICES).expect("the prices are valid")
}

/// A machine of a developer.
#[derive(Clone)]
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) root: PathBuf,
    pub(crate) level: Level,
    pub(crate) state: PushState,
    /// The archive that is read together with the files on disk.
    pub(crate) archive: Option<ArchiveScope>,
}

impl Machine {
    /// Writes a session file, and its meta file if it has one.
    pub(crate) fn write_file(&self, file: &GeneratedFile) {
        self.write(&file.path, &file.bytes());
        if let Some((path, text)) = file.meta_file() {
            self.write(&path, text.as_bytes());
        }
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.root.join("projects").join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be created");
        std::fs::write(path, bytes).expect("the file can be written");
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots { archive: self.archive.clone(), ..Roots::new(vec![self.root.clone()]) }
    }

    /// Deletes a session file, and its meta file if it has one.
    pub(crate) fn delete_file(&self, file: &GeneratedFile) {
        for path in [Some(file.path.clone()), file.meta_file().map(|(path, _)| path)].into_iter().flatten() {
            std::fs::remove_file(self.root.join("projects").join(path)).expect("the file exists");
        }
    }
}

/// A lake, and a clock that ticks with every push.
pub(crate) struct World {
    pub(crate) temp: TempDir,
    pub(crate) folder: LakeFolder,
    pub(crate) key: TeamKey,
    pub(crate) now: i64,
}

impl World {
    pub(crate) fn new() -> World {
        let temp = tempfile::tempdir().expect("a temporary folder");
        let key = TeamKey::from_bytes([9; 32]);
        let manifest = LakeManifest::new("test".to_owned(), &key);
        let folder = init_folder(&temp.path().join("lake"), &manifest).expect("a lake can be created");
        World { temp, folder, key, now: 1_780_000_000_000 }
    }

    pub(crate) fn machine(&self, name: &str, level: Level) -> Machine {
        let root = self.temp.path().join(name).join(".claude");
        std::fs::create_dir_all(root.join("projects")).expect("a folder");
        Machine { name: name.to_owned(), root, level, state: PushState::default(), archive: None }
    }

    pub(crate) fn dev_id(&self, machine: &Machine) -> String {
        derive_dev_id(&self.key, "ada", &machine.name)
    }

    /// Pushes and keeps the state, unless the push is interrupted.
    pub(crate) fn push(
        &mut self,
        machine: &mut Machine,
        stop_after: Option<usize>,
    ) -> Result<PushReport, LakeError> {
        self.now += 1000;
        let prices = prices();
        let request = PushRequest {
            roots: &machine.roots(),
            prices: &prices,
            prices_origin: "made up".to_owned(),
            level: machine.level,
            key: &self.key,
            dev_id: self.dev_id(machine),
            now: Timestamp(self.now),
            day: "2026-05-28".to_owned(),
            dry_run: false,
            stop_after,
        };
        let report = push(&self.folder, &request, &machine.state, None)?;
        assert!(report.failures.is_empty(), "{:?}", report.failures);
        machine.state = report.state.clone();
        Ok(report)
    }

    pub(crate) fn path(&self) -> &Path {
        self.temp.path()
    }
}
