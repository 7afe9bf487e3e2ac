//! Whether Claude remembers a hit, in a few words.

use anstyle::Style;
use rethread_engine::ops::{ContextStatus, SearchHit};

use super::super::clean;
use super::super::style::{GOOD, MARK, QUIET, TOOL};
use super::super::table::truncate_to_width;
use crate::text::standing as words;

/// What the name of a subagent has of the screen.
const AGENT: usize = 18;

/// Says how a hit stands to what the client loads, and where else it stands.
pub(super) fn label(hit: &SearchHit) -> (Style, String) {
    let (style, mut label) = standing(hit);
    let remembered = hit.copies.iter().find(|copy| copy.standing == Some(ContextStatus::Active));
    match (remembered, hit.copies.len()) {
        (Some(copy), _) => {
            let id: String = clean::line(&copy.session).chars().take(8).collect();
            label.push_str(&format!(", remembered in {id}"));
        }
        (None, 0) => {}
        (None, 1) => label.push_str(" +1 copy"),
        (None, more) => label.push_str(&format!(" +{more} copies")),
    }
    (style, label)
}

fn standing(hit: &SearchHit) -> (Style, String) {
    let words = words::context_status_label(hit);
    if let Some(agent) = hit.agent_id() {
        let name = truncate_to_width(&clean::line(agent), AGENT);
        return (TOOL, format!("{words} {name}"));
    }
    let style = match hit.standing {
        ContextStatus::Active => GOOD,
        ContextStatus::Compacted | ContextStatus::Aside | ContextStatus::Island => MARK,
        ContextStatus::Agent => TOOL,
        ContextStatus::Outside => QUIET,
    };
    (style, words.to_owned())
}

/// Whether the session that a subagent or a result belongs to is not there.
pub(super) fn is_orphan(hit: &SearchHit) -> bool {
    (hit.agent.is_some() || hit.beside) && hit.session_path == hit.path
}

/// Says what kind of text a hit stands in.
pub(super) fn kind(hit: &SearchHit) -> String {
    match &hit.excerpt.tool {
        Some(tool) => clean::line(tool),
        None if hit.beside => "result file".to_owned(),
        None => hit.excerpt.source.name().to_owned(),
    }
}
