//! Collects the traces of sessions without a session file.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rethread_core::entry::Timestamp;
use rethread_core::id::Id;
use rethread_core::session::{HistoryPrompt, SessionInfo};
use serde_json::Value;

use super::{DeletedList, DeletedSession, TraceKind};
use crate::Error;
use crate::archive::{PROMPT_HISTORY, find_client_root};
use crate::cache::{CacheDir, CacheKind};
use crate::disk::{FileRole, KeptFilter, Roots, SessionFile, list_files, open_file, read_small_file};
use crate::ops::list::read_info;
use crate::session::load::derive_session_id;
use crate::session::per_file_cache::{PerFileCache, find_files};

/// The maximum number of bytes kept of the first prompt.
const MAX_PROMPT_BYTES: usize = 400;

/// Collects traces by session id.
pub(super) struct TraceCollector {
    /// The folders of clients.
    client_dirs: Vec<PathBuf>,
    files: Vec<(SessionFile, SessionInfo)>,
    /// The ids of sessions that are not gone.
    known: HashSet<String>,
    sessions: BTreeMap<String, DeletedSession>,
    unassigned_prompts: usize,
    damaged_lines: usize,
    pub(super) failures: Vec<Error>,
}

impl TraceCollector {
    /// Reads the properties of all session files. Sessions with a file, on disk or in the archive, are known.
    pub(super) fn new(roots: &Roots, cache: Option<&CacheDir>) -> TraceCollector {
        let mut roots = roots.clone();
        if let Some(scope) = &mut roots.archive {
            scope.kept = KeptFilter::With;
        }
        let roots = &roots;
        let (files, mut failures) = find_files(roots, cache);
        let (infos, _) = PerFileCache::new(cache, roots, CacheKind::SessionInfos, &files).read_all(read_info);
        let mut read_files = Vec::with_capacity(files.len());
        let mut known = HashSet::new();
        for (file, info) in files.into_iter().zip(infos) {
            if file.role == FileRole::Main {
                known.insert(file.stem().to_owned());
            }
            match info {
                Ok((info, _)) => read_files.push((file, info)),
                Err(error) => failures.push(error),
            }
        }
        for (file, info) in read_files.iter().filter(|(file, _)| file.role == FileRole::Main) {
            known.insert(derive_session_id(&file.path, info));
        }
        let mut client_dirs: Vec<PathBuf> = Vec::new();
        for dir in roots.paths.iter().filter(|root| root.is_dir()).filter_map(|root| find_client_root(root)) {
            let is_new = |known: &PathBuf| known.canonicalize().ok() != dir.canonicalize().ok();
            if client_dirs.iter().all(is_new) {
                client_dirs.push(dir);
            }
        }
        TraceCollector {
            client_dirs,
            files: read_files,
            known,
            sessions: BTreeMap::new(),
            unassigned_prompts: 0,
            damaged_lines: 0,
            failures,
        }
    }

    pub(super) fn is_known(&self, id: &str) -> bool {
        self.known.contains(id)
    }

    /// Excludes sessions.
    pub(super) fn add_known(&mut self, ids: impl IntoIterator<Item = String>) {
        self.known.extend(ids);
    }

    /// Collects the traces in all places.
    pub(super) fn collect(&mut self) {
        for dir in self.client_dirs.clone() {
            self.collect_prompts(&dir.join(PROMPT_HISTORY));
            self.collect_side_folders(&dir);
            self.collect_todos(&dir.join("todos"));
        }
        self.collect_session_files();
    }

    /// Returns all sessions with traces, and a list with the counts.
    pub(super) fn finish(self) -> (impl Iterator<Item = DeletedSession>, DeletedList) {
        let list = DeletedList {
            unassigned_prompts: self.unassigned_prompts,
            damaged_lines: self.damaged_lines,
            failures: self.failures,
            ..DeletedList::default()
        };
        let sessions = self.sessions.into_values().map(|mut session| {
            session.traces.sort_by_key(|trace| trace.kind);
            for trace in &mut session.traces {
                trace.paths.sort();
                trace.paths.dedup();
            }
            session
        });
        (sessions, list)
    }

