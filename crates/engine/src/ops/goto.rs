//! `goto`: makes clients resume a session from another entry. It only appends lines.

use std::path::PathBuf;

use rethread_core::edit::{Draft, MarkerKind, UuidMap, required_entries};
use rethread_core::entry::{EntryRole, Flags, Timestamp};
use rethread_core::id::Id;
use rethread_core::resume::{TrailingEntries, active_path_at, resumable_entries};
use rethread_core::tree::NodeId;

use super::selector::{EntrySelector, resolve_entry};
use crate::Error;
pub use crate::edit::edit_session::EntryRef;
use crate::edit::edit_session::{
    AppendSimulator, EditSession, ExpectedLoad, MarkerOptions, ParsedLines, matches_exactly, matches_expected,
};
use crate::ops::resolve::ensure_on_disk;
use crate::session::load::SessionHeader;
use crate::writer::{FileOp, OpId, Plan, SessionWriter};

/// Options of [`goto`].
#[derive(Debug, Clone, Default)]
pub struct GotoRequest {
    /// The session file.
    pub path: PathBuf,
    /// The entry to resume from.
    pub at: EntrySelector,
    /// The current time. Appended lines are always dated after the newest entry, also with the default.
    pub now: Timestamp,
    /// Report the change without writing it.
    pub dry_run: bool,
    /// Write even if a client has the session open.
    pub even_if_live: bool,
}

/// The result of [`goto`].
#[derive(Debug)]
pub struct GotoOutcome {
    /// The session.
    pub header: SessionHeader,
    /// The entry after which the conversation would have continued. `None` if the session has no entries.
    pub from: Option<EntryRef>,
    /// The entry after which it continues now: the requested one, or the message above an attachment or a system line.
    pub to: EntryRef,
    /// The entries that each client loads now.
    pub expected_loads: Vec<ExpectedLoad>,
    /// The number of entries that were appended again because a compaction lies between.
    pub replayed: usize,
    /// The number of queued prompts, notifications and local commands below the requested entry that a client sends too.
    pub sent_below: usize,
    /// The bytes of the appended lines.
    pub added: Vec<u8>,
    /// The number of the op. `None` in a dry run.
    pub op: Option<OpId>,
}

/// The lines that make clients resume from an entry, and what the clients load then.
struct PlannedMove {
    added: Vec<u8>,
    expected_loads: Vec<ExpectedLoad>,
    replayed: usize,
    sent_below: usize,
}

/// Makes clients resume the session from another entry, with marker lines alone or with the path to it appended again.
pub fn goto(request: &GotoRequest, writer: &SessionWriter) -> Result<GotoOutcome, Error> {
    ensure_on_disk(&request.path)?;
    let (mut source, simulator) = EditSession::open_for_append(&request.path)?;
    let to = resolve_entry(&source, &request.at)?;
    let tree = &source.session.tree;
    let from = source.session.active_path().resume_point(tree);
    let resume_point = tree.resume_point(to);
    let from = from.map(|node_id| source.read_entry_ref(node_id));
    let target = source.read_entry_ref(resume_point);
    let planned_move = plan_move(&mut source, &simulator, to, request.now)?.ok_or_else(|| {
        Error::CannotResumeFrom { path: request.path.clone(), name: source.session.entry_handle(to) }
    })?;
    let header = source.session.header();
    let op = if request.dry_run {
        None
    } else {
        Some(commit_move(&source, &simulator, request, &target, &planned_move, writer)?)
    };
    let PlannedMove { added, expected_loads, replayed, sent_below } = planned_move;
    Ok(GotoOutcome { header, from, to: target, expected_loads, replayed, sent_below, added, op })
}

/// Plans the shortest append after which every client resumes from the entry: the marker lines alone, else the entries on
/// the path that clients no longer load, else the whole path. Returns `None` if a client would not resume from it.
fn plan_move(
    source: &mut EditSession,
    simulator: &AppendSimulator,
    to: NodeId,
    now: Timestamp,
) -> Result<Option<PlannedMove>, Error> {
    for kind in [MarkerKind::Notice, MarkerKind::Message] {
        let options = MarkerOptions { kind, now, ..MarkerOptions::default() };
        if let Some(planned_move) = plan_marker(source, simulator, to, options)? {
            return Ok(Some(planned_move));
        }
    }
    if let Some(planned_move) = plan_replays(source, simulator, to, now)? {
        return Ok(Some(planned_move));
    }
    plan_marker_with_entries_below(source, simulator, to, now)
}

