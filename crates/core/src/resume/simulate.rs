//! What a client makes of a file: the leaf, the path, what is sent, and everything that is not.

use super::api_messages::{BlockOrigin, SentBlock, send};
use super::chain::{WalkEnd, rejoin, since_boundary, walk};
use super::client_graph::{ClientGraph, NONE};
use super::leaf::{LeafRule, choose};
use super::resume_index::ResumeIndex;
use super::rules::Rules;
use crate::entry::{EntryRole, Flags, Kind};
use crate::tree::{NodeId, ParentLink, Tree};
use crate::version::Version;

/// What a client loads from a file and sends.
#[derive(Debug, Default)]
pub struct ResumeOutcome {
    /// The entry it goes on from, and why that one.
    pub leaf: Option<(NodeId, LeafRule)>,
    /// Every entry that is loaded, in order.
    pub chain: Vec<NodeId>,
    /// Every block that is sent, in order.
    pub sent: Vec<SentBlock>,
    /// The entries of user and assistant that are sent, in the order of their first block.
    pub path: Vec<NodeId>,
    /// Where the walk from the leaf ended, unless at a beginning.
    pub stop: Option<EarlyEnd>,
    /// What keeps the client from loading anything.
    pub halt: Option<LoadFailure>,
    /// Entries of the path outside subagents.
    pub loaded: usize,
    /// Lines of user and assistant outside subagents: all of them.
    pub entries: usize,
    /// Those that are not on the path, each once, in the order of the file.
    pub unreachable: Vec<SkippedEntry>,
}

/// Where a walk ended too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlyEnd {
    /// The last entry it reached.
    pub node: NodeId,
    /// Why it ended there.
    pub why: SkipReason,
}

/// What keeps a client from loading anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadFailure {
    /// It never comes back: entries are each other's ancestors.
    Hangs,
    /// It ends with an error: no entry is a leaf, or the leaf has no timestamp.
    GivesUp,
    /// There is nothing to load.
    Nothing,
}

impl LoadFailure {
    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            LoadFailure::Hangs => "hangs",
            LoadFailure::GivesUp => "gives-up",
            LoadFailure::Nothing => "nothing",
        }
    }
}

/// A line that is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkippedEntry {
    /// Its number in the file.
    pub line: u32,
    /// The entry; `None` for a line without a uuid.
    pub node: Option<NodeId>,
    /// Why.
    pub why: SkipReason,
}

/// Why an entry is not loaded, not sent, or the last that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SkipReason {
    /// It is on another branch of the same beginning.
    OtherBranch,
    /// It belongs to another beginning.
    OtherRoot,
    /// What is above it is cut off: its parent, or an ancestor's, is in no line.
    MissingParent,
    /// Its parent is a line that this client does not read.
    UnreadParent,
    /// It is its own ancestor.
    Cycle,
    /// Its line is damaged: the client reads nothing of it.
    Damaged,
    /// The client loads nothing at all.
    Halted,
    /// It has no uuid.
    Nameless,
    /// It was summed up by a compaction.
    Compacted,
    /// Another line with the same uuid stands for it.
    Repeated,
    /// It is a line of a local command, such as `/exit`, that nothing was said after.
    Local,
    /// It shows an API error.
    ApiError,
    /// It calls tools that never answered.
    Unanswered,
    /// It answers no call of the path.
    Orphan,
    /// It thinks and says nothing.
    LoneThinking,
    /// It says nothing.
    Blank,
    /// It has no content.
    Empty,
}

impl SkipReason {
    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            SkipReason::OtherBranch => "other-branch",
            SkipReason::OtherRoot => "other-root",
            SkipReason::MissingParent => "missing-parent",
            SkipReason::UnreadParent => "unread-parent",
            SkipReason::Cycle => "cycle",
            SkipReason::Damaged => "damaged-line",
            SkipReason::Halted => "halted",
            SkipReason::Nameless => "no-uuid",
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

    /// Whether the client does not know of such an entry any more: nothing else in the context stands for it.
    pub fn is_loss(self) -> bool {
        self <= SkipReason::Nameless
    }
}

