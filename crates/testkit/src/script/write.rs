//! Writes records as bytes, with the keys in the order in which the client writes them.

use serde_json::Value;

use super::name::uuid_from_name;
use super::record::{ContentPart, Record, RecordKind, RecordTime};

/// Midnight of 2025-01-01 in seconds since 1970.
const START: i64 = 1_735_689_600;

/// Returns the bytes of a file with these records. Every line is terminated.
pub fn write_records(records: &[Record]) -> Vec<u8> {
    records.iter().flat_map(|record| write_record(record).into_bytes().into_iter().chain([b'\n'])).collect()
}

/// Returns the line of a record, without line break.
pub fn write_record(record: &Record) -> String {
    let mut out = ObjectBuilder::new();
    match &record.kind {
        RecordKind::Raw(text) => return text.clone(),
        RecordKind::State(kind, text) => write_state(&mut out, record, kind, text),
        RecordKind::User(parts) => {
            write_shared(&mut out, record);
            out.text("type", "user").raw("message", &user_message(record, parts));
            if record.is_meta {
                out.raw("isMeta", "true");
            }
            if record.is_compact_summary {
                out.raw("isVisibleInTranscriptOnly", "true").raw("isCompactSummary", "true");
            }
            write_identity(&mut out, record);
            if let Some(ContentPart::Result { text, is_error: false, .. }) = parts.first() {
                out.raw(
                    "toolUseResult",
                    ObjectBuilder::new().text("stdout", text).text("stderr", "").finish(),
                );
            }
        }
        RecordKind::Assistant(parts) => {
            write_shared(&mut out, record);
            out.raw("message", &assistant_message(record, parts));
            out.text("requestId", &format!("req_{}", message_name(record))).text("type", "assistant");
            if record.is_api_error {
                out.raw("isApiErrorMessage", "true");
            }
            write_identity(&mut out, record);
        }
        RecordKind::System(subtype, text) => write_system(&mut out, record, subtype, text),
        RecordKind::Progress(kind, text) => {
            write_shared(&mut out, record);
            out.text("type", "progress");
            out.raw("data", ObjectBuilder::new().text("type", kind).text("output", text).finish());
            let call = format!("toolu_{}", record.link.as_deref().unwrap_or(&record.name));
            out.text("toolUseID", &format!("run_{}", record.name)).text("parentToolUseID", &call);
            write_identity(&mut out, record);
        }
        RecordKind::Attachment(kind, text) => {
            write_shared(&mut out, record);
            let mut body = ObjectBuilder::new();
            body.text("type", kind);
            if kind == "queued_command" {
                body.text("prompt", text).text("commandMode", "prompt");
            } else {
                body.text("content", text);
            }
            out.raw("attachment", body.finish()).text("type", "attachment");
            write_identity(&mut out, record);
        }
    }
    for (key, value) in &record.extra_fields {
        out.raw(key, value);
    }
    out.finish().to_owned()
}

fn write_shared(out: &mut ObjectBuilder, record: &Record) {
    out.id("parentUuid", record.parent.as_deref());
    if matches!(&record.kind, RecordKind::System(subtype, _) if subtype == "compact_boundary") {
        out.id("logicalParentUuid", record.link.as_deref());
    }
    out.raw("isSidechain", if record.is_sidechain { "true" } else { "false" });
    out.text("userType", "external").text("cwd", &record.shared.cwd);
    out.id("sessionId", Some(&record.shared.session));
    out.text("version", &record.shared.version).text("gitBranch", &record.shared.branch);
}

fn write_identity(out: &mut ObjectBuilder, record: &Record) {
    out.id("uuid", Some(&record.name));
    write_time(out, record);
}

fn write_time(out: &mut ObjectBuilder, record: &Record) {
    match &record.time {
        RecordTime::Second(second) => {
            let timestamp = jiff::Timestamp::from_second(START + second).unwrap_or(jiff::Timestamp::MAX);
            out.text("timestamp", &format!("{timestamp:.3}"));
        }
        RecordTime::Text(text) => {
            out.text("timestamp", text);
        }
        RecordTime::None => {}
    }
}

fn write_state(out: &mut ObjectBuilder, record: &Record, kind: &str, text: &str) {
    out.text("type", kind);
    let session = Some(record.shared.session.as_str());
    let link = record.link.as_deref();
    match kind {
        "summary" => {
            out.text("summary", text).id("leafUuid", link);
        }
        "custom-title" => {
            out.text("customTitle", text).id("sessionId", session);
        }
        "ai-title" => {
            out.text("aiTitle", text).id("sessionId", session);
        }
        "agent-name" => {
            out.text("agentName", text).id("sessionId", session);
        }
        "last-prompt" => {
            out.text("lastPrompt", text);
            if link.is_some() {
                out.id("leafUuid", link);
            }
            out.id("sessionId", session);
        }
        "file-history-snapshot" => {
            let mut files = ObjectBuilder::new();
            for path in text.split_whitespace() {
                let name = format!("{}@v1", path.replace('/', "-"));
                files.raw(
                    path,
                    ObjectBuilder::new().text("backupFileName", &name).raw("version", "1").finish(),
                );
            }
            let mut snapshot = ObjectBuilder::new();
            snapshot.id("messageId", link).raw("trackedFileBackups", files.finish());
            write_time(&mut snapshot, record);
            out.id("messageId", link).raw("snapshot", snapshot.finish());
            out.raw("isSnapshotUpdate", if record.is_snapshot_update { "true" } else { "false" });
        }
        "mode" | "permission-mode" => {
            out.text(if kind == "mode" { "mode" } else { "permissionMode" }, text).id("sessionId", session);
        }
        "queue-operation" => {
            let (operation, content) = text.split_once(' ').unwrap_or((text, ""));
            out.text("operation", operation);
            write_time(out, record);
            out.id("sessionId", session).text("content", content);
        }
        _ => {
            out.text("content", text).id("sessionId", session);
        }
    }
}

