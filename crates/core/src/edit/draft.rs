//! A file to be, as places of lines in a source and lines of its own.

use std::borrow::Cow;
use std::ops::Range;

use super::json_edit::{JsonEdit, PathSegment, apply_edits, quote};
use crate::entry::{members, value_text};
use crate::tree::LineSpan;

/// One part of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftSegment {
    /// Bytes of the source as they are.
    Copy(Range<u64>),
    /// A line of the source, put into the draft's envelope; the changes are made first.
    Line(LineSpan, Vec<JsonEdit>),
    /// A line of its own, without its end.
    New(Vec<u8>),
}

/// What every line of a new session says of where it belongs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Envelope {
    /// The session's id.
    pub session: String,
    /// The session that its lines were copied from, told in `forkedFrom` as the client does.
    pub origin: Option<String>,
    /// A folder and the one that takes its place, also as the beginning of a path.
    pub folder: Option<(String, String)>,
}

/// A file to be.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// Its parts, in order.
    pub pieces: Vec<DraftSegment>,
    /// What becomes of the lines taken from the source; nothing where they stay in their session.
    pub envelope: Option<Envelope>,
}

impl Draft {
    /// Drafts what a file of so many bytes holds, unchanged.
    pub fn copy(bytes: u64) -> Draft {
        Draft { pieces: vec![DraftSegment::Copy(0..bytes)], envelope: None }
    }

    /// Returns what becomes of a line of the source. A line that is no sound object stays as it is.
    pub fn render<'l>(&self, line: &'l [u8], changes: &[JsonEdit]) -> Cow<'l, [u8]> {
        let altered = if changes.is_empty() { None } else { apply_edits(line, changes) };
        let enveloped = self.envelope.as_ref().and_then(|envelope| {
            let line = altered.as_deref().unwrap_or(line);
            apply_edits(line, &envelope.changes(line))
        });
        enveloped.or(altered).map_or(Cow::Borrowed(line), Cow::Owned)
    }
}

impl Envelope {
    /// Says what changes in a line.
    pub fn changes(&self, line: &[u8]) -> Vec<JsonEdit> {
        let mut changes = Vec::new();
        let mut uuid = None;
        for (key, value) in members(line) {
            if key.is("sessionId") {
                changes.push(JsonEdit::set_string([PathSegment::from("sessionId")], &self.session));
            } else if key.is("cwd") {
                changes.extend(
                    self.moved(&value_text(value))
                        .map(|to| JsonEdit::set_string([PathSegment::from("cwd")], &to)),
                );
            } else if key.is("uuid") && value.len() > 2 {
                uuid = Some(value);
            }
        }
        if let (Some(origin), Some(uuid)) = (&self.origin, uuid) {
            let from =
                [br#"{"sessionId":"#, quote(origin).as_bytes(), br#","messageUuid":"#, uuid, b"}"].concat();
            changes.push(JsonEdit::set([PathSegment::from("forkedFrom")], from));
        }
        changes
    }

    /// Returns what becomes of a folder.
    pub fn moved(&self, cwd: &str) -> Option<String> {
        let (from, to) = self.folder.as_ref()?;
        let rest = cwd.strip_prefix(from.as_str())?;
        (rest.is_empty() || rest.starts_with(['/', '\\'])).then(|| format!("{to}{rest}"))
    }
}
