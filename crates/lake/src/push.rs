//! Pushes changed sessions: data objects first, the heads last.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::PathBuf;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops::tables::{
    CopyPolicy, TableFileFilter, TableKind, TableRow, TableSelection, TableSource, TablesRequest,
    TextTableRow, list_table_sources, read_tables,
};
use rethread_engine::{CacheDir, CacheWarning, Error, Roots};
use serde_json::{Map, Value};

use crate::LakeError;
use crate::column_buffer::{CellValue, ColumnBuffer};
use crate::folder::{LakeFolder, PendingObject};
use crate::heads::SourceHead;
use crate::key::{TeamKey, to_hex};
use crate::level::Level;
use crate::object_writer::ObjectWriter;
use crate::push_state::PushState;
use crate::row_encoder::{RowEncoder, encode_id};
use crate::schema::{LakeTable, LakeType, SCHEMA_VERSION};
use crate::text_redactor::{build_redactor, redact};

/// The number of rows that a dry run shows of each table.
const MAX_SAMPLES: usize = 3;

/// The options of [`push`].
#[derive(Debug)]
pub struct PushRequest<'r> {
    /// The sessions.
    pub roots: &'r Roots,
    /// The prices of models.
    pub prices: &'r PriceTable,
    /// The origin of the prices, for the heads.
    pub prices_origin: String,
    /// The level of this machine.
    pub level: Level,
    /// The key of the team.
    pub key: &'r TeamKey,
    /// The id of the developer.
    pub dev_id: String,
    /// The current time.
    pub now: Timestamp,
    /// The current day in UTC: `2026-01-31`.
    pub day: String,
    /// Whether nothing is written.
    pub dry_run: bool,
    /// For tests: the number of objects after which the push stops with an error.
    pub stop_after: Option<usize>,
}

/// The part of a push in one table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableSummary {
    /// The name of the table.
    pub name: &'static str,
    /// The number of rows.
    pub rows: u64,
    /// The size of the object in bytes.
    pub bytes: u64,
    /// The first rows, only in a dry run.
    pub samples: Vec<Value>,
}

/// The result of a push.
#[derive(Debug, Default)]
pub struct PushReport {
    /// The number of session files, subagents included.
    pub files: usize,
    /// The number of files that were pushed.
    pub pushed: usize,
    /// Their size in bytes.
    pub pushed_bytes: u64,
    /// The number of files of forgotten sessions, which are not pushed.
    pub forgotten: usize,
    /// The parts that were written, by table. Empty tables are omitted.
    pub tables: Vec<TableSummary>,
    /// The objects that were written, the heads last.
    pub objects: Vec<PathBuf>,
    /// Files that could not be read. They are not pushed.
    pub failures: Vec<Error>,
    /// The reason why the cache could not be used. `None` if there was no problem.
    pub warning: Option<CacheWarning>,
    /// The state to keep once all objects are in the lake.
    pub state: PushState,
}

/// Writes what changed since the last push. The caller keeps the new state.
pub fn push(
    folder: &LakeFolder,
    request: &PushRequest<'_>,
    state: &PushState,
    cache: Option<&CacheDir>,
) -> Result<PushReport, LakeError> {
    let list = list_table_sources(request.roots, request.prices, cache);
    let mut report = PushReport {
        files: list.sources.len(),
        failures: list.failures,
        warning: list.warning,
        state: state.clone(),
        ..PushReport::default()
    };
    let mut changed: Vec<(TableSource, String)> = Vec::new();
    for source in list.sources {
        if state.forgotten.contains(&source.session_id) {
            report.forgotten += 1;
            continue;
        }
        let mark = derive_mark(&source, request.level);
        if state.marks.get(&source.source_id) != Some(&mark) {
            changed.push((source, mark));
        }
    }
    if changed.is_empty() {
        return Ok(report);
    }
    let push_id = derive_push_id(request, &changed);
    let mut run = PushRun::new(folder, request, push_id, &changed);
    if !request.dry_run {
        folder.remove_pending(&request.dev_id)?;
    }
    let read = {
        let tables = request.selected_tables();
        let selection = TableSelection::of_tables(&tables);
        let paths = changed.iter().map(|(source, _)| source.path.clone()).collect();
        let filter = TableFileFilter { paths: Some(paths), ..TableFileFilter::default() };
        let tables_request =
            TablesRequest { selection, copies: CopyPolicy::PerFile, filter, prices: request.prices };
        read_tables(request.roots, &tables_request, cache, &mut |row| run.add(row))
    };
    report.warning = report.warning.or(read.warning);
    let has_failures = !read.failures.is_empty();
    report.failures.extend(read.failures);
    let generation = request.now.0.max(state.generation + 1);
    // Without a failure, a file without entries is an empty one. With failures, it may be one that could not be read.
    let is_complete = |source: &TableSource, run: &PushRun<'_>| {
        !has_failures || source.bytes == 0 || run.count(source).is_some_and(|count| count.entries > 0)
    };
    let mut heads = Vec::new();
    for (source, mark) in &changed {
        if !is_complete(source, &run) {
            continue;
        }
        report.pushed += 1;
        report.pushed_bytes += source.bytes;
        report.state.marks.insert(source.source_id.clone(), mark.clone());
        heads.push(run.build_head(source, mark, generation));
    }
    report.state.generation = generation;
    report.state.pushed_at = request.now.0;
    (report.tables, report.objects) = run.finish(&heads)?;
    Ok(report)
}