    /// Returns the session with an id. Returns `None` if it is known or the text is not an id.
    fn session(&mut self, id: &str) -> Option<&mut DeletedSession> {
        if self.known.contains(id) || !Id::is_uuid(id.as_bytes()) {
            return None;
        }
        if !self.sessions.contains_key(id) {
            let session = DeletedSession { id: id.to_owned(), ..DeletedSession::default() };
            self.sessions.insert(id.to_owned(), session);
        }
        self.sessions.get_mut(id)
    }

    fn collect_prompts(&mut self, path: &Path) {
        if std::fs::symlink_metadata(path).is_err() {
            return;
        }
        let mut lines = match open_file(path) {
            Ok(file) => BufReader::with_capacity(256 << 10, file),
            Err(error) => return self.failures.push(Error::reading(path)(error)),
        };
        let mut line = Vec::new();
        loop {
            line.clear();
            match lines.read_until(b'\n', &mut line) {
                Ok(0) => return,
                Ok(_) => self.add_prompt(&line, path),
                Err(error) => return self.failures.push(Error::reading(path)(error)),
            }
        }
    }

    fn add_prompt(&mut self, line: &[u8], path: &Path) {
        let Some(prompt) = HistoryPrompt::parse(line) else {
            self.damaged_lines += usize::from(!line.trim_ascii().is_empty());
            return;
        };
        let Some(id) = &prompt.session else {
            self.unassigned_prompts += 1;
            return;
        };
        let Some(session) = self.session(id) else { return };
        session.add_time(prompt.time);
        let is_command = prompt.is_command();
        if session.first_prompt.is_none() || (!is_command && session.commands == session.prompts) {
            session.first_prompt = Some(shorten(&prompt.text));
        }
        session.prompts += 1;
        session.commands += usize::from(is_command);
        session.add_trace(TraceKind::Prompts, 1, 0, path);
        session.project = session.project.take().or(prompt.project);
    }

    /// Collects the folders that are named by a session id, and the indexes of projects.
    fn collect_side_folders(&mut self, client_dir: &Path) {
        for project in list_dirs(&client_dir.join("projects")) {
            for folder in list_dirs(&project) {
                self.add_folder(&folder, &folder.join("tool-results"), TraceKind::ToolResults);
            }
            self.collect_index(&project.join("sessions-index.json"));
        }
        for (name, kind) in [("file-history", TraceKind::FileHistory), ("tasks", TraceKind::Tasks)] {
            for folder in list_dirs(&client_dir.join(name)) {
                self.add_folder(&folder, &folder, kind);
            }
        }
    }

    /// Adds the files in `folder` to the session that `named` is named by. Other files than tasks are skipped in a folder of
    /// tasks.
    fn add_folder(&mut self, named: &Path, folder: &Path, kind: TraceKind) {
        let id = named.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let Some(session) = self.session(id) else { return };
        let is_included =
            |path: &&PathBuf| kind != TraceKind::Tasks || path.extension().is_some_and(|ext| ext == "json");
        let files = list_files(folder);
        for file in files.iter().filter(is_included) {
            session.add_file(kind, file, folder);
        }
        if session.project.is_none() && kind == TraceKind::ToolResults {
            session.project = named.parent().map(|project| project.display().to_string());
        }
        self.remove_if_empty(id);
    }

    /// Forgets a session without traces: an empty folder is nothing that is left.
    fn remove_if_empty(&mut self, id: &str) {
        if self.sessions.get(id).is_some_and(|session| session.traces.is_empty()) {
            self.sessions.remove(id);
        }
    }

    /// Adds the to-do lists. Clients write an empty list at each start, which is skipped.
    fn collect_todos(&mut self, folder: &Path) {
        const EMPTY_LIST_BYTES: u64 = 3;
        for path in list_entries(folder) {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let is_empty = std::fs::metadata(&path).is_ok_and(|meta| meta.len() <= EMPTY_LIST_BYTES);
            let Some(id) = name.get(..36).filter(|_| name.ends_with(".json") && !is_empty) else { continue };
            if let Some(session) = self.session(id) {
                session.add_file(TraceKind::Todos, &path, &path);
            }
        }
    }

