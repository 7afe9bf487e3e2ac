//! Lists sessions, newest first, with the links between them.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rethread_core::entry::Timestamp;
use rethread_core::id::Id;
use rethread_core::session::{PullRequest, SessionInfo, SessionInfoBuilder, SummaryTitles, Title};
use rethread_core::tree::TreeBuilder;

use crate::Error;
use crate::cache::{CacheDir, CacheKind, CacheWarning};
use crate::disk::{
    FileRole, Roots, ScanEvent, ScanOptions, SessionFile, SystemProcesses, find_live_sessions, scan,
};
use crate::ops::doctor::check_file;
use crate::ops::repair::can_repair;
use crate::session::load::derive_session_id;
use crate::session::per_file_cache::{PerFileCache, find_files};

/// Selects sessions. All conditions must hold. Texts are compared without case.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// Also list headless, warm-up and empty sessions.
    pub all: bool,
    /// Only empty sessions. Has an effect only with `all`, because empty sessions are not listed otherwise.
    pub only_empty: bool,
    /// Words, each of which the title, the project, the git branch or the id contains.
    pub words: Vec<String>,
    /// A text that the working folder or the folder of the session file contains.
    pub project: Option<String>,
    /// A text that the title contains.
    pub title: Option<String>,
    /// A text that the git branch contains.
    pub branch: Option<String>,
    /// A text that the name of one of its models contains.
    pub model: Option<String>,
    /// The session was active at or after this time.
    pub since: Option<Timestamp>,
    /// The session started before this time.
    pub until: Option<Timestamp>,
    /// The session was last active before this time.
    pub last_before: Option<Timestamp>,
}

/// A session in a list.
#[derive(Debug, Clone)]
pub struct SessionRow {
    /// The id.
    pub id: String,
    /// The file.
    pub path: PathBuf,
    /// The title.
    pub title: Title,
    /// The properties of the session that were read from its file.
    pub info: SessionInfo,
    /// The time of the last change of the file.
    pub modified: Option<Timestamp>,
    /// The size of its files in bytes, subagents included.
    pub bytes: u64,
    /// The number of subagents, without warm-ups.
    pub agents: usize,
    /// Whether a running client has the session open.
    pub live: bool,
    /// Whether only the archive has the session.
    pub archived: bool,
    /// Whether lines are damaged or parents are missing, and `doctor` suggests a repair.
    pub damaged: bool,
    /// Links to other sessions.
    pub links: SessionLinks,
}

/// Links to other sessions, by their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionLinks {
    /// The session that planned what this one implements.
    pub plan: Option<String>,
    /// The session that implements what this one planned.
    pub implementation: Option<String>,
    /// The session from which it was forked.
    pub forked_from: Option<String>,
    /// Sessions that start with the same response: copies made by forks and resumes.
    pub copies: Vec<String>,
    /// The session with which the client process started.
    pub continued_from: Option<String>,
}

/// The number of sessions that are not listed, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HiddenCounts {
    /// Sessions run by a program.
    pub headless: usize,
    /// Sessions without messages.
    pub empty: usize,
    /// Subagents that the client started only to warm up its cache.
    pub warmups: usize,
    /// Subagents without a session file.
    pub orphans: usize,
}

/// The sessions that were started in one folder.
#[derive(Debug, Clone)]
pub struct ProjectSummary {
    /// The folder, as in [`SessionRow::project`].
    pub path: String,
    /// The number of sessions.
    pub sessions: usize,
    /// The size of the sessions in bytes.
    pub bytes: u64,
    /// The time of the newest entry of its sessions.
    pub last: Option<Timestamp>,
}

/// A list of sessions.
#[derive(Debug, Default)]
pub struct SessionList {
    /// The sessions, newest first.
    pub rows: Vec<SessionRow>,
    /// The number of sessions that are not listed.
    pub hidden: HiddenCounts,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// The number of session files, subagents included.
    pub files: usize,
    /// The reason why the cache could not be used. `None` if there was no problem.
    pub warning: Option<CacheWarning>,
}

/// A session or subagent file and the properties that were read from it.
struct FileInfo {
    file: SessionFile,
    info: SessionInfo,
    damaged: bool,
}

/// Lists the sessions under `roots`. Unchanged files are read from the cache.
pub fn list_sessions(roots: &Roots, filter: &SessionFilter, cache: Option<&CacheDir>) -> SessionList {
    let (files, mut failures) = find_files(roots, cache);
    let file_count = files.len();
    let (infos, warning) =
        PerFileCache::new(cache, roots, CacheKind::SessionInfos, &files).read_all(read_info);
    let mut all = Vec::with_capacity(file_count);
    for (file, info) in files.into_iter().zip(infos) {
        match info {
            Ok((info, damaged)) => all.push(FileInfo { file, info, damaged }),
            Err(failure) => failures.push(failure),
        }
    }
    let mut hidden = HiddenCounts::default();
    let mut rows = build_rows(all, &mut hidden);
    link_sessions(&mut rows);
    rows.retain(|row| filter.filter_row(row, &mut hidden));
    rows.sort_by(|a, b| b.info.last_time.cmp(&a.info.last_time).then_with(|| a.path.cmp(&b.path)));
    SessionList { rows, hidden, failures, files: file_count, warning }
}

