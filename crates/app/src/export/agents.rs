//! The conversations of subagents, each where the call stands that started it.
//!
//! The deepest are drawn first, so that each holds those it started, however deep they nest. Short ones stand in the page; long ones
//! are packed, and the page unfolds them as the server does. One whose call is nowhere in the page stands at its end.

use std::collections::{BTreeMap, HashSet};
use std::io;

use maud::{Markup, PreEscaped, html};
use rayon::prelude::*;
use rethread_engine::Error;
use rethread_engine::core::usage::Prices;
use rethread_engine::ops::{self, AgentRow, BranchSelector, BranchView, SessionView};

use super::chunk::Leaves;
use super::options::ExportError;
use super::pack::pack;
use crate::html::agent_key;
use crate::html::session::called;
use crate::text::clean;

/// Markup of all subagents that stands in a page without a thought.
const ALL_PLAIN: usize = 200 << 10;
/// Markup of one that stands in the page where there is more than that.
const PLAIN: usize = 24 << 10;
/// What a call of an agent leaves free for it.
const PLACE: &str = "<div class=\"agent-here\" data-call=\"";
/// How that ends.
const END: &str = "\"></div>";
/// How a part says on which line it stands.
const LINE: &str = " data-line=\"";

/// The subagents of a session, drawn.
#[derive(Default)]
pub(super) struct Agents {
    /// By the call, as it stands in markup.
    held: BTreeMap<String, Held>,
    /// Bytes of markup that stand in the page.
    plain: usize,
    /// Files of subagents that could not be read.
    lost: Vec<String>,
}

/// The subagents of one call.
struct Held {
    /// What they are called.
    names: Vec<String>,
    drawn: Drawn,
    /// Where they stand, once they do: the line of the session, where it has one.
    stands: Option<Option<u32>>,
}

enum Drawn {
    Plain(String),
    Packed(String),
}

/// Draws the subagents whose calls are on a way.
pub(super) fn draw(
    reading: &SessionView,
    way: &BranchView,
    leaves: &Leaves<'_>,
    prices: &Prices,
) -> Result<Agents, ExportError> {
    let found = ops::agents(&reading.session.path)?;
    let rows = wanted(&found.rows, reading, way);
    let which = if leaves.everything { BranchSelector::Everything } else { BranchSelector::Active };
    let mut agents = Agents { lost: found.failures.iter().map(lost).collect(), ..Agents::default() };
    let deepest = rows.iter().map(|(_, row)| row.depth).max().unwrap_or_default();
    for depth in (0..=deepest).rev() {
        let level: Vec<_> = rows.iter().filter(|(_, row)| row.depth == depth).collect();
        let draw = |(no, row): &&(usize, &AgentRow)| conversation(reading, row, *no, &which, leaves, prices);
        let drawn: Vec<String> = level.par_iter().map(draw).collect();
        let drawn: Vec<String> = drawn.iter().map(|drawn| agents.fill(drawn, false)).collect();
        agents.take(level.iter().map(|(no, row)| (*no, *row)).zip(drawn))?;
    }
    Ok(agents)
}

/// Names the file that could not be read.
fn lost(failure: &Error) -> String {
    let name = match failure {
        Error::Unreadable { path, .. } => path.file_name().map(|name| name.to_string_lossy()),
        _ => None,
    };
    clean::line(&name.unwrap_or_default())
}

/// Chooses the subagents whose call is told, and those whose call nobody knows.
fn wanted<'a>(rows: &'a [AgentRow], reading: &SessionView, way: &BranchView) -> Vec<(usize, &'a AgentRow)> {
    let lines = reading.leaves_by_line(way);
    let mut told: HashSet<&str> = HashSet::new();
    let mut wanted = Vec::new();
    // Each stands behind the one that started it, if that is there.
    for (no, row) in rows.iter().enumerate().filter(|(_, row)| !row.warmup) {
        let is_told = match &row.parent {
            Some(parent) => row.depth < 2 || told.contains(parent.as_str()),
            None => row.call_line.is_none_or(|line| lines.contains_key(&line)),
        };
        if is_told {
            told.insert(&row.id);
            wanted.push((no + 1, row));
        }
    }
    wanted
}

