//! Simulates a resume: the leaf, the path, what is sent, and why other entries are not.

use super::api_messages::{BlockOrigin, SentBlock, build_messages};
use super::chain::{WalkEnd, add_trailing_entries, rejoin_responses, truncate_at_boundary, walk_to_root};
use super::client_graph::{ClientGraph, NONE};
use super::leaf::{LeafRule, choose_leaf, find_rewound};
use super::loss::{LossCause, LostBranches};
use super::resume_index::ResumeIndex;
use super::rules::{RewindRule, Rules, TrailingRule};
use crate::entry::{EntryRole, Flags, Kind};
use crate::tree::{NodeId, ParentLink, PathRelation, Tree};
use crate::version::Version;

/// The entries that a client loads from a file and the blocks that it sends.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ResumeOutcome {
    /// The entry that the client resumes from, and the rule that chose it. `None` if the client finds none.
    pub leaf: Option<(NodeId, LeafRule)>,
    /// The loaded entries, in the order of the conversation.
    pub chain: Vec<NodeId>,
    /// The blocks that the client sends, in the order of the messages.
    pub sent: Vec<SentBlock>,
    /// The user and assistant entries that are sent, in the order of their first block.
    pub path: Vec<NodeId>,
    /// The entry at which the walk from the leaf ended early: at a compaction or a broken link. `None` if it reached the
    /// start of the conversation.
    pub early_end: Option<EarlyEnd>,
    /// Why the client loads nothing. `None` if it loads entries.
    pub failure: Option<LoadFailure>,
    /// The number of entries on `path`, without sidechains.
    pub loaded: usize,
    /// The number of user and assistant lines of the file, without sidechains.
    pub entries: usize,
    /// The user and assistant lines that are not on `path`, without sidechains, each once, in file order.
    pub skipped: Vec<SkippedEntry>,
}

/// The entries that a client sends after a resume.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentContext {
    /// The user and assistant entries, in the order of their first block. Equals [`ResumeOutcome::path`].
    pub path: Vec<NodeId>,
    /// The loaded entries with text of the user that are no messages, in the order of the conversation: queued prompts,
    /// notifications, local commands.
    pub attached: Vec<NodeId>,
    /// The estimated number of tokens of the context.
    pub tokens: u64,
}

/// The entries below a requested entry that a simulated client loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrailingEntries {
    /// All entries that the client loads with the message at or above the requested entry.
    All,
    /// The entries that neither a text of the user nor a compaction separates from the message.
    SameTurn,
}

/// The end of a walk that did not reach the start of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlyEnd {
    /// The last entry of the walk.
    pub node: NodeId,
    /// Why the walk ended there.
    pub reason: SkipReason,
}

/// Why a client loads nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadFailure {
    /// It never returns: parent links form a cycle.
    Hangs,
    /// It exits with an error: no entry is a leaf, or the leaf has no timestamp.
    GivesUp,
    /// The file has no entry to load, or no summary points to one.
    Nothing,
}

impl LoadFailure {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            LoadFailure::Hangs => "hangs",
            LoadFailure::GivesUp => "gives-up",
            LoadFailure::Nothing => "nothing",
        }
    }
}

/// A user or assistant line that is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkippedEntry {
    /// The line number, from 1.
    pub line: u32,
    /// The entry. `None` for a line without a uuid.
    pub node: Option<NodeId>,
    /// Why it is not sent.
    pub reason: SkipReason,
    /// Why it is lost. `None` if it is not, that is, unless [`SkipReason::is_loss`].
    pub cause: Option<LossCause>,
}

impl SkippedEntry {
    /// Returns `true` if the entry is lost and the user did not leave it.
    pub fn is_unintended(&self) -> bool {
        self.cause.is_some_and(|cause| cause != LossCause::User)
    }
}

