//! Deduplicates responses: lines in several files or with several ids may belong to one response.

use std::collections::HashMap;

use super::file_usage::{FileUsage, ResponseUsage};
use super::{TokenTotals, keep_better};
use crate::entry::Usage;
use crate::id::{Id, IdMap};
use crate::union_find::UnionFind;

/// A response of a store, counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniqueResponse {
    /// The index of the file in which the response appeared first, in the list that was deduplicated.
    pub file_idx: u32,
    /// Its index among the responses of that file. Its time, model and other attributes are those of this
    /// response.
    pub response_idx: u32,
    /// The tokens of its line with the most output.
    pub usage: Usage,
    /// The number of its lines in all files.
    pub lines: u32,
    /// The number of further file responses that are copies of this one. 0 if there is only one.
    pub copies: u32,
    /// Whether its output is a lower bound: no line states that the client received the end.
    pub is_lower_bound: bool,
}

impl UniqueResponse {
    /// Builds a response that has no copies from the response at `response_idx` of the file at `file_idx`.
    pub fn from_single(file_idx: u32, response_idx: u32, response: &ResponseUsage) -> UniqueResponse {
        let ResponseUsage { usage, lines, has_stop_reason, .. } = *response;
        UniqueResponse { file_idx, response_idx, usage, lines, copies: 0, is_lower_bound: !has_stop_reason }
    }

    /// Returns the file and the file response to which it is attributed. `files` is the list that was deduplicated.
    pub fn find_origin<'s>(&self, files: &'s [FileUsage]) -> (&'s FileUsage, &'s ResponseUsage) {
        let file = &files[self.file_idx as usize];
        (file, &file.responses[self.response_idx as usize])
    }
}

/// Deduplicates the responses of files, which must be in the order of their paths.
///
/// Returns them in the order in which their messages first occur. Responses that share the message id of an earlier
/// one are at the end.
pub fn dedupe_responses(files: &[FileUsage]) -> Vec<UniqueResponse> {
    dedupe_responses_where(files, |_| true).into_iter().map(|(response, _)| response).collect()
}

/// Deduplicates the responses of the messages that `is_wanted` selects, in the order of [`dedupe_responses`].
///
/// Returns each one with its file responses (the original included), or with an empty list if its message occurs
/// only once.
pub fn dedupe_responses_where(
    files: &[FileUsage],
    is_wanted: impl Fn(Id) -> bool,
) -> Vec<(UniqueResponse, Vec<ResponseRef>)> {
    let count =
        files.iter().flat_map(|file| &file.responses).filter(|response| is_wanted(response.message)).count();
    let mut unique: Vec<(UniqueResponse, Vec<ResponseRef>)> = Vec::with_capacity(count);
    // Most messages occur in one file with one request. All others are grouped and decided later.
    let mut idxs: IdMap<u32> = IdMap::with_capacity_and_hasher(count, Default::default());
    let mut groups: HashMap<u32, Vec<ResponseRef>> = HashMap::new();
    for (file_idx, file) in (0..).zip(files) {
        for (response_idx, response) in (0..).zip(&file.responses) {
            if !is_wanted(response.message) {
                continue;
            }
            let next_idx = unique.len() as u32;
            let idx = *idxs.entry(response.message).or_insert(next_idx);
            if idx == next_idx {
                unique.push((UniqueResponse::from_single(file_idx, response_idx, response), Vec::new()));
                continue;
            }
            let (first, _) = &unique[idx as usize];
            let group = groups.entry(idx).or_insert_with(|| vec![(first.file_idx, first.response_idx)]);
            group.push((file_idx, response_idx));
        }
    }
    let mut groups: Vec<(u32, Vec<ResponseRef>)> = groups.into_iter().collect();
    groups.sort_unstable_by_key(|(idx, _)| *idx);
    for (idx, group) in groups {
        let mut split = group_copies(files, &group).into_iter();
        if let Some(first) = split.next() {
            unique[idx as usize] = first;
        }
        unique.extend(split);
    }
    unique
}

/// Counts responses and adds up their tokens.
pub fn total_tokens(responses: &[UniqueResponse]) -> TokenTotals {
    let mut totals = TokenTotals::default();
    responses.iter().for_each(|response| totals.add(1, &response.usage));
    totals
}

