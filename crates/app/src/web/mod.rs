//! The face in the browser: pages over the same ops, served on this machine alone.
//!
//! ```text
//! request ─▶ gate ─▶ routes ─▶ pages ──▶ ops (on threads of their own) ─▶ html
//! ```
//!
//! The only async code. **stays-home**: bound to loopback; Host, Origin and the key of this run are checked before anything
//! else is done ([`gate`]). Nothing of a request is ever part of a path: sessions are looked up on the [`shelf`].

mod answer;
mod asked;
mod gate;
mod pages;
mod pick;
mod queue;
mod readings;
mod routes;
mod seek;
mod serve;
mod server;
mod shelf;
mod single;
mod stacks;

pub(crate) use gate::Auth;
pub(crate) use serve::serve;
