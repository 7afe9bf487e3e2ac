//! Creates a trimmed copy of a session. Shared by `clone` and `rescue`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rethread_core::edit::{DraftSegment, required_entries};
use rethread_core::entry::Timestamp;
use rethread_core::id::IdSet;
use rethread_core::resume::{ResumeOutcome, TrailingEntries, simulate_resume_at};
use rethread_core::tree::{LineSpan, NodeId};
use rethread_core::trim::{BlockInventory, RemovalCause, SavingsByCause, TrimInput, TrimmedPath};

use super::edit_session::EditSession;
use super::new_session::{NewSession, NewSessionSpec};
use super::title::choose_title;
use crate::Error;
use crate::disk::Roots;
use crate::session::project::locate_project_dir;
use crate::writer::SessionWriter;

/// The size of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionSize {
    /// The number of lines that are not blank, without those that are added to a copy. Each record of a damaged line counts.
    pub lines: u64,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The estimated number of tokens of the context.
    pub tokens: u64,
}

/// The result of creating a trimmed copy.
#[derive(Debug)]
pub struct TrimmedCopy {
    /// The new session.
    pub session: NewSession,
    /// The size of the origin.
    pub before: SessionSize,
    /// The size of the copy.
    pub after: SessionSize,
    /// The removed bytes and tokens, by cause.
    pub savings: SavingsByCause,
    /// The JSON paths at which lines were changed, sorted, each with the number of changes.
    pub changed_paths: Vec<(String, u64)>,
}

/// The lines that a copy contains if no option removes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyScope {
    /// The entries of the path, and the last state of the session.
    Path,
    /// The entries of the path, and all lines without a uuid.
    PathAndRecords,
    /// All entries, and all lines without a uuid.
    File,
}

/// Options of [`SessionTrimmer::write_copy`].
pub(crate) struct CopyOptions {
    pub(crate) command: &'static str,
    /// The suffix of the title, if no title is given.
    pub(crate) title_suffix: String,
    pub(crate) title: Option<String>,
    /// The working folder of the copy and the roots that limit where its project folder may be. `None` for that of the
    /// origin.
    pub(crate) project: Option<(PathBuf, Roots)>,
    pub(crate) scope: CopyScope,
    /// Copy the backups of edited files.
    pub(crate) copy_backups: bool,
    pub(crate) now: Timestamp,
    pub(crate) dry_run: bool,
}

/// A session opened for trimming.
pub(crate) struct SessionTrimmer {
    pub(crate) source: EditSession,
    pub(crate) inventory: BlockInventory,
    /// The entries that a copy needs so that every client can resume from `leaf`, in order.
    pub(crate) path: Vec<NodeId>,
    pub(crate) leaf: NodeId,
    /// The simulated resume from `leaf`.
    pub(crate) resume: ResumeOutcome,
}

impl SessionTrimmer {
    /// Opens a session to trim the path to the newest tip below the entry `branch`, or to the entry from which the client
    /// resumes. Returns an error if the client could load nothing.
    pub(crate) fn open(path: &Path, branch: Option<&str>) -> Result<SessionTrimmer, Error> {
        let mut inventory = BlockInventory::default();
        let source = EditSession::open(path, &mut inventory)?;
        let nothing_error = || Error::NothingToLoad { path: path.to_owned() };
        let session = &source.session;
        if session.tree.is_sidechain_file() {
            return Err(nothing_error());
        }
        let leaf = match branch {
            Some(name) => session.newest_descendant(session.find_entry(name)?),
            None => source.active_leaf()?,
        };
        let resume = simulate_resume_at(&session.tree, &session.resume_index, &session.client(), leaf);
        let resume = resume
            .filter(|resume| resume.failure.is_none() && !resume.path.is_empty())
            .ok_or_else(nothing_error)?;
        let path = required_entries(
            &session.tree,
            &session.resume_index,
            &source.clients(),
            leaf,
            TrailingEntries::All,
        );
        Ok(SessionTrimmer { source, inventory, path, leaf, resume })
    }

