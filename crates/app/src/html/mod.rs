//! What a conversation looks like as a page: values in, markup out.
//!
//! No IO, no clock: the server and the export draw with it alike. All text of a session passes [`crate::text::clean`] and is
//! escaped by the templates; markup is only ever put together from such pieces, and nothing inline runs or styles.

pub(crate) mod action;
pub(crate) mod assets;
pub(crate) mod branches;
pub(crate) mod diff;
pub(crate) mod figure;
pub(crate) mod frame;
pub(crate) mod hit;
pub(crate) mod link;
pub(crate) mod map;
mod part;
mod render_options;
pub(crate) mod resume_banner;
pub(crate) mod session;
pub(crate) mod session_row;
pub(crate) mod text;
mod tool_results;
pub(crate) mod tools;
pub(crate) mod tree;
mod truncate;
mod turn;

pub(crate) use part::{PICTURES, is_picture, tool_body};
pub(crate) use render_options::RenderOptions;
pub(crate) use tools::{KEPT_SHOWN, agent_key, kept};
pub(crate) use truncate::rest;
pub(crate) use turn::scene;
