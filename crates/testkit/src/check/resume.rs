//! What a client loads: no entry twice, the leaf among them, every line of user and assistant accounted for.

use std::collections::HashSet;

use rethread_core::entry::Reader;
use rethread_core::lines::LineSplitter;
use rethread_core::resume::{
    KNOWN_CLIENTS, LoadFailure, ResumeIndex, ResumeOutcome, resume_by_summary, simulate_resume as resume_as,
};
use rethread_core::tree::{LineSpan, NodeId, Tree, TreeBuilder};
use rethread_core::version::Version;

/// Checks what holds for every file and every client.
pub fn resume(bytes: &[u8]) {
    let mut weaver = TreeBuilder::default();
    let mut facts = ResumeIndex::default();
    let mut problems = Vec::new();
    let mut reader = Reader::default();
    LineSplitter::default().feed(bytes, true, &mut problems, |line, problems| {
        reader.read(&line, problems, |entry, offset| {
            let len = u32::try_from(entry.raw.len()).unwrap_or(u32::MAX);
            let place = LineSpan { offset, len, line: line.no };
            weaver.add(&entry, place);
            facts.add(&entry, place);
        });
    });
    let tree = weaver.finish();
    for version in KNOWN_CLIENTS {
        let loaded = resume_as(&tree, &facts, &Version::read(version));
        accounts(&tree, &loaded, version);
        let refused = loaded.refusals();
        assert!(
            refused.iter().all(|refusal| loaded.path.contains(&refusal.node())),
            "{version}: not sent, yet refused"
        );
        // An estimate of whatever is sent, never a panic.
        let _ = loaded.tokens(&facts);
    }
    let read = resume_by_summary(&tree, &facts);
    accounts(&tree, &read, "by summary");
    assert!(read.halt != Some(LoadFailure::Hangs), "our own walk never hangs");
}

fn accounts(tree: &Tree, loaded: &ResumeOutcome, version: &str) {
    let path: HashSet<NodeId> = loaded.path.iter().copied().collect();
    assert_eq!(path.len(), loaded.path.len(), "{version}: an entry is on the path twice");
    let chain: HashSet<NodeId> = loaded.chain.iter().copied().collect();
    assert_eq!(chain.len(), loaded.chain.len(), "{version}: an entry is loaded twice");
    assert!(path.is_subset(&chain), "{version}: what is sent was not loaded");
    if let (Some((leaf, _)), None) = (loaded.leaf, loaded.halt) {
        assert!(chain.contains(&leaf), "{version}: the leaf is not loaded");
    }
    let mut told = HashSet::new();
    for lost in &loaded.unreachable {
        assert!(told.insert((lost.line, lost.node)), "{version}: line {} is told twice", lost.line);
        assert!(lost.node.is_none_or(|no| !path.contains(&no)), "{version}: line {} is sent", lost.line);
    }
    let main = loaded.path.iter().filter(|&&no| tree.is_main_chain(no)).count();
    assert_eq!(main + told.len(), loaded.entries, "{version}: the entries do not add up");
    let losses = loaded.unreachable.iter().filter(|lost| lost.why.is_loss()).count();
    assert_eq!(losses, loaded.lost(), "{version}: the losses do not add up");
    let mut message = 0;
    for block in &loaded.sent {
        assert!(block.message == message || block.message == message + 1, "{version}: a message is skipped");
        message = block.message;
    }
}
