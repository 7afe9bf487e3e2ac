//! What Claude Code session files mean: bytes in, values out.
//!
//! ```text
//! bytes → lines → entries → tree → (resume, turns) → usage → edit → trim → (query, diff, session, stats, schema, health) → (mend, context)
//! ```
//!
//! A room may use rooms to its left, never to its right. No IO, clock, environment, randomness, threads or printing
//! (**core-is-deaf-and-mute**); any bytes give values and problems, never a panic (**parse-never-fails**).

pub mod check;
pub mod context;
pub mod diff;
pub mod edit;
pub mod entry;
pub mod fix;
pub mod id;
pub mod lines;
pub mod pack;
pub mod problem;
pub mod query;
pub mod resume;
pub mod schema;
pub mod session;
pub mod stats;
pub mod tree;
pub mod trim;
pub mod turn;
pub mod usage;
pub mod version;
