//! Loads a session file: its tree and its metadata, from one pass.

use std::path::{Path, PathBuf};

use rethread_core::entry::{EntryRole, Kind};
use rethread_core::problem::Problem;
use rethread_core::resume::ResumeIndex;
use rethread_core::session::{AgentCallIndex, SessionInfo, SessionInfoBuilder, SummaryTitles, Title};
use rethread_core::tree::{EntryVisitor, NodeId, Tree, TreeBuilder};
use rethread_core::turn::ToolCallIndex;
use rethread_core::version::Version;

use crate::Error;
use crate::disk::{
    ScanEvent, ScanOptions, is_only_archived, is_session_id, list_names, read_fingerprint, scan,
};

/// A session file after one pass over it. The lines stay on disk.
#[derive(Debug)]
pub struct Session {
    /// The session file.
    pub path: PathBuf,
    /// The session id. For a subagent, the name of its file.
    pub id: String,
    /// The title, from the file itself or from another file in the same folder.
    pub title: Title,
    /// Metadata of the session.
    pub info: SessionInfo,
    /// The entries and their links.
    pub tree: Tree,
    /// The tool calls. Empty unless the operation that loaded the session needs them.
    pub tool_calls: ToolCallIndex,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// Whether the file was deleted and only the archive has the session.
    pub archived: bool,
    /// Problems in the bytes. The tree lists the problems of the links.
    pub problems: Vec<Problem>,
    /// The calls that start subagents. Empty unless [`LoadOptions::tool_calls`] is set.
    pub(crate) agent_calls: AgentCallIndex,
    /// The data that a client uses when it resumes the session.
    pub(crate) resume_index: ResumeIndex,
}

/// Identifies the session that a report is about.
#[derive(Debug, Clone)]
pub struct SessionHeader {
    /// The session id.
    pub id: String,
    /// The title and its source.
    pub title: Title,
    /// The folder in which the client was started. Empty if no line names it.
    pub folder: String,
}

/// Selects what [`load`] reads in addition to the tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadOptions {
    /// Also index tool calls and the calls that start subagents.
    pub(crate) tool_calls: bool,
    /// Search the other files of the folder for the title if they may contain it.
    pub(crate) search_title: bool,
}

impl Default for LoadOptions {
    fn default() -> LoadOptions {
        LoadOptions { tool_calls: false, search_title: true }
    }
}

/// Loads a session file and passes every entry to `visitor`, in file order. Recovered entries of damaged lines are
/// included.
pub(crate) fn load(
    path: &Path,
    options: LoadOptions,
    visitor: &mut impl EntryVisitor,
) -> Result<Session, Error> {
    Ok(load_with(path, options, visitor, |builder| (builder.finish(), ()))?.0)
}

/// Loads a session file as [`load`] does. Also returns the tree builder, to add lines after the end of the file.
pub(crate) fn load_with_builder(
    path: &Path,
    visitor: &mut impl EntryVisitor,
) -> Result<(Session, TreeBuilder), Error> {
    load_with(path, LoadOptions::default(), visitor, |builder| (builder.clone().finish(), builder))
}

/// Loads a session file. `finish` converts the tree builder to the tree and a further result, which is also returned.
fn load_with<T>(
    path: &Path,
    options: LoadOptions,
    visitor: &mut impl EntryVisitor,
    finish: impl FnOnce(TreeBuilder) -> (Tree, T),
) -> Result<(Session, T), Error> {
    let bytes = read_fingerprint(path).map_or(0, |fingerprint| fingerprint.len);
    let mut builder = if options.tool_calls {
        TreeBuilder::with_content_hashes()
    } else {
        TreeBuilder::with_capacity_for(bytes)
    };
    let calls = options.tool_calls.then(<(ToolCallIndex, AgentCallIndex)>::default);
    let parts = (ResumeIndex::default(), SessionInfoBuilder::default(), calls);
    let mut visitors = (parts, visitor);
    let report = scan(path, &ScanOptions::default(), |event| {
        if let ScanEvent::Entry(entry, span, is_whole) = event {
            let recovered = if is_whole { None } else { Some(entry.clone().mark_recovered()) };
            let entry = recovered.as_ref().unwrap_or(entry);
            builder.add_and_visit(entry, span, &mut visitors);
        }
    })
    .map_err(Error::reading(path))?;
    let (resume_index, info_builder, calls) = visitors.0;
    let (tool_calls, agent_calls) = calls.unwrap_or_default();
    let (tree, rest) = finish(builder);
    let info = info_builder.finish(&tree, report.lines, &report.problems);
    let other_infos = if options.search_title { read_other_infos(path, &info) } else { Vec::new() };
    let session = Session {
        path: path.to_owned(),
        id: derive_session_id(path, &info),
        title: choose_title(&info, &other_infos),
        info,
        tree,
        tool_calls,
        bytes: report.bytes,
        archived: is_only_archived(path),
        problems: report.problems,
        agent_calls,
        resume_index,
    };
    Ok((session, rest))
}

/// Returns the title of the session file `path`, from the file itself or from another file in the same folder.
pub(crate) fn find_title(path: &Path, info: &SessionInfo) -> Title {
    choose_title(info, &read_other_infos(path, info))
}

/// Returns the title of a session. `other_infos` are those of files that may contain it.
fn choose_title(info: &SessionInfo, other_infos: &[SessionInfo]) -> Title {
    let summaries = SummaryTitles::from_sessions(other_infos.iter().chain(std::iter::once(info)));
    info.title(info.find_summary(&summaries))
}

