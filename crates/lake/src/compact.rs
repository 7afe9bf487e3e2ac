//! Compaction: copies the rows that heads name to few large objects, and deletes superseded objects after a time of grace.
//!
//! The copies get heads of the same generation and a greater revision, so they count as soon as their heads exist. A push
//! that runs at the same time has a greater generation and counts in any case.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rethread_engine::core::entry::Timestamp;

use crate::LakeError;
use crate::column_buffer::CellValue;
use crate::folder::{LakeFolder, LakeObject, PendingObject};
use crate::heads::{SourceHead, read_object_heads, select_current_heads};
use crate::key::to_hex;
use crate::object_reader::ObjectReader;
use crate::object_writer::ObjectWriter;
use crate::schema::LakeTable;

/// The number of bytes of a bucket. Larger lakes are split by developer into more buckets.
const BUCKET_BYTES: u64 = 256 << 20;
/// The maximum number of buckets.
const MAX_BUCKETS: u64 = 256;

/// The options of [`compact_lake`].
#[derive(Debug, Clone)]
pub struct CompactRequest {
    /// The current time.
    pub now: Timestamp,
    /// The current day in UTC: `2026-01-31`.
    pub day: String,
    /// The time in milliseconds for which superseded objects are kept, because readers may use them.
    pub grace_millis: i64,
    /// Whether nothing is written or deleted.
    pub dry_run: bool,
}

/// The result of a compaction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompactReport {
    /// The number of objects before.
    pub objects_before: usize,
    /// The number of objects whose rows were copied.
    pub merged: usize,
    /// The number of objects that were written.
    pub written: usize,
    /// The number of superseded objects that were deleted.
    pub deleted: usize,
    /// Their size in bytes.
    pub deleted_bytes: u64,
    /// The number of superseded objects that are kept because readers may use them.
    pub kept: usize,
}

/// The objects and heads of a lake.
struct LakeContent {
    data: Vec<LakeObject>,
    sources: Vec<(LakeObject, Vec<SourceHead>)>,
    current: HashMap<String, SourceHead>,
}

impl LakeContent {
    fn read(folder: &LakeFolder) -> Result<LakeContent, LakeError> {
        // The heads are read first: the objects that they name exist.
        let mut sources = Vec::new();
        for object in folder.list_objects(LakeTable::Sources)? {
            let heads = read_object_heads(&object.path)?;
            sources.push((object, heads));
        }
        let mut data = Vec::new();
        for table in LakeTable::all().into_iter().filter(|table| *table != LakeTable::Sources) {
            data.extend(folder.list_objects(table)?);
        }
        let all = sources.iter().flat_map(|(_, heads)| heads.iter().cloned()).collect();
        Ok(LakeContent { data, sources, current: select_current_heads(all) })
    }

    /// Returns the pushes of heads that count, with the number of their sources.
    fn live_pushes(&self) -> BTreeMap<&str, usize> {
        let mut pushes: BTreeMap<&str, usize> = BTreeMap::new();
        for head in self.current.values().filter(|head| !head.deleted) {
            *pushes.entry(&head.push_id).or_default() += 1;
        }
        pushes
    }
}

/// Compacts a lake.
pub fn compact_lake(folder: &LakeFolder, request: &CompactRequest) -> Result<CompactReport, LakeError> {
    let content = LakeContent::read(folder)?;
    let mut report = CompactReport {
        objects_before: content.data.len() + content.sources.len(),
        ..CompactReport::default()
    };
    let live = content.live_pushes();
    let is_live = |object: &LakeObject| live.contains_key(object.push_id.as_str());
    let live_bytes: u64 =
        content.data.iter().filter(|object| is_live(object)).map(|object| object.bytes).sum();
    let bucket_count = live_bytes.div_ceil(BUCKET_BYTES).next_power_of_two().min(MAX_BUCKETS);
    let mut buckets: BTreeMap<u64, Vec<&SourceHead>> = BTreeMap::new();
    for head in content.current.values().filter(|head| !head.deleted) {
        buckets.entry(find_bucket(&head.dev_id, bucket_count)).or_default().push(head);
    }
    for (bucket, mut heads) in buckets {
        heads.sort_by(|a, b| a.source_id.cmp(&b.source_id));
        let pushes: BTreeSet<&str> = heads.iter().map(|head| head.push_id.as_str()).collect();
        if pushes.len() < 2 {
            continue;
        }
        let inputs: Vec<&LakeObject> =
            content.data.iter().filter(|object| pushes.contains(object.push_id.as_str())).collect();
        report.merged += inputs.len();
        if !request.dry_run {
            let owner = format!("bucket{bucket:03}of{bucket_count:03}");
            report.written += rewrite(folder, &owner, &inputs, &heads, request)?;
        }
    }
    if !request.dry_run {
        delete_superseded(folder, request, &mut report)?;
    }
    Ok(report)
}

