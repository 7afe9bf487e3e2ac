//! Embeds the conversations of subagents, each at the call that started it.
//!
//! The deepest ones are rendered first, so that each contains the ones it started. Short conversations are plain
//! markup; long ones are packed, and the page unpacks them on demand. Subagents without a call on the page are appended
//! at its end.

use std::collections::{BTreeMap, HashSet};
use std::io;

use maud::{Markup, PreEscaped, html};
use rayon::prelude::*;
use rethread_engine::Error;
use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops;
use rethread_engine::ops::agents::AgentRow;
use rethread_engine::ops::read::{BranchSelector, BranchView, SessionView};

use super::chunk::ChunkRenderer;
use super::options::ExportError;
use super::pack::pack;
use crate::html::agent_key;
use crate::html::session::format_agent_title;
use crate::text::clean;

/// Total size of the markup of all subagents up to which none is packed.
const MAX_TOTAL_PLAIN_BYTES: usize = 200 << 10;
/// Beyond that total, maximum size of the markup of one call's subagents that is not packed.
const MAX_PLAIN_BYTES: usize = 24 << 10;
/// The start of the empty element that a call of a subagent reserves for it.
const SLOT_START: &str = "<div class=\"agent-slot\" data-call=\"";
/// The end of that element.
const SLOT_END: &str = "\"></div>";
/// The attribute with the line number of a part.
const LINE_ATTRIBUTE: &str = " data-line=\"";

/// The rendered subagents of a session.
#[derive(Default)]
pub(super) struct AgentEmbedder {
    /// The subagents by the key of their call (see [`call_key`]), which is escaped as in markup.
    by_call: BTreeMap<String, CallAgents>,
    /// The total size in bytes of the markup that is not packed.
    plain_bytes: usize,
    /// The names of the subagent files that could not be read. A name is empty if it is unknown.
    unreadable_files: Vec<String>,
}

/// The subagents of one call.
struct CallAgents {
    /// The display names of the subagents.
    names: Vec<String>,
    content: AgentMarkup,
    /// `None` until the subagents are put into a slot; then the line of the slot, if it is known and can be linked.
    placed_at: Option<Option<u32>>,
}

/// The markup of the subagents of a call.
enum AgentMarkup {
    /// HTML.
    Plain(String),
    /// HTML compressed by [`pack`].
    Packed(String),
}

/// Renders the conversations of the subagents whose call is on `branch` or unknown, the deepest first. Returns an
/// error if the subagents cannot be listed or packed. A single conversation that cannot be read becomes a note.
pub(super) fn render_agents(
    view: &SessionView,
    branch: &BranchView,
    renderer: &ChunkRenderer<'_>,
    prices: &PriceTable,
) -> Result<AgentEmbedder, ExportError> {
    let list = ops::agents::list_agents(&view.session.path)?;
    let rows = select_agents(&list.rows, view, branch);
    let selector = if renderer.all_branches { BranchSelector::AllTurns } else { BranchSelector::Active };
    let mut agents = AgentEmbedder {
        unreadable_files: list.failures.iter().map(get_unreadable_file_name).collect(),
        ..AgentEmbedder::default()
    };
    let max_depth = rows.iter().map(|(_, row)| row.depth).max().unwrap_or_default();
    for depth in (0..=max_depth).rev() {
        let level: Vec<_> = rows.iter().filter(|(_, row)| row.depth == depth).collect();
        let render = |(number, row): &&(usize, &AgentRow)| {
            render_conversation(view, row, *number, &selector, renderer, prices)
        };
        let rendered: Vec<String> = level.par_iter().map(render).collect();
        let filled: Vec<String> = rendered.iter().map(|markup| agents.fill_slots(markup, false)).collect();
        agents.add_level(level.iter().map(|(number, row)| (*number, *row)).zip(filled))?;
    }
    Ok(agents)
}

