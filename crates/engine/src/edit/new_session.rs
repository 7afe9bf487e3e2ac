//! Creates a new session from entries of an existing one, copies its side files, and verifies what clients will load.

use std::path::{Path, PathBuf};

use rethread_core::edit::{Draft, DraftSegment, Envelope};
use rethread_core::entry::Timestamp;
use rethread_core::id::IdSet;
use rethread_core::tree::NodeId;
use rethread_core::version::Version;

use super::edit_session::{
    EditSession, ExpectedLoad, LeafChooser, MarkerOptions, ParsedLines, matches_expected,
};
use super::side_files::copy_side_files;
use super::title::render_title_lines;
use super::write_draft::{simulate_draft, write_draft};
use crate::Error;
use crate::session::load::{LoadOptions, SessionHeader, load};
use crate::writer::{FileOp, NewContent, OpId, Plan, SessionWriter};

/// A new session. In a dry run, the session that would be created.
#[derive(Debug)]
pub struct NewSession {
    /// The session from which it was created.
    pub origin: SessionHeader,
    /// The session id.
    pub id: String,
    /// The title.
    pub title: String,
    /// The session file.
    pub path: PathBuf,
    /// The folder in which to resume it.
    pub folder: String,
    /// The number of lines, without the title and marker lines that are added.
    pub lines: usize,
    /// The size of the file in bytes. 0 if the caller gave the expected loads, since then it is not computed.
    pub bytes: u64,
    /// The number of other files that are created: subagents, tool results, backups of edited files, damaged bytes, images.
    pub side_files: usize,
    /// The entries that each client will load.
    pub expected_loads: Vec<ExpectedLoad>,
    /// The number of the op. `None` in a dry run.
    pub op: Option<OpId>,
}

/// Describes a session to create.
#[derive(Default)]
pub(crate) struct NewSessionSpec {
    /// The command that creates it.
    pub(crate) command: &'static str,
    /// Its id, if one of its lines contains it already.
    pub(crate) id: Option<String>,
    /// A description for the journal.
    pub(crate) about: String,
    /// Lines of the origin and new lines, in order.
    pub(crate) segments: Vec<DraftSegment>,
    /// The entries of the origin for which backups of edited files are copied.
    pub(crate) entries: IdSet,
    /// The entry of the origin from which clients resume.
    pub(crate) leaf: NodeId,
    /// The uuid of the entry from which clients resume, if it differs from that of `leaf`.
    pub(crate) leaf_uuid: Option<String>,
    /// The chooser of the leaf.
    pub(crate) leaf_choice: LeafChooser,
    /// Whether clients choose the leaf themselves: no marker lines are added.
    pub(crate) keeps_leaf: bool,
    /// The title.
    pub(crate) title: String,
    /// The project folder and the working folder, if they differ from those of the origin.
    pub(crate) project: Option<(PathBuf, String)>,
    /// The entries that each client must load. If `None`, they are computed from the draft.
    pub(crate) expected_loads: Option<Vec<ExpectedLoad>>,
    /// Entries that the client of the origin must load.
    pub(crate) required: IdSet,
    /// Whether `segments` is complete: no state lines of the origin are added.
    pub(crate) complete: bool,
    /// Damaged bytes of the origin, to be stored next to the new session.
    pub(crate) damaged_bytes: Vec<u8>,
    /// Further files to write.
    pub(crate) file_ops: Vec<FileOp<'static>>,
    /// The current time.
    pub(crate) now: Timestamp,
    /// Report the session without writing it.
    pub(crate) dry_run: bool,
}

