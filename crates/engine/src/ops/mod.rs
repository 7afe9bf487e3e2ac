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

pub use active::ActivePath;
pub use agents::{AgentRow, Agents, agents, agents_fingerprint};
pub use around::{ContextStatus, NearbyEntry};
pub use branches::{BranchList, BranchRow, Shared, branches};
pub use clone::{CloneRequest, clone};
pub use context::{Context, ContextRequest, Growth, Large, context};
pub use diff::{Branch, BranchName, Diff, diff};
pub use doctor::{
    DoctorRequest, SessionReport, SideFileSizes, StoreCode, StoreFinding, StoreReport, diagnose, doctor,
};
pub use effect::{Effect, Effects};
pub use explain::{
    ClientRange, ClientSelector, Compaction, EntryReader, ExplainRequest, Explanation, Fate, LostGroup,
    SyntheticMessage, UnreachableBranch, Verdict, explain, ranges_by,
};
pub use find::{Find, FindRequest, Match, find};
pub use fork::{ForkRequest, fork};
pub use gist::{EntryPreview, PreviewedEntry};
pub use goto::{EntryRef, GotoOutcome, GotoRequest, goto};
pub use index::{IndexStatus, drop_index, index_status, refresh_index};
pub use kept::{Kept, read_stored_result};
pub use lighter::{SessionSize, TrimmedCopy};
pub use list::{Filter, HiddenCounts, Links, Project, SessionList, SessionRow, list, projects};
pub use load::{Session, SessionHeader};
pub use log::{OpRow, OpState, Prune, log, prune};
pub use name::{find_session, find_session_to_change, roots_contain};
pub use offspring::NewSession;
pub use point::EntrySelector;
pub use read::{
    BranchSelector, BranchView, ForkSwitch, MapBranch, MapEntry, MapPreview, SessionView, SiblingBranch,
    TurnRef, TurnSlice, open_view,
};
pub use remove::{Remove, RemoveRequest, remove};
pub use rename::{Rename, RenameRequest, rename};
pub use repair::{AfterReport, Repair, RepairRequest, Repaired, Written, repair};
pub use repository::{Repository, repositories, repository};
pub use rescue::{Rescue, RescueRequest, rescue};
pub use restore::{Restore, RestoreRequest, restore};
pub use rethread_core::tree::PathRelation;
pub use schema::{Schema, schema};
pub use search::{
    CancelToken, DuplicateHit, Search, SearchHit, SearchRequest, SearchSnapshot, SessionHits, Total, search,
    search_snapshot, stacks,
};
pub use show::{Show, ShowRequest, ToldTurn, show};
pub use source::ExpectedLoad;
pub use stats::{Stats, stats};
pub use tools::{ToolFilter, ToolRow, Tools, tools};
pub use tree::{Drawing, DrawnRow, TreeRequest, tree};
pub use undo::{Undo, UndoRequest, undo};
pub use usage::{
    Block, Check, ClientReportedCost, ContextUsage, Copies, GroupBy, GroupKey, GroupRow, MeterRequest, Reach,
    StatuslineUsage, TotalsCheck, Trace, TracedLine, UsageReport, UsageRequest, Window, check_usage, meter,
    trace_usage, usage,
};
