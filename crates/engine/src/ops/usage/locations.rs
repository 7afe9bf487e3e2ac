//! In which turn responses were got, and whether the client would still load them.

use std::collections::HashMap;

use rethread_core::entry::Flags;
use rethread_core::pack::{Pack, Unpacker};
use rethread_core::tree::NodeId;
use rethread_core::usage::UsageCollector;

use super::group::Reach;
use super::store::AttributedResponse;
use crate::Error;
use crate::cache::{CacheDir, CacheWarning};
use crate::disk::{Roots, SessionFile};
use crate::session::load::load_alone;
use crate::session::match_context::whereabouts;
use crate::session::per_file_cache::PerFileCache;

/// Where a response stands in its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The number of its turn.
    pub(super) turn: Option<u32>,
    pub(super) reach: Reach,
}

const REACHES: [Reach; 5] =
    [Reach::Active, Reach::Compacted, Reach::Abandoned, Reach::Subagent, Reach::Outside];

impl Pack for Place {
    fn pack(&self, out: &mut Vec<u8>) {
        self.turn.pack(out);
        REACHES.iter().position(|reach| *reach == self.reach).unwrap_or_default().pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Place> {
        let turn = Pack::unpack(from)?;
        Some(Place { turn, reach: *REACHES.get(usize::unpack(from)?)? })
    }
}

/// The places of the charges of each file.
#[derive(Debug, Default)]
pub(super) struct ResponseLocations {
    files: Vec<Vec<Place>>,
    pub(super) failures: Vec<Error>,
    pub(super) notice: Option<CacheWarning>,
}

impl ResponseLocations {
    /// Reads the files of which no index knows.
    pub(super) fn of(files: &[SessionFile], roots: &Roots, index: Option<&CacheDir>) -> ResponseLocations {
        let (found, notice) = PerFileCache::new(index, roots, "places", files).all(read);
        let mut places = ResponseLocations { notice, ..ResponseLocations::default() };
        for found in found {
            places.files.push(found.unwrap_or_else(|failure| {
                places.failures.push(failure);
                Vec::new()
            }));
        }
        places
    }

    /// Returns where a response stands; none where nobody asked.
    pub(super) fn at(&self, booked: &AttributedResponse<'_>) -> Option<Place> {
        let reach = if booked.side { Reach::Subagent } else { Reach::Outside };
        let nowhere = Place { turn: None, reach };
        // Files of subagents are not looked at, and one that grew between two looks has more than it had.
        self.files.get(booked.file).map(|places| places.get(booked.no).copied().unwrap_or(nowhere))
    }
}

fn read(file: &SessionFile) -> Result<(Vec<Place>, u64), Error> {
    if file.is_agent() {
        return Ok((Vec::new(), 0));
    }
    let mut booking = UsageCollector::default();
    let mut lines: Vec<(usize, Option<NodeId>)> = Vec::new();
    let mut nodes: NodeId = 0;
    let session = load_alone(&file.path, |entry, _| {
        let node = entry.uuid.map(|_| nodes);
        nodes += NodeId::from(node.is_some());
        let no = (!entry.is(Flags::SALVAGED)).then(|| booking.add(entry)).flatten();
        lines.extend(no.map(|no| (no, node)));
    })?;
    let tree = &session.tree;
    let turns: HashMap<NodeId, u32> = tree.turns().zip(1..).collect();
    let reach = whereabouts(&session, &session.active());
    let mut places: Vec<Place> = Vec::new();
    for (no, node) in lines {
        if no == places.len() {
            places.push(Place { turn: None, reach: Reach::Outside });
        }
        let (Some(node), place) = (node, &mut places[no]) else { continue };
        let turn = || tree.turn_of(node).and_then(|turn| turns.get(&turn).copied());
        place.turn = place.turn.or_else(turn);
        // What is loaded of a response may be any of its lines: of those that are written twice, it is the second.
        if let Some(&at) = reach.get(node as usize) {
            place.reach = place.reach.min(at.into());
        }
    }
    Ok((places, session.bytes))
}
