//! Drives a headless Chromium: real clicks and keys on real pages. All errors of a page are recorded.
//!
//! ```text
//! launch ──▶ connection ◀──▶ Chromium        one process per test binary, two pipes, JSON messages terminated by NUL
//!             │ └───▶ events                 errors, dialogs, policy violations, requests
//!            page ──▶ keys, clipboard, screenshot, axe
//! ```
//!
//! Every wait has a deadline. After it, the wait panics at the line of the test and names the condition. Nothing outlives
//! the test: Chromium exits when its pipe closes, even if the test process died, and a supervisor removes its folder.
#![expect(
    clippy::disallowed_methods,
    reason = "the environment names the browser, and screenshots are written"
)]

mod axe;
mod clipboard;
mod connection;
mod events;
mod keys;
mod launch;
mod page;
mod screenshot;

pub use axe::AccessibilityFinding;
pub use events::Request;
pub use launch::Browser;
pub use page::Page;
pub use screenshot::{EmulatedMedia, FrameStats, PaintTimes, ScreenshotArea};
