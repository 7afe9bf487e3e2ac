//! What is wrong with what is loaded and sent: the client stops, the API refuses, something is out of reach.

use std::collections::HashSet;

use super::collect::{BlockLocation, Picture, Thought};
use super::diagnostic::{Code, Diagnostic, Impact, Location, Severity, SuggestedFix};
use super::image::Format;
use super::reachability::Reachability;
use super::run::CheckInput;
use crate::entry::{EntryRole, Kind};
use crate::resume::{BlockOrigin, LoadFailure, Refusal, SkipReason, SyntheticBlock};
use crate::tree::{NodeId, Tree};

/// The largest picture that the API takes, in bytes of base64.
const HEAVIEST: u64 = 5 << 20;
/// The longest side of a picture.
const WIDEST: u32 = 8000;
/// The same where there are many pictures, and how many are too many.
const WIDEST_OF_MANY: u32 = 2000;
const MANY: usize = 20;

pub(super) fn findings(patient: &CheckInput<'_>, sides: &Reachability) -> Vec<Diagnostic> {
    if let Some(halt) = patient.resume.halt {
        return halted(patient, halt).into_iter().collect();
    }
    let mut findings = out_of_reach(patient, sides);
    findings.extend(pairs(patient));
    findings.extend(empty(patient));
    let sent = sent(patient);
    findings.extend(thoughts(patient, &sent));
    findings.extend(pictures(patient, &sent));
    findings.extend(window(patient));
    findings
}

fn halted(patient: &CheckInput<'_>, halt: LoadFailure) -> Option<Diagnostic> {
    let nodes: Vec<NodeId> = patient.resume.unreachable.iter().filter_map(|lost| lost.node).collect();
    let code = if halt == LoadFailure::Hangs { Code::ClientHangs } else { Code::NoConversation };
    let finding = patient.found(code, Severity::Blocks, &nodes)?;
    Some(finding.measured(patient.entries(nodes.len())))
}

fn out_of_reach(patient: &CheckInput<'_>, sides: &Reachability) -> Vec<Diagnostic> {
    let resume = patient.resume;
    let broken = resume.stop.is_some_and(|stop| stop.why.is_loss());
    let broken =
        broken || resume.chain.first().is_some_and(|&no| cannot_start_conversation(patient.tree, no));
    let is_damage = |no: NodeId, why: SkipReason| match why {
        _ if broken => true,
        SkipReason::OtherBranch => false,
        SkipReason::OtherRoot => cannot_start_conversation(patient.tree, sides.roots[no as usize]),
        _ => true,
    };
    let mut cut: Vec<NodeId> = Vec::new();
    let mut left: Vec<NodeId> = Vec::new();
    for (no, why) in sides.losses() {
        if is_damage(no, why) { cut.push(no) } else { left.push(no) }
    }
    let mut findings = Vec::new();
    let nameless = resume.unreachable.iter().filter(|lost| lost.why == SkipReason::Nameless);
    let mut spots: Vec<Location> = cut.iter().map(|&no| patient.spot(no)).collect();
    spots.extend(nameless.map(|lost| Location::line(lost.line)));
    spots.sort_by_key(|spot| spot.line);
    let measure = patient.entries(spots.len());
    findings.extend(
        Diagnostic::new(Code::Unreachable, Severity::Warning, spots).map(|found| found.measured(measure)),
    );
    findings.extend(stale(patient, &left));
    let left_count = patient.entries(left.len());
    let harmless = patient.found(Code::Unreachable, Severity::Harmless, &left);
    findings.extend(harmless.map(|found| found.measured(left_count).mended(SuggestedFix::Branches)));
    let (part, whole) = (sides.by_client.len() as u64, resume.entries as u64);
    let by_client = patient.found(Code::Unreachable, Severity::Harmless, &sides.by_client);
    let measure = Impact::ByClient { part, whole };
    findings.extend(by_client.map(|found| found.measured(measure).mended(SuggestedFix::Update)));
    findings
}

/// Whether no conversation begins so: with an answer, or with what a tool said.
pub(crate) fn cannot_start_conversation(tree: &Tree, no: NodeId) -> bool {
    matches!(
        tree.node(no).voice,
        EntryRole::Answer | EntryRole::Results | EntryRole::ApiError | EntryRole::SyntheticReply
    )
}

