//! What a client makes of a file: the leaf, the path, what is sent, and everything that is not.

use super::chain::{End, rejoin, since_boundary, walk};
use super::facts::Facts;
use super::leaf::{LeafRule, choose};
use super::links::{Links, NONE};
use super::rules::Rules;
use super::send::{Said, Sent, send};
use crate::entry::{Flags, Kind, Voice};
use crate::tree::{Link, NodeNo, Tree};
use crate::version::Version;

/// What a client loads from a file and sends.
#[derive(Debug, Default)]
pub struct Resume {
    /// The entry it goes on from, and why that one.
    pub leaf: Option<(NodeNo, LeafRule)>,
    /// Every entry that is loaded, in order.
    pub chain: Vec<NodeNo>,
    /// Every block that is sent, in order.
    pub sent: Vec<Sent>,
    /// The entries of user and assistant that are sent, in the order of their first block.
    pub path: Vec<NodeNo>,
    /// Where the walk from the leaf ended, unless at a beginning.
    pub stop: Option<Stop>,
    /// What keeps the client from loading anything.
    pub halt: Option<Halt>,
    /// Entries of the path outside subagents.
    pub loaded: usize,
    /// Lines of user and assistant outside subagents: all of them.
    pub entries: usize,
    /// Those that are not on the path, each once, in the order of the file.
    pub unreachable: Vec<Lost>,
}

/// Where a walk ended too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// The last entry it reached.
    pub node: NodeNo,
    /// Why it ended there.
    pub why: Why,
}

/// What keeps a client from loading anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// It never comes back: entries are each other's ancestors.
    Hangs,
    /// It ends with an error: no entry is a leaf, or the leaf has no timestamp.
    GivesUp,
    /// There is nothing to load.
    Nothing,
}

impl Halt {
    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            Halt::Hangs => "hangs",
            Halt::GivesUp => "gives-up",
            Halt::Nothing => "nothing",
        }
    }
}

/// A line that is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// Its number in the file.
    pub line: u32,
    /// The entry; `None` for a line without a uuid.
    pub node: Option<NodeNo>,
    /// Why.
    pub why: Why,
}

/// Why an entry is not loaded, not sent, or the last that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
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

impl Why {
    /// Returns a name for output.
    pub fn name(self) -> &'static str {
        match self {
            Why::OtherBranch => "other-branch",
            Why::OtherRoot => "other-root",
            Why::MissingParent => "missing-parent",
            Why::UnreadParent => "unread-parent",
            Why::Cycle => "cycle",
            Why::Damaged => "damaged-line",
            Why::Halted => "halted",
            Why::Nameless => "no-uuid",
            Why::Compacted => "compacted",
            Why::Repeated => "repeated",
            Why::Local => "local-command",
            Why::ApiError => "api-error",
            Why::Unanswered => "unanswered-call",
            Why::Orphan => "orphan-result",
            Why::LoneThinking => "lone-thinking",
            Why::Blank => "blank",
            Why::Empty => "empty",
        }
    }

    /// Whether the client does not know of such an entry any more: nothing else in the context stands for it.
    pub fn is_loss(self) -> bool {
        self <= Why::Nameless
    }
}

/// The entry that a client goes on from, why that one, and all that it loads.
struct Loaded {
    leaf: NodeNo,
    rule: LeafRule,
    chain: Vec<NodeNo>,
    stop: Option<Stop>,
}

/// Loads what a client would, or says what keeps it from that.
fn load(
    links: &Links<'_>,
    facts: &Facts,
    rules: &Rules,
) -> Result<Loaded, (Halt, Option<(NodeNo, LeafRule)>)> {
    let Some((leaf, rule)) = choose(links, facts, rules) else {
        return Err((if links.order.is_empty() { Halt::Nothing } else { Halt::GivesUp }, None));
    };
    load_at(links, facts, rules, leaf, rule)
}

/// Loads what a client would that goes on from `leaf`.
fn load_at(
    links: &Links<'_>,
    facts: &Facts,
    rules: &Rules,
    leaf: NodeNo,
    rule: LeafRule,
) -> Result<Loaded, (Halt, Option<(NodeNo, LeafRule)>)> {
    let speaker = links.climb(leaf, |no| links.speaks(no));
    if !rules.timeless_leaf && speaker.is_some_and(|no| links.tree.node(no).time().is_none()) {
        return Err((Halt::GivesUp, Some((leaf, rule))));
    }
    let (walked, end) = walk(links, leaf);
    if end == End::Cycle && rules.cycle_hangs {
        return Err((Halt::Hangs, Some((leaf, rule))));
    }
    let top = walked[0];
    let mut chain = rejoin(links, facts, rules.rejoin, walked);
    let cut = rules.cut_at_boundary && since_boundary(links, &mut chain);
    let stop = match end {
        _ if cut => Some(Stop { node: chain[0], why: Why::Compacted }),
        End::Root => None,
        End::Boundary | End::Dropped => Some(Stop { node: top, why: Why::Compacted }),
        End::Missing => Some(Stop { node: top, why: Why::MissingParent }),
        End::Unread => Some(Stop { node: top, why: Why::UnreadParent }),
        End::Cycle => Some(Stop { node: top, why: Why::Cycle }),
    };
    Ok(Loaded { leaf, rule, chain, stop })
}

