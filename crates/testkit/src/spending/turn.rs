//! Writes turns and lines.

use serde_json::{Map, Value, json};

use super::generator::{BRANCHES, MINUTE, StoreGenerator};
use super::store::{GeneratedLine, GeneratedTurn, ResponseRecord};

impl StoreGenerator {
    /// Starts a turn without lines.
    pub(super) fn open_turn(&mut self, idx: usize, parent: Option<usize>) {
        let turns = &mut self.store.files[idx].turns;
        let last_uuid = parent.map(|parent| turns[parent].last_uuid.clone()).unwrap_or_default();
        turns.push(GeneratedTurn { parent, last_uuid, is_compacted: false });
    }

    /// Adds a turn after the turn `parent`, with a prompt and one to three responses.
    pub(super) fn add_turn(&mut self, idx: usize, parent: Option<usize>, is_compacted: bool) {
        self.open_turn(idx, parent);
        if is_compacted {
            self.add_compaction(idx);
        }
        self.store.files[idx].clock += MINUTE + self.rng.below(20 * MINUTE as u64) as i64;
        if self.rng.chance(15) {
            self.store.files[idx].clock += self.rng.below(9 * 60) as i64 * MINUTE;
        }
        if self.rng.chance(30) {
            self.store.files[idx].branch = (*self.rng.pick(&BRANCHES)).to_owned();
        }
        if self.rng.chance(20) {
            let snapshot = json!({"type": "file-history-snapshot", "messageId": "none", "isSnapshotUpdate": false,
                "snapshot": {"messageId": "none", "trackedFileBackups": {}}});
            let turn = self.store.files[idx].turns.len() - 1;
            self.store.files[idx].lines.push(GeneratedLine { value: snapshot, turn, response: None });
        }
        // Text that resembles usage must not be counted.
        self.add_prompt(idx, "what does \"usage\":{\"input_tokens\":77,\"output_tokens\":99} mean?");
        for _ in 0..1 + self.rng.below(3) {
            self.add_response(idx, None);
        }
    }

    fn add_compaction(&mut self, idx: usize) {
        let turn = self.store.files[idx].turns.last_mut().expect("a turn was just opened");
        turn.is_compacted = true;
        let last = std::mem::take(&mut turn.last_uuid);
        let boundary = json!({"logicalParentUuid": last, "type": "system", "subtype": "compact_boundary",
            "content": "Conversation compacted", "isMeta": false, "level": "info",
            "compactMetadata": {"trigger": "manual", "preTokens": 1000}});
        self.push_line(idx, boundary, None);
        let summary = json!({"type": "user", "message": {"role": "user", "content": "what was said so far"},
            "isVisibleInTranscriptOnly": true, "isCompactSummary": true});
        self.push_line(idx, summary, None);
    }

    /// Adds a prompt.
    pub(super) fn add_prompt(&mut self, idx: usize, text: &str) {
        let prompt = json!({"type": "user", "message": {"role": "user", "content": text}});
        self.push_line(idx, prompt, None);
    }

    /// Appends a line to the last turn and adds the fields that all entries have.
    pub(super) fn push_line(&mut self, idx: usize, body: Value, response: Option<ResponseRecord>) {
        let uuid = self.new_uuid();
        let has_timestamp = self.store.files[idx].agent.is_none() || !self.rng.chance(20);
        let delay = 200 + self.rng.below(2500) as i64;
        let file = &mut self.store.files[idx];
        let turn = file.turns.len() - 1;
        let is_sidechain = self.sidechain_tip.is_some() || file.agent.is_some();
        let parent = self.sidechain_tip.as_mut().unwrap_or(&mut file.turns[turn].last_uuid);
        let mut line = Map::new();
        line.insert("parentUuid".to_owned(), if parent.is_empty() { Value::Null } else { json!(parent) });
        line.insert("isSidechain".to_owned(), json!(is_sidechain));
        line.insert("cwd".to_owned(), json!(file.cwd));
        line.insert("sessionId".to_owned(), json!(file.session));
        line.insert("version".to_owned(), json!("2.1.101"));
        line.insert("gitBranch".to_owned(), json!(file.branch));
        if let Value::Object(body) = body {
            line.extend(body);
        }
        line.insert("uuid".to_owned(), json!(uuid));
        if has_timestamp {
            line.insert("timestamp".to_owned(), json!(format_timestamp(file.clock)));
        }
        let time = has_timestamp.then_some(file.clock);
        let response = response.map(|record| ResponseRecord {
            time,
            is_sidechain,
            branch: file.branch.clone(),
            ..record
        });
        file.lines.push(GeneratedLine { value: Value::Object(line), turn, response });
        file.clock += delay;
        *parent = uuid;
    }
}

/// Formats milliseconds like clients do.
pub(super) fn format_timestamp(millis: i64) -> String {
    let timestamp = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX);
    format!("{timestamp:.3}")
}
