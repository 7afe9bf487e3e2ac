//! Sessions, newest first, with what ties them together.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rethread_core::entry::Timestamp;
use rethread_core::id::Id;
use rethread_core::session::{PullRequest, SessionInfo, SessionInfoBuilder, Summaries, Title};
use rethread_core::tree::TreeBuilder;

use crate::Error;
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::{FileRole, Roots, ScanEvent, SessionFile, live_sessions, scan, scan_head};
use crate::session::load::id_of;
use crate::session::per_file_cache::{PerFileCache, find_files};

/// Which sessions to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Also headless, warm-up and empty ones.
    pub all: bool,
    /// Part of the project's path.
    pub project: Option<String>,
    /// Part of the title.
    pub title: Option<String>,
    /// Part of the git branch.
    pub branch: Option<String>,
    /// Part of a model's name.
    pub model: Option<String>,
    /// Active at or after this moment.
    pub since: Option<Timestamp>,
    /// Begun before this moment.
    pub until: Option<Timestamp>,
}

/// A session in a list.
#[derive(Debug, Clone)]
pub struct SessionRow {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// What it is called.
    pub title: Title,
    /// What its file says of itself.
    pub sketch: SessionInfo,
    /// Its size, subagents included.
    pub bytes: u64,
    /// Subagents, warm-ups not counted.
    pub agents: usize,
    /// Whether a client has it open.
    pub live: bool,
    /// Other sessions it belongs with.
    pub links: Links,
}

/// How a session is tied to others, by their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links {
    /// The session that planned what this one implements.
    pub plan: Option<String>,
    /// The session that implements what this one planned.
    pub implementation: Option<String>,
    /// The session it was forked from.
    pub forked_from: Option<String>,
    /// Sessions that begin with the same response: copies made by forks and resumes.
    pub copies: Vec<String>,
    /// The session whose process went on into this one.
    pub came_from: Option<String>,
}

/// How many sessions were left out, and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HiddenCounts {
    /// Run by a program.
    pub headless: usize,
    /// Nothing was said.
    pub empty: usize,
    /// Subagents started only to warm up.
    pub warmups: usize,
    /// Subagents whose session is not there.
    pub orphans: usize,
}

