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

mod attribution;
mod block;
mod collect;
mod estimate;
mod history;
mod responses;
mod window;

pub use attribution::{Attribution, AttributionItem, ItemKind, Request, apportion, attribute_tokens};
pub use block::Cause;
pub use collect::ContextCollector;
pub use history::{ContextDrop, ContextHistory, ContextSample, Dropped};
pub use window::{CauseTotal, Reread, Window, WindowBlock};
