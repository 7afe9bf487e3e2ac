//! Makes a conversation fit: removes more and more, the least valuable content first, until the context is
//! small enough.

use super::input::TrimInput;
use super::inventory::BlockClass;
use super::options::{TrimOptions, TrimPreset};
use super::removals::{Removals, find_old_calls};
use super::savings::RemovalCause;
use super::stub::MIN_STUB_LEN;
use super::trimmed_path::{RemovalPlan, TrimmedPath};
use crate::tree::{LineSpan, NodeId};

/// A stage of the escalation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EscalationStage {
    /// Large tool results of old turns.
    LargeResults,
    /// Images of old turns.
    Images,
    /// Thinking of old turns.
    Thinking,
    /// Every tool result of old turns.
    Results,
    /// Calls of old turns with their results.
    Tools,
    /// Old turns, replaced by a note.
    Turns,
    /// Large tool results of the last two turns.
    RecentResults,
    /// Images of the last two turns.
    RecentImages,
    /// Every tool result of the last two turns.
    RecentRest,
    /// Calls of the last two turns with their results.
    RecentTools,
}

impl EscalationStage {
    /// All stages, in the order in which they are applied.
    pub const ALL: [EscalationStage; 10] = [
        EscalationStage::LargeResults,
        EscalationStage::Images,
        EscalationStage::Thinking,
        EscalationStage::Results,
        EscalationStage::Tools,
        EscalationStage::Turns,
        EscalationStage::RecentResults,
        EscalationStage::RecentImages,
        EscalationStage::RecentRest,
        EscalationStage::RecentTools,
    ];

    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            EscalationStage::LargeResults => "large-results",
            EscalationStage::Images => "images",
            EscalationStage::Thinking => "thinking",
            EscalationStage::Results => "results",
            EscalationStage::Tools => "tools",
            EscalationStage::Turns => "turns",
            EscalationStage::RecentResults => "recent-results",
            EscalationStage::RecentImages => "recent-images",
            EscalationStage::RecentRest => "recent-rest",
            EscalationStage::RecentTools => "recent-tools",
        }
    }
}

impl EscalationStage {
    /// Returns the cause to which the savings of the stage are attributed.
    fn cause(self) -> RemovalCause {
        match self {
            EscalationStage::LargeResults
            | EscalationStage::Results
            | EscalationStage::RecentResults
            | EscalationStage::RecentRest => RemovalCause::ToolResults,
            EscalationStage::Images | EscalationStage::RecentImages => RemovalCause::Images,
            EscalationStage::Thinking => RemovalCause::Thinking,
            EscalationStage::Tools | EscalationStage::RecentTools => RemovalCause::Tools,
            EscalationStage::Turns => RemovalCause::Turns,
        }
    }
}

/// The effect of one stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EscalationStep {
    /// The stage.
    pub stage: EscalationStage,
    /// The number of blocks, calls or turns that the stage removed.
    pub count: u64,
    /// Tokens of the context before the stage.
    pub before: u64,
    /// Tokens of the context after the stage.
    pub after: u64,
}

/// The result of an escalation.
#[derive(Debug)]
pub struct Escalation {
    /// The stages that had an effect.
    pub steps: Vec<EscalationStep>,
    /// The lines of the copy.
    pub trimmed: TrimmedPath,
    /// Tokens of the context after all stages.
    pub tokens: u64,
    /// Whether the context is small enough.
    pub fits: bool,
}

/// The number of most recent turns that are trimmed only in the last stages.
const RECENT_TURNS: u32 = 2;
/// Tool results of more bytes than this are large.
const LARGE_RESULT_LEN: u32 = 4000;

