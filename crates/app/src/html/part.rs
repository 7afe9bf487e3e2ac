//! Renders the parts of a turn: text, thinking, tool calls, notifications, command output.

use maud::{Markup, html};
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::turn::{Media, ToolCall, TurnItem, TurnPart};
use rethread_engine::ops::show::RawLine;

use super::RenderOptions;
use super::tool_results::ToolUseResults;
use super::tools::{self, RenderContext};
use super::truncate::{TextFormat, render_text};
use crate::text::figures::{count_noun, format_duration};
use crate::text::{clean, entry};

/// Renders the parts of a turn. Consecutive calls of tools of one MCP server are grouped.
pub(crate) fn render_parts(
    items: &[TurnItem],
    results: &ToolUseResults<'_>,
    options: &RenderOptions<'_>,
) -> Markup {
    html! {
        @for group in items.chunk_by(|a, b| mcp_server(a).is_some() && mcp_server(a) == mcp_server(b)) {
            @match group.first().and_then(mcp_server).filter(|_| group.len() > 1) {
                Some(server) => {
                    @let (name, calls) = (clean::line(server), count_noun(group.len() as u64, "call"));
                    section class="tool-group" aria-label={ (name) ": " (calls) } {
                        p class="tool-group-head" { b { (name) } " · " (calls) }
                        @for item in group { (render_part(item, results, options)) }
                    }
                }
                None => { @for item in group { (render_part(item, results, options)) } }
            }
        }
    }
}

/// Returns the MCP server of a tool call. Returns `None` for other tools and other parts.
fn mcp_server(item: &TurnItem) -> Option<&str> {
    match &item.part {
        TurnPart::Tool(call) => tools::mcp_server(&call.name),
        _ => None,
    }
}

/// Renders a part of a turn. Returns empty markup for blank text.
fn render_part(item: &TurnItem, results: &ToolUseResults<'_>, options: &RenderOptions<'_>) -> Markup {
    let line = item.line;
    match &item.part {
        TurnPart::Text(text) if text.trim().is_empty() => Markup::default(),
        TurnPart::Text(text) => {
            html! { div class="part md" data-line=(line) { (render_text(text, line, options, TextFormat::Prose)) } }
        }
        TurnPart::Thinking(text) => render_thinking(text, line, options),
        TurnPart::Tool(call) if !options.tool_bodies => render_static_tool(call, options),
        TurnPart::Tool(call) => render_tool(call, results, options),
        TurnPart::Queued(text) => html! {
            div class="part prompt prompt-queued" data-line=(line) {
                p class="part-label" { "queued while the model was working" }
                (render_text(text, line, options, TextFormat::Prompt))
            }
        },
        TurnPart::Command(text) => {
            html! { div class="part" data-line=(line) { (render_text(text, line, options, TextFormat::Slash)) } }
        }
        TurnPart::Output(text) if text.trim().is_empty() => Markup::default(),
        TurnPart::Output(text) => {
            html! { div class="part output" data-line=(line) data-untyped { (render_text(text, line, options, TextFormat::Terminal)) } }
        }
        TurnPart::Interrupt(_) => {
            html! { p class="part interrupted" data-line=(line) { "■ interrupted by the user" } }
        }
        TurnPart::Notification(text) => render_note("notification", text, line, options),
        TurnPart::Meta(text) => render_note("client", text, line, options),
        TurnPart::Compaction { trigger, before, after, micro } => {
            render_compaction(trigger, *before, *after, *micro, line)
        }
        TurnPart::CompactSummary(text) => html! {
            details class="part compact-summary" data-line=(line) {
                summary { "Summary that replaces the compacted turns" }
                div class="md" { (render_text(text, line, options, TextFormat::Prose)) }
            }
        },
        TurnPart::Error(text) => html! {
            div class="part error" data-line=(line) { p class="part-label" { "error" } (render_text(text, line, options, TextFormat::Plain)) }
        },
        TurnPart::Other(text) => html! {
            details class="part note" data-line=(line) { summary { "other content" } (render_text(text, line, options, TextFormat::Json)) }
        },
    }
}

/// Renders a slash command: its name and its arguments.
pub(crate) fn render_slash_command(text: &str) -> Markup {
    let line = clean::line(text);
    let (name, rest) = line.split_once(' ').unwrap_or((&line, ""));
    html! { span class="slash-command" { (name) } @if !rest.is_empty() { " " span class="slash-args" { (rest) } } }
}

/// Renders the images of a prompt. Names attachments that are not safe images.
pub(crate) fn render_media(media: &[Media], options: &RenderOptions<'_>) -> Markup {
    html! {
        @for media in media {
            @match (options.image_url)(media.line, None, media.index).filter(|_| is_safe_image(&media.kind)) {
                Some(url) => {
                    button type="button" class="image" data-command="image" aria-label="Show the image at full size" {
                        img src=(url) alt="image of the prompt" loading="lazy";
                    }
                }
                None => { p class="muted" { "[" (clean::line(&media.kind)) "]" } }
            }
        }
    }
}

