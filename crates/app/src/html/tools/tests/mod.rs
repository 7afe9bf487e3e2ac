//! Tests of the renderers: what each tool shows, hostile input, calls of real sessions.

mod bounds;
mod hostile;
mod interaction;
mod real;
mod rendering;
mod search;

use rethread_engine::core::turn::{ToolCall, ToolResult};
use serde_json::Value;

use super::{RenderContext, render_body, render_headline};
use crate::html::text::check;

/// Builds a call with its result. A leading `!` makes the result an error.
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
    ToolCall {
        name: name.into(),
        id: "toolu_1".into(),
        input: input.into(),
        line: 1,
        called_at: None,
        result,
    }
}

/// Renders the headline and the body, and checks that both are valid markup.
fn render(call: &ToolCall, result_meta: Option<Value>) -> (String, String) {
    let context = RenderContext {
        folder: "/home/ada/loom",
        result_meta,
        image_url: &|line, call, idx| {
            Some(format!("/image?line={line}&call={}&number={idx}", call.unwrap_or_default()))
        },
        has_result_file: &|name| !name.starts_with("missing"),
    };
    let headline = render_headline(call, &context).into_string();
    let body = render_body(call, &context).into_string();
    check::check_markup(&headline);
    check::check_markup(&body);
    (headline, body)
}