/// Removes content, stage by stage, until the context has at most `max_tokens` tokens or all stages were applied.
///
/// If whole turns are removed, a note with the uuid `note_uuid` becomes the parent of the entries after them.
/// Returns an error only if `read`, which reads a line of the file, returns one.
pub fn escalate<E>(
    input: &TrimInput<'_>,
    max_tokens: u64,
    note_uuid: &str,
    read: impl FnMut(LineSpan) -> Result<Vec<u8>, E>,
) -> Result<Escalation, E> {
    let options =
        TrimOptions { client_only: true, drop: TrimPreset::Light.options().drop, ..TrimOptions::default() };
    let mut escalator =
        Escalator { input, max_tokens, removals: Removals::from_options(input, &options), removed_bytes: 0 };
    let mut steps = Vec::new();
    let mut savings = RemovalPlan::new(input, escalator.removals.clone()).savings;
    let mut tokens = input.tokens();
    for stage in EscalationStage::ALL {
        if tokens <= max_tokens {
            break;
        }
        escalator.apply_stage(stage);
        let new_savings = RemovalPlan::new(input, escalator.removals.clone()).savings;
        let after = input.tokens_without(new_savings.total().context_bytes);
        let count =
            new_savings.savings(stage.cause()).count.saturating_sub(savings.savings(stage.cause()).count);
        if count > 0 || after < tokens {
            steps.push(EscalationStep { stage, count, before: tokens, after });
        }
        escalator.removed_bytes = new_savings.total().context_bytes;
        (savings, tokens) = (new_savings, after);
    }
    let trimmed = TrimmedPath::build(input, escalator.removals, Some(note_uuid), read)?;
    Ok(Escalation { steps, trimmed, tokens, fits: tokens <= max_tokens })
}

/// The state of an escalation.
struct Escalator<'s, 'a> {
    input: &'s TrimInput<'a>,
    max_tokens: u64,
    removals: Removals,
    /// The context bytes removed so far. Approximate within a stage, exact after it.
    removed_bytes: u64,
}

impl Escalator<'_, '_> {
    /// Returns whether the context without the removed bytes has at most `max_tokens` tokens.
    fn fits(&self) -> bool {
        self.input.tokens_without(self.removed_bytes) <= self.max_tokens
    }

    /// Extends the removals by those of a stage, as far as they are necessary.
    fn apply_stage(&mut self, stage: EscalationStage) {
        let is_old = |input: &TrimInput<'_>, id| input.is_old(id, RECENT_TURNS);
        let is_recent = |input: &TrimInput<'_>, id| !input.is_old(id, RECENT_TURNS);
        match stage {
            EscalationStage::LargeResults => self.stub_results(LARGE_RESULT_LEN, is_old),
            EscalationStage::Results => self.stub_results(MIN_STUB_LEN, is_old),
            EscalationStage::RecentResults => self.stub_results(LARGE_RESULT_LEN, is_recent),
            EscalationStage::Images => self.stub_images(is_old),
            EscalationStage::RecentImages => self.stub_images(is_recent),
            EscalationStage::RecentRest => self.stub_results(MIN_STUB_LEN, is_recent),
            EscalationStage::RecentTools => self.remove_recent_calls(),
            EscalationStage::Thinking => self.remove_thinking(),
            EscalationStage::Tools => self.remove_old_calls(),
            EscalationStage::Turns => self.remove_old_turns(),
        }
    }