/// Finds talk on other branches that is newer than anything on the path.
fn stale(patient: &CheckInput<'_>, left: &[NodeId]) -> Option<Diagnostic> {
    let tree = patient.tree;
    let end = patient.resume.path.iter().copied().max()?;
    let speaks =
        |&no: &NodeId| no > end && matches!(tree.node(no).voice, EntryRole::Prompt | EntryRole::Answer);
    let newer: Vec<NodeId> = left.iter().copied().filter(speaks).collect();
    let &newest = newer.last()?;
    // A line that was hung there later than all of them is a decision, as `goto` takes it.
    let decided = patient.resume.leaf.is_some_and(|(leaf, _)| leaf > newest);
    let severity = if decided { Severity::Harmless } else { Severity::Warning };
    let finding = patient.found(Code::StaleLeaf, severity, &newer)?;
    Some(finding.measured(patient.entries(newer.len())).mended(SuggestedFix::Goto(newest)))
}

/// Calls and results that lack each other: refused by the API, or seen to by the client.
fn pairs(patient: &CheckInput<'_>) -> Vec<Diagnostic> {
    let mut refused: [Vec<Location>; 3] = Default::default();
    for refusal in patient.resume.refusals() {
        let k = match refusal {
            Refusal::UnpairedCall(..) => 0,
            Refusal::UnpairedResult(..) => 1,
            Refusal::ThinkingLast(..) => 2,
            Refusal::LargePicture(..) | Refusal::BlankText(..) => continue,
        };
        refused[k].push(Location { block: Some(refusal.block()), ..patient.spot(refusal.node()) });
    }
    let [calls, results, thinking] = refused;
    let made_up = patient.resume.sent.iter().filter_map(|sent| match sent.said {
        BlockOrigin::MadeUp(SyntheticBlock::Result, Some((no, block))) => {
            Some(Location { block: Some(block), ..patient.spot(no) })
        }
        _ => None,
    });
    let mut open: Vec<Location> = made_up.collect();
    // A call whose result the newest client finds is one of those that only this client loses.
    let found: HashSet<NodeId> = patient.newest.path.iter().copied().collect();
    let unanswered = left_out(patient, SkipReason::Unanswered).filter(|no| !found.contains(no));
    open.extend(unanswered.map(|no| patient.spot(no)));
    open.sort_by_key(|spot| (spot.line, spot.block));
    let is_result = |no: &NodeId| patient.tree.node(*no).voice == EntryRole::Results;
    let orphans =
        left_out(patient, SkipReason::Orphan).filter(is_result).map(|no| patient.spot(no)).collect();
    let seen_to =
        |code, spots| Diagnostic::new(code, Severity::Harmless, spots).map(|f| f.measured(Impact::SeenTo));
    let found = [
        Diagnostic::new(Code::UnpairedCall, Severity::Blocks, calls),
        Diagnostic::new(Code::UnpairedResult, Severity::Blocks, results),
        Diagnostic::new(Code::ThinkingLast, Severity::Blocks, thinking),
        seen_to(Code::UnpairedCall, open),
        seen_to(Code::UnpairedResult, orphans),
    ];
    found.into_iter().flatten().collect()
}

fn left_out<'a>(patient: &'a CheckInput<'_>, why: SkipReason) -> impl Iterator<Item = NodeId> + 'a {
    patient.resume.unreachable.iter().filter(move |lost| lost.why == why).filter_map(|lost| lost.node)
}

/// Messages that say nothing.
fn empty(patient: &CheckInput<'_>) -> Vec<Diagnostic> {
    // Where the API answered since, it was sent the same and did not refuse it.
    let taken = patient.resume.taken(patient.facts);
    let mut refused = Vec::new();
    let mut left: Vec<NodeId> =
        left_out(patient, SkipReason::Empty).chain(left_out(patient, SkipReason::Blank)).collect();
    for refusal in patient.resume.refusals() {
        match refusal {
            Refusal::BlankText(no, _) if taken.contains(&no) => left.push(no),
            Refusal::BlankText(no, block) => {
                refused.push(Location { block: Some(block), ..patient.spot(no) });
            }
            _ => {}
        }
    }
    // An answer of no blocks answers no call either.
    let says_nothing = |no: &NodeId| patient.tree.node(*no).kind == Kind::Assistant;
    left.extend(left_out(patient, SkipReason::Orphan).filter(says_nothing));
    left.sort_unstable();
    let blocks = Diagnostic::new(Code::EmptyContent, Severity::Blocks, refused);
    let harmless = patient.found(Code::EmptyContent, Severity::Harmless, &left);
    blocks.into_iter().chain(harmless.map(|finding| finding.measured(Impact::SeenTo))).collect()
}

