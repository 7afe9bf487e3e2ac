//! One file per action: a request in, an outcome out. The faces draw the outcomes.

mod agents;
mod branches;
mod clone;
mod context;
mod diff;
mod doctor;
mod explain;
mod find;
mod fork;
mod goto;
mod index;
mod list;
mod log;
mod read;
mod rename;
mod repair;
mod repository;
mod rescue;
mod resolve;
mod restore;
mod rm;
mod schema;
mod search;
mod selector;
mod show;
mod stats;
mod tools;
mod tree;
mod undo;
mod usage;

pub use crate::edit::edit_session::ExpectedLoad;
pub use crate::edit::effect::{Effect, Effects};
pub use crate::edit::new_session::NewSession;
pub use crate::edit::trimmed_copy::{SessionSize, TrimmedCopy};
pub use crate::session::active::ActivePath;
pub use crate::session::load::{Session, SessionHeader};
pub use crate::session::match_context::{ContextStatus, NearbyEntry};
pub use crate::session::preview::{EntryPreview, PreviewedEntry};
pub use crate::session::stored_result::{Kept, read_stored_result};
pub use agents::{AgentRow, Agents, agents, agents_fingerprint};
pub use branches::{BranchList, BranchRow, Shared, branches};
pub use clone::{CloneRequest, clone};
pub use context::{Context, ContextRequest, Growth, Large, context};
pub use diff::{Branch, BranchName, Diff, diff};
pub use doctor::{
    DoctorRequest, SessionReport, SideFileSizes, StoreCode, StoreFinding, StoreReport, diagnose, doctor,
};
pub use explain::{
    ClientRange, ClientSelector, Compaction, EntryReader, ExplainRequest, Explanation, Fate, LostGroup,
    SyntheticMessage, UnreachableBranch, Verdict, explain, ranges_by,
};
pub use find::{Find, FindRequest, Match, find};
pub use fork::{ForkRequest, fork};
pub use goto::{EntryRef, GotoOutcome, GotoRequest, goto};
pub use index::{IndexStatus, drop_index, index_status, refresh_index};
pub use list::{Filter, HiddenCounts, Links, Project, SessionList, SessionRow, list, projects};
pub use log::{OpRow, OpState, Prune, log, prune};
pub use read::{
    BranchSelector, BranchView, ForkSwitch, MapBranch, MapEntry, MapPreview, SessionView, SiblingBranch,
    TurnRef, TurnSlice, open_view,
};
pub use rename::{Rename, RenameRequest, rename};
pub use repair::{AfterReport, Repair, RepairRequest, Repaired, Written, repair};
pub use repository::{Repository, repositories, repository};
pub use rescue::{Rescue, RescueRequest, rescue};
pub use resolve::{find_session, find_session_to_change, roots_contain};
pub use restore::{Restore, RestoreRequest, restore};
pub use rethread_core::tree::PathRelation;
pub use rm::{Remove, RemoveRequest, remove};
pub use schema::{Schema, schema};
pub use search::{
    CancelToken, DuplicateHit, Search, SearchHit, SearchRequest, SearchSnapshot, SessionHits, Total, search,
    search_snapshot, stacks,
};
pub use selector::EntrySelector;
pub use show::{Show, ShowRequest, ToldTurn, show};
pub use stats::{Stats, stats};
pub use tools::{ToolFilter, ToolRow, Tools, tools};
pub use tree::{Drawing, DrawnRow, TreeRequest, tree};
pub use undo::{Undo, UndoRequest, undo};
pub use usage::{
    Block, Check, ClientReportedCost, ContextUsage, Copies, GroupBy, GroupKey, GroupRow, MeterRequest, Reach,
    StatuslineUsage, TotalsCheck, Trace, TracedLine, UsageReport, UsageRequest, Window, check_usage, meter,
    trace_usage, usage,
};