/// The entry that a client goes on from, why that one, and all that it loads.
struct Loaded {
    leaf: NodeId,
    rule: LeafRule,
    chain: Vec<NodeId>,
    stop: Option<EarlyEnd>,
}

/// Loads what a client would, or says what keeps it from that.
fn load(
    links: &ClientGraph<'_>,
    facts: &ResumeIndex,
    rules: &Rules,
) -> Result<Loaded, (LoadFailure, Option<(NodeId, LeafRule)>)> {
    let Some((leaf, rule)) = choose(links, facts, rules) else {
        return Err((if links.order.is_empty() { LoadFailure::Nothing } else { LoadFailure::GivesUp }, None));
    };
    load_at(links, facts, rules, leaf, rule)
}

/// Loads what a client would that goes on from `leaf`.
fn load_at(
    links: &ClientGraph<'_>,
    facts: &ResumeIndex,
    rules: &Rules,
    leaf: NodeId,
    rule: LeafRule,
) -> Result<Loaded, (LoadFailure, Option<(NodeId, LeafRule)>)> {
    let speaker = links.nearest_ancestor(leaf, |no| links.speaks(no));
    if !rules.timeless_leaf && speaker.is_some_and(|no| links.tree.node(no).time().is_none()) {
        return Err((LoadFailure::GivesUp, Some((leaf, rule))));
    }
    let (walked, end) = walk(links, leaf);
    if end == WalkEnd::Cycle && rules.cycle_hangs {
        return Err((LoadFailure::Hangs, Some((leaf, rule))));
    }
    let top = walked[0];
    let mut chain = rejoin(links, facts, rules.rejoin, walked);
    let cut = rules.cut_at_boundary && since_boundary(links, &mut chain);
    let stop = match end {
        _ if cut => Some(EarlyEnd { node: chain[0], why: SkipReason::Compacted }),
        WalkEnd::Root => None,
        WalkEnd::Boundary | WalkEnd::Dropped => Some(EarlyEnd { node: top, why: SkipReason::Compacted }),
        WalkEnd::Missing => Some(EarlyEnd { node: top, why: SkipReason::MissingParent }),
        WalkEnd::Unread => Some(EarlyEnd { node: top, why: SkipReason::UnreadParent }),
        WalkEnd::Cycle => Some(EarlyEnd { node: top, why: SkipReason::Cycle }),
    };
    Ok(Loaded { leaf, rule, chain, stop })
}

/// Returns the leaf of a client of this version and every entry that it loads, in order; nothing where it loads nothing.
pub fn active_path(tree: &Tree, facts: &ResumeIndex, client: &Version) -> Option<(NodeId, Vec<NodeId>)> {
    let rules = Rules::of(client);
    let loaded = load(&ClientGraph::new(tree, &rules), facts, &rules).ok()?;
    Some((loaded.leaf, loaded.chain))
}

/// Says what a client of this version loads and sends.
pub fn simulate_resume(tree: &Tree, facts: &ResumeIndex, client: &Version) -> ResumeOutcome {
    let rules = Rules::of(client);
    let links = ClientGraph::new(tree, &rules);
    build_outcome(&links, facts, &rules, load(&links, facts, &rules))
}

/// Says what a client of this version would load and send if it went on from `leaf`; `None` where it does not even hold
/// that entry, as it holds nothing from before some compactions.
pub fn resume_at(tree: &Tree, facts: &ResumeIndex, client: &Version, leaf: NodeId) -> Option<ResumeOutcome> {
    let rules = Rules::of(client);
    let links = ClientGraph::new(tree, &rules);
    let held = links.loaded[leaf as usize];
    held.then(|| {
        build_outcome(&links, facts, &rules, load_at(&links, facts, &rules, leaf, LeafRule::Requested))
    })
}

