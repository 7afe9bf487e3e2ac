//! Making a conversation fit: more and more goes, the least missed first, until there is room.

use super::input::TrimInput;
use super::inventory::BlockClass;
use super::options::{Preset, TrimOptions};
use super::removals::{Removals, old_calls};
use super::savings::RemovalCause;
use super::stub::MIN_STUB_LEN;
use super::trimmed_path::{RemovalPlan, TrimmedPath};
use crate::tree::{LineSpan, NodeId};

/// One step of the way down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Large tool results of old turns.
    LargeResults,
    /// Pictures of old turns.
    Images,
    /// Thinking of old turns.
    Thinking,
    /// Every tool result of old turns.
    Results,
    /// Calls of old turns with their results.
    Tools,
    /// Old turns, for which a note stands.
    Turns,
    /// Large tool results of the last two turns.
    RecentResults,
    /// Pictures of the last two turns.
    RecentImages,
    /// Every tool result of the last two turns.
    RecentRest,
    /// Calls of the last two turns with their results.
    RecentTools,
}

impl Stage {
    /// Every one, in the order in which they are taken.
    pub const ALL: [Stage; 10] = [
        Stage::LargeResults,
        Stage::Images,
        Stage::Thinking,
        Stage::Results,
        Stage::Tools,
        Stage::Turns,
        Stage::RecentResults,
        Stage::RecentImages,
        Stage::RecentRest,
        Stage::RecentTools,
    ];

    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            Stage::LargeResults => "large-results",
            Stage::Images => "images",
            Stage::Thinking => "thinking",
            Stage::Results => "results",
            Stage::Tools => "tools",
            Stage::Turns => "turns",
            Stage::RecentResults => "recent-results",
            Stage::RecentImages => "recent-images",
            Stage::RecentRest => "recent-rest",
            Stage::RecentTools => "recent-tools",
        }
    }
}

impl Stage {
    fn cause(self) -> RemovalCause {
        match self {
            Stage::LargeResults | Stage::Results | Stage::RecentResults | Stage::RecentRest => {
                RemovalCause::ToolResults
            }
            Stage::Images | Stage::RecentImages => RemovalCause::Images,
            Stage::Thinking => RemovalCause::Thinking,
            Stage::Tools | Stage::RecentTools => RemovalCause::Tools,
            Stage::Turns => RemovalCause::Turns,
        }
    }
}

/// What a step gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EscalationStep {
    /// Which step.
    pub stage: Stage,
    /// How many things went.
    pub count: u64,
    /// Tokens of the context before it.
    pub before: u64,
    /// Tokens of the context after it.
    pub after: u64,
}

/// A conversation made to fit.
#[derive(Debug)]
pub struct Escalation {
    /// The steps that were taken.
    pub taken: Vec<EscalationStep>,
    /// The lines of the copy.
    pub cut: TrimmedPath,
    /// Tokens of the context now.
    pub tokens: u64,
    /// Whether that is enough.
    pub fits: bool,
}

/// How many of the last turns are left alone as long as possible.
const RECENT: u32 = 2;
/// A large tool result.
const LARGE: u32 = 4000;

/// Leaves out more and more until the context has at most `fit` tokens; what hung on turns that went hangs on the note
/// with the uuid `note`.
pub fn escalate<E>(
    scene: &TrimInput<'_>,
    fit: u64,
    note: &str,
    read: impl FnMut(LineSpan) -> Result<Vec<u8>, E>,
) -> Result<Escalation, E> {
    let unsaid = TrimOptions { client_only: true, drop: Preset::Light.trim().drop, ..TrimOptions::default() };
    let mut stairs = Stairs { scene, fit, choice: Removals::by(scene, &unsaid), said: 0 };
    let mut taken = Vec::new();
    let mut ledger = RemovalPlan::of(scene, stairs.choice.clone()).ledger;
    let mut tokens = scene.tokens();
    for stage in Stage::ALL {
        if tokens <= fit {
            break;
        }
        stairs.take(stage);
        let now = RemovalPlan::of(scene, stairs.choice.clone()).ledger;
        let after = scene.tokens_without(now.total().said);
        let count = now.row(stage.cause()).count.saturating_sub(ledger.row(stage.cause()).count);
        if count > 0 || after < tokens {
            taken.push(EscalationStep { stage, count, before: tokens, after });
        }
        stairs.said = now.total().said;
        (ledger, tokens) = (now, after);
    }
    let cut = TrimmedPath::of(scene, stairs.choice, Some(note), read)?;
    Ok(Escalation { taken, cut, tokens, fits: tokens <= fit })
}

struct Stairs<'s, 'a> {
    scene: &'s TrimInput<'a>,
    fit: u64,
    choice: Removals,
    /// Bytes that are no longer said.
    said: u64,
}

impl Stairs<'_, '_> {
    fn fits(&self) -> bool {
        self.scene.tokens_without(self.said) <= self.fit
    }