impl PushRequest<'_> {
    fn selected_tables(&self) -> Vec<TableKind> {
        let is_wanted = |kind: &TableKind| self.level >= Level::Text || *kind != TableKind::Texts;
        TableKind::ALL.iter().copied().filter(is_wanted).collect()
    }
}

/// Returns the mark of a file at a level.
fn derive_mark(source: &TableSource, level: Level) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&source.mark);
    hasher.update(&level.number().to_le_bytes());
    hasher.update(&SCHEMA_VERSION.to_le_bytes());
    to_hex(&hasher.finalize().as_bytes()[..16])
}

/// Returns the id of a push: a hash of what it contains. The same push has the same id on the same day.
fn derive_push_id(request: &PushRequest<'_>, changed: &[(TableSource, String)]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut parts: Vec<[&str; 2]> =
        changed.iter().map(|(source, mark)| [source.source_id.as_str(), mark.as_str()]).collect();
    parts.push([&request.dev_id, &request.day]);
    parts.push([&request.prices_origin, env!("CARGO_PKG_VERSION")]);
    for part in parts.iter().flatten() {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    to_hex(&hasher.finalize().as_bytes()[..16])
}

/// Returns the id of a file in the lake.
pub(crate) fn derive_source_id(key: &TeamKey, dev_id: &str, source_id: &str) -> String {
    key.derive("source", &[dev_id, source_id])
}

/// An object of a push: a pending file, or only its size in a dry run.
enum PushOutput {
    File(PendingObject),
    Size(u64),
}

impl Write for PushOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            PushOutput::File(file) => file.write(bytes),
            PushOutput::Size(size) => {
                *size += bytes.len() as u64;
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            PushOutput::File(file) => file.flush(),
            PushOutput::Size(_) => Ok(()),
        }
    }
}

/// A file of a push: its id in the lake, and the number of rows written.
struct SourceCount {
    lake_id: String,
    rows: i64,
    entries: u64,
}

/// A push that is running.
struct PushRun<'r> {
    folder: &'r LakeFolder,
    request: &'r PushRequest<'r>,
    push_id: String,
    /// The file of the last row: its id in the engine, and its index.
    current: Option<(String, usize)>,
    source_idxs: HashMap<String, usize>,
    source_counts: Vec<SourceCount>,
    encoder: RowEncoder,
    writers: BTreeMap<LakeTable, ObjectWriter<PushOutput>>,
    samples: BTreeMap<LakeTable, Vec<Value>>,
    /// The texts of one file, which are redacted together.
    texts: Vec<TextTableRow>,
    result: Result<(), LakeError>,
}

