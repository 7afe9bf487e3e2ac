//! One file per action: a request in, an outcome out. The faces draw the outcomes.

mod active;
mod agents;
mod around;
mod branches;
mod diff;
mod doctor;
mod explain;
mod find;
mod gist;
mod list;
mod load;
mod name;
mod schema;
mod show;
mod stats;
mod tools;
mod tree;

pub use active::Active;
pub use agents::{AgentRow, Agents, agents};
pub use around::{Near, Whereabouts};
pub use branches::{BranchList, BranchRow, Shared, branches};
pub use diff::{Branch, BranchName, Diff, diff};
pub use doctor::{Beside, Diagnosis, DoctorRequest, Round, StoreCode, StoreFinding, diagnose, doctor};
pub use explain::{
    Compaction, ExplainRequest, Explanation, Fate, Invention, LostGroup, LostWay, Quotes, Range, Reader,
    Verdict, explain, ranges_by,
};
pub use find::{Find, FindRequest, Match, find};
pub use gist::{Gist, Said};
pub use list::{Filter, Hidden, Links, Listing, Project, SessionRow, list};
pub use load::{Head, Session};
pub use name::find_session;
pub use rethread_core::tree::Standing;
pub use schema::{Schema, schema};
pub use show::{Show, ShowRequest, ToldTurn, show};
pub use stats::{Stats, stats};
pub use tools::{ToolFilter, ToolRow, Tools, tools};
pub use tree::{Drawing, DrawnRow, TreeRequest, tree};
