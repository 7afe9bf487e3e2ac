//! `archive forget`: hides sessions in the archive and all its copies, until a prune deletes their content.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use rethread_core::entry::Timestamp;

use super::restore::find_archived_session;
use super::status::{build_session, is_session_file};
use super::{ArchiveLocation, ArchivedSession};
use crate::archive::{Archive, ArchiveWriter, ArchivedFile, find_session_names};
use crate::disk::ProjectScope;
use crate::error::Error;

/// The number of bytes at the start of a subagent file that are searched for its session id.
const HEAD_BYTES: u64 = 64 << 10;

/// The archived sessions to forget: those that are named, or those that match all conditions.
#[derive(Debug, Clone, Default)]
pub struct ForgetRequest {
    /// Session ids, starts of them, or paths that session files had.
    pub names: Vec<String>,
    /// Only sessions whose file was last modified before this time.
    pub older_than: Option<Timestamp>,
    /// Only sessions that were started in this folder or below it.
    pub project: Option<PathBuf>,
}

/// A session to forget.
#[derive(Debug, Clone)]
pub struct ForgetCandidate {
    /// The session. If several machines archived it, its newest state.
    pub session: ArchivedSession,
    /// The number of its archived files on all machines.
    pub files: u64,
    /// The total length of the newest state of these files.
    pub bytes: u64,
    /// Whether the session file exists. It stays, and is not archived any more.
    pub is_live: bool,
}

/// The sessions to forget, which [`forget`] executes.
#[derive(Debug, Clone, Default)]
pub struct ForgetPlan {
    /// The sessions, oldest first.
    pub sessions: Vec<ForgetCandidate>,
    /// By session, the files whose path does not name it.
    other_files: BTreeMap<String, BTreeSet<PathBuf>>,
}

/// A session that the user wants to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgottenSession {
    /// The session id.
    pub id: String,
    /// When it was forgotten.
    pub forgotten: Timestamp,
    /// The number of its files that the archive contains until the next prune.
    pub files: u64,
    /// The total length of the newest state of these files.
    pub bytes: u64,
}

/// Finds the sessions that match a request, and counts their archived files.
///
/// Returns an error if a name matches no archived session, or several.
pub fn plan_forget(location: &ArchiveLocation, request: &ForgetRequest) -> Result<ForgetPlan, Error> {
    let archive = Archive::open(location);
    let named = request.names.iter().map(|name| find_archived_session(&archive, name));
    let named: Vec<ArchivedFile<'_>> = named.collect::<Result<_, Error>>()?;
    let scope = request.project.as_deref().map(ProjectScope::new);
    let is_match = |file: &ArchivedFile<'_>| {
        request.older_than.is_none_or(|time| file.newest().modified < time.0)
            && scope.as_ref().is_none_or(|scope| is_in_project(file, scope))
    };
    let mut newest: BTreeMap<String, ArchivedFile<'_>> = BTreeMap::new();
    // A request without any condition matches nothing.
    let has_filter = request.older_than.is_some() || request.project.is_some();
    let selects_by_filter = request.names.is_empty() && has_filter;
    let matching = archive.files().filter(|file| selects_by_filter && is_session_file(file));
    // A session is matched as a whole, by its newest state on any machine.
    for file in matching.chain(named) {
        let known = newest.entry(find_id(&file)).or_insert_with(|| file.clone());
        if known.newest().modified < file.newest().modified {
            *known = file;
        }
    }
    newest.retain(|_, file| !request.names.is_empty() || is_match(file));
    let ids: HashSet<&str> = newest.keys().map(String::as_str).collect();
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut other_files: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for file in archive.files() {
        let names = find_session_names(&file.relative.to_string_lossy());
        let by_name = names.into_iter().find(|name| ids.contains(name.as_str()));
        let by_content = || find_owner(&file).filter(|owner| ids.contains(owner.as_str()));
        let Some(id) = by_name.clone().or_else(by_content) else { continue };
        if by_name.is_none() {
            other_files.entry(id.clone()).or_default().insert(file.relative.clone());
        }
        let (files, bytes) = counts.entry(id).or_default();
        *files += 1;
        *bytes += file.newest().bytes;
    }
    let mut sessions: Vec<ForgetCandidate> = newest
        .into_iter()
        .map(|(id, file)| {
            let (files, bytes) = counts.get(&id).copied().unwrap_or_default();
            let session = build_session(&file);
            ForgetCandidate { is_live: session.path.exists(), session, files, bytes }
        })
        .collect();
    sessions.sort_by_key(|candidate| candidate.session.modified);
    Ok(ForgetPlan { sessions, other_files })
}

