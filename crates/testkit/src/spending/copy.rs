//! Sessions that begin with lines copied from another session.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::generator::{MINUTE, StoreGenerator};
use super::store::{GeneratedFile, GeneratedLine, ResponseRecord};
use super::turn::format_timestamp;

/// How lines are copied into another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CopyKind {
    /// Unchanged, each with a `forkedFrom` marker.
    Fork,
    /// Like clients up to 2.0.1: with new uuids, the time of the copy, and without request ids.
    Resume,
    /// Unchanged, into a session of its own, without a marker.
    Background,
    /// Unchanged, under the same file name in another folder.
    SameName,
}

impl StoreGenerator {
    /// Copies some turns of a session into a new file and usually appends a turn.
    pub(super) fn copy(&mut self, kind: CopyKind) {
        let is_usable = |file: &GeneratedFile| {
            let is_unrelated = |other: &GeneratedFile| other.agent.is_none() || other.session != file.session;
            file.agent.is_none()
                && !file.has_replay
                && file.torn_line.is_none()
                && !file.turns.is_empty()
                && (kind != CopyKind::SameName
                    || !file.is_gateway && self.store.files.iter().all(is_unrelated))
        };
        let sources: Vec<usize> =
            (0..self.store.files.len()).filter(|&idx| is_usable(&self.store.files[idx])).collect();
        if sources.is_empty() {
            return;
        }
        let source = self.store.files[*self.rng.pick(&sources)].clone();
        let turn_count = 1 + self.rng.below(source.turns.len() as u64) as usize;
        let session = if kind == CopyKind::SameName { source.session.clone() } else { self.new_uuid() };
        let folder = match kind {
            CopyKind::SameName => {
                format!("{}-moved-{}", StoreGenerator::project_folder(&source.cwd), self.store.files.len())
            }
            _ => StoreGenerator::project_folder(&source.cwd),
        };
        let mut file = GeneratedFile {
            path: format!("{folder}/{session}.jsonl"),
            session,
            cwd: source.cwd.clone(),
            turns: source.turns[..turn_count].to_vec(),
            is_gateway: source.is_gateway,
            branch: source.branch.clone(),
            clock: source.clock + MINUTE + self.rng.below(300 * MINUTE as u64) as i64,
            ..GeneratedFile::default()
        };
        let is_copied = |line: &&GeneratedLine| line.turn < turn_count && line.value["isSidechain"] != true;
        let lines: Vec<GeneratedLine> = source.lines.iter().filter(is_copied).cloned().collect();
        let new_uuids: HashMap<String, String> = match kind {
            CopyKind::Resume => {
                lines.iter().filter_map(line_uuid).map(|uuid| (uuid, self.new_uuid())).collect()
            }
            _ => HashMap::new(),
        };
        for turn in &mut file.turns {
            turn.last_uuid = map_uuid(&new_uuids, &turn.last_uuid);
        }
        file.lines =
            lines.into_iter().map(|line| copy_line(line, kind, &source, &file, &new_uuids)).collect();
        self.store.files.push(file);
        if kind != CopyKind::SameName && self.rng.chance(80) {
            self.grow(self.store.files.len() - 1);
        }
    }
}

fn line_uuid(line: &GeneratedLine) -> Option<String> {
    line.value["uuid"].as_str().map(str::to_owned)
}

fn map_uuid(new_uuids: &HashMap<String, String>, uuid: &str) -> String {
    new_uuids.get(uuid).map_or(uuid, String::as_str).to_owned()
}

fn copy_line(
    line: GeneratedLine,
    kind: CopyKind,
    source: &GeneratedFile,
    target: &GeneratedFile,
    new_uuids: &HashMap<String, String>,
) -> GeneratedLine {
    let GeneratedLine { mut value, turn, response } = line;
    let response = response.map(|record| match kind {
        CopyKind::Fork => ResponseRecord { has_fork_marker: true, ..record },
        CopyKind::Resume => ResponseRecord { request_id: None, time: Some(target.clock), ..record },
        CopyKind::Background | CopyKind::SameName => record,
    });
    let is_entry = value["uuid"].is_string();
    if let Some(object) = value.as_object_mut().filter(|_| is_entry) {
        object.insert("sessionId".to_owned(), json!(target.session));
        match kind {
            CopyKind::Fork => {
                let marker = json!({"sessionId": source.session, "messageUuid": object["uuid"]});
                object.insert("forkedFrom".to_owned(), marker);
            }
            CopyKind::Resume => {
                object.remove("requestId");
                object.insert("timestamp".to_owned(), json!(format_timestamp(target.clock)));
                for key in ["uuid", "parentUuid", "logicalParentUuid"] {
                    if let Some(Value::String(uuid)) = object.get_mut(key) {
                        *uuid = map_uuid(new_uuids, uuid);
                    }
                }
            }
            CopyKind::Background | CopyKind::SameName => {}
        }
    }
    GeneratedLine { value, turn, response }
}
