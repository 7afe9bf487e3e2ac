//! From what goes to the lines of the copy: what leaves with it, what changes, and who hangs on whom.

use super::boundary::amended;
use super::count::lowered;
use super::input::TrimInput;
use super::inventory::BlockClass;
use super::options::TrimOptions;
use super::removals::Removals;
use super::savings::{RemovalCause, SavingsByCause};
use super::stub;
use crate::edit::{DraftSegment, JsonEdit, PathSegment, quote};
use crate::entry::Timestamp;
use crate::resume::PICTURE;
use crate::tree::{LineSpan, NodeId};

/// The lines of a copy.
#[derive(Debug)]
pub struct TrimmedPath {
    /// The entries that stay, in the order of the file, and what changes in each.
    pub lines: Vec<(NodeId, Vec<JsonEdit>)>,
    /// The entry to go on from; nothing where all of the way went.
    pub leaf: Option<NodeId>,
    /// What went.
    pub ledger: SavingsByCause,
    /// Where a note stands that tells of turns that went.
    pub note: Option<NotePlace>,
}

/// Where a note stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotePlace {
    /// The number of lines before it.
    pub at: usize,
    /// The uuid of the entry it hangs on.
    pub parent: Option<String>,
    /// When the last of what went was said.
    pub time: Option<Timestamp>,
    /// The first and the last line of the original that went.
    pub lines: (u32, u32),
    /// How many turns went.
    pub turns: u32,
}

impl TrimmedPath {
    /// Leaves out what is wanted; reads single lines again where their text decides what changes.
    pub fn by<E>(
        scene: &TrimInput<'_>,
        trim: &TrimOptions,
        read: impl FnMut(LineSpan) -> Result<Vec<u8>, E>,
    ) -> Result<TrimmedPath, E> {
        TrimmedPath::of(scene, Removals::by(scene, trim), None, read)
    }

    /// Leaves out what was chosen; what hung on turns that went hangs on the note with this uuid, where there is one.
    pub(super) fn of<E>(
        scene: &TrimInput<'_>,
        choice: Removals,
        note: Option<&str>,
        mut read: impl FnMut(LineSpan) -> Result<Vec<u8>, E>,
    ) -> Result<TrimmedPath, E> {
        let settled = RemovalPlan::of(scene, choice);
        let mut cut = settled.cut(note);
        let changes = settled.rewritten_lines(&mut read)?;
        for (no, more) in changes {
            if let Ok(at) = cut.lines.binary_search_by_key(&no, |(no, _)| *no) {
                cut.lines[at].1.extend(more);
            }
        }
        Ok(cut)
    }

    /// Writes the lines as parts of a draft; `note` is the line of the note, where there is one.
    pub fn pieces(self, place: impl Fn(NodeId) -> LineSpan, note: Option<Vec<u8>>) -> Vec<DraftSegment> {
        let line = |(no, changes): (NodeId, Vec<JsonEdit>)| DraftSegment::Line(place(no), changes);
        let mut pieces: Vec<DraftSegment> = self.lines.into_iter().map(line).collect();
        if let (Some(place), Some(note)) = (self.note, note) {
            pieces.insert(place.at.min(pieces.len()), DraftSegment::New(note));
        }
        pieces
    }
}

/// A choice with all that follows from it.
pub(super) struct RemovalPlan<'s, 'a> {
    scene: &'s TrimInput<'a>,
    choice: Removals,
    /// By response: whether it lost a call.
    lost_calls: Vec<bool>,
    pub(super) ledger: SavingsByCause,
    /// The last answer with a count of its context, and the count that is right now.
    count: Option<(NodeId, u64)>,
    /// By entry that goes: what stays above it, and whether turns went between.
    heirs: Vec<Option<(NodeId, bool)>>,
}

/// Stands for "no entry".
const NONE: NodeId = NodeId::MAX;

impl<'s, 'a> RemovalPlan<'s, 'a> {
    pub(super) fn of(scene: &'s TrimInput<'a>, choice: Removals) -> RemovalPlan<'s, 'a> {
        let poorer = vec![false; scene.tree.messages()];
        let (ledger, heirs) = (SavingsByCause::default(), Vec::new());
        let mut settled = RemovalPlan { scene, choice, lost_calls: poorer, ledger, count: None, heirs };
        settled.pair();
        settled.empty();
        settled.find_heirs();
        settled.account();
        settled
    }

    fn call(&self, piece: usize) -> Option<u32> {
        match self.scene.survey.piece(piece).sort {
            BlockClass::Call(call) | BlockClass::Result(call, _) | BlockClass::Hosted(call) => Some(call),
            _ => None,
        }
    }

