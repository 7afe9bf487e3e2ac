//! Writes a store of one shape and size, to measure how the cost of a command grows.
//!
//!     cargo run -p rethread-testkit --example growth -- FOLDER SHAPE SIZE
//!     cargo run -p rethread-testkit --example growth            # the names of the shapes
//!
//! `docs/bench/growth/run` uses it. SIZE is the number of the parts that give the shape its name, such as forks.
#![expect(clippy::print_stdout, reason = "prints the names of the shapes for the script that runs it")]
#![expect(clippy::needless_pass_by_value, reason = "values of `json!` are made where they are passed")]
#![expect(clippy::disallowed_methods, reason = "it writes a new store into the folder of its argument")]

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// Writes the sessions of a shape with a number of parts.
type Generate = fn(&mut StoreWriter, usize) -> Result<(), Error>;

/// The shapes, by name.
const SHAPES: &[(&str, Generate)] = &[
    ("deep-chain", |store, size| store.write_session(|session| session.add_turns(size))),
    ("wide-fork", |store, size| store.write_session(|session| session.add_wide_fork(size))),
    ("edited-prompt", |store, size| store.write_session(|session| session.add_edited_prompt(size))),
    ("retried-answer", |store, size| store.write_session(|session| session.add_retried_answer(size))),
    ("forks-in-a-row", |store, size| store.write_session(|session| session.add_forks_in_a_row(size))),
    ("many-roots", |store, size| store.write_session(|session| session.add_roots(size))),
    ("compactions", |store, size| store.write_session(|session| session.add_compactions(size, false))),
    ("preserving-compactions", |store, size| {
        store.write_session(|session| session.add_compactions(size, true))
    }),
    ("subagents", StoreWriter::write_subagents),
    ("parallel-calls", |store, size| store.write_session(|session| session.add_parallel_calls(size))),
    ("calls-in-one-line", |store, size| store.write_session(|session| session.add_calls_in_one_line(size))),
    ("tool-names", |store, size| store.write_session(|session| session.add_tool_names(size))),
    ("reads-of-one-file", |store, size| store.write_session(|session| session.add_reads_of_one_file(size))),
    ("repeated-uuids", |store, size| store.write_session(|session| session.add_repeated_uuids(size))),
    ("one-uuid", |store, size| store.write_session(|session| session.add_one_uuid(size))),
    ("cycles", |store, size| store.write_session(|session| session.add_cycles(size))),
    ("one-cycle", |store, size| store.write_session(|session| session.add_one_cycle(size))),
    ("children-first", |store, size| store.write_session(|session| session.add_children_first(size))),
    ("sidechains", |store, size| store.write_session(|session| session.add_sidechains(size))),
    ("orphans", |store, size| store.write_session(|session| session.add_orphans(size))),
    ("progress-lines", |store, size| store.write_session(|session| session.add_progress_lines(size))),
    ("attachments", |store, size| store.write_session(|session| session.add_attachments(size))),
    ("commands", |store, size| store.write_session(|session| session.add_commands(size))),
    ("links", |store, size| store.write_session(|session| session.add_links(size))),
    ("summaries", |store, size| store.write_session(|session| session.add_summaries(size))),
    ("resume-markers", |store, size| store.write_session(|session| session.add_resume_markers(size))),
    ("models", |store, size| store.write_session(|session| session.add_models(size))),
    ("shrinking-context", |store, size| store.write_session(|session| session.add_shrinking_context(size))),
    ("damaged-lines", |store, size| store.write_session(|session| session.add_damaged_lines(size))),
    ("long-lines", |store, size| store.write_session(|session| session.add_long_line(size))),
    ("blocks-in-one-line", |store, size| store.write_session(|session| session.add_blocks_in_one_line(size))),
    ("files", |store, size| store.write_sessions(size, |_| "-work".to_owned())),
    ("folders", |store, size| store.write_sessions(size, |idx| format!("-work-{idx}"))),
];

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, shape, size] = &args[..] else {
        SHAPES.iter().for_each(|(name, _)| println!("{name}"));
        return Ok(());
    };
    let invalid = |message: String| Error::new(ErrorKind::InvalidInput, message);
    let size: usize = size.parse().map_err(|error| invalid(format!("`{size}`: {error}")))?;
    let shape = SHAPES.iter().find(|(name, _)| name == shape);
    let (_, generate) = shape.ok_or_else(|| invalid("no such shape".to_owned()))?;
    generate(&mut StoreWriter { projects: PathBuf::from(folder).join("projects") }, size)
}

