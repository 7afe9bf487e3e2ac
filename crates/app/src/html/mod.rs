//! What a conversation looks like as a page: values in, markup out.
//!
//! No IO, no clock: the server and the export draw with it alike. All text of a session passes [`crate::words::clean`] and is
//! escaped by the templates; markup is only ever put together from such pieces, and nothing inline runs or styles.

pub(crate) mod assets;
pub(crate) mod branches;
pub(crate) mod figure;
pub(crate) mod frame;
pub(crate) mod hit;
pub(crate) mod link;
mod long;
pub(crate) mod map;
mod note;
mod part;
pub(crate) mod plan;
pub(crate) mod row;
pub(crate) mod session;
pub(crate) mod sides;
mod telling;
pub(crate) mod text;
pub(crate) mod tools;
pub(crate) mod tree;
mod turn;
pub(crate) mod verdict;

pub(crate) use long::rest;
pub(crate) use part::{PICTURES, is_picture, tool_body};
pub(crate) use telling::RenderOptions;
pub(crate) use tools::{KEPT_SHOWN, agent_key, kept};
pub(crate) use turn::scene;
