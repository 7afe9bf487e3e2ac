//! Finds, reads and changes Claude Code sessions: the library behind rethread.
//!
//! ```text
//! disk → (write, index) → ops → (faces)
//! ```
//!
//! Only `ops`, `Roots`, `Pen`, `Index` and `Failure` are public; `disk` is the only door to session files, `write` the only
//! pen and `index` the only key, so no face can reach around an op. No environment, no home folder, no terminal: everything comes in as an argument.

mod disk;
mod failure;
mod index;
pub mod ops;
mod write;

pub use disk::Roots;
pub use failure::{Error, FileChange, LiveEvidence};
pub use index::{CacheDir, CacheWarning, Progress};
pub use rethread_core as core;
pub use write::{OpId, SessionWriter};