/// Counts each pair of `message.id` and `requestId` once and adds up the tokens. Uses the file if the `requestId` is
/// missing, so that copies that lost their `requestId` count twice.
pub fn total_by_request_id(files: &[FileUsage]) -> TokenTotals {
    let mut best: IdMap<Usage> = IdMap::default();
    for file in files {
        for response in &file.responses {
            let key = response.message.combine(response.request.unwrap_or(file.file));
            best.entry(key).and_modify(|best| keep_better(best, response.usage)).or_insert(response.usage);
        }
    }
    let mut totals = TokenTotals::default();
    best.values().for_each(|usage| totals.add(1, usage));
    totals
}

/// Refers to a file response: the index of its file, and its index there.
pub type ResponseRef = (u32, u32);

/// Groups the file responses of one message id into unique responses. Returns each one with all its file responses,
/// in the order of `group`.
pub fn group_copies(files: &[FileUsage], group: &[ResponseRef]) -> Vec<(UniqueResponse, Vec<ResponseRef>)> {
    let response = |&(file, idx): &ResponseRef| &files[file as usize].responses[idx as usize];
    let session = |&(file, _): &ResponseRef| files[file as usize].session.as_str();
    let mut sets = UnionFind::new(group.len());
    // All lines of one request belong to one response.
    let mut requests: IdMap<usize> = IdMap::default();
    for (idx, response) in group.iter().map(response).enumerate() {
        if let Some(request) = response.request {
            sets.merge_to_smallest(*requests.entry(request).or_insert(idx), idx);
        }
    }
    // Clients up to 2.0.1 drop the `requestId` when they copy. If no line has one, lines of the same session
    // are one response, and so are lines of different sessions with equal usage: copies have equal usage, but
    // different responses to which a gateway gave the same message id do not.
    let first_with_request = group.iter().position(|reference| response(reference).request.is_some());
    let mut sessions: HashMap<&str, usize> = HashMap::new();
    let mut tokens: HashMap<Usage, usize> = HashMap::new();
    for (idx, reference) in
        group.iter().enumerate().filter(|(_, reference)| response(reference).request.is_none())
    {
        match first_with_request {
            Some(first) => sets.merge_to_smallest(first, idx),
            None => {
                sets.merge_to_smallest(*sessions.entry(session(reference)).or_insert(idx), idx);
                sets.merge_to_smallest(*tokens.entry(response(reference).usage).or_insert(idx), idx);
            }
        }
    }
    // A subagent that receives the conversation so far replays it with its own `requestId`.
    let main_idxs = group.iter().enumerate().filter(|(_, reference)| !response(reference).is_sidechain);
    let main_idxs: HashMap<&str, usize> =
        main_idxs.map(|(idx, reference)| (session(reference), idx)).collect();
    for (idx, reference) in group.iter().enumerate().filter(|(_, reference)| response(reference).is_sidechain)
    {
        if let Some(&main_idx) = main_idxs.get(session(reference)) {
            sets.merge_to_smallest(main_idx, idx);
        }
    }
    build_unique_responses(sets, group, response)
}

/// Merges each set of file responses into one unique response, in the order of their first elements.
///
/// `response` returns the file response of a reference.
fn build_unique_responses<'c>(
    mut sets: UnionFind,
    group: &[ResponseRef],
    response: impl Fn(&ResponseRef) -> &'c ResponseUsage,
) -> Vec<(UniqueResponse, Vec<ResponseRef>)> {
    // A response is attributed to its earliest line. Lines marked as copied come last.
    let sort_key = |reference: &ResponseRef| {
        let response = response(reference);
        (response.time.is_none(), response.time, response.copied, *reference)
    };
    let mut idxs: HashMap<usize, usize> = HashMap::new();
    let mut unique: Vec<(UniqueResponse, Vec<ResponseRef>)> = Vec::new();
    for (idx, reference) in group.iter().enumerate() {
        let single = UniqueResponse::from_single(reference.0, reference.1, response(reference));
        let next_idx = unique.len();
        let unique_idx = *idxs.entry(sets.find_root(idx)).or_insert(next_idx);
        if unique_idx == next_idx {
            unique.push((single, vec![*reference]));
            continue;
        }
        let (merged, copies) = &mut unique[unique_idx];
        copies.push(*reference);
        keep_better(&mut merged.usage, single.usage);
        merged.lines = merged.lines.saturating_add(single.lines);
        merged.copies += 1;
        merged.is_lower_bound &= single.is_lower_bound;
        if sort_key(reference) < sort_key(&(merged.file_idx, merged.response_idx)) {
            (merged.file_idx, merged.response_idx) = *reference;
        }
    }
    unique
}
