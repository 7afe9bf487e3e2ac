//! The fields of an entry as text: once as the skimmer reads them, once as the full parser does.

use rethread_core::entry::{
    AttachmentKind, Block, BlockKind, Content, Entry, Flags, JsonStr, Kind, ProgressKind, SystemKind,
};

use super::reference_parser::{parse_items, parse_members, parse_string};

/// Pairs of field name and value.
pub(super) type FieldList = Vec<(String, String)>;

/// The keys of strings that count as missing if empty.
const STRING_KEYS: [&str; 15] = [
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "sessionId",
    "session_id",
    "agentId",
    "version",
    "cwd",
    "gitBranch",
    "slug",
    "entrypoint",
    "requestId",
    "subtype",
    "leafUuid",
    "toolUseID",
];
const RAW_KEYS: [&str; 6] =
    ["timestamp", "content", "toolUseResult", "forkedFrom", "compactMetadata", "origin"];
const FLAGS: [(&str, Flags); 6] = [
    ("isSidechain", Flags::SIDECHAIN),
    ("isMeta", Flags::META),
    ("isCompactSummary", Flags::COMPACT_SUMMARY),
    ("isApiErrorMessage", Flags::API_ERROR),
    ("isSnapshotUpdate", Flags::SNAPSHOT_UPDATE),
    ("explicit", Flags::EXPLICIT),
];

fn push_field(fields: &mut FieldList, field: impl Into<String>, value: Option<impl ToString>) {
    fields.push((field.into(), value.map_or_else(|| "-".into(), |value| value.to_string())));
}

/// Returns the fields of an entry read by the skimmer.
pub(super) fn entry_fields(entry: &Entry<'_>) -> FieldList {
    let mut fields = FieldList::new();
    let decode = |text: Option<JsonStr<'_>>| text.map(|text| text.decode().into_owned());
    let raw = |value: Option<&[u8]>| value.map(|value| String::from_utf8_lossy(value).into_owned());
    push_field(&mut fields, "type", decode(entry.type_name));
    push_field(&mut fields, "kind", Some(entry.kind.name()));
    let ids = [
        entry.uuid,
        entry.parent_uuid,
        entry.logical_parent_uuid,
        entry.session_id,
        entry.process_session_id,
        entry.agent_id,
        entry.version,
        entry.cwd,
        entry.git_branch,
        entry.slug,
        entry.entrypoint,
        entry.request_id,
        entry.subtype,
        entry.leaf_uuid,
        entry.tool_use_id,
    ];
    STRING_KEYS.iter().zip(ids).for_each(|(key, id)| push_field(&mut fields, *key, decode(id)));
    push_field(&mut fields, "parentToolUseID", decode(entry.parent_tool_use_id));
    let values = [
        entry.timestamp,
        entry.content,
        entry.tool_use_result,
        entry.forked_from,
        entry.compact_metadata,
        entry.origin,
    ];
    RAW_KEYS.iter().zip(values).for_each(|(key, value)| push_field(&mut fields, *key, raw(value)));
    push_field(&mut fields, "time", entry.time().map(|time| time.0));
    push_field(&mut fields, "payload", raw(entry.payload));
    push_field(&mut fields, "part", decode(entry.payload_type));
    push_field(&mut fields, "system", Some(entry.system_kind().name()));
    push_field(&mut fields, "attachment", Some(entry.attachment_kind().name()));
    push_field(&mut fields, "progress", Some(entry.progress_kind().name()));
    push_field(&mut fields, "text", decode(entry.text));
    push_field(&mut fields, "durationMs", entry.duration_ms);
    FLAGS.iter().for_each(|&(key, flag)| push_field(&mut fields, key, Some(entry.has_flag(flag))));
    push_field(&mut fields, "planContent", Some(entry.has_flag(Flags::PLAN)));
    push_field(&mut fields, "bad count", Some(entry.has_flag(Flags::BAD_COUNT)));
    push_field(&mut fields, "synthetic", Some(entry.has_flag(Flags::SYNTHETIC)));
    push_field(&mut fields, "message", Some(entry.message.is_some()));
    if let Some(message) = &entry.message {
        push_field(&mut fields, "message.id", decode(message.id));
        push_field(&mut fields, "message.role", decode(message.role));
        push_field(&mut fields, "message.model", decode(message.model));
        push_field(&mut fields, "message.stop_reason", decode(message.stop_reason));
        push_field(&mut fields, "usage", Some(message.usage.is_some()));
        if let Some(usage) = &message.usage {
            let counts = [
                usage.input,
                usage.output,
                usage.cache_write,
                usage.cache_read,
                usage.cache_write_1h,
                usage.web_searches,
            ];
            counts.iter().for_each(|count| push_field(&mut fields, "count", Some(count)));
        }
        push_content(&mut fields, &message.content);
    }
    fields
}

