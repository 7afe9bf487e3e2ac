//! Exports a session as markdown, text, JSON Lines, or one self-contained HTML page.
//!
//! ```text
//! SessionView ──▶ BranchView ──▶ turns ──▶ `detail` omits parts ──▶ `markdown`, `text`, `json`
//!                           └──▶ pages ──▶ `chunk` renders one  ──▶ `page`: the first chunks plain, later ones packed (`pack`)
//! ```
//!
//! Secrets are replaced in a copy of the session (`secret_policy`), so no part of the export can contain one. The output is
//! searched again (`verify`), and nothing is written if that finds any.
//!
//! The export reads no clock, no environment and no network: the same file and the same options give the same bytes.
//! Turns and chunks are rendered in parallel and written in order.

mod agents;
mod branches;
mod chunk;
mod detail;
mod embedded;
mod json;
mod long_texts;
mod markdown;
mod markdown_block;
mod options;
mod pack;
mod page;
mod policy;
mod sanitize;
mod save;
mod secret_policy;
mod text;
mod verify;

pub(crate) use detail::{Detail, reduce_turn};
pub(crate) use markdown::write_turn as write_markdown_turn;
pub(crate) use options::{ExportContext, ExportError, ExportOptions, Format, build_file_name};
pub(crate) use save::{SaveError, save_file};
pub(crate) use secret_policy::{ExportSource, SecretPolicy, SecretsSetting, join_kinds};
pub(crate) use text::write_turn as write_text_turn;
