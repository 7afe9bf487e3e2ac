//! Writes session files line by line, with every field in the hand of the test.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::home::Home;

/// A session file that is being written.
pub(crate) struct Tale {
    id: String,
    /// Fields that stand on every line.
    pub(crate) every: Map<String, Value>,
    lines: String,
    written: u32,
    tip: Option<String>,
}

impl Tale {
    /// Begins a session whose id ends so.
    pub(crate) fn new(end: &str) -> Tale {
        let id = format!("aaaaaaaa-bbbb-4ccc-8ddd-{end:0>12}");
        let every = json!({
            "sessionId": id, "cwd": "/code/harbour", "gitBranch": "main", "version": "2.1.0",
            "userType": "external", "isSidechain": false,
        });
        let Value::Object(every) = every else { unreachable!("it is written as an object") };
        Tale { id, every, lines: String::new(), written: 0, tip: None }
    }

    /// Begins the file of a subagent of this session.
    pub(crate) fn agent(&self, agent: &str) -> Tale {
        let mut every = self.every.clone();
        every.insert("isSidechain".to_owned(), true.into());
        every.insert("agentId".to_owned(), agent.into());
        Tale { id: self.id.clone(), every, lines: String::new(), written: 0, tip: None }
    }

    /// Returns the id of the session.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Returns its address.
    pub(crate) fn address(&self) -> String {
        format!("/s/{}", self.id)
    }

    /// Returns the entry that the next one follows.
    pub(crate) fn tip(&self) -> Option<String> {
        self.tip.clone()
    }

    /// Goes back, so that the next entry follows this one.
    pub(crate) fn back(&mut self, tip: Option<String>) {
        self.tip = tip;
    }

    /// Writes a line as it is.
    pub(crate) fn line(&mut self, line: &Value) {
        self.lines.push_str(&line.to_string());
        self.lines.push('\n');
    }

    /// Writes an entry that follows the one before, and returns its uuid.
    pub(crate) fn entry(&mut self, own: Value) -> String {
        self.written += 1;
        let agent = self.every.get("agentId").and_then(Value::as_str).unwrap_or_default();
        let uuid = format!("{}-{agent}-{}", &self.id[24..], self.written);
        let (minute, second) = (self.written / 60, self.written % 60);
        let mut line = self.every.clone();
        line.insert("uuid".to_owned(), uuid.clone().into());
        line.insert("parentUuid".to_owned(), json!(self.tip));
        let time = format!(
            "2026-01-{:02}T{:02}:{:02}:{second:02}.000Z",
            1 + minute / 1440,
            minute / 60 % 24,
            minute % 60
        );
        line.insert("timestamp".to_owned(), time.into());
        if let Value::Object(own) = own {
            line.extend(own);
        }
        self.line(&line.into());
        self.tip = Some(uuid.clone());
        uuid
    }

    /// Writes a prompt: a text or blocks.
    pub(crate) fn prompt(&mut self, content: impl Into<Value>) -> String {
        self.entry(json!({ "type": "user", "message": { "role": "user", "content": content.into() } }))
    }

    /// Writes an answer of blocks.
    pub(crate) fn answer(&mut self, blocks: &Value) -> String {
        let id = format!("msg_{}_{}", &self.id[24..], self.written);
        let message = json!({
            "id": id, "type": "message", "role": "assistant", "model": "claude-opus-4-1-20250805", "content": blocks,
            "usage": { "input_tokens": 10, "output_tokens": 20 },
        });
        self.entry(json!({ "type": "assistant", "message": message }))
    }

    /// Writes an answer of one text.
    pub(crate) fn says(&mut self, text: &str) -> String {
        self.answer(&json!([{ "type": "text", "text": text }]))
    }

    /// Writes a thought.
    pub(crate) fn thinks(&mut self, text: &str) -> String {
        self.answer(&json!([{ "type": "thinking", "thinking": text, "signature": "x" }]))
    }

    /// Writes a call and its result with the client's own note, and returns the id of the call.
    pub(crate) fn calls(&mut self, tool: &str, input: &Value, result: &Value, note: &Value) -> String {
        let call = self.starts(tool, input);
        self.ends(&call, result, note);
        call
    }

    /// Writes a call that has no result yet, and returns its id.
    pub(crate) fn starts(&mut self, tool: &str, input: &Value) -> String {
        let call = format!("toolu_{}_{}", &self.id[24..], self.written);
        self.answer(&json!([{ "type": "tool_use", "id": call, "name": tool, "input": input }]));
        call
    }

    /// Writes the result of a call with the client's own note.
    pub(crate) fn ends(&mut self, call: &str, result: &Value, note: &Value) {
        let block = json!({ "type": "tool_result", "tool_use_id": call, "content": result });
        let message = json!({ "role": "user", "content": [block] });
        self.entry(json!({ "type": "user", "message": message, "toolUseResult": note }));
    }

    /// Takes the lines that were written since this was last called.
    pub(crate) fn take(&mut self) -> String {
        std::mem::take(&mut self.lines)
    }

    /// Writes the file of the session.
    pub(crate) fn keep(&mut self, home: &Home) -> PathBuf {
        let lines = self.take();
        home.write_old(&self.file(), lines)
    }

    /// Returns where the file of the session lies, below the home folder.
    pub(crate) fn file(&self) -> String {
        format!(".claude/projects/-code-harbour/{}.jsonl", self.id)
    }

    /// Writes the file of a subagent that a call started.
    pub(crate) fn keep_agent(&mut self, home: &Home, call: &str, about: &str) {
        let agent = self.every.get("agentId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let path = format!(".claude/projects/-code-harbour/{}/subagents/agent-{agent}", self.id);
        let lines = self.take();
        home.write_old(&format!("{path}.jsonl"), lines);
        let meta = json!({ "agentType": about, "description": about, "toolUseId": call });
        home.write_old(&format!("{path}.meta.json"), meta.to_string());
    }
}
