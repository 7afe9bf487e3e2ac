//! A union-find structure with path halving.

/// Disjoint sets of the items `0..len`. Each set is represented by one of its items, its root.
pub(crate) struct UnionFind {
    /// The next item towards the root. A root names itself.
    parents: Vec<usize>,
}

impl UnionFind {
    /// Creates `len` sets of one item each.
    pub(crate) fn new(len: usize) -> UnionFind {
        UnionFind { parents: (0..len).collect() }
    }

    /// Returns the root of the set that contains `item`.
    pub(crate) fn find_root(&mut self, mut item: usize) -> usize {
        while self.parents[item] != item {
            self.parents[item] = self.parents[self.parents[item]];
            item = self.parents[item];
        }
        item
    }

    /// Merges the set of `item` into the set of `target`. The root of `target` stays the root.
    pub(crate) fn merge_into(&mut self, item: usize, target: usize) {
        let (root, target) = (self.find_root(item), self.find_root(target));
        self.parents[root] = target;
    }

    /// Merges the sets of `a` and `b`. The smaller of their roots stays the root.
    pub(crate) fn merge_to_smallest(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find_root(a), self.find_root(b));
        self.merge_into(a.max(b), a.min(b));
    }
}
