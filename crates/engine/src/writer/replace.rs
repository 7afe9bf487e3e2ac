//! Replaces a file by another one without losing lines that other processes append meanwhile.
//!
//! ```text
//! lease on new ─▶ lease on old ─▶ check ─▶ rename new to path ─▶ release old ─▶ wait for writers ─▶ copy lines ─▶ release new
//! ```
//!
//! A process that opens the old file before the rename writes to the old file, and its lines are copied. A process that
//! opens the new file waits until then, so all lines keep their order. Where the system has no leases, the old file keeps
//! its hard link, and lines that appear in it later are copied by the next command ([`super::displaced`]).

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::change_error::ChangeError;
use super::files::{remove_if_exists, sync_parent, write_draft};
use super::fs;
use super::lines::merge_lines;
use super::plan::NewContent;
use crate::Error;
use crate::disk::{FileLease, ProcessTable};
use crate::error::{FileChange, LiveEvidence};

/// The number of checks for writers of a file, with [`PAUSE`] between them: 2 seconds in all.
const TRIES: u32 = 400;
const PAUSE: Duration = Duration::from_millis(5);

/// A file that takes the place of another one.
pub(super) struct Replacement<'a> {
    pub(super) path: &'a Path,
    /// The file that is renamed to `path`.
    pub(super) new: &'a Path,
    /// The length of `new` without lines that other processes append.
    pub(super) new_len: u64,
    /// A hard link to the old file. The caller removes it.
    pub(super) old: &'a Path,
    /// The number of bytes of the old file that `new` accounts for.
    pub(super) old_len: u64,
    /// Whether to refuse if neither a lease nor a hard link would show lines that are appended to the old file.
    pub(super) is_strict: bool,
}

/// Whether another process may still write to a replaced file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OldFileStatus {
    /// No process has it open.
    Closed,
    /// The system does not reveal whether a process has it open.
    MaybeOpen,
}

impl Replacement<'_> {
    /// Replaces the file. `check` is called before, while no process can open the old file for writing, if the system has
    /// leases. Returns [`Error::Live`] if a process keeps the old file open.
    pub(super) fn execute(
        &self,
        processes: &dyn ProcessTable,
        check: impl FnOnce() -> Result<(), Error>,
    ) -> Result<OldFileStatus, ChangeError> {
        let old_file = self.open_old()?;
        let new_file = fs::open_for_append(self.new)?;
        let new_lease = processes.block_opens(&new_file);
        let has_leases = new_lease.is_some();
        if self.is_strict && !has_leases && fs::link_metadata(self.old)?.is_none() {
            return Err(Error::UndetectableWriters { path: self.path.to_owned() }.into());
        }
        let old_lease = self.wait_for_writers(&old_file, processes, has_leases)?;
        check()?;
        fs::rename(self.new, self.path)?;
        drop(old_lease);
        sync_parent(self.path)?;
        let old_lease = self.wait_for_writers(&old_file, processes, has_leases)?;
        let appended = fs::read_from_offset(&old_file, self.old_len)?;
        if has_leases {
            append_to(&new_file, &appended)?;
        } else {
            carry_lines(self.path, self.new_len, &appended, &merge_draft_path(self.old), processes)?;
        }
        Ok(if old_lease.is_some() { OldFileStatus::Closed } else { OldFileStatus::MaybeOpen })
    }

    /// Opens the old file. Without a hard link, the path names it until it is replaced.
    fn open_old(&self) -> io::Result<File> {
        match fs::open_file(self.old) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::open_file(self.path),
            file => file,
        }
    }

    /// Waits until no process has the old file open for writing. Returns a lease on it if the system has leases.
    fn wait_for_writers<'f>(
        &self,
        file: &'f File,
        processes: &dyn ProcessTable,
        has_leases: bool,
    ) -> Result<Option<FileLease<'f>>, Error> {
        let meta = file.metadata().map_err(Error::reading(self.path))?;
        for _ in 0..TRIES {
            if has_leases && let Some(lease) = processes.block_writers(file) {
                return Ok(Some(lease));
            }
            if !has_leases && processes.find_writer(std::slice::from_ref(&meta)).is_none() {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
        }
        let evidence = processes.find_writer(&[meta]).unwrap_or(LiveEvidence::OpenElsewhere);
        let session = self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Err(Error::Live { session, evidence })
    }
}

