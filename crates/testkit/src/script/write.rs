//! Records into bytes, with the keys and the order that the client writes.

use serde_json::Value;

use super::name::uuid_of;
use super::record::{Part, Record, Role, Stamp};

/// Midnight of 2025-01-01 in seconds since 1970.
const START: i64 = 1_735_689_600;

/// Returns the file that holds these records, each line ended.
pub fn file(records: &[Record]) -> Vec<u8> {
    records.iter().flat_map(|record| line(record).into_bytes().into_iter().chain([b'\n'])).collect()
}

/// Returns the line of one record, without its end.
pub fn line(record: &Record) -> String {
    let mut out = Object::new();
    match &record.role {
        Role::Raw(bytes) => return bytes.clone(),
        Role::State(kind, words) => state(&mut out, record, kind, words),
        Role::User(parts) => {
            shared(&mut out, record);
            out.text("type", "user").raw("message", &user(record, parts));
            if record.meta {
                out.raw("isMeta", "true");
            }
            if record.recap {
                out.raw("isVisibleInTranscriptOnly", "true").raw("isCompactSummary", "true");
            }
            identity(&mut out, record);
            if let Some(Part::Result { words, error: false, .. }) = parts.first() {
                out.raw("toolUseResult", Object::new().text("stdout", words).text("stderr", "").close());
            }
        }
        Role::Assistant(parts) => {
            shared(&mut out, record);
            out.raw("message", &assistant(record, parts));
            out.text("requestId", &format!("req_{}", message_name(record))).text("type", "assistant");
            if record.api_error {
                out.raw("isApiErrorMessage", "true");
            }
            identity(&mut out, record);
        }
        Role::System(subtype, words) => system(&mut out, record, subtype, words),
        Role::Progress(kind, words) => {
            shared(&mut out, record);
            out.text("type", "progress");
            out.raw("data", Object::new().text("type", kind).text("output", words).close());
            let call = format!("toolu_{}", record.link.as_deref().unwrap_or(&record.name));
            out.text("toolUseID", &format!("run_{}", record.name)).text("parentToolUseID", &call);
            identity(&mut out, record);
        }
        Role::Attachment(kind, words) => {
            shared(&mut out, record);
            let mut body = Object::new();
            body.text("type", kind);
            if kind == "queued_command" {
                body.text("prompt", words).text("commandMode", "prompt");
            } else {
                body.text("content", words);
            }
            out.raw("attachment", body.close()).text("type", "attachment");
            identity(&mut out, record);
        }
    }
    for (key, value) in &record.extra {
        out.raw(key, value);
    }
    out.close().to_owned()
}

fn shared(out: &mut Object, record: &Record) {
    out.id("parentUuid", record.parent.as_deref());
    if matches!(&record.role, Role::System(subtype, _) if subtype == "compact_boundary") {
        out.id("logicalParentUuid", record.link.as_deref());
    }
    out.raw("isSidechain", if record.side { "true" } else { "false" });
    out.text("userType", "external").text("cwd", &record.setting.cwd);
    out.id("sessionId", Some(&record.setting.session));
    out.text("version", &record.setting.version).text("gitBranch", &record.setting.branch);
}

fn identity(out: &mut Object, record: &Record) {
    out.id("uuid", Some(&record.name));
    stamp(out, record);
}

fn stamp(out: &mut Object, record: &Record) {
    match &record.stamp {
        Stamp::Second(second) => {
            let moment = jiff::Timestamp::from_second(START + second).unwrap_or(jiff::Timestamp::MAX);
            out.text("timestamp", &format!("{moment:.3}"));
        }
        Stamp::Text(text) => {
            out.text("timestamp", text);
        }
        Stamp::None => {}
    }
}

fn state(out: &mut Object, record: &Record, kind: &str, words: &str) {
    out.text("type", kind);
    let session = Some(record.setting.session.as_str());
    let link = record.link.as_deref();
    match kind {
        "summary" => {
            out.text("summary", words).id("leafUuid", link);
        }
        "custom-title" => {
            out.text("customTitle", words).id("sessionId", session);
        }
        "ai-title" => {
            out.text("aiTitle", words).id("sessionId", session);
        }
        "agent-name" => {
            out.text("agentName", words).id("sessionId", session);
        }
        "last-prompt" => {
            out.text("lastPrompt", words);
            if link.is_some() {
                out.id("leafUuid", link);
            }
            out.id("sessionId", session);
        }
        "file-history-snapshot" => {
            let mut files = Object::new();
            for path in words.split_whitespace() {
                let name = format!("{}@v1", path.replace('/', "-"));
                files.raw(path, Object::new().text("backupFileName", &name).raw("version", "1").close());
            }
            let mut snapshot = Object::new();
            snapshot.id("messageId", link).raw("trackedFileBackups", files.close());
            stamp(&mut snapshot, record);
            out.id("messageId", link).raw("snapshot", snapshot.close());
            out.raw("isSnapshotUpdate", if record.update { "true" } else { "false" });
        }
        "mode" | "permission-mode" => {
            out.text(if kind == "mode" { "mode" } else { "permissionMode" }, words).id("sessionId", session);
        }
        "queue-operation" => {
            let (operation, content) = words.split_once(' ').unwrap_or((words, ""));
            out.text("operation", operation);
            stamp(out, record);
            out.id("sessionId", session).text("content", content);
        }
        _ => {
            out.text("content", words).id("sessionId", session);
        }
    }
}

