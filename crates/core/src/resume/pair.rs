//! One message after the other: users united, calls and results paired, as the API wants them.

use std::collections::HashSet;

use super::api_messages::{BlockOrigin, Draft, MessageRole, SentBlock, SyntheticBlock, result_for};
use super::resume_index::{BlockSummary, Words};
use super::rules::{Orphans, Placeholder, Rules};

/// Unites what the user says in a row, pairs calls and results, and numbers the messages.
pub(super) fn pair(drafts: Vec<Draft>, rules: &Rules) -> Vec<SentBlock> {
    let mut messages = unite(drafts, rules);
    if rules.orphans != Orphans::Sent {
        drop_unpaired(&mut messages, rules);
        messages = answer_calls(messages);
    }
    if !rules.blank_prompts {
        drop_blank_prompts(&mut messages);
    }
    let last = messages.len().saturating_sub(1);
    for (k, message) in messages.iter_mut().enumerate() {
        // The prompt that the user types at resume joins a last message of the user.
        if message.blocks.is_empty() && !(k == last && message.side == MessageRole::User) {
            message.blocks.extend(placeholder(message.side, k == 0, rules));
        }
    }
    messages.retain(|message| !message.blocks.is_empty());
    let number = |(no, message): (usize, Draft)| {
        let side = message.side;
        let sent = move |(said, piece)| SentBlock { side, message: no as u32, said, piece };
        message.blocks.into_iter().map(sent)
    };
    messages.into_iter().enumerate().flat_map(number).collect()
}

fn unite(drafts: Vec<Draft>, rules: &Rules) -> Vec<Draft> {
    let mut messages: Vec<Draft> = Vec::with_capacity(drafts.len());
    for mut draft in drafts {
        match messages.last_mut() {
            Some(message) if message.side == MessageRole::User && draft.side == MessageRole::User => {
                message.blocks.append(&mut draft.blocks);
                message.united = true;
            }
            _ => messages.push(draft),
        }
    }
    for message in messages.iter_mut().filter(|message| message.united) {
        match message.side {
            MessageRole::User if rules.results_first => {
                message.blocks.sort_by_key(|(_, piece)| !matches!(piece, BlockSummary::Result(_)));
            }
            MessageRole::Assistant if rules.words_first => {
                message.blocks.sort_by_key(|(_, piece)| matches!(piece, BlockSummary::Call(_)));
            }
            _ => {}
        }
    }
    messages
}

/// Drops results without a call, and what calls or answers a second time.
fn drop_unpaired(messages: &mut [Draft], rules: &Rules) {
    let called: HashSet<u32> =
        messages.iter().flat_map(|message| &message.blocks).filter_map(call_of).collect();
    let mut seen_calls = HashSet::new();
    let mut seen_results = HashSet::new();
    for (k, message) in messages.iter_mut().enumerate() {
        let first = k == 0 && rules.orphans == Orphans::LeftOutLater;
        message.blocks.retain(|(_, piece)| match piece {
            BlockSummary::Call(call) => seen_calls.insert(*call),
            BlockSummary::Result(call) => (called.contains(call) || first) && seen_results.insert(*call),
            _ => true,
        });
    }
}

fn result_of(block: &(BlockOrigin, BlockSummary)) -> Option<u32> {
    if let (_, BlockSummary::Result(call)) = block { Some(*call) } else { None }
}

fn call_of(block: &(BlockOrigin, BlockSummary)) -> Option<u32> {
    if let (_, BlockSummary::Call(call)) = block { Some(*call) } else { None }
}

/// Puts made-up results before what answers a message some of whose calls have none.
fn answer_calls(messages: Vec<Draft>) -> Vec<Draft> {
    let mut paired: Vec<Draft> = Vec::with_capacity(messages.len());
    for mut message in messages {
        let from_user = message.side == MessageRole::User;
        let answered: HashSet<u32> =
            message.blocks.iter().filter_map(result_of).filter(|_| from_user).collect();
        let lacks = |block: &&(BlockOrigin, BlockSummary)| {
            call_of(block).is_some_and(|call| !answered.contains(&call))
        };
        let before = paired.last().map_or(&[][..], |before| &before.blocks);
        let lacking: Vec<(BlockOrigin, BlockSummary)> =
            before.iter().filter(lacks).filter_map(result_for).collect();
        if from_user {
            message.blocks.splice(0..0, lacking);
        } else if !lacking.is_empty() {
            paired.push(Draft::new(MessageRole::User, lacking));
        }
        paired.push(message);
    }
    paired
}

/// Drops blocks of white space; a plain string stays if it is all there is.
fn drop_blank_prompts(messages: &mut [Draft]) {
    for message in messages.iter_mut().filter(|message| message.side == MessageRole::User) {
        let several = message.blocks.len() > 1;
        message.blocks.retain(|(_, piece)| match piece {
            BlockSummary::Text(Words::Blank) => false,
            BlockSummary::Plain(Words::Blank) => !several,
            _ => true,
        });
    }
}

fn placeholder(side: MessageRole, first: bool, rules: &Rules) -> Option<(BlockOrigin, BlockSummary)> {
    let what = match (rules.placeholder, side) {
        (Placeholder::None, _) | (Placeholder::Answers, MessageRole::User) => return None,
        (Placeholder::Later, MessageRole::User) if first => return None,
        (Placeholder::All, MessageRole::User) if first => SyntheticBlock::Orphaned,
        _ => SyntheticBlock::Placeholder,
    };
    Some((BlockOrigin::MadeUp(what, None), BlockSummary::Other))
}
