//! Removes the rows of a developer: heads that hide them at once, then the objects that contain them.

use std::collections::{BTreeMap, BTreeSet};

use rethread_engine::core::entry::Timestamp;

use crate::LakeError;
use crate::compact::{CompactRequest, rewrite};
use crate::folder::{LakeFolder, LakeObject};
use crate::heads::{SourceHead, read_object_heads, select_current_heads};
use crate::key::{TeamKey, to_hex};
use crate::level::Level;
use crate::object_reader::ObjectReader;
use crate::object_writer::ObjectWriter;
use crate::row_encoder::encode_id;
use crate::schema::LakeTable;

/// The scope of the removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetScope {
    /// Everything that the developer pushed from this machine.
    Developer,
    /// A session that the developer pushed from this machine, with its subagents.
    Session(String),
}

/// The options of [`forget`].
#[derive(Debug)]
pub struct LakeForgetRequest<'r> {
    /// The scope of the removal.
    pub scope: ForgetScope,
    /// The key of the team.
    pub key: &'r TeamKey,
    /// The id of the developer.
    pub dev_id: String,
    /// The current time.
    pub now: Timestamp,
    /// The current day in UTC: `2026-01-31`.
    pub day: String,
    /// Whether nothing is changed.
    pub dry_run: bool,
}

/// The result of a removal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForgetReport {
    /// The number of session files.
    pub sources: usize,
    /// The number of objects that contained their rows and were deleted.
    pub objects: usize,
    /// The number of objects that were written with the other rows of these objects.
    pub rewritten: usize,
    /// The generation of the new heads. Later pushes need a greater one.
    pub generation: i64,
}

/// Removes rows from the lake. They disappear from the views at once, and their objects are deleted.
pub fn forget(folder: &LakeFolder, request: &LakeForgetRequest<'_>) -> Result<ForgetReport, LakeError> {
    let mut source_objects: Vec<(LakeObject, Vec<SourceHead>)> = Vec::new();
    for object in folder.list_objects(LakeTable::Sources)? {
        let heads = read_object_heads(&object.path)?;
        source_objects.push((object, heads));
    }
    let all = source_objects.iter().flat_map(|(_, heads)| heads.iter().cloned()).collect();
    let current = select_current_heads(all);
    let session_ids: BTreeSet<String> = match &request.scope {
        ForgetScope::Developer => BTreeSet::new(),
        ForgetScope::Session(id) => {
            Level::ALL.iter().map(|level| encode_id(*level, request.key, id)).collect()
        }
    };
    let is_removed = |head: &SourceHead| {
        head.dev_id == request.dev_id
            && (request.scope == ForgetScope::Developer || session_ids.contains(&head.session_id))
    };
    let mut removed: Vec<&SourceHead> = current.values().filter(|head| is_removed(head)).collect();
    removed.sort_by(|a, b| a.source_id.cmp(&b.source_id));
    let sources: BTreeSet<&str> = removed.iter().map(|head| head.source_id.as_str()).collect();
    let newest = removed.iter().map(|head| head.generation).max().unwrap_or_default();
    let generation = request.now.0.max(newest + 1);
    let live = removed.iter().filter(|head| !head.deleted).count();
    let mut report = ForgetReport { sources: live, generation, ..ForgetReport::default() };
    if request.dry_run || removed.is_empty() {
        return Ok(report);
    }
    write_tombstones(folder, request, &removed, generation)?;
    // All objects with rows of a removed source, of whatever push.
    let mut tainted: Vec<LakeObject> = Vec::new();
    for table in LakeTable::all().into_iter().filter(|table| *table != LakeTable::Sources) {
        for object in folder.list_objects(table)? {
            if contains_source(&object, &sources)? {
                tainted.push(object);
            }
        }
    }
    let pushes: BTreeSet<&str> = tainted.iter().map(|object| object.push_id.as_str()).collect();
    let mut kept: BTreeMap<&str, Vec<&SourceHead>> = BTreeMap::new();
    for head in current.values() {
        let is_kept = !head.deleted && !sources.contains(head.source_id.as_str());
        if is_kept && pushes.contains(head.push_id.as_str()) {
            kept.entry(&head.push_id).or_default().push(head);
        }
    }
    let compaction =
        CompactRequest { now: request.now, day: request.day.clone(), grace_millis: 0, dry_run: false };
    // The other rows of a push, also those of objects without removed rows, move to a push of their own.
    let mut replaced: Vec<LakeObject> = tainted.clone();
    for (push_id, mut heads) in kept {
        heads.sort_by(|a, b| a.source_id.cmp(&b.source_id));
        let mut inputs = Vec::new();
        for table in LakeTable::all().into_iter().filter(|table| *table != LakeTable::Sources) {
            let objects = folder.list_objects(table)?;
            inputs.extend(objects.into_iter().filter(|object| object.push_id == push_id));
        }
        let owner = inputs.first().map_or("", |object| object.owner.as_str());
        let inputs_by_ref: Vec<&LakeObject> = inputs.iter().collect();
        report.rewritten += rewrite(folder, owner, &inputs_by_ref, &heads, &compaction)?;
        replaced.extend(inputs);
    }
    replaced.sort();
    replaced.dedup();
    for object in &replaced {
        folder.remove_object(object)?;
        report.objects += 1;
    }
    Ok(report)
}

fn contains_source(object: &LakeObject, sources: &BTreeSet<&str>) -> Result<bool, LakeError> {
    let mut found = false;
    ObjectReader::open(object.table, &object.path)?.read(
        |name| name == "source_id",
        |group| {
            let column = group.column("source_id");
            found |=
                column.is_some_and(|column| (0..group.rows()).any(|row| sources.contains(column.text(row))));
            Ok(())
        },
    )?;
    Ok(found)
}

/// Writes heads that hide all rows of some sources.
fn write_tombstones(
    folder: &LakeFolder,
    request: &LakeForgetRequest<'_>,
    removed: &[&SourceHead],
    generation: i64,
) -> Result<(), LakeError> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&generation.to_le_bytes());
    removed.iter().for_each(|head| {
        hasher.update(head.source_id.as_bytes());
    });
    let push_id = to_hex(&hasher.finalize().as_bytes()[..16]);
    let name = format!("{}-{push_id}", request.dev_id);
    let pending = folder.create_pending(&name)?;
    let path = pending.path().to_owned();
    let mut writer = ObjectWriter::new(LakeTable::Sources, pending)?;
    for head in removed {
        let head = SourceHead {
            push_id: push_id.clone(),
            generation,
            revision: 0,
            deleted: true,
            // What identified the session is not needed to hide it.
            session_id: String::new(),
            bytes: 0,
            row_count: 0,
            mark: String::new(),
            pushed_at: request.now.0,
            ..(*head).clone()
        };
        writer.add_row(head.values())?;
    }
    writer.finish()?.finish(&[])?;
    folder.publish(&path, LakeTable::Sources, &request.day, &name)?;
    Ok(())
}
