//! Tool calls: for each tool what a reader wants to see of it.
//!
//! `draw` is the door: it opens a call as a `Matter`, chooses its `Renderer` by name and draws what is the same for all: failures,
//! refusals, pictures, results kept elsewhere. A renderer knows only what its tool was asked and what it answered. Input,
//! result and note differ by client version and may hold anything, so every field is a question that may have no answer.

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

pub(crate) use agent::key as agent_key;
pub(crate) use other::server;
pub(crate) use render::{KEPT_SHOWN, Picture, RenderContext, bare, body, gist, is_long, is_open, kept};
