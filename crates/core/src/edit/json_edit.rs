//! Surgery on one line: values are set or taken out where a path leads; all other bytes stay as they are.

use std::ops::Range;

use crate::entry::{JsonScanner, JsonStr};

/// One step into a JSON value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathSegment {
    /// To the member of an object; to the last one where several have the name.
    Key(String),
    /// To the item of a list.
    Item(usize),
}

impl From<&str> for PathSegment {
    fn from(key: &str) -> PathSegment {
        PathSegment::Key(key.to_owned())
    }
}

impl From<usize> for PathSegment {
    fn from(item: usize) -> PathSegment {
        PathSegment::Item(item)
    }
}

/// One change of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonEdit {
    /// Where.
    pub path: Vec<PathSegment>,
    /// The JSON to stand there; `None` takes out what does.
    pub to: Option<Vec<u8>>,
}

impl JsonEdit {
    /// Sets what stands at `path` to raw JSON. A member that is missing is added, and an item behind the last.
    pub fn set(path: impl IntoIterator<Item = PathSegment>, json: impl Into<Vec<u8>>) -> JsonEdit {
        JsonEdit { path: path.into_iter().collect(), to: Some(json.into()) }
    }

    /// Sets what stands at `path` to a string.
    pub fn set_string(path: impl IntoIterator<Item = PathSegment>, text: &str) -> JsonEdit {
        JsonEdit::set(path, quote(text))
    }

    /// Takes out what stands at `path`. Where nothing does, nothing changes.
    pub fn remove(path: impl IntoIterator<Item = PathSegment>) -> JsonEdit {
        JsonEdit { path: path.into_iter().collect(), to: None }
    }

    /// Names the path as people write it; items of lists all alike.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for step in &self.path {
            match step {
                PathSegment::Key(key) if name.is_empty() => name.push_str(key),
                PathSegment::Key(key) => {
                    name.push('.');
                    name.push_str(key);
                }
                PathSegment::Item(_) => name.push_str("[]"),
            }
        }
        name
    }
}

/// Writes a text as JSON.
pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Makes the changes one after the other: each path leads through the line as the changes before it left it.
///
/// Returns `None` where the line is not JSON, or a path leads through something that is neither object nor list, or
/// past the end of a list.
pub fn apply_edits(line: &[u8], changes: &[JsonEdit]) -> Option<Vec<u8>> {
    let mut line = line.to_vec();
    for change in changes {
        let splices = splices(&line, change)?;
        // From the end, so that places before stay where they are.
        for (range, with) in splices.into_iter().rev() {
            line.splice(range, with);
        }
    }
    Some(line)
}

/// A part of a container: a member with its key, or an item.
struct Part {
    whole: Range<usize>,
    value: Range<usize>,
    step: PathSegment,
}

/// Finds which bytes of the line give way to which, in the order of the line.
fn splices(line: &[u8], change: &JsonEdit) -> Option<Vec<(Range<usize>, Vec<u8>)>> {
    let (last, way) = change.path.split_last()?;
    let mut here = trim(line);
    for step in way {
        let parts = parts(line, here)?;
        match parts.into_iter().rfind(|part| part.step == *step) {
            Some(part) => here = part.value,
            // What is not there need not be taken out of it.
            None => return change.to.is_none().then(Vec::new),
        }
    }
    let parts = parts_for(line, here.clone(), last)?;
    match &change.to {
        Some(json) => set(&parts, here.start, last, json).map(|splice| vec![splice]),
        None => Some(removals(&parts, last)),
    }
}

fn parts_for(line: &[u8], container: Range<usize>, step: &PathSegment) -> Option<Vec<Part>> {
    let fits = match step {
        PathSegment::Key(_) => line.get(container.start) == Some(&b'{'),
        PathSegment::Item(_) => line.get(container.start) == Some(&b'['),
    };
    if fits { parts(line, container) } else { None }
}

fn set(parts: &[Part], start: usize, step: &PathSegment, json: &[u8]) -> Option<(Range<usize>, Vec<u8>)> {
    if let Some(part) = parts.iter().rfind(|part| part.step == *step) {
        return Some((part.value.clone(), json.to_vec()));
    }
    let label = match step {
        PathSegment::Key(key) => format!("{}:", quote(key)),
        PathSegment::Item(item) if *item == parts.len() => String::new(),
        PathSegment::Item(_) => return None,
    };
    let comma = if parts.is_empty() { "" } else { "," };
    let at = parts.last().map_or(start + 1, |part| part.whole.end);
    Some((at..at, [comma.as_bytes(), label.as_bytes(), json].concat()))
}

/// Takes out every part at the step: a member that hid an earlier one of its name must not uncover it.
fn removals(parts: &[Part], step: &PathSegment) -> Vec<(Range<usize>, Vec<u8>)> {
    let stays: Vec<bool> = parts.iter().map(|part| part.step != *step).collect();
    let mut splices = Vec::new();
    for (k, part) in parts.iter().enumerate().filter(|(k, _)| !stays[*k]) {
        // A comma goes with it: the one before, where a part before stays, else the one behind.
        let range = if stays[..k].contains(&true) {
            parts[k - 1].whole.end..part.whole.end
        } else {
            part.whole.start..parts.get(k + 1).map_or(part.whole.end, |next| next.whole.start)
        };
        splices.push((range, Vec::new()));
    }
    splices
}

fn trim(line: &[u8]) -> Range<usize> {
    let start = line.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    start..line.len()
}

fn parts(line: &[u8], container: Range<usize>) -> Option<Vec<Part>> {
    let offset = container.start;
    let mut skim = JsonScanner::new(&line[container]);
    let mut parts: Vec<Part> = Vec::new();
    match skim.next_token() {
        b'{' => skim.object(|skim, key| {
            let start = offset + skim.key_at;
            let value = skim.value()?.len();
            let end = offset + skim.at();
            let step = PathSegment::Key(JsonStr::new(key).decode().into_owned());
            parts.push(Part { whole: start..end, value: end - value..end, step });
            Ok(())
        }),
        b'[' => skim.array(|skim| {
            let value = skim.value()?.len();
            let end = offset + skim.at();
            let step = PathSegment::Item(parts.len());
            parts.push(Part { whole: end - value..end, value: end - value..end, step });
            Ok(())
        }),
        _ => return None,
    }
    .ok()?;
    Some(parts)
}
