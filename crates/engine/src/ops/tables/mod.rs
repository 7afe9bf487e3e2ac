//! Sessions as tables: typed rows for SQL and for other engines.
//!
//! A request selects tables and columns; only what they need is read. The rows of a file are delivered together, the files
//! in the order of their paths. Responses and tool calls that forks copied to other files are delivered once, or once per
//! file if the request asks for it.

mod collect;
mod column;
mod file_tables;
mod responses;
mod rows;
mod sessions;
mod sources;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;
use rethread_core::entry::Timestamp;
use rethread_core::stats::find_extra_copies;
use rethread_core::usage::PriceTable;

use self::collect::{FileNames, overlaps};
use self::file_tables::{FileTables, read_file_tables};
use self::responses::{FileResponses, read_responses};
use self::rows::Name;
use self::sessions::read_sessions;
use crate::Error;
use crate::cache::{CacheDir, CacheKind, CacheWarning};
use crate::disk::{FileRole, Roots, SessionFile};
use crate::ops::list::{SessionFilter, SessionRow, list_sessions};
use crate::ops::stats::read_file_calls;
use crate::session::per_file_cache::{PerFileCache, find_files};

pub use column::{ColumnPrivacy, ColumnType, TableColumn, TableValue};
pub use rows::{
    BranchTableRow, EntryTableRow, FileTableRow, MessageTableRow, ProblemTableRow, ResponseTableRow,
    SessionTableRow, TextTableRow, ToolCallTableRow, TurnTableRow,
};
pub use sources::{TableSource, TableSourceList, list_table_sources};

/// Defines the tables: the variant, the name, the row type, and the description.
macro_rules! tables {
    ($($(#[doc = $doc:literal])* $kind:ident $name:literal $row:ident,)*) => {
        /// A table.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum TableKind {
            $($(#[doc = $doc])* $kind,)*
        }

        /// A row of any table.
        #[derive(Debug, Clone, Copy)]
        pub enum TableRow<'r> {
            $($(#[doc = $doc])* $kind(&'r $row),)*
        }

        impl TableKind {
            /// All tables.
            pub const ALL: &'static [TableKind] = &[$(TableKind::$kind,)*];

            /// Returns the name.
            pub fn name(self) -> &'static str {
                match self { $(TableKind::$kind => $name,)* }
            }

            /// Returns the columns.
            pub fn columns(self) -> &'static [TableColumn] {
                match self { $(TableKind::$kind => $row::COLUMNS,)* }
            }

            /// Returns the description, one sentence.
            pub fn description(self) -> &'static str {
                match self { $(TableKind::$kind => concat!($($doc),*).trim_ascii(),)* }
            }
        }

        impl TableRow<'_> {
            /// Returns the table of the row.
            pub fn table(&self) -> TableKind {
                match self { $(TableRow::$kind(_) => TableKind::$kind,)* }
            }

            /// Returns the value of the column with an index. Returns null if the table has no such column.
            pub fn value(&self, idx: usize) -> TableValue<'_> {
                match self { $(TableRow::$kind(row) => row.value(idx),)* }
            }

            /// Returns the values, in the order of the columns of the table.
            pub fn values(&self) -> Vec<TableValue<'_>> {
                match self { $(TableRow::$kind(row) => row.values(),)* }
            }
        }
    };
}

tables! {
    /// Sessions: one row per main file.
    Sessions "sessions" SessionTableRow,
    /// Lines: one row per entry of a file.
    Entries "entries" EntryTableRow,
    /// Messages: one row per user line and per response.
    Messages "messages" MessageTableRow,
    /// Turns: a prompt and everything up to the next one.
    Turns "turns" TurnTableRow,
    /// Responses of the API with tokens and cost, each once.
    Responses "responses" ResponseTableRow,
    /// Tool calls with their results, each once.
    ToolCalls "tool_calls" ToolCallTableRow,
    /// Files that tool calls accessed.
    Files "files" FileTableRow,
    /// Branches of the sessions.
    Branches "branches" BranchTableRow,
    /// Odd data in the files.
    Problems "problems" ProblemTableRow,
    /// Texts of the conversations.
    Texts "texts" TextTableRow,
}

impl TableKind {
    /// Returns the table with a name. Returns `None` if there is none.
    pub fn from_name(name: &str) -> Option<TableKind> {
        TableKind::ALL.iter().copied().find(|table| table.name() == name)
    }
}

