//! Helpers that several operations need to change sessions or to create new ones.

pub(crate) mod edit_session;
pub(crate) mod effect;
pub(crate) mod new_session;
pub(crate) mod side_files;
pub(crate) mod title;
pub(crate) mod tool_files;
pub(crate) mod trimmed_copy;
pub(crate) mod write_draft;
