//! A conversation to take along: markdown, text, JSON Lines, or one page that needs nothing else.
//!
//! ```text
//! Reading ──which way──▶ turns ──how much of them (`detail`)──▶ `markdown`, `text`, `json`
//!                   └──▶ leaves ─────────────────────────────▶ `page`: plain, or packed (`pack`) where there are many
//! ```
//!
//! Nothing here asks the clock, the environment or the network: the same file and the same order give the same bytes. Pieces are
//! drawn in parallel and written in order.

mod agents;
mod branches;
mod chunk;
mod detail;
mod embedded;
mod json;
mod markdown;
mod options;
mod pack;
mod page;
mod policy;
mod sanitize;
mod save;
mod text;

pub(crate) use detail::{Detail, reduce};
pub(crate) use markdown::turn as markdown_turn;
pub(crate) use options::{ExportContext, ExportError, ExportOptions, Format, file_name, write};
pub(crate) use save::{SaveError, save};
pub(crate) use text::turn as text_turn;
