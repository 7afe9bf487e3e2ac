//! One handle for all operations on the sessions below some folders.

use std::path::{Path, PathBuf};

use rethread_core::entry::Timestamp;
use rethread_core::query::Query;
use rethread_core::usage::PriceTable;

use crate::disk::Roots;
use crate::ops;
use crate::ops::agents::AgentList;
use crate::ops::branches::BranchList;
use crate::ops::clone::CloneRequest;
use crate::ops::context::{ContextReport, ContextRequest};
use crate::ops::diff::{BranchDiff, BranchSpec};
use crate::ops::doctor::{DoctorRequest, SessionReport, StoreReport};
use crate::ops::explain::{ExplainRequest, Explanation};
use crate::ops::find::{FindRequest, FindResults};
use crate::ops::fork::ForkRequest;
use crate::ops::goto::{GotoOutcome, GotoRequest};
use crate::ops::index::IndexStatus;
use crate::ops::list::{SessionFilter, SessionList};
use crate::ops::log::{OpLog, PruneOutcome};
use crate::ops::read::SessionView;
use crate::ops::rename::{RenameOutcome, RenameRequest};
use crate::ops::repair::{RepairReport, RepairRequest};
use crate::ops::rescue::{RescueOutcome, RescueRequest};
use crate::ops::restore::{RestoreOutcome, RestoreRequest};
use crate::ops::rm::{RemoveOutcome, RemoveRequest};
use crate::ops::schema::SchemaReport;
use crate::ops::search::{Search, SearchRequest};
use crate::ops::show::{ShowRequest, ShownSession};
use crate::ops::stats::StatsReport;
use crate::ops::tools::{ToolFilter, ToolList};
use crate::ops::tree::{TreeListing, TreeRequest};
use crate::ops::undo::{UndoOutcome, UndoRequest};
use crate::ops::usage::{StatuslineRequest, StatuslineUsage, Trace, UsageCheck, UsageReport, UsageRequest};
use crate::ops::{NewSession, TrimmedCopy};
use crate::records::SessionRecords;
use crate::{CacheDir, Error, Progress, SessionWriter};

/// The sessions below some folders, and the cache that makes reading them fast.
///
/// A store does no work by itself: it reads nothing when it is created, and every method reads the files as they are
/// at that moment. Methods that change files take a [`SessionWriter`].
#[derive(Debug, Clone, Default)]
pub struct Store {
    roots: Roots,
    cache: Option<CacheDir>,
}

impl Store {
    /// Returns the store below one folder: a `.claude` folder, a `projects` folder, or any folder with session files.
    pub fn new(folder: impl Into<PathBuf>) -> Store {
        Store::from_roots(Roots::new(vec![folder.into()]))
    }

    /// Returns the store below several folders, which may also name single session files.
    pub fn from_roots(roots: Roots) -> Store {
        Store { roots, cache: None }
    }

    /// Sets the cache folder. Without one, every call reads all files it needs.
    pub fn with_cache(self, cache: CacheDir) -> Store {
        Store { cache: Some(cache), ..self }
    }

    /// Returns the folders and files that are searched for sessions.
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Returns the cache folder. Returns `None` if none was set.
    pub fn cache(&self) -> Option<&CacheDir> {
        self.cache.as_ref()
    }
}

/// Operations on the whole store.
impl Store {
    /// Lists the sessions, newest first.
    pub fn sessions(&self, filter: &SessionFilter) -> SessionList {
        ops::list::list_sessions(&self.roots, filter, self.cache())
    }

    /// Finds a session by its id, the start of its id, a path, a part of its title, or `last`. Returns the path of its file,
    /// or an error if several sessions match or none.
    pub fn find_session(&self, name: &str) -> Result<PathBuf, Error> {
        ops::resolve::find_session(&self.roots, name, self.cache())
    }

    /// Searches all sessions. The result is an iterator over hits, best first.
    pub fn search(&self, query: Query) -> Search {
        self.search_with(&SearchRequest { query, ..SearchRequest::default() })
    }

