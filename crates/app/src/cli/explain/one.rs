//! What one client loads, in full.

use rethread_engine::core::resume::{LoadFailure, MessageRole, SkipReason};
use rethread_engine::core::tree::NodeId;
use rethread_engine::ops::{EntryReader, Explanation, Verdict};

use super::super::error::CliError;
use super::super::facts;
use super::super::facts::{below, fact, wrap};
use super::super::figures::{things, tokens};
use super::super::out::Out;
use super::super::style::{BAD, MARK, NAME, PLAIN, QUIET, STRONG};
use super::super::{AppContext, clean, entry};
use super::{labels, strip, unreachable};
use crate::text::shell::typed;

/// Refusals that are told.
const REFUSALS: usize = 5;

/// A session, a client, and how to quote from it.
pub(super) struct Page<'a> {
    pub(super) explained: &'a Explanation,
    pub(super) verdict: &'a Verdict,
    pub(super) quotes: EntryReader<'a>,
    /// The session as it was named, to be typed again.
    pub(super) session: String,
}

/// Prints what one client loads.
pub(super) fn print(
    explained: &Explanation,
    verdict: &Verdict,
    session: &str,
    place: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    let mut page = Page { explained, verdict, quotes: explained.quotes()?, session: typed(session) };
    let style = if verdict.is_loss() { MARK.bold() } else { STRONG };
    for line in wrap(&vec![(style, labels::verdict(&explained.session, verdict))], out.width()) {
        out.line(&line)?;
    }
    out.line("")?;
    strip::print(explained, verdict, out)?;
    page.client(out)?;
    page.leaf(place, out)?;
    match verdict.resume.halt {
        Some(halt) => page.halt(halt, out),
        None => {
            page.beginning(out)?;
            page.context(out)?;
            page.changes(out)?;
            page.refusals(out)?;
            unreachable::print(&mut page, out)
        }
    }
}

