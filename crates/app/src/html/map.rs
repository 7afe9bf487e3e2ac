//! The map of a session: the turns of the shown branch and the branches that fork off.

use maud::{Markup, html};
use rethread_engine::core::tree::PathRelation;
use rethread_engine::ops::read::{BranchView, MapBranch, MapEntry, MapPreview};

use super::link::percent_encode;
use crate::text::entry;
use crate::text::figures::group_digits;
use crate::text::layout::truncate_to_width;

/// Maximum width of the text of a turn, in columns.
const MAX_COLUMNS: usize = 80;

/// The content of a session map.
pub(crate) struct SessionMap<'a> {
    /// The branch that is shown.
    pub(crate) branch: &'a BranchView,
    /// The entries of the map, at most [`MAX_MAP_ENTRIES`].
    pub(crate) entries: &'a [MapEntry],
    /// The address of the session, without the query.
    pub(crate) base: &'a str,
    /// The folder of the session. Paths below it are shown relative to it.
    pub(crate) folder: &'a str,
    /// `true` if branches that fork off are listed and linked.
    pub(crate) other_branches: bool,
    /// `true` if the client resumes from the end of this branch.
    pub(crate) is_active: bool,
}

/// Maximum number of entries of a map. In a longer session several turns share an entry.
pub(crate) const MAX_MAP_ENTRIES: usize = 240;

/// Renders the map. Returns empty markup if it has fewer than two entries and no other branch is listed.
pub(crate) fn render_map(map: &SessionMap<'_>) -> Markup {
    let has_branches =
        |entry: &MapEntry| map.other_branches && !(entry.before.is_empty() && entry.within.is_empty());
    if map.entries.len() < 2 && !map.entries.iter().any(has_branches) {
        return Markup::default();
    }
    let branches = |branches: &[MapBranch]| {
        html! { @if map.other_branches { @for branch in branches { (render_branch(branch, map)) } } }
    };
    let is_compacted =
        |entry: &&MapEntry| map.branch.turns[entry.turn_idx].relation == PathRelation::Compacted;
    let last_compacted = map.entries.iter().rev().find(is_compacted).map(|entry| entry.turn_idx);
    html! {
        ol class=[map.is_active.then_some("map-active")] {
            @for entry in map.entries {
                @let turn = &map.branch.turns[entry.turn_idx];
                (branches(&entry.before))
                @if let Some(number) = turn.number {
                    @let text = format_preview(&entry.preview, map.folder);
                    li class={ "map-turn" (relation_class(turn.relation)) } {
                        a href={ "#t" (number) } data-turn=(number) title=(text) {
                            span class="map-number" { span class="visually-hidden" { "Turn " } (number) } " "
                            span class="map-text ellipsis" { (text) }
                        }
                    }
                }
                (branches(&entry.within))
                @if last_compacted == Some(entry.turn_idx) { li class="map-compaction" { span class="map-text" { "compacted" } } }
                @if map.other_branches && entry.more_count > 0 {
                    li class="map-branch" {
                        a href={ (map.base) "/branches" } { span class="map-text ellipsis" { (group_digits(entry.more_count as u64)) " more" } }
                    }
                }
            }
            @if map.is_active { li class="map-resume-point" { span class="map-text" { "resumes here" } } }
        }
    }
}

fn relation_class(relation: PathRelation) -> &'static str {
    match relation {
        PathRelation::OnPath => "",
        PathRelation::Compacted => " map-compacted",
        PathRelation::OtherBranch => " map-other-branch",
    }
}

/// Renders a branch that forks off the shown one as a list item that links to its page.
fn render_branch(branch: &MapBranch, map: &SessionMap<'_>) -> Markup {
    let text = format_preview(&branch.preview, map.folder);
    html! {
        li class={ "map-branch" @if branch.is_active { " map-branch-active" } } {
            a href={ (map.base) "?tip=" (percent_encode(&branch.branch.tip)) "#L" (branch.branch.line) } title=(text) {
                span class="visually-hidden" { "Another branch: " }
                @if branch.is_active { span class="visually-hidden" { "resumes there: " } }
                span class="map-text ellipsis" { (text) }
            }
        }
    }
}

/// Formats the preview of a turn or branch as one line of at most [`MAX_COLUMNS`] columns.
fn format_preview(preview: &MapPreview, folder: &str) -> String {
    truncate_to_width(
        &entry::format_entry_line(&preview.entry, preview.role, preview.kind, folder),
        MAX_COLUMNS,
    )
}