/// Returns the leaf of a client of this version and every entry that it loads, in order; nothing where it loads nothing.
pub fn active_path(tree: &Tree, facts: &Facts, client: &Version) -> Option<(NodeNo, Vec<NodeNo>)> {
    let rules = Rules::of(client);
    let loaded = load(&Links::new(tree, &rules), facts, &rules).ok()?;
    Some((loaded.leaf, loaded.chain))
}

/// Says what a client of this version loads and sends.
pub fn resume(tree: &Tree, facts: &Facts, client: &Version) -> Resume {
    let rules = Rules::of(client);
    let links = Links::new(tree, &rules);
    tell(&links, facts, &rules, load(&links, facts, &rules))
}

/// Says what a client of this version would load and send if it went on from `leaf`; `None` where it does not even hold
/// that entry, as it holds nothing from before some compactions.
pub fn resume_at(tree: &Tree, facts: &Facts, client: &Version, leaf: NodeNo) -> Option<Resume> {
    let rules = Rules::of(client);
    let links = Links::new(tree, &rules);
    let held = links.here[leaf as usize];
    held.then(|| tell(&links, facts, &rules, load_at(&links, facts, &rules, leaf, LeafRule::Asked)))
}

fn tell(
    links: &Links<'_>,
    facts: &Facts,
    rules: &Rules,
    loaded: Result<Loaded, (Halt, Option<(NodeNo, LeafRule)>)>,
) -> Resume {
    let tree = links.tree;
    let Loaded { leaf, rule, chain, stop } = match loaded {
        Ok(loaded) => loaded,
        Err((halt, leaf)) => return nothing(links, facts, halt, leaf),
    };
    let (sent, left_out) = send(links, facts, rules, &chain);
    let path = path_of(tree, &sent);
    let mut resume = Resume { leaf: Some((leaf, rule)), chain, sent, path, stop, ..Resume::default() };
    resume.account(links, facts, &left_out);
    resume
}

/// Says what a reader loads that walks up from the entry that the last summary names, as the seeds have it. No client
/// that was measured does.
pub fn resume_by_summary(tree: &Tree, facts: &Facts) -> Resume {
    let newest = Version::read(super::rules::MEASURED[super::rules::MEASURED.len() - 1]);
    let links = Links::plain(tree, &Rules::of(&newest));
    let named = facts.summary.and_then(|(leaf, line)| Some((tree.find(leaf)?, LeafRule::Summary(line))));
    let Some((leaf, rule)) = named else {
        return nothing(&links, facts, Halt::Nothing, None);
    };
    let (chain, end) = walk(&links, leaf);
    let speaks = |no: &NodeNo| links.speaks(*no);
    let path: Vec<NodeNo> = chain.iter().copied().filter(speaks).collect();
    let why = match end {
        End::Root | End::Boundary => None,
        End::Cycle => Some(Why::Cycle),
        End::Unread => Some(Why::UnreadParent),
        End::Missing | End::Dropped => Some(Why::MissingParent),
    };
    let stop = why.map(|why| Stop { node: chain[0], why });
    let mut resume = Resume { leaf: Some((leaf, rule)), chain, path, stop, ..Resume::default() };
    resume.account(&links, facts, &[]);
    resume
}

fn nothing(links: &Links<'_>, facts: &Facts, halt: Halt, leaf: Option<(NodeNo, LeafRule)>) -> Resume {
    let mut resume = Resume { leaf, halt: Some(halt), ..Resume::default() };
    resume.account(links, facts, &[]);
    resume
}

fn path_of(tree: &Tree, sent: &[Sent]) -> Vec<NodeNo> {
    let mut told = vec![false; tree.nodes().len()];
    let mut path = Vec::new();
    for block in sent {
        if let Said::Block(no, _) = block.said
            && matches!(tree.node(no).kind, Kind::User | Kind::Assistant)
            && !std::mem::replace(&mut told[no as usize], true)
        {
            path.push(no);
        }
    }
    path
}

