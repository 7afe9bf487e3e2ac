//! What the renderers promise: what each tool shows, that nothing hostile comes through, that every real call is drawn.

mod bounds;
mod hostile;
mod interaction;
mod real;
mod rendering;
mod search;

use rethread_engine::core::turn::{ToolCall, ToolResult};
use serde_json::Value;

use super::{RenderContext, body, gist};
use crate::html::text::check;

/// Makes a call with its result: `!` before the words makes them an error.
fn call(name: &str, input: &str, result: Option<&str>) -> ToolCall {
    let result = result.map(|text| {
        let failed = text.strip_prefix('!');
        ToolResult {
            text: failed.unwrap_or(text).into(),
            is_error: failed.is_some(),
            line: 2,
            ..ToolResult::default()
        }
    });
    ToolCall { name: name.into(), id: "toolu_1".into(), input: input.into(), line: 1, called: None, result }
}

/// Draws head and body, and checks that both are markup of our own.
fn draw(call: &ToolCall, noted: Option<Value>) -> (String, String) {
    let around = RenderContext {
        folder: "/home/ada/loom",
        noted,
        picture: &|line, call, no| {
            Some(format!("/picture?line={line}&call={}&no={no}", call.unwrap_or_default()))
        },
        kept: &|name| !name.starts_with("gone"),
    };
    let (gist, body) = (gist(call, &around).into_string(), body(call, &around).into_string());
    check::markup(&gist);
    check::markup(&body);
    (gist, body)
}