/// Reads the properties of a session from its file, and whether it is damaged. Also returns the number of bytes read.
pub(super) fn read_info(file: &SessionFile) -> Result<((SessionInfo, bool), u64), Error> {
    let mut tree = TreeBuilder::with_capacity_for(if file.role == FileRole::Main { file.len } else { 0 });
    let mut builder = SessionInfoBuilder::default();
    let add = |event: ScanEvent<'_, '_>| {
        if let ScanEvent::Entry(entry, span, _) = event {
            tree.add_and_visit(entry, span, &mut builder);
        }
    };
    // The list needs only the session of a subagent, which is in its first lines.
    let scan = scan(
        &file.path,
        &ScanOptions { head_only: file.role != FileRole::Main, ..ScanOptions::default() },
        add,
    );
    let scan = scan.map_err(Error::reading(&file.path))?;
    let tree = tree.finish();
    let info = builder.finish(&tree, scan.lines, &scan.problems);
    // Few files have odd lines, so few are read twice.
    let is_suspect = file.role == FileRole::Main && info.may_need_repair();
    let damaged = is_suspect && can_repair(&file.path, &check_file(&file.path, false)?.report.findings);
    let bytes_read = if is_suspect { scan.bytes * 2 } else { scan.bytes };
    Ok(((info, damaged), bytes_read))
}

/// Converts a time of the file system. Returns `None` if it is before 1970 or out of range.
fn to_timestamp(time: SystemTime) -> Option<Timestamp> {
    let millis = time.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_millis();
    i64::try_from(millis).ok().map(Timestamp)
}

/// Builds a row per main file and adds the subagent files to the rows of their sessions. Counts warm-ups and orphans.
fn build_rows(all: Vec<FileInfo>, hidden: &mut HiddenCounts) -> Vec<SessionRow> {
    let titles = SummaryTitles::from_sessions(all.iter().map(|file| &file.info));
    let mut live_by_root: HashMap<Arc<Path>, Vec<String>> = HashMap::new();
    let (agents, mains): (Vec<FileInfo>, Vec<FileInfo>) =
        all.into_iter().partition(|file| file.file.role != FileRole::Main);
    let mut rows: Vec<SessionRow> = mains
        .into_iter()
        .map(|FileInfo { file, info, damaged }| {
            let id = derive_session_id(&file.path, &info);
            let live_ids = live_by_root
                .entry(Arc::clone(&file.root))
                .or_insert_with(|| find_live_sessions(&file.root, &SystemProcesses));
            SessionRow {
                live: live_ids.contains(&id),
                title: info.title(info.find_summary(&titles)),
                id,
                archived: file.is_archived,
                modified: file.mtime.and_then(to_timestamp),
                bytes: file.len,
                agents: info.sidechain_agents,
                links: SessionLinks::default(),
                path: file.path,
                damaged,
                info,
            }
        })
        .collect();
    let by_path: HashMap<PathBuf, usize> =
        rows.iter().enumerate().map(|(idx, row)| (row.path.with_extension(""), idx)).collect();
    let by_id: HashMap<String, usize> =
        rows.iter().enumerate().map(|(idx, row)| (row.id.clone(), idx)).collect();
    for FileInfo { file, info, .. } in agents {
        let in_folder = file.path.ancestors().find_map(|folder| by_path.get(folder));
        let by_first_session = info.sessions.first().and_then(|session| by_id.get(session));
        let Some(&owner) = in_folder.or(by_first_session) else {
            hidden.orphans += 1;
            continue;
        };
        rows[owner].bytes += file.len;
        if info.is_warmup() {
            hidden.warmups += 1;
        } else {
            rows[owner].agents += 1;
        }
    }
    rows
}