/// Writes sessions into a folder of projects.
struct StoreWriter {
    projects: PathBuf,
}

impl StoreWriter {
    /// Writes a store with one session.
    fn write_session(&self, add_lines: impl FnOnce(&mut SessionLines)) -> Result<(), Error> {
        let mut session = SessionLines::new(0);
        add_lines(&mut session);
        write(&self.projects.join("-work").join(session.file_name()), session.text.as_bytes())
    }

    /// Writes short sessions into the folders that `folder_of` returns.
    fn write_sessions(&self, size: usize, folder_of: impl Fn(usize) -> String) -> Result<(), Error> {
        for idx in 0..size {
            let mut session = SessionLines::new(idx);
            session.add_turns(4);
            write(&self.projects.join(folder_of(idx)).join(session.file_name()), session.text.as_bytes())?;
        }
        Ok(())
    }

    /// Writes a session that starts a subagent in each turn.
    fn write_subagents(&mut self, size: usize) -> Result<(), Error> {
        let mut session = SessionLines::new(0);
        let folder = self.projects.join("-work").join(&session.session).join("subagents");
        for idx in 0..size {
            session.add_prompt(&format!("start agent {idx}"));
            let agent = format!("a{idx:015x}");
            let call = format!("toolu_{idx}");
            let input = json!({"description": "look", "prompt": format!("look at {idx}"), "subagent_type": "Explore"});
            session.add_answer(json!([{"type": "tool_use", "id": call, "name": "Task", "input": input}]));
            session.add_user(
                json!([{"type": "tool_result", "tool_use_id": call, "content": "done"}]),
                json!({"toolUseResult": {"agentId": agent, "status": "completed"}}),
            );
            session.add_text_answer("the agent is done");
            let mut lines = SessionLines::new(1 + idx);
            lines.session.clone_from(&session.session);
            lines.fields = json!({"isSidechain": true, "agentId": agent});
            lines.add_prompt(&format!("look at {idx}"));
            lines.add_text_answer("I looked");
            write(&folder.join(format!("agent-{agent}.jsonl")), lines.text.as_bytes())?;
        }
        write(&self.projects.join("-work").join(session.file_name()), session.text.as_bytes())
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, bytes)
}

/// The lines of a session. Each new entry is a child of `parent` and becomes the parent of the next one.
struct SessionLines {
    text: String,
    session: String,
    /// Distinguishes the uuids of sessions.
    session_idx: usize,
    parent: Option<String>,
    /// Further fields of every line.
    fields: Value,
    entry_count: usize,
    seconds: usize,
    model: String,
    context: usize,
}

impl SessionLines {
    fn new(session_idx: usize) -> SessionLines {
        SessionLines {
            text: String::new(),
            session: format!("{session_idx:08x}-5e55-4000-8000-000000000000"),
            session_idx,
            parent: None,
            fields: json!({}),
            entry_count: 0,
            seconds: 0,
            model: "claude-sonnet-4-5".to_owned(),
            context: 1000,
        }
    }

    fn file_name(&self) -> String {
        format!("{}.jsonl", self.session)
    }

