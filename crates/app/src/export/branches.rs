//! The branches of a session as a list, for a page that holds all of them.

use std::collections::HashMap;

use maud::{Markup, html};
use rethread_engine::Error;
use rethread_engine::core::tree::NodeId;
use rethread_engine::ops::{self, BranchRow, EntryPreview, SessionView};

use crate::text::clean;
use crate::text::figures::things;

/// How many letters of what was said first a branch shows.
const WORDS: usize = 120;

/// Draws every way the conversation went, each with a link to where it leaves the others.
pub(super) fn branch_list(reading: &SessionView) -> Result<Markup, Error> {
    if reading.branches.list.len() < 2 {
        return Ok(Markup::default());
    }
    let tree = &reading.session.tree;
    let found = ops::branches(&reading.session.path)?;
    let numbers: HashMap<NodeId, usize> = tree.turns().zip(1..).collect();
    let turn = |node| numbers.get(&tree.turn_of(node)?).copied();
    Ok(html! {
        details class="ways" {
            summary { (things(found.rows.len() as u64, "branch")) }
            ol {
                @for row in &found.rows {
                    @let words = words(row);
                    li {
                        @match turn(row.branch.prompt.unwrap_or(row.branch.first)) {
                            Some(turn) => { a href={ "#t" (turn) } { (words) } }
                            None => { (words) }
                        }
                        span class="quiet num" { " " (things(row.branch.own_turns as u64, "turn")) " of its own" }
                        @if row.active { " " span class="badge" { "goes on" } }
                    }
                }
            }
        }
    })
}

/// Says what a branch begins with.
fn words(row: &BranchRow) -> String {
    let said = match &row.first.gist {
        EntryPreview::Words(text) | EntryPreview::Thinking(text) | EntryPreview::Media(text) => {
            clean::line(text)
        }
        EntryPreview::Call(call) => clean::line(&call.name),
        EntryPreview::Compaction(..) | EntryPreview::Nothing => String::new(),
    };
    let said: String = said.chars().take(WORDS).collect();
    if said.is_empty() { format!("line {}", row.first_line) } else { said }
}
