//! Which files are sessions, and whose they are.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::folder::Folders;
use super::mark::Mark;
use super::walk::walk;
use crate::Failure;

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
    pub(crate) root: PathBuf,
    pub(crate) len: u64,
    pub(crate) mtime: Option<SystemTime>,
    pub(crate) role: Role,
    /// By what it is known as unchanged.
    pub(crate) mark: Mark,
    /// Whether any later change gives another mark.
    pub(crate) settled: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Role {
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

    pub(crate) fn is_agent(&self) -> bool {
        matches!(self.role, Role::Agent { .. })
    }

    pub(crate) fn is_result(&self) -> bool {
        matches!(self.role, Role::Result { .. })
    }

    /// Returns the id of the session it belongs to, as far as its path says.
    pub(crate) fn session(&self) -> Option<&str> {
        match &self.role {
            Role::Agent { session } => session.as_deref(),
            Role::Result { session } => Some(session),
            Role::Main => Some(self.stem()).filter(|stem| is_session_id(stem)),
        }
    }

    /// Returns the folder that holds what is beside the session: subagents, tool results.
    pub(crate) fn side_folder(&self) -> PathBuf {
        self.path.with_extension("")
    }

    fn new(path: PathBuf, root: &Path, meta: &Metadata, now: SystemTime) -> SessionFile {
        let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        let role = if path.extension() == Some(OsStr::new("txt")) {
            let folder = path.ancestors().nth(2).and_then(Path::file_name).and_then(OsStr::to_str);
            Role::Result { session: folder.unwrap_or_default().to_owned() }
        } else if name.starts_with("agent-") {
            let mut above = path.ancestors().skip(1).map_while(Path::file_name);
            let in_folder = above.position(|folder| folder == "subagents").is_some();
            let session = if in_folder { above.next() } else { None };
            Role::Agent { session: session.and_then(OsStr::to_str).map(str::to_owned) }
        } else {
            Role::Main
        };
        let mark = Mark::of(meta);
        SessionFile {
            path,
            root: root.to_owned(),
            len: meta.len(),
            mtime: meta.modified().ok(),
            role,
            mark,
            settled: mark.is_settled(now),
        }
    }

    /// Takes a file named on the command line, whatever it is called.
    fn named(path: &Path, root: &Path, now: SystemTime) -> Option<SessionFile> {
        let meta = std::fs::metadata(path).ok()?;
        let file = SessionFile::new(path.to_owned(), root, &meta, now);
        let role = if path.extension() == Some(OsStr::new("jsonl")) { file.role } else { Role::Main };
        Some(SessionFile { role, ..file })
    }
}

/// Whether a name is the id of a session.
pub(crate) fn is_session_id(name: &str) -> bool {
    name.len() == 36 && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// Finds all session files, in the order of their paths. Folders that cannot be read are left out and told.
pub(crate) fn find(roots: &Roots) -> (Vec<SessionFile>, Vec<Failure>) {
    let (mut files, failures) = find_all(roots, &mut Folders::default());
    files.retain(|file| !file.is_result());
    (files, failures)
}

/// Finds all session files and the large results beside them, in the order of their paths; what stands in a folder is
/// taken from what is remembered where that is still so.
pub(crate) fn find_all(roots: &Roots, folders: &mut Folders<'_>) -> (Vec<SessionFile>, Vec<Failure>) {
    let mut files = Vec::new();
    let mut failures = Vec::new();
    let now = SystemTime::now();
    for root in &roots.paths {
        if root.is_file() {
            files.extend(SessionFile::named(root, root.parent().unwrap_or(root), now));
            continue;
        }
        let below = sessions_below(root);
        walk(&below, folders, &mut failures, |path, meta| {
            files.push(SessionFile::new(path, &below, meta, now));
        });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path.as_os_str() == b.path.as_os_str());
    // The same file by way of a link, or of two roots, is one file.
    let mut seen = std::collections::HashSet::new();
    files.retain(|file| file.mark.real.is_none_or(|real| seen.insert(real)));
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
