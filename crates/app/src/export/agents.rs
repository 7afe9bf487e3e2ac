//! The conversations of subagents, each where the call stands that started it.
//!
//! The deepest are drawn first, so that each holds those it started, however deep they nest. Short ones stand in the page; long ones
//! are packed, and the page unfolds them as the server does.

use std::collections::{HashMap, HashSet};
use std::io;

use maud::{PreEscaped, html};
use rayon::prelude::*;
use rethread_engine::Failure;
use rethread_engine::core::usage::Prices;
use rethread_engine::ops::{self, AgentRow, Reading, Way, Which};

use super::detail::Detail;
use super::order::Trouble;
use super::pack::pack;
use super::page::leaf;
use crate::html::session::called;
use crate::words::clean;

/// Markup of all subagents that stands in a page without a thought.
const ALL_PLAIN: usize = 200 << 10;
/// Markup of one that stands in the page where there is more than that.
const PLAIN: usize = 24 << 10;
/// What a call of an agent leaves free for it.
const PLACE: &str = "<div class=\"agent-here\" data-call=\"";
/// How that ends.
const END: &str = "\"></div>";

/// The subagents of a session, drawn.
#[derive(Default)]
pub(super) struct Agents {
    /// By the call, as it stands in markup.
    plain: HashMap<String, String>,
    /// The call and the packed markup.
    pub(super) packed: Vec<(String, String)>,
    /// Those whose call is not known.
    pub(super) loose: Vec<String>,
}

/// Draws the subagents whose calls are on a way.
pub(super) fn draw(reading: &Reading, way: &Way, which: &Which, prices: &Prices) -> Result<Agents, Trouble> {
    let found = ops::agents(&reading.session.path)?;
    let rows = wanted(&found.rows, reading, way);
    let which = if *which == Which::Everything { Which::Everything } else { Which::Active };
    let mut agents = Agents::default();
    let deepest = rows.iter().map(|(_, row)| row.depth).max().unwrap_or_default();
    for depth in (0..=deepest).rev() {
        let level: Vec<_> = rows.iter().filter(|(_, row)| row.depth == depth).collect();
        let drawn: Vec<String> = level
            .par_iter()
            .map(|(no, row)| agents.fill(&conversation(reading, row, *no, &which, prices)))
            .collect();
        agents.take(level.iter().map(|(_, row)| *row).zip(drawn))?;
    }
    agents.loose.reverse();
    Ok(agents)
}

/// Chooses the subagents whose call is told, and those whose call nobody knows.
fn wanted<'a>(rows: &'a [AgentRow], reading: &Reading, way: &Way) -> Vec<(usize, &'a AgentRow)> {
    let lines = reading.leaves_by_line(way);
    let mut told: HashSet<&str> = HashSet::new();
    let mut wanted = Vec::new();
    // Each stands behind the one that started it.
    for (no, row) in rows.iter().enumerate().filter(|(_, row)| !row.warmup) {
        let is_told = match &row.parent {
            Some(parent) => told.contains(parent.as_str()),
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
    /// Takes the subagents of one depth.
    fn take<'a>(&mut self, level: impl Iterator<Item = (&'a AgentRow, String)>) -> io::Result<()> {
        let level: Vec<_> = level.collect();
        let held: usize = self.plain.values().map(String::len).sum();
        let all: usize = held + level.iter().map(|(_, drawn)| drawn.len()).sum::<usize>();
        for (row, drawn) in level {
            let Some(call) = &row.tool_use else {
                self.loose.push(drawn);
                continue;
            };
            let call = html! { (clean::line(call)) }.into_string();
            if all > ALL_PLAIN && drawn.len() > PLAIN {
                self.packed.push((call, pack(&drawn)?));
            } else {
                self.plain.insert(call, drawn);
            }
        }
        Ok(())
    }

    /// Puts subagents into the places that their calls leave for them.
    pub(super) fn fill(&self, markup: &str) -> String {
        let mut filled = String::with_capacity(markup.len());
        let mut rest = markup;
        while let Some(at) = rest.find(PLACE).map(|at| at + PLACE.len()) {
            let Some(end) = rest[at..].find(END).map(|end| at + end) else { break };
            let Some(agent) = self.plain.get(&rest[at..end]) else {
                filled.push_str(&rest[..end]);
                rest = &rest[end..];
                continue;
            };
            filled.push_str(&rest[..end]);
            filled.push_str("\">");
            filled.push_str(agent);
            filled.push_str("</div>");
            rest = &rest[end + END.len()..];
        }
        filled.push_str(rest);
        filled
    }
}

/// Draws the conversation of a subagent. Its turns get names of their own, because those of the session stand in the same page.
fn conversation(main: &Reading, row: &AgentRow, no: usize, which: &Which, prices: &Prices) -> String {
    let name = called(row);
    let told = told(main, row, which, prices);
    let turns = match &told {
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

fn told(main: &Reading, row: &AgentRow, which: &Which, prices: &Prices) -> Result<String, Failure> {
    let all = |reading: &Reading, which: &Which| {
        let way = reading.way(which)?;
        (0..way.leaves()).map(|no| leaf(reading, &way, no, Detail::Everything, false)).collect()
    };
    match &row.path {
        Some(path) => all(&ops::read(path, prices)?, which),
        // Those of old clients speak inside the session's file.
        None => all(main, &Which::Side(row.id.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::Agents;

    #[test]
    fn only_known_calls_are_filled() {
        let agents =
            Agents { plain: [("toolu_1".to_owned(), "<p>agent</p>".to_owned())].into(), ..Agents::default() };
        let place = |call: &str, inside: &str| {
            format!("<div class=\"agent-here\" data-call=\"{call}\">{inside}</div>")
        };
        let markup = format!("a{}b{}c{}", place("toolu_2", ""), place("toolu_1", ""), place("toolu_1", ""));
        let filled = agents.fill(&markup);
        let agent = place("toolu_1", "<p>agent</p>");
        assert_eq!(filled, format!("a{}b{agent}c{agent}", place("toolu_2", "")));
        assert_eq!(
            agents.fill("<div class=\"agent-here\" data-call=\""),
            "<div class=\"agent-here\" data-call=\""
        );
    }
}