/// Returns the name of the file that could not be read. Returns an empty string if the error does not name a file.
fn get_unreadable_file_name(error: &Error) -> String {
    let name = match error {
        Error::Unreadable { path, .. } => path.file_name().map(|name| name.to_string_lossy()),
        _ => None,
    };
    clean::line(&name.unwrap_or_default())
}

/// Selects the subagents whose call is exported or unknown, without warm-ups. Returns each with its position in
/// `rows`, from 1.
fn select_agents<'a>(
    rows: &'a [AgentRow],
    view: &SessionView,
    branch: &BranchView,
) -> Vec<(usize, &'a AgentRow)> {
    let lines = view.pages_by_line(branch);
    let mut selected_ids: HashSet<&str> = HashSet::new();
    let mut selected = Vec::new();
    // A parent precedes the subagents that it started.
    for (idx, row) in rows.iter().enumerate().filter(|(_, row)| !row.warmup) {
        let is_exported = match &row.parent {
            Some(parent) => row.depth < 2 || selected_ids.contains(parent.as_str()),
            None => row.call_line.is_none_or(|line| lines.contains_key(&line)),
        };
        if is_exported {
            selected_ids.insert(&row.id);
            selected.push((idx + 1, row));
        }
    }
    selected
}

impl AgentEmbedder {
    /// Adds the subagents of one depth: their number, their row and their markup. Several may belong to one call.
    fn add_level<'a>(
        &mut self,
        level: impl Iterator<Item = ((usize, &'a AgentRow), String)>,
    ) -> io::Result<()> {
        let mut level: Vec<_> = level
            .map(|((number, row), markup)| (call_key(number, row), format_agent_title(row), markup))
            .collect();
        level.sort_by(|a, b| a.0.cmp(&b.0));
        let total = self.plain_bytes + level.iter().map(|(_, _, markup)| markup.len()).sum::<usize>();
        for group in level.chunk_by(|a, b| a.0 == b.0) {
            let mut key = group[0].0.clone();
            // A deeper subagent of the same call has taken the key: with a new key, this one is appended to the page.
            while self.by_call.contains_key(&key) {
                key.insert(0, ' ');
            }
            let markup: String = group.iter().map(|(_, _, markup)| markup.as_str()).collect();
            let content = if total > MAX_TOTAL_PLAIN_BYTES && markup.len() > MAX_PLAIN_BYTES {
                AgentMarkup::Packed(pack(&markup)?)
            } else {
                self.plain_bytes += markup.len();
                AgentMarkup::Plain(markup)
            };
            let names = group.iter().map(|(_, name, _)| name.clone()).collect();
            self.by_call.insert(key, CallAgents { names, content, placed_at: None });
        }
        Ok(())
    }

    /// Returns `markup` with the subagents of each call put into its first slot; packed ones leave the slot empty.
    /// Later slots of the call get a reference to the first one, which is a link if `link_lines` is set.
    pub(super) fn fill_slots(&mut self, markup: &str, link_lines: bool) -> String {
        let mut filled = String::with_capacity(markup.len());
        let mut rest = markup;
        while let Some(start) = rest.find(SLOT_START).map(|at| at + SLOT_START.len()) {
            let Some(end) = rest[start..].find(SLOT_END).map(|len| start + len) else { break };
            filled.push_str(&rest[..end]);
            let agents = self.by_call.get_mut(&rest[start..end]);
            rest = &rest[end..];
            let Some(agents) = agents else { continue };
            let content = match (agents.placed_at, &mut agents.content) {
                (Some(line), _) => render_reference(line.filter(|_| link_lines)).into_string(),
                (None, AgentMarkup::Plain(markup)) => std::mem::take(markup),
                (None, AgentMarkup::Packed(_)) => String::new(),
            };
            agents.placed_at =
                agents.placed_at.or_else(|| Some(find_last_line(&filled).filter(|_| link_lines)));
            filled.push_str(&format!("\">{content}</div>"));
            rest = &rest[SLOT_END.len()..];
        }
        filled.push_str(rest);
        filled
    }

    /// Renders the subagents without a slot, and the names of the files that could not be read.
    pub(super) fn render_unplaced(&self) -> Markup {
        html! {
            @for (key, agents) in self.by_call.iter().filter(|(_, agents)| agents.placed_at.is_none()) {
                @match &agents.content {
                    AgentMarkup::Plain(markup) => (PreEscaped(markup)),
                    AgentMarkup::Packed(_) => details class="part agent-loose" {
                        summary { "Subagent: " (agents.names.join(", ")) }
                        (PreEscaped(format!("{SLOT_START}{key}{SLOT_END}")))
                    },
                }
            }
            @for name in &self.unreadable_files {
                p class="part muted" { "The conversation of a subagent could not be read" @if !name.is_empty() { ": " code { (name) } } "." }
            }
        }
    }

    /// Returns the packed subagents: the escaped key of their call, and the compressed markup.
    pub(super) fn packed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_call.iter().filter_map(|(key, agents)| match &agents.content {
            AgentMarkup::Packed(packed) => Some((key.as_str(), packed.as_str())),
            AgentMarkup::Plain(_) => None,
        })
    }
}

