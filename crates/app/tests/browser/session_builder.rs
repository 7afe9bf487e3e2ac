//! Writes session files line by line.

use std::io::Write;
use std::path::{Path, PathBuf};

use rethread_testkit::home::Home;
use serde_json::{Map, Value, json};

/// A session file under construction. Each entry is a child of the previous one.
pub(crate) struct SessionBuilder {
    id: String,
    /// The fields of every entry.
    pub(crate) common_fields: Map<String, Value>,
    lines: String,
    entry_count: u32,
    tip: Option<String>,
}

impl SessionBuilder {
    /// Starts a session whose id ends with `id_suffix`.
    pub(crate) fn new(id_suffix: &str) -> SessionBuilder {
        let id = format!("aaaaaaaa-bbbb-4ccc-8ddd-{id_suffix:0>12}");
        let fields = json!({
            "sessionId": id, "cwd": "/code/harbour", "gitBranch": "main", "version": "2.1.0",
            "userType": "external", "isSidechain": false,
        });
        let Value::Object(common_fields) = fields else { unreachable!("the literal is an object") };
        SessionBuilder { id, common_fields, lines: String::new(), entry_count: 0, tip: None }
    }

    /// Starts the file of a subagent of this session.
    pub(crate) fn new_subagent(&self, agent_id: &str) -> SessionBuilder {
        let mut common_fields = self.common_fields.clone();
        common_fields.insert("isSidechain".to_owned(), true.into());
        common_fields.insert("agentId".to_owned(), agent_id.into());
        SessionBuilder { id: self.id.clone(), common_fields, lines: String::new(), entry_count: 0, tip: None }
    }

    /// Returns the session id.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the path of the session's page on the server.
    pub(crate) fn url_path(&self) -> String {
        format!("/s/{}", self.id)
    }

    /// Returns the uuid of the parent of the next entry.
    pub(crate) fn tip(&self) -> Option<String> {
        self.tip.clone()
    }

    /// Sets the parent of the next entry.
    pub(crate) fn set_tip(&mut self, tip: Option<String>) {
        self.tip = tip;
    }

    /// Adds a line as it is.
    pub(crate) fn add_line(&mut self, line: &Value) {
        self.lines.push_str(&line.to_string());
        self.lines.push('\n');
    }

    /// Adds an entry with uuid, parent, timestamp and `fields`, and returns its uuid.
    pub(crate) fn add_entry(&mut self, fields: Value) -> String {
        self.entry_count += 1;
        let agent_id = self.common_fields.get("agentId").and_then(Value::as_str).unwrap_or_default();
        let uuid = format!("{}-{agent_id}-{}", &self.id[24..], self.entry_count);
        let (minute, second) = (self.entry_count / 60, self.entry_count % 60);
        let mut line = self.common_fields.clone();
        line.insert("uuid".to_owned(), uuid.clone().into());
        line.insert("parentUuid".to_owned(), json!(self.tip));
        let time = format!(
            "2026-01-{:02}T{:02}:{:02}:{second:02}.000Z",
            1 + minute / 1440,
            minute / 60 % 24,
            minute % 60
        );
        line.insert("timestamp".to_owned(), time.into());
        if let Value::Object(fields) = fields {
            line.extend(fields);
        }
        self.add_line(&line.into());
        self.tip = Some(uuid.clone());
        uuid
    }

    /// Adds a prompt: a text or blocks.
    pub(crate) fn add_prompt(&mut self, content: impl Into<Value>) -> String {
        self.add_entry(json!({ "type": "user", "message": { "role": "user", "content": content.into() } }))
    }

    /// Adds an answer of blocks.
    pub(crate) fn add_answer(&mut self, blocks: &Value) -> String {
        let id = format!("msg_{}_{}", &self.id[24..], self.entry_count);
        let message = json!({
            "id": id, "type": "message", "role": "assistant", "model": "claude-opus-4-1-20250805", "content": blocks,
            "usage": { "input_tokens": 10, "output_tokens": 20 },
        });
        self.add_entry(json!({ "type": "assistant", "message": message }))
    }