/// The last client that is known to write summary lines. It wrote them into any session file of the folder.
const LAST_SUMMARY_CLIENT: &str = "2.1.22";

/// Returns `true` if another file of the folder may contain the title.
fn may_have_title_in_other_file(info: &SessionInfo) -> bool {
    let has_title = info.custom_title.is_some() || info.ai_title.is_some();
    let last_client = Version::parse_lenient(LAST_SUMMARY_CLIENT);
    !has_title && info.versions.iter().any(|version| Version::parse_lenient(version) <= last_client)
}

/// Reads the summary lines at the start of all session files of the folder, if one of them may contain the title.
fn read_other_infos(path: &Path, info: &SessionInfo) -> Vec<SessionInfo> {
    let may_be_elsewhere = may_have_title_in_other_file(info);
    let folder = path.parent().filter(|_| may_be_elsewhere);
    let names = folder.map(list_names).unwrap_or_default();
    let files = names.into_iter().map(|name| path.with_file_name(name));
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|ext| ext == "jsonl")).collect();
    files.sort();
    let read_info = |file: PathBuf| {
        let mut builder = SessionInfoBuilder::default();
        let add_summary = |event: ScanEvent<'_, '_>| {
            if let ScanEvent::Entry(entry, ..) = event
                && entry.kind == Kind::Summary
            {
                builder.add(entry, EntryRole::State);
            }
        };
        scan(&file, &ScanOptions::head(), add_summary).ok()?;
        Some(builder.finish(&Tree::default(), 0, &[]))
    };
    files.into_iter().filter_map(read_info).collect()
}

/// Returns the id of the session file `path`: the file name without extension, or the id in its lines if the name is
/// neither an id nor that of a subagent.
pub(crate) fn derive_session_id(path: &Path, info: &SessionInfo) -> String {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    match info.sessions.first() {
        Some(session) if !is_session_id(stem) && !stem.starts_with("agent-") => session.clone(),
        _ => stem.to_owned(),
    }
}

impl Session {
    /// Returns `true` if another file of the folder may contain the title.
    pub(crate) fn title_may_be_elsewhere(&self) -> bool {
        may_have_title_in_other_file(&self.info)
    }

    /// Returns `true` if all lines with a uuid belong to a subagent. No client resumes such a file.
    pub fn is_agent_file(&self) -> bool {
        !self.tree.nodes().is_empty() && self.tree.is_sidechain_file()
    }

    /// Returns `true` if the file has lines, but none of them can be read.
    pub fn is_unreadable(&self) -> bool {
        let damaged = self.problems.iter().filter(|problem| problem.kind.is_line_damage());
        let mut damaged: Vec<u32> = damaged.map(|problem| problem.line).collect();
        damaged.dedup();
        self.tree.nodes().is_empty() && self.info.lines > 0 && damaged.len() >= self.info.lines
    }

    /// Returns the id, the title, and the folder in which the client was started.
    pub fn header(&self) -> SessionHeader {
        let folder = self.info.cwd.clone().unwrap_or_default();
        SessionHeader { id: self.id.clone(), title: self.title.clone(), folder }
    }

    /// Finds an entry by line (`L118`), turn (`t9`: its first entry), uuid, or a unique uuid prefix of at least four digits.
    /// Returns [`Error::UnknownEntry`] if no entry or several entries match.
    pub fn find_entry(&self, name: &str) -> Result<NodeId, Error> {
        let unknown_error = || Error::UnknownEntry { name: name.to_owned() };
        let number_after =
            |prefix: [char; 2]| name.strip_prefix(prefix).and_then(|rest| rest.parse::<u32>().ok());
        if let Some(line) = number_after(['L', 'l']) {
            // Nodes are in file order.
            let nodes = self.tree.nodes();
            let first = nodes.partition_point(|node| node.span.line < line);
            let is_found = nodes.get(first).is_some_and(|node| node.span.line == line);
            return is_found.then_some(first as NodeId).ok_or_else(unknown_error);
        }
        if let Some(turn) = number_after(['t', 'T']) {
            return self.tree.turn_starts().nth((turn as usize).wrapping_sub(1)).ok_or_else(unknown_error);
        }
        if let Some(node) = self.tree.find_uuid(rethread_core::id::Id::from_text(name.as_bytes())) {
            return Ok(node);
        }
        let digits: String = name.chars().filter(|c| *c != '-').collect::<String>().to_lowercase();
        if digits.len() < 4 || !digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return Err(unknown_error());
        }
        let has_prefix = |node_id: &usize| {
            format!("{:032x}", self.tree.nodes()[*node_id].uuid.bits()).starts_with(&digits)
        };
        let mut matches = (0..self.tree.nodes().len()).filter(has_prefix);
        match (matches.next(), matches.next()) {
            (Some(node_id), None) => Ok(node_id as NodeId),
            _ => Err(unknown_error()),
        }
    }

    /// Returns the newest of a node and its descendants, ignoring structural entries.
    ///
    /// Returns the node itself if all of them are structural.
    pub(crate) fn newest_descendant(&self, node: NodeId) -> NodeId {
        let mut newest = None;
        let mut stack = vec![node];
        while let Some(node_id) = stack.pop() {
            if self.tree.node(node_id).role != EntryRole::Structural {
                newest = newest.max(Some(node_id));
            }
            stack.extend_from_slice(self.tree.children(node_id));
        }
        newest.unwrap_or(node)
    }
}