/// Why an entry is not loaded, not sent, or the last one loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// It is on another branch of the same root.
    OtherBranch,
    /// It belongs to another root.
    OtherRoot,
    /// Its parent or the parent of an ancestor is not in the file.
    MissingParent,
    /// Its parent or the parent of an ancestor is a line that this client does not load.
    UnreadParent,
    /// It or an ancestor is part of a cycle of parent links.
    Cycle,
    /// Its line is damaged, so the client does not read it.
    Damaged,
    /// The client never returns or exits with an error, so it loads nothing.
    LoadFailed,
    /// A compaction preserves it, but the client drops it because another preserved entry is not in the file.
    NotPreserved,
    /// It has no uuid.
    MissingUuid,
    /// A compaction replaced it by a summary.
    Compacted,
    /// A later line has the same uuid.
    Repeated,
    /// It is a line of a local command, such as `/exit`, without a message after it.
    Local,
    /// It is an API error.
    ApiError,
    /// Its tool calls have no results.
    Unanswered,
    /// It was loaded but none of its blocks is sent, usually because its results answer no call that is sent.
    Orphan,
    /// Its response consists of thinking only.
    LoneThinking,
    /// It is an answer with blank text only.
    Blank,
    /// It is a prompt without content.
    Empty,
}

impl SkipReason {
    /// Returns the name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            SkipReason::OtherBranch => "other-branch",
            SkipReason::OtherRoot => "other-root",
            SkipReason::MissingParent => "missing-parent",
            SkipReason::UnreadParent => "unread-parent",
            SkipReason::Cycle => "cycle",
            SkipReason::Damaged => "damaged-line",
            SkipReason::LoadFailed => "load-failed",
            SkipReason::NotPreserved => "not-preserved",
            SkipReason::MissingUuid => "no-uuid",
            SkipReason::Compacted => "compacted",
            SkipReason::Repeated => "repeated",
            SkipReason::Local => "local-command",
            SkipReason::ApiError => "api-error",
            SkipReason::Unanswered => "unanswered-call",
            SkipReason::Orphan => "orphan-result",
            SkipReason::LoneThinking => "lone-thinking",
            SkipReason::Blank => "blank",
            SkipReason::Empty => "empty",
        }
    }

    /// Returns `true` if nothing in the context represents an entry skipped for this reason.
    ///
    /// Compacted and repeated entries are represented by others; local commands, errors and blank texts are no loss.
    pub fn is_loss(self) -> bool {
        self <= SkipReason::MissingUuid
    }
}

/// The chain that a client loads, the leaf with the rule that chose it, and the early end of the walk.
struct LoadedChain {
    leaf: NodeId,
    rule: LeafRule,
    chain: Vec<NodeId>,
    early_end: Option<EarlyEnd>,
}

/// Chooses the leaf and loads the chain of a client.
///
/// If the client loads nothing, returns `Err` with the cause and the leaf, if one was chosen.
fn load_chain(
    graph: &ClientGraph<'_>,
    index: &ResumeIndex,
    rules: &Rules,
) -> Result<LoadedChain, (LoadFailure, Option<(NodeId, LeafRule)>)> {
    let Some((leaf, rule)) = choose_leaf(graph, index, rules) else {
        return Err((if graph.order.is_empty() { LoadFailure::Nothing } else { LoadFailure::GivesUp }, None));
    };
    load_chain_at(graph, index, rules, (leaf, rule), TrailingEntries::All)
}

