//! Markdown: what the model wrote, and what a user typed.
//!
//! Markup of a session is never passed on, pictures are never loaded, and only addresses that are plainly of the web or of mail
//! become links.

mod block;
mod html_writer;
mod link;
mod render;

pub(crate) use block::{Block, last_block};
pub(crate) use link::safe as safe_address;
pub(crate) use render::{prompt, prose};
