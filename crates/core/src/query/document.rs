//! Builds the searchable form of an entry.

use std::borrow::Cow;
use std::collections::HashMap;

use super::ast::SourceSet;
use super::texts::{TextScope, TextSource, for_each_text};
use crate::entry::{
    BlockKind, Entry, EntryDetail, EntryRole, Flags, JsonStr, Kind, Timestamp, find_member, value_text,
};
use crate::id::{Id, IdMap};

/// A text of an entry, decoded.
#[derive(Debug, Clone)]
pub struct TextField<'a> {
    /// The source of the text.
    pub source: TextSource,
    /// The tool name if the text is part of a tool's input.
    pub tool: Option<JsonStr<'a>>,
    /// The decoded text.
    pub text: Cow<'a, str>,
}

/// The searchable form of an entry.
#[derive(Debug, Clone, Default)]
pub struct SearchDoc<'a> {
    /// The decoded texts, in the order of the entry. Never empty.
    pub texts: Vec<TextField<'a>>,
    /// The sources of the texts.
    pub sources: SourceSet,
    /// The length of all texts together, in bytes.
    pub len: usize,
    /// When the entry was written. `None` if its line has no valid time.
    pub time: Option<Timestamp>,
    /// Identifies the entry across its copies.
    pub key: u64,
    /// The tools that the entry calls or has results of, each once.
    pub tools: Vec<String>,
    /// The file paths in the input of its tool calls.
    pub files: Vec<Cow<'a, str>>,
    /// The model that wrote it.
    pub model: Option<Cow<'a, str>>,
    /// The git branch that the line states.
    pub branch: Option<Cow<'a, str>>,
    /// The pull request that it links: number, repository and URL, separated by spaces.
    pub pull_request: Option<String>,
    /// The session id in its line.
    pub session: Option<Cow<'a, str>>,
    /// The working directory of the client.
    pub cwd: Option<Cow<'a, str>>,
    /// Whether a tool or an API request failed.
    pub error: bool,
    /// Whether the entry belongs to a subagent in the same file.
    pub is_sidechain: bool,
    /// Whether its line states that it was copied from another session.
    pub copied: bool,
}

/// Builds the search documents of one file, from entries in file order. Tool results get the tool name of
/// their call.
#[derive(Debug, Clone, Default)]
pub struct SearchDocBuilder {
    /// The names of all tools, without duplicates.
    tools: Vec<String>,
    tool_idxs: HashMap<String, u32>,
    /// By id of a tool call: the index of its tool name in `tools`.
    calls: IdMap<u32>,
    /// The calls of the entries built so far and the indices of their tools, without prior calls.
    new_calls: Vec<(Id, u32)>,
}

/// The names of input members that hold paths.
const PATH_MEMBERS: [&str; 3] = ["file_path", "notebook_path", "path"];

impl SearchDocBuilder {
    /// Adds a tool call that occurs before the first entry.
    pub fn add_prior_call(&mut self, call: Id, tool: &str) {
        let idx = self.intern_tool(tool);
        self.calls.insert(call, idx);
    }

    /// Iterates over the call ids and tool names of the entries built so far. A builder that continues after
    /// these entries needs them as prior calls.
    pub fn new_calls(&self) -> impl Iterator<Item = (Id, &str)> {
        let name = |idx: u32| self.tools.get(idx as usize).map_or("", String::as_str);
        self.new_calls.iter().map(move |&(call, idx)| (call, name(idx)))
    }

    /// Builds the document of the next entry. Returns `None` if the entry has no text.
    pub fn build_doc<'a>(&mut self, entry: &Entry<'a>) -> Option<SearchDoc<'a>> {
        let mut doc = SearchDoc::default();
        for block in entry.blocks() {
            self.add_block(block, &mut doc);
        }
        for_each_text(entry, TextScope::All, |source, tool, text| {
            if !text.is_empty() {
                doc.sources = doc.sources.union(SourceSet::from_slice(&[source]));
                doc.len += text.len();
                doc.texts.push(TextField { source, tool, text });
            }
        });
        if doc.texts.is_empty() {
            return None;
        }
        doc.time = entry.time();
        doc.key = compute_dedupe_key(entry, &doc);
        doc.model = entry.model().map(JsonStr::decode).map(replace_newlines);
        doc.branch = entry.git_branch.map(JsonStr::decode).map(replace_newlines);
        doc.pull_request = describe_pull_request(entry);
        doc.session = entry.session_id.map(JsonStr::decode);
        doc.cwd = entry.cwd.map(JsonStr::decode);
        doc.error |= entry.role() == EntryRole::ApiError
            || entry.kind == Kind::System && entry.subtype.is_some_and(|subtype| subtype.equals("api_error"));
        doc.is_sidechain = entry.has_flag(Flags::SIDECHAIN);
        doc.copied = entry.forked_from.is_some();
        Some(doc)
    }

    /// Records the tool, the file paths and the failure of a tool call or tool result in `doc`.
    fn add_block<'a>(&mut self, block: &crate::entry::Block<'a>, doc: &mut SearchDoc<'a>) {
        match block.kind {
            BlockKind::ToolUse | BlockKind::ServerToolUse => {
                let Some(tool) = block.tool_name.map(JsonStr::decode).map(replace_newlines) else { return };
                let idx = self.intern_tool(&tool);
                if let Some(id) = block.id {
                    self.calls.insert(id.to_id(), idx);
                    self.new_calls.push((id.to_id(), idx));
                }
                let input = block.body.unwrap_or_default();
                doc.files.extend(
                    PATH_MEMBERS
                        .iter()
                        .filter_map(|name| find_member(input, name))
                        .map(value_text)
                        .map(replace_newlines),
                );
                doc.add_tool(&tool);
            }
            BlockKind::ToolResult => {
                doc.error |= block.is_error;
                let tool = block.id.and_then(|id| self.calls.get(&id.to_id()));
                if let Some(tool) = tool.and_then(|&idx| self.tools.get(idx as usize)) {
                    doc.add_tool(tool);
                }
            }
            _ => {}
        }
    }

    /// Returns the index of a tool name. Adds the name if it is new.
    fn intern_tool(&mut self, name: &str) -> u32 {
        if let Some(&idx) = self.tool_idxs.get(name) {
            return idx;
        }
        let idx = self.tools.len() as u32;
        self.tools.push(name.to_owned());
        self.tool_idxs.insert(name.to_owned(), idx);
        idx
    }
}

