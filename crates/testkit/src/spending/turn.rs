//! How turns and lines are written.

use serde_json::{Map, Value, json};

use super::generator::{BRANCHES, MINUTE, StoreGenerator};
use super::store::{Line, Said, Turn};

impl StoreGenerator {
    /// Begins a turn.
    pub(super) fn open_turn(&mut self, no: usize, parent: Option<usize>) {
        let turns = &mut self.store.files[no].turns;
        let end = parent.map(|parent| turns[parent].end.clone()).unwrap_or_default();
        turns.push(Turn { parent, end, compacted: false });
    }

    /// Writes a turn behind another.
    pub(super) fn turn(&mut self, no: usize, parent: Option<usize>, compacted: bool) {
        self.open_turn(no, parent);
        if compacted {
            self.compact(no);
        }
        self.store.files[no].clock += MINUTE + self.dice.below(20 * MINUTE as u64) as i64;
        if self.dice.chance(15) {
            self.store.files[no].clock += self.dice.below(9 * 60) as i64 * MINUTE;
        }
        if self.dice.chance(30) {
            self.store.files[no].branch = (*self.dice.pick(&BRANCHES)).to_owned();
        }
        if self.dice.chance(20) {
            let snapshot = json!({"type": "file-history-snapshot", "messageId": "none", "isSnapshotUpdate": false,
                "snapshot": {"messageId": "none", "trackedFileBackups": {}}});
            let turn = self.store.files[no].turns.len() - 1;
            self.store.files[no].lines.push(Line { value: snapshot, turn, said: None });
        }
        // What only looks like tokens is none.
        self.say(no, "what does \"usage\":{\"input_tokens\":77,\"output_tokens\":99} mean?");
        for _ in 0..1 + self.dice.below(3) {
            self.respond(no, None);
        }
    }

    fn compact(&mut self, no: usize) {
        let turn = self.store.files[no].turns.last_mut().expect("a turn was just begun");
        turn.compacted = true;
        let last = std::mem::take(&mut turn.end);
        let boundary = json!({"logicalParentUuid": last, "type": "system", "subtype": "compact_boundary",
            "content": "Conversation compacted", "isMeta": false, "level": "info",
            "compactMetadata": {"trigger": "manual", "preTokens": 1000}});
        self.push(no, boundary, None);
        let recap = json!({"type": "user", "message": {"role": "user", "content": "what was said so far"},
            "isVisibleInTranscriptOnly": true, "isCompactSummary": true});
        self.push(no, recap, None);
    }

    /// Writes a prompt.
    pub(super) fn say(&mut self, no: usize, words: &str) {
        let prompt = json!({"type": "user", "message": {"role": "user", "content": words}});
        self.push(no, prompt, None);
    }

    /// Writes a line at the end of the last turn, and fills in what all lines have.
    pub(super) fn push(&mut self, no: usize, body: Value, said: Option<Said>) {
        let uuid = self.uuid();
        let stamped = self.store.files[no].agent.is_none() || !self.dice.chance(20);
        let later = 200 + self.dice.below(2500) as i64;
        let file = &mut self.store.files[no];
        let turn = file.turns.len() - 1;
        let side = self.aside.is_some() || file.agent.is_some();
        let parent = self.aside.as_mut().unwrap_or(&mut file.turns[turn].end);
        let mut line = Map::new();
        line.insert("parentUuid".to_owned(), if parent.is_empty() { Value::Null } else { json!(parent) });
        line.insert("isSidechain".to_owned(), json!(side));
        line.insert("cwd".to_owned(), json!(file.cwd));
        line.insert("sessionId".to_owned(), json!(file.session));
        line.insert("version".to_owned(), json!("2.1.101"));
        line.insert("gitBranch".to_owned(), json!(file.branch));
        if let Value::Object(body) = body {
            line.extend(body);
        }
        line.insert("uuid".to_owned(), json!(uuid));
        if stamped {
            line.insert("timestamp".to_owned(), json!(stamp(file.clock)));
        }
        let time = stamped.then_some(file.clock);
        let said = said.map(|said| Said { time, side, branch: file.branch.clone(), ..said });
        file.lines.push(Line { value: Value::Object(line), turn, said });
        file.clock += later;
        *parent = uuid;
    }
}

/// Writes a moment as clients do.
pub(super) fn stamp(moment: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(moment).unwrap_or(jiff::Timestamp::MAX);
    format!("{moment:.3}")
}
