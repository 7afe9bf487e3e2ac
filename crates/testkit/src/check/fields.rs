//! The fields of an entry as words: once as the skimmer read them, once as the full parser does.

use rethread_core::entry::{
    Attachment, Block, BlockKind, Content, Entry, Flags, JsonStr, Kind, Progress, System,
};

use super::reference_parser::{items, members, string};

/// What is known of a line: field and value.
pub(super) type Facts = Vec<(String, String)>;

/// The texts that mean nothing when they are empty, by key.
const IDS: [&str; 15] = [
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
const RAW: [&str; 6] = ["timestamp", "content", "toolUseResult", "forkedFrom", "compactMetadata", "origin"];
const FLAGS: [(&str, Flags); 6] = [
    ("isSidechain", Flags::SIDECHAIN),
    ("isMeta", Flags::META),
    ("isCompactSummary", Flags::COMPACT_SUMMARY),
    ("isApiErrorMessage", Flags::API_ERROR),
    ("isSnapshotUpdate", Flags::SNAPSHOT_UPDATE),
    ("explicit", Flags::EXPLICIT),
];

fn put(facts: &mut Facts, field: impl Into<String>, value: Option<impl ToString>) {
    facts.push((field.into(), value.map_or_else(|| "-".into(), |value| value.to_string())));
}

/// Returns the facts as the skimmer has them.
pub(super) fn skimmed(entry: &Entry<'_>) -> Facts {
    let mut facts = Facts::new();
    let said = |text: Option<JsonStr<'_>>| text.map(|text| text.decode().into_owned());
    let raw = |value: Option<&[u8]>| value.map(|value| String::from_utf8_lossy(value).into_owned());
    put(&mut facts, "type", said(entry.name));
    put(&mut facts, "kind", Some(entry.kind.name()));
    let ids = [
        entry.uuid,
        entry.parent,
        entry.logical_parent,
        entry.session,
        entry.process_session_id,
        entry.agent,
        entry.version,
        entry.cwd,
        entry.git_branch,
        entry.slug,
        entry.entrypoint,
        entry.request,
        entry.subtype,
        entry.leaf,
        entry.tool_use,
    ];
    IDS.iter().zip(ids).for_each(|(key, id)| put(&mut facts, *key, said(id)));
    put(&mut facts, "parentToolUseID", said(entry.parent_tool_use));
    let values = [
        entry.timestamp,
        entry.content,
        entry.tool_use_result,
        entry.forked_from,
        entry.compact,
        entry.origin,
    ];
    RAW.iter().zip(values).for_each(|(key, value)| put(&mut facts, *key, raw(value)));
    put(&mut facts, "time", entry.time().map(|moment| moment.0));
    put(&mut facts, "payload", raw(entry.payload));
    put(&mut facts, "part", said(entry.part));
    put(&mut facts, "system", Some(entry.system().name()));
    put(&mut facts, "attachment", Some(entry.attachment().name()));
    put(&mut facts, "progress", Some(entry.progress().name()));
    put(&mut facts, "words", said(entry.text));
    put(&mut facts, "durationMs", entry.duration_ms);
    FLAGS.iter().for_each(|&(key, flag)| put(&mut facts, key, Some(entry.is(flag))));
    put(&mut facts, "planContent", Some(entry.is(Flags::PLAN)));
    put(&mut facts, "bad count", Some(entry.is(Flags::BAD_COUNT)));
    put(&mut facts, "synthetic", Some(entry.is(Flags::SYNTHETIC)));
    put(&mut facts, "message", Some(entry.message.is_some()));
    if let Some(message) = &entry.message {
        put(&mut facts, "message.id", said(message.id));
        put(&mut facts, "message.role", said(message.role));
        put(&mut facts, "message.model", said(message.model));
        put(&mut facts, "message.stop_reason", said(message.stop_reason));
        put(&mut facts, "usage", Some(message.usage.is_some()));
        if let Some(usage) = &message.usage {
            let counts = [
                usage.input,
                usage.output,
                usage.cache_write,
                usage.cache_read,
                usage.cache_write_1h,
                usage.web_searches,
            ];
            counts.iter().for_each(|count| put(&mut facts, "count", Some(count)));
        }
        skimmed_content(&mut facts, &message.content);
    }
    facts
}

fn skimmed_content(facts: &mut Facts, content: &Content<'_>) {
    match content {
        Content::None => put(facts, "content", Some("none")),
        Content::Text(text) => put(facts, "content", Some(format!("text {}", text.decode()))),
        Content::Blocks(blocks) => {
            put(facts, "content", Some(format!("{} blocks", blocks.len())));
            blocks.iter().for_each(|block| skimmed_block(facts, block));
        }
    }
}

fn skimmed_block(facts: &mut Facts, block: &Block<'_>) {
    let said = |text: Option<JsonStr<'_>>| text.map(|text| text.decode().into_owned());
    put(facts, "block", Some(String::from_utf8_lossy(block.raw)));
    put(facts, "block.type", said(block.name));
    put(facts, "block.kind", Some(block.kind.name()));
    put(facts, "block.id", said(block.id));
    put(facts, "block.tool", said(block.tool));
    put(facts, "block.words", said(block.words));
    put(facts, "block.body", block.body.map(String::from_utf8_lossy));
    put(facts, "block.is_error", Some(block.is_error));
    put(facts, "block.signed", Some(block.signed));
}

/// The members of an object, asked by key: the last of several counts.
struct Object<'a>(Vec<(String, &'a str)>);

