//! The content of the context window: how it grew, and which texts, calls and results are in it now.
//!
//! ```text
//! entries ──ContextCollector──┐
//! Tree ───────────────────────┼─▶ ContextHistory  the size at every response, compactions and other drops
//! the loaded path ────────────┴─▶ ContextWindow   every block with its tokens, attributed by estimate
//! ```
//!
//! The API counts whole requests, never blocks. The growth from one request to the next is attributed to the blocks
//! between them, so that the tokens of a window add up to the API's count.

mod attribution;
mod block;
mod collect;
mod estimate;
mod history;
mod responses;
mod token_pool;
mod window;

pub use attribution::{Attribution, AttributionItem, ItemKind, RequestItems, apportion, attribute_tokens};
pub use block::ContextCause;
pub use collect::ContextCollector;
pub use history::{ContextDrop, ContextHistory, ContextSample, DropReason};
pub use window::{CauseTotal, ContextWindow, RepeatedRead, WindowBlock};
