//! Writes lines as a client would: each hangs on the one before, time goes on, tokens add up.
#![expect(clippy::needless_pass_by_value, reason = "values are made where they are passed")]

use serde_json::{Map, Value, json};

/// Writes one file.
pub(super) struct TranscriptWriter {
    pub(super) session: String,
    pub(super) cwd: String,
    pub(super) agent: Option<&'static str>,
    branch: &'static str,
    version: &'static str,
    model: &'static str,
    slug: Option<&'static str>,
    lines: Vec<String>,
    last: Option<String>,
    at: i64,
    drawn: u64,
    context: u64,
    message: Option<String>,
}

impl TranscriptWriter {
    /// Begins a file at a moment in milliseconds.
    pub(super) fn new(
        session: &str,
        cwd: &str,
        branch: &'static str,
        version: &'static str,
        at: i64,
    ) -> TranscriptWriter {
        TranscriptWriter {
            session: session.to_owned(),
            cwd: cwd.to_owned(),
            agent: None,
            branch,
            version,
            model: "claude-sonnet-4-5",
            slug: None,
            lines: Vec::new(),
            last: None,
            at,
            drawn: session.bytes().fold(7, |sum, byte| sum * 31 % 1_000_003 + u64::from(byte)),
            context: 11_000,
            message: None,
        }
    }

    /// Lets another model answer.
    pub(super) fn model(mut self, model: &'static str) -> TranscriptWriter {
        self.model = model;
        self
    }

    /// Names the plan that the session belongs to.
    pub(super) fn slug(mut self, slug: &'static str) -> TranscriptWriter {
        self.slug = Some(slug);
        self
    }

    /// Begins the file of a subagent of this session, at the present moment of this one.
    pub(super) fn agent(&self, agent: &'static str) -> TranscriptWriter {
        let pen = TranscriptWriter::new(&self.session, &self.cwd, self.branch, self.version, self.at);
        TranscriptWriter { agent: Some(agent), model: "claude-haiku-4-5", drawn: self.drawn + 5003, ..pen }
    }

    /// Returns the file.
    pub(super) fn text(&self) -> String {
        self.lines.concat()
    }

    /// Returns the present moment of the tale.
    pub(super) fn now(&self) -> i64 {
        self.at
    }

    /// Lets time pass.
    pub(super) fn wait(&mut self, millis: i64) {
        self.at += millis;
    }

    /// Returns the entry that the next line will hang on.
    pub(super) fn tip(&self) -> Option<String> {
        self.last.clone()
    }

    /// Goes back: the next line will hang on an earlier entry.
    pub(super) fn back(&mut self, tip: Option<String>) {
        self.last = tip;
    }

    /// Draws digits that look random and are the same on every run.
    fn digits(&mut self) -> u128 {
        let mut half = || {
            self.drawn = self.drawn.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = self.drawn;
            mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            u128::from(mixed ^ mixed >> 31)
        };
        half() << 64 | half()
    }

