//! Texts and number formats shared by all frontends, and the filter for untrusted session text.

pub(crate) mod clean;
pub(crate) mod command;
pub(crate) mod diagnostic;
pub(crate) mod entry;
pub(crate) mod error;
pub(crate) mod figures;
pub(crate) mod layout;
pub(crate) mod money;
pub(crate) mod node;
pub(crate) mod operation;
pub(crate) mod outcome;
pub(crate) mod resume;
pub(crate) mod resume_command;
pub(crate) mod secrets;
pub(crate) mod session;
pub(crate) mod shell;
pub(crate) mod sql_result;
pub(crate) mod summary;
pub(crate) mod template;
pub(crate) mod time;
