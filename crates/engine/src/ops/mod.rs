//! One file per action: a request in, an outcome out. The faces draw the outcomes.

mod active;
mod agents;
mod around;
mod branches;
mod diff;
mod doctor;
mod effect;
mod explain;
mod find;
mod fork;
mod gist;
mod goto;
mod list;
mod load;
mod log;
mod name;
mod offspring;
mod point;
mod pour;
mod remove;
mod rename;
mod repair;
mod restore;
mod schema;
mod show;
mod side;
mod source;
mod stats;
mod tools;
mod tree;
mod undo;

pub use active::Active;
pub use agents::{AgentRow, Agents, agents};
pub use around::{Near, Whereabouts};
pub use branches::{BranchList, BranchRow, Shared, branches};
pub use diff::{Branch, BranchName, Diff, diff};
pub use doctor::{Beside, Diagnosis, DoctorRequest, Round, StoreCode, StoreFinding, diagnose, doctor};
pub use effect::{Effect, Effects};
pub use explain::{
    Compaction, ExplainRequest, Explanation, Fate, Invention, LostGroup, LostWay, Quotes, Range, Reader,
    Verdict, explain, ranges_by,
};
pub use find::{Find, FindRequest, Match, find};
pub use fork::{ForkRequest, fork};
pub use gist::{Gist, Said};
pub use goto::{GotoRequest, Moved, Stand, goto};
pub use list::{Filter, Hidden, Links, Listing, Project, SessionRow, list};
pub use load::{Head, Session};
pub use log::{OpRow, OpState, Prune, log, prune};
pub use name::{find_session, find_session_to_change};
pub use offspring::Offspring;
pub use point::Where;
pub use remove::{Remove, RemoveRequest, remove};
pub use rename::{Rename, RenameRequest, rename};
pub use repair::{Prognosis, Repair, RepairRequest, Repaired, Written, repair};
pub use restore::{Restore, RestoreRequest, restore};
pub use rethread_core::tree::Standing;
pub use schema::{Schema, schema};
pub use show::{Show, ShowRequest, ToldTurn, show};
pub use source::Promise;
pub use stats::{Stats, stats};
pub use tools::{ToolFilter, ToolRow, Tools, tools};
pub use tree::{Drawing, DrawnRow, TreeRequest, tree};
pub use undo::{Undo, UndoRequest, undo};
