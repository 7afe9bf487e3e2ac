//! Which lines and blocks go: chosen by what somebody wants.

use std::collections::HashMap;

use super::input::TrimInput;
use super::inventory::BlockClass;
use super::options::{ContentKind, TrimOptions};
use super::savings::RemovalCause;
use super::stub::MIN_STUB_LEN;
use crate::entry::Kind;
use crate::tree::NodeId;

/// What goes.
#[derive(Debug, Clone)]
pub(super) struct Removals {
    /// By entry: the whole line.
    pub(super) lines: Vec<Option<RemovalCause>>,
    /// By call: all lines that call or answer it lose that block.
    pub(super) calls: Vec<Option<RemovalCause>>,
    /// By piece: thinking goes, a result or picture becomes a stub.
    pub(super) pieces: Vec<Option<RemovalCause>>,
    /// By piece: the pictures in a result become stubs.
    pub(super) inside: Vec<bool>,
}

impl Removals {
    /// Chooses nothing.
    pub(super) fn none(scene: &TrimInput<'_>) -> Removals {
        Removals {
            lines: vec![None; scene.tree.nodes().len()],
            calls: vec![None; scene.survey.calls()],
            pieces: vec![None; scene.survey.pieces()],
            inside: vec![false; scene.survey.pieces()],
        }
    }

    /// Chooses by what is wanted.
    pub(super) fn by(scene: &TrimInput<'_>, trim: &TrimOptions) -> Removals {
        let mut choice = Removals::none(scene);
        for &no in scene.way {
            choice.lines[no as usize] = whole_line(scene, trim, no);
        }
        if trim.drops(ContentKind::Tools) {
            for call in old_calls(scene, trim.older_than) {
                choice.calls[call as usize] = Some(RemovalCause::Tools);
            }
        }
        for &no in scene.way.iter().filter(|&&no| is_open(scene, trim, no)) {
            for piece in scene.survey.range(no) {
                choice.pick(scene, trim, piece);
            }
        }
        if trim.dedupe_reads {
            choice.repeated_reads(scene, trim);
        }
        choice
    }

    fn pick(&mut self, scene: &TrimInput<'_>, trim: &TrimOptions, no: usize) {
        let piece = scene.survey.piece(no);
        match piece.sort {
            BlockClass::Thinking if trim.drops(ContentKind::Thinking) => {
                self.pieces[no] = Some(RemovalCause::Thinking)
            }
            BlockClass::Picture if trim.drops(ContentKind::Images) => {
                self.pieces[no] = Some(RemovalCause::Images)
            }
            BlockClass::Result(_, can) => {
                let large = trim.results_over.is_some_and(|limit| u64::from(piece.len) > limit);
                if can && piece.len > MIN_STUB_LEN && (large || trim.drops(ContentKind::ToolResults)) {
                    self.pieces[no] = Some(RemovalCause::ToolResults);
                } else if trim.drops(ContentKind::Images) && !scene.survey.inside(no).is_empty() {
                    self.inside[no] = true;
                }
            }
            _ => {}
        }
    }

    /// Stubs the results of reads that are repeated below.
    fn repeated_reads(&mut self, scene: &TrimInput<'_>, trim: &TrimOptions) {
        let mut later: HashMap<_, ()> = HashMap::new();
        for &no in scene.told.iter().rev().filter(|&&no| self.lines[no as usize].is_none()) {
            for piece in scene.survey.range(no) {
                let BlockClass::Result(call, can) = scene.survey.piece(piece).sort else { continue };
                let Some(read) = scene.survey.read_by(call) else { continue };
                let again = later.insert(read, ()).is_some();
                let worth = can && scene.survey.piece(piece).len > MIN_STUB_LEN;
                if again && worth && is_open(scene, trim, no) {
                    self.pieces[piece].get_or_insert(RemovalCause::Reads);
                }
            }
        }
    }
}

/// Whether what is said in an entry may go.
fn is_open(scene: &TrimInput<'_>, trim: &TrimOptions, no: NodeId) -> bool {
    trim.older_than.is_none_or(|recent| scene.is_old(no, recent))
}

fn whole_line(scene: &TrimInput<'_>, trim: &TrimOptions, no: NodeId) -> Option<RemovalCause> {
    let node = scene.tree.node(no);
    let turn = scene.turn(no);
    let passed = trim.keep_last.is_some_and(|keep| turn > 0 && scene.is_old(no, keep));
    if passed && !scene.is_fixed(no) {
        return Some(RemovalCause::Turns);
    }
    if node.kind == Kind::Progress {
        return trim.drops(ContentKind::Progress).then_some(RemovalCause::Progress);
    }
    if scene.is_attachment(no) {
        let all = trim.drops(ContentKind::Attachments) && is_open(scene, trim, no);
        return (all || trim.client_only && scene.survey.is_idle(no)).then_some(RemovalCause::Attachments);
    }
    // What a subagent said inside the file belongs to the call that started it.
    let beside = node.is_sidechain() && !scene.tree.is_sidechain_file();
    (beside && trim.drops(ContentKind::Tools) && is_open(scene, trim, no)).then_some(RemovalCause::Tools)
}

/// Lists the calls that are old as a whole: called and answered before the last turns.
pub(super) fn old_calls(scene: &TrimInput<'_>, recent: Option<u32>) -> Vec<u32> {
    let mut met = vec![false; scene.survey.calls()];
    let mut young = vec![false; scene.survey.calls()];
    for &no in scene.way {
        for piece in scene.survey.range(no) {
            if let BlockClass::Call(call) | BlockClass::Result(call, _) | BlockClass::Hosted(call) =
                scene.survey.piece(piece).sort
            {
                met[call as usize] = true;
                young[call as usize] |= recent.is_some_and(|recent| !scene.is_old(no, recent));
            }
        }
    }
    (0..met.len() as u32).filter(|&call| met[call as usize] && !young[call as usize]).collect()
}
