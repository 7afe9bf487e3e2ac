//! What a running session has come to, asked for again and again: for a line on the screen.
//!
//! ```text
//! own files ── page: read on from where they were left ──┐
//! all others ─ kept: what they came to a minute ago ─────┴─ settle ──> session, today, block
//! ```

mod context;
mod family;
mod kept;
mod page;
mod run;

pub use context::{ContextUsage, Window};
pub use run::{Block, MeterRequest, StatuslineUsage, meter};
