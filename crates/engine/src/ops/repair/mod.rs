//! `repair`: fixes the problems that `doctor` reports, in a new session or in place.

mod destination;
mod draft;
mod leaf;
mod loads;
mod recover;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rethread_core::check::{Code, Diagnostic};
use rethread_core::edit::{Draft, DraftSegment, ResumeMarker};
use rethread_core::entry::Timestamp;
use rethread_core::fix::{
    AppliedFix, ExtractedImage, FixAction, FixOptions, assign_new_uuids, drop_foreign_lines, fix_content,
    needs_repair, relink_entries,
};
use rethread_core::id::{Id, IdSet};
use rethread_core::tree::NodeId;

use self::destination::build_in_place_draft;
use self::draft::{CheckedDraft, RepairDraft, RowFix};
use self::leaf::choose_leaf;
use self::loads::{ClientLoads, known_clients};
use self::recover::{find_line_ranges, recover_rows};
use crate::Error;
use crate::edit::edit_session::{
    EditSession, ExpectedLoad, LeafChooser, MarkerOptions, ParsedLines, matches_expected,
};
use crate::edit::new_session::{NewSession, NewSessionSpec, damaged_bytes_path};
use crate::edit::title::choose_title;
use crate::edit::write_draft::{simulate_draft, write_draft};
use crate::ops::doctor::{ReachableEntries, SessionReport, find_problems};
use crate::ops::resolve::ensure_on_disk;
use crate::ops::selector::EntrySelector;
use crate::session::load::{LoadOptions, Session, load};
use crate::writer::{FileOp, NewContent, OpId, Plan, SessionWriter};

/// Options of [`repair`].
#[derive(Debug, Clone, Default)]
pub struct RepairRequest {
    /// The session file.
    pub path: PathBuf,
    /// Repair the file itself instead of creating a new session.
    pub in_place: bool,
    /// Remove tool calls without a result instead of adding one.
    pub drop_unpaired: bool,
    /// The folder to which removed images are extracted. `None` discards them.
    pub extract: Option<PathBuf>,
    /// The entry to resume from. By default, it is chosen by the repair.
    pub leaf: Option<EntrySelector>,
    /// The current time. New lines are always dated after the newest entry, also with the default.
    pub now: Timestamp,
    /// Report the fixes without writing.
    pub dry_run: bool,
    /// Write even if another process is using the session.
    pub even_if_live: bool,
}

impl RepairRequest {
    fn leaf_choice(&self) -> LeafChooser {
        if self.leaf.is_some() { LeafChooser::ByUser } else { LeafChooser::ByRepair }
    }
}

/// The diagnostics after the repair.
#[derive(Debug)]
pub struct AfterReport {
    /// The remaining problems, worst first.
    pub findings: Vec<Diagnostic>,
    /// The number of reachable entries and of all entries.
    pub reachable: ReachableEntries,
}

/// An applied fix.
#[derive(Debug)]
pub struct RepairedLine {
    /// The line of the file. `None` for an inserted line.
    pub line: Option<u32>,
    /// The line of the new parent. `None` if the fix sets no parent, or one without a line of the file.
    pub to_line: Option<u32>,
    /// The problem and its fix.
    pub fix: AppliedFix,
}

/// The written session. In a dry run, the session that would be written.
#[derive(Debug)]
pub enum RepairTarget {
    /// A new session.
    New(Box<NewSession>),
    /// The original session.
    InPlace {
        /// The entries that each client loads now.
        expected_loads: Vec<ExpectedLoad>,
        /// The number of the op. `None` if nothing was written.
        op: Option<OpId>,
    },
}