    /// Searches all sessions with options, such as a time budget.
    pub fn search_with(&self, request: &SearchRequest) -> Search {
        ops::search::search_sessions(&self.roots, request, self.cache())
    }

    /// Sums up the tokens and cost of all sessions by group.
    pub fn usage(&self, request: &UsageRequest<'_>) -> UsageReport {
        ops::usage::usage(&self.roots, request, self.cache())
    }

    /// Checks that every grouping adds up to the total, and compares the costs with those that clients report.
    pub fn check_usage(&self, request: &UsageRequest<'_>) -> UsageCheck {
        ops::usage::check_usage(&self.roots, request, self.cache())
    }

    /// Finds every line that reports usage of the message with the id `message`. Also returns the errors of files that
    /// cannot be read.
    pub fn trace_usage(&self, message: &str, prices: &PriceTable) -> (Vec<Trace>, Vec<Error>) {
        ops::usage::trace_usage(&self.roots, message, prices)
    }

    /// Computes the usage of a running session, of the day and of the running five-hour block.
    pub fn statusline(&self, request: &StatuslineRequest<'_>) -> StatuslineUsage {
        ops::usage::statusline_usage(&self.roots, request, self.cache())
    }

    /// Counts the entries, blocks and tokens of all sessions. If `by_file` is set, also returns the counts of each file.
    pub fn stats(&self, by_file: bool) -> StatsReport {
        ops::stats::collect_stats(&self.roots, by_file, self.cache())
    }

    /// Collects every type, subtype, block and field of all session files, by client version.
    pub fn schema(&self) -> SchemaReport {
        ops::schema::collect_schema(&self.roots)
    }

    /// Checks every session and the store itself for damage.
    pub fn check(&self, request: &DoctorRequest) -> StoreReport {
        ops::doctor::check_store(&self.roots, request)
    }

    /// Returns the state of the search index. Returns `None` if there is no cache folder, no root, or a root that is not a
    /// directory.
    pub fn index_status(&self) -> Option<IndexStatus> {
        ops::index::index_status(&self.roots, self.cache()?)
    }

    /// Updates the search index, or builds it anew if `rebuild` is set. Returns `None` if there is no cache folder, no
    /// root, or a root that is not a directory.
    pub fn refresh_index(
        &self,
        rebuild: bool,
        on_progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Option<IndexStatus>, Error> {
        match self.cache() {
            Some(cache) => ops::index::refresh_index(&self.roots, cache, rebuild, on_progress),
            None => Ok(None),
        }
    }

    /// Deletes the search index. Returns whether there was one.
    pub fn drop_index(&self) -> Result<bool, Error> {
        self.cache().map_or(Ok(false), |cache| ops::index::drop_index(&self.roots, cache))
    }
}

/// Reading one session, by the path of its file.
impl Store {
    /// Opens the conversation on the newest branch. The result is an iterator over turns.
    pub fn conversation(&self, path: &Path) -> Result<ShownSession, Error> {
        self.show(&ShowRequest { path: path.to_owned(), ..ShowRequest::default() })
    }

    /// Opens a conversation with options, such as the branch. The result is an iterator over turns.
    pub fn show(&self, request: &ShowRequest) -> Result<ShownSession, Error> {
        ops::show::show_session(request)
    }

    /// Opens the records of a session file, by type.
    pub fn records(&self, path: &Path) -> Result<SessionRecords, Error> {
        SessionRecords::open(path)
    }

    /// Opens a session for random access to its branches, pages and turns.
    pub fn open(&self, path: &Path, prices: &PriceTable) -> Result<SessionView, Error> {
        ops::read::open_view(path, prices)
    }

    /// Finds entries of one session by text. The result is an iterator over matching entries, in file order.
    pub fn find(&self, request: &FindRequest) -> Result<FindResults, Error> {
        ops::find::find_matches(request)
    }

    /// Lists the branches of a session.
    pub fn branches(&self, path: &Path) -> Result<BranchList, Error> {
        ops::branches::list_branches(path)
    }

