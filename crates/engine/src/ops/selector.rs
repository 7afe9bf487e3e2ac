//! Which entry somebody means who wants to go on from there.

use rethread_core::entry::{EntryRole, Kind};
use rethread_core::query::{Hit, Needle};
use rethread_core::tree::NodeId;

use super::find::{FindRequest, Match, find};
use crate::Error;
use crate::edit::edit_session::EditSession;
use crate::session::load::Session;

/// How many entries are offered where words fit several.
const OFFERED: usize = 12;

/// A point of a session.
#[derive(Debug, Clone, Default)]
pub struct EntrySelector {
    /// A line (`L118`), a turn (`t9`: when it was answered), a uuid or its first digits, or words that it holds.
    pub name: String,
    /// The entry before it, and not itself.
    pub before: bool,
    /// A name only, never words.
    pub exact: bool,
}

impl EditSession {
    /// Finds the entry to go on from: one that clients load, outside subagents.
    pub(crate) fn point(&self, at: &EntrySelector) -> Result<NodeId, Error> {
        let session = &self.session;
        let mut no = match session.turn_end(&at.name, at.before) {
            Some(no) => no,
            None => session.entry(&at.name).or_else(|unknown| self.by_words(at).unwrap_or(Err(unknown)))?,
        };
        if at.before {
            let parent = session.tree.node(no).parent();
            no = parent.ok_or_else(|| Error::NothingBefore { name: at.name.clone() })?;
        }
        session.settle(no).ok_or_else(|| Error::NotAResumePoint { name: at.name.clone() })
    }

    /// Finds the entry that holds some words; `None` where none does.
    fn by_words(&self, at: &EntrySelector) -> Option<Result<NodeId, Error>> {
        let words = Some(at.name.as_str()).filter(|words| !at.exact && !words.trim().is_empty())?;
        let request = FindRequest {
            path: self.session.path.clone(),
            needle: Needle::smart(words),
            sources: Vec::new(),
            all: false,
            ancestors: 0,
            children: 0,
        };
        let mut found = match find(&request) {
            Ok(found) => found,
            Err(failure) => return Some(Err(failure)),
        };
        let mut matches = Vec::new();
        while let Some(next) = found.next_match() {
            match next {
                Ok(next) => matches.push(next),
                Err(failure) => return Some(Err(failure)),
            }
        }
        match &matches[..] {
            [] => None,
            [only] => Some(self.session.entry(&format!("L{}", only.line))),
            several => {
                let candidates = several.iter().take(OFFERED).map(offer).collect();
                let name = words.to_owned();
                Some(Err(Error::AmbiguousEntry { name, count: several.len(), candidates }))
            }
        }
    }
}

fn offer(found: &Match) -> (String, String) {
    let words = |hit: &Hit| format!("{}{}{}", hit.before, hit.words, hit.after);
    (format!("L{}", found.line), found.found.hits.first().map(words).unwrap_or_default())
}

impl Session {
    /// Finds where a turn ended, where `name` is one; where it began, if what is before it is wanted.
    fn turn_end(&self, name: &str, begin: bool) -> Option<NodeId> {
        let number = name.strip_prefix(['t', 'T'])?.parse::<usize>().ok()?;
        let turn = self.tree.turns().nth(number.checked_sub(1)?)?;
        if begin {
            return Some(turn);
        }
        let speaks = |no: &NodeId| {
            let node = self.tree.node(*no);
            matches!(node.voice, EntryRole::Answer | EntryRole::Results | EntryRole::Prompt)
                && !node.is_sidechain()
        };
        let of_turn = |no: &NodeId| self.tree.turn_of(*no) == Some(turn);
        (turn..self.tree.nodes().len() as NodeId).rev().find(|no| of_turn(no) && speaks(no)).or(Some(turn))
    }

    /// Climbs to the nearest entry that every client holds; `None` in a subagent, and where there is none.
    fn settle(&self, no: NodeId) -> Option<NodeId> {
        let held = |no: NodeId| {
            let kind = self.tree.node(no).kind;
            matches!(kind, Kind::User | Kind::Assistant | Kind::System | Kind::Attachment)
        };
        let mut at = Some(no);
        while let Some(no) = at.filter(|&no| !held(no)) {
            at = self.tree.node(no).parent();
        }
        at.map(|no| self.tree.find(self.tree.node(no).id).unwrap_or(no))
            .filter(|&no| !self.tree.node(no).is_sidechain())
    }
}