/// Loads the chain of a client that resumes from `leaf`, which `rule` chose, with the entries `trailing` below it.
///
/// Returns `Err` with the cause and the leaf if the message at or above `leaf` must have a timestamp but has none, or if
/// the client never returns because of a cycle.
fn load_chain_at(
    graph: &ClientGraph<'_>,
    index: &ResumeIndex,
    rules: &Rules,
    (leaf, rule): (NodeId, LeafRule),
    trailing: TrailingEntries,
) -> Result<LoadedChain, (LoadFailure, Option<(NodeId, LeafRule)>)> {
    let message = graph.nearest_message(leaf);
    if !rules.leaf_without_time && message.is_some_and(|id| graph.tree.node(id).time().is_none()) {
        return Err((LoadFailure::GivesUp, Some((leaf, rule))));
    }
    let start = message.filter(|_| rules.trailing != TrailingRule::Walk).unwrap_or(leaf);
    let (mut path, end) = walk_to_root(graph, start);
    if end == WalkEnd::Cycle && rules.cycle_hangs {
        return Err((LoadFailure::Hangs, Some((leaf, rule))));
    }
    let root = path[0];
    add_trailing_entries(graph, rules.trailing, leaf, trailing, &mut path);
    let mut chain = rejoin_responses(graph, index, rules.rejoin, path);
    let is_cut = rules.cut_at_boundary && truncate_at_boundary(graph, &mut chain);
    let early_end = match end {
        _ if is_cut => Some(EarlyEnd { node: chain[0], reason: SkipReason::Compacted }),
        WalkEnd::Root => None,
        WalkEnd::Boundary | WalkEnd::DroppedParent => {
            Some(EarlyEnd { node: root, reason: SkipReason::Compacted })
        }
        WalkEnd::MissingParent => Some(EarlyEnd { node: root, reason: SkipReason::MissingParent }),
        WalkEnd::UnreadParent => Some(EarlyEnd { node: root, reason: SkipReason::UnreadParent }),
        WalkEnd::Cycle => Some(EarlyEnd { node: root, reason: SkipReason::Cycle }),
    };
    Ok(LoadedChain { leaf, rule, chain, early_end })
}

/// Loads the chain of a client that resumes from `leaf`, which the caller chose. Returns `None` if the client does not
/// load `leaf`, or for any [`LoadFailure`].
fn load_requested_chain(
    graph: &ClientGraph<'_>,
    index: &ResumeIndex,
    rules: &Rules,
    leaf: NodeId,
    trailing: TrailingEntries,
) -> Option<LoadedChain> {
    let is_loaded = graph.loaded[leaf as usize];
    is_loaded
        .then(|| load_chain_at(graph, index, rules, (leaf, LeafRule::Requested), trailing).ok())
        .flatten()
}

/// Returns the leaf of a client and the entries that it loads, in the order of the conversation.
///
/// Returns `None` if the client loads nothing, for any [`LoadFailure`].
pub fn active_path(tree: &Tree, index: &ResumeIndex, client: &Version) -> Option<(NodeId, Vec<NodeId>)> {
    let rules = Rules::for_client(client);
    let loaded = load_chain(&ClientGraph::new(tree, &rules), index, &rules).ok()?;
    Some((loaded.leaf, loaded.chain))
}

/// Returns the entries that a client loads if it resumes from `leaf`, with the entries `trailing` below it, in the order of the
/// conversation.
///
/// Returns `None` if the client does not load `leaf`, as [`simulate_resume_at`] does, or for any [`LoadFailure`].
pub fn active_path_at(
    tree: &Tree,
    index: &ResumeIndex,
    client: &Version,
    leaf: NodeId,
    trailing: TrailingEntries,
) -> Option<Vec<NodeId>> {
    let rules = Rules::for_client(client);
    let graph = ClientGraph::new(tree, &rules);
    Some(load_requested_chain(&graph, index, &rules, leaf, trailing)?.chain)
}

/// Returns, by node id, whether a client of this version can resume from each entry, as [`simulate_resume_at`] does.
pub fn resumable_entries(tree: &Tree, client: &Version) -> Vec<bool> {
    ClientGraph::new(tree, &Rules::for_client(client)).loaded
}

/// Simulates how a client of this version resumes from the leaf that it chooses itself.
pub fn simulate_resume(tree: &Tree, index: &ResumeIndex, client: &Version) -> ResumeOutcome {
    let rules = Rules::for_client(client);
    let graph = ClientGraph::new(tree, &rules);
    build_outcome(&graph, index, &rules, load_chain(&graph, index, &rules))
}