fn write_system(out: &mut ObjectBuilder, record: &Record, subtype: &str, text: &str) {
    write_shared(out, record);
    out.text("type", "system").text("subtype", subtype);
    match subtype {
        "turn_duration" => {
            if text != "none" {
                out.raw("durationMs", if text.is_empty() { "0" } else { text });
            }
        }
        "compact_boundary" => {
            out.text("content", if text.is_empty() { "Conversation compacted" } else { text });
        }
        _ => {
            out.text("content", text);
        }
    }
    out.raw("isMeta", if record.is_meta { "true" } else { "false" });
    write_identity(out, record);
    if subtype != "turn_duration" {
        out.text("level", "info");
    }
    if subtype == "compact_boundary" {
        out.raw(
            "compactMetadata",
            ObjectBuilder::new().text("trigger", "manual").raw("preTokens", "1000").finish(),
        );
    }
}

fn message_name(record: &Record) -> &str {
    record.message_name.as_deref().unwrap_or(&record.name)
}

fn user_message(record: &Record, parts: &[ContentPart]) -> String {
    let mut message = ObjectBuilder::new();
    message.text("role", "user");
    match parts {
        [] => message.text("content", ""),
        [ContentPart::Text(text)] => message.text("content", text),
        _ => message.raw("content", &content_blocks(record, parts)),
    };
    message.finish().to_owned()
}

fn assistant_message(record: &Record, parts: &[ContentPart]) -> String {
    let [input, output, write, read] = record.usage;
    let has_calls = parts.iter().any(|part| matches!(part, ContentPart::Call(..)));
    let mut usage = ObjectBuilder::new();
    usage.raw("input_tokens", &input.to_string());
    usage.raw("cache_creation_input_tokens", &write.to_string());
    usage.raw("cache_read_input_tokens", &read.to_string());
    usage.raw("output_tokens", &output.to_string()).text("service_tier", "standard");
    let mut message = ObjectBuilder::new();
    message.text("model", &record.model).text("id", &format!("msg_{}", message_name(record)));
    message.text("type", "message").text("role", "assistant").raw("content", &content_blocks(record, parts));
    message.text("stop_reason", if has_calls { "tool_use" } else { "end_turn" }).raw("stop_sequence", "null");
    message.raw("usage", usage.finish());
    message.finish().to_owned()
}

fn content_blocks(record: &Record, parts: &[ContentPart]) -> String {
    let mut call_count = 0;
    let blocks: Vec<String> = parts
        .iter()
        .map(|part| {
            let mut block = ObjectBuilder::new();
            match part {
                ContentPart::Text(text) => block.text("type", "text").text("text", text),
                ContentPart::Thinking(text) => {
                    block.text("type", "thinking").text("thinking", text).text("signature", "c2lnbmVk")
                }
                ContentPart::Call(tool, command) => {
                    call_count += 1;
                    let suffix = if call_count > 1 { format!(".{call_count}") } else { String::new() };
                    block.text("type", "tool_use").text("id", &format!("toolu_{}{suffix}", record.name));
                    block.text("name", tool);
                    block.raw("input", ObjectBuilder::new().text("command", command).finish())
                }
                ContentPart::Result { call, text, is_error } => {
                    block.text("tool_use_id", &format!("toolu_{call}")).text("type", "tool_result");
                    block.text("content", text).raw("is_error", if *is_error { "true" } else { "false" })
                }
                ContentPart::Image => {
                    let mut source = ObjectBuilder::new();
                    source
                        .text("type", "base64")
                        .text("media_type", "image/png")
                        .text("data", "iVBORw0KGgo=");
                    block.text("type", "image").raw("source", source.finish())
                }
                ContentPart::Json(json) => return json.clone(),
            };
            block.finish().to_owned()
        })
        .collect();
    format!("[{}]", blocks.join(","))
}

/// Builds a compact JSON object with its keys in insertion order.
struct ObjectBuilder(String);

impl ObjectBuilder {
    fn new() -> Self {
        ObjectBuilder("{".into())
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
            Some(name) => self.text(key, &uuid_from_name(name)),
            None => self.raw(key, "null"),
        }
    }

    fn finish(&mut self) -> &str {
        self.0.push('}');
        &self.0
    }
}
