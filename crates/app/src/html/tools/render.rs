//! The door to the renderers: which tool is drawn by which, and what is the same for all of them.

use maud::{Markup, html};
use rethread_engine::core::turn::ToolCall;
use serde_json::Value;

use super::block::short;
use super::call_view::CallView;
use super::headline::CallHeadline;
use super::outcome::{Kept, Outcome};
use super::{
    agent, ask, collapse, edit, grep, lookup, notebook, other, plan, read, shell, skill, team, todo, web,
};
use crate::html::part::is_picture;
use crate::html::text::{json, terminal};
use crate::text::{self, clean, figures, outcome};

/// Where a picture of a result can be had: an address of the server, or the picture itself.
pub(crate) type Picture<'a> = &'a dyn Fn(u32, Option<&str>, usize) -> Option<String>;

/// What a renderer may know beside the call.
pub(crate) struct RenderContext<'a> {
    /// The folder of the session: paths below it are shown without it.
    pub(crate) folder: &'a str,
    /// What the client noted of the result for itself (`toolUseResult`), as JSON.
    pub(crate) noted: Option<Value>,
    /// Gives the address of a picture by line, call and its number within the result.
    pub(crate) picture: Picture<'a>,
    /// Says whether a result that lies in a file of this name can be had.
    pub(crate) kept: &'a dyn Fn(&str) -> bool,
}

