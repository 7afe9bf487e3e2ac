//! A turn: its number and time, the prompt, what followed, and what it came to.

use maud::{Markup, html};
use rethread_engine::core::tree::ForkKind;
use rethread_engine::core::turn::{Prompt, TurnPart};
use rethread_engine::ops::{ForkSwitch, PathRelation, SiblingBranch, TurnSlice};

use super::RenderOptions;
use super::part::{parts, pictures, took_between};
use super::session_row::short_model;
use super::tool_results::ToolUseResults;
use super::truncate::{TextFormat, words};
use crate::text::figures::{things, tokens};
use crate::text::money;
use crate::text::time::rfc3339;

/// Draws a turn, or some of a long one.
pub(crate) fn scene(scene: &TurnSlice, telling: &RenderOptions<'_>) -> Markup {
    let id = scene.no.map(|no| format!("t{no}")).filter(|_| scene.begins);
    let line = scene.raw.first().map(|(line, _)| *line);
    let standing = match scene.standing {
        PathRelation::OnPath => "",
        PathRelation::Compacted => " turn-past",
        PathRelation::Aside => " turn-aside",
    };
    let calls = scene.turn.parts.iter().filter_map(|piece| match &piece.part {
        TurnPart::Tool(call) => Some(&**call),
        _ => None,
    });
    let notes = ToolUseResults::of(&scene.raw, calls);
    html! {
        article class={ "turn" (standing) @if !scene.begins { " turn-more" } } id=[id] data-turn=[scene.no] data-line=[line] {
            @for crossing in &scene.crossings { (switch(crossing, telling)) }
            @if scene.begins { (head(scene, telling)) }
            @if let Some(prompt) = &scene.turn.prompt { (asked(prompt, telling)) }
            (parts(&scene.turn.parts, &notes, telling))
            @if scene.ends { (foot(scene)) }
        }
    }
}

fn head(scene: &TurnSlice, telling: &RenderOptions<'_>) -> Markup {
    let name = scene.no.map_or_else(|| "Before the first prompt".to_owned(), |no| format!("Turn {no}"));
    let link = scene.no.map(|no| format!("#t{no}"));
    html! {
        header class="turn-head" {
            h2 class="turn-name" {
                @match &link {
                    Some(link) => { a href=(link) { (name) } }
                    None => { (name) }
                }
            }
            @if let Some(from) = scene.from {
                time class="quiet num" datetime=[rfc3339(from)] { (telling.clock.second(from, None)) }
            }
            @match scene.standing {
                PathRelation::OnPath => {}
                PathRelation::Compacted => { span class="badge" { "before a compaction" } }
                PathRelation::Aside => { span class="badge badge-warn" { "other branch" } }
            }
            @if telling.acts { (menu(scene)) }
        }
    }
}

/// Draws what can be done with a turn.
fn menu(scene: &TurnSlice) -> Markup {
    let Some(no) = scene.no else { return Markup::default() };
    let at = format!("t{no}");
    html! {
        details class="menu no-print" {
            summary aria-label={ "What to do with turn " (no) } { "⋯" }
            div class="menu-list" {
                button type="button" data-do="copy" data-turn=(no) data-as="text" { "Copy as text" }
                button type="button" data-do="copy" data-turn=(no) data-as="md" { "Copy as markdown" }
                button type="button" data-do="copy" data-turn=(no) data-as="json" { "Copy as raw JSON" }
                button type="button" data-do="link" data-turn=(no) { "Copy the link" }
                hr;
                button type="button" data-act="goto" data-at=(at) { "Go on from here…" }
                button type="button" data-act="fork" data-at=(at) { "Fork here…" }
            }
        }
    }
}

fn asked(prompt: &Prompt, telling: &RenderOptions<'_>) -> Markup {
    html! {
        div class="part prompt" data-line=(prompt.line) {
            (words(&prompt.text, prompt.line, telling, TextFormat::of_prompt(prompt.voice)))
            (pictures(&prompt.media, telling))
        }
    }
}

/// Draws which of several ways this is, and the way to the others.
fn switch(crossing: &ForkSwitch, telling: &RenderOptions<'_>) -> Markup {
    let address = |way: &SiblingBranch| {
        // Where there is no address to ask, all ways are in the same page.
        let page =
            if telling.base.is_empty() { String::new() } else { format!("{}?tip={}", telling.base, way.tip) };
        format!("{page}#L{}", way.line)
    };
    let what = match crossing.kind {
        ForkKind::Root => "beginning",
        _ => "branch",
    };
    let of = crossing.ways;
    html! {
        nav class="switch no-print" aria-label={ "Other ways from here: " (things(of as u64, what)) } {
            @match crossing.previous.as_ref().map(address) {
                Some(address) => { a href=(address) aria-label={ "Previous " (what) } data-switch { "‹" } }
                None => { span aria-hidden="true" { "‹" } }
            }
            span { (what) " " b { (crossing.way) } " of " (of) }
            @match crossing.next.as_ref().map(address) {
                Some(address) => { a href=(address) aria-label={ "Next " (what) } data-switch { "›" } }
                None => { span aria-hidden="true" { "›" } }
            }
        }
    }
}

/// Says what a turn came to.
fn foot(scene: &TurnSlice) -> Markup {
    let usage = &scene.sum.spent.usage;
    let models: Vec<String> = scene.models.iter().map(|model| short_model(model)).collect();
    let took = scene.turn.millis.map(crate::text::figures::duration);
    let took = took.or_else(|| scene.from.zip(scene.to).and_then(|(from, to)| took_between(from, to)));
    let facts = [
        (!models.is_empty()).then(|| models.join(", ")),
        (usage.total() > 0).then(|| {
            let cached = Some(usage.cache_read).filter(|&cached| cached > 0);
            let cached = cached.map(|cached| format!(" ({} cached)", tokens(cached))).unwrap_or_default();
            format!("{} in{cached}, {} out", tokens(usage.read()), tokens(usage.output))
        }),
        Some(money::cost(&scene.sum)).filter(|cost| !cost.is_empty()),
        took,
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    if facts.is_empty() {
        return Markup::default();
    }
    html! { footer class="turn-foot num" { (facts.join(" · ")) } }
}
