//! The skimmer against a full parser.

use rethread_core::entry::{self, LineStatus};
use rethread_core::lines::LineSplitter;
use rethread_core::problem::ProblemKind;

use super::fields::{parsed, skimmed, time};
use super::reference_parser::{has_lone, is_json, items, members, string};

/// Levels of nesting down to which every string is looked at.
const LEVELS: usize = 24;

/// Checks for each line of `bytes` that the skimmer and the full parser agree; returns how many lines were whole.
pub fn skim(bytes: &[u8]) -> usize {
    let mut whole = 0;
    LineSplitter::default().feed(bytes, true, &mut Vec::new(), |line, _| {
        let text = String::from_utf8_lossy(line.bytes);
        let mut problems = Vec::new();
        let mut found = Vec::new();
        let fate = entry::read(&line, &mut problems, |entry, _| found.push(entry));
        let told = |name: &str| problems.iter().any(|problem| problem.kind.name() == name);
        let json = is_json(&text);
        assert_eq!(fate == LineStatus::Whole, json && text.starts_with('{'), "verdict on {text:?}");
        assert_eq!(told("not-object"), json && !text.starts_with('{'), "no object: {text:?}");
        if fate != LineStatus::Whole {
            return;
        }
        whole += 1;
        let entry = &found[0];
        assert_eq!(skimmed(entry), parsed(&text), "fields of {text:?}");
        let bad = std::str::from_utf8(line.bytes).err();
        let place = bad.map(|error| line.offset + error.valid_up_to() as u64);
        let told_place = problems.iter().find(|p| p.kind == ProblemKind::NotUtf8).map(|p| p.offset);
        assert_eq!(told_place, place, "not UTF-8");
        if let Some(lone) = any_lone(&text) {
            assert_eq!(told("lone-surrogate"), lone, "lone surrogates of {text:?}");
        }
        fields(entry, &text);
    });
    whole
}

/// Checks that every top-level field can be asked for by name, the last of several.
fn fields(entry: &entry::Entry<'_>, text: &str) {
    let all = members(text);
    for (key, _) in all.iter().filter(|(key, _)| !key.contains('\u{FFFD}')) {
        let last = all.iter().rev().find(|(other, _)| other == key).map(|(_, value)| (*value).to_owned());
        let given = entry.field(key).map(|value| String::from_utf8_lossy(value).into_owned());
        assert_eq!(given, last, "field {key:?}");
        let said = entry.text(key).map(|text| text.decode().into_owned());
        assert_eq!(said, last.as_deref().and_then(string), "text {key:?}");
    }
}

/// Whether any string of the text has a lone surrogate; `None` where it is too deep to say.
fn any_lone(text: &str) -> Option<bool> {
    let mut level = vec![text];
    for _ in 0..LEVELS {
        let mut next = Vec::new();
        for value in level {
            // A key cannot be told from its escapes here, so ask by its raw form: a key reads U+FFFD.
            let members = members(value);
            if has_lone(value) || members.iter().any(|(key, _)| key.contains('\u{FFFD}')) {
                return if has_lone(value) { Some(true) } else { None };
            }
            next.extend(items(value));
            next.extend(members.into_iter().map(|(_, value)| value));
        }
        if next.is_empty() {
            return Some(false);
        }
        level = next;
    }
    None
}

/// Checks that the body of a JSON string decodes as the full parser decodes it; whether it was one.
pub fn text(body: &str) -> bool {
    let line = format!("{{\"x\":\"{body}\"}}");
    let Some(said) = members(&line).pop().and_then(|(_, value)| string(value)) else {
        return false;
    };
    let all: Vec<_> = entry::members(line.as_bytes()).collect();
    let [(key, value)] = all[..] else { return false };
    assert_eq!(key.decode(), "x");
    assert_eq!(entry::value_text(value), said, "text {body:?}");
    true
}

/// Checks that a timestamp is read as jiff reads it; whether it was one.
pub fn moment(stamp: &str) -> bool {
    let stamp = serde_json::Value::from(stamp).to_string();
    let line = format!("{{\"timestamp\":{stamp}}}");
    let mut read = None;
    let mut problems = Vec::new();
    LineSplitter::default().feed(line.as_bytes(), true, &mut Vec::new(), |line, _| {
        entry::read(&line, &mut problems, |entry, _| read = entry.time());
    });
    assert_eq!(read.map(|moment| moment.0), time(&stamp), "timestamp {stamp}");
    assert_eq!(problems.iter().any(|p| p.kind == ProblemKind::BadTimestamp), read.is_none(), "{stamp}");
    read.is_some()
}