/// The result of [`repair`].
#[derive(Debug)]
pub struct RepairReport {
    /// The diagnostics before the repair.
    pub before: SessionReport,
    /// The applied fixes. Empty if no repair was needed.
    pub fixes: Vec<RepairedLine>,
    /// The diagnostics after the repair.
    pub after: AfterReport,
    /// The new file that contains the bytes of the damaged lines. `None` if no line is damaged.
    pub damaged: Option<PathBuf>,
    /// The paths of the extracted image files.
    pub images: Vec<PathBuf>,
    /// The written session. `None` if no repair was needed.
    pub target: Option<RepairTarget>,
}

/// The maximum number of passes. Each pass fixes problems that the previous pass uncovered.
const MAX_PASSES: usize = 24;

/// A repair that is planned but not written: the draft, its diagnostics and the numbers of the damaged lines.
struct PlannedRepair {
    draft: RepairDraft,
    checked: CheckedDraft,
    damaged: BTreeSet<u32>,
}

/// Repairs a session in a new session or in place. Writes nothing if it needs no repair or belongs to a subagent.
pub fn repair(request: &RepairRequest, writer: &SessionWriter) -> Result<RepairReport, Error> {
    ensure_on_disk(&request.path)?;
    let mut source = EditSession::open(&request.path, &mut ())?;
    let before = find_problems(&request.path)?;
    let Some(PlannedRepair { draft, checked, damaged }) = plan_repair(request, &source, &before.findings)?
    else {
        return Ok(RepairReport::unchanged(before));
    };
    let images = build_image_files(&draft, request, &source.session.id);
    let job = RepairJob { request, draft: &draft, checked: &checked, damaged: &damaged, images: &images };
    let (target, damaged) = if request.in_place {
        job.write_in_place(&mut source, writer)?
    } else {
        job.write_new_session(source, writer)?
    };
    let after = match &target {
        RepairTarget::New(session) if session.op.is_some() => report_after(&session.path)?,
        RepairTarget::InPlace { op: Some(_), .. } => report_after(&request.path)?,
        _ => AfterReport { reachable: checked.reachable_entries(), findings: checked.findings },
    };
    let repaired_line = |RowFix { line, fix, to_line }| RepairedLine { line, to_line, fix };
    Ok(RepairReport {
        before,
        fixes: draft.fixes.into_iter().map(repaired_line).collect(),
        after,
        damaged,
        images: images.into_iter().map(|(path, _)| path).collect(),
        target: Some(target),
    })
}

impl RepairReport {
    /// Reports that no repair was needed.
    fn unchanged(before: SessionReport) -> RepairReport {
        let after = AfterReport { findings: before.findings.clone(), reachable: before.reachable_entries() };
        RepairReport { before, fixes: Vec::new(), after, damaged: None, images: Vec::new(), target: None }
    }
}

/// Returns `true` if a repair with default options would change the session file `path`. `findings` are its diagnostics.
pub(in crate::ops) fn can_repair(path: &Path, findings: &[Diagnostic]) -> bool {
    let plan = || {
        let source = EditSession::open(path, &mut ())?;
        plan_repair(&RepairRequest { path: path.to_owned(), ..RepairRequest::default() }, &source, findings)
    };
    needs_repair(findings) && matches!(plan(), Ok(Some(_)))
}

/// Plans the repair of a session with the diagnostics `findings`. Returns `None` if it would change nothing, or take entries
/// from a client.
fn plan_repair(
    request: &RepairRequest,
    source: &EditSession,
    findings: &[Diagnostic],
) -> Result<Option<PlannedRepair>, Error> {
    if !needs_repair(findings) || source.session.is_agent_file() {
        return Ok(None);
    }
    let recovered = recover_rows(&request.path, findings)?;
    let damaged = recovered.damaged.clone();
    let mut draft = RepairDraft::new(request.path.clone(), recovered)?;
    let Session { tree, resume_index, .. } = &source.session;
    let loads = ClientLoads::simulate(tree, resume_index, &known_clients(), Some);
    let checked = fix_links(&mut draft, &loads.uuids())?;
    choose_leaf(&mut draft, source, request, &checked, &loads)?;
    let checked = fix_all_content(&mut draft, source, request)?;
    if draft.fixes.is_empty() || takes_entries(&draft, &checked, &loads, request) {
        return Ok(None);
    }
    if checked.outcomes().iter().any(|outcome| outcome.path.is_empty()) {
        return Err(Error::NothingToLoad { path: request.path.clone() });
    }
    Ok(Some(PlannedRepair { draft, checked, damaged }))
}