impl<'a> Object<'a> {
    fn of(text: &'a str) -> Object<'a> {
        Object(members(text))
    }

    fn last(&self, keys: &[&str]) -> Option<&'a str> {
        self.0.iter().rev().find(|(key, _)| keys.contains(&key.as_str())).map(|(_, value)| *value)
    }

    fn text(&self, key: &str) -> Option<String> {
        string(self.last(&[key])?)
    }

    fn some_text(&self, key: &str) -> Option<String> {
        self.text(key).filter(|text| !text.is_empty())
    }

    /// The last string under any of the keys; what is no string does not hide one.
    fn last_text(&self, keys: &[&str], empty: bool) -> Option<String> {
        let mut texts = self.0.iter().rev().filter(|(key, _)| keys.contains(&key.as_str()));
        texts.find_map(|(_, value)| string(value).filter(|text| empty || !text.is_empty()))
    }

    fn last_body(&self, keys: &[&str]) -> Option<&'a str> {
        let mut bodies = self.0.iter().rev().filter(|(key, _)| keys.contains(&key.as_str()));
        let last = bodies.clone().next();
        bodies.find(|(_, value)| *value != "null").or(last).map(|(_, value)| *value)
    }

    fn is_true(&self, key: &str) -> bool {
        self.last(&[key]) == Some("true")
    }
}

/// Returns the facts as the full parser has them.
pub(super) fn parsed(line: &str) -> Facts {
    let mut facts = Facts::new();
    let object = Object::of(line);
    let name = object.text("type");
    put(&mut facts, "type", name.clone());
    let kind = named(name.as_deref(), Kind::KNOWN, Kind::Missing, Kind::name);
    put(&mut facts, "kind", Some(&kind));
    IDS.iter().for_each(|key| put(&mut facts, *key, object.some_text(key)));
    put(&mut facts, "parentToolUseID", object.some_text("parentToolUseID"));
    RAW.iter().for_each(|key| put(&mut facts, *key, object.last(&[key])));
    put(&mut facts, "time", object.last(&["timestamp"]).and_then(time));
    let payload = object.last(&["attachment", "data", "snapshot"]);
    let part = payload.and_then(|payload| Object::of(payload).some_text("type"));
    put(&mut facts, "payload", payload);
    put(&mut facts, "part", part.clone());
    let subtype = object.some_text("subtype");
    put(&mut facts, "system", Some(named(subtype.as_deref(), System::KNOWN, System::Missing, System::name)));
    put(
        &mut facts,
        "attachment",
        Some(named(part.as_deref(), Attachment::KNOWN, Attachment::Missing, Attachment::name)),
    );
    put(
        &mut facts,
        "progress",
        Some(named(part.as_deref(), Progress::KNOWN, Progress::Missing, Progress::name)),
    );
    let titles = ["summary", "customTitle", "aiTitle", "lastPrompt"];
    let words = if kind == "agent-name" { object.last(&["agentName"]) } else { object.last(&titles) };
    put(&mut facts, "words", words.and_then(string));
    put(&mut facts, "durationMs", object.last(&["durationMs"]).and_then(count));
    FLAGS.iter().for_each(|&(key, _)| put(&mut facts, key, Some(object.is_true(key))));
    let plan = object.last(&["planContent"]).is_some_and(|value| value.starts_with('"'));
    put(&mut facts, "planContent", Some(plan));
    let message = object.last(&["message"]).filter(|value| value.starts_with('{')).map(Object::of);
    let usage = message.as_ref().and_then(|message| message.last(&["usage"])).filter(|u| u.starts_with('{'));
    let counts = usage.map(counts);
    put(&mut facts, "bad count", Some(counts.is_some_and(|(_, odd)| odd)));
    let model = message.as_ref().and_then(|message| message.text("model"));
    put(&mut facts, "synthetic", Some(model.as_deref() == Some("<synthetic>")));
    put(&mut facts, "message", Some(message.is_some()));
    if let Some(message) = message {
        for key in ["id", "role", "model", "stop_reason"] {
            put(&mut facts, format!("message.{key}"), message.some_text(key));
        }
        put(&mut facts, "usage", Some(usage.is_some()));
        if let Some((counts, _)) = counts {
            counts.iter().for_each(|count| put(&mut facts, "count", Some(count)));
        }
        parsed_content(&mut facts, message.last(&["content"]).unwrap_or_default());
    }
    facts
}

