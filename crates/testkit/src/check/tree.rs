//! The tree: every entry hangs somewhere, no walk runs in circles, forks and turns name what is there.

use rethread_core::entry::{Entry, Reader};
use rethread_core::lines::LineSplitter;
use rethread_core::session::SessionInfoBuilder;
use rethread_core::stats::StatsCollector;
use rethread_core::tree::{
    Branches, LineSpan, NodeId, Outline, OutlineItem, OutlineOptions, ParentLink, Tree, TreeBuilder,
};
use rethread_core::turn::{ToolCallIndex, build_turn};
use rethread_core::usage::{UsageByNode, UsageCollector, dedupe_responses, total};

/// Checks the laws of the tree of a file; returns the tree.
pub fn tree(bytes: &[u8]) -> Tree {
    let mut weaver = TreeBuilder::with_content_hashes();
    let mut sketcher = SessionInfoBuilder::default();
    let mut pairs = ToolCallIndex::default();
    let mut tally = StatsCollector::new(rethread_core::id::Id::NIL, "");
    let mut entries: Vec<(u32, Entry<'_>)> = Vec::new();
    let mut problems = Vec::new();
    let mut reader = Reader::default();
    let mut with_uuid = 0;
    LineSplitter::default().feed(bytes, true, &mut problems, |line, problems| {
        let fate = reader.read(&line, problems, |entry, offset| {
            let len = u32::try_from(entry.raw.len()).unwrap_or(u32::MAX);
            let place = LineSpan { offset, len, line: line.no };
            let voice = weaver.add(&entry, place);
            sketcher.add(&entry, voice);
            pairs.add(&entry, place);
            tally.add(&entry);
            with_uuid += usize::from(entry.uuid.is_some());
            entries.push((line.no, entry));
        });
        tally.line(fate);
    });
    let tree = weaver.finish();
    assert_eq!(tree.nodes().len(), with_uuid, "every entry with a uuid is a node");
    links(&tree);
    walks(&tree);
    forks(&tree);
    turns(&tree);
    branches(&tree);
    outlines(&tree);
    spent(&entries);
    // The rooms to the right take whatever the tree is.
    let _ = build_turn(&entries);
    let sketch = sketcher.finish(&tree, entries.len(), &problems);
    assert_eq!(sketch.turns, tree.turns().count());
    let counts = tally.finish(bytes.len() as u64, &tree, &pairs, &problems);
    assert_eq!(
        counts.total.uuids + tree.repeated_lines() as u64,
        with_uuid as u64,
        "uuids and repeats add up"
    );
    tree
}

fn all(tree: &Tree) -> impl Iterator<Item = NodeId> {
    0..tree.nodes().len() as NodeId
}

fn links(tree: &Tree) {
    let roots = tree.roots().count();
    let children: usize = all(tree).map(|no| tree.children(no).len()).sum();
    assert_eq!(roots + children, tree.nodes().len(), "each node is a root or a child");
    for no in all(tree) {
        for &child in tree.children(no) {
            assert_eq!(tree.node(child).parent(), Some(no), "children know their parent");
        }
        assert_eq!(
            tree.node(no).link == ParentLink::Child,
            tree.node(no).parent().is_some(),
            "links tell of parents"
        );
    }
}

fn walks(tree: &Tree) {
    for no in all(tree) {
        let walk = tree.ancestors(no);
        assert_eq!(walk.last(), Some(&no), "a walk ends where it was asked to");
        assert!(tree.node(walk[0]).parent().is_none(), "a walk starts at a root");
        let mut steps: Vec<NodeId> = tree.with_parallel_calls(&walk).iter().map(|step| step.node).collect();
        let on_walk: Vec<NodeId> = steps.iter().copied().filter(|no| walk.contains(no)).collect();
        assert_eq!(on_walk, walk, "re-joining keeps the walk and its order");
        steps.sort_unstable();
        steps.dedup();
        assert_eq!(steps.len(), tree.with_parallel_calls(&walk).len(), "re-joining repeats nothing");
        let mut context = tree.context_path(no);
        context.retain(|no| walk.contains(no));
        assert_eq!(context, walk, "what a compaction kept comes between the steps of the walk");
        let mut long = tree.ancestors_across_compactions(no);
        assert_eq!(long.last(), Some(&no), "a long walk ends where it was asked to");
        let len = long.len();
        long.sort_unstable();
        long.dedup();
        assert_eq!(long.len(), len, "a long walk repeats nothing");
    }
}

fn forks(tree: &Tree) {
    for fork in tree.forks() {
        assert!(fork.branches.len() > 1, "a fork has several ways");
        for &way in &fork.branches {
            assert_eq!(tree.node(way).parent(), fork.at, "ways start at the fork");
        }
    }
    let tips = tree.tips();
    for &tip in &tips {
        assert!(tree.children(tip).iter().all(|child| !tips.contains(child)), "a tip has no tip below it");
    }
    if let Some(tip) = tree.newest_tip() {
        assert!((tip as usize) < tree.nodes().len());
    }
}

fn branches(tree: &Tree) {
    let branches = Branches::of(tree);
    assert_eq!(
        branches.list.len(),
        tree.branches() + branches.islands(),
        "branches and islands are all listed"
    );
    for (k, branch) in branches.list.iter().enumerate() {
        assert!(branch.own_turns <= branch.turns, "what is its own is part of all");
        assert!(branch.turns <= tree.turns().count(), "no turn is counted twice");
        assert!(branches.is_exclusive_to(k, branch.tip), "a tip is on no other branch");
        assert!(branches.is_exclusive_to(k, branch.first), "a branch has a first entry of its own");
    }
    let ones = all(tree).map(|no| (no, 1usize));
    for (branch, (own, all)) in branches.list.iter().zip(branches.sums(ones, |sum, one| *sum += one)) {
        assert_eq!(own, branch.entries);
        assert!(own <= all && all <= tree.nodes().len());
    }
}

/// Checks that a drawing shows each node once at most, below its parent, and the whole one shows every node.
fn outlines(tree: &Tree) {
    let branches = Branches::of(tree);
    let leaf = tree.newest_tip();
    let loaded = leaf.map(|leaf| tree.context_path(leaf)).unwrap_or_default();
    let last = tree.nodes().len().checked_sub(1).map(|no| no as NodeId);
    for all in [false, true] {
        for around in [None, leaf, last] {
            let outline =
                Outline::of(tree, &branches, &OutlineOptions { all, around, leaf, loaded: &loaded });
            let nodes: Vec<NodeId> = outline.rows.iter().filter_map(|row| row.what.node()).collect();
            let distinct: std::collections::HashSet<&NodeId> = nodes.iter().collect();
            assert_eq!(distinct.len(), nodes.len(), "no node has two rows");
            assert!(!all || around.is_some() || nodes.len() == tree.nodes().len(), "all nodes are shown");
            assert_eq!(outline.rows.iter().filter(|row| row.named).count(), usize::from(around.is_some()));
            for (k, row) in outline.rows.iter().enumerate() {
                assert!(row.parent.is_none_or(|parent| parent < k), "rows hang below rows above them");
                let right =
                    row.parent.map_or(0, |parent| outline.rows[parent].depth) + usize::from(row.forks_off);
                assert_eq!(row.depth, right, "only a way that forks off goes to the right");
                assert!(row.depth <= 34, "depth grows with the logarithm of the forks");
                if let OutlineItem::Gap { rows, .. } = row.what {
                    assert!(rows > 0, "a gap leaves something out");
                }
                if let Some(no) = row.what.node() {
                    assert_eq!(outline.row_of(no), Some(k), "rows know their nodes");
                }
            }
        }
    }
}

/// Checks that the receipts of a file add up to its sheet.
fn spent(entries: &[(u32, Entry<'_>)]) {
    let mut receipts = UsageByNode::default();
    let mut booking = UsageCollector::default();
    for (_, entry) in entries.iter().filter(|(_, entry)| entry.uuid.is_some()) {
        receipts.add(entry);
        booking.add(entry);
    }
    let mut sum = rethread_core::entry::Usage::default();
    let mut count = 0;
    for (_, usage) in receipts.once() {
        sum.add(&usage);
        count += 1;
    }
    let spent = total(&dedupe_responses(&[booking.finish()]));
    assert_eq!((count, sum), (spent.responses, spent.usage), "receipts add up to the sheet");
}

fn turns(tree: &Tree) {
    for no in all(tree) {
        if let Some(turn) = tree.turn_of(no) {
            assert_eq!(tree.turn_of(turn), Some(turn), "what starts a turn is in it");
            // Pictures may stand above the words they belong to.
            let above = tree.ancestors(no).contains(&turn) || tree.children(no).contains(&turn);
            assert!(above, "a turn starts above its nodes");
        }
    }
}

/// Checks that reading with a memory of the lines before gives what reading each line alone gives.
pub fn memory(bytes: &[u8]) {
    let mut reader = Reader::default();
    LineSplitter::default().feed(bytes, true, &mut Vec::new(), |line, _| {
        let (mut with, mut alone) = (Vec::new(), Vec::new());
        let (mut problems_with, mut problems_alone) = (Vec::new(), Vec::new());
        let fate =
            reader.read(&line, &mut problems_with, |entry, offset| with.push(format!("{offset} {entry:?}")));
        let other = rethread_core::entry::read(&line, &mut problems_alone, |entry, offset| {
            alone.push(format!("{offset} {entry:?}"));
        });
        assert_eq!((fate, with, problems_with), (other, alone, problems_alone), "memory changes nothing");
    });
}