/// A project: all sessions started in one folder.
#[derive(Debug, Clone)]
pub struct Project {
    /// The folder.
    pub path: String,
    /// How many sessions.
    pub sessions: usize,
    /// Their size.
    pub bytes: u64,
    /// The last activity.
    pub last: Option<Timestamp>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct SessionList {
    /// The sessions, newest first.
    pub rows: Vec<SessionRow>,
    /// Those left out.
    pub hidden: HiddenCounts,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// How many session files there are, subagents included.
    pub files: usize,
    /// Why the index was of no help, where there is something to say.
    pub notice: Option<CacheWarning>,
}

struct Sketched {
    file: SessionFile,
    sketch: SessionInfo,
}

/// Lists the sessions under `roots`; files that have not changed since an index was kept are not read again.
pub fn list(roots: &Roots, filter: &Filter, index: Option<&CacheDir>) -> SessionList {
    let (files, mut failures) = find_files(roots, index);
    let total = files.len();
    let (sketches, notice) = PerFileCache::new(index, roots, "sketches", &files).all(sketch);
    let mut all = Vec::with_capacity(total);
    for (file, sketch) in files.into_iter().zip(sketches) {
        match sketch {
            Ok(sketch) => all.push(Sketched { file, sketch }),
            Err(failure) => failures.push(failure),
        }
    }
    let mut hidden = HiddenCounts::default();
    let mut rows = rows(all, &mut hidden);
    link(&mut rows);
    rows.retain(|row| filter.shows(row, &mut hidden));
    rows.sort_by(|a, b| b.sketch.last.cmp(&a.sketch.last).then_with(|| a.path.cmp(&b.path)));
    SessionList { rows, hidden, failures, files: total, notice }
}

/// Reads what a file says of itself, and how many bytes that took.
fn sketch(file: &SessionFile) -> Result<(SessionInfo, u64), Error> {
    let mut weaver = TreeBuilder::with_capacity_for(if file.role == FileRole::Main { file.len } else { 0 });
    let mut sketcher = SessionInfoBuilder::default();
    let add = |seen: ScanEvent<'_, '_>| {
        if let ScanEvent::Entry(entry, place, _) = seen {
            let voice = weaver.add(entry, place);
            sketcher.add(entry, voice);
        }
    };
    // Of a subagent the list says only that it is there and whose it is: its first lines tell.
    let scan = if file.role == FileRole::Main { scan(&file.path, add) } else { scan_head(&file.path, add) };
    let scan = scan.map_err(Error::reading(&file.path))?;
    let tree = weaver.finish();
    Ok((sketcher.finish(&tree, scan.lines, &scan.problems), scan.bytes))
}

fn rows(all: Vec<Sketched>, hidden: &mut HiddenCounts) -> Vec<SessionRow> {
    let titles = Summaries::of(all.iter().map(|one| &one.sketch));
    let mut live: HashMap<Arc<Path>, Vec<String>> = HashMap::new();
    let (agents, mains): (Vec<Sketched>, Vec<Sketched>) =
        all.into_iter().partition(|one| one.file.role != FileRole::Main);
    let mut rows: Vec<SessionRow> = mains
        .into_iter()
        .map(|Sketched { file, sketch }| {
            let id = id_of(&file.path, &sketch);
            let running = live.entry(Arc::clone(&file.root)).or_insert_with(|| live_sessions(&file.root));
            SessionRow {
                live: running.contains(&id),
                title: sketch.title(sketch.summary(&titles)),
                id,
                bytes: file.len,
                agents: sketch.side_agents,
                links: Links::default(),
                path: file.path,
                sketch,
            }
        })
        .collect();
    let by_path: HashMap<PathBuf, usize> =
        rows.iter().enumerate().map(|(k, row)| (row.path.with_extension(""), k)).collect();
    let by_id: HashMap<String, usize> = rows.iter().enumerate().map(|(k, row)| (row.id.clone(), k)).collect();
    for Sketched { file, sketch } in agents {
        let in_folder = file.path.ancestors().find_map(|folder| by_path.get(folder));
        let named = sketch.sessions.first().and_then(|session| by_id.get(session));
        let Some(&owner) = in_folder.or(named) else {
            hidden.orphans += 1;
            continue;
        };
        rows[owner].bytes += file.len;
        if sketch.is_warmup() {
            hidden.warmups += 1;
        } else {
            rows[owner].agents += 1;
        }
    }
    rows
}

/// Ties plans to implementations, forks to their origins, copies to each other.
fn link(rows: &mut [SessionRow]) {
    let mut by_slug: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut by_first: HashMap<Id, Vec<usize>> = HashMap::new();
    let by_id: HashMap<&str, usize> = rows.iter().enumerate().map(|(k, row)| (row.id.as_str(), k)).collect();
    for (k, row) in rows.iter().enumerate() {
        for slug in &row.sketch.slugs {
            by_slug.entry(slug).or_default().push(k);
        }
        if let Some(first) = row.sketch.first_message {
            by_first.entry(first).or_default().push(k);
        }
    }
    let mut links: Vec<Links> = Vec::with_capacity(rows.len());
    for (k, row) in rows.iter().enumerate() {
        let mut link = Links::default();
        let with_slug = || {
            let sessions = row.sketch.slugs.iter().filter_map(|slug| by_slug.get(slug.as_str())).flatten();
            sessions.copied().filter(move |&other| other != k)
        };
        if row.sketch.implements_plan {
            // The plan is the newest session of that name begun before this one.
            let plans = with_slug().filter(|&other| !rows[other].sketch.implements_plan);
            let before = plans.filter(|&other| rows[other].sketch.first <= row.sketch.first);
            link.plan =
                before.max_by_key(|&other| rows[other].sketch.first).map(|other| rows[other].id.clone());
        } else {
            let implementing = with_slug().filter(|&other| rows[other].sketch.implements_plan);
            link.implementation = implementing
                .min_by_key(|&other| rows[other].sketch.first)
                .map(|other| rows[other].id.clone());
        }
        let came = row.sketch.processes.iter().find(|process| **process != row.id);
        link.came_from = came.filter(|process| by_id.contains_key(process.as_str())).cloned();
        if link.plan.is_none() && row.sketch.implements_plan {
            link.plan = link.came_from.clone();
        }
        link.forked_from = row.sketch.forked_from.as_ref().map(|origin| origin.session.clone());
        let copies = row.sketch.first_message.and_then(|first| by_first.get(&first)).into_iter().flatten();
        link.copies = copies.filter(|&&other| other != k).map(|&other| rows[other].id.clone()).collect();
        links.push(link);
    }
    for (row, link) in rows.iter_mut().zip(links) {
        row.links = link;
    }
}

impl Filter {
    /// Whether a session is to be shown; one that nobody would look for is counted as hidden, unless all are asked for.
    pub fn shows(&self, row: &SessionRow, hidden: &mut HiddenCounts) -> bool {
        let (headless, empty) = (row.sketch.is_headless(), row.sketch.is_empty());
        if !self.all {
            hidden.empty += usize::from(empty);
            hidden.headless += usize::from(headless && !empty);
        }
        (self.all || !headless && !empty) && self.takes(row)
    }

    fn takes(&self, row: &SessionRow) -> bool {
        let has = |text: Option<&str>, part: &Option<String>| match part {
            Some(part) => text.is_some_and(|text| text.to_lowercase().contains(&part.to_lowercase())),
            None => true,
        };
        let folder = row.path.parent().and_then(|folder| folder.to_str());
        (has(row.sketch.cwd.as_deref(), &self.project) || has(folder, &self.project))
            && has(Some(&row.title.text), &self.title)
            && has(row.sketch.git_branch.as_deref(), &self.branch)
            && (self.model.is_none() || row.sketch.models.iter().any(|model| has(Some(model), &self.model)))
            && self.since.is_none_or(|since| row.sketch.last.is_some_and(|last| last >= since))
            && self.until.is_none_or(|until| row.sketch.first.is_some_and(|first| first < until))
    }
}

impl SessionRow {
    /// Returns the folder the session was started in, or the folder its file lies in.
    pub fn project(&self) -> String {
        let folder = || self.path.parent().map(|folder| folder.display().to_string());
        self.sketch.cwd.clone().or_else(folder).unwrap_or_default()
    }

    /// Returns the pull requests made in it.
    pub fn pull_requests(&self) -> &[PullRequest] {
        &self.sketch.pull_requests
    }
}

impl SessionList {
    /// Sums the sessions up by project, the one used last first.
    pub fn projects(&self) -> Vec<Project> {
        projects(&self.rows)
    }
}

/// Sums sessions up by project, the one used last first.
pub fn projects<'r>(rows: impl IntoIterator<Item = &'r SessionRow>) -> Vec<Project> {
    let mut projects: BTreeMap<String, Project> = BTreeMap::new();
    for row in rows {
        let path = row.project();
        let project = projects.entry(path.clone()).or_insert_with(|| Project {
            path,
            sessions: 0,
            bytes: 0,
            last: None,
        });
        project.sessions += 1;
        project.bytes += row.bytes;
        project.last = project.last.max(row.sketch.last);
    }
    let mut projects: Vec<Project> = projects.into_values().collect();
    projects.sort_by_key(|project| std::cmp::Reverse(project.last));
    projects
}
