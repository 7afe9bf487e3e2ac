//! How the entries of a session stand to what the client would load, and which turn they belong to.

use std::collections::HashMap;
use std::path::Path;

use rethread_core::query::ContextStatus as QueryStatus;
use rethread_core::session::{Title, TitleSource};
use rethread_core::tree::NodeId;
use rethread_core::{pack::Pack, pack_fields};

use crate::Error;
use crate::session::load::{Session, load_with_visitor};
use crate::session::match_context::{ContextStatus, whereabouts};

/// What the tree says of the entries of one file.
#[derive(Debug, Clone, Default)]
pub(super) struct Labels {
    /// What the session is called, and from where that is known.
    title: (String, u64),
    /// The folder it was started in.
    pub(super) folder: String,
    /// Where entries begin, in order, each as far behind the one before as it says.
    offsets: Vec<u64>,
    /// The turn of each, 0 for none, and how it stands.
    standings: Vec<(u32, u64)>,
    /// Names of files with large results, and where the entry begins that names each.
    results: Vec<(String, u64)>,
    /// What the files beside it looked like, where the title may stand in one of them.
    pub(super) beside: Option<u64>,
}

pack_fields!(Labels { title, folder, offsets, standings, results, beside });

const RESULTS: &str = "tool-results/";
const SOURCES: [TitleSource; 5] =
    [TitleSource::Custom, TitleSource::Ai, TitleSource::Summary, TitleSource::Prompt, TitleSource::None];
const STANDINGS: [ContextStatus; 6] = [
    ContextStatus::Active,
    ContextStatus::Compacted,
    ContextStatus::Aside,
    ContextStatus::Island,
    ContextStatus::Agent,
    ContextStatus::Outside,
];

impl Labels {
    /// Reads a file; `beside` says what the files beside it look like.
    pub(super) fn of(path: &Path, beside: impl FnOnce() -> u64) -> Result<Labels, Error> {
        let finder = memchr::memmem::Finder::new(RESULTS);
        let mut results = HashMap::new();
        let session = load_with_visitor(path, |entry, place| {
            for at in finder.find_iter(entry.raw) {
                let rest = &entry.raw[at + RESULTS.len()..];
                let name = rest.iter().take_while(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b));
                let name: String = name.map(|&byte| char::from(byte)).collect();
                results.entry(name).or_insert(place.offset);
            }
        })?;
        let mut results: Vec<(String, u64)> = results.into_iter().collect();
        results.sort();
        let beside = session.may_be_called_elsewhere().then(beside);
        Ok(Labels { results, beside, ..Labels::told(&session) })
    }

    fn told(session: &Session) -> Labels {
        let tree = &session.tree;
        let turns: HashMap<NodeId, u32> = tree.turns().zip(1..).collect();
        let standing = whereabouts(session, &session.active());
        let turn = |no: NodeId| tree.turn_of(no).and_then(|turn| turns.get(&turn).copied());
        let mut entries: Vec<(u64, (u32, u64))> = tree
            .nodes()
            .iter()
            .zip(0..)
            .map(|(node, no)| {
                let standing = STANDINGS.iter().position(|known| *known == standing[no as usize]);
                (node.place.offset, (turn(no).unwrap_or_default(), standing.unwrap_or_default() as u64))
            })
            .collect();
        entries.sort_unstable();
        let mut before = 0;
        let mut labels = Labels {
            folder: session.sketch.cwd.clone().unwrap_or_default(),
            title: (
                session.title.text.clone(),
                SOURCES.iter().position(|known| *known == session.title.source).unwrap_or_default() as u64,
            ),
            ..Labels::default()
        };
        for (offset, told) in entries {
            labels.offsets.push(offset - before);
            labels.standings.push(told);
            before = offset;
        }
        labels
    }

    /// Returns what the session is called.
    pub(super) fn title(&self) -> Title {
        let source = SOURCES.get(self.title.1 as usize).copied().unwrap_or(TitleSource::None);
        Title { text: self.title.0.clone(), source }
    }

    /// Returns the turn of the entry at a place, and how it stands.
    pub(super) fn at(&self, offset: u64) -> (Option<u32>, ContextStatus) {
        let mut at = 0;
        let found = self.offsets.iter().position(|step| {
            at += step;
            at >= offset
        });
        let told = found.filter(|_| at == offset).and_then(|no| self.standings.get(no));
        told.map_or((None, ContextStatus::Outside), |&(turn, standing)| {
            let standing = STANDINGS.get(standing as usize).copied().unwrap_or(ContextStatus::Outside);
            ((turn > 0).then_some(turn), standing)
        })
    }

    /// Returns where the entry begins that names a file with a large result.
    pub(super) fn result(&self, name: &str) -> Option<u64> {
        self.results.iter().find(|(known, _)| known == name).map(|(_, offset)| *offset)
    }

    /// Packs it to be kept.
    pub(super) fn blob(&self) -> Vec<u8> {
        self.packed()
    }
}

/// Says what a query calls it.
pub(super) fn label(standing: ContextStatus) -> Option<QueryStatus> {
    match standing {
        ContextStatus::Active => Some(QueryStatus::Active),
        ContextStatus::Compacted => Some(QueryStatus::Compacted),
        ContextStatus::Aside | ContextStatus::Island => Some(QueryStatus::Abandoned),
        ContextStatus::Agent => Some(QueryStatus::Subagent),
        ContextStatus::Outside => None,
    }
}