fn parsed_content(facts: &mut Facts, content: &str) {
    if let Some(text) = string(content) {
        put(facts, "content", Some(format!("text {text}")));
    } else if content.starts_with('[') {
        let blocks: Vec<&str> = items(content).into_iter().filter(|item| item.starts_with('{')).collect();
        put(facts, "content", Some(format!("{} blocks", blocks.len())));
        blocks.iter().for_each(|block| parsed_block(facts, block));
    } else {
        put(facts, "content", Some("none"));
    }
}

fn parsed_block(facts: &mut Facts, raw: &str) {
    let block = Object::of(raw);
    let name = block.text("type");
    put(facts, "block", Some(raw));
    put(facts, "block.type", name.clone());
    put(
        facts,
        "block.kind",
        Some(named(name.as_deref(), BlockKind::KNOWN, BlockKind::Missing, BlockKind::name)),
    );
    put(facts, "block.id", block.last_text(&["id", "tool_use_id"], false));
    put(facts, "block.tool", block.last_text(&["name", "tool_name"], false));
    let words = ["text", "thinking", "data"];
    put(facts, "block.words", block.last_text(&words, false).or_else(|| block.last_text(&words, true)));
    put(facts, "block.body", block.last_body(&["input", "content", "source"]));
    put(facts, "block.is_error", Some(block.is_true("is_error")));
    put(facts, "block.signed", Some(block.some_text("signature").is_some()));
}

/// Reads the six counts of a usage object, and whether any count in it is none.
fn counts(usage: &str) -> ([u64; 6], bool) {
    let object = Object::of(usage);
    let mut odd = false;
    let mut of = |object: &Object<'_>, name: &str| {
        odd |= object.0.iter().any(|(key, value)| key == name && *value != "null" && count(value).is_none());
        object.last(&[name]).and_then(count).unwrap_or(0)
    };
    let plain = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let [input, output, write, read] = plain.map(|name| of(&object, name));
    let mut inner = |outer: &str, name: &str| {
        let all = object.0.iter().filter(|(key, _)| key == outer);
        all.fold(0, |_, (_, value)| of(&Object::of(value), name))
    };
    let hour = inner("cache_creation", "ephemeral_1h_input_tokens");
    let searches = inner("server_tool_use", "web_search_requests");
    ([input, output, write, read, hour, searches], odd)
}

fn count(value: &str) -> Option<u64> {
    serde_json::from_str(value).ok()
}

/// Reads a timestamp as jiff does; bare numbers are milliseconds, or seconds where that would be before 1973.
pub(super) fn time(value: &str) -> Option<i64> {
    if let Some(text) = string(value) {
        return text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
    }
    let number: f64 = value.parse().ok()?;
    let millis = if number.abs() < 1e11 { number * 1000.0 } else { number };
    (millis.abs() < 8.64e15).then_some(millis as i64)
}

fn named<K: Copy>(name: Option<&str>, known: &[K], missing: K, spell: fn(K) -> &'static str) -> String {
    match name {
        None => spell(missing).into(),
        Some(name) => known.iter().map(|&k| spell(k)).find(|&k| k == name).unwrap_or("unknown").into(),
    }
}
