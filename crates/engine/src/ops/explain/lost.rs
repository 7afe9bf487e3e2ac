//! What is out of reach: by reason, and in each by the ways that hang together.

use std::collections::HashMap;

use rethread_core::entry::Kind;
use rethread_core::resume::SkipReason;
use rethread_core::tree::{NodeId, Tree};

use super::report::Verdict;
use crate::session::load::Session;

/// Entries that are out of reach for one reason.
#[derive(Debug)]
pub struct LostGroup {
    /// The reason.
    pub why: SkipReason,
    /// How many entries.
    pub entries: usize,
    /// Turns that begin in them.
    pub turns: usize,
    /// What hangs together among them, the largest first.
    pub ways: Vec<UnreachableBranch>,
    /// Lines that hang on nothing, having no uuid.
    pub nameless: Vec<u32>,
}

/// Entries out of reach that hang together.
#[derive(Debug, Clone)]
pub struct UnreachableBranch {
    /// The first of them in the file.
    pub top: NodeId,
    /// The first prompt among them, or the first of them.
    pub first: NodeId,
    /// The newest of them.
    pub tip: NodeId,
    /// How many entries.
    pub entries: usize,
    /// Turns that begin in them.
    pub turns: usize,
}

impl Verdict {
    /// Groups what is out of reach, in the order of the reasons.
    pub fn lost(&self, session: &Session) -> Vec<LostGroup> {
        let tree = &session.tree;
        let mut whys: Vec<Option<SkipReason>> = vec![None; tree.nodes().len()];
        let mut groups: Vec<LostGroup> = Vec::new();
        for lost in self.resume.unreachable.iter().filter(|lost| lost.why.is_loss()) {
            let k = groups.iter().position(|group| group.why == lost.why).unwrap_or_else(|| {
                groups.push(LostGroup::new(lost.why));
                groups.len() - 1
            });
            groups[k].entries += 1;
            match lost.node {
                Some(no) => whys[no as usize] = Some(lost.why),
                None => groups[k].nameless.push(lost.line),
            }
        }
        if !groups.is_empty() {
            let tops = Tops::of(tree, &whys, &self.resume.chain);
            for group in &mut groups {
                group.gather(tree, &whys, &tops);
            }
        }
        groups.sort_by_key(|group| group.why);
        groups
    }
}

impl LostGroup {
    fn new(why: SkipReason) -> LostGroup {
        LostGroup { why, entries: 0, turns: 0, ways: Vec::new(), nameless: Vec::new() }
    }

    /// Unites the entries of the group by their tops.
    fn gather(&mut self, tree: &Tree, whys: &[Option<SkipReason>], tops: &Tops) {
        let mut numbers: HashMap<NodeId, usize> = HashMap::new();
        for no in (0..whys.len() as NodeId).filter(|&no| whys[no as usize] == Some(self.why)) {
            let top = tops.0[no as usize].map_or(no, |(_, top)| top);
            let k = *numbers.entry(top).or_insert_with(|| {
                self.ways.push(UnreachableBranch { top: no, first: no, tip: no, entries: 0, turns: 0 });
                self.ways.len() - 1
            });
            let way = &mut self.ways[k];
            way.entries += 1;
            way.tip = no;
            if tree.turn_of(no) == Some(no) {
                if way.turns == 0 {
                    way.first = no;
                }
                way.turns += 1;
            }
        }
        self.turns = self.ways.iter().map(|way| way.turns).sum();
        self.ways.sort_by_key(|way| (std::cmp::Reverse(way.entries), way.top));
    }
}

/// The highest entry above each lost entry, over entries that are lost for the same reason and lines that say nothing.
struct Tops(Vec<Option<(SkipReason, NodeId)>>);

impl Tops {
    fn of(tree: &Tree, whys: &[Option<SkipReason>], chain: &[NodeId]) -> Tops {
        let mut loaded = vec![false; whys.len()];
        chain.iter().for_each(|&no| loaded[no as usize] = true);
        let speaks = |no: NodeId| matches!(tree.node(no).kind, Kind::User | Kind::Assistant);
        let mut tops: Vec<Option<(SkipReason, NodeId)>> = vec![None; whys.len()];
        let mut climbed = Vec::new();
        for no in 0..whys.len() as NodeId {
            let Some(why) = whys[no as usize] else { continue };
            let goes_on = |no: NodeId| whys[no as usize] == Some(why) || !speaks(no) && !loaded[no as usize];
            let (mut at, mut top) = (Some(no), no);
            while let Some(here) = at.filter(|&here| goes_on(here)) {
                top = here;
                if let Some((_, known)) = tops[here as usize].filter(|(known, _)| *known == why) {
                    top = known;
                    break;
                }
                climbed.push(here);
                at = tree.node(here).parent();
            }
            climbed.drain(..).for_each(|no| tops[no as usize] = Some((why, top)));
        }
        Tops(tops)
    }
}