impl Agents {
    /// Takes the subagents of one depth. Several may be tied to one call.
    fn take<'a>(&mut self, level: impl Iterator<Item = ((usize, &'a AgentRow), String)>) -> io::Result<()> {
        let mut level: Vec<_> = level.map(|((no, row), drawn)| (key(no, row), called(row), drawn)).collect();
        level.sort_by(|a, b| a.0.cmp(&b.0));
        let all = self.plain + level.iter().map(|(_, _, drawn)| drawn.len()).sum::<usize>();
        for group in level.chunk_by(|a, b| a.0 == b.0) {
            let mut key = group[0].0.clone();
            // What is left of a call that one deeper down was tied to as well stands by itself.
            while self.held.contains_key(&key) {
                key.insert(0, ' ');
            }
            let markup: String = group.iter().map(|(_, _, drawn)| drawn.as_str()).collect();
            let drawn = if all > ALL_PLAIN && markup.len() > PLAIN {
                Drawn::Packed(pack(&markup)?)
            } else {
                self.plain += markup.len();
                Drawn::Plain(markup)
            };
            let names = group.iter().map(|(_, name, _)| name.clone()).collect();
            self.held.insert(key, Held { names, drawn, stands: None });
        }
        Ok(())
    }

    /// Puts subagents into the places that their calls leave for them: each into the first one. What is repeated behind it leads
    /// there, where lines have names (`lines`).
    pub(super) fn fill(&mut self, markup: &str, lines: bool) -> String {
        let mut filled = String::with_capacity(markup.len());
        let mut rest = markup;
        while let Some(at) = rest.find(PLACE).map(|at| at + PLACE.len()) {
            let Some(end) = rest[at..].find(END).map(|end| at + end) else { break };
            filled.push_str(&rest[..end]);
            let found = self.held.get_mut(&rest[at..end]);
            rest = &rest[end..];
            let Some(held) = found else { continue };
            let inside = match (held.stands, &mut held.drawn) {
                (Some(line), _) => repeated(line.filter(|_| lines)).into_string(),
                (None, Drawn::Plain(markup)) => std::mem::take(markup),
                (None, Drawn::Packed(_)) => String::new(),
            };
            held.stands = held.stands.or_else(|| Some(last_line(&filled).filter(|_| lines)));
            filled.push_str(&format!("\">{inside}</div>"));
            rest = &rest[END.len()..];
        }
        filled.push_str(rest);
        filled
    }

    /// Draws those that no place was left for, and names those that could not be read.
    pub(super) fn loose(&self) -> Markup {
        html! {
            @for (key, held) in self.held.iter().filter(|(_, held)| held.stands.is_none()) {
                @match &held.drawn {
                    Drawn::Plain(markup) => (PreEscaped(markup)),
                    Drawn::Packed(_) => details class="part agent-loose" {
                        summary { "Subagent: " (held.names.join(", ")) }
                        (PreEscaped(format!("{PLACE}{key}{END}")))
                    },
                }
            }
            @for name in &self.lost {
                p class="part quiet" { "The conversation of a subagent could not be read" @if !name.is_empty() { ": " code { (name) } } "." }
            }
        }
    }

    /// Returns the packed ones: the call, as it stands in markup, and the packed markup.
    pub(super) fn packed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.held.iter().filter_map(|(key, held)| match &held.drawn {
            Drawn::Packed(packed) => Some((key.as_str(), packed.as_str())),
            Drawn::Plain(_) => None,
        })
    }
}

/// Names the place of a subagent. No call's name begins with a space, as that of one without a call does.
fn key(no: usize, row: &AgentRow) -> String {
    match &row.tool_use {
        Some(call) => html! { (agent_key(call)) }.into_string(),
        None => format!(" {no:06}"),
    }
}

/// Says that a subagent stands elsewhere.
fn repeated(line: Option<u32>) -> Markup {
    let says = "its conversation stands where the call is told first";
    html! {
        p class="quiet" {
            @match line {
                Some(line) => a href={ "#L" (line) } { (says) },
                None => (says),
            }
        }
    }
}

/// Returns on which line the part stands that markup ends in.
fn last_line(markup: &str) -> Option<u32> {
    let rest = &markup[markup.rfind(LINE)? + LINE.len()..];
    rest[..rest.find('"')?].parse().ok()
}

/// Draws the conversation of a subagent. Its turns get names of their own, because those of the session stand in the same page.
fn conversation(
    main: &SessionView,
    row: &AgentRow,
    no: usize,
    which: &BranchSelector,
    leaves: &Leaves<'_>,
    prices: &Prices,
) -> String {
    let name = called(row);
    let turns = match told(main, row, which, leaves, prices) {
        Ok(drawn) => drawn
            .replace(" id=\"t", &format!(" id=\"a{no}-t"))
            .replace(" href=\"#t", &format!(" href=\"#a{no}-t")),
        Err(_) => html! { p class="quiet" { "It could not be read." } }.into_string(),
    };
    html! {
        section class="agent" aria-label={ "Subagent: " (name) } {
            p class="agent-name" { (name) }
            (PreEscaped(turns))
        }
    }
    .into_string()
}

fn told(
    main: &SessionView,
    row: &AgentRow,
    which: &BranchSelector,
    leaves: &Leaves<'_>,
    prices: &Prices,
) -> Result<String, Error> {
    let leaves = Leaves { everything: false, ..*leaves };
    let all = |reading: &SessionView, which: &BranchSelector| {
        let way = reading.way(which)?;
        (0..way.leaves()).map(|no| leaves.draw(reading, &way, no)).collect()
    };
    match &row.path {
        Some(path) => all(&ops::open_view(path, prices)?, which),
        // Those of old clients speak inside the session's file.
        None => all(main, &BranchSelector::Side(row.id.clone())),
    }
}
