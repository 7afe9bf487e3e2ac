//! Renders tool calls, with one [`Renderer`](render::Renderer) per tool or family of tools.
//!
//! `render` is the entry point: it parses a call into a `CallView`, chooses the renderer by the tool's name and renders
//! everything that all tools share: failures, rejections, images, results stored in separate files. A renderer handles
//! only the input and the result of its tool. Input, result and `toolUseResult` differ by client version and may
//! contain anything, so every field is optional.

mod agent;
mod ask;
mod block;
mod call_view;
mod collapse;
mod edit;
mod grep;
mod grep_output;
mod headline;
mod lookup;
mod notebook;
mod other;
mod outcome;
mod plan;
mod read;
mod render;
mod shell;
mod skill;
mod team;
#[cfg(test)]
mod tests;
mod todo;
mod web;

pub(crate) use agent::agent_key;
pub(crate) use other::mcp_server;
pub(crate) use render::{
    ImageUrl, MAX_RESULT_FILE_BYTES, RenderContext, is_long, is_open, render_body, render_headline,
    render_result_file, render_static_headline,
};