    fn uuid(&mut self) -> String {
        let hex = format!("{:032x}", self.digits());
        format!("{}-{}-4{}-9{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
    }

    fn id(&mut self, kind: &str) -> String {
        format!("{kind}_01{:022x}", self.digits() >> 40)
    }

    /// Writes a line outside the tree.
    pub(super) fn state(&mut self, line: Value) {
        let mut line = line;
        line["sessionId"] = json!(self.session);
        self.lines.push(format!("{line}\n"));
    }

    /// Writes a line of the tree, 0.4 s after the one before; returns its uuid.
    fn entry(&mut self, kind: &str, fields: Value) -> String {
        self.at += 400;
        let uuid = self.uuid();
        let mut line = Map::new();
        line.insert("parentUuid".into(), json!(self.last));
        line.insert("isSidechain".into(), json!(self.agent.is_some()));
        line.extend(self.agent.map(|agent| ("agentId".to_owned(), json!(agent))));
        line.insert("userType".into(), json!("external"));
        line.insert("cwd".into(), json!(self.cwd));
        line.insert("sessionId".into(), json!(self.session));
        line.insert("version".into(), json!(self.version));
        line.insert("gitBranch".into(), json!(self.branch));
        line.extend(self.slug.map(|slug| ("slug".to_owned(), json!(slug))));
        line.insert("type".into(), json!(kind));
        line.extend(fields.as_object().cloned().into_iter().flatten());
        line.insert("uuid".into(), json!(uuid));
        let stamp = jiff::Timestamp::from_millisecond(self.at).unwrap_or_default();
        line.insert("timestamp".into(), json!(format!("{stamp:.3}")));
        self.lines.push(format!("{}\n", Value::Object(line)));
        self.last = Some(uuid.clone());
        uuid
    }

    /// Writes words in the user's name.
    pub(super) fn user(&mut self, content: Value, fields: Value) -> String {
        self.message = None;
        let mut line = fields;
        line["message"] = json!({"role": "user", "content": content});
        self.entry("user", line)
    }

    /// Writes a prompt.
    pub(super) fn prompt(&mut self, text: &str) {
        self.user(json!(text), json!({}));
    }

    /// Writes a block of the present response, on a line of its own.
    fn block(&mut self, block: Value, words: usize) -> String {
        self.at += 900 + words as i64 * 35;
        let message = match self.message.take() {
            Some(message) => message,
            None => {
                self.context += 640;
                self.id("msg")
            }
        };
        let usage = json!({
            "input_tokens": 6, "output_tokens": 40 + words, "service_tier": "standard",
            "cache_creation_input_tokens": 640, "cache_read_input_tokens": self.context,
        });
        let request = message.replacen("msg", "req", 1);
        let stop = match block["type"].as_str() {
            Some("tool_use") => Some("tool_use"),
            Some("text") => Some("end_turn"),
            _ => None,
        };
        let body = json!({
            "id": message, "type": "message", "role": "assistant", "model": self.model, "content": [block],
            "stop_reason": stop, "stop_sequence": null, "usage": usage,
        });
        self.message = Some(message);
        self.entry("assistant", json!({"message": body, "requestId": request}))
    }

    /// Writes words of the model.
    pub(super) fn say(&mut self, text: &str) {
        let words = text.split_whitespace().count();
        self.block(json!({"type": "text", "text": text}), words);
    }

    /// Writes its thoughts.
    pub(super) fn think(&mut self, text: &str) {
        let words = text.split_whitespace().count();
        self.block(json!({"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}), words);
    }

    /// Writes a call; returns its id.
    pub(super) fn call(&mut self, tool: &str, input: Value) -> String {
        let id = self.id("toolu");
        self.block(json!({"type": "tool_use", "id": id, "name": tool, "input": input}), 30);
        id
    }

    /// Writes the result of a call that took some milliseconds.
    pub(super) fn result(&mut self, call: &str, millis: i64, text: &str) {
        self.answer(call, millis, text, false, json!({}));
    }

    /// Writes the result of a call that failed.
    pub(super) fn error(&mut self, call: &str, millis: i64, text: &str) {
        self.answer(call, millis, text, true, json!({}));
    }

    /// Writes a result with what the client adds to it.
    pub(super) fn answer(&mut self, call: &str, millis: i64, text: &str, is_error: bool, extra: Value) {
        self.at += millis;
        let mut block = json!({"tool_use_id": call, "type": "tool_result", "content": text});
        if is_error {
            block["is_error"] = json!(true);
        }
        self.user(json!([block]), json!({"toolUseResult": extra}));
    }

    /// Writes a call and its result.
    pub(super) fn does(&mut self, tool: &str, input: Value, millis: i64, text: &str) {
        let call = self.call(tool, input);
        self.result(&call, millis, text);
    }

    /// Writes a system line.
    pub(super) fn system(&mut self, subtype: &str, fields: Value) {
        let mut line = fields;
        line["subtype"] = json!(subtype);
        line["isMeta"] = json!(false);
        self.entry("system", line);
    }

    /// Compacts: a boundary without a parent, then the summary below it.
    pub(super) fn compact(&mut self, trigger: &str, summary: &str) {
        let before = self.last.take();
        let meta = json!({"trigger": trigger, "preTokens": self.context + 120_000, "postTokens": 3_100});
        self.system("compact_boundary", json!({
            "content": "Conversation compacted", "level": "info", "logicalParentUuid": before, "compactMetadata": meta,
        }));
        self.context = 9_000;
        let text = format!(
            "This session is being continued from a previous conversation that ran out of context. \
             The summary below covers the earlier portion of the conversation.\n\n{summary}"
        );
        self.user(json!(text), json!({"isCompactSummary": true, "isVisibleInTranscriptOnly": true}));
    }
}
