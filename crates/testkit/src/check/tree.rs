//! The tree: every entry is in it once, no path has a cycle, forks and turns refer to existing nodes.

use rethread_core::entry::{Entry, Reader};
use rethread_core::lines::LineSplitter;
use rethread_core::session::SessionInfoBuilder;
use rethread_core::stats::StatsCollector;
use rethread_core::tree::{
    Branches, LineSpan, NodeId, Outline, OutlineItem, OutlineOptions, ParentLink, Tree, TreeBuilder,
};
use rethread_core::turn::{ToolCallIndex, build_turn};
use rethread_core::usage::{UsageByNode, UsageCollector, dedupe_responses, total_tokens};

/// Checks the laws of the tree of a file and returns the tree.
pub fn tree(bytes: &[u8]) -> Tree {
    let mut tree_builder = TreeBuilder::with_content_hashes();
    let mut info_builder = SessionInfoBuilder::default();
    let mut calls = ToolCallIndex::default();
    let mut stats = StatsCollector::new(rethread_core::id::Id::NIL, "");
    let mut entries: Vec<(u32, Entry<'_>)> = Vec::new();
    let mut problems = Vec::new();
    let mut reader = Reader::default();
    let mut uuid_count = 0;
    LineSplitter::default().feed(bytes, true, &mut problems, |line, problems| {
        let status = reader.read_line(&line, problems, |entry, offset| {
            let len = u32::try_from(entry.raw.len()).unwrap_or(u32::MAX);
            let span = LineSpan { offset, len, line: line.number };
            let role = tree_builder.add_entry(&entry, span);
            info_builder.add(&entry, role);
            calls.add(&entry, span);
            stats.add(&entry);
            uuid_count += usize::from(entry.uuid.is_some());
            entries.push((line.number, entry));
        });
        stats.add_line(status);
    });
    let tree = tree_builder.finish();
    assert_eq!(tree.nodes().len(), uuid_count, "every entry with a uuid is a node");
    check_links(&tree);
    check_paths(&tree);
    check_forks(&tree);
    check_turns(&tree);
    check_branches(&tree);
    check_outlines(&tree);
    check_usage(&entries);
    // The modules that use the tree accept any tree.
    let _ = build_turn(&entries);
    let info = info_builder.finish(&tree, entries.len(), &problems);
    assert_eq!(info.turns, tree.turn_starts().count());
    let counts = stats.finish(bytes.len() as u64, &tree, &calls, &problems);
    assert_eq!(
        counts.total.uuids + tree.repeated_line_count() as u64,
        uuid_count as u64,
        "uuids and repeats add up"
    );
    tree
}

fn node_ids(tree: &Tree) -> impl Iterator<Item = NodeId> {
    0..tree.nodes().len() as NodeId
}

fn check_links(tree: &Tree) {
    let roots = tree.roots().count();
    let children: usize = node_ids(tree).map(|node_id| tree.children(node_id).len()).sum();
    assert_eq!(roots + children, tree.nodes().len(), "each node is a root or a child");
    for node_id in node_ids(tree) {
        for &child in tree.children(node_id) {
            assert_eq!(tree.node(child).parent(), Some(node_id), "the parent of a child is the node");
        }
        assert_eq!(
            tree.node(node_id).link == ParentLink::Child,
            tree.node(node_id).parent().is_some(),
            "only children have parents"
        );
    }
}

fn check_paths(tree: &Tree) {
    for node_id in node_ids(tree) {
        let path = tree.ancestors(node_id);
        assert_eq!(path.last(), Some(&node_id), "a path ends at the requested node");
        assert!(tree.node(path[0]).parent().is_none(), "a path starts at a root");
        let mut nodes: Vec<NodeId> = tree.with_parallel_calls(&path).iter().map(|entry| entry.node).collect();
        let ancestors: Vec<NodeId> = nodes.iter().copied().filter(|node_id| path.contains(node_id)).collect();
        assert_eq!(ancestors, path, "parallel calls keep the path and its order");
        nodes.sort_unstable();
        nodes.dedup();
        assert_eq!(nodes.len(), tree.with_parallel_calls(&path).len(), "parallel calls add no node twice");
        let mut context_path = tree.context_path(node_id);
        context_path.retain(|node_id| path.contains(node_id));
        assert_eq!(context_path, path, "preserved entries are inserted into the path");
        let mut long_path = tree.ancestors_across_compactions(node_id);
        assert_eq!(long_path.last(), Some(&node_id), "a path across compactions ends at the requested node");
        let len = long_path.len();
        long_path.sort_unstable();
        long_path.dedup();
        assert_eq!(long_path.len(), len, "a path across compactions has no node twice");
    }
}

fn check_forks(tree: &Tree) {
    for fork in tree.find_forks() {
        assert!(fork.branches.len() > 1, "a fork has several branches");
        for &branch in &fork.branches {
            assert_eq!(tree.node(branch).parent(), fork.at, "branches start at the fork");
        }
    }
    let tips = tree.tips();
    for &tip in &tips {
        assert!(tree.children(tip).iter().all(|child| !tips.contains(child)), "no child of a tip is a tip");
    }
    if let Some(tip) = tree.newest_tip() {
        assert!((tip as usize) < tree.nodes().len());
    }
}

fn check_branches(tree: &Tree) {
    let branches = Branches::from_tree(tree);
    assert_eq!(
        branches.list.len(),
        tree.branch_count() + branches.count_orphaned(),
        "all branches are listed, orphaned ones included"
    );
    for (k, branch) in branches.list.iter().enumerate() {
        assert!(branch.own_turns <= branch.turns, "exclusive turns are part of all turns");
        assert!(branch.turns <= tree.turn_starts().count(), "no turn is counted twice");
        assert!(branches.is_exclusive_to(k, branch.tip), "a tip is on no other branch");
        assert!(branches.is_exclusive_to(k, branch.first), "a branch has a first entry of its own");
    }
    let unit_values = node_ids(tree).map(|node_id| (node_id, 1usize));
    for (branch, (own, all)) in
        branches.list.iter().zip(branches.sum_by_branch(unit_values, |sum, value| *sum += value))
    {
        assert_eq!(own, branch.entries);
        assert!(own <= all && all <= tree.nodes().len());
    }
}

/// Checks that an outline shows each node at most once, below its parent, and that the full outline shows every node.
fn check_outlines(tree: &Tree) {
    let branches = Branches::from_tree(tree);
    let leaf = tree.newest_tip();
    let loaded = leaf.map(|leaf| tree.context_path(leaf)).unwrap_or_default();
    let last = tree.nodes().len().checked_sub(1).map(|node_id| node_id as NodeId);
    for all in [false, true] {
        for around in [None, leaf, last] {
            let outline =
                Outline::from_tree(tree, &branches, &OutlineOptions { all, around, leaf, loaded: &loaded });
            let nodes: Vec<NodeId> = outline.rows.iter().filter_map(|row| row.item.node()).collect();
            let distinct: std::collections::HashSet<&NodeId> = nodes.iter().collect();
            assert_eq!(distinct.len(), nodes.len(), "no node has two rows");
            assert!(!all || around.is_some() || nodes.len() == tree.nodes().len(), "all nodes are shown");
            assert_eq!(
                outline.rows.iter().filter(|row| row.requested).count(),
                usize::from(around.is_some())
            );
            for (k, row) in outline.rows.iter().enumerate() {
                assert!(row.parent.is_none_or(|parent| parent < k), "a parent row is above its child rows");
                let expected_depth =
                    row.parent.map_or(0, |parent| outline.rows[parent].depth) + usize::from(row.forks_off);
                assert_eq!(row.depth, expected_depth, "only a row that forks off is indented");
                assert!(row.depth <= 34, "depth grows with the logarithm of the forks");
                if let OutlineItem::Gap { rows, .. } = row.item {
                    assert!(rows > 0, "a gap omits rows");
                }
                if let Some(node_id) = row.item.node() {
                    assert_eq!(outline.row_of(node_id), Some(k), "a row can be found by its node");
                }
            }
        }
    }
}

/// Checks that the usage by node adds up to the usage of the file.
fn check_usage(entries: &[(u32, Entry<'_>)]) {
    let mut node_usage = UsageByNode::default();
    let mut collector = UsageCollector::default();
    for (_, entry) in entries.iter().filter(|(_, entry)| entry.uuid.is_some()) {
        node_usage.add(entry);
        collector.add(entry);
    }
    let mut sum = rethread_core::entry::Usage::default();
    let mut count = 0;
    for (_, usage) in node_usage.usage_by_node() {
        sum.add(&usage);
        count += 1;
    }
    let total = total_tokens(&dedupe_responses(&[collector.finish()]));
    assert_eq!(
        (count, sum),
        (total.responses, total.usage),
        "the usage by node adds up to the usage of the file"
    );
}

fn check_turns(tree: &Tree) {
    for node_id in node_ids(tree) {
        if let Some(turn) = tree.turn_of(node_id) {
            assert_eq!(tree.turn_of(turn), Some(turn), "the start of a turn belongs to it");
            // Images may be above the text they belong to. A repeated prompt continues the turn of the first one.
            let is_related = tree.ancestors(node_id).iter().any(|&id| tree.original(id) == turn)
                || tree.children(node_id).iter().any(|&id| tree.original(id) == turn);
            assert!(is_related, "a turn starts above its nodes");
        }
    }
}

/// Checks that reading with a cache of the lines before gives the same result as reading each line alone.
pub fn reader_cache(bytes: &[u8]) {
    let mut reader = Reader::default();
    LineSplitter::default().feed(bytes, true, &mut Vec::new(), |line, _| {
        let (mut with_cache, mut alone) = (Vec::new(), Vec::new());
        let (mut problems_with_cache, mut problems_alone) = (Vec::new(), Vec::new());
        let status = reader.read_line(&line, &mut problems_with_cache, |entry, offset| {
            with_cache.push(format!("{offset} {entry:?}"));
        });
        let status_alone = rethread_core::entry::read_line(&line, &mut problems_alone, |entry, offset| {
            alone.push(format!("{offset} {entry:?}"));
        });
        assert_eq!(
            (status, with_cache, problems_with_cache),
            (status_alone, alone, problems_alone),
            "the cache changes nothing"
        );
    });
}
