//! Finds and reads Claude Code sessions: the library behind rethread.
//!
//! ```text
//! disk → ops → (faces)
//! ```
//!
//! Only `ops`, `Roots` and `Failure` are public; `disk` is the only door to session files, so no face can reach
//! around an op. No environment, no home folder, no terminal: everything comes in as an argument.

mod disk;
mod failure;
pub mod ops;

pub use disk::Roots;
pub use failure::Failure;
pub use rethread_core as core;
