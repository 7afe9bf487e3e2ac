//! Test support, never shipped: a script language for transcripts, random and damaged files, stores with known usage, the
//! laws of the format, a home folder and a web server to run the program in, and a browser.
//!
//! ```text
//! script ──▶ bytes ◀── random            check: a law is a function that panics if it is broken;
//!              └──────▶ check            property tests and fuzzers call it
//! ```

pub mod browser;
pub mod check;
pub mod home;
pub mod price;
pub mod process;
pub mod random;
pub mod real;
pub mod sample_session;
pub mod script;
pub mod secrets;
pub mod spending;
pub mod wait;
pub mod web_server;
