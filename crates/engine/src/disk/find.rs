//! Which files are sessions, and whose they are.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rethread_core::id::{Id, IdSet};

use super::dir_cache::DirCache;
use super::fingerprint::FileFingerprint;
use super::walk::walk;
use crate::Error;

/// Where to look for sessions.
#[derive(Debug, Clone, Default)]
pub struct Roots {
    /// `.claude` folders, `projects` folders, any folders with `*.jsonl` below them, or single files.
    pub paths: Vec<PathBuf>,
}

/// A file that holds a session or a subagent of one.
#[derive(Debug, Clone)]
pub(crate) struct SessionFile {
    pub(crate) path: PathBuf,
    /// The root it was found under.
    pub(crate) root: Arc<Path>,
    pub(crate) len: u64,
    pub(crate) mtime: Option<SystemTime>,
    pub(crate) role: FileRole,
    /// By what it is known as unchanged.
    pub(crate) mark: FileFingerprint,
    /// Whether any later change gives another mark.
    pub(crate) settled: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileRole {
    Main,
    /// A subagent's file; the session is known where the file lies in the session's folder.
    Agent {
        session: Option<String>,
    },
    /// A large result of a tool, in a file of its own beside the session.
    Result {
        session: String,
    },
}

impl SessionFile {
    pub(crate) fn stem(&self) -> &str {
        self.path.file_stem().and_then(OsStr::to_str).unwrap_or_default()
    }

    /// Returns the key of its path.
    pub(crate) fn id(&self) -> Id {
        Id::of(self.path.as_os_str().as_encoded_bytes())
    }

    pub(crate) fn is_agent(&self) -> bool {
        matches!(self.role, FileRole::Agent { .. })
    }

    pub(crate) fn is_result(&self) -> bool {
        matches!(self.role, FileRole::Result { .. })
    }

    /// Returns the id of the session it belongs to, as far as its path says.
    pub(crate) fn session(&self) -> Option<&str> {
        match &self.role {
            FileRole::Agent { session } => session.as_deref(),
            FileRole::Result { session } => Some(session),
            FileRole::Main => Some(self.stem()).filter(|stem| is_session_id(stem)),
        }
    }

    /// Returns the folder that holds what is beside the session: subagents, tool results.
    pub(crate) fn side_folder(&self) -> PathBuf {
        self.path.with_extension("")
    }

    fn new(path: PathBuf, root: &Arc<Path>, meta: &Metadata, now: SystemTime) -> SessionFile {
        let mark = FileFingerprint::of(meta);
        SessionFile {
            role: FileRole::of(&path),
            path,
            root: Arc::clone(root),
            len: meta.len(),
            mtime: meta.modified().ok(),
            mark,
            settled: mark.is_stable(now),
        }
    }

    /// Takes a file named on the command line, whatever it is called.
    fn named(path: &Path, root: &Arc<Path>, now: SystemTime) -> Option<SessionFile> {
        let meta = std::fs::metadata(path).ok()?;
        let file = SessionFile::new(path.to_owned(), root, &meta, now);
        let role = if path.extension() == Some(OsStr::new("jsonl")) { file.role } else { FileRole::Main };
        Some(SessionFile { role, ..file })
    }
}

impl FileRole {
    /// Takes what the path says.
    fn of(path: &Path) -> FileRole {
        // There are thousands: to take names off a path one by one costs more than anything else here.
        let is_separator = |byte: &u8| std::path::is_separator(char::from(*byte));
        let names = path.as_os_str().as_encoded_bytes().rsplit(is_separator);
        let mut names = names.filter(|name| !name.is_empty() && *name != b".");
        let name = names.next().unwrap_or_default();
        let text = |name: &[u8]| std::str::from_utf8(name).map(str::to_owned).ok();
        if name.ends_with(b".txt") {
            FileRole::Result { session: names.nth(1).and_then(text).unwrap_or_default() }
        } else if name.starts_with(b"agent-") {
            let in_folder = names.any(|folder| folder == b"subagents");
            FileRole::Agent { session: names.next().filter(|_| in_folder).and_then(text) }
        } else {
            FileRole::Main
        }
    }
}

/// Whether a name is the id of a session.
pub(crate) fn is_session_id(name: &str) -> bool {
    name.len() == 36 && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Finds all session files, in the order of their paths. Folders that cannot be read are left out and told.
pub(crate) fn find(roots: &Roots) -> (Vec<SessionFile>, Vec<Error>) {
    let (mut files, failures) = find_all(roots, &mut DirCache::default());
    files.retain(|file| !file.is_result());
    (files, failures)
}

/// Finds all session files and the large results beside them, in the order of their paths; what stands in a folder is
/// taken from what is remembered where that is still so.
pub(crate) fn find_all(roots: &Roots, folders: &mut DirCache<'_>) -> (Vec<SessionFile>, Vec<Error>) {
    let mut files = Vec::new();
    let mut failures = Vec::new();
    let now = SystemTime::now();
    for root in &roots.paths {
        if root.is_file() {
            files.extend(SessionFile::named(root, &root.parent().unwrap_or(root).into(), now));
            continue;
        }
        let below: Arc<Path> = sessions_below(root).into();
        walk(&below, folders, &mut failures, |path, meta| {
            files.push(SessionFile::new(path, &below, meta, now));
        });
    }
    // Below one root they are found in order.
    if roots.paths.len() > 1 {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|a, b| a.path.as_os_str() == b.path.as_os_str());
    }
    // The same file by way of a link, or of two roots, is one file.
    let mut seen = IdSet::with_capacity_and_hasher(files.len(), Default::default());
    let id = |(device, number): (u64, u64)| Id::from_bits(u128::from(device) << 64 | u128::from(number));
    files.retain(|file| file.mark.real.is_none_or(|real| seen.insert(id(real))));
    (files, failures)
}

/// Of a `.claude` folder only `projects` holds sessions; of any other folder, all of it may.
fn sessions_below(root: &Path) -> PathBuf {
    let projects = root.join("projects");
    let is_home = root.file_name() == Some(OsStr::new(".claude"))
        || ["history.jsonl", "settings.json", "todos"].iter().any(|name| root.join(name).exists());
    if is_home && projects.is_dir() { projects } else { root.to_owned() }
}

/// Lists the files below a folder, in the order of their paths; what cannot be read is left out.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let found = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    found.filter(|found| found.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// Adds up the files at and below a path.
pub(crate) fn size_of(path: &Path) -> u64 {
    let found = walkdir::WalkDir::new(path).into_iter().filter_map(Result::ok);
    found
        .filter_map(|found| found.metadata().ok())
        .filter(std::fs::Metadata::is_file)
        .map(|meta| meta.len())
        .sum()
}