/// How one tool, or a family of them, is drawn.
pub(super) struct Renderer {
    /// The family, which chooses the mark at the head.
    pub(super) kind: &'static str,
    /// Says on one line what the call is about.
    pub(super) gist: fn(&CallView<'_>, &mut CallHeadline),
    /// Draws what was asked.
    pub(super) input: fn(&CallView<'_>) -> Markup,
    /// Draws what was answered, where it did answer.
    pub(super) result: fn(&CallView<'_>, &str) -> Markup,
}

/// How many bytes of input and result stand in a page before somebody asks for them.
const LONG: usize = 6000;

/// Chooses who draws a tool.
pub(super) fn renderer(name: &str) -> &'static Renderer {
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

/// Chooses who draws a call: input of no known shape is drawn as it stands, whatever the tool.
fn chosen(matter: &CallView<'_>) -> &'static Renderer {
    if matter.input.is_object() { renderer(&matter.call.name) } else { &other::ANY }
}

/// Draws what a call is about, on one line.
pub(crate) fn gist(call: &ToolCall, around: &RenderContext<'_>) -> Markup {
    let matter = CallView::open(call, around);
    let renderer = chosen(&matter);
    let mut gist = CallHeadline::default();
    (renderer.gist)(&matter, &mut gist);
    match matter.outcome() {
        Outcome::Missing => gist.figure("no result"),
        Outcome::Declined(_) => gist.bad("declined"),
        Outcome::Interrupted => gist.bad("interrupted"),
        Outcome::Failed(_) if !gist.is_bad() => gist.bad("failed"),
        Outcome::Kept(kept) if !kept.size.is_empty() => gist.figure(short(kept.size, 20)),
        _ => {}
    }
    gist.draw(renderer.kind, name(call))
}

/// Draws a call of which nothing is known but its name, the most telling words of its input, and how it ended.
pub(crate) fn bare(call: &ToolCall, folder: &str) -> Markup {
    let mut gist = CallHeadline::default();
    other::split_name(&call.name, &mut gist);
    gist.say(&text::summary::gist(call, folder));
    match outcome::call_status(call) {
        Some("no result") => gist.figure("no result"),
        Some(ending) => gist.bad(ending),
        None => {}
    }
    gist.draw(renderer(&call.name).kind, name(call))
}

fn name(call: &ToolCall) -> &str {
    if call.name.is_empty() { "result without its call" } else { &call.name }
}

/// Whether the body is too long to stand in a page before somebody asks for it.
pub(crate) fn is_long(call: &ToolCall) -> bool {
    // What people read with the conversation is there at once, unless nobody could read it.
    let is_read = matches!(call.name.as_str(), "TodoWrite" | "AskUserQuestion" | "ExitPlanMode");
    let most = if is_read { 16 * LONG } else { LONG };
    call.input.len() + call.result.as_ref().map_or(0, |result| result.text.len()) > most
}

/// Whether people want to read the body with the conversation: plans, questions and their answers.
pub(crate) fn is_open(call: &ToolCall) -> bool {
    matches!(call.name.as_str(), "AskUserQuestion" | "ExitPlanMode" | "exit_plan_mode")
}

/// Draws input and result of a call.
pub(crate) fn body(call: &ToolCall, around: &RenderContext<'_>) -> Markup {
    let matter = CallView::open(call, around);
    let renderer = chosen(&matter);
    html! {
        ((renderer.input)(&matter))
        @match matter.outcome() {
            Outcome::Missing => p class="quiet" { "no result" },
            Outcome::Declined(said) => {
                div class="declined" { "declined by the user" @if !said.is_empty() { blockquote { (clean::text(said)) } } }
            }
            Outcome::Interrupted => div class="declined" { "interrupted by the user" },
            Outcome::Failed(words) => (failed(words)),
            Outcome::Kept(kept) => { (kept_apart(kept, (around.kept)(kept.file))) ((renderer.result)(&matter, kept.preview)) },
            Outcome::Fine(text) => ((renderer.result)(&matter, text)),
        }
        (pictures(&matter))
    }
}

fn failed(words: &str) -> Markup {
    html! { div class="failed" { @if words.is_empty() { "failed" } @else { (collapse::lines(terminal(words))) } } }
}

/// Says that a result lies in a file of its own; where it can be had, the page around offers to fetch it by the name of the file.
fn kept_apart(kept: Kept<'_>, is_there: bool) -> Markup {
    let is_named = !kept.file.is_empty();
    html! {
        div class="kept" data-kept=[(is_named && is_there).then_some(kept.file)] {
            "kept in a file of its own"
            @if !kept.size.is_empty() { ", " (short(kept.size, 20)) }
            @if is_named { " " code { (kept.file) } }
            @if is_named && !is_there { ", which is not there any more" }
            @if !kept.preview.is_empty() { "; it begins" }
        }
    }
}

/// How many bytes of a result that lies in a file of its own are shown.
pub(crate) const KEPT_SHOWN: usize = 1 << 20;

/// Draws a result that lies in a file of its own, or its beginning where there is more.
pub(crate) fn kept(bytes: &[u8], more: bool) -> Markup {
    html! {
        div class="kept-all" tabindex="0" role="region" aria-label="The whole result" { (terminal(&String::from_utf8_lossy(bytes))) }
        @if more { p class="quiet" { "The file is longer: this is its first MB." } }
    }
}

/// Draws the pictures of a result, and says what else came with it.
fn pictures(matter: &CallView<'_>) -> Markup {
    let Some(result) = &matter.call.result else { return html! {} };
    html! {
        @for shown in &result.media {
            @let address = (matter.around.picture)(result.line, Some(&matter.call.id), shown.no);
            @match address.filter(|_| is_picture(&shown.kind)) {
                Some(address) => button type="button" class="picture" data-do="picture" aria-label="Show the picture large" {
                    img class="tool-picture" loading="lazy" src=(address) alt={ "picture " (shown.no + 1) " of the result" };
                },
                None => p class="quiet" {
                    (media(&shown.kind)) @if shown.bytes > 0 { ", " (figures::size(shown.bytes as u64 / 4 * 3)) }
                },
            }
        }
    }
}

/// Says what kind of thing came with a result.
fn media(kind: &str) -> String {
    match kind {
        "application/pdf" => "a PDF document".into(),
        "image" => "a picture".into(),
        "document" => "a document".into(),
        _ => short(kind, 60),
    }
}

/// Draws input that no renderer understands.
pub(super) fn as_it_stands(matter: &CallView<'_>) -> Markup {
    match matter.call.input.trim() {
        "" | "null" => html! {},
        input => collapse::lines(json(input)),
    }
}
