//! Entries to a tree: parents, roots, forks, tips and paths.
//!
//! ```text
//! entries ──Weaver──▶ Tree { nodes, children }  ──forks──▶ which forks are real, and why
//!                                               ──path───▶ root … tip, calls and results re-joined
//! ```
//!
//! The key of a node is its place in the file (**line-is-identity**): uuids may be missing or repeat. Nothing recurses,
//! whatever the depth; cycles are cut where they are met and told as problems.

mod below;
mod compact;
mod fork;
mod node;
mod path;
mod weave;

pub use fork::{Fork, ForkKind};
pub use node::{Link, Node, NodeNo, Place};
pub use path::Step;
pub use weave::{Tree, Weaver};
