//! Where two paths part.

use crate::entry::{BlockKind, Entry, EntryRole, JsonStr};
use crate::id::{Id, IdMap};
use crate::tree::{NodeId, Tree};
use crate::turn::words;

/// What is known of an entry of a path, to find it on another.
#[derive(Debug, Clone, Copy)]
pub struct EntryFingerprint {
    /// Which entry of its file.
    pub node: NodeId,
    /// Its uuid.
    pub id: Id,
    /// The response it is a part of.
    pub message: Option<Id>,
    /// What it says, where nothing better tells it apart.
    pub words: Option<Id>,
    /// Whether it is part of the talk and not only of its recording.
    pub speaks: bool,
}

/// What tells that two paths begin as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchBasis {
    /// Entries with the same uuid.
    Uuid,
    /// Responses with the same id; the uuids were changed.
    Message,
    /// The same words from the beginning on.
    Words,
    /// Nothing: they have no entry in common.
    Nothing,
}

/// How far two paths are one.
#[derive(Debug, Clone)]
pub struct MergeBase {
    /// What tells.
    pub by: MatchBasis,
    /// The last common entry, by its place on each path.
    pub last: Option<(usize, usize)>,
    /// For each mark of either path, whether it is common.
    pub common: [Vec<bool>; 2],
}

impl EntryFingerprint {
    /// Marks an entry by what its tree knows.
    pub fn of(tree: &Tree, node: NodeId) -> EntryFingerprint {
        let known = tree.node(node);
        let voice = known.voice;
        let talk = voice.starts_turn()
            || matches!(
                voice,
                EntryRole::ImageOnly | EntryRole::Answer | EntryRole::Results | EntryRole::CompactSummary
            );
        let message = tree.message_of(node).map(|message| tree.message_ids()[message as usize]);
        EntryFingerprint { node, id: known.id, message, words: None, speaks: talk }
    }

    /// Adds what the entry says.
    pub fn read(&mut self, entry: &Entry<'_>) {
        let said = words(entry);
        let call = || entry.blocks().iter().find(|block| block.kind == BlockKind::ToolResult)?.id;
        self.words = if said.is_empty() { call().map(JsonStr::id) } else { Some(Id::of(said.as_bytes())) };
    }
}

/// Finds the last entry that two paths have in common.
///
/// By uuid, else by response; then also what follows it in the same words, because the copy of a prompt without an answer
/// has nothing else that tells. Marks need words only where no uuid is shared.
pub fn find_merge_base(a: &[EntryFingerprint], b: &[EntryFingerprint]) -> MergeBase {
    let index = |key: fn(&EntryFingerprint) -> Option<Id>| -> IdMap<usize> {
        b.iter().enumerate().filter_map(|(k, mark)| Some((key(mark)?, k))).collect()
    };
    let ids = index(|mark| Some(mark.id));
    let messages = index(|mark| mark.message);
    let twin = |mark: &EntryFingerprint| ids.get(&mark.id).or_else(|| messages.get(&mark.message?)).copied();
    let shares_uuid = a.iter().any(|mark| mark.speaks && ids.contains_key(&mark.id));
    let last_twin = a.iter().enumerate().rev().filter(|(_, mark)| mark.speaks);
    let mut last = last_twin.into_iter().find_map(|(k, mark)| Some((k, twin(mark)?)));
    let mut by = match last {
        Some(_) if shares_uuid => MatchBasis::Uuid,
        Some(_) => MatchBasis::Message,
        None => MatchBasis::Nothing,
    };
    if !shares_uuid {
        let followed = follow(a, b, last);
        if by == MatchBasis::Nothing && followed.is_some() {
            by = MatchBasis::Words;
        }
        last = followed.or(last);
    }
    let flags = |path: &[EntryFingerprint],
                 until: Option<usize>,
                 known: &dyn Fn(&EntryFingerprint) -> bool|
     -> Vec<bool> {
        let before = |k: usize| until.is_some_and(|until| k <= until);
        path.iter().enumerate().map(|(k, mark)| before(k) || known(mark)).collect()
    };
    let in_a: IdMap<()> = a.iter().map(|mark| (mark.id, ())).collect();
    let common = [
        flags(a, last.map(|last| last.0), &|mark| ids.contains_key(&mark.id)),
        flags(b, last.map(|last| last.1), &|mark| in_a.contains_key(&mark.id)),
    ];
    MergeBase { by, last, common }
}

/// Goes on behind the last common entry as long as both say the same.
fn follow(
    a: &[EntryFingerprint],
    b: &[EntryFingerprint],
    last: Option<(usize, usize)>,
) -> Option<(usize, usize)> {
    let next = |path: &[EntryFingerprint], from: usize| (from..path.len()).find(|&k| path[k].speaks);
    let (mut from, mut found) = (last.map_or((0, 0), |(x, y)| (x + 1, y + 1)), None);
    while let (Some(x), Some(y)) = (next(a, from.0), next(b, from.1)) {
        let same = a[x].message.is_none() && b[y].message.is_none() && a[x].words == b[y].words;
        if !same || a[x].words.is_none() {
            break;
        }
        found = Some((x, y));
        from = (x + 1, y + 1);
    }
    found
}
