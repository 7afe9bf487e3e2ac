//! Each kind of deed: what is kept before it, its draft, and the step that others see.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};

use super::backup::BackupStore;
use super::files::{make_folder, make_missing, missing_above, publish, remove_if_there, write_draft};
use super::plan::FileOp;
use super::precondition::ensure_unchanged;
use super::record::{Change, FileOpKind, FileState, OpId};
use super::replace::{ReplacedFile, hard_link, replace_file};
use super::trash::{date_now, file_state, move_over};
use crate::disk::{open, tail_at};
use crate::error::{Error, FileChange};

/// A deed on its way.
pub(super) struct PreparedOp<'a> {
    deed: FileOp<'a>,
    pub(super) change: Change,
    displaced: Option<ReplacedFile>,
}

impl<'a> PreparedOp<'a> {
    /// Keeps what the deed will change, durably. Nothing else changes yet.
    pub(super) fn prepare(
        deed: FileOp<'a>,
        op: OpId,
        k: usize,
        keep: &BackupStore,
        state: &Path,
    ) -> Result<PreparedOp<'a>, Error> {
        let path = deed.path().to_owned();
        let beside =
            |end: &str| path.with_file_name(format!(".rethread-{op}-{k}-{}.{end}", std::process::id()));
        let mut change = Change {
            deed: FileOpKind::Create,
            path: path.clone(),
            before: None,
            after: None,
            draft: Some(beside("tmp")),
            old: None,
            bytes: None,
            from: None,
            folders: Vec::new(),
        };
        match &deed {
            FileOp::Append { stamp, bytes, .. } => {
                change.deed = FileOpKind::Append;
                change.before = Some(keep.growing(&path, stamp, op, k).map_err(Error::writing(state))?);
                change.bytes = Some(keep.chunks.keep(&bytes[..]).map_err(Error::writing(state))?);
                change.old = Some(beside("old"));
            }
            FileOp::Replace { stamp, .. } => {
                change.deed = FileOpKind::Replace;
                change.before = Some(keep.back_up(&path, stamp).map_err(Error::writing(state))?);
                change.old = Some(beside("old"));
            }
            FileOp::Create { .. } => {
                refuse_if_there(&path)?;
                change.folders = missing_above(&path);
            }
            FileOp::Remove { .. } => {
                change.deed = FileOpKind::Remove;
                let before = file_state(&path).map_err(Error::reading(&path))?;
                let gone = || Error::Stale { path: path.clone(), drift: FileChange::Gone };
                let trash = state.join("trash").join(format!("{op}-{k}"));
                let trash = trash.join(path.file_name().unwrap_or_default());
                change.before = Some(FileState { trash: Some(trash), ..before.ok_or_else(gone)? });
                change.draft = Some(state.join("trash").join(format!("{op}-{k}.part")));
                change.old = Some(beside("old"));
            }
            FileOp::Return { from, .. } => {
                change.deed = FileOpKind::Return;
                refuse_if_there(&path)?;
                if std::fs::symlink_metadata(from).is_err() {
                    return Err(Error::BackupGone { path });
                }
                change.from = Some(from.clone());
                change.old = Some(state.join("trash").join(format!("{op}-{k}.part")));
                change.folders = missing_above(&path);
            }
        }
        Ok(PreparedOp { deed, change, displaced: None })
    }

    /// Refuses a file that changed since the plan was made.
    pub(super) fn refuse_if_changed(&self) -> Result<(), Error> {
        match &self.deed {
            FileOp::Append { path, stamp, .. } | FileOp::Replace { path, stamp, .. } => {
                ensure_unchanged(path, stamp)
            }
            FileOp::Create { path, .. } | FileOp::Return { path, .. } => refuse_if_there(path),
            FileOp::Remove { .. } => Ok(()),
        }
    }

    /// Writes the draft, where the deed has one.
    pub(super) fn draft(&mut self) -> Result<(), Error> {
        let path = self.change.path.clone();
        let draft = self.change.draft.clone().unwrap_or_default();
        make_missing(&self.change.folders).map_err(Error::writing(&path))?;
        let failed = |error: io::Error| match error.kind() {
            // What the draft is made from ended early.
            ErrorKind::UnexpectedEof => Error::Changed { path: path.clone() },
            _ => Error::Unwritable { path: draft.clone(), source: error },
        };
        match &self.deed {
            FileOp::Replace { content, .. } => {
                let stamp = write_draft(&draft, content, Some(&path)).map_err(failed)?;
                self.change.after = Some(FileState::file(&stamp));
            }
            FileOp::Create { content, .. } => {
                let stamp = write_draft(&draft, content, None).map_err(failed)?;
                self.change.after = Some(FileState::file(&stamp));
            }
            FileOp::Append { bytes, .. } => reserve(&draft, bytes).map_err(Error::writing(&path))?,
            FileOp::Remove { .. } => {}
            FileOp::Return { from, .. } => {
                self.change.after = file_state(from).map_err(Error::reading(from))?;
            }
        }
        Ok(())
    }

    /// Does what others see.
    pub(super) fn apply(&mut self, step: impl Fn(&'static str)) -> Result<(), Error> {
        let change = &mut self.change;
        let path = change.path.clone();
        let draft = change.draft.clone().unwrap_or_default();
        let writing = |error| Error::Unwritable { path: path.clone(), source: error };
        match &self.deed {
            FileOp::Append { stamp, bytes, .. } => {
                if append_at(&path, stamp.len, bytes).map_err(writing)? {
                    let file = open(&path).map_err(writing)?;
                    let len = stamp.len + bytes.len() as u64;
                    let tail = tail_at(&file, len).map_err(writing)?.to_hex().to_string();
                    change.after = Some(FileState { len, tail, ..FileState::file(stamp) });
                } else {
                    return Err(Error::Stale { path, drift: FileChange::Grew(1) });
                }
            }
            FileOp::Replace { stamp, .. } => {
                let old = change.old.clone().unwrap_or_default();
                hard_link(&path, &old).map_err(writing)?;
                step("old file has a second name");
                let file = open(&path).map_err(writing)?;
                ensure_unchanged(&path, stamp)?;
                let mut displaced = replace_file(&draft, &path, file, stamp.len).map_err(writing)?;
                step("new file is in place");
                if let Some(why) = displaced.wait().map_err(writing)? {
                    return Err(Error::Live { session: stem(&path), why });
                }
                displaced.copy_appended(&path).map_err(writing)?;
                step("what grew is carried over");
                self.displaced = Some(displaced);
            }
            FileOp::Create { .. } => publish(&draft, &path).map_err(|error| occupied(&path, error))?,
            FileOp::Remove { .. } => {
                let trash =
                    change.before.as_ref().and_then(|before| before.trash.clone()).unwrap_or_default();
                make_folder(trash.parent().unwrap_or(&trash)).map_err(writing)?;
                step("trash is made");
                move_over(&path, &trash, &draft, step).map_err(writing)?;
            }
            FileOp::Return { from, .. } => {
                move_over(from, &path, &draft, &step).map_err(|error| occupied(&path, error))?;
                step("brought back");
                date_now(&path).map_err(writing)?;
            }
        }
        Ok(())
    }

    /// Tidies up when nothing can go wrong any more.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        if let Some(displaced) = &mut self.displaced {
            displaced.copy_appended(&self.change.path)?;
        }
        self.change.old.as_deref().map_or(Ok(()), remove_if_there)
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn refuse_if_there(path: &Path) -> Result<(), Error> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Err(Error::AlreadyExists { path: path.to_owned() }),
        Err(_) => Ok(()),
    }
}

fn occupied(path: &Path, error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::AlreadyExists => Error::AlreadyExists { path: path.to_owned() },
        _ => Error::Unwritable { path: path.to_owned(), source: error },
    }
}

/// Finds out whether there is room for an append: a line that fits only in part could not be taken back without room.
fn reserve(draft: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = super::files::private(OpenOptions::new().write(true).create_new(true)).open(draft);
    // A folder in which no file can be made may still hold one that can be appended to.
    let Ok(mut file) = file else { return Ok(()) };
    let written = file.write_all(bytes);
    remove_if_there(draft)?;
    written
}

/// Appends where the file ends; says whether that was at `len`.
fn append_at(path: &PathBuf, len: u64, bytes: &[u8]) -> io::Result<bool> {
    drop(open(path)?);
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(bytes)?;
    // Where nothing was written, the file does not say where.
    let end = if bytes.is_empty() { file.metadata()?.len() } else { file.stream_position()? };
    file.sync_all()?;
    Ok(end == len + bytes.len() as u64)
}