fn build_outcome(
    links: &ClientGraph<'_>,
    facts: &ResumeIndex,
    rules: &Rules,
    loaded: Result<Loaded, (LoadFailure, Option<(NodeId, LeafRule)>)>,
) -> ResumeOutcome {
    let tree = links.tree;
    let Loaded { leaf, rule, chain, stop } = match loaded {
        Ok(loaded) => loaded,
        Err((halt, leaf)) => return nothing(links, facts, halt, leaf),
    };
    let (sent, left_out) = send(links, facts, rules, &chain);
    let path = path_of(tree, &sent);
    let mut resume =
        ResumeOutcome { leaf: Some((leaf, rule)), chain, sent, path, stop, ..ResumeOutcome::default() };
    resume.classify_skipped(links, facts, &left_out);
    resume
}

/// Says what a reader loads that walks up from the entry that the last summary names, as the seeds have it. No client
/// that was measured does.
pub fn resume_by_summary(tree: &Tree, facts: &ResumeIndex) -> ResumeOutcome {
    let newest = Version::read(super::rules::KNOWN_CLIENTS[super::rules::KNOWN_CLIENTS.len() - 1]);
    let links = ClientGraph::plain(tree, &Rules::of(&newest));
    let named = facts.summary.and_then(|(leaf, line)| Some((tree.find(leaf)?, LeafRule::Summary(line))));
    let Some((leaf, rule)) = named else {
        return nothing(&links, facts, LoadFailure::Nothing, None);
    };
    let (chain, end) = walk(&links, leaf);
    let speaks = |no: &NodeId| links.speaks(*no);
    let path: Vec<NodeId> = chain.iter().copied().filter(speaks).collect();
    let why = match end {
        WalkEnd::Root | WalkEnd::Boundary => None,
        WalkEnd::Cycle => Some(SkipReason::Cycle),
        WalkEnd::Unread => Some(SkipReason::UnreadParent),
        WalkEnd::Missing | WalkEnd::Dropped => Some(SkipReason::MissingParent),
    };
    let stop = why.map(|why| EarlyEnd { node: chain[0], why });
    let mut resume =
        ResumeOutcome { leaf: Some((leaf, rule)), chain, path, stop, ..ResumeOutcome::default() };
    resume.classify_skipped(&links, facts, &[]);
    resume
}

fn nothing(
    links: &ClientGraph<'_>,
    facts: &ResumeIndex,
    halt: LoadFailure,
    leaf: Option<(NodeId, LeafRule)>,
) -> ResumeOutcome {
    let mut resume = ResumeOutcome { leaf, halt: Some(halt), ..ResumeOutcome::default() };
    resume.classify_skipped(links, facts, &[]);
    resume
}

fn path_of(tree: &Tree, sent: &[SentBlock]) -> Vec<NodeId> {
    let mut told = vec![false; tree.nodes().len()];
    let mut path = Vec::new();
    for block in sent {
        if let BlockOrigin::Block(no, _) = block.said
            && matches!(tree.node(no).kind, Kind::User | Kind::Assistant)
            && !std::mem::replace(&mut told[no as usize], true)
        {
            path.push(no);
        }
    }
    path
}

impl ResumeOutcome {
    /// Returns how many entries are out of the client's reach.
    pub fn lost(&self) -> usize {
        self.unreachable.iter().filter(|lost| lost.why.is_loss()).count()
    }

    /// Lists the entries that a summary in the chain stands for: those before it, on the way to it.
    fn summed_up(&self, tree: &Tree) -> Vec<NodeId> {
        let is_mark = |no: &NodeId| {
            matches!(tree.node(*no).voice, EntryRole::CompactBoundary | EntryRole::CompactSummary)
        };
        let Some(mark) = self.chain.iter().copied().filter(is_mark).max() else {
            return Vec::new();
        };
        let way = tree
            .with_parallel_calls(&tree.ancestors_across_compactions(mark))
            .into_iter()
            .map(|step| step.node);
        way.filter(|&no| no < mark).collect()
    }

