//! Renders conversations as HTML: values in, markup out.
//!
//! The module does no IO and reads no clock; the server and the export share it. All text of a session passes
//! [`crate::text::clean`] and is escaped by the templates. Markup contains no inline scripts or styles.

pub(crate) mod action;
pub(crate) mod assets;
pub(crate) mod branches;
pub(crate) mod diagnostics;
pub(crate) mod diff;
pub(crate) mod field;
pub(crate) mod figure;
pub(crate) mod frame;
pub(crate) mod hit;
pub(crate) mod link;
pub(crate) mod map;
mod part;
pub(crate) mod redaction;
mod render_options;
pub(crate) mod resume_banner;
pub(crate) mod session;
pub(crate) mod session_row;
pub(crate) mod sign_in;
pub(crate) mod text;
mod tool_results;
pub(crate) mod tools;
pub(crate) mod tree;
mod truncate;
mod turn;

pub(crate) use part::{SAFE_IMAGE_TYPES, is_safe_image, render_tool_body};
pub(crate) use render_options::RenderOptions;
pub(crate) use tools::{MAX_RESULT_FILE_BYTES, agent_key, render_result_file};
pub(crate) use truncate::render_rest;
pub(crate) use turn::render_turn_slice;