/// The tables and columns to read.
#[derive(Debug, Clone, Default)]
pub struct TableSelection {
    columns: HashMap<TableKind, HashSet<&'static str>>,
}

impl TableSelection {
    /// Selects all columns of some tables.
    pub fn of_tables(tables: &[TableKind]) -> TableSelection {
        let mut selection = TableSelection::default();
        for table in tables {
            selection.add_table(*table);
            table.columns().iter().for_each(|column| selection.add_column(*table, column.name));
        }
        selection
    }

    /// Selects a table, for the number of its rows.
    pub fn add_table(&mut self, table: TableKind) {
        self.columns.entry(table).or_default();
    }

    /// Selects a column of a table. Does nothing if the table has no such column.
    pub fn add_column(&mut self, table: TableKind, name: &str) {
        let column = table.columns().iter().find(|column| column.name == name);
        self.columns.entry(table).or_default().extend(column.map(|column| column.name));
    }

    /// Returns the selected tables, in the order of [`TableKind::ALL`].
    pub fn tables(&self) -> impl Iterator<Item = TableKind> + '_ {
        TableKind::ALL.iter().copied().filter(|table| self.wants(*table))
    }

    /// Returns `true` if a table is selected.
    pub fn wants(&self, table: TableKind) -> bool {
        self.columns.contains_key(&table)
    }

    /// Returns the selected columns of a table, in the order of its columns.
    pub fn columns_of(&self, table: TableKind) -> Vec<&'static TableColumn> {
        table.columns().iter().filter(|column| self.wants_any(table, &[column.name])).collect()
    }

    /// Returns `true` if one of some columns of a table is selected.
    pub fn wants_any(&self, table: TableKind, columns: &[&str]) -> bool {
        self.columns.get(&table).is_some_and(|wanted| columns.iter().any(|column| wanted.contains(column)))
    }

    /// Returns `true` if a column with a name is selected in any table.
    fn wants_column(&self, name: &str) -> bool {
        self.columns.values().any(|columns| columns.contains(name))
    }

    fn wants_calls(&self) -> bool {
        self.wants(TableKind::ToolCalls)
            || self.wants(TableKind::Files)
            || self.wants_any(TableKind::Turns, &["tool_calls", "tool_errors"])
    }

    /// Returns `true` if a table is selected whose rows are read from the session files themselves.
    fn wants_files(&self) -> bool {
        self.tables().any(|table| !matches!(table, TableKind::Sessions | TableKind::Responses))
    }
}

/// How responses and tool calls are delivered that forks copied to several files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CopyPolicy {
    /// Each once.
    #[default]
    Once,
    /// Once for each file that has them.
    PerFile,
}

/// Selects files. A row of another file may be delivered too, so the filter only saves time.
#[derive(Debug, Clone, Default)]
pub struct TableFileFilter {
    /// Only sessions with these ids. `None` selects all.
    pub sessions: Option<Vec<String>>,
    /// Only sessions that were started in these folders. `None` selects all.
    pub projects: Option<Vec<String>>,
    /// Only files with a line at or after this time.
    pub since: Option<Timestamp>,
    /// Only files with a line before this time.
    pub until: Option<Timestamp>,
    /// Only these files. `None` selects all.
    pub paths: Option<HashSet<PathBuf>>,
}

impl TableFileFilter {
    /// Returns `true` if the filter may leave out files.
    pub fn selects_some(&self) -> bool {
        let TableFileFilter { sessions, projects, since, until, paths } = self;
        sessions.is_some() || projects.is_some() || since.is_some() || until.is_some() || paths.is_some()
    }
}

/// Options of [`read_tables`].
#[derive(Debug, Clone)]
pub struct TablesRequest<'r> {
    /// The tables and columns.
    pub selection: TableSelection,
    /// How copies are delivered.
    pub copies: CopyPolicy,
    /// The files.
    pub filter: TableFileFilter,
    /// The prices of models.
    pub prices: &'r PriceTable,
}

impl TablesRequest<'_> {
    /// Returns `true` if the list of sessions must be read: for its table, for the folders of sessions, or for a filter.
    fn needs_sessions(&self) -> bool {
        self.selection.wants(TableKind::Sessions)
            || self.selection.wants_any(TableKind::ToolCalls, &["project"])
            || self.filter.sessions.is_some()
            || self.filter.projects.is_some()
    }

    /// Returns `true` if the details of responses are read together with the other rows of each file, which saves two passes.
    fn reads_responses_with_files(&self) -> bool {
        self.copies == CopyPolicy::PerFile
            && self.selection.wants(TableKind::Responses)
            && self.selection.wants(TableKind::Turns)
    }
}

