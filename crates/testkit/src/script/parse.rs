//! Parses the script language.

use super::name::uuid_from_name;
use super::record::{ContentPart, Record, RecordKind, RecordTime, SharedFields};

/// Parses a script. Panics if it is malformed.
///
/// A line is `name marks: body`, optionally followed by ` <- note`. Blank lines and lines that start with `#` are ignored.
///
/// | name | type of the line | body |
/// |---|---|---|
/// | `u…` | user | parts, see below; a single text becomes a plain string |
/// | `a…` | assistant | parts |
/// | `s…` | system | subtype and text: `turn_duration 1200` (or `none`), `local_command <command-name>/x</command-name>` |
/// | `p…` | progress | `data.type` and text: `bash_progress so far` |
/// | `t…` | attachment | `attachment.type` and text: `queued_command and the hose` |
/// | `raw` | the body is the line | anything |
/// | `*` | none: sets marks of all lines below | — |
/// | else | a line without uuid, with its type as name: `summary`, `custom-title`, `last-prompt`, … | its text |
///
/// Parts are separated by ` | `: `text`, `?thinking`, `!Tool command`, `=a1 result` (`=a1.2` for the second call of
/// a1, `=!a1` for an error), `[image]`, `{"type":…}`, `[]` for an empty list. In texts, `\n` is a line break and `\` escapes any
/// other character.
///
/// | mark | meaning |
/// |---|---|
/// | `^u1` `^null` `^` | parent: that name (which need not exist), none, the entry above; the indentation determines it otherwise |
/// | `~a1` | logical parent of a boundary, leaf of a summary or last prompt, call of a progress line, prompt of a snapshot |
/// | `#m1` | message id and request id; lines with the same mark are one message |
/// | `@+30` `@2025-…Z` `@none` | seconds after the line above (default 1), this text, no timestamp |
/// | `meta` `side` `recap` `apierror` `update` | the flags |
/// | `in=1` `out=2` `write=3` `read=4` `model=…` | usage and model |
/// | `v=…` `cwd=…` `session=…` `branch=…` | the client's version, its folder, the session's short name, the git branch |
/// | `run=u3..a4>u6` `list=u3,a4>u6` | the entries that a boundary preserves after the last-named entry: a segment, or a list |
/// | `+key=json` | one more field |
///
/// A `compact_boundary` without `^` has no parent, and its indentation determines the logical parent, as clients write
/// it. A name that occurs twice is a repeated uuid.
pub fn parse(script: &str) -> Vec<Record> {
    let mut parser =
        ScriptParser { shared: SharedFields::default(), second: -1, previous: None, ancestors: Vec::new() };
    script.lines().filter_map(|line| parser.parse_line(line)).collect()
}

struct ScriptParser {
    shared: SharedFields,
    second: i64,
    /// The name of the entry above.
    previous: Option<String>,
    /// Indentation and name of the entries that may be the parent of the next line.
    ancestors: Vec<(usize, String)>,
}

impl ScriptParser {
    fn parse_line(&mut self, line: &str) -> Option<Record> {
        let indent = line.len() - line.trim_start().len();
        let text = line.trim();
        if text.is_empty() || text.starts_with('#') {
            return None;
        }
        if let Some(marks) = text.strip_prefix("* ") {
            let mut record = Record::new("*", RecordKind::Raw(String::new()));
            record.shared = self.shared.clone();
            marks.split(' ').for_each(|mark| self.apply_mark(&mut record, mark));
            self.shared = record.shared;
            return None;
        }
        let (text, note) = match text.split_once(" <- ") {
            Some((text, note)) => (text.trim_end(), Some(note.to_owned())),
            None => (text, None),
        };
        let (head, body) = text.split_once(": ").unwrap_or_else(|| (text.trim_end_matches(':'), ""));
        let mut marks = head.split_whitespace();
        let name = marks.next().unwrap_or_default();
        let mut record = Record::new(name, parse_kind(name, body));
        record.note = note;
        record.shared = self.shared.clone();
        self.ancestors.retain(|(depth, _)| *depth < indent);
        let parent = self.ancestors.last().map(|(_, name)| name.clone());
        let is_boundary =
            matches!(&record.kind, RecordKind::System(subtype, _) if subtype == "compact_boundary");
        if is_boundary {
            record.link = parent;
        } else if record.is_entry() {
            record.parent = parent;
        }
        if !matches!(record.kind, RecordKind::Raw(_)) {
            self.second += 1;
        }
        record.time = RecordTime::Second(self.second);
        marks.for_each(|mark| self.apply_mark(&mut record, mark));
        if let RecordTime::Second(second) = record.time {
            self.second = second;
        }
        if record.is_entry() {
            self.ancestors.push((indent, record.name.clone()));
            self.previous = Some(record.name.clone());
        }
        Some(record)
    }

