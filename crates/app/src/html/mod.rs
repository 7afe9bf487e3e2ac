//! What a conversation looks like as a page: values in, markup out.
//!
//! No IO, no clock: the server and the export draw with it alike. All text of a session passes [`crate::words::clean`] and is
//! escaped by the templates; markup is only ever put together from such pieces, and nothing inline runs or styles.

pub(crate) mod assets;
pub(crate) mod branches;
pub(crate) mod frame;
pub(crate) mod plan;
pub(crate) mod sides;
pub(crate) mod text;
pub(crate) mod tools;
pub(crate) mod tree;
pub(crate) mod verdict;
