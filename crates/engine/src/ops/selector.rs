//! Resolves the name of an entry from which the user wants to resume.

use rethread_core::query::{Hit, Needle};
use rethread_core::tree::NodeId;

use super::find::{EntryMatch, FindRequest, find_matches};
use crate::Error;
use crate::edit::edit_session::EditSession;
use crate::session::load::Session;

/// The maximum number of entries that an ambiguity error lists.
const MAX_CANDIDATES: usize = 12;

/// The name of an entry.
#[derive(Debug, Clone, Default)]
pub struct EntrySelector {
    /// A line (`L118`), a turn (`t9`: its last entry), a uuid or the start of one, or text of the entry.
    pub name: String,
    /// Select the parent of the named entry instead. For a turn, the parent of its first entry.
    pub before: bool,
    /// Do not search for the name as text.
    pub exact: bool,
}

/// Finds the entry to resume from: the selected one, or its nearest ancestor of a type that clients load.
///
/// Returns an error if no entry matches, several match, or the entry belongs to a subagent.
pub(crate) fn resolve_entry(source: &EditSession, selector: &EntrySelector) -> Result<NodeId, Error> {
    let session = &source.session;
    let mut id = match session.find_turn_boundary(&selector.name, selector.before) {
        Some(id) => id,
        None => session
            .find_entry(&selector.name)
            .or_else(|unknown| find_entry_by_text(session, selector).unwrap_or(Err(unknown)))?,
    };
    if selector.before {
        let parent = session.tree.node(id).parent();
        id = parent.ok_or_else(|| Error::NothingBefore { name: selector.name.clone() })?;
    }
    session.find_nearest_loaded(id).ok_or_else(|| Error::NotAResumePoint { name: selector.name.clone() })
}

/// Finds the only entry that contains the name as text. Returns `None` if there is none, or if texts are not searched.
/// Returns an error if several entries match or the file cannot be read.
fn find_entry_by_text(session: &Session, selector: &EntrySelector) -> Option<Result<NodeId, Error>> {
    let text = Some(selector.name.as_str()).filter(|text| !selector.exact && !text.trim().is_empty())?;
    let request = FindRequest {
        path: session.path.clone(),
        needle: Needle::smart_case(text),
        sources: Vec::new(),
        all: false,
        max_ancestors: 0,
        max_children: 0,
    };
    let results = match find_matches(&request) {
        Ok(results) => results,
        Err(error) => return Some(Err(error)),
    };
    let mut matches = Vec::new();
    for result in results {
        match result {
            Ok(entry_match) => matches.push(entry_match),
            Err(error) => return Some(Err(error)),
        }
    }
    match &matches[..] {
        [] => None,
        [only] => Some(session.find_entry(&format!("L{}", only.line))),
        several => {
            let candidates = several.iter().take(MAX_CANDIDATES).map(describe_match).collect();
            let name = text.to_owned();
            Some(Err(Error::AmbiguousEntry { name, count: several.len(), candidates }))
        }
    }
}

/// Returns the handle of an entry and its first match with the text around it.
fn describe_match(entry_match: &EntryMatch) -> (String, String) {
    let text = |hit: &Hit| format!("{}{}{}", hit.before, hit.matched, hit.after);
    (format!("L{}", entry_match.line), entry_match.matches.hits.first().map(text).unwrap_or_default())
}

impl Session {
    /// Returns the last message of a turn, or its first entry if `at_start` is set. Returns `None` if `name` is not the
    /// number of an existing turn, such as `t9`.
    fn find_turn_boundary(&self, name: &str, at_start: bool) -> Option<NodeId> {
        let number = name.strip_prefix(['t', 'T'])?.parse::<usize>().ok()?;
        let turn = self.tree.turn_starts().nth(number.checked_sub(1)?)?;
        if at_start {
            return Some(turn);
        }
        Some(self.tree.last_message_of_turn(turn))
    }

    /// Returns the entry itself or its nearest ancestor of a type that clients load. Returns `None` in a subagent, or if
    /// there is none.
    fn find_nearest_loaded(&self, id: NodeId) -> Option<NodeId> {
        let is_loaded = |id: NodeId| self.tree.node(id).kind.is_loaded_by_clients();
        let mut nearest = Some(id);
        while let Some(id) = nearest.filter(|&id| !is_loaded(id)) {
            nearest = self.tree.node(id).parent();
        }
        nearest
            .map(|id| self.tree.find_uuid(self.tree.node(id).uuid).unwrap_or(id))
            .filter(|&id| !self.tree.node(id).is_sidechain())
    }
}