    fn apply_mark(&self, record: &mut Record, mark: &str) {
        let non_null = |name: &str| (name != "null").then(|| name.to_owned());
        if mark == "^" {
            record.parent.clone_from(&self.previous);
        } else if let Some(name) = mark.strip_prefix('^') {
            record.parent = non_null(name);
        } else if let Some(name) = mark.strip_prefix('~') {
            record.link = non_null(name);
        } else if let Some(name) = mark.strip_prefix('#') {
            record.message_name = Some(name.into());
        } else if let Some(time) = mark.strip_prefix('@') {
            record.time = match (time, time.strip_prefix('+').and_then(|delay| delay.parse::<i64>().ok())) {
                ("none", _) => RecordTime::None,
                (_, Some(delay)) => RecordTime::Second(self.second - 1 + delay),
                _ => RecordTime::Text(time.into()),
            };
        } else if let Some((key, value)) = mark.split_once('=') {
            Self::set_field(record, key, value);
        } else {
            *match mark {
                "meta" => &mut record.is_meta,
                "side" => &mut record.is_sidechain,
                "recap" => &mut record.is_compact_summary,
                "apierror" => &mut record.is_api_error,
                "update" => &mut record.is_snapshot_update,
                _ => panic!("unknown mark: `{mark}`"),
            } = true;
        }
    }

    fn set_field(record: &mut Record, key: &str, value: &str) {
        let number = || value.parse().unwrap_or_else(|_| panic!("not an integer: `{value}`"));
        match key {
            "in" => record.usage[0] = number(),
            "out" => record.usage[1] = number(),
            "write" => record.usage[2] = number(),
            "read" => record.usage[3] = number(),
            "model" => record.model = value.into(),
            "v" => record.shared.version = value.into(),
            "cwd" => record.shared.cwd = value.into(),
            "session" => record.shared.session = value.into(),
            "branch" => record.shared.branch = value.into(),
            "run" | "list" => {
                let metadata = preserved_metadata(key, value);
                match record.extra_fields.iter_mut().find(|(key, _)| key == "compactMetadata") {
                    Some((_, fields)) => {
                        fields.replace_range(fields.len() - 1.., &format!(",{}", &metadata[1..]));
                    }
                    None => record.extra_fields.push(("compactMetadata".into(), metadata)),
                }
            }
            _ => match key.strip_prefix('+') {
                Some(key) => record.extra_fields.push((key.into(), value.into())),
                None => panic!("unknown mark: `{key}={value}`"),
            },
        }
    }
}

/// Returns the `compactMetadata` of a boundary that preserves `u3..a4>u6` or `u3,a4>u6`.
fn preserved_metadata(kind: &str, value: &str) -> String {
    let (entries, anchor) = value.split_once('>').unwrap_or_else(|| panic!("no anchor: `{value}`"));
    let id = |name: &str| format!("\"{}\"", uuid_from_name(name));
    let anchor = id(anchor);
    if kind == "list" {
        let ids: Vec<String> = entries.split(',').map(id).collect();
        return format!(r#"{{"preservedMessages":{{"anchorUuid":{anchor},"uuids":[{}]}}}}"#, ids.join(","));
    }
    let (head, tail) = entries.split_once("..").unwrap_or_else(|| panic!("no `..`: `{entries}`"));
    let (head, tail) = (id(head), id(tail));
    format!(r#"{{"preservedSegment":{{"headUuid":{head},"anchorUuid":{anchor},"tailUuid":{tail}}}}}"#)
}

fn parse_kind(name: &str, body: &str) -> RecordKind {
    let number = name.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let letters = &name[..name.len() - number.len()];
    let with_subtype = |kind: fn(String, String) -> RecordKind| {
        let (subtype, text) = split_first_word(body);
        kind(subtype, text)
    };
    match letters {
        "raw" => RecordKind::Raw(body.into()),
        "u" => RecordKind::User(parse_parts(body)),
        "a" => RecordKind::Assistant(parse_parts(body)),
        "s" => with_subtype(RecordKind::System),
        "p" => with_subtype(RecordKind::Progress),
        "t" => with_subtype(RecordKind::Attachment),
        _ => RecordKind::State(name.into(), unescape(body)),
    }
}

/// Splits off the first word and unescapes the rest.
fn split_first_word(text: &str) -> (String, String) {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    (first.to_owned(), unescape(rest))
}

fn parse_parts(body: &str) -> Vec<ContentPart> {
    if body.is_empty() {
        return Vec::new();
    }
    body.split(" | ").map(parse_part).collect()
}

fn parse_part(text: &str) -> ContentPart {
    match text.as_bytes() {
        [b'?', ..] => ContentPart::Thinking(unescape(&text[1..])),
        [b'!', b'A'..=b'Z' | b'a'..=b'z', ..] => {
            let (tool, command) = split_first_word(&text[1..]);
            ContentPart::Call(tool, command)
        }
        [b'=', b'!', ..] => {
            let (call, text) = split_first_word(&text[2..]);
            ContentPart::Result { call, text, is_error: true }
        }
        [b'=', ..] => {
            let (call, text) = split_first_word(&text[1..]);
            ContentPart::Result { call, text, is_error: false }
        }
        b"[image]" => ContentPart::Image,
        b"[]" => ContentPart::Json(String::new()),
        [b'{', ..] => ContentPart::Json(text.into()),
        _ => ContentPart::Text(unescape(text)),
    }
}

/// Resolves the backslash escapes of a text.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some(other)) => out.push(other),
            _ => out.push(c),
        }
    }
    out
}
