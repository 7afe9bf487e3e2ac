//! Counts the entries that have several children: by the types of the children, and by cause.

use std::collections::BTreeMap;

use super::collect::{NameCounts, add_names};
use crate::entry::Kind;
use crate::tree::{ForkKind, NodeId, Tree};

/// The forks of one file, or their sums over several files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForkCounts {
    /// Entries with several children, by the sorted types of the children: `(assistant, user)`.
    ///
    /// With three or more children, each type is named once, and the only type of all children three times:
    /// `(progress, user, …)`, `(user, user, user, …)`.
    pub siblings: NameCounts,
    /// Forks of the main conversation by cause, artifacts of recording included.
    pub kinds: NameCounts,
    /// The number of prompts by the number of their versions, for prompts that the user edited or rewound to.
    pub prompt_versions: BTreeMap<u64, u64>,
    /// Real branches in addition to the first of each file.
    pub extra_branches: u64,
}

crate::pack_fields!(ForkCounts { siblings, kinds, prompt_versions, extra_branches });

impl ForkCounts {
    /// Counts the forks of a tree.
    pub fn from_tree(tree: &Tree) -> ForkCounts {
        let mut counts = ForkCounts::default();
        for id in 0..tree.nodes().len() as NodeId {
            let children = tree.children(id);
            if children.len() > 1 {
                let kinds = children.iter().map(|&child| tree.node(child).kind).collect();
                *counts.siblings.entry(name_siblings(kinds)).or_default() += 1;
            }
        }
        for fork in tree.find_forks() {
            *counts.kinds.entry(fork.kind.name().to_owned()).or_default() += 1;
            let branch_count = fork.branches.len() as u64;
            if fork.kind.is_real() {
                counts.extra_branches += branch_count - 1;
            }
            if matches!(fork.kind, ForkKind::Edit | ForkKind::Rewind) {
                *counts.prompt_versions.entry(branch_count).or_default() += 1;
            }
        }
        counts
    }

    /// Adds the counts of other files.
    pub fn merge(&mut self, other: ForkCounts) {
        add_names(&mut self.siblings, other.siblings);
        add_names(&mut self.kinds, other.kinds);
        for (versions, prompts) in other.prompt_versions {
            *self.prompt_versions.entry(versions).or_default() += prompts;
        }
        self.extra_branches += other.extra_branches;
    }
}

/// Returns the name of a pattern of siblings. See [`ForkCounts::siblings`].
fn name_siblings(mut kinds: Vec<Kind>) -> String {
    let child_count = kinds.len();
    let mut names: Vec<&str> = Vec::new();
    kinds.sort_unstable_by_key(|kind| kind.name());
    if child_count > 2 {
        kinds.dedup();
    }
    names.extend(kinds.iter().map(|kind| kind.name()));
    if let ([name], true) = (&names[..], child_count > 2) {
        names = vec![name; 3];
    }
    format!("({}{})", names.join(", "), if child_count > 2 { ", …" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::name_siblings;
    use crate::entry::Kind;

    #[test]
    fn patterns_name_each_type() {
        use Kind::{Assistant, Progress, User};
        let names = [
            vec![User, User],
            vec![User, Assistant],
            vec![User; 3],
            vec![User; 10],
            vec![User, Progress, Progress, Progress],
        ]
        .map(name_siblings);
        assert_eq!(
            names,
            [
                "(user, user)",
                "(assistant, user)",
                "(user, user, user, …)",
                "(user, user, user, …)",
                "(progress, user, …)"
            ]
        );
    }
}