/// Links plans to implementations, forks to their origins, and copies to each other.
fn link_sessions(rows: &mut [SessionRow]) {
    let mut by_slug: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut by_first_message: HashMap<Id, Vec<usize>> = HashMap::new();
    let by_id: HashMap<&str, usize> =
        rows.iter().enumerate().map(|(idx, row)| (row.id.as_str(), idx)).collect();
    for (idx, row) in rows.iter().enumerate() {
        for slug in &row.info.slugs {
            by_slug.entry(slug).or_default().push(idx);
        }
        if let Some(first) = row.info.first_message {
            by_first_message.entry(first).or_default().push(idx);
        }
    }
    let mut links: Vec<SessionLinks> = Vec::with_capacity(rows.len());
    for (idx, row) in rows.iter().enumerate() {
        let mut session_links = SessionLinks::default();
        let find_with_slug = || {
            let sessions = row.info.slugs.iter().filter_map(|slug| by_slug.get(slug.as_str())).flatten();
            sessions.copied().filter(move |&other| other != idx)
        };
        if row.info.implements_plan {
            // The plan is the newest session with that slug that started before this one.
            let plans = find_with_slug().filter(|&other| !rows[other].info.implements_plan);
            let earlier_plans = plans.filter(|&other| rows[other].info.first_time <= row.info.first_time);
            session_links.plan = earlier_plans
                .max_by_key(|&other| rows[other].info.first_time)
                .map(|other| rows[other].id.clone());
        } else {
            let implementing = find_with_slug().filter(|&other| rows[other].info.implements_plan);
            session_links.implementation = implementing
                .min_by_key(|&other| rows[other].info.first_time)
                .map(|other| rows[other].id.clone());
        }
        let process_session = row.info.process_sessions.iter().find(|session| **session != row.id);
        session_links.continued_from =
            process_session.filter(|session| by_id.contains_key(session.as_str())).cloned();
        if session_links.plan.is_none() && row.info.implements_plan {
            session_links.plan = session_links.continued_from.clone();
        }
        session_links.forked_from = row.info.forked_from.as_ref().map(|origin| origin.session.clone());
        let copies =
            row.info.first_message.and_then(|first| by_first_message.get(&first)).into_iter().flatten();
        session_links.copies =
            copies.filter(|&&other| other != idx).map(|&other| rows[other].id.clone()).collect();
        links.push(session_links);
    }
    for (row, session_links) in rows.iter_mut().zip(links) {
        row.links = session_links;
    }
}

impl SessionFilter {
    /// Returns `true` if the filter accepts a session. Headless and empty sessions are added to `hidden` unless all sessions
    /// are requested.
    pub fn filter_row(&self, row: &SessionRow, hidden: &mut HiddenCounts) -> bool {
        let (headless, empty) = (row.info.is_headless(), row.info.is_empty());
        if !self.all {
            hidden.empty += usize::from(empty);
            hidden.headless += usize::from(headless && !empty);
        }
        (self.all || !headless && !empty) && self.matches_row(row)
    }

    /// Returns `true` if all conditions hold, except the one about headless and empty sessions.
    fn matches_row(&self, row: &SessionRow) -> bool {
        let contains = |text: Option<&str>, part: &Option<String>| match part {
            Some(part) => text.is_some_and(|text| text.to_lowercase().contains(&part.to_lowercase())),
            None => true,
        };
        let folder = row.path.parent().and_then(|folder| folder.to_str());
        (contains(row.info.cwd.as_deref(), &self.project) || contains(folder, &self.project))
            && contains(Some(&row.title.text), &self.title)
            && contains(row.info.git_branch.as_deref(), &self.branch)
            && (self.model.is_none()
                || row.info.models.iter().any(|model| contains(Some(model), &self.model)))
            && self.since.is_none_or(|since| row.info.last_time.is_some_and(|last| last >= since))
            && self.until.is_none_or(|until| row.info.first_time.is_some_and(|first| first < until))
            && self.last_before.is_none_or(|before| row.last_activity().is_some_and(|last| last < before))
            && (!self.only_empty || row.info.is_empty())
            && self.words.iter().all(|word| row.contains_word(word))
    }
}

impl SessionRow {
    /// Returns the time of the last message. For a session without one, returns the time of the last change of the file.
    pub fn last_activity(&self) -> Option<Timestamp> {
        self.info.last_time.or(self.modified)
    }

    /// Returns `true` if the title, the project, the git branch or the id contains a word. Case is ignored.
    fn contains_word(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let folder = self.path.parent().and_then(|folder| folder.to_str());
        let texts = [
            Some(self.title.text.as_str()),
            self.info.cwd.as_deref(),
            folder,
            self.info.git_branch.as_deref(),
            Some(self.id.as_str()),
        ];
        texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&word))
    }

    /// Returns the folder in which the session was started, or the folder of its file if that is unknown.
    pub fn project(&self) -> String {
        let folder = || self.path.parent().map(|folder| folder.display().to_string());
        self.info.cwd.clone().or_else(folder).unwrap_or_default()
    }

    /// Returns the pull requests that were made in the session.
    pub fn pull_requests(&self) -> &[PullRequest] {
        &self.info.pull_requests
    }
}

impl SessionList {
    /// Groups the sessions by project, most recently used first.
    pub fn projects(&self) -> Vec<ProjectSummary> {
        summarize_projects(&self.rows)
    }
}

/// Groups sessions by project, most recently used first.
pub fn summarize_projects<'r>(rows: impl IntoIterator<Item = &'r SessionRow>) -> Vec<ProjectSummary> {
    let mut projects: BTreeMap<String, ProjectSummary> = BTreeMap::new();
    for row in rows {
        let path = row.project();
        let project = projects.entry(path.clone()).or_insert_with(|| ProjectSummary {
            path,
            sessions: 0,
            bytes: 0,
            last: None,
        });
        project.sessions += 1;
        project.bytes += row.bytes;
        project.last = project.last.max(row.info.last_time);
    }
    let mut projects: Vec<ProjectSummary> = projects.into_values().collect();
    projects.sort_by_key(|project| std::cmp::Reverse(project.last));
    projects
}