    /// Returns the input of the trim algorithms.
    pub(crate) fn trim_input(&self) -> TrimInput<'_> {
        let session = &self.source.session;
        let path = (&self.path[..], self.leaf, &self.resume);
        TrimInput::new(&session.tree, &session.resume_index, &self.inventory, &session.id, path)
    }

    /// Creates the new session from a trimmed path. `note` is the id of the new session and the line that replaces removed
    /// turns.
    pub(crate) fn write_copy(
        self,
        trimmed: TrimmedPath,
        note: Option<(String, Vec<u8>)>,
        options: CopyOptions,
        writer: &SessionWriter,
    ) -> Result<TrimmedCopy, Error> {
        let session = &self.source.session;
        let path = session.path.clone();
        let leaf = trimmed.leaf.ok_or_else(|| Error::NothingRemains { path: path.clone() })?;
        let tokens = self.resume.estimate_tokens(&session.resume_index);
        let entries: IdSet =
            trimmed.lines.iter().map(|(node_id, _)| session.tree.node(*node_id).uuid).collect();
        let backed_up = if options.copy_backups { entries.clone() } else { IdSet::default() };
        let damaged_lines = count_unreadable_lines(&self.source);
        let record_count = session.tree.nodes().len() + self.source.state_lines.all_lines().len();
        let before = SessionSize { lines: record_count as u64 + damaged_lines, bytes: session.bytes, tokens };
        let savings = self.collect_savings(&trimmed, options.scope, &backed_up, damaged_lines);
        let required: IdSet =
            self.resume.path.iter().map(|&node_id| session.tree.node(node_id).uuid).collect();
        let required: IdSet = required.intersection(&entries).copied().collect();
        // Free the memory of the trim before the draft is built.
        drop((self.inventory, self.resume, self.path));
        let project =
            options.project.map(|(folder, roots)| locate_project_dir(&folder, &path, &roots)).transpose()?;
        let changed_paths = match options.scope {
            CopyScope::File => Vec::new(),
            _ => count_edits_by_json_path(&trimmed),
        };
        let (id, note) = note.unzip();
        let tree = &session.tree;
        let mut segments = trimmed.into_segments(|node_id| tree.node(node_id).span, note);
        add_omitted_lines(&mut segments, &self.source, options.scope);
        let spec = NewSessionSpec {
            command: options.command,
            id,
            about: format!("of {} at {}", session.id, session.entry_handle(leaf)),
            segments,
            complete: options.scope != CopyScope::Path,
            entries: backed_up,
            leaf,
            title: choose_title(options.title.as_deref(), session, &options.title_suffix)?,
            project,
            now: options.now,
            dry_run: options.dry_run,
            required,
            ..NewSessionSpec::default()
        };
        let session = spec.create(self.source, writer)?;
        let tokens = session.expected_loads.first().map_or(0, |load| load.tokens);
        let after = SessionSize { lines: session.lines as u64, bytes: session.bytes, tokens };
        Ok(TrimmedCopy { session, before, after, savings, changed_paths })
    }

    /// Adds to the savings of a trim the lines that the copy does not contain: unreadable ones, those off the path, and those
    /// without a uuid. `backed_up` are the prompts whose file history it contains.
    fn collect_savings(
        &self,
        trimmed: &TrimmedPath,
        scope: CopyScope,
        backed_up: &IdSet,
        damaged_lines: u64,
    ) -> SavingsByCause {
        let mut savings = trimmed.savings.clone();
        let state_lines = &self.source.state_lines;
        let tree = &self.source.session.tree;
        if damaged_lines > 0 {
            let spans = tree.nodes().iter().map(|node| &node.span).chain(state_lines.all_lines());
            let read_bytes: u64 = spans.map(|span| u64::from(span.len) + 1).sum();
            let bytes = self.source.session.bytes.saturating_sub(read_bytes);
            savings.add(RemovalCause::Damaged, damaged_lines, bytes, 0);
            savings.add_lines(RemovalCause::Damaged, damaged_lines);
        }
        if scope == CopyScope::File {
            return savings;
        }
        if scope == CopyScope::Path {
            let snapshots = state_lines.file_history_lines(backed_up);
            self.inventory.add_lines_without_uuid(&mut savings, snapshots, state_lines.latest_lines());
        }
        let mut is_on_path = vec![false; tree.nodes().len()];
        self.path.iter().for_each(|&node_id| is_on_path[node_id as usize] = true);
        let off_path = tree.nodes().iter().enumerate().filter(|(node_id, _)| !is_on_path[*node_id]);
        for (_, node) in off_path {
            savings.add(RemovalCause::OffPath, 1, u64::from(node.span.len) + 1, 0);
            savings.add_lines(RemovalCause::OffPath, 1);
        }
        savings
    }
}

/// Counts the lines that are not blank and contain no readable record.
fn count_unreadable_lines(source: &EditSession) -> u64 {
    let spans = source.session.tree.nodes().iter().map(|node| &node.span);
    let mut lines: Vec<u32> = spans.chain(source.state_lines.all_lines()).map(|span| span.line).collect();
    lines.sort_unstable();
    lines.dedup();
    source.session.info.lines.saturating_sub(lines.len()) as u64
}

/// Adds the lines that the path of a copy does not contain but its scope does, in file order.
fn add_omitted_lines(segments: &mut Vec<DraftSegment>, source: &EditSession, scope: CopyScope) {
    if scope == CopyScope::Path {
        return;
    }
    let unchanged = |span: LineSpan| DraftSegment::Line(span, Vec::new());
    if scope == CopyScope::File {
        *segments = source.session.tree.nodes().iter().map(|node| unchanged(node.span)).collect();
    }
    segments.extend(source.state_lines.all_lines().iter().map(|span| unchanged(*span)));
    segments.sort_by_key(|segment| match segment {
        DraftSegment::Line(span, _) => span.offset,
        DraftSegment::Copy(range) => range.start,
        DraftSegment::New(_) => 0,
    });
}

/// Counts the edits of the copied lines by JSON path. The result is sorted by path.
fn count_edits_by_json_path(trimmed: &TrimmedPath) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for edit in trimmed.lines.iter().flat_map(|(_, edits)| edits) {
        *counts.entry(edit.path_name()).or_default() += 1;
    }
    counts.into_iter().collect()
}
