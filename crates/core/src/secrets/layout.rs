//! Where the texts of a line are: which range is a prompt, a title, the input of a tool, and which must not change.

use std::ops::Range;

use crate::entry::JsonScanner;

/// A part of a session in which a text can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The text of the user.
    Prompt,
    /// The text of the model.
    Answer,
    /// Thinking, which is signed.
    Thinking,
    /// The input of a tool call.
    ToolInput,
    /// The result of a tool call.
    ToolResult,
    /// A title or a summary.
    Title,
    /// The directory of the session, or its git branch.
    Directory,
    /// The file history, or a file that it keeps.
    FileHistory,
    /// Any other field of a line.
    Other,
}

impl Place {
    /// All places.
    pub const ALL: [Place; 9] = [
        Place::Prompt,
        Place::Answer,
        Place::Thinking,
        Place::ToolInput,
        Place::ToolResult,
        Place::Title,
        Place::Directory,
        Place::FileHistory,
        Place::Other,
    ];

    /// Returns the name: `prompt`, `tool-result`, …
    pub fn name(self) -> &'static str {
        match self {
            Place::Prompt => "prompt",
            Place::Answer => "answer",
            Place::Thinking => "thinking",
            Place::ToolInput => "tool-input",
            Place::ToolResult => "tool-result",
            Place::Title => "title",
            Place::Directory => "directory",
            Place::FileHistory => "file-history",
            Place::Other => "other",
        }
    }
}

/// The ranges of a line. Ranges of places do not overlap.
#[derive(Debug, Default)]
pub(super) struct LineLayout {
    places: Vec<(Range<usize>, Place)>,
    /// Ids, types, signatures and images. They link lines or are signed.
    fixed: Vec<Range<usize>>,
    /// Whole blocks of thinking.
    pub(super) thinking: Vec<Range<usize>>,
}

/// Fields of a line that link it to others or that the client interprets.
const FIXED_FIELDS: &[&[u8]] = &[
    b"type",
    b"uuid",
    b"parentUuid",
    b"logicalParentUuid",
    b"leafUuid",
    b"sessionId",
    b"requestId",
    b"promptId",
    b"messageId",
    b"timestamp",
    b"version",
    b"userType",
    b"toolUseID",
    b"parentToolUseID",
    b"sourceToolUseID",
    b"sourceToolAssistantUUID",
    b"agentId",
    b"subtype",
    b"level",
    b"operation",
    b"entrypoint",
];

impl LineLayout {
    /// Reads the layout of a line. Returns `None` if the line is not one JSON object.
    pub(super) fn parse(line: &[u8]) -> Option<LineLayout> {
        let mut layout = LineLayout::default();
        let start = line.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let fields = layout.members(line, start..line.len())?;
        let kind = fields
            .iter()
            .find(|(key, _)| *key == b"type")
            .map_or(&b""[..], |(_, range)| &line[range.clone()]);
        let role = if kind == b"\"assistant\"" { Place::Answer } else { Place::Prompt };
        for (key, range) in fields {
            match key {
                b"message" => layout.add_message(line, range, role),
                b"toolUseResult" | b"mcpMeta" => layout.places.push((range, Place::ToolResult)),
                b"summary" | b"customTitle" | b"aiTitle" | b"title" | b"agentName" => {
                    layout.places.push((range, Place::Title));
                }
                b"lastPrompt" => layout.places.push((range, Place::Prompt)),
                b"content" if kind == b"\"queue-operation\"" => layout.places.push((range, Place::Prompt)),
                b"snapshot" | b"trackedFileBackups" => layout.places.push((range, Place::FileHistory)),
                b"cwd" | b"gitBranch" => layout.places.push((range, Place::Directory)),
                _ if FIXED_FIELDS.contains(&key) => layout.fixed.push(range),
                _ => {}
            }
        }
        Some(layout)
    }

    fn add_message(&mut self, line: &[u8], message: Range<usize>, role: Place) {
        for (key, range) in self.members(line, message).unwrap_or_default() {
            match key {
                b"content" if line[range.start] == b'"' => self.places.push((range, role)),
                b"content" => {
                    for block in items(line, range).unwrap_or_default() {
                        self.add_block(line, block, role);
                    }
                }
                b"id" | b"type" | b"role" | b"model" | b"stop_reason" | b"usage" => self.fixed.push(range),
                _ => {}
            }
        }
    }