fn find_bucket(dev_id: &str, bucket_count: u64) -> u64 {
    u64::from_str_radix(dev_id.get(..8).unwrap_or_default(), 16).unwrap_or_default() % bucket_count.max(1)
}

/// Copies the rows that `heads` name from `inputs` to new objects, and writes their heads. Returns the number of objects.
pub(crate) fn rewrite(
    folder: &LakeFolder,
    owner: &str,
    inputs: &[&LakeObject],
    heads: &[&SourceHead],
    request: &CompactRequest,
) -> Result<usize, LakeError> {
    let mut hasher = blake3::Hasher::new();
    for head in heads {
        hasher.update(head.source_id.as_bytes());
        hasher.update(head.push_id.as_bytes());
    }
    hasher.update(request.day.as_bytes());
    let push_id = to_hex(&hasher.finalize().as_bytes()[..16]);
    let name = format!("{owner}-{push_id}");
    folder.remove_pending(owner)?;
    let pushes: HashMap<&str, &str> =
        heads.iter().map(|head| (head.source_id.as_str(), head.push_id.as_str())).collect();
    let mut by_table: BTreeMap<LakeTable, Vec<&LakeObject>> = BTreeMap::new();
    for input in inputs {
        by_table.entry(input.table).or_default().push(input);
    }
    let mut written = 0;
    for (table, inputs) in by_table {
        let pending = folder.create_pending(&format!("{name}-{}", table.name()))?;
        let path = pending.path().to_owned();
        let mut writer = ObjectWriter::new(table, pending)?;
        for input in inputs {
            copy_rows(table, input, &pushes, &push_id, &mut writer)?;
        }
        if writer.rows() == 0 {
            continue;
        }
        writer.finish()?.finish(&[])?;
        folder.publish(&path, table, &request.day, &name)?;
        written += 1;
    }
    let pending = folder.create_pending(&format!("{name}-sources"))?;
    let path = pending.path().to_owned();
    let mut writer = ObjectWriter::new(LakeTable::Sources, pending)?;
    for head in heads {
        let head = SourceHead {
            push_id: push_id.clone(),
            revision: head.revision + 1,
            pushed_at: request.now.0,
            ..(*head).clone()
        };
        writer.add_row(head.values())?;
    }
    writer.finish()?.finish(&[])?;
    folder.publish(&path, LakeTable::Sources, &request.day, &name)?;
    folder.remove_pending(owner)?;
    Ok(written + 1)
}

fn copy_rows(
    table: LakeTable,
    input: &LakeObject,
    pushes: &HashMap<&str, &str>,
    push_id: &str,
    writer: &mut ObjectWriter<PendingObject>,
) -> Result<(), LakeError> {
    ObjectReader::open(table, &input.path)?.read(
        |_| true,
        |group| {
            let (Some(sources), Some(own_pushes)) = (group.column("source_id"), group.column("push_id"))
            else {
                return Ok(());
            };
            for row in 0..group.rows() {
                if pushes.get(sources.text(row)) != Some(&own_pushes.text(row)) {
                    continue;
                }
                writer.add_row(group.iter().map(|(name, column)| {
                    if name == "push_id" { CellValue::Text(push_id) } else { column.value(row) }
                }))?;
            }
            Ok(())
        },
    )
}

/// Deletes objects that no head names any more and whose successors are older than the time of grace.
fn delete_superseded(
    folder: &LakeFolder,
    request: &CompactRequest,
    report: &mut CompactReport,
) -> Result<(), LakeError> {
    let content = LakeContent::read(folder)?;
    let live = content.live_pushes();
    // A push is superseded when the last of its sources got a newer head.
    let mut superseded_at: HashMap<&str, i64> = HashMap::new();
    for head in content.sources.iter().flat_map(|(_, heads)| heads) {
        let newer = content.current.get(&head.source_id).map_or(i64::MAX, |current| current.pushed_at);
        let time = superseded_at.entry(&head.push_id).or_insert(i64::MIN);
        *time = (*time).max(newer);
    }
    let limit = request.now.0.saturating_sub(request.grace_millis);
    for object in &content.data {
        let push_id = object.push_id.as_str();
        if live.contains_key(push_id) {
            continue;
        }
        // Without any head, the push is running or was interrupted.
        let Some(time) = superseded_at.get(push_id) else { continue };
        if *time > limit {
            report.kept += 1;
            continue;
        }
        folder.remove_object(object)?;
        report.deleted += 1;
        report.deleted_bytes += object.bytes;
    }
    for (object, heads) in &content.sources {
        let newest = heads.iter().map(|head| {
            let current = content.current.get(&head.source_id);
            current.map_or(i64::MAX, |current| if current == head { i64::MAX } else { current.pushed_at })
        });
        match newest.max() {
            Some(time) if time <= limit => {
                folder.remove_object(object)?;
                report.deleted += 1;
                report.deleted_bytes += object.bytes;
            }
            Some(i64::MAX) | None => {}
            Some(_) => report.kept += 1,
        }
    }
    Ok(())
}
