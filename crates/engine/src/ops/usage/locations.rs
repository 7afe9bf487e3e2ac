//! The turn and the context status of responses.

use std::collections::HashMap;

use rethread_core::entry::{Entry, Flags};
use rethread_core::pack_fields;
use rethread_core::resume::ContextStatus;
use rethread_core::tree::{LineSpan, NodeId, VisitFn};
use rethread_core::usage::UsageCollector;

use super::store::AttributedResponse;
use crate::Error;
use crate::cache::{CacheDir, CacheKind, CacheWarning};
use crate::disk::{Roots, SessionFile};
use crate::session::load::{LoadOptions, load};
use crate::session::match_context::compute_context_statuses;
use crate::session::per_file_cache::PerFileCache;

/// The location of a response in its session.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops) struct ResponseLocation {
    /// The number of the turn, from 1. `None` outside of turns.
    pub(in crate::ops) turn: Option<u32>,
    pub(in crate::ops) status: ContextStatus,
}

pack_fields!(ResponseLocation { turn, status });

/// The locations of the responses of all files.
#[derive(Debug, Default)]
pub(in crate::ops) struct ResponseLocations {
    /// The locations by file and by index of the response in it.
    files: Vec<Vec<ResponseLocation>>,
    pub(in crate::ops) failures: Vec<Error>,
    pub(in crate::ops) warning: Option<CacheWarning>,
}

impl ResponseLocations {
    /// Computes the locations of all responses, from the cache if possible.
    pub(in crate::ops) fn read(
        files: &[SessionFile],
        roots: &Roots,
        cache: Option<&CacheDir>,
    ) -> ResponseLocations {
        let (results, warning) =
            PerFileCache::new(cache, roots, CacheKind::UsageLocations, files).read_all(read_locations);
        let mut all = ResponseLocations { warning, ..ResponseLocations::default() };
        for result in results {
            all.files.push(result.unwrap_or_else(|failure| {
                all.failures.push(failure);
                Vec::new()
            }));
        }
        all
    }

    /// Returns the location of the response with an index in the file with an index. Returns `None` if it is unknown.
    pub(in crate::ops) fn get_at(&self, file_idx: usize, response_idx: usize) -> Option<ResponseLocation> {
        self.files.get(file_idx)?.get(response_idx).copied()
    }

    /// Returns the location of a response. It has no turn if the response was not found in its file. Returns `None` if the
    /// locations were not read.
    pub(in crate::ops) fn get(&self, response: &AttributedResponse<'_>) -> Option<ResponseLocation> {
        let status = if response.is_subagent { ContextStatus::Subagent } else { ContextStatus::Unlinked };
        let unknown = ResponseLocation { turn: None, status };
        // Files of subagents have no locations, and a file may have grown after its locations were read.
        let file = self.files.get(response.file_idx);
        file.map(|locations| locations.get(response.response_idx).copied().unwrap_or(unknown))
    }
}

/// Reads the locations of the responses of a file, in the order of its responses. The list is empty for a subagent file.
/// Also returns the number of bytes read.
fn read_locations(file: &SessionFile) -> Result<(Vec<ResponseLocation>, u64), Error> {
    if file.is_agent() {
        return Ok((Vec::new(), 0));
    }
    let mut collector = UsageCollector::default();
    let mut lines: Vec<(usize, Option<NodeId>)> = Vec::new();
    let mut node_count: NodeId = 0;
    let options = LoadOptions { search_title: false, ..LoadOptions::default() };
    let mut visitor = VisitFn(|entry: &Entry<'_>, _: LineSpan| {
        let node = entry.uuid.map(|_| node_count);
        node_count += NodeId::from(node.is_some());
        let response_idx = (!entry.has_flag(Flags::RECOVERED)).then(|| collector.add(entry)).flatten();
        lines.extend(response_idx.map(|response_idx| (response_idx, node)));
    });
    let session = load(&file.path, options, &mut visitor)?;
    let tree = &session.tree;
    let turns: HashMap<NodeId, u32> = tree.turn_starts().zip(1..).collect();
    let statuses = compute_context_statuses(&session, &session.active_path());
    let mut locations: Vec<ResponseLocation> = Vec::new();
    for (response_idx, node) in lines {
        if response_idx == locations.len() {
            locations.push(ResponseLocation { turn: None, status: ContextStatus::Unlinked });
        }
        let (Some(node), location) = (node, &mut locations[response_idx]) else { continue };
        let turn = || tree.turn_of(node).and_then(|turn| turns.get(&turn).copied());
        location.turn = location.turn.or_else(turn);
        // The client may load any line of a response. If a line was written twice, it loads the second one.
        if let Some(&status) = statuses.get(node as usize) {
            location.status = location.status.min(status.merge_orphaned());
        }
    }
    Ok((locations, session.bytes))
}
