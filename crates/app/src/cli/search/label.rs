//! Labels of a hit: whether it is in context, and its source.

use rethread_engine::core::resume::ContextStatus;
use rethread_engine::ops::search::SearchHit;

use crate::cli::clean;
use crate::cli::style::{GOOD, MARK, QUIET, TOOL};
use crate::cli::table::truncate_to_width;
use crate::config::TextRole;
use crate::text::session;

/// The maximum width of the name of a subagent.
const MAX_AGENT_WIDTH: usize = 18;

/// Returns a style and a label for the context status of a hit and the number of its copies.
pub(super) fn status_label(hit: &SearchHit) -> (TextRole, String) {
    let (style, mut label) = context_label(hit);
    if hit.archived {
        label.insert_str(0, "archived, ");
    }
    let copy_in_context = hit.copies.iter().find(|copy| copy.context_status == Some(ContextStatus::Active));
    match (copy_in_context, hit.copies.len()) {
        (Some(copy), _) => {
            let id: String = clean::line(&copy.session).chars().take(8).collect();
            label.push_str(&format!(", in context in {id}"));
        }
        (None, 0) => {}
        (None, 1) => label.push_str(" +1 copy"),
        (None, more) => label.push_str(&format!(" +{more} copies")),
    }
    (style, label)
}

/// Returns a label for the context status of a hit, with the subagent if there is one, and its style.
fn context_label(hit: &SearchHit) -> (TextRole, String) {
    let text = session::context_status_label(hit);
    if let Some(agent) = hit.agent_id() {
        let name = truncate_to_width(&clean::line(agent), MAX_AGENT_WIDTH);
        return (TOOL, format!("{text} {name}"));
    }
    let style = match hit.context_status {
        ContextStatus::Active => GOOD,
        ContextStatus::Compacted | ContextStatus::OtherBranch | ContextStatus::Orphaned => MARK,
        ContextStatus::Subagent => TOOL,
        ContextStatus::Unlinked => QUIET,
    };
    (style, text.to_owned())
}

/// Returns `true` if the hit is in a subagent file or result file without an existing session file.
pub(super) fn is_orphan(hit: &SearchHit) -> bool {
    (hit.agent.is_some() || hit.in_side_file) && hit.session_path == hit.path
}

/// Returns the source of the text of a hit: a tool, a result file, or a role.
pub(super) fn source_label(hit: &SearchHit) -> String {
    match &hit.excerpt.tool {
        Some(tool) => clean::line(tool),
        None if hit.in_side_file => "result file".to_owned(),
        None => hit.excerpt.source.name().to_owned(),
    }
}