    /// Adds the entries of an index, which the client keeps as a cache of first prompts.
    fn collect_index(&mut self, path: &Path) {
        let Some(bytes) = read_small_file(path) else { return };
        let index: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        for entry in index["entries"].as_array().into_iter().flatten() {
            let text = |key: &str| entry[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            let Some(session) = self.session(entry["sessionId"].as_str().unwrap_or_default()) else {
                continue;
            };
            session.add_trace(TraceKind::Index, 1, 0, path);
            for key in ["created", "modified"] {
                session.add_time(entry[key].as_str().and_then(Timestamp::parse_text));
            }
            session.project = text("projectPath").or(session.project.take());
            if session.prompts == session.commands {
                session.first_prompt =
                    text("firstPrompt").map(|prompt| shorten(&prompt)).or(session.first_prompt.take());
            }
        }
    }

    /// Adds the subagents without a session, and the references from other sessions.
    fn collect_session_files(&mut self) {
        for (file, info) in std::mem::take(&mut self.files) {
            match &file.role {
                FileRole::Main => self.add_references(&file, &info),
                FileRole::Agent { session } if !info.is_warmup() => {
                    let id = session.as_ref().or(info.sessions.first());
                    let Some(session) = id.and_then(|id| self.session(id)) else { continue };
                    session.add_file(TraceKind::Agents, &file.path, &file.path);
                    session.add_time(info.first_time);
                    session.project = info.cwd.clone().or(session.project.take());
                    for slug in &info.slugs {
                        session.add_plan(&file.path, slug);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_references(&mut self, file: &SessionFile, info: &SessionInfo) {
        let origin = info.forked_from.as_ref().map(|origin| origin.session.as_str());
        if let Some(session) = origin.and_then(|id| self.session(id)) {
            session.add_reference(TraceKind::Forks, file, info);
        }
        for id in info.sessions.iter().filter(|id| Some(id.as_str()) != origin) {
            if let Some(session) = self.session(id) {
                session.add_reference(TraceKind::Copies, file, info);
            }
        }
        for id in info.process_sessions.iter().filter(|id| !info.sessions.contains(id)) {
            if let Some(session) = self.session(id) {
                session.add_reference(TraceKind::Continuations, file, info);
            }
        }
    }
}

impl DeletedSession {
    /// Adds a file. `listed` is the file or a folder of it. Its time counts if there is no other.
    fn add_file(&mut self, kind: TraceKind, file: &Path, listed: &Path) {
        let meta = std::fs::metadata(file).ok();
        self.add_trace(kind, 1, meta.as_ref().map_or(0, std::fs::Metadata::len), listed);
        if self.prompts == 0 {
            let modified = meta.and_then(|meta| meta.modified().ok());
            let age = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            self.add_time(age.and_then(|age| i64::try_from(age.as_millis()).ok()).map(Timestamp));
        }
    }

    /// Adds a plan that a subagent names, if it exists.
    fn add_plan(&mut self, agent: &Path, slug: &str) {
        let is_name = Path::new(slug).file_name().is_some_and(|name| name == slug);
        let Some(client_dir) = crate::disk::find_client_dir(agent).filter(|_| is_name) else { return };
        let path = client_dir.join("plans").join(format!("{slug}.md"));
        let is_known = self.trace(TraceKind::Plans).is_some_and(|trace| trace.paths.contains(&path));
        if path.is_file() && !is_known {
            self.add_file(TraceKind::Plans, &path, &path);
        }
    }

    fn add_reference(&mut self, kind: TraceKind, file: &SessionFile, info: &SessionInfo) {
        self.add_trace(kind, 1, 0, &file.path);
        self.add_time(info.first_time);
        if self.project.is_none() {
            self.project.clone_from(&info.cwd);
        }
        if self.first_prompt.is_none() && kind != TraceKind::Continuations {
            self.first_prompt.clone_from(&info.first_prompt);
        }
    }
}

/// Returns the start of a prompt on one line.
fn shorten(text: &str) -> String {
    let end = text.floor_char_boundary(text.len().min(MAX_PROMPT_BYTES));
    text[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lists the entries of a folder, sorted. Returns an empty list if it cannot be read.
fn list_entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Lists the subfolders of a folder, sorted. Returns an empty list if it cannot be read.
fn list_dirs(folder: &Path) -> Vec<PathBuf> {
    list_entries(folder).into_iter().filter(|path| path.is_dir()).collect()
}
