//! Words and figures that every face says in the same way, and the fence that session text passes before it is shown.

pub(crate) mod called;
pub(crate) mod clean;
pub(crate) mod deed;
pub(crate) mod ending;
pub(crate) mod figures;
pub(crate) mod fit;
pub(crate) mod folder;
pub(crate) mod gist;
pub(crate) mod hidden;
pub(crate) mod money;
pub(crate) mod node;
pub(crate) mod prose;
pub(crate) mod resume;
pub(crate) mod runs;
pub(crate) mod said;
pub(crate) mod shell;
pub(crate) mod standing;
pub(crate) mod summed;
pub(crate) mod trouble;
pub(crate) mod when;