/// Returns every block that is sent as the file has it.
fn sent(patient: &CheckInput<'_>) -> HashSet<(NodeId, u16)> {
    let block = |said: BlockOrigin| match said {
        BlockOrigin::Block(no, block) => Some((no, block)),
        BlockOrigin::MadeUp(..) => None,
    };
    patient.resume.sent.iter().filter_map(|sent| block(sent.said)).collect()
}

fn spot_of<T>(patient: &CheckInput<'_>, seen: &BlockLocation<T>) -> Location {
    Location { block: Some(seen.block), inner: seen.inner, ..patient.spot(seen.node) }
}

fn thoughts(patient: &CheckInput<'_>, sent: &HashSet<(NodeId, u16)>) -> Vec<Diagnostic> {
    let of = |what: Thought| -> Vec<Location> {
        let thoughts = patient.checkup.thoughts.iter().filter(|seen| seen.what == what);
        let sent = thoughts.filter(|seen| sent.contains(&(seen.node, seen.block)));
        sent.map(|seen| spot_of(patient, seen)).collect()
    };
    let unsigned = Diagnostic::new(Code::ThinkingUnsigned, Severity::Blocks, of(Thought::Unsigned));
    let emptied = Diagnostic::new(Code::ThinkingEmptied, Severity::Harmless, of(Thought::Emptied));
    unsigned.into_iter().chain(emptied).collect()
}

fn pictures(patient: &CheckInput<'_>, sent: &HashSet<(NodeId, u16)>) -> Vec<Diagnostic> {
    let is_sent = |seen: &&BlockLocation<Picture>| sent.contains(&(seen.node, seen.block));
    let shown: Vec<&BlockLocation<Picture>> = patient.checkup.pictures.iter().filter(is_sent).collect();
    let most = if shown.len() > MANY { WIDEST_OF_MANY } else { WIDEST };
    let longest = |picture: &Picture| picture.size.map_or(0, |(width, height)| width.max(height));
    let is_large = |seen: &&&BlockLocation<Picture>| seen.what.bytes > HEAVIEST || longest(&seen.what) > most;
    let large: Vec<&BlockLocation<Picture>> = shown.iter().filter(is_large).copied().collect();
    let worst =
        large.iter().max_by_key(|seen| (seen.what.bytes > HEAVIEST, longest(&seen.what), seen.what.bytes));
    let measure = worst.map_or(Impact::None, |seen| Impact::Picture {
        bytes: seen.what.bytes,
        size: seen.what.size,
        most,
    });
    let is_other = |seen: &&&BlockLocation<Picture>| {
        seen.what.is != Format::Other && seen.what.says != Format::Other && seen.what.is != seen.what.says
    };
    let other: Vec<&BlockLocation<Picture>> = shown.iter().filter(is_other).copied().collect();
    let formats =
        other.first().map_or(Impact::None, |seen| Impact::Formats { says: seen.what.says, is: seen.what.is });
    let found = |code, list: &[&BlockLocation<Picture>], measure| {
        let spots = list.iter().map(|seen| spot_of(patient, seen)).collect();
        Diagnostic::new(code, Severity::Blocks, spots).map(|finding| finding.measured(measure))
    };
    let large = found(Code::ImageTooLarge, &large, measure);
    large.into_iter().chain(found(Code::ImageMislabelled, &other, formats)).collect()
}

fn window(patient: &CheckInput<'_>) -> Option<Diagnostic> {
    let (tokens, window) = (patient.resume.tokens(patient.facts), patient.checkup.window());
    let (leaf, _) = patient.resume.leaf?;
    if tokens <= window {
        return None;
    }
    // The estimate may be a tenth too large.
    let severity = if tokens > window + window / 10 { Severity::Blocks } else { Severity::Warning };
    let finding = patient.found(Code::ContextOverWindow, severity, &[leaf])?;
    Some(finding.measured(Impact::Tokens { tokens, window }).mended(SuggestedFix::Rescue))
}