fn push_content(fields: &mut FieldList, content: &Content<'_>) {
    match content {
        Content::None => push_field(fields, "content", Some("none")),
        Content::Text(text) => push_field(fields, "content", Some(format!("text {}", text.decode()))),
        Content::Blocks(blocks) => {
            push_field(fields, "content", Some(format!("{} blocks", blocks.len())));
            blocks.iter().for_each(|block| push_block(fields, block));
        }
    }
}

fn push_block(fields: &mut FieldList, block: &Block<'_>) {
    let decode = |text: Option<JsonStr<'_>>| text.map(|text| text.decode().into_owned());
    push_field(fields, "block", Some(String::from_utf8_lossy(block.raw)));
    push_field(fields, "block.type", decode(block.type_name));
    push_field(fields, "block.kind", Some(block.kind.name()));
    push_field(fields, "block.id", decode(block.id));
    push_field(fields, "block.tool", decode(block.tool_name));
    push_field(fields, "block.text", decode(block.text));
    push_field(fields, "block.body", block.body.map(String::from_utf8_lossy));
    push_field(fields, "block.is_error", Some(block.is_error));
    push_field(fields, "block.signed", Some(block.signed));
}

/// The members of an object. The last of several members with one key counts.
struct ParsedObject<'a>(Vec<(String, &'a str)>);

impl<'a> ParsedObject<'a> {
    fn parse(text: &'a str) -> ParsedObject<'a> {
        ParsedObject(parse_members(text))
    }

    fn last_value(&self, keys: &[&str]) -> Option<&'a str> {
        self.0.iter().rev().find(|(key, _)| keys.contains(&key.as_str())).map(|(_, value)| *value)
    }

    fn text(&self, key: &str) -> Option<String> {
        parse_string(self.last_value(&[key])?)
    }

    fn nonempty_text(&self, key: &str) -> Option<String> {
        self.text(key).filter(|text| !text.is_empty())
    }

    /// Returns the last string under any of the keys. Other values do not hide a string.
    fn last_text(&self, keys: &[&str], allow_empty: bool) -> Option<String> {
        let mut texts = self.0.iter().rev().filter(|(key, _)| keys.contains(&key.as_str()));
        texts.find_map(|(_, value)| parse_string(value).filter(|text| allow_empty || !text.is_empty()))
    }

    fn last_body(&self, keys: &[&str]) -> Option<&'a str> {
        let mut bodies = self.0.iter().rev().filter(|(key, _)| keys.contains(&key.as_str()));
        let last = bodies.clone().next();
        bodies.find(|(_, value)| *value != "null").or(last).map(|(_, value)| *value)
    }

    fn is_true(&self, key: &str) -> bool {
        self.last_value(&[key]) == Some("true")
    }
}

/// Returns the fields of a line read by the full parser.
pub(super) fn parse_fields(line: &str) -> FieldList {
    let mut fields = FieldList::new();
    let object = ParsedObject::parse(line);
    let name = object.text("type");
    push_field(&mut fields, "type", name.clone());
    let kind = known_name(name.as_deref(), Kind::KNOWN, Kind::Missing, Kind::name);
    push_field(&mut fields, "kind", Some(&kind));
    STRING_KEYS.iter().for_each(|key| push_field(&mut fields, *key, object.nonempty_text(key)));
    push_field(&mut fields, "parentToolUseID", object.nonempty_text("parentToolUseID"));
    RAW_KEYS.iter().for_each(|key| push_field(&mut fields, *key, object.last_value(&[key])));
    push_field(&mut fields, "time", object.last_value(&["timestamp"]).and_then(parse_time));
    let payload = object.last_value(&["attachment", "data", "snapshot"]);
    let part = payload.and_then(|payload| ParsedObject::parse(payload).nonempty_text("type"));
    push_field(&mut fields, "payload", payload);
    push_field(&mut fields, "part", part.clone());
    let subtype = object.nonempty_text("subtype");
    push_field(
        &mut fields,
        "system",
        Some(known_name(subtype.as_deref(), SystemKind::KNOWN, SystemKind::Missing, SystemKind::name)),
    );
    push_field(
        &mut fields,
        "attachment",
        Some(known_name(
            part.as_deref(),
            AttachmentKind::KNOWN,
            AttachmentKind::Missing,
            AttachmentKind::name,
        )),
    );
    push_field(
        &mut fields,
        "progress",
        Some(known_name(part.as_deref(), ProgressKind::KNOWN, ProgressKind::Missing, ProgressKind::name)),
    );
    let titles = ["summary", "customTitle", "aiTitle", "lastPrompt"];
    let text =
        if kind == "agent-name" { object.last_value(&["agentName"]) } else { object.last_value(&titles) };
    push_field(&mut fields, "text", text.and_then(parse_string));
    push_field(&mut fields, "durationMs", object.last_value(&["durationMs"]).and_then(parse_count));
    FLAGS.iter().for_each(|&(key, _)| push_field(&mut fields, key, Some(object.is_true(key))));
    let plan = object.last_value(&["planContent"]).is_some_and(|value| value.starts_with('"'));
    push_field(&mut fields, "planContent", Some(plan));
    let message =
        object.last_value(&["message"]).filter(|value| value.starts_with('{')).map(ParsedObject::parse);
    let usage =
        message.as_ref().and_then(|message| message.last_value(&["usage"])).filter(|u| u.starts_with('{'));
    let counts = usage.map(parse_counts);
    push_field(&mut fields, "bad count", Some(counts.is_some_and(|(_, has_invalid)| has_invalid)));
    let model = message.as_ref().and_then(|message| message.text("model"));
    push_field(&mut fields, "synthetic", Some(model.as_deref() == Some("<synthetic>")));
    push_field(&mut fields, "message", Some(message.is_some()));
    if let Some(message) = message {
        for key in ["id", "role", "model", "stop_reason"] {
            push_field(&mut fields, format!("message.{key}"), message.nonempty_text(key));
        }
        push_field(&mut fields, "usage", Some(usage.is_some()));
        if let Some((counts, _)) = counts {
            counts.iter().for_each(|count| push_field(&mut fields, "count", Some(count)));
        }
        push_parsed_content(&mut fields, message.last_value(&["content"]).unwrap_or_default());
    }
    fields
}

