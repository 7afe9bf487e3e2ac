//! One file per action: a request in, an outcome out. The faces draw the outcomes.

mod active;
mod agents;
mod around;
mod branches;
mod clone;
mod context;
mod diff;
mod doctor;
mod effect;
mod explain;
mod find;
mod fork;
mod gist;
mod goto;
mod index;
mod kept;
mod lighter;
mod list;
mod load;
mod log;
mod name;
mod offspring;
mod point;
mod pour;
mod project;
mod read;
mod recall;
mod remove;
mod rename;
mod repair;
mod repository;
mod rescue;
mod restore;
mod schema;
mod search;
mod show;
mod side;
mod source;
mod stats;
mod title;
mod tools;
mod tree;
mod undo;
mod usage;

pub use active::Active;
pub use agents::{AgentRow, Agents, agents, agents_look};
pub use around::{Near, Whereabouts};
pub use branches::{BranchList, BranchRow, Shared, branches};
pub use clone::{CloneRequest, clone};
pub use context::{Context, ContextRequest, Growth, Large, context};
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
pub use index::{IndexStatus, drop_index, index_status, refresh_index};
pub use kept::{Kept, kept};
pub use lighter::{Lighter, Weight};
pub use list::{Filter, Hidden, Links, Listing, Project, SessionRow, list, projects};
pub use load::{Head, Session};
pub use log::{OpRow, OpState, Prune, log, prune};
pub use name::{find_session, find_session_to_change, holds};
pub use offspring::Offspring;
pub use point::Where;
pub use read::{Crossing, Neighbour, Reading, Scene, Sign, Spoken, Stop, Turnoff, Way, Which, read};
pub use remove::{Remove, RemoveRequest, remove};
pub use rename::{Rename, RenameRequest, rename};
pub use repair::{Prognosis, Repair, RepairRequest, Repaired, Written, repair};
pub use repository::{Repository, repositories, repository};
pub use rescue::{Rescue, RescueRequest, rescue};
pub use restore::{Restore, RestoreRequest, restore};
pub use rethread_core::tree::Standing;
pub use schema::{Schema, schema};
pub use search::{
    Copy, Halt, Search, SearchHit, SearchRequest, SessionHits, Stacks, Total, search, search_again, stacks,
};
pub use show::{Show, ShowRequest, ToldTurn, show};
pub use source::Promise;
pub use stats::{Stats, stats};
pub use tools::{ToolFilter, ToolRow, Tools, tools};
pub use tree::{Drawing, DrawnRow, TreeRequest, tree};
pub use undo::{Undo, UndoRequest, undo};
pub use usage::{
    Block, By, Check, Copies, Fullness, Key, Meter, MeterRequest, Opinion, Proof, Reach, Row, Spending,
    Trace, TracedLine, UsageRequest, Window, check_usage, meter, trace_usage, usage,
};