/// Returns the path of the temporary file in which [`carry_lines`] merges lines. `sibling` is a temporary file of the op.
pub(super) fn merge_draft_path(sibling: &Path) -> PathBuf {
    sibling.with_extension("merge")
}

/// Adds lines that other processes appended to a replaced file to the file in its place. The first `path_len` bytes of that
/// file are not theirs.
///
/// Lines that the file already contains are not added again. Lines of the replaced file were written first, so they come
/// before other new lines; then the file is replaced by a merged one, which is written to `draft`.
pub(super) fn carry_lines(
    path: &Path,
    path_len: u64,
    appended: &[u8],
    draft: &Path,
    processes: &dyn ProcessTable,
) -> Result<(), ChangeError> {
    for _ in 0..TRIES {
        let file = fs::open_file(path)?;
        let visible = fs::read_from_offset(&file, path_len)?;
        let merged = merge_lines(appended, &visible);
        if let Some(rest) = merged.strip_prefix(&visible[..]) {
            return Ok(append_durably(path, rest)?);
        }
        let write_content = |out: &mut dyn io::Write| {
            (&file).seek(SeekFrom::Start(0))?;
            io::copy(&mut io::Read::take(&file, path_len), out)?;
            out.write_all(&merged)
        };
        remove_if_exists(draft)?;
        write_draft(draft, &NewContent::Generated(Box::new(write_content)), Some(path))?;
        let old = draft.with_extension("merged");
        link_old_file(path, &old)?;
        let (new_len, old_len) = (path_len + merged.len() as u64, path_len + visible.len() as u64);
        let replacement = Replacement { path, new: draft, new_len, old: &old, old_len, is_strict: false };
        match replacement.execute(processes, || ensure_len(path, old_len)) {
            Err(ChangeError::Refused(Error::Stale { .. })) => continue,
            status => status?,
        };
        return Ok(remove_if_exists(&old)?);
    }
    Err(Error::Stale { path: path.to_owned(), change: FileChange::Grew(1) }.into())
}

/// Returns [`Error::Stale`] if a file does not have this length.
pub(super) fn ensure_len(path: &Path, len: u64) -> Result<(), Error> {
    let current = fs::link_metadata(path).map_err(Error::reading(path))?.map(|meta| meta.len());
    if current == Some(len) {
        Ok(())
    } else {
        Err(Error::Stale { path: path.to_owned(), change: FileChange::Grew(1) })
    }
}

/// Creates a hard link to a file, so that it survives a crash after the file is replaced. Returns `false` if the file
/// system has no hard links.
pub(super) fn link_old_file(path: &Path, old: &Path) -> io::Result<bool> {
    remove_if_exists(old)?;
    match fs::hard_link(path, old) {
        Ok(()) => sync_parent(old).map(|()| true),
        Err(error) if is_unsupported(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns `true` if a hard link failed because the file system has none.
fn is_unsupported(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, InvalidInput, PermissionDenied, TooManyLinks, Unsupported};
    matches!(error.kind(), CrossesDevices | InvalidInput | PermissionDenied | TooManyLinks | Unsupported)
}

/// Appends bytes to a file durably.
pub(super) fn append_durably(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() { Ok(()) } else { append_to(&fs::open_for_append(path)?, bytes) }
}

/// Appends bytes to an open file durably.
fn append_to(file: &File, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    fs::write_all(file, bytes)?;
    fs::sync_all(file)
}