fn push_parsed_content(fields: &mut FieldList, content: &str) {
    if let Some(text) = parse_string(content) {
        push_field(fields, "content", Some(format!("text {text}")));
    } else if content.starts_with('[') {
        let blocks: Vec<&str> =
            parse_items(content).into_iter().filter(|item| item.starts_with('{')).collect();
        push_field(fields, "content", Some(format!("{} blocks", blocks.len())));
        blocks.iter().for_each(|block| push_parsed_block(fields, block));
    } else {
        push_field(fields, "content", Some("none"));
    }
}

fn push_parsed_block(fields: &mut FieldList, raw: &str) {
    let block = ParsedObject::parse(raw);
    let name = block.text("type");
    push_field(fields, "block", Some(raw));
    push_field(fields, "block.type", name.clone());
    push_field(
        fields,
        "block.kind",
        Some(known_name(name.as_deref(), BlockKind::KNOWN, BlockKind::Missing, BlockKind::name)),
    );
    push_field(fields, "block.id", block.last_text(&["id", "tool_use_id"], false));
    push_field(fields, "block.tool", block.last_text(&["name", "tool_name"], false));
    let text = ["text", "thinking", "data"];
    push_field(fields, "block.text", block.last_text(&text, false).or_else(|| block.last_text(&text, true)));
    push_field(fields, "block.body", block.last_body(&["input", "content", "source"]));
    push_field(fields, "block.is_error", Some(block.is_true("is_error")));
    push_field(fields, "block.signed", Some(block.nonempty_text("signature").is_some()));
}

/// Returns the six counts of a usage object, and whether any count in it is invalid.
fn parse_counts(usage: &str) -> ([u64; 6], bool) {
    let object = ParsedObject::parse(usage);
    let mut has_invalid = false;
    let mut read_count = |object: &ParsedObject<'_>, name: &str| {
        has_invalid |= object
            .0
            .iter()
            .any(|(key, value)| key == name && *value != "null" && parse_count(value).is_none());
        object.last_value(&[name]).and_then(parse_count).unwrap_or(0)
    };
    let count_keys =
        ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let [input, output, write, read] = count_keys.map(|name| read_count(&object, name));
    let mut read_nested_count = |outer: &str, name: &str| {
        let members = object.0.iter().filter(|(key, _)| key == outer);
        members.fold(0, |_, (_, value)| read_count(&ParsedObject::parse(value), name))
    };
    let cache_write_1h = read_nested_count("cache_creation", "ephemeral_1h_input_tokens");
    let searches = read_nested_count("server_tool_use", "web_search_requests");
    ([input, output, write, read, cache_write_1h, searches], has_invalid)
}

fn parse_count(value: &str) -> Option<u64> {
    serde_json::from_str(value).ok()
}

/// Parses a timestamp with jiff. Bare numbers are milliseconds, or seconds if below 10^11.
pub(super) fn parse_time(value: &str) -> Option<i64> {
    if let Some(text) = parse_string(value) {
        let parse_as_utc = || {
            let time: jiff::civil::DateTime = text.parse().ok()?;
            Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
        };
        return text.parse().ok().or_else(parse_as_utc).map(jiff::Timestamp::as_millisecond);
    }
    let number: f64 = value.parse().ok()?;
    let millis = if number.abs() < 1e11 { number * 1000.0 } else { number };
    (millis.abs() < 8.64e15).then_some(millis as i64)
}

fn known_name<K: Copy>(
    name: Option<&str>,
    known: &[K],
    missing: K,
    name_of: fn(K) -> &'static str,
) -> String {
    match name {
        None => name_of(missing).into(),
        Some(name) => {
            let mut names = known.iter().map(|&kind| name_of(kind));
            names.find(|&known_name| known_name == name).unwrap_or("unknown").into()
        }
    }
}