/// Plans to append the marker lines, below the entries of the same turn that follow the entry. Returns `None` if a client
/// would not resume from it, or would also load texts below it.
fn plan_marker(
    source: &mut EditSession,
    simulator: &AppendSimulator,
    to: NodeId,
    options: MarkerOptions,
) -> Result<Option<PlannedMove>, Error> {
    let Some(expected_loads) = source.simulate_loads_at(to, TrailingEntries::SameTurn) else {
        return Ok(None);
    };
    let sends_nothing = || expected_loads.iter().any(|load| load.path.is_empty());
    let parent = match options.kind {
        MarkerKind::Notice => to,
        // A boundary without messages above it cannot be resumed from.
        MarkerKind::Message if sends_nothing() => return Ok(None),
        MarkerKind::Message => find_last_of_turn(source, to),
    };
    let added = build_marker(source, parent, options)?;
    let actual = simulator.simulate_append(source, &added).expected_loads(&source.clients());
    Ok(matches_exactly(&expected_loads, &actual).then_some(PlannedMove {
        added,
        expected_loads,
        replayed: 0,
        sent_below: 0,
    }))
}

/// Plans to append the marker lines although a client also loads texts below the entry. Returns `None` if a client would
/// not resume from it or would send nothing.
fn plan_marker_with_entries_below(
    source: &mut EditSession,
    simulator: &AppendSimulator,
    to: NodeId,
    now: Timestamp,
) -> Result<Option<PlannedMove>, Error> {
    let count_attached = |loads: &[ExpectedLoad]| loads.iter().map(|load| load.attached.len()).max();
    let Some(own_loads) = source.simulate_loads_at(to, TrailingEntries::SameTurn) else { return Ok(None) };
    let added = build_marker(source, to, MarkerOptions { now, ..MarkerOptions::default() })?;
    let actual = simulator.simulate_append(source, &added).expected_loads(&source.clients());
    let sent_below =
        count_attached(&actual).unwrap_or(0).saturating_sub(count_attached(&own_loads).unwrap_or(0));
    Ok(matches_expected(&own_loads, &actual).then_some(PlannedMove {
        added,
        expected_loads: actual,
        replayed: 0,
        sent_below,
    }))
}

/// Builds the marker lines with the entry `parent` as their parent, after the newline that the file lacks.
fn build_marker(source: &mut EditSession, parent: NodeId, options: MarkerOptions) -> Result<Vec<u8>, Error> {
    let leaf = source.uuid(parent);
    Ok([source.missing_newline(), &source.build_marker_lines(parent, &leaf, options)?].concat())
}

/// Returns the last entry of the same turn that the newest client loads below `to`, such as an attachment of a prompt.
/// Returns `to` if there is none.
fn find_last_of_turn(source: &EditSession, to: NodeId) -> NodeId {
    let (tree, index) = (&source.session.tree, &source.session.resume_index);
    let newest = source.clients().pop();
    let path = newest.and_then(|client| active_path_at(tree, index, &client, to, TrailingEntries::SameTurn));
    let last = path.and_then(|path| path.last().copied());
    last.filter(|&last| tree.ancestors(last).contains(&to)).unwrap_or(to)
}

