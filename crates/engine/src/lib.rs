//! Finds, reads and changes Claude Code sessions: the library behind rethread.
//!
//! ```text
//! disk → write → ops → (faces)
//! ```
//!
//! Only `ops`, `Roots`, `Pen` and `Failure` are public; `disk` is the only door to session files and `write` the only
//! pen, so no face can reach around an op. No environment, no home folder, no terminal: everything comes in as an argument.

mod disk;
mod failure;
pub mod ops;
mod write;

pub use disk::Roots;
pub use failure::{Drift, Failure, Liveness};
pub use rethread_core as core;
pub use write::{OpNo, Pen};
