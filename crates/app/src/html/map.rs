//! The map beside a session: the turns of the way that is read, with those that leave it where they do.

use maud::{Markup, html};
use rethread_engine::ops::{BranchView, MapBranch, MapEntry, MapPreview, PathRelation};

use super::link::encoded;
use crate::text::entry;
use crate::text::figures::count;
use crate::text::fit::truncate_to_width;

/// Longest words of a turn, in columns.
const WORDS: usize = 80;

/// What a map is of.
pub(crate) struct Map<'a> {
    /// The way that is read.
    pub(crate) way: &'a BranchView,
    /// Its signs.
    pub(crate) signs: &'a [MapEntry],
    /// The address of the session.
    pub(crate) base: &'a str,
    /// The folder of the session, which paths need not name.
    pub(crate) folder: &'a str,
    /// Whether other ways can be gone from here.
    pub(crate) turnoffs: bool,
    /// Whether the client goes on from the end of this way.
    pub(crate) is_active: bool,
}

/// Turns that a map has room for: of a longer session several share a sign.
pub(crate) const MAX_MAP_ENTRIES: usize = 240;

/// Draws the signs; nothing where there is nowhere to go.
pub(crate) fn map(map: &Map<'_>) -> Markup {
    let leads = |sign: &MapEntry| map.turnoffs && !(sign.before.is_empty() && sign.within.is_empty());
    if map.signs.len() < 2 && !map.signs.iter().any(leads) {
        return Markup::default();
    }
    let offs = |all: &[MapBranch]| html! { @if map.turnoffs { @for off in all { (turnoff(off, map)) } } };
    // The last turn of which only a summary is left.
    let is_past = |sign: &&MapEntry| map.way.stops[sign.stop].standing == PathRelation::Compacted;
    let packed = map.signs.iter().rev().find(is_past).map(|sign| sign.stop);
    html! {
        ol class=[map.is_active.then_some("map-going")] {
            @for sign in map.signs {
                @let stop = &map.way.stops[sign.stop];
                (offs(&sign.before))
                @if let Some(no) = stop.no {
                    @let words = words(&sign.spoken, map.folder);
                    li class={ "map-turn" (standing(stop.standing)) } {
                        a href={ "#t" (no) } data-turn=(no) title=(words) {
                            span class="map-no" { span class="unseen" { "Turn " } (no) } " "
                            span class="map-words cut" { (words) }
                        }
                    }
                }
                (offs(&sign.within))
                @if packed == Some(sign.stop) { li class="map-packed" { span class="map-words" { "compacted" } } }
                @if map.turnoffs && sign.more > 0 {
                    li class="map-off" {
                        a href={ (map.base) "/branches" } { span class="map-words cut" { (count(sign.more as u64)) " more" } }
                    }
                }
            }
            @if map.is_active { li class="map-end" { span class="map-words" { "resumes here" } } }
        }
    }
}

fn standing(standing: PathRelation) -> &'static str {
    match standing {
        PathRelation::OnPath => "",
        PathRelation::Compacted => " map-past",
        PathRelation::Aside => " map-aside",
    }
}

/// Draws a way that leaves the one that is read.
fn turnoff(off: &MapBranch, map: &Map<'_>) -> Markup {
    let words = words(&off.spoken, map.folder);
    html! {
        li class={ "map-off" @if off.is_active { " map-on" } } {
            a href={ (map.base) "?tip=" (encoded(&off.to.tip)) "#L" (off.to.line) } title=(words) {
                span class="unseen" { "Another branch: " }
                @if off.is_active { span class="unseen" { "resumes there: " } }
                span class="map-words cut" { (words) }
            }
        }
    }
}

fn words(spoken: &MapPreview, folder: &str) -> String {
    truncate_to_width(&entry::words(&spoken.said, spoken.voice, spoken.kind, folder), WORDS)
}