impl SearchDoc<'_> {
    fn add_tool(&mut self, tool: &str) {
        if !self.tools.iter().any(|known| known == tool) {
            self.tools.push(tool.to_owned());
        }
    }

    /// Builds the document of a file that holds one tool result. Its key is derived from the file path.
    ///
    /// Returns `None` if the text is empty.
    pub fn from_tool_result(text: &str, time: Timestamp, path: &str) -> Option<SearchDoc<'static>> {
        let field = TextField { source: TextSource::Result, tool: None, text: Cow::Owned(text.to_owned()) };
        (!text.is_empty()).then(|| SearchDoc {
            sources: SourceSet::from_slice(&[TextSource::Result]),
            len: text.len(),
            time: Some(time),
            key: fold_id(Id::from_text(path.as_bytes())),
            texts: vec![field],
            ..SearchDoc::default()
        })
    }
}

/// Returns number, repository and URL of the pull request that an entry links, without spaces in each. Returns `None` if
/// it links none.
fn describe_pull_request(entry: &Entry<'_>) -> Option<String> {
    // The details of other kinds are costly, and every entry of a store is indexed.
    if entry.kind != Kind::PrLink {
        return None;
    }
    let EntryDetail::PullRequest { number, url, repository } = entry.detail() else { return None };
    let without_spaces = |text: Cow<'_, str>| text.split_whitespace().collect::<String>();
    let number = number.map(value_text).map(without_spaces).unwrap_or_default();
    let text = |text: Option<JsonStr<'_>>| text.map(JsonStr::decode).map(without_spaces).unwrap_or_default();
    Some(format!("{number} {} {}", text(repository), text(url)))
}

/// Returns the key that all copies of an entry share. Copies keep their uuid. Without a uuid, the key is a hash of
/// the session id, the kind and the texts.
fn compute_dedupe_key(entry: &Entry<'_>, doc: &SearchDoc<'_>) -> u64 {
    if let Some(uuid) = entry.uuid {
        return fold_id(uuid.to_id());
    }
    let mut content = entry.session_id.map(|session| session.decode().into_owned()).unwrap_or_default();
    content.push_str(entry.kind.name());
    for field in &doc.texts {
        content.push('\0');
        content.push_str(&field.text);
    }
    fold_id(Id::from_text(content.as_bytes()))
}

/// Replaces line breaks by spaces. The index stores names one per line.
fn replace_newlines(name: Cow<'_, str>) -> Cow<'_, str> {
    if name.contains('\n') { Cow::Owned(name.replace('\n', " ")) } else { name }
}

/// Shortens an id to 64 bits.
fn fold_id(id: Id) -> u64 {
    (id.bits() >> 64) as u64 ^ id.bits() as u64
}

#[cfg(test)]
mod tests {
    use super::SearchDocBuilder;
    use crate::id::Id;

    /// Comparing each name with all others would take 10^10 steps.
    #[test]
    fn many_tools_keep_their_names() {
        let mut builder = SearchDocBuilder::default();
        let name = |idx: u32| format!("mcp__server__tool_{idx}");
        for idx in (0..150_000_u32).chain(0..10) {
            builder.add_prior_call(Id::from_text(&idx.to_be_bytes()), &name(idx));
        }
        assert_eq!((builder.tools.len(), &builder.tools[149_999]), (150_000, &name(149_999)));
        assert_eq!(builder.calls[&Id::from_text(&100_000_u32.to_be_bytes())], 100_000);
    }
}