/// Runs the checks on a written session.
fn report_after(path: &Path) -> Result<AfterReport, Error> {
    let report = find_problems(path)?;
    Ok(AfterReport { reachable: report.reachable_entries(), findings: report.findings })
}

/// Returns `true` if a measured client would load less after the repair than `before`, apart from content that the API
/// refuses.
fn takes_entries(
    draft: &RepairDraft,
    checked: &CheckedDraft,
    before: &ClientLoads,
    request: &RepairRequest,
) -> bool {
    let is_exempt = |fix: &&RowFix| {
        let is_dropped_call = fix.fix.code == Code::UnpairedCall && request.drop_unpaired;
        let is_removed = fix.fix.action == FixAction::LineRemoved;
        is_removed && (is_dropped_call || fix.line.is_some_and(|line| before.is_refused(line)))
    };
    let exempt = draft.fixes.iter().filter(is_exempt).filter_map(|fix| fix.line).collect();
    let file_line = |line: u32| draft.rows.get(line as usize - 1).and_then(|row| row.line);
    let after = ClientLoads::simulate(&checked.tree, &checked.resume_index, &known_clients(), file_line);
    request.leaf.is_none() && before.count_missing_from(&after, &exempt) > 0
}

/// Fixes uuids and links until no more fixes apply. `loaded` are the uuids of the entries that any client loads.
fn fix_links(draft: &mut RepairDraft, loaded: &IdSet) -> Result<CheckedDraft, Error> {
    for _ in 0..MAX_PASSES {
        let checked = draft.check()?;
        let changed = draft.apply_pass(&checked, |context| drop_foreign_lines(context, loaded))
            || draft.apply_pass(&checked, assign_new_uuids)
            || draft.apply_pass(&checked, relink_entries);
        if !changed {
            return Ok(checked);
        }
    }
    draft.check()
}

/// Fixes the blocks that clients send, in at most 24 passes, until no more fixes apply.
fn fix_all_content(
    draft: &mut RepairDraft,
    source: &EditSession,
    request: &RepairRequest,
) -> Result<CheckedDraft, Error> {
    let options = FixOptions { drop_unpaired: request.drop_unpaired, extract: request.extract.is_some() };
    let mut answered_calls = IdSet::default();
    for _ in 0..MAX_PASSES {
        draft.marker =
            draft.leaf.as_deref().map_or_else(Vec::new, |leaf| build_marker(source, leaf, request));
        let checked = draft.check()?;
        if !draft.apply_pass(&checked, |context| fix_content(context, options, &mut answered_calls)) {
            return Ok(checked);
        }
    }
    draft.check()
}

/// Builds the marker lines with only the fields that decide which entries are loaded.
fn build_marker(source: &EditSession, leaf: &str, request: &RepairRequest) -> Vec<Vec<u8>> {
    let uuid = uuid::Uuid::new_v4().to_string();
    let time = Some(source.timestamp_after_all(request.now));
    let session = &source.session.id;
    let is_explicit = request.leaf_choice() == LeafChooser::ByUser;
    let marker = ResumeMarker { leaf, uuid: &uuid, session, time, is_explicit, ..ResumeMarker::default() };
    vec![marker.marker_line(), marker.leaf_pointer_line()]
}