impl NewSessionSpec {
    /// Creates the session and verifies what clients load. Returns an error if a client would not load the required entries.
    pub(crate) fn create(
        mut self,
        mut source: EditSession,
        writer: &SessionWriter,
    ) -> Result<NewSession, Error> {
        let id = self.id.take().unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let origin = source.session.header();
        let path = source.session.path.clone();
        let (project, cwd) = self.project.take().unwrap_or_else(|| {
            let project = path.parent().unwrap_or(Path::new(""));
            (project.to_owned(), origin.folder.clone())
        });
        let target = project.join(format!("{id}.jsonl"));
        let folder_change = (cwd != origin.folder).then(|| (origin.folder.clone(), cwd.clone()));
        let envelope =
            Envelope { session: id.clone(), origin: Some(origin.id.clone()), folder: folder_change };
        let (required, expected_loads) = (std::mem::take(&mut self.required), self.expected_loads.take());
        let (command, about, title) = (self.command, self.about.clone(), self.title.clone());
        let dry_run = self.dry_run;
        let clients = source.clients();
        let handle = match self.keeps_leaf {
            true => source.session.id.clone(),
            false => source.session.entry_handle(self.leaf),
        };
        let damaged_bytes = std::mem::take(&mut self.damaged_bytes);
        let extra_ops = std::mem::take(&mut self.file_ops);
        let (draft, lines) = self.build_draft(envelope, &mut source)?;
        // The simulation builds a tree of the whole draft. Drop the tree of the source first, to limit the memory.
        drop(source);
        let (expected_loads, bytes) = match expected_loads {
            Some(expected_loads) => (expected_loads, 0),
            None => simulate_draft(&draft, &path, &clients)?,
        };
        let loaded: IdSet =
            expected_loads.first().into_iter().flat_map(|load| load.path.iter().copied()).collect();
        if expected_loads.iter().any(|load| load.path.is_empty()) || !required.is_subset(&loaded) {
            return Err(Error::CannotResumeFrom { path, name: handle });
        }
        drop((loaded, required));
        let mut file_ops = copy_side_files(&path, &origin.id, &draft, &target)?;
        if !damaged_bytes.is_empty() {
            let content = NewContent::Bytes(damaged_bytes);
            file_ops.push(FileOp::Create { path: damaged_bytes_path(&target, &id), content });
        }
        file_ops.extend(extra_ops);
        let side_files = file_ops.len();
        let mut created = NewSession {
            origin,
            id,
            title,
            path: target,
            folder: cwd,
            lines,
            bytes,
            side_files,
            expected_loads,
            op: None,
        };
        if !dry_run {
            let content = NewContent::Generated(Box::new(|out| write_draft(&draft, &path, out)));
            file_ops.push(FileOp::Create { path: created.path.clone(), content });
            let session = created.id.clone();
            let plan = Plan { command, session, about, file_ops, even_if_live: true };
            created.op = Some(writer.commit(plan, || created.verify(&clients))?);
        }
        Ok(created)
    }

    /// Builds the draft of the new session: the segments, then state lines, title lines and marker lines. Also returns the
    /// number of segments and state lines.
    fn build_draft(self, envelope: Envelope, source: &mut EditSession) -> Result<(Draft, usize), Error> {
        let marker = if self.keeps_leaf {
            Vec::new()
        } else {
            let leaf = self.leaf_uuid.clone().unwrap_or_else(|| source.uuid(self.leaf));
            let options =
                MarkerOptions { chooser: self.leaf_choice, now: self.now, ..MarkerOptions::default() };
            source.build_marker_lines_in(&envelope, self.leaf, &leaf, options)?
        };
        let mut segments = assign_session(self.segments, &envelope);
        if !self.complete {
            let state_lines =
                source.state_lines.file_history_lines(&self.entries).chain(source.state_lines.latest_lines());
            segments.extend(state_lines.map(|span| DraftSegment::Line(span, Vec::new())));
        }
        let lines = segments.len();
        segments.extend(render_title_lines(&self.title, &envelope.session).map(DraftSegment::New));
        let marker = marker.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        segments.extend(marker.map(|line| DraftSegment::New(line.to_vec())));
        Ok((Draft { segments, envelope: Some(envelope) }, lines))
    }
}

impl NewSession {
    /// Verifies that clients load the expected entries of the written file.
    fn verify(&self, clients: &[Version]) -> Result<(), Error> {
        let session = load(&self.path, LoadOptions::default(), &mut ())?;
        let actual =
            ParsedLines { tree: session.tree, resume_index: session.resume_index }.expected_loads(clients);
        if matches_expected(&self.expected_loads, &actual) {
            Ok(())
        } else {
            Err(Error::VerificationFailed { path: self.path.clone() })
        }
    }
}

/// Writes the id of the new session into lines that are in no file yet.
fn assign_session(segments: Vec<DraftSegment>, envelope: &Envelope) -> Vec<DraftSegment> {
    // These lines were not copied from another session.
    let draft = Draft { segments: Vec::new(), envelope: Some(Envelope { origin: None, ..envelope.clone() }) };
    let assign = |segment| match segment {
        DraftSegment::New(line) => DraftSegment::New(draft.render_line(&line, &[]).into_owned()),
        other => other,
    };
    segments.into_iter().map(assign).collect()
}

/// Returns the path at which the damaged bytes of a session are stored: in the side folder of the session file `path`.
pub(crate) fn damaged_bytes_path(path: &Path, session: &str) -> PathBuf {
    path.with_extension("").join(format!("{session}.damaged"))
}

/// Returns the uuids of the entries `nodes`.
pub(crate) fn entry_ids(source: &EditSession, nodes: &[NodeId]) -> IdSet {
    nodes.iter().map(|&node_id| source.session.tree.node(node_id).uuid).collect()
}