    fn take(&mut self, stage: Stage) {
        let old = |scene: &TrimInput<'_>, no| scene.is_old(no, RECENT);
        let recent = |scene: &TrimInput<'_>, no| !scene.is_old(no, RECENT);
        match stage {
            Stage::LargeResults => self.results(LARGE, old),
            Stage::Results => self.results(MIN_STUB_LEN, old),
            Stage::RecentResults => self.results(LARGE, recent),
            Stage::Images => self.images(old),
            Stage::RecentImages => self.images(recent),
            Stage::RecentRest => self.results(MIN_STUB_LEN, recent),
            Stage::RecentTools => self.recent_tools(),
            Stage::Thinking => self.thinking(),
            Stage::Tools => self.tools(),
            Stage::Turns => self.turns(),
        }
    }

    /// Iterates over the blocks of the entries that are sent and still stay, the oldest first.
    fn blocks(&self, fits: impl Fn(&TrimInput<'_>, NodeId) -> bool) -> Vec<usize> {
        let entry = |&&no: &&NodeId| {
            self.scene.is_sent(no) && fits(self.scene, no) && self.choice.lines[no as usize].is_none()
        };
        self.scene.told.iter().filter(entry).flat_map(|&no| self.scene.survey.range(no)).collect()
    }

    fn results(&mut self, over: u32, fits: impl Fn(&TrimInput<'_>, NodeId) -> bool) {
        for piece in self.blocks(fits) {
            let held = self.scene.survey.piece(piece);
            let fresh = self.choice.pieces[piece].is_none();
            if let BlockClass::Result(call, true) = held.sort
                && fresh
                && held.len > over
                && self.choice.calls[call as usize].is_none()
            {
                if self.fits() {
                    return;
                }
                self.choice.pieces[piece] = Some(RemovalCause::ToolResults);
                // A stub has about a hundred bytes.
                self.said += u64::from(held.said.saturating_sub(100));
            }
        }
    }

    fn images(&mut self, fits: impl Fn(&TrimInput<'_>, NodeId) -> bool) {
        for piece in self.blocks(fits) {
            let held = self.scene.survey.piece(piece);
            let inside = self.scene.survey.inside(piece).len() as u64;
            let fresh = self.choice.pieces[piece].is_none();
            if self.fits() {
                return;
            }
            if held.sort == BlockClass::Picture {
                self.choice.pieces[piece] = Some(RemovalCause::Images);
                self.said += u64::from(held.said.saturating_sub(100));
            } else if inside > 0 && fresh {
                self.choice.inside[piece] = true;
                self.said += inside * crate::resume::PICTURE as u64;
            }
        }
    }

    fn thinking(&mut self) {
        for piece in self.blocks(|scene, no| scene.is_old(no, RECENT)) {
            let held = self.scene.survey.piece(piece);
            if held.sort == BlockClass::Thinking {
                if self.fits() {
                    return;
                }
                self.choice.pieces[piece] = Some(RemovalCause::Thinking);
                self.said += u64::from(held.said);
            }
        }
    }

    /// Takes the calls of one old turn after the other.
    fn tools(&mut self) {
        let mut old = vec![false; self.scene.survey.calls()];
        old_calls(self.scene, Some(RECENT)).into_iter().for_each(|call| old[call as usize] = true);
        let mut turn = u32::MAX;
        for &no in &self.scene.told {
            if self.scene.turn(no) != turn {
                if self.fits() {
                    return;
                }
                turn = self.scene.turn(no);
            }
            for piece in self.scene.survey.range(no) {
                let held = self.scene.survey.piece(piece);
                if let BlockClass::Call(call) | BlockClass::Result(call, _) | BlockClass::Hosted(call) =
                    held.sort
                    && old[call as usize]
                {
                    let stubbed = self.choice.pieces[piece].is_some();
                    self.choice.calls[call as usize] = Some(RemovalCause::Tools);
                    self.said += if stubbed { 100 } else { u64::from(held.said) };
                }
            }
        }
    }

    /// Takes the calls of the last turns, one after the other.
    fn recent_tools(&mut self) {
        for piece in self.blocks(|scene, no| !scene.is_old(no, RECENT)) {
            let held = self.scene.survey.piece(piece);
            if let BlockClass::Call(call) | BlockClass::Hosted(call) = held.sort {
                if self.fits() {
                    return;
                }
                self.choice.calls[call as usize] = Some(RemovalCause::Tools);
                // The result is a stub by now.
                self.said += u64::from(held.said) + 100;
            }
        }
    }

    /// Takes as many old turns as it needs.
    fn turns(&mut self) {
        let old = self.scene.turns().saturating_sub(RECENT);
        // Calls of a turn may already be gone: only the whole shows what is left.
        let (mut least, mut most) = (0, old);
        while least < most {
            let some = least + (most - least) / 2;
            let said = RemovalPlan::of(self.scene, self.without(some)).ledger.total().said;
            match self.scene.tokens_without(said) <= self.fit {
                true => most = some,
                false => least = some + 1,
            }
        }
        self.choice = self.without(least);
    }

    /// Chooses also the first so many turns.
    fn without(&self, turns: u32) -> Removals {
        let mut choice = self.choice.clone();
        let goes = |no: &NodeId| (1..=turns).contains(&self.scene.turn(*no)) && !self.scene.is_fixed(*no);
        for no in self.scene.way.iter().copied().filter(goes) {
            choice.lines[no as usize] = Some(RemovalCause::Turns);
        }
        choice
    }
}