/// Returns the escaped key of the call of a subagent. Without a call it begins with a space, which no call id does.
fn call_key(number: usize, row: &AgentRow) -> String {
    match &row.tool_use_id {
        Some(call) => html! { (agent_key(call)) }.into_string(),
        None => format!(" {number:06}"),
    }
}

/// Renders a reference to the slot that contains the subagent. It is a link if the line number of that slot is given.
fn render_reference(line: Option<u32>) -> Markup {
    let text = "its conversation is shown at the first occurrence of this call";
    html! {
        p class="muted" {
            @match line {
                Some(line) => a href={ "#L" (line) } { (text) },
                None => (text),
            }
        }
    }
}

/// Returns the value of the last `data-line` attribute in some markup. Returns `None` if there is none or it is not a
/// number.
fn find_last_line(markup: &str) -> Option<u32> {
    let rest = &markup[markup.rfind(LINE_ATTRIBUTE)? + LINE_ATTRIBUTE.len()..];
    rest[..rest.find('"')?].parse().ok()
}

/// Renders the conversation of a subagent, or a note if it cannot be read. The ids of its turns get a prefix with
/// `number`, because the page contains the turns of the session too.
fn render_conversation(
    view: &SessionView,
    row: &AgentRow,
    number: usize,
    selector: &BranchSelector,
    renderer: &ChunkRenderer<'_>,
    prices: &PriceTable,
) -> String {
    let name = format_agent_title(row);
    let turns = match render_turns(view, row, selector, renderer, prices) {
        Ok(markup) => markup
            .replace(" id=\"t", &format!(" id=\"a{number}-t"))
            .replace(" href=\"#t", &format!(" href=\"#a{number}-t")),
        Err(_) => html! { p class="muted" { "It could not be read." } }.into_string(),
    };
    html! {
        section class="agent" aria-label={ "Subagent: " (name) } {
            p class="agent-title" { (name) }
            (PreEscaped(turns))
        }
    }
    .into_string()
}

/// Renders all turns of a subagent, from its own file or from the file of the session.
fn render_turns(
    view: &SessionView,
    row: &AgentRow,
    selector: &BranchSelector,
    renderer: &ChunkRenderer<'_>,
    prices: &PriceTable,
) -> Result<String, Error> {
    let renderer = ChunkRenderer { all_branches: false, ..*renderer };
    let render_all = |view: &SessionView, selector: &BranchSelector| {
        let branch = view.branch_view(selector)?;
        (0..branch.page_count()).map(|idx| renderer.render(view, &branch, idx)).collect()
    };
    match &row.path {
        Some(path) => render_all(&ops::read::open_view(path, prices)?, selector),
        // Old clients write subagents into the session's file.
        None => render_all(view, &BranchSelector::Sidechain(row.id.clone())),
    }
}