/// Simulates how a client of this version would resume from `leaf`.
///
/// Returns `None` if the client does not load `leaf`: its kind is not loaded, its line is damaged, a later line repeats its
/// uuid, or it precedes a compaction that did not preserve it.
pub fn simulate_resume_at(
    tree: &Tree,
    index: &ResumeIndex,
    client: &Version,
    leaf: NodeId,
) -> Option<ResumeOutcome> {
    let rules = Rules::for_client(client);
    let graph = ClientGraph::new(tree, &rules);
    let is_loaded = graph.loaded[leaf as usize];
    is_loaded.then(|| {
        let requested = (leaf, LeafRule::Requested);
        let loaded = load_chain_at(&graph, index, &rules, requested, TrailingEntries::All);
        build_outcome(&graph, index, &rules, loaded)
    })
}

/// Simulates what a client of this version sends when it resumes from the leaf that it chooses itself.
///
/// The result is that of [`simulate_resume`] without the skipped entries, whose reasons take most of the time. A client that
/// loads nothing sends nothing.
pub fn simulate_sent_context(tree: &Tree, index: &ResumeIndex, client: &Version) -> SentContext {
    let rules = Rules::for_client(client);
    let graph = ClientGraph::new(tree, &rules);
    match load_chain(&graph, index, &rules) {
        Ok(loaded) => build_sent_context(&graph, index, &rules, loaded),
        Err(_) => SentContext::default(),
    }
}

/// Simulates what a client of this version would send if it resumed from `leaf`, with the entries `trailing` below it.
///
/// Returns `None` if the client does not load `leaf`, as [`simulate_resume_at`] does, or for any [`LoadFailure`].
pub fn simulate_sent_context_at(
    tree: &Tree,
    index: &ResumeIndex,
    client: &Version,
    leaf: NodeId,
    trailing: TrailingEntries,
) -> Option<SentContext> {
    let rules = Rules::for_client(client);
    let graph = ClientGraph::new(tree, &rules);
    let loaded = load_requested_chain(&graph, index, &rules, leaf, trailing)?;
    Some(build_sent_context(&graph, index, &rules, loaded))
}

fn build_sent_context(
    graph: &ClientGraph<'_>,
    index: &ResumeIndex,
    rules: &Rules,
    loaded: LoadedChain,
) -> SentContext {
    let (outcome, _) = build_unclassified_outcome(graph, index, rules, loaded);
    let is_attached = |&id: &NodeId| !graph.is_message(id) && graph.has_text(id);
    let attached = outcome.chain.iter().copied().filter(is_attached).collect();
    SentContext { tokens: outcome.estimate_tokens(index), path: outcome.path, attached }
}

/// Builds the outcome of a loaded chain, or of the failure to load one.
fn build_outcome(
    graph: &ClientGraph<'_>,
    index: &ResumeIndex,
    rules: &Rules,
    loaded: Result<LoadedChain, (LoadFailure, Option<(NodeId, LeafRule)>)>,
) -> ResumeOutcome {
    let (mut outcome, not_sent) = match loaded {
        Ok(loaded) => build_unclassified_outcome(graph, index, rules, loaded),
        Err((failure, leaf)) => return build_failed_outcome(graph, index, failure, leaf),
    };
    outcome.classify_skipped(graph, index, &not_sent);
    outcome
}

