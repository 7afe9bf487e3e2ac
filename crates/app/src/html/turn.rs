//! Renders a turn: number and time, prompt, parts, totals.

use maud::{Markup, html};
use rethread_engine::core::tree::ForkKind;
use rethread_engine::core::tree::PathRelation;
use rethread_engine::core::turn::{Prompt, TurnPart};
use rethread_engine::ops::read::{ForkSwitch, SiblingBranch, TurnSlice};

use super::RenderOptions;
use super::part::{format_duration_between, render_media, render_parts};
use super::session_row::shorten_model_name;
use super::tool_results::ToolUseResults;
use super::truncate::{TextFormat, render_text};
use crate::text::figures::{count_noun, format_tokens};
use crate::text::time::format_rfc3339;
use crate::text::{clean, money};

/// Renders a turn, or a slice of a long one. Only the first slice has a head, and only the last one has totals.
pub(crate) fn render_turn_slice(slice: &TurnSlice, options: &RenderOptions<'_>) -> Markup {
    let id = slice.number.map(|number| format!("t{number}")).filter(|_| slice.starts_turn);
    let line = slice.lines.first().map(|line| line.number);
    let relation_class = match slice.relation {
        PathRelation::OnPath => "",
        PathRelation::Compacted => " turn-compacted",
        PathRelation::OtherBranch => " turn-other-branch",
    };
    let calls = slice.turn.parts.iter().filter_map(|item| match &item.part {
        TurnPart::Tool(call) => Some(&**call),
        _ => None,
    });
    let results = ToolUseResults::new(&slice.lines, calls);
    html! {
        article class={ "turn" (relation_class) @if !slice.starts_turn { " turn-continued" } } id=[id] data-turn=[slice.number] data-line=[line] {
            @for switch in &slice.forks { (render_fork_switch(switch, options)) }
            @if slice.starts_turn { (render_head(slice, options)) }
            @if let Some(prompt) = &slice.turn.prompt { (render_prompt(prompt, options)) }
            (render_parts(&slice.turn.parts, &results, options))
            @if slice.ends_turn { (render_foot(slice)) }
        }
    }
}

/// Renders the number, time and relation of a turn, and its menu if actions are enabled.
fn render_head(slice: &TurnSlice, options: &RenderOptions<'_>) -> Markup {
    let name =
        slice.number.map_or_else(|| "Before the first prompt".to_owned(), |number| format!("Turn {number}"));
    let link = slice.number.map(|number| format!("#t{number}"));
    html! {
        header class="turn-head" {
            h2 class="turn-name" {
                @match &link {
                    Some(link) => { a href=(link) { (name) } }
                    None => { (name) }
                }
            }
            @if let Some(started_at) = slice.started_at {
                time class="muted num" datetime=[format_rfc3339(started_at)] { (options.clock.format_second(started_at, None)) }
            }
            @match slice.relation {
                PathRelation::OnPath => {}
                PathRelation::Compacted => { span class="badge" { "before a compaction" } }
                PathRelation::OtherBranch => { span class="badge badge-warn" { "other branch" } }
            }
            @if options.actions { (render_menu(slice)) }
        }
    }
}

/// Renders the menu of a turn: copy, link, resume, fork. Returns empty markup for lines before the first prompt.
fn render_menu(slice: &TurnSlice) -> Markup {
    let Some(number) = slice.number else { return Markup::default() };
    let handle = format!("t{number}");
    html! {
        details class="menu no-print" {
            summary aria-label={ "Actions for turn " (number) } { "⋯" }
            div class="menu-list" {
                button type="button" data-command="copy" data-turn=(number) data-as="text" { "Copy as text" }
                button type="button" data-command="copy" data-turn=(number) data-as="md" { "Copy as markdown" }
                button type="button" data-command="copy" data-turn=(number) data-as="json" { "Copy as raw JSON" }
                button type="button" data-command="link" data-turn=(number) { "Copy link" }
                hr;
                button type="button" data-action="goto" data-at=(handle) { "Resume from here…" }
                button type="button" data-action="fork" data-at=(handle) { "Fork from here…" }
            }
        }
    }
}

fn render_prompt(prompt: &Prompt, options: &RenderOptions<'_>) -> Markup {
    html! {
        div class="part prompt" data-line=(prompt.line) {
            (render_text(&prompt.text, prompt.line, options, TextFormat::for_prompt(prompt.role)))
            (render_media(&prompt.media, options))
        }
    }
}

/// Renders the position of the shown branch at a fork, and links to the previous and next branch.
fn render_fork_switch(switch: &ForkSwitch, options: &RenderOptions<'_>) -> Markup {
    let address = |branch: &SiblingBranch| {
        // An exported page has no address and contains all branches.
        let page = if options.base.is_empty() {
            String::new()
        } else {
            format!("{}?tip={}", options.base, branch.tip)
        };
        format!("{page}#L{}", branch.line)
    };
    let noun = match switch.kind {
        ForkKind::Root => "beginning",
        _ => "branch",
    };
    let count = switch.branch_count;
    html! {
        nav class="fork-switch no-print" aria-label={ "Branches from here: " (count_noun(count as u64, noun)) } {
            @match switch.previous.as_ref().map(address) {
                Some(address) => { a href=(address) aria-label={ "Previous " (noun) } data-switch { "‹" } }
                None => { span aria-hidden="true" { "‹" } }
            }
            span { (noun) " " b { (switch.position) } " of " (count) }
            @match switch.next.as_ref().map(address) {
                Some(address) => { a href=(address) aria-label={ "Next " (noun) } data-switch { "›" } }
                None => { span aria-hidden="true" { "›" } }
            }
        }
    }
}

/// Renders the totals of a turn: models, tokens, cost, duration, stop reason. Returns empty markup if there are none.
fn render_foot(slice: &TurnSlice) -> Markup {
    let usage = &slice.cost.counts.usage;
    let models: Vec<String> = slice.models.iter().map(|model| shorten_model_name(model)).collect();
    let duration = slice.turn.duration_ms.map(crate::text::figures::format_duration);
    let duration = duration.or_else(|| {
        slice.started_at.zip(slice.ended_at).and_then(|(from, to)| format_duration_between(from, to))
    });
    let facts = [
        (!models.is_empty()).then(|| models.join(", ")),
        (usage.total() > 0).then(|| {
            let cached = Some(usage.cache_read).filter(|&cached| cached > 0);
            let cached =
                cached.map(|cached| format!(" ({} cached)", format_tokens(cached))).unwrap_or_default();
            format!("{} in{cached}, {} out", format_tokens(usage.total_input()), format_tokens(usage.output))
        }),
        Some(money::format_cost(&slice.cost)).filter(|cost| !cost.is_empty()),
        duration,
        slice.turn.stop_reason.as_deref().map(|reason| format!("stopped: {}", clean::line(reason))),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    if facts.is_empty() {
        return Markup::default();
    }
    html! { footer class="turn-foot num" { (facts.join(" · ")) } }
}