    /// Takes the other halves of the calls and results that go, and notes which answers lost a call.
    fn pair(&mut self) {
        for &no in self.scene.way {
            if let Some(cause) = self.choice.lines[no as usize] {
                for piece in self.scene.survey.range(no) {
                    if let Some(call) = self.call(piece) {
                        self.choice.calls[call as usize].get_or_insert(cause);
                    }
                }
            }
        }
        for &no in self.scene.way {
            let lost =
                |piece| self.call(piece).is_some_and(|call| self.choice.calls[call as usize].is_some());
            if let Some(message) = self.scene.tree.message_of(no)
                && self.scene.survey.range(no).any(lost)
            {
                self.lost_calls[message as usize] = true;
            }
        }
    }

    /// Says why a block goes.
    fn removed(&self, no: NodeId, piece: usize) -> Option<RemovalCause> {
        let sort = self.scene.survey.piece(piece).sort;
        match sort {
            BlockClass::Call(call) | BlockClass::Result(call, _) | BlockClass::Hosted(call) => {
                self.choice.calls[call as usize]
            }
            // Thinking is signed for an answer as it was: it does not outlive a call of it, nor do the blanks between.
            BlockClass::Thinking | BlockClass::Blank => {
                let message = self.scene.tree.message_of(no);
                let poorer = message.is_some_and(|message| self.lost_calls[message as usize]);
                let chosen = self.choice.pieces[piece].filter(|_| sort == BlockClass::Thinking);
                chosen.or(poorer.then_some(RemovalCause::Tools))
            }
            _ => None,
        }
    }

    /// Takes the lines that are left without a block, and those that only blanks are left of.
    fn empty(&mut self) {
        for &no in self.scene.way {
            if self.choice.lines[no as usize].is_some() {
                continue;
            }
            let range = self.scene.survey.range(no);
            let stays = |piece: usize| {
                self.removed(no, piece).is_none() && self.scene.survey.piece(piece).sort != BlockClass::Blank
            };
            let largest = range
                .clone()
                .filter_map(|piece| Some((self.scene.survey.piece(piece).len, self.removed(no, piece)?)))
                .max_by_key(|(len, _)| *len);
            if let Some((_, cause)) = largest
                && !range.clone().any(stays)
            {
                self.choice.lines[no as usize] = Some(cause);
            }
        }
    }

    pub(super) fn stays(&self, no: NodeId) -> bool {
        self.scene.holds(no) && self.choice.lines[no as usize].is_none()
    }

    /// Writes what stands for a block.
    fn stub(&self, no: NodeId, piece: usize) -> Option<String> {
        let line = self.scene.tree.node(no).place.line;
        let held = self.scene.survey.piece(piece);
        let session = self.scene.session;
        match (held.sort, self.choice.pieces[piece]?) {
            (BlockClass::Result(..), RemovalCause::Reads) => Some(stub::read(held.len, session, line)),
            (BlockClass::Result(..), _) => Some(stub::result(held.len, session, line)),
            (BlockClass::Picture, _) => Some(stub::picture(held.len, session, line)),
            _ => None,
        }
    }

    /// Adds up what went, in the order of telling, and finds the count that no longer holds.
    fn account(&mut self) {
        let mut ledger = SavingsByCause::default();
        let (mut gone, mut left) = (0, 0);
        for &no in &self.scene.told {
            let before = ledger.total().said;
            if let Some(cause) = self.choice.lines[no as usize] {
                let calls =
                    |piece: &usize| matches!(self.scene.survey.piece(*piece).sort, BlockClass::Call(_));
                let count = match cause {
                    RemovalCause::Turns => 0,
                    RemovalCause::Tools => self.scene.survey.range(no).filter(calls).count() as u64,
                    _ => 1,
                };
                let bytes = u64::from(self.scene.tree.node(no).place.len) + 1;
                let said = if self.scene.is_sent(no) { self.scene.facts.bytes(no) } else { 0 };
                ledger.add(cause, count, bytes, said);
            } else {
                self.account_blocks(no, &mut ledger);
            }
            if !self.scene.is_sent(no) {
                continue;
            }
            let went = ledger.total().said - before;
            gone += went;
            left += self.scene.facts.bytes(no).saturating_sub(went);
            if let (true, Some(count)) = (self.stays(no), self.scene.facts.context(no)) {
                let now = count.saturating_sub(gone / 4).max(left / 4).min(count);
                self.count = (now < count).then_some((no, now));
            }
        }
        let turns: std::collections::BTreeSet<u32> = self.turns_gone().collect();
        ledger.add(RemovalCause::Turns, turns.len() as u64, 0, 0);
        self.ledger = ledger;
    }