/// Returns the paths and bytes of the image files to write. The list is empty unless extraction is requested.
fn build_image_files(draft: &RepairDraft, request: &RepairRequest, session: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let Some(folder) = &request.extract else { return Vec::new() };
    let short_id: String = session.chars().take(8).collect();
    let name = |line: Option<u32>, image: &ExtractedImage| {
        let extension = image.media.strip_prefix("image/").unwrap_or("bin");
        format!("{short_id}-L{}-{}.{extension}", line.unwrap_or(0), image.number)
    };
    draft.images.iter().map(|(line, image)| (folder.join(name(*line, image)), image.bytes.clone())).collect()
}

/// A repair that is ready to be written.
struct RepairJob<'j> {
    request: &'j RepairRequest,
    draft: &'j RepairDraft,
    checked: &'j CheckedDraft,
    /// The lines that are not exactly one valid JSON object.
    damaged: &'j BTreeSet<u32>,
    /// The paths and bytes of the image files to create.
    images: &'j [(PathBuf, Vec<u8>)],
}

impl RepairJob<'_> {
    /// Clones the segments of all rows that were not removed.
    fn collect_segments(&self) -> Vec<DraftSegment> {
        self.draft.rows.iter().filter_map(|row| row.segment.clone()).collect()
    }

    /// Returns the node of the leaf in the original file. For an inserted leaf, this is the entry before it.
    ///
    /// Returns `None` if clients choose the leaf themselves.
    fn find_leaf_node(&self, source: &EditSession) -> Result<Option<NodeId>, Error> {
        let tree = &self.checked.tree;
        let Some(leaf) = &self.draft.leaf else { return Ok(None) };
        let leaf_line = tree
            .find_uuid(Id::from_text(leaf.as_bytes()))
            .map(|node_id| tree.node(node_id).span.line as usize);
        let nodes = source.session.tree.nodes();
        let rows = &self.draft.rows[..leaf_line.unwrap_or(0)];
        let find_node = |line: u32| nodes.iter().rposition(|node| node.span.line == line);
        let node_id = rows.iter().rev().find_map(|row| find_node(row.line?));
        let path = || self.request.path.clone();
        node_id.map(|node_id| Some(node_id as NodeId)).ok_or_else(|| Error::NothingToLoad { path: path() })
    }

    /// Describes the repair for the journal, such as `3 fixes`.
    fn describe(&self) -> String {
        let fix_count = self.draft.fixes.len();
        format!("{fix_count} {}", if fix_count == 1 { "fix" } else { "fixes" })
    }

    /// Reads the bytes of the damaged lines, each with a line end.
    fn read_damaged_lines(&self, source: &mut EditSession) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        for (line, range) in find_line_ranges(&self.request.path, self.damaged)? {
            let len = u32::try_from(range.end - range.start).unwrap_or(u32::MAX);
            bytes.extend(source.read_line(rethread_core::tree::LineSpan {
                offset: range.start,
                len,
                line,
            })?);
            if bytes.last() != Some(&b'\n') {
                bytes.push(b'\n');
            }
        }
        Ok(bytes)
    }

    /// Builds the file operations that create the image files.
    fn build_image_ops(&self) -> Vec<FileOp<'static>> {
        let file_op = |(path, bytes): &(PathBuf, Vec<u8>)| FileOp::Create {
            path: path.clone(),
            content: NewContent::Bytes(bytes.clone()),
        };
        self.images.iter().map(file_op).collect()
    }

    /// Creates a new session. Also returns the path of the file with the damaged lines, if there are any.
    fn write_new_session(
        &self,
        mut source: EditSession,
        writer: &SessionWriter,
    ) -> Result<(RepairTarget, Option<PathBuf>), Error> {
        let leaf = self.find_leaf_node(&source)?;
        let damaged_bytes = self.read_damaged_lines(&mut source)?;
        let has_damage = !damaged_bytes.is_empty();
        let spec = NewSessionSpec {
            command: "repair",
            about: format!("of {}: {}", source.session.id, self.describe()),
            segments: self.collect_segments(),
            leaf: leaf.unwrap_or_default(),
            leaf_uuid: self.draft.leaf.clone(),
            leaf_choice: self.request.leaf_choice(),
            keeps_leaf: leaf.is_none(),
            title: choose_title(None, &source.session, "repaired")?,
            complete: true,
            damaged_bytes,
            file_ops: self.build_image_ops(),
            now: self.request.now,
            dry_run: self.request.dry_run,
            ..NewSessionSpec::default()
        };
        let session = spec.create(source, writer)?;
        let damaged = has_damage.then(|| damaged_bytes_path(&session.path, &session.id));
        Ok((RepairTarget::New(Box::new(session)), damaged))
    }

    /// Repairs the file itself. Also returns the path of the file with the damaged lines, if there are any.
    fn write_in_place(
        &self,
        source: &mut EditSession,
        writer: &SessionWriter,
    ) -> Result<(RepairTarget, Option<PathBuf>), Error> {
        let path = &self.request.path;
        let clients = source.clients();
        let leaf = self.find_leaf_node(source)?;
        let marker = match leaf.zip(self.draft.leaf.as_ref()) {
            Some((leaf, uuid)) => {
                let (chooser, now) = (self.request.leaf_choice(), self.request.now);
                source.build_marker_lines(leaf, uuid, MarkerOptions { chooser, now, ..Default::default() })?
            }
            None => Vec::new(),
        };
        let marker: Vec<Vec<u8>> =
            marker.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect();
        let mut draft = Draft { segments: self.collect_segments(), envelope: None };
        draft.segments.extend(marker.iter().cloned().map(DraftSegment::New));
        let (expected_loads, _) = simulate_draft(&draft, path, &clients)?;
        if expected_loads.iter().any(|load| load.path.is_empty()) {
            let name =
                leaf.map_or_else(|| source.session.id.clone(), |leaf| source.session.entry_handle(leaf));
            return Err(Error::CannotResumeFrom { path: path.to_owned(), name });
        }
        let file_end = (source.fingerprint.len, source.fingerprint.unterminated);
        let draft = build_in_place_draft(path, &self.draft.rows, self.damaged, file_end, marker)?;
        let damaged_bytes = self.read_damaged_lines(source)?;
        let damaged = (!damaged_bytes.is_empty())
            .then(|| find_free_path(&damaged_bytes_path(path, &source.session.id)));
        if self.request.dry_run {
            return Ok((RepairTarget::InPlace { expected_loads, op: None }, damaged));
        }
        let mut file_ops = self.build_image_ops();
        file_ops.extend(
            damaged.clone().map(|path| FileOp::Create { path, content: NewContent::Bytes(damaged_bytes) }),
        );
        let content = NewContent::Generated(Box::new(|out| write_draft(&draft, path, out)));
        file_ops.push(FileOp::Replace { path: path.clone(), fingerprint: source.fingerprint, content });
        let plan = Plan {
            command: "repair",
            session: source.session.id.clone(),
            about: self.describe(),
            file_ops,
            even_if_live: self.request.even_if_live,
        };
        let op = writer.commit(plan, || {
            let session = load(path, LoadOptions::default(), &mut ())?;
            let actual = ParsedLines { tree: session.tree, resume_index: session.resume_index }
                .expected_loads(&clients);
            if matches_expected(&expected_loads, &actual) {
                Ok(())
            } else {
                Err(Error::VerificationFailed { path: path.clone() })
            }
        })?;
        Ok((RepairTarget::InPlace { expected_loads, op: Some(op) }, damaged))
    }
}

/// Returns `path`, or if it exists, the first free variant with a number from 2 on as its extension.
fn find_free_path(path: &Path) -> PathBuf {
    let numbered = |number: u32| path.with_extension(format!("damaged.{number}"));
    let mut candidates = std::iter::once(path.to_owned()).chain((2..).map(numbered));
    candidates.find(|path| !path.exists()).unwrap_or_else(|| path.to_owned())
}
