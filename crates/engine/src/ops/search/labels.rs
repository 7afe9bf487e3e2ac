//! How the entries of a session stand to what the client would load, and which turn they belong to.

use std::collections::HashMap;
use std::path::Path;

use rethread_core::query::Label;
use rethread_core::tree::NodeNo;

use super::super::around::{Whereabouts, whereabouts};
use super::super::load::{Head, Session, load_seeing};
use crate::Failure;

/// What the tree says of the entries of one file.
#[derive(Debug, Clone, Default)]
pub(super) struct Labels {
    /// What the session is called.
    pub(super) head: Option<Head>,
    /// By where an entry begins: its turn, and how it stands.
    entries: HashMap<u64, (Option<u32>, Whereabouts)>,
    /// By the name of a file with a large result: the entry that names it.
    results: HashMap<String, u64>,
}

const RESULTS: &str = "tool-results/";

impl Labels {
    /// Reads a file.
    pub(super) fn of(path: &Path) -> Result<Labels, Failure> {
        let finder = memchr::memmem::Finder::new(RESULTS);
        let mut results = HashMap::new();
        let session = load_seeing(path, |entry, place| {
            for at in finder.find_iter(entry.raw) {
                let rest = &entry.raw[at + RESULTS.len()..];
                let name = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b));
                let name: String = name.map(|&byte| char::from(byte)).collect();
                results.entry(name).or_insert(place.offset);
            }
        })?;
        Ok(Labels { head: Some(session.head()), entries: entries(&session), results })
    }

    /// Returns the turn of the entry at a place, and how it stands.
    pub(super) fn at(&self, offset: u64) -> (Option<u32>, Whereabouts) {
        self.entries.get(&offset).copied().unwrap_or((None, Whereabouts::Outside))
    }

    /// Returns where the entry begins that names a file with a large result.
    pub(super) fn result(&self, name: &str) -> Option<u64> {
        self.results.get(name).copied()
    }
}

fn entries(session: &Session) -> HashMap<u64, (Option<u32>, Whereabouts)> {
    let tree = &session.tree;
    let turns: HashMap<NodeNo, u32> = tree.turns().zip(1..).collect();
    let standing = whereabouts(session, &session.active());
    let nodes = tree.nodes().iter().zip(0..);
    let turn = |no: NodeNo| tree.turn_of(no).and_then(|turn| turns.get(&turn).copied());
    nodes.map(|(node, no)| (node.place.offset, (turn(no), standing[no as usize]))).collect()
}

/// Says what a query calls it.
pub(super) fn label(standing: Whereabouts) -> Option<Label> {
    match standing {
        Whereabouts::Active => Some(Label::Active),
        Whereabouts::Compacted => Some(Label::Compacted),
        Whereabouts::Aside | Whereabouts::Island => Some(Label::Abandoned),
        Whereabouts::Agent => Some(Label::Subagent),
        Whereabouts::Outside => None,
    }
}
