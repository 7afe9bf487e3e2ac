//! Single values that are asked for again within the minute, each in a small file of its own.
//!
//! ```text
//! magic, code, checksum of name and value, packed value
//! ```
//!
//! Nobody waits: who cannot write does without, and what nobody has written for a day goes.

use std::fs;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use rethread_core::id::Id;
use rethread_core::pack::Pack;

use super::cache_dir::{CacheDir, code_fingerprint, private};
use super::lock::Lock;
use super::warning::CacheWarning;
use crate::disk::Roots;

/// What a slip begins with.
const MAGIC: [u8; 8] = *b"rethslip";
/// Bytes before the value.
const HEAD: usize = 20;
/// What the names of all slips begin with, and what their lock is called.
const KIND: &str = "slip";
/// How long a slip is kept that nobody writes again.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// The place of one value.
#[derive(Debug)]
pub(crate) struct CachedValue {
    folder: PathBuf,
    name: String,
}

impl CacheDir {
    /// Returns the place of what is kept by a name for the files below `roots`; none for single files.
    pub(crate) fn slip(&self, roots: &Roots, name: Id) -> Option<CachedValue> {
        Some(CachedValue { folder: self.folder_for(roots)?, name: format!("{KIND}-{:032x}", name.bits()) })
    }
}

impl CachedValue {
    fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    /// Returns the value, if there is one that can be believed.
    pub(crate) fn read<T: Pack>(&self) -> Option<T> {
        let mut bytes = Vec::new();
        crate::disk::open(&self.path()).ok()?.read_to_end(&mut bytes).ok()?;
        let value = bytes.get(HEAD..)?;
        (bytes[..HEAD] == self.head(value)).then(|| T::unpacked(value)).flatten()
    }

    fn head(&self, value: &[u8]) -> [u8; HEAD] {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(self.name.as_bytes());
        hasher.update(value);
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&MAGIC);
        head[8..16].copy_from_slice(&code_fingerprint().to_le_bytes());
        head[16..].copy_from_slice(&hasher.finalize().to_le_bytes());
        head
    }

    /// Keeps a value in the place of the one before; says what went wrong.
    pub(crate) fn write(&self, value: &impl Pack) -> Option<CacheWarning> {
        self.replace(&value.packed())
            .err()
            .map(|source| CacheWarning::Unwritable { path: self.path(), source })
    }

    fn replace(&self, value: &[u8]) -> io::Result<()> {
        let Some(_lock) = Lock::take(&self.folder, KIND)? else { return Ok(()) };
        let is_new = !self.path().exists();
        let draft = self.folder.join(format!("{KIND}.new"));
        let mut file = private().write(true).create(true).truncate(true).open(&draft)?;
        file.write_all(&self.head(value))?;
        file.write_all(value)?;
        fs::rename(&draft, self.path())?;
        if is_new {
            self.sweep();
        }
        Ok(())
    }

    /// Removes what nobody has written for long: sessions come and go.
    fn sweep(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok) {
            let is_slip = entry.file_name().to_string_lossy().starts_with(&format!("{KIND}-"));
            let written = entry.metadata().and_then(|meta| meta.modified()).ok();
            let age = written.and_then(|written| SystemTime::now().duration_since(written).ok());
            if is_slip && age.is_some_and(|age| age > OLD) {
                // What stays behind is removed the next time.
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}
