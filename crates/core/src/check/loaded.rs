//! Checks the loaded and sent content: load failures, content that the API refuses, unreachable entries.

use std::collections::HashSet;

use super::collect::{BlockLocation, ImageInfo, ThinkingIssue};
use super::diagnostic::{Code, Diagnostic, Impact, Location, Severity, SuggestedFix};
use super::image::ImageFormat;
use super::reachability::Reachability;
use super::run::CheckInput;
use crate::entry::{EntryRole, Kind};
use crate::resume::{ApiRejection, BlockOrigin, LoadFailure, LossCause, SkipReason, SyntheticBlock};
use crate::tree::NodeId;

/// The largest image that the API accepts, in bytes of base64.
const MAX_IMAGE_BYTES: u64 = 5 << 20;
/// The largest width or height that the API accepts.
const MAX_IMAGE_SIDE: u32 = 8000;
/// The largest width or height if there are more than `MANY_IMAGES` images.
const MAX_IMAGE_SIDE_OF_MANY: u32 = 2000;
const MANY_IMAGES: usize = 20;

/// Reports a load failure. If there is none, reports unreachable entries and content that the API refuses.
pub(super) fn check_loaded(input: &CheckInput<'_>, reach: &Reachability) -> Vec<Diagnostic> {
    if let Some(failure) = input.resume.failure {
        return check_failure(input, failure).into_iter().collect();
    }
    let mut diagnostics = check_unreachable(input, reach);
    diagnostics.extend(check_pairs(input));
    diagnostics.extend(check_empty_content(input));
    let sent = find_sent_blocks(input);
    diagnostics.extend(check_thinking(input, &sent));
    diagnostics.extend(check_images(input, &sent));
    diagnostics.extend(check_window(input));
    diagnostics
}

/// Reports that the client never returns or finds no conversation. Returns `None` if no entry was skipped.
fn check_failure(input: &CheckInput<'_>, failure: LoadFailure) -> Option<Diagnostic> {
    let locations: Vec<Location> =
        input.resume.skipped.iter().map(|skipped| input.skipped_location(skipped)).collect();
    let code = if failure == LoadFailure::Hangs { Code::ClientHangs } else { Code::NoConversation };
    let impact = input.entries_impact(locations.len());
    Some(Diagnostic::new(code, Severity::Error, locations)?.with_impact(impact))
}

/// Reports entries that are not loaded: lost by both clients or by one of them, on parallel branches, or left by the
/// user.
fn check_unreachable(input: &CheckInput<'_>, reach: &Reachability) -> Vec<Diagnostic> {
    let total = input.resume.entries as u64;
    let one_client: HashSet<NodeId> = reach.by_client.iter().chain(&reach.by_newest).copied().collect();
    let mut damaged: Vec<Location> = Vec::new();
    let mut parallel: Vec<NodeId> = Vec::new();
    for (id, loss) in reach.losses() {
        match loss.cause {
            LossCause::Parallel => parallel.push(id),
            _ if one_client.contains(&id) => {}
            _ => damaged.push(input.location_of(id)),
        }
    }
    let missing_uuid =
        input.resume.skipped.iter().filter(|skipped| skipped.reason == SkipReason::MissingUuid);
    damaged.extend(missing_uuid.map(|skipped| Location::line(skipped.line)));
    damaged.sort_by_key(|location| location.line);
    let impact = input.entries_impact(damaged.len());
    let damaged = Diagnostic::new(Code::Unreachable, Severity::Warning, damaged);
    let damaged = damaged.map(|diagnostic| diagnostic.with_impact(impact));
    let is_parallel: HashSet<NodeId> = parallel.iter().copied().collect();
    let diagnose_one = |nodes: &[NodeId], impact: fn(u64, u64) -> Impact| {
        let nodes: Vec<NodeId> = nodes.iter().copied().filter(|id| !is_parallel.contains(id)).collect();
        let diagnostic = input.diagnose(Code::Unreachable, Severity::Warning, &nodes)?;
        Some(diagnostic.with_impact(impact(nodes.len() as u64, total)))
    };
    let by_client = diagnose_one(&reach.by_client, |affected, total| Impact::ByClient { affected, total });
    let by_newest = diagnose_one(&reach.by_newest, |affected, total| Impact::ByNewest { affected, total });
    let branches = |severity, nodes: &[NodeId]| {
        let diagnostic = input.diagnose(Code::Unreachable, severity, nodes)?;
        Some(diagnostic.with_impact(input.entries_impact(nodes.len())).with_fix(SuggestedFix::Branches))
    };
    let stale = check_stale_leaf(input, &parallel, &reach.left);
    let reported: HashSet<u32> = stale.iter().flat_map(|stale| &stale.locations).map(|at| at.line).collect();
    parallel.retain(|&id| !reported.contains(&input.location_of(id).line));
    let parallel = branches(Severity::Warning, &parallel);
    let left = branches(Severity::Info, &reach.left);
    [damaged, by_client, by_newest, stale, parallel, left].into_iter().flatten().collect()
}

