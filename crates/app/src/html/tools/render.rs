//! The entry point of the renderers: chooses the renderer of a tool and renders what all tools share.

use maud::{Markup, html};
use rethread_engine::core::turn::ToolCall;
use serde_json::Value;

use super::block::truncate_line;
use super::call_view::CallView;
use super::headline::CallHeadline;
use super::outcome::{Outcome, ResultFile};
use super::{
    agent, ask, collapse, edit, grep, lookup, notebook, other, plan, read, shell, skill, team, todo, web,
};
use crate::html::part::is_safe_image;
use crate::html::text::{render_json, render_terminal};
use crate::text::{self, clean, figures, outcome};

/// Returns the URL of an image by line number, id of the tool call (`None` for a prompt) and index. It is an address
/// on the server or a `data:` URL. Returns `None` if the image is not available.
pub(crate) type ImageUrl<'a> = &'a dyn Fn(u32, Option<&str>, usize) -> Option<String>;

/// Everything that a renderer needs in addition to the call.
pub(crate) struct RenderContext<'a> {
    /// The folder of the session. Paths below it are shown relative to it.
    pub(crate) folder: &'a str,
    /// The client's own record of the result (`toolUseResult`).
    pub(crate) result_meta: Option<Value>,
    /// Returns the URL of an image of the result.
    pub(crate) image_url: ImageUrl<'a>,
    /// Returns `true` if the result file with this name is available.
    pub(crate) has_result_file: &'a dyn Fn(&str) -> bool,
}