    fn uuid(&self, entry: usize) -> String {
        // Real uuids are spread evenly.
        let bits = (entry as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let (high, low) = (bits >> 32, bits & 0xffff_ffff);
        format!("{high:08x}-0000-4000-8000-{:04x}{low:08x}", self.session_idx)
    }

    fn next_uuid(&mut self) -> String {
        self.entry_count += 1;
        self.uuid(self.entry_count)
    }

    fn push_line(&mut self, line: &Value) {
        self.text.push_str(&line.to_string());
        self.text.push('\n');
    }

    /// Adds a line with a uuid, and `own` and the shared fields. Returns its uuid.
    fn add_entry(&mut self, own: Value) -> String {
        let uuid = self.next_uuid();
        self.seconds += 7;
        let seconds = self.seconds;
        let days = seconds / 86_400;
        let mut line = json!({
            "parentUuid": self.parent, "isSidechain": false, "userType": "external", "cwd": "/work",
            "sessionId": self.session, "version": "2.1.325", "gitBranch": "main", "uuid": uuid,
            "timestamp": format!(
                "2026-{:02}-{:02}T{:02}:{:02}:{:02}.000Z",
                1 + days / 28 % 12, 1 + days % 28, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60
            ),
        });
        merge(&mut line, self.fields.clone());
        merge(&mut line, own);
        self.push_line(&line);
        self.parent = Some(uuid.clone());
        uuid
    }

    fn add_user(&mut self, content: Value, own: Value) -> String {
        let mut line = json!({"type": "user", "message": {"role": "user", "content": content}});
        merge(&mut line, own);
        self.add_entry(line)
    }

    fn add_prompt(&mut self, text: &str) -> String {
        self.add_user(json!(text), json!({}))
    }

    fn add_answer(&mut self, content: Value) -> String {
        let message = format!("msg_{}_{}", self.session_idx, self.entry_count);
        self.add_line_of_answer(&message, content)
    }

    fn add_line_of_answer(&mut self, message: &str, content: Value) -> String {
        self.context += 50;
        let usage = json!({"input_tokens": 3, "cache_read_input_tokens": self.context, "output_tokens": 20});
        let message = json!({
            "id": message, "type": "message", "role": "assistant", "model": self.model, "content": content,
            "stop_reason": "end_turn", "usage": usage,
        });
        self.add_entry(json!({"type": "assistant", "message": message, "requestId": "req_1"}))
    }

    fn add_text_answer(&mut self, text: &str) -> String {
        self.add_answer(json!([{"type": "text", "text": text}]))
    }

    fn add_turn(&mut self, idx: usize) {
        self.add_prompt(&format!("please look at the config number {idx} and tell me what it does"));
        self.add_text_answer(&format!(
            "It sets the limit of worker {idx} to a value that the docs recommend."
        ));
    }

    fn add_turns(&mut self, size: usize) {
        (0..size).for_each(|idx| self.add_turn(idx));
    }

    fn add_call(&mut self, idx: usize, name: &str, input: Value) {
        let call = format!("toolu_{idx}");
        self.add_answer(json!([{"type": "tool_use", "id": call, "name": name, "input": input}]));
        self.add_result(idx);
    }

    fn add_result(&mut self, idx: usize) {
        let content = format!("line {idx} of the result of a tool\\nand another one");
        self.add_user(
            json!([{"type": "tool_result", "tool_use_id": format!("toolu_{idx}"), "content": content}]),
            json!({"toolUseResult": {"stdout": content}}),
        );
    }

    fn add_wide_fork(&mut self, size: usize) {
        self.add_turns(1);
        let fork = self.parent.clone();
        for idx in 0..size {
            self.parent.clone_from(&fork);
            self.add_turn(idx);
        }
    }

    fn add_edited_prompt(&mut self, size: usize) {
        for idx in 0..size {
            self.parent = None;
            self.add_turn(idx);
        }
        self.add_turns(2);
    }

    fn add_retried_answer(&mut self, size: usize) {
        let prompt = self.add_prompt("roll a die");
        for idx in 0..size {
            self.parent = Some(prompt.clone());
            self.add_text_answer(&format!("it is {idx}"));
        }
    }

    fn add_forks_in_a_row(&mut self, size: usize) {
        for idx in 0..size {
            let fork = self.parent.clone();
            self.add_turn(idx);
            self.parent = fork;
            self.add_turn(idx + size);
        }
    }

    fn add_roots(&mut self, size: usize) {
        for idx in 0..size {
            self.parent = None;
            self.add_turn(idx);
            self.add_turn(idx + size);
        }
    }

    fn add_compactions(&mut self, size: usize, preserves: bool) {
        for idx in 0..size {
            self.add_turns(2);
            let head = self.add_prompt(&format!("and number {idx}?"));
            let tail = self.add_text_answer("the same");
            self.parent = None;
            let anchor = if preserves { self.uuid(self.entry_count + 2) } else { String::new() };
            let mut metadata = json!({"trigger": "auto", "preTokens": 150_000});
            if preserves {
                let segment = json!({"headUuid": head, "anchorUuid": anchor, "tailUuid": tail});
                merge(&mut metadata, json!({"preservedSegment": segment}));
            }
            self.add_entry(json!({
                "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
                "logicalParentUuid": tail, "compactMetadata": metadata, "isMeta": false,
            }));
            self.add_user(
                json!(format!("This session is being continued from a previous conversation. Part {idx}.")),
                json!({"isCompactSummary": true, "isVisibleInTranscriptOnly": true}),
            );
            self.context = 1000;
        }
        self.add_turns(2);
    }

    /// Adds a response with one line for each call. The result of each call is a child of its line.
    fn add_parallel_calls(&mut self, size: usize) {
        self.add_prompt("do all of it");
        let mut calls = Vec::new();
        for idx in 0..size {
            let call = json!({"type": "tool_use", "id": format!("toolu_{idx}"), "name": "Bash", "input": {"command": "ls"}});
            calls.push(self.add_line_of_answer("msg_all", json!([call])));
        }
        for (idx, call) in calls.into_iter().enumerate() {
            self.parent = Some(call);
            self.add_result(idx);
        }
        self.add_text_answer("all done");
    }

    fn add_calls_in_one_line(&mut self, size: usize) {
        self.add_prompt("do all of it");
        let call = |idx| json!({"type": "tool_use", "id": format!("toolu_{idx}"), "name": "Bash", "input": {"command": "ls"}});
        self.add_answer((0..size).map(call).collect());
        (0..size).for_each(|idx| self.add_result(idx));
        self.add_text_answer("all done");
    }

    fn add_tool_names(&mut self, size: usize) {
        self.add_prompt("use all tools");
        (0..size).for_each(|idx| self.add_call(idx, &format!("mcp__server__tool_{idx}"), json!({"a": idx})));
    }

    fn add_reads_of_one_file(&mut self, size: usize) {
        self.add_prompt("read it");
        for idx in 0..size {
            self.add_call(
                idx,
                "Read",
                json!({"file_path": "/home/ann/a.rs", "offset": idx * 10, "limit": 10}),
            );
        }
        self.add_text_answer("I have read it");
    }

    fn add_repeated_uuids(&mut self, size: usize) {
        for _ in 0..4 {
            (self.entry_count, self.parent) = (0, None);
            self.add_turns(size);
        }
    }

    fn add_one_uuid(&mut self, size: usize) {
        for idx in 0..size {
            (self.entry_count, self.parent) = (0, None);
            self.add_prompt(&format!("again {idx}"));
        }
    }

    fn add_cycles(&mut self, size: usize) {
        for idx in 0..size {
            self.parent = Some(self.uuid(self.entry_count + 2));
            self.add_turn(idx);
        }
        self.parent = None;
        self.add_turns(2);
    }

    fn add_one_cycle(&mut self, size: usize) {
        self.parent = Some(self.uuid(2 * size));
        self.add_turns(size);
    }

    fn add_children_first(&mut self, size: usize) {
        self.add_turns(size);
        let reversed: Vec<&str> = self.text.lines().rev().collect();
        self.text = reversed.join("\n") + "\n";
    }

    fn add_sidechains(&mut self, size: usize) {
        for idx in 0..size {
            self.add_turn(idx);
            let parent = self.parent.take();
            self.fields = json!({"isSidechain": true});
            self.add_turn(idx);
            self.fields = json!({});
            self.parent = parent;
        }
    }

    fn add_orphans(&mut self, size: usize) {
        for idx in 0..size {
            self.parent = Some(format!("{idx:08x}-dead-4000-8000-000000000000"));
            self.add_turn(idx);
        }
    }

    fn add_progress_lines(&mut self, size: usize) {
        self.add_prompt("watch it");
        for idx in 0..size {
            let data = json!({"type": "bash_progress", "output": format!("{idx} %")});
            self.add_entry(json!({"type": "progress", "data": data, "toolUseID": "toolu_1"}));
        }
        self.add_text_answer("it is done");
    }

    fn add_attachments(&mut self, size: usize) {
        self.add_prompt("start");
        for idx in 0..size {
            let attachment = json!({"type": "queued_command", "prompt": format!("and then number {idx}")});
            self.add_entry(json!({"type": "attachment", "attachment": attachment}));
        }
        self.add_text_answer("done");
    }

    fn add_commands(&mut self, size: usize) {
        self.add_turns(1);
        for idx in 0..size {
            self.add_prompt(&format!(
                "<command-name>/cost</command-name>\n<command-message>cost</command-message>\n<command-args>{idx}</command-args>"
            ));
            self.add_prompt(&format!("<local-command-stdout>total {idx}</local-command-stdout>"));
        }
    }

    fn add_links(&mut self, size: usize) {
        for idx in 0..size {
            self.add_prompt(&format!(
                "see https://example.com/owner/repo/pull/{idx} and <b>[{idx}](x_{idx})</b> `a*{idx}*`"
            ));
            self.add_text_answer(&format!(
                "- [link {idx}](https://example.com/{idx}) **bold** _{idx}_ | a | b |\n```\n{idx}\n```"
            ));
            let link = json!({
                "type": "pr-link", "sessionId": self.session, "prNumber": idx, "prRepository": "owner/repo",
                "prUrl": format!("https://example.com/owner/repo/pull/{idx}"), "timestamp": "2026-01-01T00:00:00.000Z",
            });
            self.push_line(&link);
        }
    }

    fn add_summaries(&mut self, size: usize) {
        self.add_turns(size);
        for idx in 0..size {
            let leaf = self.uuid(2 * idx + 2);
            self.push_line(
                &json!({"type": "summary", "summary": format!("summary {idx}"), "leafUuid": leaf}),
            );
            let title = json!({"type": "custom-title", "customTitle": format!("title {idx}"), "sessionId": self.session});
            self.push_line(&title);
        }
    }

    /// Adds what `goto` writes, again and again.
    fn add_resume_markers(&mut self, size: usize) {
        for idx in 0..size {
            self.add_turn(idx);
            let leaf = self.parent.clone();
            self.add_turn(idx + size);
            self.parent.clone_from(&leaf);
            self.add_entry(json!({
                "type": "system", "subtype": "informational", "content": "rethread: the conversation continues here", "isMeta": true, "level": "info",
            }));
            let pointer = json!({
                "type": "last-prompt", "lastPrompt": "x", "leafUuid": leaf, "sessionId": self.session, "explicit": true,
            });
            self.push_line(&pointer);
            self.parent = leaf;
        }
    }

    fn add_models(&mut self, size: usize) {
        for idx in 0..size {
            self.model = format!("claude-{idx}");
            self.fields = json!({"version": format!("2.{}.{idx}", idx % 7), "gitBranch": format!("branch-{idx}"), "cwd": format!("/home/ann/{idx}")});
            self.add_turn(idx);
        }
    }

    /// Adds requests of which each second one is smaller than the one before it.
    fn add_shrinking_context(&mut self, size: usize) {
        for idx in 0..size {
            self.context = if idx.is_multiple_of(2) { 100_000 + idx } else { 90_000 };
            self.add_prompt(&format!("next {idx}"));
            self.add_answer(json!([
                {"type": "thinking", "thinking": format!("thinking about {idx}"), "signature": "abcd"},
                {"type": "text", "text": format!("this is {idx}")},
            ]));
            self.add_call(idx, "Bash", json!({"command": format!("ls {idx}")}));
        }
    }

    fn add_damaged_lines(&mut self, size: usize) {
        for idx in 0..size {
            self.add_turn(idx);
            if idx.is_multiple_of(2) {
                self.text.truncate(self.text.len() - 20);
                self.text.push('\n');
            }
        }
    }

    fn add_long_line(&mut self, size: usize) {
        let text: String = (0..size).map(|idx| format!("word{} of a long text\n", idx % 1000)).collect();
        self.add_prompt(&text);
        self.add_text_answer(&text);
    }

    fn add_blocks_in_one_line(&mut self, size: usize) {
        self.add_user(
            (0..size).map(|idx| json!({"type": "text", "text": format!("part {idx}")})).collect(),
            json!({}),
        );
        self.add_answer(
            (0..size).map(|idx| json!({"type": "text", "text": format!("answer {idx}")})).collect(),
        );
    }
}

/// Adds the members of the object `from` to the object `to`. A member that exists is replaced.
fn merge(to: &mut Value, from: Value) {
    if let (Value::Object(to), Value::Object(from)) = (to, from) {
        to.extend(from);
    }
}
