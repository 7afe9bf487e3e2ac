//! Finds, reads and changes Claude Code sessions: the library behind rethread.
//!
//! ```text
//! disk → (write, index) → ops → (faces)
//! ```
//!
//! Only `ops`, `Roots`, `Pen`, `Index` and `Failure` are public; `disk` is the only door to session files, `write` the only
//! pen and `index` the only key, so no face can reach around an op. No environment, no home folder, no terminal: everything comes in as an argument.

mod cache;
mod disk;
mod edit;
mod error;
pub mod ops;
mod search_index;
mod session;
mod writer;

pub use cache::{CacheDir, CacheWarning};
pub use disk::Roots;
pub use error::{Error, FileChange, LiveEvidence};
pub use rethread_core as core;
pub use search_index::Progress;
pub use writer::{OpId, SessionWriter};