    /// Adds an answer of one text block.
    pub(crate) fn add_text(&mut self, text: &str) -> String {
        self.add_answer(&json!([{ "type": "text", "text": text }]))
    }

    /// Adds an answer of one text block that states why it stopped.
    pub(crate) fn add_answer_with_stop_reason(&mut self, text: &str, stop_reason: &str) -> String {
        let message = json!({
            "id": "msg_stopped", "type": "message", "role": "assistant", "model": "claude-opus-4-1-20250805",
            "content": [{ "type": "text", "text": text }], "stop_reason": stop_reason,
        });
        self.add_entry(json!({ "type": "assistant", "message": message }))
    }

    /// Adds an answer of one thinking block.
    pub(crate) fn add_thinking(&mut self, text: &str) -> String {
        self.add_answer(&json!([{ "type": "thinking", "thinking": text, "signature": "x" }]))
    }

    /// Adds a call and its result, and returns the id of the call.
    pub(crate) fn add_call(
        &mut self,
        tool: &str,
        input: &Value,
        result: &Value,
        client_result: &Value,
    ) -> String {
        let call_id = self.start_call(tool, input);
        self.finish_call(&call_id, result, client_result);
        call_id
    }

    /// Adds a call without a result, and returns its id.
    pub(crate) fn start_call(&mut self, tool: &str, input: &Value) -> String {
        let call_id = format!("toolu_{}_{}", &self.id[24..], self.entry_count);
        self.add_answer(&json!([{ "type": "tool_use", "id": call_id, "name": tool, "input": input }]));
        call_id
    }

    /// Adds the result of a call. `client_result` is the client's own record, `toolUseResult`.
    pub(crate) fn finish_call(&mut self, call_id: &str, result: &Value, client_result: &Value) {
        let block = json!({ "type": "tool_result", "tool_use_id": call_id, "content": result });
        let message = json!({ "role": "user", "content": [block] });
        self.add_entry(json!({ "type": "user", "message": message, "toolUseResult": client_result }));
    }

    /// Adds a compaction: its boundary, which is a new root, and its summary.
    pub(crate) fn add_compaction(&mut self, summary: &str) {
        let last = self.tip.take();
        self.add_entry(json!({
            "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "logicalParentUuid": last, "compactMetadata": { "trigger": "manual", "preTokens": 1000 },
        }));
        let message = json!({ "role": "user", "content": summary });
        self.add_entry(json!({ "type": "user", "isCompactSummary": true, "message": message }));
    }

    /// Takes the lines that were added since the last call.
    pub(crate) fn take_lines(&mut self) -> String {
        std::mem::take(&mut self.lines)
    }

    /// Writes the session file and returns its path.
    pub(crate) fn write_to(&mut self, home: &Home) -> PathBuf {
        let lines = self.take_lines();
        home.write_old(&self.path_in_home(), lines)
    }

    /// Appends the new lines to the session file, as a running client does.
    pub(crate) fn append_to(&mut self, path: &Path) {
        append(path, &self.take_lines());
    }

    /// Returns the path of the session file relative to the home.
    pub(crate) fn path_in_home(&self) -> String {
        format!(".claude/projects/-code-harbour/{}.jsonl", self.id)
    }

    /// Writes the file of a subagent and the metadata that links it to its call.
    pub(crate) fn write_subagent_to(&mut self, home: &Home, call_id: &str, description: &str) {
        let agent_id =
            self.common_fields.get("agentId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let path = format!(".claude/projects/-code-harbour/{}/subagents/agent-{agent_id}", self.id);
        let lines = self.take_lines();
        home.write_old(&format!("{path}.jsonl"), lines);
        let meta = json!({ "agentType": description, "description": description, "toolUseId": call_id });
        home.write_old(&format!("{path}.meta.json"), meta.to_string());
    }
}

/// Appends text to a file.
#[expect(clippy::disallowed_methods, reason = "the test acts as the client")]
pub(crate) fn append(path: &Path, text: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}