    /// Returns the block indices of the selected entries that are sent and not removed, the oldest entry first.
    fn list_sent_blocks(&self, is_wanted: impl Fn(&TrimInput<'_>, NodeId) -> bool) -> Vec<usize> {
        let is_selected = |&&id: &&NodeId| {
            self.input.is_sent(id) && is_wanted(self.input, id) && self.removals.lines[id as usize].is_none()
        };
        self.input
            .ordered
            .iter()
            .filter(is_selected)
            .flat_map(|&id| self.input.inventory.block_range(id))
            .collect()
    }

    /// Replaces tool results of more than `min_len` bytes by stubs, the oldest first, until the context fits.
    fn stub_results(&mut self, min_len: u32, is_wanted: impl Fn(&TrimInput<'_>, NodeId) -> bool) {
        for block_idx in self.list_sent_blocks(is_wanted) {
            let block_info = self.input.inventory.block(block_idx);
            let is_unselected = self.removals.blocks[block_idx].is_none();
            if let BlockClass::Result(call, true) = block_info.class
                && is_unselected
                && block_info.len > min_len
                && self.removals.calls[call as usize].is_none()
            {
                if self.fits() {
                    return;
                }
                self.removals.blocks[block_idx] = Some(RemovalCause::ToolResults);
                // A stub has about a hundred bytes.
                self.removed_bytes += u64::from(block_info.context_len.saturating_sub(100));
            }
        }
    }

    /// Replaces images by stubs, including those in tool results, the oldest first, until the context fits.
    fn stub_images(&mut self, is_wanted: impl Fn(&TrimInput<'_>, NodeId) -> bool) {
        for block_idx in self.list_sent_blocks(is_wanted) {
            let block_info = self.input.inventory.block(block_idx);
            let image_count = self.input.inventory.nested_images(block_idx).len() as u64;
            let is_unselected = self.removals.blocks[block_idx].is_none();
            if self.fits() {
                return;
            }
            if block_info.class == BlockClass::Image {
                self.removals.blocks[block_idx] = Some(RemovalCause::Images);
                self.removed_bytes += u64::from(block_info.context_len.saturating_sub(100));
            } else if image_count > 0 && is_unselected {
                self.removals.nested_images[block_idx] = true;
                self.removed_bytes += image_count * crate::resume::IMAGE_BYTES as u64;
            }
        }
    }

    /// Removes the thinking of old turns, the oldest first, until the context fits.
    fn remove_thinking(&mut self) {
        for block_idx in self.list_sent_blocks(|input, id| input.is_old(id, RECENT_TURNS)) {
            let block_info = self.input.inventory.block(block_idx);
            if block_info.class == BlockClass::Thinking {
                if self.fits() {
                    return;
                }
                self.removals.blocks[block_idx] = Some(RemovalCause::Thinking);
                self.removed_bytes += u64::from(block_info.context_len);
            }
        }
    }

    /// Removes the calls of old turns with their results, the oldest turn first, until the context fits.
    fn remove_old_calls(&mut self) {
        let mut is_old_call = vec![false; self.input.inventory.call_count()];
        find_old_calls(self.input, Some(RECENT_TURNS))
            .into_iter()
            .for_each(|call| is_old_call[call as usize] = true);
        let mut turn = u32::MAX;
        for &id in &self.input.ordered {
            if self.input.turn_of(id) != turn {
                if self.fits() {
                    return;
                }
                turn = self.input.turn_of(id);
            }
            for block_idx in self.input.inventory.block_range(id) {
                let block_info = self.input.inventory.block(block_idx);
                if let BlockClass::Call(call) | BlockClass::Result(call, _) | BlockClass::ServerTool(call) =
                    block_info.class
                    && is_old_call[call as usize]
                {
                    let is_stubbed = self.removals.blocks[block_idx].is_some();
                    self.removals.calls[call as usize] = Some(RemovalCause::Tools);
                    self.removed_bytes += if is_stubbed { 100 } else { u64::from(block_info.context_len) };
                }
            }
        }
    }

    /// Removes the calls of the recent turns with their results, the oldest first, until the context fits.
    fn remove_recent_calls(&mut self) {
        for block_idx in self.list_sent_blocks(|input, id| !input.is_old(id, RECENT_TURNS)) {
            let block_info = self.input.inventory.block(block_idx);
            if let BlockClass::Call(call) | BlockClass::ServerTool(call) = block_info.class {
                if self.fits() {
                    return;
                }
                self.removals.calls[call as usize] = Some(RemovalCause::Tools);
                // The result is a stub by now.
                self.removed_bytes += u64::from(block_info.context_len) + 100;
            }
        }
    }

    /// Removes the smallest number of oldest turns that makes the context fit, or all old turns if none does.
    fn remove_old_turns(&mut self) {
        let old_turn_count = self.input.turn_count().saturating_sub(RECENT_TURNS);
        // Calls of a turn may already be removed. Only a new plan gives the remaining size.
        let (mut low, mut high) = (0, old_turn_count);
        while low < high {
            let middle = low + (high - low) / 2;
            let removed_bytes =
                RemovalPlan::new(self.input, self.with_turns_removed(middle)).savings.total().context_bytes;
            match self.input.tokens_without(removed_bytes) <= self.max_tokens {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        self.removals = self.with_turns_removed(low);
    }

    /// Returns the removals plus the first `turn_count` turns. Compaction entries of these turns stay.
    fn with_turns_removed(&self, turn_count: u32) -> Removals {
        let mut removals = self.removals.clone();
        let is_removed =
            |id: &NodeId| (1..=turn_count).contains(&self.input.turn_of(*id)) && !self.input.is_fixed(*id);
        for id in self.input.path.iter().copied().filter(is_removed) {
            removals.lines[id as usize] = Some(RemovalCause::Turns);
        }
        removals
    }
}
