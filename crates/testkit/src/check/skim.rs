//! Compares the skimmer with a full parser.

use rethread_core::entry::{self, LineStatus};
use rethread_core::lines::LineSplitter;
use rethread_core::problem::ProblemKind;

use super::fields::{entry_fields, parse_fields, parse_time};
use super::reference_parser::{has_lone_surrogate, is_json, parse_items, parse_members, parse_string};

/// The nesting depth down to which every string is checked.
const MAX_DEPTH: usize = 24;

/// Checks that the skimmer and the full parser agree on each line. Returns the number of valid lines.
pub fn skimmer(bytes: &[u8]) -> usize {
    let mut valid_lines = 0;
    LineSplitter::default().feed(bytes, true, &mut Vec::new(), |line, _| {
        let text = String::from_utf8_lossy(line.bytes);
        let mut problems = Vec::new();
        let mut entries = Vec::new();
        let status = entry::read_line(&line, &mut problems, |entry, _| entries.push(entry));
        let is_reported = |name: &str| problems.iter().any(|problem| problem.kind.name() == name);
        let json = is_json(&text);
        assert_eq!(status == LineStatus::Parsed, json && text.starts_with('{'), "verdict on {text:?}");
        assert_eq!(is_reported("not-object"), json && !text.starts_with('{'), "no object: {text:?}");
        if status != LineStatus::Parsed {
            return;
        }
        valid_lines += 1;
        let entry = &entries[0];
        assert_eq!(entry_fields(entry), parse_fields(&text), "fields of {text:?}");
        let bad = std::str::from_utf8(line.bytes).err();
        let offset = bad.map(|error| line.offset + error.valid_up_to() as u64);
        let reported_offset = problems.iter().find(|p| p.kind == ProblemKind::NotUtf8).map(|p| p.offset);
        assert_eq!(reported_offset, offset, "not UTF-8");
        if let Some(has_lone) = has_any_lone_surrogate(&text) {
            assert_eq!(is_reported("lone-surrogate"), has_lone, "lone surrogates of {text:?}");
        }
        check_fields(entry, &text);
    });
    valid_lines
}

/// Checks that every top-level field can be read by name; the last one if there are several.
fn check_fields(entry: &entry::Entry<'_>, text: &str) {
    let members = parse_members(text);
    for (key, _) in members.iter().filter(|(key, _)| !key.contains('\u{FFFD}')) {
        let last = members.iter().rev().find(|(other, _)| other == key).map(|(_, value)| (*value).to_owned());
        let value_text = entry.field(key).map(|value| String::from_utf8_lossy(value).into_owned());
        assert_eq!(value_text, last, "field {key:?}");
        let text_field = entry.text_field(key).map(|text| text.decode().into_owned());
        assert_eq!(text_field, last.as_deref().and_then(parse_string), "text {key:?}");
    }
}

/// Returns whether any string of the text has a lone surrogate. Returns `None` if the text is nested too deep.
fn has_any_lone_surrogate(text: &str) -> Option<bool> {
    let mut level = vec![text];
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for value in level {
            // The escapes of a key are lost here: U+FFFD may be a lone surrogate or the character itself.
            let members = parse_members(value);
            if has_lone_surrogate(value) || members.iter().any(|(key, _)| key.contains('\u{FFFD}')) {
                return if has_lone_surrogate(value) { Some(true) } else { None };
            }
            next.extend(parse_items(value));
            next.extend(members.into_iter().map(|(_, value)| value));
        }
        if next.is_empty() {
            return Some(false);
        }
        level = next;
    }
    None
}

/// Checks that the body of a JSON string decodes like in the full parser. Returns `false` if it is not valid.
pub fn string(body: &str) -> bool {
    let line = format!("{{\"x\":\"{body}\"}}");
    let Some(expected) = parse_members(&line).pop().and_then(|(_, value)| parse_string(value)) else {
        return false;
    };
    let members: Vec<_> = entry::members(line.as_bytes()).collect();
    let [(key, value)] = members[..] else { return false };
    assert_eq!(key.decode(), "x");
    assert_eq!(entry::value_text(value), expected, "text {body:?}");
    true
}

/// Checks that a timestamp is parsed like jiff does. Returns `false` if it is not valid.
pub fn timestamp(stamp: &str) -> bool {
    let stamp = serde_json::Value::from(stamp).to_string();
    let line = format!("{{\"timestamp\":{stamp}}}");
    let mut read = None;
    let mut problems = Vec::new();
    LineSplitter::default().feed(line.as_bytes(), true, &mut Vec::new(), |line, _| {
        entry::read_line(&line, &mut problems, |entry, _| read = entry.time());
    });
    assert_eq!(read.map(|timestamp| timestamp.0), parse_time(&stamp), "timestamp {stamp}");
    assert_eq!(problems.iter().any(|p| p.kind == ProblemKind::BadTimestamp), read.is_none(), "{stamp}");
    read.is_some()
}
