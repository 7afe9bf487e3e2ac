//! One file per page: a request in, a response out.

pub(crate) mod action;
pub(crate) mod assets;
pub(crate) mod branches;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod figures;
mod guide;
mod hits;
pub(crate) mod home;
pub(crate) mod search;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod sql;
