//! The entries that a client loads: none twice, the leaf included, every user and assistant line accounted for.

use std::collections::HashSet;

use rethread_core::entry::{EntryRole, Flags, Reader};
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{
    KNOWN_CLIENTS, LoadFailure, ResumeIndex, ResumeOutcome, SkipReason, simulate_by_summary, simulate_resume,
};
use rethread_core::tree::{LineSpan, NodeId, ParentLink, Tree, TreeBuilder};
use rethread_core::version::Version;

/// Checks the laws that hold for every file and every client.
pub fn resume(bytes: &[u8]) {
    let mut tree_builder = TreeBuilder::default();
    let mut resume_index = ResumeIndex::default();
    let mut problems = Vec::new();
    let mut reader = Reader::default();
    LineSplitter::default().feed(bytes, true, &mut problems, |line, problems| {
        reader.read_line(&line, problems, |entry, offset| {
            let len = u32::try_from(entry.raw.len()).unwrap_or(u32::MAX);
            let span = LineSpan { offset, len, line: line.number };
            tree_builder.add_entry(&entry, span);
            resume_index.add_entry(&entry, span);
        });
    });
    let tree = tree_builder.finish();
    for version in KNOWN_CLIENTS {
        let outcome = simulate_resume(&tree, &resume_index, &Version::parse_lenient(version));
        check_outcome(&tree, &outcome, version);
        let rejections = outcome.find_rejections();
        assert!(
            rejections.iter().all(|rejection| outcome.path.contains(&rejection.node())),
            "{version}: not sent, yet refused"
        );
        // The estimate never panics, for any content.
        let _ = outcome.estimate_tokens(&resume_index);
    }
    let by_summary = simulate_by_summary(&tree, &resume_index);
    check_outcome(&tree, &by_summary, "by summary");
    assert!(by_summary.failure != Some(LoadFailure::Hangs), "the client-independent path never hangs");
}

fn check_outcome(tree: &Tree, outcome: &ResumeOutcome, version: &str) {
    let path: HashSet<NodeId> = outcome.path.iter().copied().collect();
    assert_eq!(path.len(), outcome.path.len(), "{version}: an entry is on the path twice");
    let chain: HashSet<NodeId> = outcome.chain.iter().copied().collect();
    assert_eq!(chain.len(), outcome.chain.len(), "{version}: an entry is loaded twice");
    assert!(path.is_subset(&chain), "{version}: a sent entry was not loaded");
    if let (Some((leaf, _)), None) = (outcome.leaf, outcome.failure) {
        // A compaction that names a parent may be below the leaf.
        let is_cut = outcome.chain.first().is_some_and(|&first| {
            tree.node(first).role == EntryRole::CompactBoundary && tree.node(first).link != ParentLink::Root
        });
        // Clients load no entry below a cycle (measured with 2.1.145, 2.1.266 and 2.1.327).
        let is_in_cycle = outcome.early_end.is_some_and(|end| end.reason == SkipReason::Cycle);
        assert!(chain.contains(&leaf) || is_cut || is_in_cycle, "{version}: the leaf is not loaded");
    }
    let mut skipped_lines = HashSet::new();
    for skipped in &outcome.skipped {
        assert!(
            skipped_lines.insert((skipped.line, skipped.node)),
            "{version}: line {} is reported twice",
            skipped.line
        );
        assert!(
            skipped.node.is_none_or(|id| !path.contains(&id)),
            "{version}: line {} is sent",
            skipped.line
        );
    }
    let is_counted = |id: NodeId| tree.is_main_chain(id) && !tree.node(id).has_flag(Flags::RESUME_MARKER);
    let main = outcome.path.iter().filter(|&&id| is_counted(id)).count();
    assert_eq!(main + skipped_lines.len(), outcome.entries, "{version}: the entries do not add up");
    let losses = outcome.skipped.iter().filter(|skipped| skipped.reason.is_loss()).count();
    assert_eq!(losses, outcome.lost_count(), "{version}: the losses do not add up");
    let mut message = 0;
    for block in &outcome.sent {
        assert!(block.message == message || block.message == message + 1, "{version}: a message is skipped");
        message = block.message;
    }
}
