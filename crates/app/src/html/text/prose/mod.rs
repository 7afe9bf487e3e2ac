//! Markdown: what the model wrote, and what a user typed.
//!
//! Markup of a session is never passed on, pictures are never loaded, and only addresses that are plainly of the web or of mail
//! become links.

mod block;
mod draw;
mod link;
mod pen;

pub(crate) use block::{Block, last_block};
pub(crate) use draw::{prompt, prose};
pub(crate) use link::safe as safe_address;
