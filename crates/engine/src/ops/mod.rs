//! One file per action: a request in, an outcome out. The faces draw the outcomes.

mod active;
mod agents;
mod around;
mod diff;
mod find;
mod list;
mod load;
mod name;
mod schema;
mod show;
mod stats;
mod tools;

pub use active::Active;
pub use agents::{AgentRow, Agents, agents};
pub use around::{Near, Whereabouts};
pub use diff::{Branch, BranchName, Diff, diff};
pub use find::{Find, FindRequest, Match, find};
pub use list::{Filter, Hidden, Links, Listing, Project, SessionRow, list};
pub use load::{Head, Session};
pub use name::find_session;
pub use schema::{Schema, schema};
pub use show::{Show, ShowRequest, Standing, ToldTurn, show};
pub use stats::{Stats, stats};
pub use tools::{ToolFilter, ToolRow, Tools, tools};