/// Records that sessions are forgotten. No live file changes. [`remember`] takes it back, until a prune.
///
/// Returns an error if the archive cannot be written, or another process writes to it.
pub fn forget(location: &ArchiveLocation, mut plan: ForgetPlan, now: Timestamp) -> Result<(), Error> {
    if plan.sessions.is_empty() {
        return Ok(());
    }
    let mut to_record = |candidate: ForgetCandidate| {
        let files = plan.other_files.remove(&candidate.session.id).unwrap_or_default();
        (candidate.session.id, files)
    };
    let sessions = plan.sessions.into_iter().map(&mut to_record).collect();
    ArchiveWriter::open(location, "archive forget", now.0)?.set_forgotten(sessions, true)
}

/// Lists the forgotten sessions, newest first.
pub fn list_forgotten(location: &ArchiveLocation) -> Vec<ForgottenSession> {
    collect_forgotten(&Archive::open(location))
}

pub(super) fn collect_forgotten(archive: &Archive) -> Vec<ForgottenSession> {
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (file, session) in archive.forgotten_files() {
        let (files, bytes) = counts.entry(session).or_default();
        *files += 1;
        *bytes += file.newest().bytes;
    }
    let build = |(id, time): (&str, i64)| {
        let (files, bytes) = counts.get(id).copied().unwrap_or_default();
        ForgottenSession { id: id.to_owned(), forgotten: Timestamp(time), files, bytes }
    };
    let mut sessions: Vec<ForgottenSession> = archive.forgotten_sessions().map(build).collect();
    sessions.sort_by(|a, b| b.forgotten.cmp(&a.forgotten).then_with(|| a.id.cmp(&b.id)));
    sessions
}

/// Takes back that sessions were forgotten, in this and all other copies of the archive. Returns the sessions.
///
/// Returns an error if a name matches no forgotten session, or several.
pub fn remember(
    location: &ArchiveLocation,
    names: &[String],
    is_dry_run: bool,
    now: Timestamp,
) -> Result<Vec<ForgottenSession>, Error> {
    let forgotten = list_forgotten(location);
    let mut sessions: Vec<ForgottenSession> = Vec::new();
    for name in names {
        let is_match =
            |session: &&ForgottenSession| !name.is_empty() && session.id.starts_with(name.as_str());
        let matching: Vec<&ForgottenSession> = forgotten.iter().filter(is_match).collect();
        match matching[..] {
            [] => return Err(Error::UnknownSession { name: name.clone(), nearest: Vec::new() }),
            [session] if sessions.contains(session) => {}
            [session] => sessions.push(session.clone()),
            _ => {
                let candidates = matching.iter().map(|session| (session.id.clone(), String::new())).collect();
                return Err(Error::AmbiguousSession { name: name.clone(), candidates });
            }
        }
    }
    if !is_dry_run && !sessions.is_empty() {
        let records = sessions.iter().map(|session| (session.id.clone(), BTreeSet::new())).collect();
        ArchiveWriter::open(location, "archive forget --undo", now.0)?.set_forgotten(records, false)?;
    }
    Ok(sessions)
}

fn find_id(file: &ArchivedFile<'_>) -> String {
    file.relative.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns `true` if a session belongs to a project.
fn is_in_project(file: &ArchivedFile<'_>, scope: &ProjectScope) -> bool {
    let folder = file.relative.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let is_client_dir = file.relative.starts_with("projects");
    (!is_client_dir || scope.may_contain_folder(&folder))
        && scope.contains_session(&folder, file.read(file.newest()))
}

/// Returns the session of a subagent file of an older client, which states it. Returns `None` for all other files.
fn find_owner(file: &ArchivedFile<'_>) -> Option<String> {
    let name = file.relative.file_name()?.to_str()?;
    if !name.starts_with("agent-") || !name.ends_with(".jsonl") {
        return None;
    }
    let mut head = Vec::new();
    file.read(file.newest()).take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    let start = memchr::memmem::find(&head, b"\"sessionId\":\"")? + b"\"sessionId\":\"".len();
    let id = head[start..].split(|&byte| byte == b'"').next()?;
    String::from_utf8(id.to_vec()).ok()
}
