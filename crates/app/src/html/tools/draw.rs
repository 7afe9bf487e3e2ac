//! The door to the renderers: which tool is drawn by which.

use maud::{Markup, html};
use rethread_engine::core::turn::ToolCall;
use serde_json::Value;

use crate::html::text::{json, plain};
use crate::words::clean;

/// Where a picture of a result can be had: an address of the server, or the picture itself.
pub(crate) type Picture<'a> = &'a dyn Fn(u32, Option<&str>, usize) -> Option<String>;

/// What a renderer may know beside the call.
pub(crate) struct Around<'a> {
    /// The folder of the session: paths below it are shown without it.
    pub(crate) folder: &'a str,
    /// What the client noted of the result for itself (`toolUseResult`), as JSON.
    pub(crate) noted: Option<Value>,
    /// Gives the address of a picture by line, call and its number within the result.
    pub(crate) picture: Picture<'a>,
}

/// Draws what a call is about, on one line.
pub(crate) fn gist(call: &ToolCall, _around: &Around<'_>) -> Markup {
    html! { span class="tool-name" { (clean::line(&call.name)) } }
}

/// Whether the body is too long to stand in a page before somebody asks for it.
pub(crate) fn is_long(call: &ToolCall) -> bool {
    call.input.len() + call.result.as_ref().map_or(0, |result| result.text.len()) > 4096
}

/// Draws input and result of a call.
pub(crate) fn body(call: &ToolCall, around: &Around<'_>) -> Markup {
    let _ = (around.folder, &around.noted, around.picture);
    html! { (json(&call.input)) @if let Some(result) = &call.result { (plain(&result.text)) } }
}
