//! A headless Chromium that tests drive: real clicks and keys on real pages, and an ear for everything that goes wrong there.
//!
//! ```text
//! launch ──▶ wire ◀──▶ Chromium        one process per test binary, on two pipes, JSON ended by NUL
//!             │ └───▶ hearing          what pages said: errors, dialogs, violations, requests
//!            page ──▶ keys, clip, sight, axe what a test does and asks
//! ```
//!
//! Every wait has a deadline and panics at the line of the test with what it waited for. Nothing outlives the test: Chromium
//! ends when its pipe closes, however we end, and a keeper removes its folder then.
#![expect(
    clippy::disallowed_methods,
    reason = "tests are told by the environment what to run, and keep screenshots"
)]

mod axe;
mod clipboard;
mod connection;
mod events;
mod keys;
mod launch;
mod page;
mod screenshot;

pub use axe::Finding;
pub use events::Request;
pub use launch::Browser;
pub use page::Page;
pub use screenshot::{Area, EmulatedMedia, Frames, PaintTimes};
