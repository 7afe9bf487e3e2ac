//! Edits one JSON line: sets or removes values by path and keeps all other bytes.

use std::ops::Range;

use crate::entry::{JsonScanner, JsonStr};

/// A step into a JSON value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathSegment {
    /// A member of an object. If several have the name, the last one.
    Key(String),
    /// An item of an array.
    Index(usize),
}

impl From<&str> for PathSegment {
    fn from(key: &str) -> PathSegment {
        PathSegment::Key(key.to_owned())
    }
}

impl From<usize> for PathSegment {
    fn from(item: usize) -> PathSegment {
        PathSegment::Index(item)
    }
}

/// An edit of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonEdit {
    /// The path of the value in the line. Must not be empty.
    pub path: Vec<PathSegment>,
    /// The new JSON. `None` removes the value.
    pub value: Option<Vec<u8>>,
}

impl JsonEdit {
    /// Creates an edit that sets the value at `path` to raw JSON. Adds a missing member, or an item at the end of an array.
    pub fn set(path: impl IntoIterator<Item = PathSegment>, json: impl Into<Vec<u8>>) -> JsonEdit {
        JsonEdit { path: path.into_iter().collect(), value: Some(json.into()) }
    }

    /// Creates an edit that sets the value at `path` to a string.
    pub fn set_string(path: impl IntoIterator<Item = PathSegment>, text: &str) -> JsonEdit {
        JsonEdit::set(path, quote_json(text))
    }

    /// Creates an edit that removes the value at `path`. It does nothing if there is none.
    pub fn remove(path: impl IntoIterator<Item = PathSegment>) -> JsonEdit {
        JsonEdit { path: path.into_iter().collect(), value: None }
    }

    /// Returns the JSON path in dotted notation, with `[]` for every array item: `message.content[]`.
    pub fn path_name(&self) -> String {
        let mut name = String::new();
        for segment in &self.path {
            match segment {
                PathSegment::Key(key) if name.is_empty() => name.push_str(key),
                PathSegment::Key(key) => {
                    name.push('.');
                    name.push_str(key);
                }
                PathSegment::Index(_) => name.push_str("[]"),
            }
        }
        name
    }
}

/// Formats a text as a JSON string, with quotes.
pub fn quote_json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Applies the edits in order. Each path refers to the line after the preceding edits.
///
/// Returns `None` if the line is not JSON, if a path is empty, if a path leads through a value that is not an object or
/// array of the right kind, or if a value is set below a missing parent or past the end of an array.
pub fn apply_edits(line: &[u8], edits: &[JsonEdit]) -> Option<Vec<u8>> {
    // A buffer that grows reserves twice the length of the line.
    let added_len = |edit: &JsonEdit| edit.value.as_ref().map_or(0, Vec::len) + MAX_KEY_LEN;
    let capacity = line.len() + edits.iter().map(added_len).sum::<usize>();
    let original = line;
    let mut line = Vec::with_capacity(capacity);
    line.extend_from_slice(original);
    for edit in edits {
        let splices = find_splices(&line, edit)?;
        // From the end, so that earlier ranges stay valid.
        for (range, replacement) in splices.into_iter().rev() {
            line.splice(range, replacement);
        }
    }
    Some(line)
}

/// The number of bytes reserved for the key and the separators of a member that an edit adds.
const MAX_KEY_LEN: usize = 256;

/// A part of a container: a member with its key, or an item.
///
/// `span` is the byte range of the whole part in the line, `value` that of its value.
struct ContainerPart {
    span: Range<usize>,
    value: Range<usize>,
    segment: PathSegment,
}