/// Media types of images that cannot contain scripts.
pub(crate) const SAFE_IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Returns `true` if `kind` is one of [`SAFE_IMAGE_TYPES`].
pub(crate) fn is_safe_image(kind: &str) -> bool {
    SAFE_IMAGE_TYPES.contains(&kind)
}

/// Renders thinking, collapsed to a preview of at most 120 characters.
fn render_thinking(text: &str, line: u32, options: &RenderOptions<'_>) -> Markup {
    if text.trim().is_empty() {
        return html! { p class="part thinking-empty" data-line=(line) { "Thinking (not recorded)" } };
    }
    let preview: String = clean::line(text).chars().take(120).collect();
    html! {
        details class="part thinking" data-line=(line) {
            summary { span class="thinking-name" { "Thinking" } " " span class="thinking-preview ellipsis" { (preview) } }
            div class="md" { (render_text(text, line, options, TextFormat::Prose)) }
        }
    }
}

/// Renders text that is not part of the conversation and that no user typed, collapsed to its `name` and a preview of at most 120
/// characters.
fn render_note(name: &str, text: &str, line: u32, options: &RenderOptions<'_>) -> Markup {
    if text.trim().is_empty() {
        return Markup::default();
    }
    let preview: String = entry::notice_line(text).chars().take(120).collect();
    html! {
        details class="part note" data-line=(line) data-untyped {
            summary { span class="note-name" { (name) } " " span class="ellipsis" { (preview) } }
            (render_text(text, line, options, TextFormat::Plain))
        }
    }
}

/// Renders a compaction: its kind, its trigger, and the tokens before and after it.
fn render_compaction(
    trigger: &str,
    before: Option<u64>,
    after: Option<u64>,
    micro: bool,
    line: u32,
) -> Markup {
    let facts = entry::compaction_facts(trigger, before, after);
    html! {
        div class="part compaction" role="separator" data-line=(line) {
            span { (entry::compaction_label(micro)) @if !facts.is_empty() { span class="muted" { " · " (facts.join(" · ")) } } }
        }
    }
}

/// Renders a tool call: its headline, and its body or a link to load it.
fn render_tool(call: &ToolCall, results: &ToolUseResults<'_>, options: &RenderOptions<'_>) -> Markup {
    let context = render_context(call, results, options);
    let is_failed = call.result.as_ref().is_some_and(|result| result.is_error);
    let on_demand = options.lazy && tools::is_long(call);
    let address =
        format!("{}/part?line={}&call={}", options.base, call.line, super::link::percent_encode(&call.id));
    html! {
        details class={ "part tool" @if is_failed { " tool-failed" } } open[tools::is_open(call)] data-line=(call.line) data-result=[call.result.as_ref().map(|result| result.line)] {
            summary class="tool-head" {
                (tools::render_headline(call, &context))
                span class="tool-duration" { (format_call_duration(call).unwrap_or_default()) }
            }
            @if on_demand {
                div class="tool-body" data-src=(address) { p class="muted" { a href=(address) { "Show input and result" } } }
            } @else {
                div class="tool-body" { (tools::render_body(call, &context)) }
            }
        }
    }
}

/// Renders only the headline of a tool call.
fn render_static_tool(call: &ToolCall, options: &RenderOptions<'_>) -> Markup {
    let is_failed = call.result.as_ref().is_some_and(|result| result.is_error);
    html! {
        div class={ "part tool tool-static" @if is_failed { " tool-failed" } } data-line=(call.line) data-result=[call.result.as_ref().map(|result| result.line)] {
            div class="tool-head" {
                (tools::render_static_headline(call, options.folder))
                span class="tool-duration" { (format_call_duration(call).unwrap_or_default()) }
            }
        }
    }
}

/// Renders the input and the result of a tool call. `lines` are the lines of its turn.
pub(crate) fn render_tool_body(call: &ToolCall, lines: &[RawLine], options: &RenderOptions<'_>) -> Markup {
    let results = ToolUseResults::new(lines, std::iter::once(call));
    tools::render_body(call, &render_context(call, &results, options))
}

/// Builds what the tool renderers need in addition to the call.
fn render_context<'a>(
    call: &ToolCall,
    results: &ToolUseResults<'_>,
    options: &'a RenderOptions<'_>,
) -> RenderContext<'a> {
    RenderContext {
        folder: options.folder,
        result_meta: results.read(call),
        image_url: options.image_url,
        has_result_file: options.has_result_file,
    }
}

/// Formats the time from a call to its result. Returns `None` if there is no result, a time is missing, or it is not
/// positive.
fn format_call_duration(call: &ToolCall) -> Option<String> {
    let answered = call.result.as_ref()?.answered_at?;
    format_duration_between(call.called_at?, answered)
}

/// Formats the time between two timestamps. Returns `None` if it is zero or negative.
pub(crate) fn format_duration_between(from: Timestamp, to: Timestamp) -> Option<String> {
    u64::try_from(to.0 - from.0).ok().filter(|&millis| millis > 0).map(format_duration)
}
