//! The face in the browser: pages over the same ops, served on this machine alone.
//!
//! ```text
//! request ─▶ gate ─▶ routes ─▶ pages ──▶ ops (on threads of their own) ─▶ html
//! ```
//!
//! The only async code. **stays-home**: bound to loopback; Host, Origin and the key of this run are checked before anything
//! else is done ([`gate`]). Nothing of a request is ever part of a path: sessions are looked up on the [`shelf`].

mod auth;
mod filter;
mod pages;
mod params;
mod response;
mod routes;
mod search;
mod search_queue;
mod serve;
mod server;
mod session_list;
mod single_flight;
mod snapshot_cache;
mod view_cache;

pub(crate) use auth::Auth;
pub(crate) use serve::serve;