    /// Lists the subagents of a session.
    pub fn agents(&self, path: &Path) -> Result<AgentList, Error> {
        ops::agents::list_agents(path)
    }

    /// Lists the tool calls that `filter` selects, of a session and its subagents.
    pub fn tool_calls(&self, path: &Path, filter: &ToolFilter) -> Result<ToolList, Error> {
        ops::tools::list_tool_calls(path, filter)
    }

    /// Lays out the tree of a session.
    pub fn tree(&self, request: &TreeRequest) -> Result<TreeListing, Error> {
        ops::tree::outline_tree(request)
    }

    /// Compares two branches, of one session or of two.
    pub fn diff(&self, a: &BranchSpec, b: &BranchSpec) -> Result<BranchDiff, Error> {
        ops::diff::diff_branches(a, b)
    }

    /// Analyzes the context window of a session.
    pub fn context(&self, request: &ContextRequest) -> Result<ContextReport, Error> {
        ops::context::analyze_context(request)
    }

    /// Explains which entries a client loads when it resumes a session.
    pub fn explain(&self, request: &ExplainRequest) -> Result<Explanation, Error> {
        ops::explain::explain_resume(request)
    }

    /// Checks one session for damage.
    pub fn check_session(&self, path: &Path) -> Result<SessionReport, Error> {
        ops::doctor::check_session(path)
    }
}

/// Changing sessions. Every request has a `dry_run` flag: with it, nothing is written.
impl Store {
    /// Makes clients resume a session from another entry.
    pub fn goto(&self, request: &GotoRequest, writer: &SessionWriter) -> Result<GotoOutcome, Error> {
        ops::goto::goto(request, writer)
    }

    /// Creates a new session with the path to one entry of another session.
    pub fn fork(&self, request: &ForkRequest, writer: &SessionWriter) -> Result<NewSession, Error> {
        ops::fork::fork(request, writer)
    }

    /// Creates a copy of a session without some of its content.
    pub fn clone_session(
        &self,
        request: &CloneRequest,
        writer: &SessionWriter,
    ) -> Result<TrimmedCopy, Error> {
        ops::clone::clone(request, writer)
    }

    /// Creates a copy of a session that has at most a requested number of tokens.
    pub fn rescue(&self, request: &RescueRequest, writer: &SessionWriter) -> Result<RescueOutcome, Error> {
        ops::rescue::rescue(request, writer)
    }

    /// Repairs a damaged session.
    pub fn repair(&self, request: &RepairRequest, writer: &SessionWriter) -> Result<RepairReport, Error> {
        ops::repair::repair(request, writer)
    }

    /// Sets the title of a session.
    pub fn rename(&self, request: &RenameRequest, writer: &SessionWriter) -> Result<RenameOutcome, Error> {
        ops::rename::rename(writer, request)
    }

    /// Moves a session to the trash.
    pub fn remove(&self, request: &RemoveRequest, writer: &SessionWriter) -> Result<RemoveOutcome, Error> {
        ops::rm::remove(writer, request)
    }

    /// Restores the state of a session before the first change that has a backup.
    pub fn restore(&self, request: &RestoreRequest, writer: &SessionWriter) -> Result<RestoreOutcome, Error> {
        ops::restore::restore(writer, &self.roots, request)
    }

    /// Undoes an operation.
    pub fn undo(&self, request: &UndoRequest, writer: &SessionWriter) -> Result<UndoOutcome, Error> {
        ops::undo::undo(writer, request)
    }

    /// Lists the operations.
    pub fn log(&self, writer: &SessionWriter) -> Result<OpLog, Error> {
        ops::log::log(writer)
    }

    /// Deletes the backups of operations that began before `before`, except those of the newest operation of each session.
    pub fn prune(
        &self,
        before: Timestamp,
        dry_run: bool,
        writer: &SessionWriter,
    ) -> Result<PruneOutcome, Error> {
        ops::log::prune(writer, before, dry_run)
    }
}
