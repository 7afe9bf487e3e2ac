//! Renders the list of branches, for a page that contains all of them.

use std::collections::HashMap;

use maud::{Markup, html};
use rethread_engine::Error;
use rethread_engine::core::tree::NodeId;
use rethread_engine::ops;
use rethread_engine::ops::EntryPreview;
use rethread_engine::ops::branches::BranchRow;
use rethread_engine::ops::read::SessionView;

use crate::text::clean;
use crate::text::figures::{count_noun, format_branch_count};

/// Maximum number of characters of the label of a branch.
const MAX_LABEL_CHARS: usize = 120;

/// Renders the branches, each with a link to its first turn. Returns empty markup if there is only one. Returns an
/// error if the session cannot be read.
pub(super) fn render_branch_links(view: &SessionView) -> Result<Markup, Error> {
    if view.branches.list.len() < 2 {
        return Ok(Markup::default());
    }
    let tree = &view.session.tree;
    let list = ops::branches::list_branches(&view.session.path)?;
    let turn_numbers: HashMap<NodeId, usize> = tree.turn_starts().zip(1..).collect();
    let turn_number = |node| turn_numbers.get(&tree.turn_of(node)?).copied();
    Ok(html! {
        details class="branch-links" {
            summary { (format_branch_count(list.branches, list.orphaned)) }
            ol {
                @for row in &list.rows {
                    @let label = format_branch_label(row);
                    li {
                        @match turn_number(row.branch.prompt.unwrap_or(row.branch.first)) {
                            Some(turn) => { a href={ "#t" (turn) } { (label) } }
                            None => { (label) }
                        }
                        span class="muted num" { " " (count_noun(row.branch.own_turns as u64, "turn")) " of its own" }
                        @if row.active { " " span class="badge" { "resumes here" } }
                    }
                }
            }
        }
    })
}

/// Returns the label of a branch: the beginning of its first entry, the name of the tool that this entry calls, or
/// its line number if it has no text.
fn format_branch_label(row: &BranchRow) -> String {
    let text = match &row.first_preview.preview {
        EntryPreview::Text(text) | EntryPreview::Thinking(text) | EntryPreview::Media(text) => {
            clean::line(text)
        }
        EntryPreview::ToolCall(call) => clean::line(&call.name),
        EntryPreview::Compaction(..) | EntryPreview::Empty => String::new(),
    };
    let label: String = text.chars().take(MAX_LABEL_CHARS).collect();
    if label.is_empty() { format!("line {}", row.first_line) } else { label }
}
