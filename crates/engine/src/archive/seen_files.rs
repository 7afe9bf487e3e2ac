//! Fingerprints of the files that are archived in full, so that a run opens changed files only. The list is derived: without it
//! every file is read and compared once.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rethread_core::pack::Pack;
use rethread_core::pack_fields;

use crate::disk::{FileFingerprint, open_file};
use crate::writer::replace_file;

/// The name of the list in the folder of a machine.
pub(super) const FILE_NAME: &str = "seen";
/// The length of the checksum at the end of the list.
const HASH_BYTES: usize = 32;

/// The state of a file when it was archived.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenFile {
    pub(super) fingerprint: FileFingerprint,
    /// Whether any later change is guaranteed to change the fingerprint.
    pub(super) is_stable: bool,
}

pack_fields!(SeenFile { fingerprint, is_stable });

/// The archived files by path. The keys are not `PathBuf`: it compares names one by one, ten times slower than bytes.
#[derive(Debug, Default)]
pub(super) struct SeenFiles {
    files: HashMap<OsString, SeenFile>,
    is_changed: bool,
}

impl SeenFiles {
    /// Reads the list. Returns an empty one if it is missing or damaged.
    pub(super) fn read(machine_dir: &Path) -> SeenFiles {
        let list = read_list(machine_dir).flatten().unwrap_or_default();
        let files = list.into_iter().map(|(path, file)| (path.into_os_string(), file)).collect();
        SeenFiles { files, is_changed: false }
    }

    /// Returns `true` unless the list exists and is damaged.
    pub(super) fn is_intact(machine_dir: &Path) -> bool {
        read_list(machine_dir).is_none_or(|list| list.is_some())
    }

    /// Returns the state of a file when it was archived.
    pub(super) fn get(&self, path: &Path) -> Option<&SeenFile> {
        self.files.get(path.as_os_str())
    }

    /// Sets the state of an archived file.
    pub(super) fn insert(&mut self, path: PathBuf, file: SeenFile) {
        self.files.insert(path.into_os_string(), file);
        self.is_changed = true;
    }

    /// Writes the list with a checksum, if it changed.
    pub(super) fn write(&mut self, machine_dir: &Path) -> std::io::Result<()> {
        if !self.is_changed {
            return Ok(());
        }
        let list: Vec<(PathBuf, SeenFile)> =
            self.files.iter().map(|(path, file)| (PathBuf::from(path), *file)).collect();
        let mut bytes = list.to_packed();
        let hash = blake3::hash(&bytes);
        bytes.extend_from_slice(hash.as_bytes());
        replace_file(&machine_dir.join(FILE_NAME), &bytes)?;
        self.is_changed = false;
        Ok(())
    }
}

/// Reads the list. Returns `None` if it does not exist, and `Some(None)` if it is damaged.
fn read_list(machine_dir: &Path) -> Option<Option<Vec<(PathBuf, SeenFile)>>> {
    let mut bytes = Vec::new();
    let mut file = open_file(&machine_dir.join(FILE_NAME)).ok()?;
    if std::io::Read::read_to_end(&mut file, &mut bytes).is_err() {
        return Some(None);
    }
    let list = bytes.split_at_checked(bytes.len().saturating_sub(HASH_BYTES)).and_then(|(list, hash)| {
        let is_intact = blake3::hash(list).as_bytes() == hash;
        is_intact.then(|| Vec::from_packed(list)).flatten()
    });
    Some(list)
}