/// Builds the outcome of a loaded chain without the skipped entries and the counts. Also returns the loaded entries that
/// are not sent.
fn build_unclassified_outcome(
    graph: &ClientGraph<'_>,
    index: &ResumeIndex,
    rules: &Rules,
    loaded: LoadedChain,
) -> (ResumeOutcome, Vec<(NodeId, SkipReason)>) {
    let LoadedChain { leaf, rule, chain, early_end } = loaded;
    // A caller that names the leaf adds a pointer to it.
    let rewound = if rule == LeafRule::Requested { None } else { find_rewound(graph, index) };
    let rewound = rewound.filter(|_| rules.rewind != RewindRule::Ignored);
    let (sent, not_sent) = build_messages(graph, index, rules, &chain, rewound);
    let path = collect_path(graph.tree, &sent);
    let outcome =
        ResumeOutcome { leaf: Some((leaf, rule)), chain, sent, path, early_end, ..ResumeOutcome::default() };
    (outcome, not_sent)
}

/// Simulates a client that resumes from the entry that the last summary points to. No measured client does so.
///
/// The outcome contains no sent blocks. It is `LoadFailure::Nothing` if no summary points to an entry of the file.
pub fn simulate_by_summary(tree: &Tree, index: &ResumeIndex) -> ResumeOutcome {
    let newest = Version::parse_lenient(super::rules::KNOWN_CLIENTS[super::rules::KNOWN_CLIENTS.len() - 1]);
    let graph = ClientGraph::from_uuids(tree, &Rules::for_client(&newest));
    let target =
        index.summary.and_then(|(leaf, line)| Some((tree.find_uuid(leaf)?, LeafRule::Summary(line))));
    let Some((leaf, rule)) = target else {
        return build_failed_outcome(&graph, index, LoadFailure::Nothing, None);
    };
    let (chain, end) = walk_to_root(&graph, leaf);
    let is_message = |id: &NodeId| graph.is_message(*id);
    let path: Vec<NodeId> = chain.iter().copied().filter(is_message).collect();
    let reason = match end {
        WalkEnd::Root | WalkEnd::Boundary => None,
        WalkEnd::Cycle => Some(SkipReason::Cycle),
        WalkEnd::UnreadParent => Some(SkipReason::UnreadParent),
        WalkEnd::MissingParent | WalkEnd::DroppedParent => Some(SkipReason::MissingParent),
    };
    let early_end = reason.map(|reason| EarlyEnd { node: chain[0], reason });
    let mut outcome =
        ResumeOutcome { leaf: Some((leaf, rule)), chain, path, early_end, ..ResumeOutcome::default() };
    outcome.classify_skipped(&graph, index, &[]);
    outcome
}

fn build_failed_outcome(
    graph: &ClientGraph<'_>,
    index: &ResumeIndex,
    failure: LoadFailure,
    leaf: Option<(NodeId, LeafRule)>,
) -> ResumeOutcome {
    let mut outcome = ResumeOutcome { leaf, failure: Some(failure), ..ResumeOutcome::default() };
    outcome.classify_skipped(graph, index, &[]);
    outcome
}

/// Returns the user and assistant entries with sent blocks, each once, in the order of their first block.
fn collect_path(tree: &Tree, sent: &[SentBlock]) -> Vec<NodeId> {
    let mut seen = vec![false; tree.nodes().len()];
    let mut path = Vec::new();
    for block in sent {
        if let BlockOrigin::Block(id, _) = block.origin
            && matches!(tree.node(id).kind, Kind::User | Kind::Assistant)
            && !std::mem::replace(&mut seen[id as usize], true)
        {
            path.push(id);
        }
    }
    path
}

impl ResumeOutcome {
    /// Returns the number of skipped entries that are lost: nothing in the context represents them.
    pub fn lost_count(&self) -> usize {
        self.skipped.iter().filter(|skipped| skipped.reason.is_loss()).count()
    }

    /// Returns `true` if the client cannot load the session, or if entries are lost that the user did not leave.
    ///
    /// A file without entries and the file of a subagent have nothing to lose.
    pub fn has_unintended_loss(&self) -> bool {
        self.failure.is_some() && self.entries > 0 || self.skipped.iter().any(SkippedEntry::is_unintended)
    }

