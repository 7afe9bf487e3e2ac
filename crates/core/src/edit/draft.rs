//! Drafts: new file contents as references to lines of a source file, and new lines.

use std::borrow::Cow;
use std::ops::Range;

use super::json_edit::{JsonEdit, PathSegment, apply_edits, quote_json};
use crate::entry::{members, value_text};
use crate::tree::LineSpan;

/// A segment of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftSegment {
    /// A byte range of the source file, unchanged.
    Copy(Range<u64>),
    /// A line of the source. The edits are applied first, then those of the draft's envelope.
    Line(LineSpan, Vec<JsonEdit>),
    /// A new line, without its newline.
    New(Vec<u8>),
}

/// The fields that tie every line of a new session to that session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Envelope {
    /// The id of the session.
    pub session: String,
    /// The session that the lines were copied from. Written to `forkedFrom`, as the client does.
    pub origin: Option<String>,
    /// A folder and its replacement. Also replaces the folder in the paths of its subfolders.
    pub folder: Option<(String, String)>,
}

/// The content of a file that is not written yet.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// The segments, in order.
    pub segments: Vec<DraftSegment>,
    /// The envelope of lines copied from the source. `None` if they stay in their session.
    pub envelope: Option<Envelope>,
}

impl Draft {
    /// Returns a line of the source after `edits` and the edits of the envelope. Edits that cannot be applied, for
    /// instance because the line is not valid JSON, are skipped.
    pub fn render_line<'l>(&self, line: &'l [u8], edits: &[JsonEdit]) -> Cow<'l, [u8]> {
        let edited = if edits.is_empty() { None } else { apply_edits(line, edits) };
        let enveloped = self.envelope.as_ref().and_then(|envelope| {
            let line = edited.as_deref().unwrap_or(line);
            apply_edits(line, &envelope.line_edits(line))
        });
        enveloped.or(edited).map_or(Cow::Borrowed(line), Cow::Owned)
    }
}

impl Envelope {
    /// Returns the edits that put a line into the envelope: they set `sessionId`, `cwd` and `forkedFrom`.
    pub fn line_edits(&self, line: &[u8]) -> Vec<JsonEdit> {
        let mut edits = Vec::new();
        let mut uuid = None;
        for (key, value) in members(line) {
            if key.equals("sessionId") {
                edits.push(JsonEdit::set_string([PathSegment::from("sessionId")], &self.session));
            } else if key.equals("cwd") {
                edits.extend(
                    self.relocate_path(&value_text(value))
                        .map(|new| JsonEdit::set_string([PathSegment::from("cwd")], &new)),
                );
            } else if key.equals("uuid") && value.len() > 2 {
                uuid = Some(value);
            }
        }
        if let (Some(origin), Some(uuid)) = (&self.origin, uuid) {
            let forked_from =
                [br#"{"sessionId":"#, quote_json(origin).as_bytes(), br#","messageUuid":"#, uuid, b"}"]
                    .concat();
            edits.push(JsonEdit::set([PathSegment::from("forkedFrom")], forked_from));
        }
        edits
    }

    /// Returns the new path of the folder `cwd`. Returns `None` if it does not change, because no folder is replaced or
    /// `cwd` is outside of it.
    pub fn relocate_path(&self, cwd: &str) -> Option<String> {
        let (old, new) = self.folder.as_ref()?;
        let rest = cwd.strip_prefix(old.as_str())?;
        (rest.is_empty() || rest.starts_with(['/', '\\'])).then(|| format!("{new}{rest}"))
    }
}