impl<'r> PushRun<'r> {
    fn new(
        folder: &'r LakeFolder,
        request: &'r PushRequest<'r>,
        push_id: String,
        changed: &[(TableSource, String)],
    ) -> PushRun<'r> {
        let source_counts = changed.iter().map(|(source, _)| SourceCount {
            lake_id: derive_source_id(request.key, &request.dev_id, &source.source_id),
            rows: 0,
            entries: 0,
        });
        let source_idxs = changed.iter().zip(0..).map(|((source, _), idx)| (source.source_id.clone(), idx));
        let encoder =
            RowEncoder::new(request.level, request.key.clone(), request.dev_id.clone(), push_id.clone());
        PushRun {
            folder,
            request,
            push_id,
            current: None,
            source_idxs: source_idxs.collect(),
            source_counts: source_counts.collect(),
            encoder,
            writers: BTreeMap::new(),
            samples: BTreeMap::new(),
            texts: Vec::new(),
            result: Ok(()),
        }
    }

    /// Adds a row. Returns `false` after an error.
    fn add(&mut self, row: TableRow<'_>) -> bool {
        self.result = self.try_add(row);
        self.result.is_ok()
    }

    fn try_add(&mut self, row: TableRow<'_>) -> Result<(), LakeError> {
        match row {
            TableRow::Texts(text) => self.add_text(text.clone()),
            TableRow::Sessions(session) if self.request.level >= Level::Text => {
                if let Some(title) = &session.title {
                    self.add_text(TextTableRow {
                        source_id: session.source_id.clone(),
                        session_id: session.session_id.clone(),
                        role: "title",
                        text: title.clone(),
                        ..TextTableRow::default()
                    })?;
                }
                self.write(&row, &session.source_id)
            }
            row => {
                let source_id = match row {
                    TableRow::Sessions(row) => &row.source_id,
                    TableRow::Entries(row) => &row.source_id,
                    TableRow::Messages(row) => &row.source_id,
                    TableRow::Turns(row) => &row.source_id,
                    TableRow::Responses(row) => &row.source_id,
                    TableRow::ToolCalls(row) => &row.source_id,
                    TableRow::Files(row) => &row.source_id,
                    TableRow::Branches(row) => &row.source_id,
                    TableRow::Problems(row) => &row.source_id,
                    TableRow::Texts(row) => &row.source_id,
                };
                self.write(&row, source_id)
            }
        }
    }

    /// Adds a text. The texts of a file are written when another file begins.
    fn add_text(&mut self, text: TextTableRow) -> Result<(), LakeError> {
        if self.texts.first().is_some_and(|first| first.source_id != text.source_id) {
            self.write_texts()?;
        }
        self.texts.push(text);
        Ok(())
    }

    /// Writes the texts of a file without its secrets.
    fn write_texts(&mut self) -> Result<(), LakeError> {
        let texts = std::mem::take(&mut self.texts);
        let redactor = build_redactor(texts.iter().map(|row| row.text.as_str()));
        for mut row in texts {
            row.text = redact(&row.text, redactor.as_ref()).into_owned();
            self.write(&TableRow::Texts(&row), &row.source_id)?;
        }
        Ok(())
    }

    fn count(&self, source: &TableSource) -> Option<&SourceCount> {
        self.source_counts.get(*self.source_idxs.get(&source.source_id)?)
    }

    fn write(&mut self, row: &TableRow<'_>, source_id: &str) -> Result<(), LakeError> {
        // The rows of a file follow each other.
        if self.current.as_ref().is_none_or(|(id, _)| id != source_id) {
            let Some(&idx) = self.source_idxs.get(source_id) else { return Ok(()) };
            self.current = Some((source_id.to_owned(), idx));
        }
        let Some((_, idx)) = self.current else { return Ok(()) };
        let count = &mut self.source_counts[idx];
        count.rows += 1;
        count.entries += u64::from(matches!(row, TableRow::Entries(_)));
        let table = LakeTable::Data(row.table());
        self.open_writer(table)?;
        let Some(writer) = self.writers.get_mut(&table) else { return Ok(()) };
        let lake_id = &self.source_counts[idx].lake_id;
        let encoder = &mut self.encoder;
        let samples = self.samples.entry(table).or_default();
        let wants_sample = self.request.dry_run && samples.len() < MAX_SAMPLES;
        writer.add_row_with(|columns| {
            encoder.encode(row, lake_id, columns);
            if wants_sample {
                samples.push(build_sample(table, columns));
            }
        })
    }

    fn open_writer(&mut self, table: LakeTable) -> Result<(), LakeError> {
        if self.writers.contains_key(&table) {
            return Ok(());
        }
        let output = if self.request.dry_run {
            PushOutput::Size(0)
        } else {
            let name = format!("{}-{}-{}", self.request.dev_id, self.push_id, table.name());
            PushOutput::File(self.folder.create_pending(&name)?)
        };
        self.writers.insert(table, ObjectWriter::new(table, output)?);
        Ok(())
    }

    fn build_head(&self, source: &TableSource, mark: &str, generation: i64) -> SourceHead {
        let request = self.request;
        let count = self.count(source);
        SourceHead {
            dev_id: request.dev_id.clone(),
            source_id: count.map_or_else(String::new, |count| count.lake_id.clone()),
            push_id: self.push_id.clone(),
            level: request.level.number(),
            generation,
            revision: 0,
            deleted: false,
            file_key: derive_file_key(request.key, source),
            session_id: encode_id(request.level, request.key, &source.session_id),
            is_agent: source.agent_id.is_some(),
            bytes: i64::try_from(source.bytes).unwrap_or(i64::MAX),
            row_count: count.map_or(0, |count| count.rows),
            mark: mark.to_owned(),
            rethread_version: env!("CARGO_PKG_VERSION").to_owned(),
            schema_version: SCHEMA_VERSION as i64,
            prices: request.prices_origin.clone(),
            pushed_at: request.now.0,
        }
    }

    /// Writes the remaining rows, moves the objects to their places, and writes the heads.
    fn finish(mut self, heads: &[SourceHead]) -> Result<(Vec<TableSummary>, Vec<PathBuf>), LakeError> {
        std::mem::replace(&mut self.result, Ok(()))?;
        self.write_texts()?;
        let mut tables = Vec::new();
        let mut objects = Vec::new();
        let writers = std::mem::take(&mut self.writers);
        for (table, writer) in writers {
            self.finish_object(table, writer, &mut tables, &mut objects)?;
        }
        if !heads.is_empty() {
            self.open_writer(LakeTable::Sources)?;
            let Some(mut writer) = self.writers.remove(&LakeTable::Sources) else {
                return Ok((tables, objects));
            };
            let samples = self.samples.entry(LakeTable::Sources).or_default();
            for head in heads {
                writer.add_row_with(|columns| {
                    columns.iter_mut().zip(head.values()).for_each(|(column, value)| column.push(value));
                    if self.request.dry_run && samples.len() < MAX_SAMPLES {
                        samples.push(build_sample(LakeTable::Sources, columns));
                    }
                })?;
            }
            self.finish_object(LakeTable::Sources, writer, &mut tables, &mut objects)?;
        }
        Ok((tables, objects))
    }

    fn finish_object(
        &mut self,
        table: LakeTable,
        writer: ObjectWriter<PushOutput>,
        tables: &mut Vec<TableSummary>,
        objects: &mut Vec<PathBuf>,
    ) -> Result<(), LakeError> {
        if self.request.stop_after == Some(objects.len()) {
            return Err(LakeError::Interrupted);
        }
        let rows = writer.rows() as u64;
        let bytes = match writer.finish()? {
            PushOutput::Size(size) => size,
            PushOutput::File(file) => {
                let pending = file.path().to_owned();
                let bytes = file.finish(&[])?;
                let name = format!("{}-{}", self.request.dev_id, self.push_id);
                objects.push(self.folder.publish(&pending, table, &self.request.day, &name)?);
                bytes
            }
        };
        let samples = self.samples.remove(&table).unwrap_or_default();
        tables.push(TableSummary { name: table.name(), rows, bytes, samples });
        Ok(())
    }
}

/// Returns a key that the copies of a file on all machines share: of its session and its subagent.
pub(crate) fn derive_file_key(key: &TeamKey, source: &TableSource) -> String {
    if source.session_id.is_empty() {
        return key.derive("file", &[&source.source_id]);
    }
    key.derive("file", &[&source.session_id, source.agent_id.as_deref().unwrap_or_default()])
}

/// Returns the last row as an object. Nulls are omitted.
fn build_sample(table: LakeTable, columns: &[ColumnBuffer]) -> Value {
    let mut sample = Map::new();
    for (column, buffer) in table.columns().iter().zip(columns) {
        let value = match buffer.value(buffer.len() - 1) {
            CellValue::Null => continue,
            CellValue::Boolean(value) => value.into(),
            CellValue::Text(text) => text.into(),
            CellValue::Integer(number) if column.lake_type == LakeType::Money => {
                format!("{}.{:012}", number / 1_000_000_000_000, number % 1_000_000_000_000).into()
            }
            CellValue::Integer(number) => number.into(),
        };
        sample.insert(column.name.to_owned(), value);
    }
    Value::Object(sample)
}