    fn turns_gone(&self) -> impl Iterator<Item = u32> + '_ {
        let gone = |no: &NodeId| self.choice.lines[*no as usize] == Some(RemovalCause::Turns);
        self.scene.way.iter().copied().filter(gone).map(|no| self.scene.turn(no))
    }

    fn account_blocks(&self, no: NodeId, ledger: &mut SavingsByCause) {
        let sent = u64::from(self.scene.is_sent(no));
        let mut twin = Some(u64::from(self.scene.survey.tool_use_result_len(no)));
        for piece in self.scene.survey.range(no) {
            let held = self.scene.survey.piece(piece);
            let (len, said) = (u64::from(held.len), u64::from(held.said));
            let twin = if matches!(held.sort, BlockClass::Result(..)) { &mut twin } else { &mut None };
            if let Some(cause) = self.removed(no, piece) {
                let count =
                    u64::from(cause != RemovalCause::Tools || matches!(held.sort, BlockClass::Call(_)));
                ledger.add(cause, count, len + 1 + twin.take().unwrap_or(0), said * sent);
            } else if let (Some(stub), Some(cause)) = (self.stub(no, piece), self.choice.pieces[piece]) {
                let stub = stub.len() as u64;
                let bytes = len.saturating_sub(stub) + twin.take().unwrap_or(0);
                ledger.add(cause, 1, bytes, said.saturating_sub(stub) * sent);
            } else if self.choice.inside[piece] {
                let inside = self.scene.survey.inside(piece);
                let bytes: u64 = inside.iter().map(|inner| u64::from(inner.len)).sum();
                let said = (PICTURE * inside.len()) as u64;
                ledger.add(
                    RemovalCause::Images,
                    inside.len() as u64,
                    bytes + twin.take().unwrap_or(0),
                    said * sent,
                );
            }
        }
    }

    /// Finds for each entry that goes what stays above it, and whether turns went between.
    fn find_heirs(&mut self) {
        let mut heirs: Vec<Option<(NodeId, bool)>> = vec![None; self.scene.tree.nodes().len()];
        let mut climbed = Vec::new();
        for &no in self.scene.way.iter().filter(|&&no| !self.stays(no)) {
            let mut at = Some(no);
            while let Some(here) = at.filter(|&here| self.scene.holds(here) && !self.stays(here))
                && heirs[here as usize].is_none()
            {
                // Set while the climb is on, so that a cycle ends it.
                heirs[here as usize] = Some((NONE, false));
                climbed.push(here);
                at = self.scene.parent(here);
            }
            let found = at.filter(|&at| self.scene.holds(at)).map(|at| (at, self.stays(at)));
            let (heir, mut turns) = match found {
                Some((at, true)) => (at, false),
                Some((at, false)) => heirs[at as usize].unwrap_or((NONE, false)),
                None => (NONE, false),
            };
            for gone in climbed.drain(..).rev() {
                turns |= self.choice.lines[gone as usize] == Some(RemovalCause::Turns);
                heirs[gone as usize] = Some((heir, turns));
            }
        }
        self.heirs = heirs;
    }

    /// Returns what stays above an entry that goes, and whether turns went between.
    fn surviving_ancestor(&self, gone: NodeId) -> (Option<NodeId>, bool) {
        let (heir, turns) = self.heirs[gone as usize].unwrap_or((NONE, false));
        (Some(heir).filter(|&heir| heir != NONE), turns)
    }

    fn uuid(&self, no: NodeId) -> String {
        self.scene.survey.uuid(self.scene.tree.node(no).id)
    }

    /// Says on whom a line hangs now, where what it hung on went.
    fn reparent(&self, no: NodeId, note: Option<&str>) -> (Option<JsonEdit>, bool) {
        let gone = |parent: &NodeId| self.scene.holds(*parent) && !self.stays(*parent);
        let Some(parent) = self.scene.parent(no).filter(gone) else {
            return (None, false);
        };
        let (above, turns) = self.surviving_ancestor(parent);
        let name = match note.filter(|_| turns) {
            Some(note) => Some(note.to_owned()),
            None => above.map(|above| self.uuid(above)),
        };
        let json = name.map_or_else(|| "null".to_owned(), |name| quote(&name));
        (Some(JsonEdit::set([PathSegment::from("parentUuid")], json)), turns)
    }

    fn cut(&self, note: Option<&str>) -> TrimmedPath {
        let mut lines = Vec::new();
        let mut place: Option<NotePlace> = None;
        for &no in self.scene.way.iter().filter(|&&no| self.stays(no)) {
            let mut changes = self.changes(no);
            let (rehung, turns) = self.reparent(no, note);
            if turns && note.is_some() && place.is_none() {
                place = Some(self.note_place(no, lines.len()));
            }
            changes.extend(rehung);
            changes.extend(self.logical(no));
            lines.push((no, changes));
        }
        let leaf = Some(self.scene.leaf).filter(|&leaf| self.stays(leaf));
        let leaf = leaf.or_else(|| self.surviving_ancestor(self.scene.leaf).0);
        TrimmedPath { lines, leaf, ledger: self.ledger.clone(), note: place }
    }

    fn note_place(&self, first: NodeId, at: usize) -> NotePlace {
        let gone: Vec<NodeId> = self
            .scene
            .way
            .iter()
            .copied()
            .filter(|&no| self.choice.lines[no as usize] == Some(RemovalCause::Turns))
            .collect();
        let above = self.scene.parent(first).and_then(|parent| self.surviving_ancestor(parent).0);
        let line = |no: Option<&NodeId>| no.map_or(0, |&no| self.scene.tree.node(no).place.line);
        let turns: std::collections::BTreeSet<u32> = self.turns_gone().collect();
        NotePlace {
            at,
            parent: above.map(|above| self.uuid(above)),
            time: gone.iter().filter_map(|&no| self.scene.tree.node(no).time()).max(),
            lines: (line(gone.first()), line(gone.last())),
            turns: turns.len() as u32,
        }
    }

    /// Says what changes in the blocks of a line.
    fn changes(&self, no: NodeId) -> Vec<JsonEdit> {
        let mut stubs = Vec::new();
        let mut removals = Vec::new();
        let mut twin = false;
        for (k, piece) in self.scene.survey.range(no).enumerate() {
            let is_result = matches!(self.scene.survey.piece(piece).sort, BlockClass::Result(..));
            let block = |more: &[PathSegment]| -> Vec<PathSegment> {
                let path = [PathSegment::from("message"), PathSegment::from("content"), PathSegment::from(k)];
                path.into_iter().chain(more.iter().cloned()).collect()
            };
            if self.removed(no, piece).is_some() {
                removals.push(JsonEdit::remove(block(&[])));
                twin |= is_result;
            } else if let Some(words) = self.stub(no, piece) {
                stubs.push(match is_result {
                    true => JsonEdit::set_string(block(&["content".into()]), &words),
                    false => JsonEdit::set(block(&[]), text_block(&words)),
                });
                twin |= is_result;
            } else if self.choice.inside[piece] {
                let line = self.scene.tree.node(no).place.line;
                for inner in self.scene.survey.inside(piece) {
                    let words = stub::picture(inner.len, self.scene.session, line);
                    let path = block(&["content".into(), PathSegment::from(inner.item as usize)]);
                    stubs.push(JsonEdit::set(path, text_block(&words)));
                }
                twin = true;
            }
        }
        // The last block first: the numbers of those before it stay right.
        stubs.extend(removals.into_iter().rev());
        if twin && self.scene.survey.tool_use_result_len(no) > 0 {
            stubs.push(JsonEdit::remove([PathSegment::from("toolUseResult")]));
        }
        stubs
    }

    /// Says what a boundary followed, where that went.
    fn logical(&self, no: NodeId) -> Option<JsonEdit> {
        let followed = self.scene.tree.logical_parent(no)?;
        if !self.scene.holds(followed) || self.stays(followed) {
            return None;
        }
        let json = self
            .surviving_ancestor(followed)
            .0
            .map_or_else(|| "null".to_owned(), |above| quote(&self.uuid(above)));
        Some(JsonEdit::set([PathSegment::from("logicalParentUuid")], json))
    }

    /// Says what changes in lines whose text decides it: boundaries whose kept entries went, and the last count.
    fn rewritten_lines<E>(
        &self,
        read: &mut impl FnMut(LineSpan) -> Result<Vec<u8>, E>,
    ) -> Result<Vec<(NodeId, Vec<JsonEdit>)>, E> {
        let tree = self.scene.tree;
        let mut all = Vec::new();
        for (boundary, kept) in tree.boundaries.iter().filter(|(boundary, _)| self.stays(*boundary)) {
            let run = kept.run_in(tree);
            let listed = kept.resolve(tree).map(|(_, entries)| entries).unwrap_or_default();
            let gone = |no: &NodeId| self.scene.holds(*no) && !self.stays(*no);
            if run.iter().flatten().chain(&listed).any(gone) {
                let left: Option<Vec<String>> =
                    run.map(|run| run.into_iter().filter(|no| !gone(no)).map(|no| self.uuid(no)).collect());
                let line = read(tree.node(*boundary).place)?;
                let stays = |id| !tree.find(id).is_some_and(|no| gone(&no));
                all.push((*boundary, amended(&line, stays, left.as_deref())));
            }
        }
        if let Some((no, count)) = self.count {
            all.push((no, lowered(&read(tree.node(no).place)?, count)));
        }
        Ok(all)
    }
}

fn text_block(words: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quote(words))
}