impl Resume {
    /// Returns how many entries are out of the client's reach.
    pub fn lost(&self) -> usize {
        self.unreachable.iter().filter(|lost| lost.why.is_loss()).count()
    }

    /// Lists the entries that a summary in the chain stands for: those before it, on the way to it.
    fn summed_up(&self, tree: &Tree) -> Vec<NodeNo> {
        let is_mark = |no: &NodeNo| matches!(tree.node(*no).voice, Voice::Boundary | Voice::Recap);
        let Some(mark) = self.chain.iter().copied().filter(is_mark).max() else {
            return Vec::new();
        };
        let way = tree.rejoin(&tree.long_walk(mark)).into_iter().map(|step| step.node);
        way.filter(|&no| no < mark).collect()
    }

    /// Lists every line of user and assistant that is not on the path, with the reason.
    fn account(&mut self, links: &Links<'_>, facts: &Facts, left_out: &[(NodeNo, Why)]) {
        let tree = links.tree;
        let mut whys: Vec<Option<Why>> = vec![None; tree.nodes().len()];
        for no in self.summed_up(tree) {
            whys[no as usize] = Some(Why::Compacted);
        }
        for &no in &self.chain {
            whys[no as usize] = Some(Why::Orphan);
        }
        for &(no, why) in left_out {
            whys[no as usize] = Some(why);
        }
        let mut on_path = vec![false; tree.nodes().len()];
        self.path.iter().for_each(|&no| on_path[no as usize] = true);
        let roots = Roots::of(links);
        let is_local =
            |no: NodeNo| matches!(tree.node(no).voice, Voice::Meta | Voice::Command | Voice::Output);
        let talk = links.at_or_above(|no| links.speaks(no) && !is_local(no));
        let home = self.chain.first().map_or(NONE, |&no| roots.of_node(no));
        let mut lost: Vec<Lost> = Vec::new();
        let mut entries = facts.nameless.len();
        for no in 0..tree.nodes().len() as NodeNo {
            let node = tree.node(no);
            if !matches!(node.kind, Kind::User | Kind::Assistant) || !tree.is_told(no) {
                continue;
            }
            entries += 1;
            if on_path[no as usize] {
                continue;
            }
            let stands = tree.find(node.id) == Some(no);
            let why = match whys[no as usize] {
                _ if node.is(Flags::SALVAGED) => Why::Damaged,
                _ if !stands => Why::Repeated,
                Some(why) => why,
                None if self.halt.is_some_and(|halt| halt != Halt::Nothing) => Why::Halted,
                None => match roots.why(links, no, home) {
                    Why::OtherBranch if is_local(no) && !talk[no as usize] => Why::Local,
                    why => why,
                },
            };
            lost.push(Lost { line: node.place.line, node: Some(no), why });
        }
        let nameless = facts.nameless.iter().map(|&line| Lost { line, node: None, why: Why::Nameless });
        lost.extend(nameless);
        lost.sort_by_key(|lost| lost.line);
        self.loaded = self.path.iter().filter(|&&no| tree.is_told(no)).count();
        self.entries = entries;
        self.unreachable = lost;
    }
}

/// The entry above each entry at which a walk ends.
struct Roots {
    tops: Vec<NodeNo>,
}

impl Roots {
    fn of(links: &Links<'_>) -> Roots {
        let mut tops = vec![NONE; links.up.len()];
        let mut climbed = Vec::new();
        for &no in &links.order {
            let mut at = no;
            let mut top = at;
            while at != NONE && tops[at as usize] == NONE {
                // Set while the climb is on, so that a cycle ends it.
                tops[at as usize] = at;
                climbed.push(at);
                top = at;
                at = links.up[at as usize];
            }
            if at != NONE {
                top = tops[at as usize];
            }
            climbed.drain(..).for_each(|no| tops[no as usize] = top);
        }
        Roots { tops }
    }

    fn of_node(&self, no: NodeNo) -> NodeNo {
        self.tops[no as usize]
    }

    /// Says why an entry that no walk from the leaf passes is out of reach.
    fn why(&self, links: &Links<'_>, no: NodeNo, home: NodeNo) -> Why {
        let top = self.of_node(no);
        if top == NONE {
            // The client dropped it with what a compaction did not keep, and no summary stands for it.
            return Why::OtherBranch;
        }
        match links.tree.node(top).link {
            _ if top == home => Why::OtherBranch,
            Link::Root => Why::OtherRoot,
            Link::Missing => Why::MissingParent,
            Link::Cut => Why::Cycle,
            Link::Child if links.up[top as usize] == NONE => Why::UnreadParent,
            Link::Child => Why::Cycle,
        }
    }
}