/// Renders the calls of one tool or of a family of tools.
pub(super) struct Renderer {
    /// The family of the tool. Selects the icon in the headline.
    pub(super) kind: &'static str,
    /// Adds what the call is about to the headline.
    pub(super) headline: fn(&CallView<'_>, &mut CallHeadline),
    /// Renders the input.
    pub(super) input: fn(&CallView<'_>) -> Markup,
    /// Renders the text of a result that is not an error.
    pub(super) result: fn(&CallView<'_>, &str) -> Markup,
}

/// Maximum total size in bytes of an input and a result that are part of the page. Longer ones are loaded when the call
/// is expanded.
const MAX_INLINE_BYTES: usize = 6000;

/// Returns the renderer of the tool with this name.
pub(super) fn renderer_for(name: &str) -> &'static Renderer {
    match name {
        "Bash" | "Monitor" => &shell::BASH,
        "PowerShell" => &shell::POWERSHELL,
        "BashOutput" | "TaskOutput" | "AgentOutputTool" => &shell::OUTPUT,
        "KillShell" | "KillBash" | "TaskStop" => &shell::KILL,
        "Read" | "NotebookRead" => &read::READ,
        "Write" => &edit::WRITE,
        "Edit" | "MultiEdit" => &edit::EDIT,
        "NotebookEdit" => &notebook::EDIT,
        "Grep" => &grep::GREP,
        "Glob" => &lookup::GLOB,
        "LS" => &lookup::LS,
        "LSP" => &lookup::LSP,
        "ToolSearch" => &lookup::TOOL_SEARCH,
        "WebSearch" | "web_search" => &web::SEARCH,
        "WebFetch" | "web_fetch" => &web::FETCH,
        "Task" | "Agent" => &agent::AGENT,
        "SendMessage" => &team::MESSAGE,
        "TeamCreate" | "TeamDelete" => &team::TEAM,
        "TodoWrite" => &todo::CHECKLIST,
        "TaskCreate" => &todo::CREATE,
        "TaskUpdate" => &todo::UPDATE,
        "TaskList" | "TaskGet" | "TodoRead" => &todo::LIST,
        "AskUserQuestion" => &ask::ASK,
        "ExitPlanMode" | "exit_plan_mode" => &plan::EXIT,
        "EnterPlanMode" => &plan::ENTER,
        "Skill" | "SlashCommand" => &skill::SKILL,
        _ if name.starts_with("mcp__") => &other::MCP,
        _ => &other::ANY,
    }
}

/// Returns the renderer of a call. Input that is not an object is rendered as raw text for every tool.
fn choose_renderer(view: &CallView<'_>) -> &'static Renderer {
    if view.input.is_object() { renderer_for(&view.call.name) } else { &other::ANY }
}

/// Renders the headline of a call: its name, the most informative parts of its input, and its outcome.
pub(crate) fn render_headline(call: &ToolCall, context: &RenderContext<'_>) -> Markup {
    let view = CallView::new(call, context);
    let renderer = choose_renderer(&view);
    let mut headline = CallHeadline::default();
    (renderer.headline)(&view, &mut headline);
    match view.outcome() {
        Outcome::Missing => headline.push_stat("no result"),
        Outcome::Declined(_) => headline.push_failure("declined"),
        Outcome::Interrupted => headline.push_failure("interrupted"),
        Outcome::Failed(_) if !headline.has_failure() => headline.push_failure("failed"),
        Outcome::InResultFile(file) if !file.size.is_empty() => {
            headline.push_stat(truncate_line(file.size, 20));
        }
        _ => {}
    }
    headline.render(renderer.kind, display_name(call))
}

/// Renders the headline of a call that has no body: its name, a summary of its input, and its outcome.
pub(crate) fn render_static_headline(call: &ToolCall, folder: &str) -> Markup {
    let mut headline = CallHeadline::default();
    other::push_mcp_name(&call.name, &mut headline);
    headline.push_text(&text::summary::summarize_call(call, folder));
    match outcome::call_status(call) {
        Some("no result") => headline.push_stat("no result"),
        Some(status) => headline.push_failure(status),
        None => {}
    }
    headline.render(renderer_for(&call.name).kind, display_name(call))
}

/// Returns the name of the tool, or a label for a result without a call.
fn display_name(call: &ToolCall) -> &str {
    if call.name.is_empty() { "result without a call" } else { &call.name }
}

/// Returns `true` if the input and the result are so long that the body is loaded only when the call is expanded.
pub(crate) fn is_long(call: &ToolCall) -> bool {
    // Users read these calls together with the conversation.
    let is_readable = matches!(call.name.as_str(), "TodoWrite" | "AskUserQuestion" | "ExitPlanMode");
    let max_bytes = if is_readable { 16 * MAX_INLINE_BYTES } else { MAX_INLINE_BYTES };
    call.input.len() + call.result.as_ref().map_or(0, |result| result.text.len()) > max_bytes
}

/// Returns `true` if the body is expanded initially: plans, and questions with their answers.
pub(crate) fn is_open(call: &ToolCall) -> bool {
    matches!(call.name.as_str(), "AskUserQuestion" | "ExitPlanMode" | "exit_plan_mode")
}

/// Renders the input and the result of a call.
pub(crate) fn render_body(call: &ToolCall, context: &RenderContext<'_>) -> Markup {
    let view = CallView::new(call, context);
    let renderer = choose_renderer(&view);
    html! {
        ((renderer.input)(&view))
        @match view.outcome() {
            Outcome::Missing => p class="muted" { "no result" },
            Outcome::Declined(reason) => {
                div class="declined" { "declined by the user" @if !reason.is_empty() { blockquote { (clean::text(reason)) } } }
            }
            Outcome::Interrupted => div class="declined" { "interrupted by the user" },
            Outcome::Failed(text) => (render_failure(text)),
            Outcome::InResultFile(file) => { (render_result_file_note(file, (context.has_result_file)(file.name))) ((renderer.result)(&view, file.preview)) },
            Outcome::Succeeded(text) => ((renderer.result)(&view, text)),
        }
        (render_media(&view))
    }
}

fn render_failure(text: &str) -> Markup {
    html! { div class="failed" { @if text.is_empty() { "failed" } @else { (collapse::fold_lines(render_terminal(text))) } } }
}

/// Renders a note that the result is stored in a file. If the file is available, the script of the page adds a button
/// to load it.
fn render_result_file_note(file: ResultFile<'_>, is_available: bool) -> Markup {
    let is_named = !file.name.is_empty();
    html! {
        div class="result-file" data-result-file=[(is_named && is_available).then_some(file.name)] {
            "stored in a separate file"
            @if !file.size.is_empty() { ", " (truncate_line(file.size, 20)) }
            @if is_named { " " code { (file.name) } }
            @if is_named && !is_available { ", which does not exist any more" }
            @if !file.preview.is_empty() { "; it begins with" }
        }
    }
}

/// Maximum number of bytes of a result file that are shown.
pub(crate) const MAX_RESULT_FILE_BYTES: usize = 1 << 20;

/// Renders the bytes of a result file as terminal output. `is_truncated` is `true` if they are only its beginning.
pub(crate) fn render_result_file(bytes: &[u8], is_truncated: bool) -> Markup {
    html! {
        div class="result-file-full" tabindex="0" role="region" aria-label="Full result" { (render_terminal(&String::from_utf8_lossy(bytes))) }
        @if is_truncated { p class="muted" { "The file is longer; only its first MB is shown." } }
    }
}

/// Renders the images of a result. Names attachments that are not safe images.
fn render_media(view: &CallView<'_>) -> Markup {
    let Some(result) = &view.call.result else { return html! {} };
    html! {
        @for media in &result.media {
            @let url = (view.context.image_url)(result.line, Some(&view.call.id), media.index);
            @match url.filter(|_| is_safe_image(&media.kind)) {
                Some(url) => button type="button" class="image" data-command="image" aria-label="Show the image at full size" {
                    img class="tool-image" loading="lazy" src=(url) alt={ "image " (media.index + 1) " of the result" };
                },
                None => p class="muted" {
                    (describe_media(&media.kind)) @if media.bytes > 0 { ", " (figures::format_size(media.bytes as u64 / 4 * 3)) }
                },
            }
        }
    }
}

/// Returns the display name of a media type or kind of block.
fn describe_media(kind: &str) -> String {
    match kind {
        "application/pdf" => "a PDF document".into(),
        "image" => "an image".into(),
        "document" => "a document".into(),
        _ => truncate_line(kind, 60),
    }
}

/// Renders input that no renderer understands as JSON or text. Returns empty markup if there is none.
pub(super) fn render_raw_input(view: &CallView<'_>) -> Markup {
    match view.call.input.trim() {
        "" | "null" => html! {},
        input => collapse::fold_lines(render_json(input)),
    }
}