/// Reports prompts and answers on other branches that are later in the file than the whole active path: as a warning
/// unless the user left them.
fn check_stale_leaf(input: &CheckInput<'_>, parallel: &[NodeId], left: &[NodeId]) -> Option<Diagnostic> {
    let tree = input.tree;
    let end = input.resume.path.iter().copied().max()?;
    let is_message =
        |id: &NodeId| *id > end && matches!(tree.node(*id).role, EntryRole::Prompt | EntryRole::Answer);
    let list_newer = |nodes: &[NodeId]| nodes.iter().copied().filter(is_message).collect::<Vec<NodeId>>();
    let newer = list_newer(parallel);
    let (newer, severity) =
        if newer.is_empty() { (list_newer(left), Severity::Info) } else { (newer, Severity::Warning) };
    let &newest = newer.last()?;
    let diagnostic = input.diagnose(Code::StaleLeaf, severity, &newer)?;
    Some(diagnostic.with_impact(input.entries_impact(newer.len())).with_fix(SuggestedFix::Goto(newest)))
}

/// Reports calls and results without counterpart, and answers that end with thinking: as errors if the API refuses
/// them, as info if the client handles them.
fn check_pairs(input: &CheckInput<'_>) -> Vec<Diagnostic> {
    let mut refused: [Vec<Location>; 3] = Default::default();
    for refusal in input.resume.find_rejections() {
        let refusal_idx = match refusal {
            ApiRejection::UnpairedCall(..) => 0,
            ApiRejection::UnpairedResult(..) => 1,
            ApiRejection::ThinkingLast(..) => 2,
            ApiRejection::LargeImage(..) | ApiRejection::BlankText(..) => continue,
        };
        refused[refusal_idx]
            .push(Location { block: Some(refusal.block()), ..input.location_of(refusal.node()) });
    }
    let [calls, results, thinking] = refused;
    let synthetic = input.resume.sent.iter().filter_map(|sent| match sent.origin {
        BlockOrigin::Synthetic(SyntheticBlock::Result, Some((id, block))) => {
            Some(Location { block: Some(block), ..input.location_of(id) })
        }
        _ => None,
    });
    let mut open_calls: Vec<Location> = synthetic.collect();
    // If the newest client finds the result, the call is reported as lost by this client only.
    let loaded_by_newest: HashSet<NodeId> = input.newest.path.iter().copied().collect();
    let unanswered = skipped_for(input, SkipReason::Unanswered).filter(|id| !loaded_by_newest.contains(id));
    open_calls.extend(unanswered.map(|id| input.location_of(id)));
    open_calls.sort_by_key(|location| (location.line, location.block));
    let is_result = |id: &NodeId| input.tree.node(*id).role == EntryRole::Results;
    let orphans =
        skipped_for(input, SkipReason::Orphan).filter(is_result).map(|id| input.location_of(id)).collect();
    let handled = |code, locations| {
        Diagnostic::new(code, Severity::Info, locations)
            .map(|diagnostic| diagnostic.with_impact(Impact::HandledByClient))
    };
    let diagnostics = [
        Diagnostic::new(Code::UnpairedCall, Severity::Error, calls),
        Diagnostic::new(Code::UnpairedResult, Severity::Error, results),
        Diagnostic::new(Code::ThinkingLast, Severity::Error, thinking),
        handled(Code::UnpairedCall, open_calls),
        handled(Code::UnpairedResult, orphans),
    ];
    diagnostics.into_iter().flatten().collect()
}

/// Iterates over the entries that the client skips for this reason.
fn skipped_for<'a>(input: &'a CheckInput<'_>, reason: SkipReason) -> impl Iterator<Item = NodeId> + 'a {
    input
        .resume
        .skipped
        .iter()
        .filter(move |skipped| skipped.reason == reason)
        .filter_map(|skipped| skipped.node)
}

/// Reports messages without content: as errors if the API refuses them, as info if the client or the API accepts them.
fn check_empty_content(input: &CheckInput<'_>) -> Vec<Diagnostic> {
    // If the API has answered since, it accepted the same content before.
    let accepted = input.resume.accepted_entries(input.resume_index);
    let mut refused = Vec::new();
    let mut handled: Vec<NodeId> =
        skipped_for(input, SkipReason::Empty).chain(skipped_for(input, SkipReason::Blank)).collect();
    for refusal in input.resume.find_rejections() {
        match refusal {
            ApiRejection::BlankText(id, _) if accepted.contains(&id) => handled.push(id),
            ApiRejection::BlankText(id, block) => {
                refused.push(Location { block: Some(block), ..input.location_of(id) });
            }
            _ => {}
        }
    }
    // An answer without blocks is skipped as an orphan, too.
    let is_answer = |id: &NodeId| input.tree.node(*id).kind == Kind::Assistant;
    handled.extend(skipped_for(input, SkipReason::Orphan).filter(is_answer));
    handled.sort_unstable();
    let error = Diagnostic::new(Code::EmptyContent, Severity::Error, refused);
    let info = input.diagnose(Code::EmptyContent, Severity::Info, &handled);
    error.into_iter().chain(info.map(|diagnostic| diagnostic.with_impact(Impact::HandledByClient))).collect()
}

