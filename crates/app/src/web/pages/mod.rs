//! One file per page: what is asked for in, an answer out.

pub(crate) mod action;
pub(crate) mod assets;
pub(crate) mod branches;
pub(crate) mod diff;
pub(crate) mod figures;
mod guide;
mod hits;
pub(crate) mod home;
pub(crate) mod search;
pub(crate) mod session;
pub(crate) mod sessions;
