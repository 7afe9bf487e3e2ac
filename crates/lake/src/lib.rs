//! Sessions of a team as Parquet, for the SQL engines that people already run.
//!
//! ```text
//! sessions ──ops::tables──▶ rows ──level──▶ objects ──▶ heads        push: objects first, heads last
//!                                              └──views──▶ each response, call and line once
//! ```
//!
//! A lake is a folder of immutable Parquet objects. A **head** is a row of the table `sources`: it names the push that has
//! the rows of a session file. Rows without a head are not part of the lake, so a push is visible as a whole or not at all.
//! The raw tables contain copies and superseded rows; the views are the contract (see [`views`]).
//!
//! The crate has no HTTP client. [`remote`] describes the commands of other programs that copy a push to a bucket.

mod check;
mod column_buffer;
mod compact;
mod error;
mod folder;
mod forget;
mod heads;
mod key;
mod level;
mod object_reader;
mod object_writer;
mod push;
mod push_state;
pub mod remote;
mod result_file;
mod row_encoder;
mod schema;
mod status;
mod text_redactor;
pub mod views;
mod vocabulary;

pub use check::{CheckReport, Finding, check_lake};
pub use column_buffer::{CellValue, ColumnBuffer};
pub use compact::{CompactReport, CompactRequest, compact_lake};
pub use error::LakeError;
pub use folder::{LakeFolder, LakeManifest, LakeObject, init_folder};
pub use forget::{ForgetReport, ForgetScope, LakeForgetRequest, forget};
pub use heads::{SourceHead, read_heads, select_current_heads};
pub use key::{TeamKey, derive_dev_id};
pub use level::Level;
pub use object_reader::{ObjectReader, RowGroupColumns};
pub use push::{PushReport, PushRequest, TableSummary, push};
pub use push_state::PushState;
pub use result_file::{ResultColumn, write_result_file};
pub use schema::{LakeColumn, LakeTable, LakeType, SCHEMA_VERSION};
pub use status::{LakeStatus, read_status};