/// The files that were read for the tables.
#[derive(Debug, Default)]
pub struct TablesReport {
    /// The number of session files, subagents included.
    pub files: usize,
    /// The number of files whose rows were read from the file itself.
    pub files_read: usize,
    /// The size of these files in bytes.
    pub bytes_read: u64,
    /// Files and folders that could not be read.
    pub failures: Vec<Error>,
    /// The reason why the cache could not be used. `None` if there was no problem.
    pub warning: Option<CacheWarning>,
}

/// A consumer of rows. It returns `false` to stop reading.
pub type RowVisitor<'v> = dyn FnMut(TableRow<'_>) -> bool + Send + 'v;

/// The number of bytes of session files whose rows are in memory at the same time, unless one file is larger.
const BATCH_BYTES: u64 = 16 << 20;

/// The store as the tables need it: its files, and the sessions to which they belong.
struct TableStore<'f> {
    files: &'f [SessionFile],
    roots: &'f Roots,
    cache: Option<&'f CacheDir>,
    /// By index of the file: what identifies it.
    names: Vec<FileNames>,
    /// By index of the file: whether the filter selects its session.
    is_selected: Vec<bool>,
    /// All sessions. Empty unless the request needs them.
    sessions: Vec<SessionRow>,
}

/// Reads the selected tables of all sessions below `roots` and passes each row to `visit`.
pub fn read_tables(
    roots: &Roots,
    request: &TablesRequest<'_>,
    cache: Option<&CacheDir>,
    visit: &mut RowVisitor<'_>,
) -> TablesReport {
    let (files, failures) = find_files(roots, cache);
    let mut report = TablesReport { files: files.len(), failures, ..TablesReport::default() };
    let store = TableStore::new(&files, roots, cache, request, &mut report);
    let mut is_stopped = false;
    let mut visit = |row: TableRow<'_>| {
        is_stopped = is_stopped || !visit(row);
        !is_stopped
    };
    if request.selection.wants(TableKind::Sessions) && !read_sessions(&store, &mut visit) {
        return report;
    }
    let reads_together = request.reads_responses_with_files();
    let details = reads_together.then(|| read_files(&store, request, &mut report, &mut visit));
    if request.selection.wants(TableKind::Responses)
        && !read_responses(&store, request, details, &mut report, &mut visit)
    {
        return report;
    }
    if request.selection.wants_files() && !reads_together {
        read_files(&store, request, &mut report, &mut visit);
    }
    report
}

impl<'f> TableStore<'f> {
    fn new(
        files: &'f [SessionFile],
        roots: &'f Roots,
        cache: Option<&'f CacheDir>,
        request: &TablesRequest<'_>,
        report: &mut TablesReport,
    ) -> TableStore<'f> {
        // A list reads all sessions that are not cached.
        let sessions = if request.needs_sessions() {
            let all = SessionFilter { all: true, ..SessionFilter::default() };
            let list = list_sessions(roots, &all, cache);
            report.failures.extend(list.failures);
            report.warning = list.warning;
            list.rows
        } else {
            Vec::new()
        };
        let project = |row: &SessionRow| row.info.cwd.as_deref().map(Name::from);
        let projects: HashMap<&str, Option<Name>> =
            sessions.iter().map(|row| (row.id.as_str(), project(row))).collect();
        let by_path: HashMap<&std::path::Path, &SessionRow> =
            sessions.iter().map(|row| (row.path.as_path(), row)).collect();
        let mut ids: HashMap<String, Name> = HashMap::new();
        let names: Vec<FileNames> = files
            .iter()
            .map(|file| {
                let id = match (&file.role, by_path.get(file.path.as_path())) {
                    (FileRole::Main, Some(row)) => row.id.as_str(),
                    _ => file.session_id().unwrap_or_default(),
                };
                let session_id = Arc::clone(ids.entry(id.to_owned()).or_insert_with(|| Name::from(id)));
                let agent = file.stem().strip_prefix("agent-").unwrap_or(file.stem());
                FileNames {
                    source_id: format!("{:032x}", file.path_id().bits()).into(),
                    project: projects.get(&*session_id).cloned().flatten(),
                    session_id,
                    agent_id: file.is_agent().then(|| Name::from(agent)),
                }
            })
            .collect();
        let filter = &request.filter;
        let accepts = |(file, names): (&SessionFile, &FileNames)| {
            // The session of a subagent may be known only by its lines.
            let is_known = !names.session_id.is_empty();
            let has_session = |ids: &Vec<String>| !is_known || ids.iter().any(|id| **id == *names.session_id);
            let has_project = |projects: &Vec<String>| {
                let project = names.project.as_deref();
                !is_known || project.is_some_and(|own| projects.iter().any(|project| project == own))
            };
            filter.sessions.as_ref().is_none_or(has_session)
                && filter.projects.as_ref().is_none_or(has_project)
                && filter.paths.as_ref().is_none_or(|paths| paths.contains(&file.path))
        };
        let is_selected = files.iter().zip(&names).map(accepts).collect();
        TableStore { files, roots, cache, names, is_selected, sessions }
    }
}