    /// Returns the number of entries that preceded the choice of the leaf by the user, all if the caller named it.
    ///
    /// Returns `None` if neither a rewind nor the caller named the leaf. A client that ignores the pointer of a rewind may
    /// resume from the same message nevertheless.
    pub(super) fn find_leaf_choice(&self, tree: &Tree, index: &ResumeIndex) -> Option<NodeId> {
        let pin = index.pin;
        let explicit_at = pin.and_then(|pin| pin.explicit_at);
        let is_message = |id: &NodeId| matches!(tree.node(*id).kind, Kind::User | Kind::Assistant);
        let find_message =
            |id: NodeId| std::iter::successors(Some(id), |&id| tree.node(id).parent()).find(is_message);
        let is_chosen = match self.leaf? {
            (_, LeafRule::Requested) => return Some(NodeId::MAX),
            (_, LeafRule::Pinned(_)) => true,
            (leaf, _) => {
                let target = pin.and_then(|pin| tree.find_uuid(pin.leaf));
                target.is_some_and(|target| find_message(target) == find_message(leaf))
            }
        };
        explicit_at.filter(|_| is_chosen)
    }

    /// Returns the entries that the last compaction in the chain replaces.
    fn find_compacted_entries(&self, tree: &Tree) -> Vec<NodeId> {
        let conversation =
            self.leaf.map(|(leaf, _)| tree.conversation(leaf, &self.chain)).unwrap_or_default();
        let compacted =
            conversation.entries.into_iter().filter(|entry| entry.relation == PathRelation::Compacted);
        compacted.map(|entry| entry.node).collect()
    }

    /// Returns the entries that the last compaction in the chain preserves, whether the client loads them or not.
    fn find_preserved_entries(&self, tree: &Tree) -> Vec<NodeId> {
        let boundary =
            self.chain.iter().copied().rfind(|&id| tree.node(id).role == EntryRole::CompactBoundary);
        let preserved = tree.boundaries.iter().find(|(id, _)| Some(*id) == boundary);
        preserved.and_then(|(_, entries)| entries.resolve(tree)).map_or_else(Vec::new, |(_, entries)| entries)
    }

