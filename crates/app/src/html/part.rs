//! The parts of a turn: words, thoughts, calls, and what the client and its commands said.

use maud::{Markup, html};
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::turn::{Media, ToolCall, TurnItem, TurnPart};

use super::RenderOptions;
use super::tool_results::ToolUseResults;
use super::tools::{self, RenderContext};
use super::truncate::{TextFormat, words};
use crate::text::figures::{duration, things};
use crate::text::{clean, summed};

/// Draws the parts of a turn; calls of one server that follow each other stand together under its name.
pub(crate) fn parts(pieces: &[TurnItem], notes: &ToolUseResults<'_>, telling: &RenderOptions<'_>) -> Markup {
    html! {
        @for group in pieces.chunk_by(|a, b| server(a).is_some() && server(a) == server(b)) {
            @match group.first().and_then(server).filter(|_| group.len() > 1) {
                Some(server) => {
                    @let (name, calls) = (clean::line(server), things(group.len() as u64, "call"));
                    section class="group" aria-label={ (name) ": " (calls) } {
                        p class="group-head" { b { (name) } " · " (calls) }
                        @for piece in group { (part(piece, notes, telling)) }
                    }
                }
                None => { @for piece in group { (part(piece, notes, telling)) } }
            }
        }
    }
}

/// Returns the server whose tool a part calls.
fn server(piece: &TurnItem) -> Option<&str> {
    match &piece.part {
        TurnPart::Tool(call) => tools::server(&call.name),
        _ => None,
    }
}

/// Draws a part.
fn part(piece: &TurnItem, notes: &ToolUseResults<'_>, telling: &RenderOptions<'_>) -> Markup {
    let line = piece.line;
    match &piece.part {
        TurnPart::Text(text) if text.trim().is_empty() => Markup::default(),
        TurnPart::Text(text) => {
            html! { div class="part md" data-line=(line) { (words(text, line, telling, TextFormat::Prose)) } }
        }
        TurnPart::Thinking(text) => thoughts(text, line, telling),
        TurnPart::Tool(call) if !telling.bodies => bare(call, telling),
        TurnPart::Tool(call) => tool(call, notes, telling),
        TurnPart::Queued(text) => html! {
            div class="part prompt prompt-queued" data-line=(line) {
                p class="part-label" { "typed meanwhile" }
                (words(text, line, telling, TextFormat::Prompt))
            }
        },
        TurnPart::Command(text) => {
            html! { div class="part" data-line=(line) { (words(text, line, telling, TextFormat::Slash)) } }
        }
        TurnPart::Output(text) if text.trim().is_empty() => Markup::default(),
        TurnPart::Output(text) => {
            html! { div class="part output" data-line=(line) { (words(text, line, telling, TextFormat::Terminal)) } }
        }
        TurnPart::Interrupt(_) => html! { p class="part stop" data-line=(line) { "■ stopped by the user" } },
        TurnPart::Notice(text) => aside("notice", text, line, telling),
        TurnPart::Meta(text) => aside("client", text, line, telling),
        TurnPart::Compaction { trigger, before, after, micro } => {
            compaction(trigger, *before, *after, *micro, line)
        }
        TurnPart::Recap(text) => html! {
            details class="part recap" data-line=(line) {
                summary { "the summary that stands for what was before" }
                div class="md" { (words(text, line, telling, TextFormat::Prose)) }
            }
        },
        TurnPart::Error(text) => html! {
            div class="part error" data-line=(line) { p class="part-label" { "error" } (words(text, line, telling, TextFormat::Plain)) }
        },
        TurnPart::Other(text) => html! {
            details class="part aside" data-line=(line) { summary { "other content" } (words(text, line, telling, TextFormat::Json)) }
        },
    }
}

/// Draws a command that was typed.
pub(crate) fn slash(text: &str) -> Markup {
    let line = clean::line(text);
    let (name, rest) = line.split_once(' ').unwrap_or((&line, ""));
    html! { span class="slash" { (name) } @if !rest.is_empty() { " " span class="slash-rest" { (rest) } } }
}

/// Draws pictures and documents of a prompt.
pub(crate) fn pictures(media: &[Media], telling: &RenderOptions<'_>) -> Markup {
    html! {
        @for media in media {
            @match (telling.picture)(media.line, None, media.no).filter(|_| is_picture(&media.kind)) {
                Some(address) => {
                    button type="button" class="picture" data-do="picture" aria-label="Show the picture large" {
                        img src=(address) alt="picture of the prompt" loading="lazy";
                    }
                }
                None => { p class="quiet" { "[" (clean::line(&media.kind)) "]" } }
            }
        }
    }
}

/// Kinds of pictures that cannot do anything.
pub(crate) const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Whether browsers draw it and nothing in it can run.
pub(crate) fn is_picture(kind: &str) -> bool {
    PICTURES.contains(&kind)
}

