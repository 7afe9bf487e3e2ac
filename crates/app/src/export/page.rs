//! A conversation as one page: its style, its script, its pictures and all its turns in one file that asks nobody for anything.
//!
//! It is drawn as the server draws. The first turns stand in it plainly; of a long session the others are packed, and the page
//! unpacks them when they come near.

use std::io::{self, Write};

use maud::{Markup, PreEscaped, html};
use rayon::prelude::*;
use rethread_engine::Error;
use rethread_engine::ops::{BranchSelector, BranchView, SessionView};

use super::agents::{self, Agents};
use super::branches;
use super::chunk::Leaves;
use super::detail::Detail;
use super::embedded::EmbeddedFiles;
use super::options::{ExportContext, ExportError, ExportOptions};
use super::pack::{pack, ranges};
use super::policy::policy;
use crate::html::map::{MAX_MAP_ENTRIES, Map, map};
use crate::html::session::{Head, facts};
use crate::html::{assets, frame};
use crate::text::clean;
use crate::text::figures::things;
use crate::text::folder::git_branch;
use crate::text::time::Clock;

/// Markup that stands in the page plainly.
const PLAIN: usize = 400 << 10;
/// Leaves that are drawn at once.
const BATCH: usize = 64;

/// Writes the page.
pub(super) fn write(
    reading: &SessionView,
    way: &BranchView,
    order: &ExportOptions,
    around: &ExportContext<'_>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let shelf = EmbeddedFiles::of(&reading.session.path);
    let drawing =
        Leaves { detail: order.detail, everything: order.which == BranchSelector::Everything, kept: &shelf };
    let mut agents = match order.detail {
        Detail::Everything => agents::draw(reading, way, &drawing, around.prices)?,
        _ => Agents::default(),
    };
    let title = clean::line(&reading.session.title.text);
    let title = if title.is_empty() { "(nothing was said)".to_owned() } else { title };
    out.write_all(opening(&title).into_string().as_bytes())?;
    out.write_all(top(reading, way, order, around, &title)?.into_string().as_bytes())?;
    out.write_all(b"<main id=\"main\" class=\"session\" data-base=\"page\" data-query=\"?\">")?;
    let packed = leaves(reading, way, &drawing, &mut agents, out)?;
    let end = html! {
        (agents.loose())
        @if way.stops.is_empty() { p class="quiet empty" { "Nothing was said." } }
        (PreEscaped("</main>"))
    };
    out.write_all(end.into_string().as_bytes())?;
    for (no, packed) in &packed {
        write!(out, "<script type=\"text/plain\" class=\"packed\" data-leaf=\"{no}\">{packed}</script>")?;
    }
    for (call, packed) in agents.packed() {
        write!(out, "<script type=\"text/plain\" class=\"packed\" data-call=\"{call}\">{packed}</script>")?;
    }
    shelf.write(out)?;
    Ok(writeln!(out, "{}", frame::foot().into_string())?)
}

fn opening(title: &str) -> Markup {
    let (style, script) = (assets::style().text, assets::page_script());
    let looks = html! {
        meta http-equiv="Content-Security-Policy" content=(policy(script, style));
        meta name="referrer" content="no-referrer";
        meta name="generator" content="rethread";
        style { (PreEscaped(style)) }
        script { (PreEscaped(script)) }
    };
    let bar = html! {
        span class="bar-name" { "rethread" }
        span class="bar-search" {}
    };
    frame::opening(title, &looks, &bar)
}

fn top(
    reading: &SessionView,
    way: &BranchView,
    order: &ExportOptions,
    around: &ExportContext<'_>,
    title: &str,
) -> Result<Markup, Error> {
    let everything = order.which == BranchSelector::Everything;
    let head = Head {
        reading,
        way,
        title,
        base: "",
        query: String::new(),
        key: "",
        main: None,
        row: None,
        everything,
        other_way: order.which != BranchSelector::Active,
        clock: &Clock::utc(),
        side: false,
        resume: String::new(),
        tilde: around.tilde,
        title_of: &|_| None,
    };
    let sketch = &reading.session.sketch;
    let folder = (around.tilde)(sketch.cwd.as_deref().unwrap_or_default());
    let branch = git_branch(sketch.git_branch.as_deref());
    let (all, here) = (reading.session.tree.turns().count(), way.turns());
    let shown_map = Map {
        way,
        signs: &reading.map(way, MAX_MAP_ENTRIES)?,
        base: "",
        folder: sketch.cwd.as_deref().unwrap_or_default(),
        turnoffs: false,
        is_active: false,
    };
    Ok(html! {
        header class="session-top" {
            p class="session-where quiet cut" { (folder) @if let Some(branch) = branch { " · " (branch) } }
            h1 { (title) }
            p class="session-facts quiet num" { (facts(&head).join(" · ")) " · times in UTC" }
            @if everything && reading.branches.list.len() > 1 {
                p class="session-way" { "All " (things(all as u64, "turn")) " of the session, on every branch." }
                (branches::branch_list(reading)?)
            } @else if here < all {
                p class="session-way" { (here) " of " (things(all as u64, "turn")) " are in this page: those of one branch." }
            }
            div class="session-actions no-print" {
                button type="button" class="button" data-do="present" { "Present" }
                button type="button" class="button" data-do="unpack" hidden { "Unpack all, to find and print" }
            }
        }
        nav class="map no-print" id="map" aria-label="Map of the session" { (map(&shown_map)) }
    })
}

/// Writes the leaves, and returns those that are packed.
fn leaves(
    reading: &SessionView,
    way: &BranchView,
    drawing: &Leaves<'_>,
    agents: &mut Agents,
    out: &mut dyn Write,
) -> Result<Vec<(usize, String)>, ExportError> {
    let draw = |no: usize| drawing.draw(reading, way, no);
    let weights: Vec<usize> = way.weights().collect();
    let mut lines: Vec<Vec<u32>> = vec![Vec::new(); weights.len()];
    for (line, leaf) in reading.leaves_by_line(way) {
        lines[leaf].push(line);
    }
    let mut packed = Vec::new();
    let mut plain = 0;
    for from in (0..weights.len()).step_by(BATCH) {
        let drawn: Vec<_> = (from..weights.len().min(from + BATCH)).into_par_iter().map(draw).collect();
        let mut later = Vec::new();
        for (no, drawn) in (from..).zip(drawn) {
            let drawn = agents.fill(&drawn?, true);
            plain += drawn.len();
            // The first one is always there, however long it is.
            if plain <= PLAIN || no == 0 {
                write!(out, "<section class=\"leaf\" data-leaf=\"{no}\">{drawn}</section>")?;
            } else {
                let lines = ranges(std::mem::take(&mut lines[no]));
                out.write_all(place(way, no, weights[no], &lines).into_string().as_bytes())?;
                later.push((no, drawn));
            }
        }
        let small: Vec<io::Result<_>> = later.par_iter().map(|(no, drawn)| Ok((*no, pack(drawn)?))).collect();
        for one in small {
            packed.push(one?);
        }
    }
    Ok(packed)
}

/// Draws the place of a packed leaf, about as high as it will be.
fn place(way: &BranchView, no: usize, weight: usize, lines: &str) -> Markup {
    html! {
        section class={ "leaf leaf-later leaf-" (weight.div_ceil(10).clamp(1, 6)) } data-leaf=(no) data-later data-lines=(lines) {
            @for stop in way.stops_on(no) {
                @if let Some(turn) = stop.no { span class="spot" id={ "t" (turn) } {} }
            }
            p class="quiet" { "packed: the script of this page unpacks it here" }
        }
    }
}
