//! Merges user messages and pairs calls with results, as the API requires.

use std::collections::HashSet;

use super::api_messages::{
    BlockOrigin, MessageDraft, MessageRole, SentBlock, SyntheticBlock, synthesize_result,
};
use super::resume_index::{BlockSummary, TextKind};
use super::rules::{OrphanRule, PlaceholderRule, RepeatRule, Rules};

/// Merges consecutive user messages, pairs calls and results, and returns the blocks of the numbered messages in order.
///
/// Messages without blocks get a placeholder or are dropped, as the rules demand.
pub(super) fn pair_messages(drafts: Vec<MessageDraft>, rules: &Rules) -> Vec<SentBlock> {
    let mut messages = merge_user_messages(drafts, rules);
    if rules.orphans != OrphanRule::Sent {
        drop_unpaired(&mut messages, rules);
    }
    if rules.answer_calls {
        messages = answer_calls(messages);
    }
    if !rules.blank_prompts {
        drop_blank_prompts(&mut messages);
    }
    let last = messages.len().saturating_sub(1);
    for (idx, message) in messages.iter_mut().enumerate() {
        // The prompt that the user types on resume is merged into a last user message.
        if message.blocks.is_empty() && !(idx == last && message.role == MessageRole::User) {
            message.blocks.extend(choose_placeholder(message.role, idx == 0, rules));
        }
    }
    messages.retain(|message| !message.blocks.is_empty());
    let to_sent_blocks = |(message_idx, message): (usize, MessageDraft)| {
        let role = message.role;
        let sent = move |(origin, summary)| SentBlock { role, message: message_idx as u32, origin, summary };
        message.blocks.into_iter().map(sent)
    };
    messages.into_iter().enumerate().flat_map(to_sent_blocks).collect()
}

/// Merges consecutive user messages, and reorders the blocks of merged messages as the rules demand.
fn merge_user_messages(drafts: Vec<MessageDraft>, rules: &Rules) -> Vec<MessageDraft> {
    let mut messages: Vec<MessageDraft> = Vec::with_capacity(drafts.len());
    for mut draft in drafts {
        match messages.last_mut() {
            Some(message) if message.role == MessageRole::User && draft.role == MessageRole::User => {
                message.blocks.append(&mut draft.blocks);
                message.merged = true;
            }
            _ => messages.push(draft),
        }
    }
    for message in messages.iter_mut().filter(|message| message.merged) {
        match message.role {
            MessageRole::User if rules.results_first => {
                message.blocks.sort_by_key(|(_, block)| !matches!(block, BlockSummary::Result(_)));
            }
            MessageRole::Assistant if rules.text_first => {
                message.blocks.sort_by_key(|(_, block)| matches!(block, BlockSummary::Call(_)));
            }
            _ => {}
        }
    }
    messages
}

/// Drops results that answer no call of the message before them, and repeated calls and results as the rules demand.
///
/// An answer that loses all of its blocks gets a text instead.
fn drop_unpaired(messages: &mut [MessageDraft], rules: &Rules) {
    let mut seen_calls = HashSet::new();
    let mut previous_calls: HashSet<u32> = HashSet::new();
    for (idx, message) in messages.iter_mut().enumerate() {
        let keeps_orphans = idx == 0 && rules.orphans == OrphanRule::DroppedAfterFirst;
        let mut seen_results = HashSet::new();
        let was_empty = message.blocks.is_empty();
        let sends_repeats = rules.repeats == RepeatRule::Sent;
        if rules.repeats == RepeatRule::DroppedInMessage {
            seen_calls.clear();
        }
        message.blocks.retain(|(_, block)| match block {
            BlockSummary::Call(call) => seen_calls.insert(*call) || sends_repeats,
            BlockSummary::Result(call) => {
                (previous_calls.contains(call) || keeps_orphans)
                    && (seen_results.insert(*call) || sends_repeats)
            }
            _ => true,
        });
        if message.role == MessageRole::Assistant && message.blocks.is_empty() && !was_empty {
            let interrupted = BlockOrigin::Synthetic(SyntheticBlock::Interrupted, None);
            message.blocks.push((interrupted, BlockSummary::Other));
        }
        previous_calls = message.blocks.iter().filter_map(get_call).collect();
    }
}

fn get_result(block: &(BlockOrigin, BlockSummary)) -> Option<u32> {
    if let (_, BlockSummary::Result(call)) = block { Some(*call) } else { None }
}

fn get_call(block: &(BlockOrigin, BlockSummary)) -> Option<u32> {
    if let (_, BlockSummary::Call(call)) = block { Some(*call) } else { None }
}

/// Adds synthetic results for calls that the next message does not answer.
///
/// They are put at the start of a following user message, or in a new user message before a following answer. Calls of the
/// last message get none.
fn answer_calls(messages: Vec<MessageDraft>) -> Vec<MessageDraft> {
    let mut paired: Vec<MessageDraft> = Vec::with_capacity(messages.len());
    for mut message in messages {
        let is_from_user = message.role == MessageRole::User;
        let answered: HashSet<u32> =
            message.blocks.iter().filter_map(get_result).filter(|_| is_from_user).collect();
        let is_unanswered = |block: &&(BlockOrigin, BlockSummary)| {
            get_call(block).is_some_and(|call| !answered.contains(&call))
        };
        let previous = paired.last().map_or(&[][..], |previous| &previous.blocks);
        let missing: Vec<(BlockOrigin, BlockSummary)> =
            previous.iter().filter(is_unanswered).filter_map(synthesize_result).collect();
        if is_from_user {
            message.blocks.splice(0..0, missing);
        } else if !missing.is_empty() {
            paired.push(MessageDraft::new(MessageRole::User, missing));
        }
        paired.push(message);
    }
    paired
}

/// Drops blank text blocks of user messages. A blank plain string stays if it is the only block of its message.
fn drop_blank_prompts(messages: &mut [MessageDraft]) {
    for message in messages.iter_mut().filter(|message| message.role == MessageRole::User) {
        let has_others = message.blocks.len() > 1;
        message.blocks.retain(|(_, block)| match block {
            BlockSummary::Text(TextKind::Blank) => false,
            BlockSummary::Plain(TextKind::Blank) => !has_others,
            _ => true,
        });
    }
}

/// Returns the placeholder of a message without blocks. Returns `None` if the rules demand none.
fn choose_placeholder(
    role: MessageRole,
    is_first: bool,
    rules: &Rules,
) -> Option<(BlockOrigin, BlockSummary)> {
    let block = match (rules.placeholder, role) {
        (PlaceholderRule::None, _) | (PlaceholderRule::Answers, MessageRole::User) => return None,
        (PlaceholderRule::Later, MessageRole::User) if is_first => return None,
        (PlaceholderRule::All, MessageRole::User) if is_first => SyntheticBlock::Orphaned,
        _ => SyntheticBlock::Placeholder,
    };
    Some((BlockOrigin::Synthetic(block, None), BlockSummary::Other))
}
