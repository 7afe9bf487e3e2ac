//! A database in memory whose tables are filled as far as the statements need them.

use std::collections::hash_map::Entry as Slot;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops::tables::{
    ColumnType, CopyPolicy, TableColumn, TableFileFilter, TableKind, TableRow, TableSelection, TablesReport,
    TablesRequest, read_tables,
};
use rethread_engine::{CacheDir, Roots};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, Statement};

use crate::access::AccessRecorder;
use crate::error::SqlError;
use crate::file_filter::derive_file_filter;
use crate::functions::register_functions;
use crate::row_batch::{RowBatch, SelectedColumns};
use crate::time_text::TimeFormatter;
use crate::tokens::tokenize;

/// The number of steps of SQLite between two checks of the time.
const STEPS_PER_CHECK: i32 = 10_000;

/// The limits of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryLimits {
    /// The memory of SQLite in bytes, for all databases of the process.
    pub memory: u64,
    /// The time for reading the sessions and running the statement.
    pub time: Duration,
}

impl Default for QueryLimits {
    fn default() -> QueryLimits {
        QueryLimits { memory: 1 << 30, time: Duration::from_secs(60) }
    }
}

/// The sessions that the tables show.
#[derive(Debug, Clone, Copy)]
pub struct SqlSource<'s> {
    /// The folders and files.
    pub roots: &'s Roots,
    /// The cache, if there is one.
    pub cache: Option<&'s CacheDir>,
    /// The prices of models.
    pub prices: &'s PriceTable,
}

/// The tables, files and steps of a statement.
#[derive(Debug)]
pub struct QueryPlan {
    /// The tables and columns.
    pub selection: TableSelection,
    /// The files that it needs.
    pub filter: TableFileFilter,
    /// The steps of SQLite, indented by depth.
    pub steps: Vec<String>,
}

/// The outcome of a query.
#[derive(Debug, Default)]
pub struct QuerySummary {
    /// The number of rows of the result.
    pub rows: usize,
    /// The files that were read to fill the tables. `None` if the tables were filled already.
    pub report: Option<TablesReport>,
}

/// A value of a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResultValue<'r> {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(&'r str),
    /// Bytes.
    Blob(&'r [u8]),
}

/// Tables over sessions. They are filled when a statement reads them and keep their rows until [`Database::clear`].
pub struct Database<'s> {
    /// Has all columns of all tables, without rows. Statements are prepared here first.
    planner: Connection,
    /// Has the filled tables, with the filled columns only: short rows are inserted and read faster.
    connection: Connection,
    source: SqlSource<'s>,
    limits: QueryLimits,
    recorder: AccessRecorder,
    /// The filled columns of each table, without those filled for some files only.
    filled: HashMap<TableKind, HashSet<&'static str>>,
    stop: Arc<StopSignal>,
}

/// Decides when a running query must stop.
#[derive(Debug, Default)]
struct StopSignal {
    is_cancelled: Mutex<Arc<AtomicBool>>,
    deadline: Mutex<Option<Instant>>,
}

