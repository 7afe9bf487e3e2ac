//! Writes lines as a client would: each entry links to the previous one, times increase, tokens accumulate.
#![expect(clippy::needless_pass_by_value, reason = "callers pass temporaries")]

use serde_json::{Map, Value, json};

/// Builds the lines of one session file or subagent file.
pub(super) struct TranscriptWriter {
    /// The session id.
    pub(super) session: String,
    /// The working directory.
    pub(super) cwd: String,
    /// The subagent id. `None` for the file of the session itself.
    pub(super) agent: Option<&'static str>,
    branch: &'static str,
    version: &'static str,
    model: &'static str,
    slug: Option<&'static str>,
    lines: Vec<String>,
    /// The uuid of the last entry, which is the parent of the next one.
    last: Option<String>,
    /// The current time of the session, in milliseconds.
    at: i64,
    /// The state of the random number generator.
    seed: u64,
    /// The number of tokens in the context.
    context: u64,
    /// The id of the response that the next block belongs to.
    message: Option<String>,
}

impl TranscriptWriter {
    /// Creates an empty file. `branch` is the git branch, `version` the client version, `at` the start in milliseconds.
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
            seed: session.bytes().fold(7, |sum, byte| sum * 31 % 1_000_003 + u64::from(byte)),
            context: 11_000,
            message: None,
        }
    }

    /// Sets the model of the responses.
    pub(super) fn model(mut self, model: &'static str) -> TranscriptWriter {
        self.model = model;
        self
    }

    /// Sets the slug, which links sessions of the same plan.
    pub(super) fn slug(mut self, slug: &'static str) -> TranscriptWriter {
        self.slug = Some(slug);
        self
    }

    /// Creates the file of a subagent of this session, starting at the current time of the session.
    pub(super) fn agent(&self, agent: &'static str) -> TranscriptWriter {
        let transcript = TranscriptWriter::new(&self.session, &self.cwd, self.branch, self.version, self.at);
        TranscriptWriter {
            agent: Some(agent),
            model: "claude-haiku-4-5",
            seed: self.seed + 5003,
            ..transcript
        }
    }

    /// Returns all lines of the file.
    pub(super) fn text(&self) -> String {
        self.lines.concat()
    }

    /// Returns the current time of the session, in milliseconds.
    pub(super) fn now(&self) -> i64 {
        self.at
    }

    /// Advances the current time of the session.
    pub(super) fn wait(&mut self, millis: i64) {
        self.at += millis;
    }

    /// Returns the uuid of the entry that will be the parent of the next one.
    pub(super) fn tip(&self) -> Option<String> {
        self.last.clone()
    }

    /// Makes an earlier entry the parent of the next one. `tip` is its uuid.
    pub(super) fn rewind_to(&mut self, tip: Option<String>) {
        self.last = tip;
    }

    /// Returns pseudorandom bits, the same on every run (SplitMix64).
    fn next_random(&mut self) -> u128 {
        let mut half = || {
            self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = self.seed;
            mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            u128::from(mixed ^ mixed >> 31)
        };
        half() << 64 | half()
    }

    fn next_uuid(&mut self) -> String {
        let hex = format!("{:032x}", self.next_random());
        format!("{}-{}-4{}-9{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
    }

    fn next_id(&mut self, prefix: &str) -> String {
        format!("{prefix}_01{:022x}", self.next_random() >> 40)
    }

    /// Writes a line without a uuid, which is not part of the tree.
    pub(super) fn state(&mut self, line: Value) {
        let mut line = line;
        line["sessionId"] = json!(self.session);
        self.lines.push(format!("{line}\n"));
    }

    /// Writes an entry of the type `kind` 0.4 s after the previous one. Returns its uuid.
    fn entry(&mut self, kind: &str, fields: Value) -> String {
        self.at += 400;
        let uuid = self.next_uuid();
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
        let timestamp = jiff::Timestamp::from_millisecond(self.at).unwrap_or_default();
        line.insert("timestamp".into(), json!(format!("{timestamp:.3}")));
        self.lines.push(format!("{}\n", Value::Object(line)));
        self.last = Some(uuid.clone());
        uuid
    }

    /// Writes a user entry with further `fields`, which ends the current response. Returns its uuid.
    pub(super) fn user(&mut self, content: Value, fields: Value) -> String {
        self.message = None;
        let mut line = fields;
        line["message"] = json!({"role": "user", "content": content});
        self.entry("user", line)
    }

    /// Writes a prompt of the user.
    pub(super) fn prompt(&mut self, text: &str) {
        self.user(json!(text), json!({}));
    }

    /// Writes a block of the current response as an entry. Returns its uuid. Time and tokens grow with `word_count`.
    fn block(&mut self, block: Value, word_count: usize) -> String {
        self.at += 900 + word_count as i64 * 35;
        let message = match self.message.take() {
            Some(message) => message,
            None => {
                self.context += 640;
                self.next_id("msg")
            }
        };
        let usage = json!({
            "input_tokens": 6, "output_tokens": 40 + word_count, "service_tier": "standard",
            "cache_creation_input_tokens": 640, "cache_read_input_tokens": self.context,
        });
        let request_id = message.replacen("msg", "req", 1);
        let stop_reason = match block["type"].as_str() {
            Some("tool_use") => Some("tool_use"),
            Some("text") => Some("end_turn"),
            _ => None,
        };
        let body = json!({
            "id": message, "type": "message", "role": "assistant", "model": self.model, "content": [block],
            "stop_reason": stop_reason, "stop_sequence": null, "usage": usage,
        });
        self.message = Some(message);
        self.entry("assistant", json!({"message": body, "requestId": request_id}))
    }

    /// Writes a text block of the assistant.
    pub(super) fn say(&mut self, text: &str) {
        let word_count = text.split_whitespace().count();
        self.block(json!({"type": "text", "text": text}), word_count);
    }

    /// Writes a thinking block of the assistant.
    pub(super) fn think(&mut self, text: &str) {
        let word_count = text.split_whitespace().count();
        self.block(json!({"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}), word_count);
    }

    /// Writes a tool call. Returns its tool use id.
    pub(super) fn call(&mut self, tool: &str, input: Value) -> String {
        let id = self.next_id("toolu");
        self.block(json!({"type": "tool_use", "id": id, "name": tool, "input": input}), 30);
        id
    }

    /// Writes the result of the tool call with the id `call`, `millis` after the previous entry.
    pub(super) fn result(&mut self, call: &str, millis: i64, text: &str) {
        self.answer(call, millis, text, false, json!({}));
    }

    /// Writes the error result of the tool call with the id `call`, `millis` after the previous entry.
    pub(super) fn error(&mut self, call: &str, millis: i64, text: &str) {
        self.answer(call, millis, text, true, json!({}));
    }

    /// Writes the result of the tool call with the id `call`. `extra` becomes `toolUseResult`.
    pub(super) fn answer(&mut self, call: &str, millis: i64, text: &str, is_error: bool, extra: Value) {
        self.at += millis;
        let mut block = json!({"tool_use_id": call, "type": "tool_result", "content": text});
        if is_error {
            block["is_error"] = json!(true);
        }
        self.user(json!([block]), json!({"toolUseResult": extra}));
    }

    /// Writes a tool call, and its result `millis` later.
    pub(super) fn call_with_result(&mut self, tool: &str, input: Value, millis: i64, text: &str) {
        let call = self.call(tool, input);
        self.result(&call, millis, text);
    }

    /// Writes a system entry with further `fields`.
    pub(super) fn system(&mut self, subtype: &str, fields: Value) {
        let mut line = fields;
        line["subtype"] = json!(subtype);
        line["isMeta"] = json!(false);
        self.entry("system", line);
    }

    /// Writes a compaction: a boundary without a parent, then its child, the summary.
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
