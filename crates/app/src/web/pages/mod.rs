//! One file per page: what is asked for in, an answer out.

pub(crate) mod assets;
pub(crate) mod home;
pub(crate) mod session;
