//! One file per page: what is asked for in, an answer out.

pub(crate) mod act;
pub(crate) mod assets;
pub(crate) mod branches;
pub(crate) mod diff;
pub(crate) mod home;