/// Plans to append the entries on the path that clients no longer load, or else the whole path. Returns `None` if a client
/// would not resume from the entry.
fn plan_replays(
    source: &mut EditSession,
    simulator: &AppendSimulator,
    to: NodeId,
    now: Timestamp,
) -> Result<Option<PlannedMove>, Error> {
    let (tree, clients) = (&source.session.tree, source.clients());
    // A boundary or summary that is written again would be a second compaction.
    if matches!(tree.node(to).role, EntryRole::CompactBoundary | EntryRole::CompactSummary) {
        return Ok(None);
    }
    let index = &source.session.resume_index;
    let path = required_entries(tree, index, &clients, to, TrailingEntries::SameTurn);
    let resumable: Vec<Vec<bool>> = clients.iter().map(|client| resumable_entries(tree, client)).collect();
    let is_kept = |id: NodeId| resumable.iter().all(|resumable| resumable[id as usize]);
    let (kept, lost): (Vec<NodeId>, Vec<NodeId>) = path.iter().partition(|&&id| is_kept(id));
    // A damaged line must be repaired first.
    let is_damaged = lost.iter().any(|&id| tree.node(id).has_flag(Flags::RECOVERED));
    if !kept.is_empty()
        && lost.contains(&to)
        && !is_damaged
        && let Some(planned_move) = plan_replay(source, simulator, to, now, &kept, &lost)?
    {
        return Ok(Some(planned_move));
    }
    plan_replay(source, simulator, to, now, &[], &path)
}

/// Plans to append the entries `replayed`, with new uuids, and then the marker lines. The entries `kept` stay where they are.
/// Returns `None` if a client would not resume from the entry `to`, which is replayed.
fn plan_replay(
    source: &mut EditSession,
    simulator: &AppendSimulator,
    to: NodeId,
    now: Timestamp,
    kept: &[NodeId],
    replayed: &[NodeId],
) -> Result<Option<PlannedMove>, Error> {
    let mut uuid_map = UuidMap::default();
    for &node_id in replayed {
        uuid_map.insert_pair(source.uuid(node_id), uuid::Uuid::new_v4().to_string());
    }
    // The expected load is that of a file with only the kept and the added lines.
    let mut expected_file = Vec::new();
    for &node_id in kept {
        uuid_map.insert_pair(source.uuid(node_id), source.uuid(node_id));
        expected_file.extend(source.read_line(source.session.tree.node(node_id).span)?);
        expected_file.push(b'\n');
    }
    let draft = Draft::default();
    let mut added = source.missing_newline().to_vec();
    for &node_id in replayed {
        let line = source.read_line(source.session.tree.node(node_id).span)?;
        added.extend_from_slice(&draft.render_line(&line, &uuid_map.line_edits(&line)));
        added.push(b'\n');
    }
    let leaf =
        uuid_map.find_new_uuid(Id::from_text(source.uuid(to).as_bytes())).unwrap_or_default().to_owned();
    added.extend(source.build_marker_lines(to, &leaf, MarkerOptions { now, ..MarkerOptions::default() })?);
    expected_file.extend_from_slice(&added);
    let clients = source.clients();
    let expected_loads = ParsedLines::from_bytes(&expected_file).expected_loads(&clients);
    let actual = simulator.simulate_append(source, &added).expected_loads(&clients);
    let loads_entries = expected_loads.iter().all(|load| !load.path.is_empty());
    Ok((loads_entries && matches_expected(&expected_loads, &actual)).then_some(PlannedMove {
        added,
        expected_loads,
        replayed: replayed.len(),
        sent_below: 0,
    }))
}

/// Appends the planned lines and verifies that every client loads the expected entries.
fn commit_move(
    source: &EditSession,
    simulator: &AppendSimulator,
    request: &GotoRequest,
    to: &EntryRef,
    planned_move: &PlannedMove,
    writer: &SessionWriter,
) -> Result<OpId, Error> {
    let path = request.path.clone();
    let bytes = planned_move.added.clone();
    let turn = to.turn.map(|turn| format!(" t{turn}")).unwrap_or_default();
    let plan = Plan {
        command: "goto",
        session: source.session.id.clone(),
        about: format!("to {}{turn}", to.handle),
        file_ops: vec![FileOp::Append { path: path.clone(), fingerprint: source.fingerprint, bytes }],
        even_if_live: request.even_if_live,
    };
    writer.commit(plan, || {
        // The writer has verified that the old bytes are unchanged. Only the appended bytes are read again.
        let added = source.read_appended().map_err(Error::reading(&path))?;
        let actual = simulator.simulate_append(source, &added).expected_loads(&source.clients());
        if matches_expected(&planned_move.expected_loads, &actual) {
            Ok(())
        } else {
            Err(Error::VerificationFailed { path: path.clone() })
        }
    })
}
