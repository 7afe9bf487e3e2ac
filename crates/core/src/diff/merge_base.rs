//! Finds the last common entry of two paths.

use crate::entry::{BlockKind, Entry, EntryRole, JsonStr};
use crate::id::{Id, IdMap};
use crate::tree::{NodeId, Tree};
use crate::turn::entry_text;

/// The data of an entry that identifies it on another path.
#[derive(Debug, Clone, Copy)]
pub struct EntryFingerprint {
    /// The node of the entry in its file.
    pub node: NodeId,
    /// The uuid of the entry.
    pub uuid: Id,
    /// The message id of its response. `None` for other entries.
    pub message_id: Option<Id>,
    /// A hash of its text, or the id of the call of its first tool result if it has no text. `None` before `add_text`, and
    /// if it has neither.
    pub text_id: Option<Id>,
    /// Whether the entry is part of the conversation, not only of its recording.
    pub is_conversation: bool,
}

/// The evidence by which two paths have a common part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchBasis {
    /// Entries with the same uuid.
    Uuid,
    /// Responses with the same id; the uuids differ.
    Message,
    /// The same texts from the start.
    Text,
    /// The paths have no entry in common.
    NoMatch,
}

/// The common part of two paths.
#[derive(Debug, Clone)]
pub struct MergeBase {
    /// The evidence by which the paths have a common part.
    pub basis: MatchBasis,
    /// The index of the last common entry on the first and on the second path. `None` if there is none.
    pub last: Option<(usize, usize)>,
    /// For each entry of the first and of the second path, whether it is common.
    pub common: [Vec<bool>; 2],
}

impl EntryFingerprint {
    /// Creates the fingerprint of a node, without a hash of its text.
    pub fn new(tree: &Tree, node: NodeId) -> EntryFingerprint {
        let tree_node = tree.node(node);
        let role = tree_node.role;
        let is_conversation = role.starts_turn()
            || matches!(
                role,
                EntryRole::ImageOnly | EntryRole::Answer | EntryRole::Results | EntryRole::CompactSummary
            );
        let message = tree.message_of(node).map(|message| tree.message_ids()[message as usize]);
        EntryFingerprint { node, uuid: tree_node.uuid, message_id: message, text_id: None, is_conversation }
    }

    /// Sets `text_id` from the text of the entry.
    pub fn add_text(&mut self, entry: &Entry<'_>) {
        let text = entry_text(entry);
        let call = || entry.blocks().iter().find(|block| block.kind == BlockKind::ToolResult)?.id;
        self.text_id =
            if text.is_empty() { call().map(JsonStr::to_id) } else { Some(Id::from_text(text.as_bytes())) };
    }
}

/// Finds the last entry that two paths have in common.
///
/// Matches by uuid, else by response. If no uuid is shared, extends the common part over entries with the same text,
/// because the copy of a prompt without a response has no other identity. Texts are needed only in that case.
pub fn find_merge_base(a: &[EntryFingerprint], b: &[EntryFingerprint]) -> MergeBase {
    let index_by = |key: fn(&EntryFingerprint) -> Option<Id>| -> IdMap<usize> {
        b.iter().enumerate().filter_map(|(idx, entry)| Some((key(entry)?, idx))).collect()
    };
    let ids = index_by(|entry| Some(entry.uuid));
    let messages = index_by(|entry| entry.message_id);
    let find_match =
        |entry: &EntryFingerprint| ids.get(&entry.uuid).or_else(|| messages.get(&entry.message_id?)).copied();
    let shares_uuid = a.iter().any(|entry| entry.is_conversation && ids.contains_key(&entry.uuid));
    let candidates = a.iter().enumerate().rev().filter(|(_, entry)| entry.is_conversation);
    let mut last = candidates.into_iter().find_map(|(idx, entry)| Some((idx, find_match(entry)?)));
    let mut basis = match last {
        Some(_) if shares_uuid => MatchBasis::Uuid,
        Some(_) => MatchBasis::Message,
        None => MatchBasis::NoMatch,
    };
    if !shares_uuid {
        let extended = extend_by_text(a, b, last);
        if basis == MatchBasis::NoMatch && extended.is_some() {
            basis = MatchBasis::Text;
        }
        last = extended.or(last);
    }
    let mark_common = |path: &[EntryFingerprint],
                       until: Option<usize>,
                       is_shared: &dyn Fn(&EntryFingerprint) -> bool|
     -> Vec<bool> {
        let before = |idx: usize| until.is_some_and(|until| idx <= until);
        path.iter().enumerate().map(|(idx, entry)| before(idx) || is_shared(entry)).collect()
    };
    let ids_of_a: IdMap<()> = a.iter().map(|entry| (entry.uuid, ())).collect();
    let common = [
        mark_common(a, last.map(|last| last.0), &|entry| ids.contains_key(&entry.uuid)),
        mark_common(b, last.map(|last| last.1), &|entry| ids_of_a.contains_key(&entry.uuid)),
    ];
    MergeBase { basis, last, common }
}

/// Extends the common part after `last` as long as the next conversation entries have the same text and no message id.
///
/// Returns the indices of the new last common entry on both paths. Returns `None` if the common part does not grow.
fn extend_by_text(
    a: &[EntryFingerprint],
    b: &[EntryFingerprint],
    last: Option<(usize, usize)>,
) -> Option<(usize, usize)> {
    let next =
        |path: &[EntryFingerprint], from: usize| (from..path.len()).find(|&idx| path[idx].is_conversation);
    let (mut from, mut end) = (last.map_or((0, 0), |(x, y)| (x + 1, y + 1)), None);
    while let (Some(x), Some(y)) = (next(a, from.0), next(b, from.1)) {
        let is_same = a[x].message_id.is_none() && b[y].message_id.is_none() && a[x].text_id == b[y].text_id;
        if !is_same || a[x].text_id.is_none() {
            break;
        }
        end = Some((x, y));
        from = (x + 1, y + 1);
    }
    end
}