/// Returns the byte ranges of the line to replace for an edit, with their replacements, in order.
///
/// Returns `None` if the edit cannot be applied. See [`apply_edits`].
fn find_splices(line: &[u8], edit: &JsonEdit) -> Option<Vec<(Range<usize>, Vec<u8>)>> {
    let (last, parents) = edit.path.split_last()?;
    let mut container = trim_start(line);
    for segment in parents {
        let parts = parse_parts(line, container)?;
        match parts.into_iter().rfind(|part| part.segment == *segment) {
            Some(part) => container = part.value,
            // A missing parent has nothing to remove.
            None => return edit.value.is_none().then(Vec::new),
        }
    }
    let parts = parse_container(line, container.clone(), last)?;
    match &edit.value {
        Some(json) => splice_value(&parts, container.start, last, json).map(|splice| vec![splice]),
        None => Some(find_removals(&parts, last)),
    }
}

/// Returns the parts of the container at a byte range. Returns `None` if it is not JSON or does not have segments of the
/// kind of `segment`.
fn parse_container(
    line: &[u8],
    container: Range<usize>,
    segment: &PathSegment,
) -> Option<Vec<ContainerPart>> {
    let matches_kind = match segment {
        PathSegment::Key(_) => line.get(container.start) == Some(&b'{'),
        PathSegment::Index(_) => line.get(container.start) == Some(&b'['),
    };
    if matches_kind { parse_parts(line, container) } else { None }
}

/// Returns the splice that sets the part at `segment` to `json`. `start` is the offset of the container.
///
/// Returns `None` if the segment is past the end of an array.
fn splice_value(
    parts: &[ContainerPart],
    start: usize,
    segment: &PathSegment,
    json: &[u8],
) -> Option<(Range<usize>, Vec<u8>)> {
    if let Some(part) = parts.iter().rfind(|part| part.segment == *segment) {
        return Some((part.value.clone(), json.to_vec()));
    }
    let key = match segment {
        PathSegment::Key(key) => format!("{}:", quote_json(key)),
        PathSegment::Index(item) if *item == parts.len() => String::new(),
        PathSegment::Index(_) => return None,
    };
    let comma = if parts.is_empty() { "" } else { "," };
    let at = parts.last().map_or(start + 1, |part| part.span.end);
    Some((at..at, [comma.as_bytes(), key.as_bytes(), json].concat()))
}

/// Returns the splices that remove all parts at `segment`.
///
/// A removed member must not expose an earlier one with the same name.
fn find_removals(parts: &[ContainerPart], segment: &PathSegment) -> Vec<(Range<usize>, Vec<u8>)> {
    let is_kept: Vec<bool> = parts.iter().map(|part| part.segment != *segment).collect();
    let mut splices = Vec::new();
    for (idx, part) in parts.iter().enumerate().filter(|(idx, _)| !is_kept[*idx]) {
        // Also remove a comma: the one before if an earlier part stays, else the one after.
        let range = if is_kept[..idx].contains(&true) {
            parts[idx - 1].span.end..part.span.end
        } else {
            part.span.start..parts.get(idx + 1).map_or(part.span.end, |next| next.span.start)
        };
        splices.push((range, Vec::new()));
    }
    splices
}

/// Returns the byte range of the line without leading white space.
fn trim_start(line: &[u8]) -> Range<usize> {
    let start = line.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    start..line.len()
}

/// Returns the members or items of the object or array at a byte range. Returns `None` if it is neither or not JSON.
fn parse_parts(line: &[u8], container: Range<usize>) -> Option<Vec<ContainerPart>> {
    let offset = container.start;
    let mut scanner = JsonScanner::new(&line[container]);
    let mut parts: Vec<ContainerPart> = Vec::new();
    match scanner.next_token() {
        b'{' => scanner.read_members(|scanner, key| {
            let start = offset + scanner.key_start;
            let value = scanner.read_value()?.len();
            let end = offset + scanner.position();
            let segment = PathSegment::Key(JsonStr::new(key).decode().into_owned());
            parts.push(ContainerPart { span: start..end, value: end - value..end, segment });
            Ok(())
        }),
        b'[' => scanner.read_items(|scanner| {
            let value = scanner.read_value()?.len();
            let end = offset + scanner.position();
            let segment = PathSegment::Index(parts.len());
            parts.push(ContainerPart { span: end - value..end, value: end - value..end, segment });
            Ok(())
        }),
        _ => return None,
    }
    .ok()?;
    Some(parts)
}
