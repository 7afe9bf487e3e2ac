//! Renders markdown: answers of the model and prompts of the user.
//!
//! HTML in markdown is shown as text, images are never loaded, and only plain `http`, `https` and `mailto` URLs become
//! links.

mod block;
mod html_writer;
mod render;

pub(crate) use block::{Block, last_block};
pub(crate) use render::{render_prompt, render_prose};