fn system(out: &mut Object, record: &Record, subtype: &str, words: &str) {
    shared(out, record);
    out.text("type", "system").text("subtype", subtype);
    match subtype {
        "turn_duration" => {
            out.raw("durationMs", if words.is_empty() { "0" } else { words });
        }
        "compact_boundary" => {
            out.text("content", if words.is_empty() { "Conversation compacted" } else { words });
        }
        _ => {
            out.text("content", words);
        }
    }
    out.raw("isMeta", if record.meta { "true" } else { "false" });
    identity(out, record);
    if subtype != "turn_duration" {
        out.text("level", "info");
    }
    if subtype == "compact_boundary" {
        out.raw("compactMetadata", Object::new().text("trigger", "manual").raw("preTokens", "1000").close());
    }
}

fn message_name(record: &Record) -> &str {
    record.message.as_deref().unwrap_or(&record.name)
}

fn user(record: &Record, parts: &[Part]) -> String {
    let mut message = Object::new();
    message.text("role", "user");
    match parts {
        [] => message.text("content", ""),
        [Part::Words(words)] => message.text("content", words),
        _ => message.raw("content", &blocks(record, parts)),
    };
    message.close().to_owned()
}

fn assistant(record: &Record, parts: &[Part]) -> String {
    let [input, output, write, read] = record.usage;
    let calls = parts.iter().any(|part| matches!(part, Part::Call(..)));
    let mut usage = Object::new();
    usage.raw("input_tokens", &input.to_string());
    usage.raw("cache_creation_input_tokens", &write.to_string());
    usage.raw("cache_read_input_tokens", &read.to_string());
    usage.raw("output_tokens", &output.to_string()).text("service_tier", "standard");
    let mut message = Object::new();
    message.text("model", &record.model).text("id", &format!("msg_{}", message_name(record)));
    message.text("type", "message").text("role", "assistant").raw("content", &blocks(record, parts));
    message.text("stop_reason", if calls { "tool_use" } else { "end_turn" }).raw("stop_sequence", "null");
    message.raw("usage", usage.close());
    message.close().to_owned()
}

fn blocks(record: &Record, parts: &[Part]) -> String {
    let mut calls = 0;
    let blocks: Vec<String> = parts
        .iter()
        .map(|part| {
            let mut block = Object::new();
            match part {
                Part::Words(words) => block.text("type", "text").text("text", words),
                Part::Thinking(words) => {
                    block.text("type", "thinking").text("thinking", words).text("signature", "c2lnbmVk")
                }
                Part::Call(tool, command) => {
                    calls += 1;
                    let nth = if calls > 1 { format!(".{calls}") } else { String::new() };
                    block.text("type", "tool_use").text("id", &format!("toolu_{}{nth}", record.name));
                    block.text("name", tool);
                    block.raw("input", Object::new().text("command", command).close())
                }
                Part::Result { of, words, error } => {
                    block.text("tool_use_id", &format!("toolu_{of}")).text("type", "tool_result");
                    block.text("content", words).raw("is_error", if *error { "true" } else { "false" })
                }
                Part::Image => {
                    let mut source = Object::new();
                    source
                        .text("type", "base64")
                        .text("media_type", "image/png")
                        .text("data", "iVBORw0KGgo=");
                    block.text("type", "image").raw("source", source.close())
                }
                Part::Json(json) => return json.clone(),
            };
            block.close().to_owned()
        })
        .collect();
    format!("[{}]", blocks.join(","))
}

/// A JSON object under way, compact, keys in the order they are added.
struct Object(String);

impl Object {
    fn new() -> Self {
        Object("{".into())
    }

    fn raw(&mut self, key: &str, json: &str) -> &mut Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&Value::from(key).to_string());
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    fn text(&mut self, key: &str, text: &str) -> &mut Self {
        self.raw(key, &Value::from(text).to_string())
    }

    fn id(&mut self, key: &str, name: Option<&str>) -> &mut Self {
        match name {
            Some(name) => self.text(key, &uuid_of(name)),
            None => self.raw(key, "null"),
        }
    }

    fn close(&mut self) -> &str {
        self.0.push('}');
        &self.0
    }
}
