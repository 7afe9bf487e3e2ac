//! `archive restore`: brings a session back from the archive, with all its files.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::status::{build_session, is_session_file};
use super::{ArchiveLocation, ArchivedSession};
use crate::archive::{Archive, ArchivedFile};
use crate::disk::open_file;
use crate::edit::effect::{FileEffect, plan_effects};
use crate::error::Error;
use crate::writer::{FileOp, NewContent, OpId, Plan, SessionWriter};

/// The number of bytes at the start of a subagent file that are searched for its session id.
const HEAD_BYTES: u64 = 64 << 10;

/// Options of [`restore_from_archive`].
#[derive(Debug, Clone, Default)]
pub struct ArchiveRestoreRequest {
    /// The session id, the start of it, or the path that the session file had.
    pub name: String,
    /// The folder to restore into, in place of the one that contained the session. Created if it does not exist.
    pub into: Option<PathBuf>,
    /// Report the effects without writing.
    pub dry_run: bool,
}

/// The result of [`restore_from_archive`].
#[derive(Debug, Clone)]
pub struct ArchiveRestoreOutcome {
    /// The number of the op. `None` in a dry run, or if nothing had to be restored.
    pub op: Option<OpId>,
    /// The session.
    pub session: ArchivedSession,
    /// The path of the restored session file.
    pub path: PathBuf,
    /// The effects on files. Empty if all files exist with the same content.
    pub effects: Vec<FileEffect>,
}

/// Restores the newest archived state of a session: its transcript, its folder, its file history and its tasks.
///
/// Files that exist with the same content are left as they are. Returns [`Error::AlreadyExists`] if a file exists with other
/// content: nothing is overwritten.
pub fn restore_from_archive(
    writer: &SessionWriter,
    location: &ArchiveLocation,
    request: &ArchiveRestoreRequest,
) -> Result<ArchiveRestoreOutcome, Error> {
    let archive = Archive::open(location);
    let main = find_archived_session(&archive, &request.name)?;
    let root = request.into.as_deref().unwrap_or(&main.root);
    let root = std::path::absolute(root).map_err(Error::reading(root))?;
    let mut file_ops = Vec::new();
    let mut restored = Vec::new();
    for file in find_session_files(&archive, &main)? {
        let path = root.join(&file.relative);
        if std::fs::symlink_metadata(&path).is_ok() {
            if !has_content(&path, &file).map_err(Error::reading(&path))? {
                return Err(Error::AlreadyExists { path });
            }
            continue;
        }
        let (mode, source) = (file.newest().mode, file.clone());
        let write =
            move |out: &mut dyn io::Write| io::copy(&mut source.read(source.newest()), out).map(|_| ());
        file_ops.push(FileOp::Create {
            path: path.clone(),
            content: NewContent::WithMode(mode, Box::new(write)),
        });
        restored.push((path, file));
    }
    let session = build_session(&main);
    let plan = Plan {
        command: "archive restore",
        session: session.id.clone(),
        about: format!("{} files", file_ops.len()),
        file_ops,
        even_if_live: false,
    };
    let effects = plan_effects(&plan);
    let verify = || {
        let is_equal = |(path, file): &(PathBuf, ArchivedFile<'_>)| has_content(path, file).unwrap_or(false);
        let different = restored.iter().find(|restored| !is_equal(restored));
        different.map_or(Ok(()), |(path, _)| Err(Error::VerificationFailed { path: path.clone() }))
    };
    let op = if request.dry_run || effects.is_empty() { None } else { Some(writer.commit(plan, verify)?) };
    Ok(ArchiveRestoreOutcome { op, session, path: root.join(&main.relative), effects })
}

/// Finds the newest transcript of the session with this name. Returns an error if several sessions match, or none.
fn find_archived_session<'a>(archive: &'a Archive, name: &str) -> Result<ArchivedFile<'a>, Error> {
    let path = Path::new(name);
    let stem = |file: &ArchivedFile<'_>| {
        file.relative.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    };
    let is_match = |file: &ArchivedFile<'_>| {
        !name.is_empty() && (stem(file).starts_with(name) || file.original_path() == path)
    };
    let mut matching: Vec<_> =
        archive.files().filter(|file| is_session_file(file) && is_match(file)).collect();
    matching.sort_by_key(|file| file.newest().modified);
    let Some(newest) = matching.pop() else {
        return Err(Error::UnknownSession { name: name.to_owned(), nearest: Vec::new() });
    };
    let mut ids: Vec<String> = matching.iter().chain([&newest]).map(stem).collect();
    ids.sort();
    ids.dedup();
    if ids.len() > 1 && !ids.iter().any(|id| id == name) {
        let candidates = ids.into_iter().map(|id| (id, String::new())).collect();
        return Err(Error::AmbiguousSession { name: name.to_owned(), candidates });
    }
    let mut exact = matching.into_iter().chain([newest]).filter(|file| ids.len() == 1 || stem(file) == name);
    exact.next_back().ok_or_else(|| Error::UnknownSession { name: name.to_owned(), nearest: Vec::new() })
}

/// Returns all archived files of a session, its transcript first.
fn find_session_files<'a>(
    archive: &'a Archive,
    main: &ArchivedFile<'a>,
) -> Result<Vec<ArchivedFile<'a>>, Error> {
    let id = main.relative.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let side_dir = main.relative.with_extension("");
    let folder = main.relative.parent().unwrap_or(Path::new(""));
    let mut files = vec![main.clone()];
    for file in
        archive.files().filter(|file| file.root == main.root && file.machine_name == main.machine_name)
    {
        let relative = &file.relative;
        let name = relative.file_name().unwrap_or_default().to_string_lossy();
        let is_below = |folder: &str| relative.starts_with(Path::new(folder).join(&id));
        let is_todo = relative.starts_with("todos") && name.starts_with(&format!("{id}-"));
        let is_agent_file = relative.parent() == Some(folder) && name.starts_with("agent-");
        let is_own = relative.starts_with(&side_dir)
            || is_below("file-history")
            || is_below("tasks")
            || is_todo
            || (is_agent_file && names_session(&file, &id).map_err(Error::reading(relative))?);
        if is_own && file.relative != main.relative {
            files.push(file);
        }
    }
    Ok(files)
}

/// Returns `true` if the start of a file names the session. Older clients wrote the subagents of all sessions to one folder.
fn names_session(file: &ArchivedFile<'_>, id: &str) -> io::Result<bool> {
    let mut head = Vec::new();
    file.read(file.newest()).take(HEAD_BYTES).read_to_end(&mut head)?;
    let mark = format!("\"sessionId\":\"{id}\"");
    Ok(memchr::memmem::find(&head, mark.as_bytes()).is_some())
}

/// Returns `true` if the file at a path has the newest archived content.
fn has_content(path: &Path, file: &ArchivedFile<'_>) -> io::Result<bool> {
    let mut live = BufReader::new(open_file(path)?);
    let mut archived = BufReader::new(file.read(file.newest()));
    loop {
        let (left, right) = (live.fill_buf()?, archived.fill_buf()?);
        let len = left.len().min(right.len());
        if len == 0 {
            return Ok(left.is_empty() && right.is_empty());
        }
        if left[..len] != right[..len] {
            return Ok(false);
        }
        live.consume(len);
        archived.consume(len);
    }
}