fn thoughts(text: &str, line: u32, telling: &RenderOptions<'_>) -> Markup {
    if text.trim().is_empty() {
        return html! { p class="part think-empty" data-line=(line) { "thought, and did not say what" } };
    }
    let first: String = clean::line(text).chars().take(120).collect();
    html! {
        details class="part think" data-line=(line) {
            summary { span class="think-name" { "Thinking" } " " span class="think-first cut" { (first) } }
            div class="md" { (words(text, line, telling, TextFormat::Prose)) }
        }
    }
}

fn aside(name: &str, text: &str, line: u32, telling: &RenderOptions<'_>) -> Markup {
    if text.trim().is_empty() {
        return Markup::default();
    }
    let start: String = clean::line(text).chars().take(600).collect();
    let first: String = untagged(&start).chars().take(120).collect();
    html! {
        details class="part aside" data-line=(line) {
            summary { span class="aside-name" { (name) } " " span class="cut" { (first) } }
            (words(text, line, telling, TextFormat::Plain))
        }
    }
}

/// Leaves out the tags that the client puts around what it tells: `<task-notification>` says nothing to a reader.
fn untagged(line: &str) -> String {
    let mut said = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('<') {
        let name = rest[at + 1..].trim_start_matches('/');
        let end = name.find(|c: char| !(c.is_ascii_lowercase() || c == '-'));
        let is_tag = end.is_some_and(|end| end > 0 && name[end..].starts_with(['>', ' ']));
        said.push_str(&rest[..at]);
        match rest[at..].find('>').filter(|_| is_tag) {
            Some(behind) => {
                said.push(' ');
                rest = &rest[at + behind + 1..];
            }
            None => {
                said.push('<');
                rest = &rest[at + 1..];
            }
        }
    }
    said.push_str(rest);
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn compaction(trigger: &str, before: Option<u64>, after: Option<u64>, micro: bool, line: u32) -> Markup {
    let said = summed::sizes(trigger, before, after);
    html! {
        div class="part compaction" role="separator" data-line=(line) {
            span { (summed::compaction(micro)) @if !said.is_empty() { span class="quiet" { " · " (said.join(" · ")) } } }
        }
    }
}

/// Draws a call: its line, and its body if it is short or nobody could fetch it later.
fn tool(call: &ToolCall, notes: &ToolUseResults<'_>, telling: &RenderOptions<'_>) -> Markup {
    let around = around(call, notes, telling);
    let bad = call.result.as_ref().is_some_and(|result| result.is_error);
    let later = telling.lazy && tools::is_long(call);
    let address = format!("{}/part?line={}&call={}", telling.base, call.line, super::link::encoded(&call.id));
    html! {
        details class={ "part tool" @if bad { " tool-bad" } } open[tools::is_open(call)] data-line=(call.line) data-result=[call.result.as_ref().map(|result| result.line)] {
            summary class="tool-head" {
                (tools::gist(call, &around))
                span class="tool-end" { (took(call).unwrap_or_default()) }
            }
            @if later {
                div class="tool-body" data-src=(address) { p class="quiet" { a href=(address) { "Show what it did" } } }
            } @else {
                div class="tool-body" { (tools::body(call, &around)) }
            }
        }
    }
}

/// Draws a call of which nothing but its line is told.
fn bare(call: &ToolCall, telling: &RenderOptions<'_>) -> Markup {
    let bad = call.result.as_ref().is_some_and(|result| result.is_error);
    html! {
        div class={ "part tool tool-bare" @if bad { " tool-bad" } } data-line=(call.line) data-result=[call.result.as_ref().map(|result| result.line)] {
            div class="tool-head" {
                (tools::bare(call, telling.folder))
                span class="tool-end" { (took(call).unwrap_or_default()) }
            }
        }
    }
}

/// Draws the body of a call by itself.
pub(crate) fn tool_body(call: &ToolCall, raw: &[(u32, Vec<u8>)], telling: &RenderOptions<'_>) -> Markup {
    tools::body(call, &around(call, &ToolUseResults::of(raw, std::iter::once(call)), telling))
}

fn around<'a>(
    call: &ToolCall,
    notes: &ToolUseResults<'_>,
    telling: &'a RenderOptions<'_>,
) -> RenderContext<'a> {
    RenderContext {
        folder: telling.folder,
        noted: notes.read(call),
        picture: telling.picture,
        kept: telling.kept,
    }
}

fn took(call: &ToolCall) -> Option<String> {
    let answered = call.result.as_ref()?.answered?;
    took_between(call.called?, answered)
}

/// Says how long something took, if it took any time.
pub(crate) fn took_between(from: Timestamp, to: Timestamp) -> Option<String> {
    u64::try_from(to.0 - from.0).ok().filter(|&millis| millis > 0).map(duration)
}

#[cfg(test)]
mod tests {
    use super::untagged;

    #[test]
    fn the_tags_of_a_notice_are_not_its_words() {
        assert_eq!(untagged("<task-notification> <task-id>b7</task-id> done"), "b7 done");
        assert_eq!(untagged("<teammate-message from=\"a\">go on</teammate-message>"), "go on");
        for plain in ["a < b > c", "x<y", "<", "Vec<u8> <3", "</>"] {
            assert_eq!(untagged(plain), plain);
        }
    }
}
