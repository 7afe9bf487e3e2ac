//! The web UI: pages over the same operations, served on loopback only.
//!
//! ```text
//! request ─▶ guard ─▶ routes ─▶ pages ──▶ ops (on blocking threads) ─▶ html
//! ```
//!
//! The only async code. **local-only**: bound to loopback; Host, Origin, the prefix of the path and the key are checked first
//! ([`auth`]). No part of a request becomes part of a path: sessions are found in the [`session_list`].

mod auth;
mod cached;
mod connections;
mod filter;
mod guard;
mod index_update;
mod keys;
mod one_time_code;
mod pages;
mod params;
mod response;
mod routes;
mod search;
mod search_queue;
mod serve;
mod server;
mod session_list;
mod sign_in_page;
mod single_flight;
mod snapshot_cache;
mod view_cache;

pub(crate) use serve::{ServeOptions, ServerEvent, serve};