    /// Lists every line of user and assistant that is not on the path, with the reason.
    fn classify_skipped(
        &mut self,
        links: &ClientGraph<'_>,
        facts: &ResumeIndex,
        left_out: &[(NodeId, SkipReason)],
    ) {
        let tree = links.tree;
        let mut whys: Vec<Option<SkipReason>> = vec![None; tree.nodes().len()];
        for no in self.summed_up(tree) {
            whys[no as usize] = Some(SkipReason::Compacted);
        }
        for &no in &self.chain {
            whys[no as usize] = Some(SkipReason::Orphan);
        }
        for &(no, why) in left_out {
            whys[no as usize] = Some(why);
        }
        let mut on_path = vec![false; tree.nodes().len()];
        self.path.iter().for_each(|&no| on_path[no as usize] = true);
        let roots = Roots::of(links);
        let is_local = |no: NodeId| {
            matches!(tree.node(no).voice, EntryRole::Meta | EntryRole::Command | EntryRole::Output)
        };
        let talk = links.at_or_above(|no| links.speaks(no) && !is_local(no));
        let home = self.chain.first().map_or(NONE, |&no| roots.of_node(no));
        let mut lost: Vec<SkippedEntry> = Vec::new();
        let mut entries = facts.missing_uuid.len();
        for no in 0..tree.nodes().len() as NodeId {
            let node = tree.node(no);
            if !matches!(node.kind, Kind::User | Kind::Assistant) || !tree.is_main_chain(no) {
                continue;
            }
            entries += 1;
            if on_path[no as usize] {
                continue;
            }
            let stands = tree.find(node.id) == Some(no);
            let why = match whys[no as usize] {
                _ if node.is(Flags::SALVAGED) => SkipReason::Damaged,
                _ if !stands => SkipReason::Repeated,
                Some(why) => why,
                None if self.halt.is_some_and(|halt| halt != LoadFailure::Nothing) => SkipReason::Halted,
                None => match roots.why(links, no, home) {
                    SkipReason::OtherBranch if is_local(no) && !talk[no as usize] => SkipReason::Local,
                    why => why,
                },
            };
            lost.push(SkippedEntry { line: node.place.line, node: Some(no), why });
        }
        let nameless = facts.missing_uuid.iter().map(|&line| SkippedEntry {
            line,
            node: None,
            why: SkipReason::Nameless,
        });
        lost.extend(nameless);
        lost.sort_by_key(|lost| lost.line);
        self.loaded = self.path.iter().filter(|&&no| tree.is_main_chain(no)).count();
        self.entries = entries;
        self.unreachable = lost;
    }
}

/// The entry above each entry at which a walk ends.
struct Roots {
    tops: Vec<NodeId>,
}

impl Roots {
    fn of(links: &ClientGraph<'_>) -> Roots {
        let mut tops = vec![NONE; links.parent.len()];
        let mut climbed = Vec::new();
        for &no in &links.order {
            let mut at = no;
            let mut top = at;
            while at != NONE && tops[at as usize] == NONE {
                // Set while the climb is on, so that a cycle ends it.
                tops[at as usize] = at;
                climbed.push(at);
                top = at;
                at = links.parent[at as usize];
            }
            if at != NONE {
                top = tops[at as usize];
            }
            climbed.drain(..).for_each(|no| tops[no as usize] = top);
        }
        Roots { tops }
    }

    fn of_node(&self, no: NodeId) -> NodeId {
        self.tops[no as usize]
    }

    /// Says why an entry that no walk from the leaf passes is out of reach.
    fn why(&self, links: &ClientGraph<'_>, no: NodeId, home: NodeId) -> SkipReason {
        let top = self.of_node(no);
        if top == NONE {
            // The client dropped it with what a compaction did not keep, and no summary stands for it.
            return SkipReason::OtherBranch;
        }
        match links.tree.node(top).link {
            _ if top == home => SkipReason::OtherBranch,
            ParentLink::Root => SkipReason::OtherRoot,
            ParentLink::Missing => SkipReason::MissingParent,
            ParentLink::Cut => SkipReason::Cycle,
            ParentLink::Child if links.parent[top as usize] == NONE => SkipReason::UnreadParent,
            ParentLink::Child => SkipReason::Cycle,
        }
    }
}