impl StopSignal {
    fn set_deadline(&self, deadline: Option<Instant>) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
    }

    fn is_cancelled(&self) -> bool {
        let flag = self.is_cancelled.lock().unwrap_or_else(PoisonError::into_inner);
        flag.load(Ordering::Relaxed)
    }

    fn must_stop(&self) -> bool {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_cancelled() || deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl<'s> Database<'s> {
    /// Creates the empty tables. `zone` is the time zone of `day`.
    pub fn new(
        source: SqlSource<'s>,
        limits: QueryLimits,
        zone: &TimeZone,
    ) -> Result<Database<'s>, SqlError> {
        let open = || Connection::open_in_memory().map_err(|error| convert_error(error, &limits));
        let mut database = Database {
            planner: open()?,
            connection: open()?,
            source,
            limits,
            recorder: AccessRecorder::default(),
            filled: HashMap::new(),
            stop: Arc::default(),
        };
        let is_set_up = database.set_up(zone);
        database.check(is_set_up)?;
        Ok(database)
    }

    fn set_up(&mut self, zone: &TimeZone) -> rusqlite::Result<()> {
        // The limit is that of the process.
        let memory = i64::try_from(self.limits.memory).unwrap_or(i64::MAX);
        self.connection.pragma_update(None, "hard_heap_limit", memory)?;
        for table in TableKind::ALL {
            self.planner.execute_batch(&create_table_sql(*table, table.columns().iter()))?;
        }
        for connection in [&mut self.planner, &mut self.connection] {
            // Without files: a sorter that does not fit in memory fails.
            connection.pragma_update(None, "temp_store", "MEMORY")?;
            register_functions(connection, zone)?;
            let stop = Arc::clone(&self.stop);
            connection.progress_handler(STEPS_PER_CHECK, Some(move || stop.must_stop()))?;
            self.recorder.install(connection)?;
        }
        Ok(())
    }

    /// Makes every query stop when a flag is set. The flag stays set.
    pub fn set_cancel_flag(&mut self, flag: Arc<AtomicBool>) {
        *self.stop.is_cancelled.lock().unwrap_or_else(PoisonError::into_inner) = flag;
    }

    /// Removes all rows, so that the next query reads the sessions again.
    pub fn clear(&mut self) -> Result<(), SqlError> {
        std::mem::take(&mut self.filled).into_keys().try_for_each(|table| self.drop_table(table))
    }

    fn drop_table(&self, table: TableKind) -> Result<(), SqlError> {
        self.check(self.connection.execute_batch(&format!("DROP TABLE IF EXISTS {}", table.name())))
    }

    /// Returns what a statement would read, and the steps of SQLite, without reading any session.
    pub fn explain(&self, sql: &str) -> Result<QueryPlan, SqlError> {
        let selection = self.prepare_empty(sql)?;
        let filter = self.derive_filter(sql);
        let explained = format!("EXPLAIN QUERY PLAN {sql}");
        let mut statement = self.check(self.planner.prepare(&explained))?;
        let mut depths: HashMap<i64, usize> = HashMap::new();
        let mut steps = Vec::new();
        let mut rows = self.check(statement.query([]))?;
        while let Some(row) = self.check(rows.next())? {
            let (id, parent): (i64, i64) = self.check(row.get(0).and_then(|id| Ok((id, row.get(1)?))))?;
            let depth = depths.get(&parent).map_or(0, |depth| depth + 1);
            depths.insert(id, depth);
            let detail: String = self.check(row.get(3))?;
            steps.push(format!("{}{detail}", "  ".repeat(depth)));
        }
        Ok(QueryPlan { selection, filter, steps })
    }

    /// Returns the names of the columns of a statement's result.
    pub fn columns(&self, sql: &str) -> Result<Vec<String>, SqlError> {
        self.prepare_empty(sql)?;
        let statement = self.check(self.planner.prepare(sql))?;
        Ok(statement.column_names().map(str::to_owned).collect())
    }

    /// Fills the tables that a statement reads and runs it. `visit` receives each row and returns `false` to stop.
    pub fn query(
        &mut self,
        sql: &str,
        visit: &mut dyn FnMut(&[ResultValue<'_>]) -> bool,
    ) -> Result<QuerySummary, SqlError> {
        self.stop.set_deadline(Some(Instant::now() + self.limits.time));
        let result = self.fill_and_run(sql, visit);
        self.stop.set_deadline(None);
        result
    }

    fn fill_and_run(
        &mut self,
        sql: &str,
        visit: &mut dyn FnMut(&[ResultValue<'_>]) -> bool,
    ) -> Result<QuerySummary, SqlError> {
        let selection = self.prepare_empty(sql)?;
        let report = self.fill(&selection, sql)?;
        // Only the planner knows all tables, which a statement about the schema reads.
        let is_about_schema = selection.tables().next().is_none();
        let rows = self.run(if is_about_schema { &self.planner } else { &self.connection }, sql, visit)?;
        Ok(QuerySummary { rows, report })
    }

    /// Runs a statement on the filled tables. Returns the number of rows.
    fn run(
        &self,
        connection: &Connection,
        sql: &str,
        visit: &mut dyn FnMut(&[ResultValue<'_>]) -> bool,
    ) -> Result<usize, SqlError> {
        self.recorder.start();
        let prepared = connection.prepare(sql);
        self.recorder.finish();
        let mut statement = self.check(prepared)?;
        let width = statement.column_count();
        let mut rows = self.check(statement.query([]))?;
        let mut count = 0;
        while let Some(row) = self.check(rows.next())? {
            let mut values = Vec::with_capacity(width);
            for idx in 0..width {
                values.push(convert_value(self.check(row.get_ref(idx))?));
            }
            count += 1;
            if !visit(&values) || self.stop.is_cancelled() {
                return Err(SqlError::Stopped);
            }
        }
        Ok(count)
    }

    /// Prepares a statement, which may only read. Returns the tables and columns that it reads.
    fn prepare_empty(&self, sql: &str) -> Result<TableSelection, SqlError> {
        self.recorder.start();
        let prepared = self.planner.prepare(sql).map(|statement| describe_statement(&statement));
        let recorded = self.recorder.finish();
        if let Some(action) = recorded.forbidden {
            return Err(SqlError::Forbidden { action });
        }
        if (recorded.reads_schema || names_pragma(sql)) && recorded.selection.tables().next().is_some() {
            return Err(SqlError::Forbidden {
                action: "reading the schema together with a table".to_owned(),
            });
        }
        match self.check(prepared)? {
            PreparedStatement { columns: 0, .. } if has_statement(sql) => {
                Err(SqlError::Forbidden { action: "a statement without a result".to_owned() })
            }
            PreparedStatement { columns: 0, .. } => Err(SqlError::Empty),
            PreparedStatement { parameters: 1.., .. } => Err(SqlError::Parameters),
            PreparedStatement { is_readonly: false, .. } => {
                Err(SqlError::Forbidden { action: "writing".to_owned() })
            }
            _ => {
                let mut selection = recorded.selection;
                add_join_columns(sql, &mut selection);
                Ok(selection)
            }
        }
    }

    /// Returns the files that the conditions of a statement select.
    fn derive_filter(&self, sql: &str) -> TableFileFilter {
        derive_file_filter(sql, |expression| {
            let sql = format!("SELECT ({expression})");
            self.connection.query_row(&sql, [], |row| row.get(0)).ok()
        })
    }

    /// Fills the columns that are not filled yet. Returns `None` if all are.
    fn fill(&mut self, selection: &TableSelection, sql: &str) -> Result<Option<TablesReport>, SqlError> {
        let mut missing = TableSelection::default();
        for table in selection.tables() {
            let wanted = selection.columns_of(table);
            let is_filled = self
                .filled
                .get(&table)
                .is_some_and(|filled| wanted.iter().all(|column| filled.contains(column.name)));
            if !is_filled {
                missing.add_table(table);
                let known = self.filled.get(&table).into_iter().flatten().copied();
                let names = wanted.iter().map(|column| column.name).chain(known);
                names.for_each(|name| missing.add_column(table, name));
            }
        }
        let tables: Vec<TableKind> = missing.tables().collect();
        if tables.is_empty() {
            return Ok(None);
        }
        let filter = self.derive_filter(sql);
        let is_partial = filter.selects_some();
        for table in &tables {
            self.drop_table(*table)?;
            self.filled.remove(table);
        }
        let report = self.insert_rows(&missing, filter)?;
        for table in tables {
            // If the rows of other files are missing, the next statement fills the table again.
            if !is_partial {
                let columns = missing.columns_of(table);
                self.filled.insert(table, columns.into_iter().map(|column| column.name).collect());
            }
        }
        Ok(Some(report))
    }

    fn insert_rows(
        &self,
        selection: &TableSelection,
        filter: TableFileFilter,
    ) -> Result<TablesReport, SqlError> {
        for table in selection.tables() {
            let columns = filled_columns(table, selection);
            self.check(self.connection.execute_batch(&create_table_sql(table, columns.into_iter())))?;
        }
        self.check(self.connection.execute_batch("BEGIN"))?;
        let request = TablesRequest {
            selection: selection.clone(),
            copies: CopyPolicy::Once,
            filter,
            prices: self.source.prices,
        };
        let mut failure = None;
        let report = {
            // A statement cannot be sent to another thread, but the rows are delivered by one thread at a time.
            let (sender, receiver) = sync_channel::<RowBatch>(4);
            let (return_sender, returned) = channel::<RowBatch>();
            let (source, stop) = (self.source, Arc::clone(&self.stop));
            let (selection, request) = (&request.selection, &request);
            let mut inserter =
                RowInserter { connection: &self.connection, selection, statements: HashMap::new() };
            std::thread::scope(|scope| {
                let reader = scope.spawn(move || {
                    let mut batches = BatchSender {
                        batch: RowBatch::default(),
                        columns: SelectedColumns::new(selection),
                        times: TimeFormatter::default(),
                        stop,
                        sender,
                        returned,
                    };
                    let report =
                        read_tables(source.roots, request, source.cache, &mut |row| batches.push(&row));
                    batches.send();
                    report
                });
                for mut batch in receiver {
                    if let Err(error) = inserter.insert(&batch) {
                        failure = Some(error);
                        break;
                    }
                    batch.clear();
                    // The reader may have finished.
                    let _ = return_sender.send(batch);
                }
                reader.join()
            })
        };
        let report = match report {
            Ok(report) => report,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let result = match failure {
            Some(error) => self.check(Err(error)),
            None if self.stop.is_cancelled() => Err(SqlError::Stopped),
            None if self.stop.must_stop() => Err(SqlError::TimedOut { limit: self.limits.time }),
            None => self.check(self.connection.execute_batch("COMMIT")),
        };
        if result.is_err() && !self.connection.is_autocommit() {
            // The deadline must not stop the rollback.
            self.stop.set_deadline(None);
            self.check(self.connection.execute_batch("ROLLBACK"))?;
        }
        result.map(|()| report)
    }

    /// Converts an error of SQLite.
    fn check<T>(&self, result: rusqlite::Result<T>) -> Result<T, SqlError> {
        result.map_err(|error| match convert_error(error, &self.limits) {
            SqlError::TimedOut { .. } if self.stop.is_cancelled() => SqlError::Stopped,
            error => error,
        })
    }
}

/// Sends rows to the thread of the database.
struct BatchSender {
    batch: RowBatch,
    columns: SelectedColumns,
    times: TimeFormatter,
    stop: Arc<StopSignal>,
    sender: SyncSender<RowBatch>,
    /// Empty batches. Memory is freed faster by the thread that allocated it.
    returned: Receiver<RowBatch>,
}

impl BatchSender {
    /// Adds a row. Returns `false` if no more rows are wanted.
    fn push(&mut self, row: &TableRow<'_>) -> bool {
        self.batch.push(row, &self.columns, &mut self.times);
        !self.batch.is_full() || !self.stop.must_stop() && self.send()
    }

    /// Sends the rows so far. Returns `false` if the receiver is gone: after an error, which is reported instead.
    fn send(&mut self) -> bool {
        let empty = self.returned.try_recv().unwrap_or_default();
        self.sender.send(std::mem::replace(&mut self.batch, empty)).is_ok()
    }
}

/// Inserts rows. The statements are prepared once per table.
struct RowInserter<'c> {
    connection: &'c Connection,
    selection: &'c TableSelection,
    statements: HashMap<TableKind, Statement<'c>>,
}

impl<'c> RowInserter<'c> {
    fn insert(&mut self, batch: &RowBatch) -> rusqlite::Result<()> {
        for (table, values) in batch.rows() {
            let statement = match self.statements.entry(table) {
                Slot::Occupied(slot) => slot.into_mut(),
                Slot::Vacant(slot) => {
                    slot.insert(self.connection.prepare(&insert_sql(table, self.selection))?)
                }
            };
            for (idx, value) in (1..).zip(values) {
                statement.raw_bind_parameter(idx, value)?;
            }
            statement.raw_execute()?;
        }
        Ok(())
    }
}

/// Returns the statement that inserts the selected columns of a table.
fn insert_sql(table: TableKind, selection: &TableSelection) -> String {
    let names: Vec<&str> = selection.columns_of(table).iter().map(|column| column.name).collect();
    if names.is_empty() {
        return format!("INSERT INTO {} DEFAULT VALUES", table.name());
    }
    let marks = vec!["?"; names.len()].join(", ");
    format!("INSERT INTO {} ({}) VALUES ({marks})", table.name(), names.join(", "))
}

/// Returns the columns of a filled table. A table needs one, even if only its rows are counted.
fn filled_columns(table: TableKind, selection: &TableSelection) -> Vec<&'static TableColumn> {
    let selected = selection.columns_of(table);
    if selected.is_empty() { table.columns().iter().take(1).collect() } else { selected }
}

fn create_table_sql(table: TableKind, columns: impl Iterator<Item = &'static TableColumn>) -> String {
    let columns = columns.map(|column| {
        let column_type = match column.column_type {
            ColumnType::Integer | ColumnType::Boolean | ColumnType::Money => "INTEGER",
            ColumnType::Time | ColumnType::Text => "TEXT",
        };
        format!("{} {column_type}", column.name)
    });
    format!("CREATE TABLE {} ({})", table.name(), columns.collect::<Vec<_>>().join(", "))
}

/// The properties of a prepared statement.
struct PreparedStatement {
    columns: usize,
    parameters: usize,
    is_readonly: bool,
}

fn describe_statement(statement: &Statement<'_>) -> PreparedStatement {
    PreparedStatement {
        columns: statement.column_count(),
        parameters: statement.parameter_count(),
        is_readonly: statement.readonly(),
    }
}

/// Adds the columns of `USING` and `NATURAL JOIN`, which the authorizer does not report. They are added to all tables that the
/// statement names.
fn add_join_columns(sql: &str, selection: &mut TableSelection) {
    let tokens = tokenize(sql).unwrap_or_default();
    let named = tokens.iter().filter_map(|(_, token)| TableKind::from_name(&token.name()?));
    let tables: Vec<TableKind> = named.chain(selection.tables()).collect();
    let mut add = |accepts: &dyn Fn(&str) -> bool| {
        for table in &tables {
            for column in table.columns().iter().filter(|column| accepts(column.name)) {
                selection.add_column(*table, column.name);
            }
        }
    };
    if tokens.is_empty() || tokens.iter().any(|(_, token)| token.is_word("natural")) {
        return add(&|_| true);
    }
    for (idx, _) in tokens.iter().enumerate().filter(|(_, (_, token))| token.is_word("using")) {
        let rest = tokens[idx + 1..].iter().take_while(|(_, token)| !token.is_symbol(")"));
        let names: Vec<String> = rest.filter_map(|(_, token)| token.name()).collect();
        add(&|column| names.iter().any(|name| name == column));
    }
}

/// Returns `true` if a statement may call a function of SQLite that describes tables. The authorizer does not report them.
fn names_pragma(sql: &str) -> bool {
    let is_pragma = |name: String| name.starts_with("pragma_");
    tokenize(sql).is_some_and(|tokens| tokens.iter().any(|(_, token)| token.name().is_some_and(is_pragma)))
}

/// Returns `true` if a text contains more than comments and semicolons.
fn has_statement(sql: &str) -> bool {
    tokenize(sql).is_none_or(|tokens| tokens.iter().any(|(_, token)| !token.is_symbol(";")))
}

fn convert_value(value: ValueRef<'_>) -> ResultValue<'_> {
    match value {
        ValueRef::Null => ResultValue::Null,
        ValueRef::Integer(number) => ResultValue::Integer(number),
        ValueRef::Real(number) => ResultValue::Real(number),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => ResultValue::Text(text),
            // Functions of SQLite can make texts of any bytes.
            Err(_) => ResultValue::Blob(text),
        },
        ValueRef::Blob(bytes) => ResultValue::Blob(bytes),
    }
}

/// Converts an error of SQLite. An interruption counts as a timeout.
fn convert_error(error: rusqlite::Error, limits: &QueryLimits) -> SqlError {
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => return SqlError::TimedOut { limit: limits.time },
        Some(ErrorCode::OutOfMemory | ErrorCode::DiskFull) => {
            return SqlError::OutOfMemory { limit: limits.memory };
        }
        _ => {}
    }
    match error {
        rusqlite::Error::MultipleStatement => SqlError::SeveralStatements,
        rusqlite::Error::SqlInputError { msg, offset, .. } => {
            SqlError::Statement { message: msg, offset: usize::try_from(offset).ok() }
        }
        rusqlite::Error::SqliteFailure(_, Some(message)) => SqlError::Statement { message, offset: None },
        rusqlite::Error::UserFunctionError(error) => {
            SqlError::Statement { message: error.to_string(), offset: None }
        }
        error => SqlError::Statement { message: error.to_string(), offset: None },
    }
}