impl Page<'_> {
    fn handle(&self, no: NodeId) -> String {
        self.explained.session.handle(no)
    }

    /// Names an entry and its turn.
    pub(super) fn name(&self, no: NodeId) -> String {
        let turn = self.quotes.turn(no).map(|turn| format!(" t{turn}")).unwrap_or_default();
        format!("{}{turn}", self.handle(no))
    }

    /// Says an entry in short.
    pub(super) fn gist(&mut self, no: NodeId) -> Result<String, CliError> {
        let node = self.explained.session.tree.node(no);
        let said = self.quotes.said(no)?;
        Ok(entry::words(&said, node.voice, node.kind, &self.explained.head.folder))
    }

    /// Says which client it is, where that is not plain.
    fn client(&self, out: &mut Out) -> Result<(), CliError> {
        let Some((client, measured)) = self.verdict.client.as_ref().zip(self.verdict.measured) else {
            let text = "no measured client reads a session like this; some descriptions of the format do";
            return fact("note", &vec![(MARK, text.to_owned())], out);
        };
        let mut facts = Vec::new();
        match &self.explained.written_by {
            None => facts.push("no line says which client wrote it".to_owned()),
            Some(written) if written == client => facts.push("which wrote the newest line".to_owned()),
            Some(written) => {
                facts.push(format!("the newest line was written by {}", clean::line(&written.text)));
            }
        }
        if client.text != measured {
            facts.push(format!("not measured itself, taken for {measured}"));
        }
        let name = super::super::table::truncate_to_width(&clean::line(&client.text), 24);
        fact("client", &vec![(PLAIN, name), (QUIET, format!(", {}", facts.join("; ")))], out)
    }

    fn leaf(&mut self, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
        let Some((leaf, rule)) = self.verdict.resume.leaf else { return Ok(()) };
        let time = self.explained.session.tree.node(leaf).time();
        let time = time.map(|time| format!(", {}", place.clock.stamp(time))).unwrap_or_default();
        let words =
            vec![(NAME, self.name(leaf)), (PLAIN, format!(", {}", labels::rule(rule))), (QUIET, time)];
        fact("goes on from", &words, out)?;
        let speaker = self.explained.speaker(leaf);
        let gist = self.gist(speaker)?;
        let behind =
            if speaker == leaf { String::new() } else { format!("behind {}: ", self.handle(speaker)) };
        below(PLAIN, &format!("{behind}{gist}"), out)
    }

    /// Says where what is loaded begins, and why not earlier.
    fn beginning(&mut self, out: &mut Out) -> Result<(), CliError> {
        let Some(stop) = self.verdict.resume.stop else {
            let Some(&first) = self.verdict.resume.chain.first() else { return Ok(()) };
            let words =
                vec![(NAME, self.name(first)), (QUIET, ", a beginning: it names no parent".to_owned())];
            return fact("begins at", &words, out);
        };
        let name = self.name(stop.node);
        let tree = &self.explained.session.tree;
        let parent = tree.node(stop.node).parent();
        let why = match stop.why {
            SkipReason::Compacted => {
                return fact("begins at", &vec![(NAME, name), (QUIET, ", a compaction".to_owned())], out);
            }
            SkipReason::UnreadParent => {
                let parent =
                    parent.map(|no| format!("{}, a {} line,", self.handle(no), tree.node(no).kind.name()));
                let parent = parent.unwrap_or_else(|| "a line".to_owned());
                format!(": it hangs on {parent} which this client does not read")
            }
            SkipReason::Cycle => ": from here the parents go round in a circle".to_owned(),
            _ => match self.quotes.parent_uuid(stop.node)? {
                Some(uuid) => format!(": its parent {} is in no line", clean::line(&uuid)),
                None => ": its parent is in no line".to_owned(),
            },
        };
        fact("stops at", &vec![(NAME, name), (MARK, why)], out)?;
        let gist = self.gist(stop.node)?;
        below(PLAIN, &gist, out)?;
        let command = format!("rethread tree {} {}", self.session, self.handle(stop.node));
        facts::command("see where", &command, out)
    }

    /// Says what the model will see.
    fn context(&mut self, out: &mut Out) -> Result<(), CliError> {
        if let Some(compaction) = self.verdict.compaction(self.explained) {
            if let Some(boundary) = compaction.boundary {
                let gist = self.gist(boundary)?;
                below(PLAIN, &gist, out)?;
            }
            if let Some(summary) = compaction.summary {
                let mut said = vec![(NAME, self.handle(summary))];
                if compaction.entries > 0 {
                    let (entries, turns) = (compaction.entries as u64, compaction.turns as u64);
                    said.push((
                        PLAIN,
                        format!(", for {}, {}", things(entries, "entry"), things(turns, "turn")),
                    ));
                }
                fact("summary", &said, out)?;
                let gist = self.gist(summary)?;
                below(PLAIN, &gist, out)?;
            }
            if !compaction.kept.is_empty() {
                let tree = &self.explained.session.tree;
                let lines: Vec<u32> = compaction.kept.iter().map(|&no| tree.node(no).place.line).collect();
                let number = things(lines.len() as u64, "entry");
                let text = format!(", {number} from before it, unchanged");
                fact("kept", &vec![(NAME, labels::lines(&lines)), (PLAIN, text)], out)?;
            }
        }
        let text = format!("about {} tokens", tokens(self.verdict.tokens));
        fact("context", &vec![(PLAIN, text)], out)
    }

    /// Says what is left out and what is made up.
    fn changes(&self, out: &mut Out) -> Result<(), CliError> {
        let mut label = "left out";
        for (why, lines) in self.verdict.left_out() {
            let text = format!("{}: ", labels::left_out(why, lines.len() as u64));
            fact(label, &vec![(PLAIN, text), (NAME, labels::lines(&lines))], out)?;
            label = "";
        }
        let mut label = "made up";
        for invention in self.verdict.inventions() {
            let side = if invention.side == MessageRole::User {
                "in the user's name"
            } else {
                "in the model's name"
            };
            let mut said = vec![(PLAIN, format!("“{}” ", invention.what.text())), (QUIET, side.to_owned())];
            if let Some(after) = invention.after {
                said.push((QUIET, ", behind ".to_owned()));
                said.push((NAME, self.handle(after)));
            }
            fact(label, &said, out)?;
            label = "";
        }
        Ok(())
    }

    fn refusals(&self, out: &mut Out) -> Result<(), CliError> {
        let refusals = &self.verdict.refusals;
        let mut label = "API refuses";
        for refusal in refusals.iter().take(REFUSALS) {
            let words =
                vec![(NAME, self.name(refusal.node())), (BAD, format!(", {}", labels::refusal(*refusal)))];
            fact(label, &words, out)?;
            label = "";
        }
        if refusals.len() > REFUSALS {
            let more = format!("… {} more", refusals.len() - REFUSALS);
            fact("", &vec![(QUIET, more)], out)?;
        }
        let Some(first) = refusals.first() else { return Ok(()) };
        let turn = self
            .quotes
            .turn(first.node())
            .map_or_else(|| self.handle(first.node()), |turn| format!("t{turn}"));
        let hint = format!("every prompt then fails; what helps is a rewind in the client to before {turn}");
        fact("", &vec![(QUIET, hint)], out)
    }

    /// Says what to do with a session that does not load at all.
    fn halt(&mut self, halt: LoadFailure, out: &mut Out) -> Result<(), CliError> {
        if let Some(at) = self.verdict.circle(self.explained) {
            let parent = self.quotes.parent_uuid(at)?.map(|uuid| clean::line(&uuid)).unwrap_or_default();
            let text = format!(": its parent {parent} hangs below it");
            fact("comes round", &vec![(NAME, self.name(at)), (MARK, text)], out)?;
            let gist = self.gist(at)?;
            below(PLAIN, &gist, out)?;
        }
        if self.verdict.resume.entries == 0 {
            return Ok(());
        }
        out.line("")?;
        facts::command("read it", &format!("rethread show {} --everything", self.session), out)?;
        if halt == LoadFailure::Nothing || self.explained.session.tree.is_sidechain_file() {
            return Ok(());
        }
        facts::command("others", &format!("rethread explain {} --client all", self.session), out)
    }
}