/// Returns the entry and the block index of every block that is sent unchanged.
fn find_sent_blocks(input: &CheckInput<'_>) -> HashSet<(NodeId, u16)> {
    let original = |origin: BlockOrigin| match origin {
        BlockOrigin::Block(id, block) => Some((id, block)),
        BlockOrigin::Synthetic(..) => None,
    };
    input.resume.sent.iter().filter_map(|sent| original(sent.origin)).collect()
}

fn block_location<T>(input: &CheckInput<'_>, block: &BlockLocation<T>) -> Location {
    Location { block: Some(block.block), inner: block.inner, ..input.location_of(block.node) }
}

/// Reports sent thinking blocks without signature or without text. `sent` has entries and block indices.
fn check_thinking(input: &CheckInput<'_>, sent: &HashSet<(NodeId, u16)>) -> Vec<Diagnostic> {
    let locations_of = |issue: ThinkingIssue| -> Vec<Location> {
        let blocks = input.collector.thinking_issues.iter().filter(|block| block.value == issue);
        let blocks = blocks.filter(|block| sent.contains(&(block.node, block.block)));
        blocks.map(|block| block_location(input, block)).collect()
    };
    let unsigned =
        Diagnostic::new(Code::ThinkingUnsigned, Severity::Error, locations_of(ThinkingIssue::Unsigned));
    let emptied =
        Diagnostic::new(Code::ThinkingEmptied, Severity::Info, locations_of(ThinkingIssue::Emptied));
    unsigned.into_iter().chain(emptied).collect()
}

/// Reports sent images over a limit of the API or with a wrong media type. `sent` has entries and block indices.
fn check_images(input: &CheckInput<'_>, sent: &HashSet<(NodeId, u16)>) -> Vec<Diagnostic> {
    let is_sent = |image: &&BlockLocation<ImageInfo>| sent.contains(&(image.node, image.block));
    let sent_images: Vec<&BlockLocation<ImageInfo>> = input.collector.images.iter().filter(is_sent).collect();
    let max_side = if sent_images.len() > MANY_IMAGES { MAX_IMAGE_SIDE_OF_MANY } else { MAX_IMAGE_SIDE };
    let longest_side = |image: &ImageInfo| image.size.map_or(0, |(width, height)| width.max(height));
    let is_large = |image: &&&BlockLocation<ImageInfo>| {
        image.value.bytes > MAX_IMAGE_BYTES || longest_side(&image.value) > max_side
    };
    let large: Vec<&BlockLocation<ImageInfo>> = sent_images.iter().filter(is_large).copied().collect();
    let largest = large.iter().max_by_key(|image| {
        (image.value.bytes > MAX_IMAGE_BYTES, longest_side(&image.value), image.value.bytes)
    });
    let impact = largest.map_or(Impact::None, |image| Impact::Image {
        bytes: image.value.bytes,
        size: image.value.size,
        max_side,
    });
    let is_mislabelled = |image: &&&BlockLocation<ImageInfo>| {
        image.value.actual != ImageFormat::Other
            && image.value.declared != ImageFormat::Other
            && image.value.actual != image.value.declared
    };
    let mislabelled: Vec<&BlockLocation<ImageInfo>> =
        sent_images.iter().filter(is_mislabelled).copied().collect();
    let formats = mislabelled.first().map_or(Impact::None, |image| Impact::Formats {
        declared: image.value.declared,
        actual: image.value.actual,
    });
    let diagnose = |code, list: &[&BlockLocation<ImageInfo>], impact| {
        let locations = list.iter().map(|image| block_location(input, image)).collect();
        Diagnostic::new(code, Severity::Error, locations).map(|diagnostic| diagnostic.with_impact(impact))
    };
    let large = diagnose(Code::ImageTooLarge, &large, impact);
    large.into_iter().chain(diagnose(Code::ImageMislabelled, &mislabelled, formats)).collect()
}

/// Reports a context that is estimated to exceed the context window: as an error if by more than a tenth.
///
/// Returns `None` if it does not, or if the session has no entry to resume from.
fn check_window(input: &CheckInput<'_>) -> Option<Diagnostic> {
    let (tokens, window) =
        (input.resume.estimate_tokens(input.resume_index), input.collector.context_window());
    let (leaf, _) = input.resume.leaf?;
    if tokens <= window {
        return None;
    }
    // The estimate may be up to a tenth too large.
    let severity = if tokens > window + window / 10 { Severity::Error } else { Severity::Warning };
    let diagnostic = input.diagnose(Code::ContextOverWindow, severity, &[leaf])?;
    Some(diagnostic.with_impact(Impact::Tokens { tokens, window }).with_fix(SuggestedFix::Rescue))
}