    /// Sets `skipped`, `loaded` and `entries`: lists every user and assistant line that is not on the path, with the reason.
    ///
    /// `not_sent` are the loaded entries that were filtered out.
    fn classify_skipped(
        &mut self,
        graph: &ClientGraph<'_>,
        index: &ResumeIndex,
        not_sent: &[(NodeId, SkipReason)],
    ) {
        let tree = graph.tree;
        let mut reasons: Vec<Option<SkipReason>> = vec![None; tree.nodes().len()];
        for id in self.find_compacted_entries(tree) {
            reasons[id as usize] = Some(SkipReason::Compacted);
        }
        for id in self.find_preserved_entries(tree) {
            reasons[id as usize] = Some(SkipReason::NotPreserved);
        }
        for &id in &self.chain {
            reasons[id as usize] = Some(SkipReason::Orphan);
        }
        for &(id, reason) in not_sent {
            reasons[id as usize] = Some(reason);
        }
        let represented: Vec<bool> = reasons.iter().map(Option::is_some).collect();
        let branches = std::cell::OnceCell::new();
        let find_branches = || LostBranches::find(tree, index, self, &represented);
        let mut on_path = vec![false; tree.nodes().len()];
        self.path.iter().for_each(|&id| on_path[id as usize] = true);
        let roots = WalkRoots::from_graph(graph);
        let is_local = |id: NodeId| {
            matches!(tree.node(id).role, EntryRole::Meta | EntryRole::Command | EntryRole::Output)
        };
        let has_message_below = graph.mark_with_ancestors(|id| graph.is_message(id) && !is_local(id));
        let leaf_root = self.chain.first().map_or(NONE, |&id| roots.get_root(id));
        let mut skipped: Vec<SkippedEntry> = Vec::new();
        let mut entries = index.missing_uuid.len();
        for id in 0..tree.nodes().len() as NodeId {
            let node = tree.node(id);
            let is_message = matches!(node.kind, Kind::User | Kind::Assistant);
            if !is_message || node.has_flag(Flags::RESUME_MARKER) || !tree.is_main_chain(id) {
                continue;
            }
            entries += 1;
            if on_path[id as usize] {
                continue;
            }
            let is_last = graph.last_with_uuid(id) == id;
            let reason = match reasons[id as usize] {
                _ if node.has_flag(Flags::RECOVERED) => SkipReason::Damaged,
                _ if !is_last => SkipReason::Repeated,
                Some(reason) => reason,
                None if self.failure.is_some_and(|failure| failure != LoadFailure::Nothing) => {
                    SkipReason::LoadFailed
                }
                None => match roots.find_skip_reason(graph, id, leaf_root) {
                    SkipReason::OtherBranch if is_local(id) && !has_message_below[id as usize] => {
                        SkipReason::Local
                    }
                    reason => reason,
                },
            };
            let cause = reason.is_loss().then(|| match reason {
                SkipReason::OtherBranch | SkipReason::OtherRoot => {
                    branches.get_or_init(find_branches).cause_of(id)
                }
                _ => LossCause::Damage,
            });
            skipped.push(SkippedEntry { line: node.span.line, node: Some(id), reason, cause });
        }
        let missing_uuid = index.missing_uuid.iter().map(|&line| SkippedEntry {
            line,
            node: None,
            reason: SkipReason::MissingUuid,
            cause: Some(LossCause::Damage),
        });
        skipped.extend(missing_uuid);
        skipped.sort_by_key(|skipped| skipped.line);
        let is_counted = |id: NodeId| tree.is_main_chain(id) && !tree.node(id).has_flag(Flags::RESUME_MARKER);
        self.loaded = self.path.iter().filter(|&&id| is_counted(id)).count();
        self.entries = entries;
        self.skipped = skipped;
    }
}

/// The root of each entry: the last entry of a walk along the client's parent links. `NONE` for entries not loaded.
struct WalkRoots {
    roots: Vec<NodeId>,
}

impl WalkRoots {
    /// Finds the root of each loaded entry. In a cycle it is one of the entries of the cycle.
    fn from_graph(graph: &ClientGraph<'_>) -> WalkRoots {
        let mut roots = vec![NONE; graph.parent.len()];
        let mut path = Vec::new();
        for &id in &graph.order {
            let mut node = id;
            let mut root = node;
            while node != NONE && roots[node as usize] == NONE {
                // Mark before moving on, so that a cycle ends the walk.
                roots[node as usize] = node;
                path.push(node);
                root = node;
                node = graph.parent[node as usize];
            }
            if node != NONE {
                root = roots[node as usize];
            }
            path.drain(..).for_each(|id| roots[id as usize] = root);
        }
        WalkRoots { roots }
    }

    fn get_root(&self, id: NodeId) -> NodeId {
        self.roots[id as usize]
    }

    /// Returns why an entry that is not on the walk from the leaf is not loaded. `leaf_root` is the root of that walk.
    fn find_skip_reason(&self, graph: &ClientGraph<'_>, id: NodeId, leaf_root: NodeId) -> SkipReason {
        let root = self.get_root(id);
        if root == NONE {
            // The client dropped it at a compaction that did not preserve it, and no summary replaces it.
            return SkipReason::OtherBranch;
        }
        match graph.tree.node(root).link {
            _ if root == leaf_root => SkipReason::OtherBranch,
            ParentLink::Root => SkipReason::OtherRoot,
            ParentLink::MissingParent => SkipReason::MissingParent,
            ParentLink::CycleBroken => SkipReason::Cycle,
            ParentLink::Child if graph.parent[root as usize] == NONE => SkipReason::UnreadParent,
            ParentLink::Child => SkipReason::Cycle,
        }
    }
}
