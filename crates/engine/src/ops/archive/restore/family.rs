//! Finds an archived session and all files that belong to it.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::path::Path;

use rethread_core::entry::{Entry, EntryRole, JsonStr};
use rethread_core::tree::{EntryVisitor, LineSpan};

use super::super::status::is_session_file;
use crate::archive::{Archive, ArchivedFile};
use crate::error::Error;

/// The number of bytes at the start of a subagent file that are searched for its session id.
const HEAD_BYTES: u64 = 64 << 10;

/// The names of the plans that the lines of a session refer to.
#[derive(Default)]
pub(super) struct PlanNames(BTreeSet<String>);

impl EntryVisitor for PlanNames {
    fn visit_entry(&mut self, entry: &Entry<'_>, _: LineSpan, _: EntryRole) {
        let Some(slug) = entry.slug.map(JsonStr::decode) else { return };
        if !self.0.contains(&*slug) {
            self.0.insert(slug.into_owned());
        }
    }
}

impl PlanNames {
    /// Returns `true` if a path below the folder of the client is one of the plans, or that of one of its subagents.
    fn has_plan(&self, relative: &Path) -> bool {
        let is_plan = relative.parent() == Some(Path::new("plans"));
        let name = relative.file_name().and_then(|name| name.to_str()).filter(|_| is_plan);
        let stem = name.and_then(|name| name.strip_suffix(".md")).unwrap_or_default();
        let is_agent_plan = |slug: &String| {
            stem.strip_prefix(slug.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("-agent-"))
        };
        !stem.is_empty() && self.0.iter().any(is_agent_plan)
    }
}

/// Returns the session id of an archived transcript.
pub(super) fn session_id(file: &ArchivedFile<'_>) -> String {
    file.relative.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Finds the newest transcript of the session with this name. Returns an error if several sessions match, or none.
pub(in crate::ops::archive) fn find_archived_session<'a>(
    archive: &'a Archive,
    name: &str,
) -> Result<ArchivedFile<'a>, Error> {
    let path = Path::new(name);
    let is_match = |file: &ArchivedFile<'_>| {
        !name.is_empty() && (session_id(file).starts_with(name) || file.original_path() == path)
    };
    let mut matching: Vec<_> =
        archive.files().filter(|file| is_session_file(file) && is_match(file)).collect();
    matching.sort_by_key(|file| (file.newest().modified, file.newest().bytes));
    let mut ids: Vec<String> = matching.iter().map(session_id).collect();
    ids.sort();
    ids.dedup();
    if ids.len() > 1 && !ids.iter().any(|id| id == name) {
        let candidates = ids.into_iter().map(|id| (id, String::new())).collect();
        return Err(Error::AmbiguousSession { name: name.to_owned(), candidates });
    }
    let newest = matching.into_iter().rfind(|file| ids.len() == 1 || session_id(file) == name);
    newest.ok_or_else(|| Error::UnknownSession { name: name.to_owned(), nearest: Vec::new() })
}

/// Returns the archived files of a session other than its transcript: subagents, tool results, file history, tasks, todos
/// and plans.
pub(super) fn find_side_files<'a>(
    archive: &'a Archive,
    main: &ArchivedFile<'a>,
    plans: &PlanNames,
) -> Result<Vec<ArchivedFile<'a>>, Error> {
    let id = session_id(main);
    let side_dir = main.relative.with_extension("");
    let folder = main.relative.parent().unwrap_or(Path::new(""));
    let mut files = Vec::new();
    for file in archive.files().filter(|file| file.is_of_same_place(main)) {
        let relative = &file.relative;
        let name = relative.file_name().unwrap_or_default().to_string_lossy();
        let is_below = |folder: &str| relative.starts_with(Path::new(folder).join(&id));
        let is_todo = relative.starts_with("todos") && name.starts_with(&format!("{id}-"));
        let is_agent_file = relative.parent() == Some(folder) && name.starts_with("agent-");
        let is_own = relative.starts_with(&side_dir)
            || is_below("file-history")
            || is_below("tasks")
            || is_todo
            || plans.has_plan(relative)
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
