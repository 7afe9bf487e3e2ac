//! Entries to a tree: parents, roots, forks, tips and paths.
//!
//! ```text
//! entries ──Weaver──▶ Tree { nodes, children }  ──forks────▶ which forks are real, and why
//!                                               ──path─────▶ root … tip, calls and results re-joined
//!                                               ──stretch──▶ branches, and the outline of a drawing
//! ```
//!
//! The key of a node is its place in the file (**line-is-identity**): uuids may be missing or repeat. Nothing recurses,
//! whatever the depth; cycles are cut where they are met and told as problems.

mod branch;
mod builder;
mod compact;
mod descendants;
mod fork;
mod node;
mod outline;
mod path;
mod segments;

pub use branch::{Branch, Branches, ForkPoint};
pub use builder::{Tree, TreeBuilder};
pub use fork::{Fork, ForkKind};
pub use node::{LineSpan, Node, NodeId, ParentLink};
pub use outline::{Outline, OutlineItem, OutlineOptions, PathRelation, Row};
pub use path::PathEntry;
