//! Words and figures that every face says in the same way, and the fence that session text passes before it is shown.

pub(crate) mod clean;
pub(crate) mod diagnostic;
pub(crate) mod entry;
pub(crate) mod error;
pub(crate) mod figures;
pub(crate) mod fit;
pub(crate) mod folder;
pub(crate) mod hidden;
pub(crate) mod layout;
pub(crate) mod money;
pub(crate) mod node;
pub(crate) mod operation;
pub(crate) mod outcome;
pub(crate) mod resume;
pub(crate) mod runs;
pub(crate) mod session;
pub(crate) mod shell;
pub(crate) mod standing;
pub(crate) mod summary;
pub(crate) mod summed;
pub(crate) mod time;