/// Reads the tables whose rows are in the session files, in batches: while the rows of one batch are delivered, the next one
/// is read. Returns the details of the responses by index of the file, if they are read together.
fn read_files(
    store: &TableStore<'_>,
    request: &TablesRequest<'_>,
    report: &mut TablesReport,
    visit: &mut RowVisitor<'_>,
) -> HashMap<usize, FileResponses> {
    let mut details = HashMap::new();
    let spans = PerFileCache::new(store.cache, store.roots, CacheKind::TimeSpans, store.files);
    let is_in_time = |idx: usize| {
        let span = spans.get_cached::<Option<(i64, i64)>>(idx);
        // A file without times has no rows with times.
        span.is_none_or(|span| {
            let filter = &request.filter;
            let has_limit = filter.since.is_some() || filter.until.is_some();
            span.map_or(!has_limit, |span| overlaps(span, filter.since, filter.until))
        })
    };
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut batch_bytes = u64::MAX;
    for (idx, file) in store.files.iter().enumerate() {
        if !store.is_selected[idx] || !is_in_time(idx) {
            continue;
        }
        if batch_bytes.saturating_add(file.len) > BATCH_BYTES {
            batches.push(Vec::new());
            batch_bytes = 0;
        }
        batch_bytes += file.len;
        report.files_read += 1;
        report.bytes_read += file.len;
        batches.last_mut().expect("a batch was added").push(idx);
    }
    let wants_calls =
        request.selection.wants(TableKind::ToolCalls) || request.selection.wants(TableKind::Files);
    let extra_calls = if wants_calls && request.copies == CopyPolicy::Once {
        let (calls, failures, warning) = read_file_calls(store.files, store.roots, store.cache);
        report.failures.extend(failures);
        report.warning = report.warning.take().or(warning);
        let extra = find_extra_copies(&calls);
        extra.into_iter().map(|(file_idx, call_idx)| (file_idx, calls[file_idx].calls[call_idx].id)).collect()
    } else {
        HashSet::new()
    };
    let read_one = |&idx: &usize| {
        let tables = read_file_tables(&store.files[idx], &store.names[idx], request, |id| {
            extra_calls.contains(&(idx, id))
        });
        (idx, tables)
    };
    let read_batch = |batch: Option<&Vec<usize>>| -> Vec<(usize, Result<FileTables, Error>)> {
        batch.map(|batch| batch.par_iter().map(read_one).collect()).unwrap_or_default()
    };
    let mut new_entries = Vec::new();
    let mut current = read_batch(batches.first());
    for next_idx in 1..=batches.len() {
        let deliver = || {
            for (idx, tables) in current {
                match tables {
                    Ok(mut tables) => {
                        details.extend(tables.responses.take().map(|responses| (idx, responses)));
                        new_entries.extend(spans.new_entry(idx, &tables.time_span, store.files[idx].len));
                        if !tables.deliver(visit) {
                            return false;
                        }
                    }
                    Err(error) => report.failures.push(error),
                }
            }
            true
        };
        let (is_wanted, next) = rayon::join(deliver, || read_batch(batches.get(next_idx)));
        if !is_wanted {
            return details;
        }
        current = next;
    }
    let warning = spans.store_entries(new_entries);
    report.warning = report.warning.take().or(warning);
    details
}
