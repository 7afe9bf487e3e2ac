//! What fills the context window: how it grew, and which words, calls and results are in it now.
//!
//! ```text
//! entries ──Weigher──┐
//! Tree ──────────────┼─▶ Curve    the size at every response, compactions and other drops
//! the loaded path ───┴─▶ Window   every block with its share: what the API counted, shared out by estimate
//! ```
//!
//! The API counts whole requests, never blocks. So the growth from one request to the next is measured, and what
//! stands between them shares it; the parts of a window add up to what was counted.

mod curve;
mod estimate;
mod piece;
mod responses;
mod settle;
mod weigh;
mod window;

pub use curve::{ContextDrop, ContextHistory, ContextSample, Dropped};
pub use piece::Cause;
pub use settle::{Attribution, AttributionItem, ItemKind, Request, apportion, attribute_tokens};
pub use weigh::ContextCollector;
pub use window::{CauseTotal, Reread, Window, WindowBlock};