    fn add_block(&mut self, line: &[u8], block: Range<usize>, role: Place) {
        for (key, range) in self.members(line, block.clone()).unwrap_or_default() {
            match key {
                b"text" => self.places.push((range, role)),
                b"thinking" => {
                    self.places.push((range, Place::Thinking));
                    self.thinking.push(block.clone());
                }
                b"input" => self.places.push((range, Place::ToolInput)),
                b"content" => {
                    for item in items(line, range.clone()).unwrap_or_default() {
                        let is_source = |(key, _): &(&[u8], Range<usize>)| *key == b"source";
                        self.fixed.extend(
                            members(line, item)
                                .unwrap_or_default()
                                .into_iter()
                                .find(is_source)
                                .map(|(_, range)| range),
                        );
                    }
                    self.places.push((range, Place::ToolResult));
                }
                b"id" | b"tool_use_id" | b"type" | b"name" | b"signature" | b"data" | b"source" => {
                    self.fixed.push(range);
                }
                _ => {}
            }
        }
    }

    /// Returns the members of an object of the format. Its keys must not change.
    fn members<'l>(&mut self, line: &'l [u8], range: Range<usize>) -> Option<Vec<(&'l [u8], Range<usize>)>> {
        let members = members(line, range)?;
        self.fixed.extend(
            members.iter().map(|(key, value)| value.start.saturating_sub(key.len() + 3)..value.start),
        );
        Some(members)
    }

    /// Returns the place of a position.
    pub(super) fn place_at(&self, pos: usize) -> Place {
        self.places.iter().find(|(range, _)| range.contains(&pos)).map_or(Place::Other, |(_, place)| *place)
    }

    /// Returns `true` if a range touches a text that must not change.
    pub(super) fn is_fixed(&self, range: &Range<usize>) -> bool {
        self.fixed.iter().any(|fixed| range.start < fixed.end && fixed.start < range.end)
    }
}

/// Returns the members of the object at a range with the ranges of their values. Returns `None` if there is no object.
fn members(line: &[u8], range: Range<usize>) -> Option<Vec<(&[u8], Range<usize>)>> {
    let base = range.start;
    let mut scanner = JsonScanner::new(&line[range]);
    if scanner.next_token() != b'{' {
        return None;
    }
    let mut members = Vec::new();
    let read = scanner.read_members(|scanner, key| {
        let len = scanner.read_value()?.len();
        let end = base + scanner.position();
        members.push((key, end - len..end));
        Ok(())
    });
    read.ok().map(|()| members)
}

/// Returns the ranges of the items of the array at a range. Returns `None` if there is no array.
fn items(line: &[u8], range: Range<usize>) -> Option<Vec<Range<usize>>> {
    let base = range.start;
    let mut scanner = JsonScanner::new(&line[range]);
    if scanner.next_token() != b'[' {
        return None;
    }
    let mut items = Vec::new();
    let read = scanner.read_items(|scanner| {
        let len = scanner.read_value()?.len();
        let end = base + scanner.position();
        items.push(end - len..end);
        Ok(())
    });
    read.ok().map(|()| items)
}

/// Returns `true` if the bytes are one JSON value.
pub(super) fn is_json(line: &[u8]) -> bool {
    let mut scanner = JsonScanner::new(line);
    scanner.read_value().is_ok() && scanner.next_token() == 0 && scanner.position() >= line.len()
}

#[cfg(test)]
mod tests {
    use super::{LineLayout, Place};

    #[test]
    fn places_follow_the_fields() {
        let line = br#"{"type":"assistant","uuid":"u1","cwd":"/w","message":{"id":"m1","content":[{"type":"thinking","thinking":"T","signature":"S"},{"type":"text","text":"A"},{"type":"tool_use","id":"i1","name":"N","input":{"a":"I"}},{"type":"tool_result","tool_use_id":"i1","content":[{"type":"text","text":"R"}]}]},"toolUseResult":"O","x":"Y"}"#;
        let layout = LineLayout::parse(line).expect("a line");
        let at = |text: &str| memchr::memmem::find(line, text.as_bytes()).expect("in the line") + 1;
        for (text, place) in [
            ("\"T\"", Place::Thinking),
            ("\"A\"", Place::Answer),
            ("\"I\"", Place::ToolInput),
            ("\"R\"", Place::ToolResult),
            ("\"O\"", Place::ToolResult),
            ("\"/w\"", Place::Directory),
            ("\"Y\"", Place::Other),
        ] {
            assert_eq!(layout.place_at(at(text)), place, "{text}");
            assert!(!layout.is_fixed(&(at(text)..at(text) + 1)), "{text}");
        }
        for text in ["\"u1\"", "\"m1\"", "\"S\"", "\"i1\"", "\"N\"", "\"assistant\""] {
            assert!(layout.is_fixed(&(at(text)..at(text) + 1)), "{text}");
        }
        assert!(LineLayout::parse(b"{\"torn").is_none());
    }
}
