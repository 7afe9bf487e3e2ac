//! Test material, never shipped: transcripts from a short script, random and damaged files, stores of which it is known
//! what was spent in them, the laws themselves, and a browser to look at pages with.
//!
//! ```text
//! script ──▶ bytes ◀── random            check: a law as a function that panics where it is broken;
//!              └──────▶ check            called by the property tests and by the fuzzers alike
//! ```

pub mod browser;
pub mod check;
pub mod random;
pub mod script;
pub mod spending;
