//! Single values that are read again within a minute or so, each in a small file of its own.
//!
//! ```text
//! magic, code, checksum of name and value, packed value
//! ```
//!
//! Writes are best-effort and never block. Values that have not been rewritten for a day are deleted.

use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rethread_core::id::Id;
use rethread_core::pack::Pack;

use super::cache_dir::{CacheDir, code_fingerprint, private_options};
use super::lock::CacheLock;
use super::warning::CacheWarning;
use crate::disk::{Roots, open_file};

const MAGIC: [u8; 8] = *b"rethvalu";
/// The length of the header before the value.
const HEADER_BYTES: usize = 20;
/// The prefix of the file names, and the name of the lock.
const PREFIX: &str = "value";
/// Values that have not been written for this long are deleted.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// A cached value, addressed by name.
#[derive(Debug)]
pub(crate) struct CachedValue {
    dir: PathBuf,
    name: String,
}

impl CacheDir {
    /// Returns a handle to the value called `name` for the files below `roots`. The value need not exist.
    ///
    /// Returns `None` if a root is not a directory or there are no roots.
    pub(crate) fn cached_value(&self, roots: &Roots, name: Id) -> Option<CachedValue> {
        Some(CachedValue { dir: self.dir_for(roots)?, name: format!("{PREFIX}-{:032x}", name.bits()) })
    }
}

impl CachedValue {
    fn path(&self) -> PathBuf {
        self.dir.join(&self.name)
    }

    /// Reads the value, whatever its age. Returns `None` if it is missing, unreadable or damaged, or if a
    /// build of rethread from other source code wrote it.
    pub(crate) fn read<T: Pack>(&self) -> Option<T> {
        let mut bytes = Vec::new();
        open_file(&self.path()).ok()?.read_to_end(&mut bytes).ok()?;
        let value = bytes.get(HEADER_BYTES..)?;
        (bytes[..HEADER_BYTES] == self.build_header(value)).then(|| T::from_packed(value)).flatten()
    }

    /// Builds the header of the file for a packed value.
    fn build_header(&self, value: &[u8]) -> [u8; HEADER_BYTES] {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(self.name.as_bytes());
        hasher.update(value);
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(&MAGIC);
        header[8..16].copy_from_slice(&code_fingerprint().to_le_bytes());
        header[16..].copy_from_slice(&hasher.finalize().to_le_bytes());
        header
    }

    /// Writes the value, unless another process is writing values. Returns a warning if that fails.
    pub(crate) fn write(&self, value: &impl Pack) -> Option<CacheWarning> {
        let result = self.replace_file(&value.to_packed());
        result.err().map(|source| CacheWarning::Unwritable { path: self.path(), source })
    }

    /// Replaces the file of the value. Does nothing if another process holds the lock.
    fn replace_file(&self, value: &[u8]) -> io::Result<()> {
        let Some(_lock) = CacheLock::try_acquire(&self.dir, PREFIX)? else { return Ok(()) };
        let is_new = !self.path().exists();
        let draft = self.dir.join(format!("{PREFIX}.new"));
        let mut file = private_options().write(true).create(true).truncate(true).open(&draft)?;
        file.write_all(&self.build_header(value))?;
        file.write_all(value)?;
        fs::rename(&draft, self.path())?;
        if is_new {
            self.remove_expired();
        }
        Ok(())
    }

    /// Removes the values that have not been written for a day, for instance those of deleted sessions.
    fn remove_expired(&self) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().filter_map(Result::ok) {
            let is_value = entry.file_name().to_string_lossy().starts_with(&format!("{PREFIX}-"));
            let modified = entry.metadata().and_then(|meta| meta.modified()).ok();
            let age = modified.and_then(|modified| SystemTime::now().duration_since(modified).ok());
            if is_value && age.is_some_and(|age| age > MAX_AGE) {
                // If it cannot be removed, the next write tries again.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}
