//! Builds a tree from entries: parents, roots, forks, tips and paths.
//!
//! ```text
//! entries ──TreeBuilder──▶ Tree { nodes, children }  ──fork──────▶ which forks are real, and why
//!                                                    ──path──────▶ root … tip, with parallel calls and results
//!                                                    ──segments──▶ branches, and the outline
//! ```
//!
//! A node is identified by its position in the file (**line-is-identity**), because uuids may be missing or
//! repeated. No function recurses, so depth is not limited. Cycles are cut and reported as problems.

mod branch;
mod builder;
mod compact;
mod conversation;
mod copies;
mod descendants;
mod fork;
mod node;
mod outline;
mod path;
mod segments;
mod visitor;

pub use branch::{Branch, Branches, ForkPoint};
pub use builder::{Tree, TreeBuilder};
pub use conversation::{Conversation, ConversationEntry, PathRelation};
pub use fork::{Fork, ForkKind};
pub use node::{LineSpan, Node, NodeId, ParentLink};
pub use outline::{Outline, OutlineItem, OutlineOptions, OutlineRow};
pub use path::PathEntry;
pub use visitor::{EntryVisitor, VisitFn};
