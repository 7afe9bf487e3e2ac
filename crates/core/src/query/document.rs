//! What a search knows of an entry beside its words.

use std::borrow::Cow;

use super::ast::Sources;
use super::texts::{Scope, TextSource, for_each_text};
use crate::entry::{BlockKind, Entry, EntryRole, Flags, JsonStr, Kind, Timestamp, member, value_text};
use crate::id::{Id, IdMap};

/// A text of an entry, decoded.
#[derive(Debug, Clone)]
pub struct TextField<'a> {
    /// Who says it.
    pub source: TextSource,
    /// The tool whose input it stands in.
    pub tool: Option<JsonStr<'a>>,
    /// What.
    pub text: Cow<'a, str>,
}

/// An entry as a search sees it.
#[derive(Debug, Clone, Default)]
pub struct SearchDoc<'a> {
    /// Its texts.
    pub said: Vec<TextField<'a>>,
    /// Who speaks in it.
    pub sources: Sources,
    /// Bytes of text.
    pub len: usize,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// What copies of it have in common.
    pub key: u64,
    /// The tools it calls or answers for.
    pub tools: Vec<String>,
    /// Paths in the input of its calls.
    pub files: Vec<Cow<'a, str>>,
    /// The model that speaks.
    pub model: Option<Cow<'a, str>>,
    /// The git branch.
    pub branch: Option<Cow<'a, str>>,
    /// The session its line names.
    pub session: Option<Cow<'a, str>>,
    /// The folder the client was in.
    pub cwd: Option<Cow<'a, str>>,
    /// Whether a tool or the API failed.
    pub error: bool,
    /// Whether a subagent inside the file says it.
    pub side: bool,
    /// Whether it says itself that it was copied from another session.
    pub copied: bool,
}

/// Makes cards of the entries of one file, in order: a result is known by the call before it.
#[derive(Debug, Clone, Default)]
pub struct SearchDocBuilder {
    tools: Vec<String>,
    calls: IdMap<u16>,
    /// Those that were seen and not told of.
    seen: Vec<(Id, u16)>,
}

/// The names under which calls name files.
const PATHS: [&str; 3] = ["file_path", "notebook_path", "path"];

impl SearchDocBuilder {
    /// Tells of a call that stands before the first entry.
    pub fn add_prior_call(&mut self, call: Id, tool: &str) {
        let no = self.tool(tool);
        self.calls.insert(call, no);
    }

    /// Returns the calls in the entries so far, so that somebody else can go on behind them.
    pub fn seen(&self) -> impl Iterator<Item = (Id, &str)> {
        let name = |no: u16| self.tools.get(usize::from(no)).map_or("", String::as_str);
        self.seen.iter().map(move |&(call, no)| (call, name(no)))
    }

    /// Makes the card of the next entry; none where it has no words.
    pub fn card<'a>(&mut self, entry: &Entry<'a>) -> Option<SearchDoc<'a>> {
        let mut card = SearchDoc::default();
        for block in entry.blocks() {
            self.block(block, &mut card);
        }
        for_each_text(entry, Scope::All, |source, tool, text| {
            if !text.is_empty() {
                card.sources = card.sources.union(Sources::of(&[source]));
                card.len += text.len();
                card.said.push(TextField { source, tool, text });
            }
        });
        if card.said.is_empty() {
            return None;
        }
        card.time = entry.time();
        card.key = key(entry, &card);
        card.model = entry.model().map(JsonStr::decode).map(in_one_line);
        card.branch = entry.git_branch.map(JsonStr::decode).map(in_one_line);
        card.session = entry.session.map(JsonStr::decode);
        card.cwd = entry.cwd.map(JsonStr::decode);
        card.error |= entry.voice() == EntryRole::ApiError
            || entry.kind == Kind::System && entry.subtype.is_some_and(|subtype| subtype.is("api_error"));
        card.side = entry.is(Flags::SIDECHAIN);
        card.copied = entry.forked_from.is_some();
        Some(card)
    }

    fn block<'a>(&mut self, block: &crate::entry::Block<'a>, card: &mut SearchDoc<'a>) {
        match block.kind {
            BlockKind::ToolUse | BlockKind::ServerToolUse => {
                let Some(tool) = block.tool.map(JsonStr::decode).map(in_one_line) else { return };
                let no = self.tool(&tool);
                if let Some(id) = block.id {
                    self.calls.insert(id.id(), no);
                    self.seen.push((id.id(), no));
                }
                let input = block.body.unwrap_or_default();
                card.files.extend(
                    PATHS.iter().filter_map(|name| member(input, name)).map(value_text).map(in_one_line),
                );
                card.call(&tool);
            }
            BlockKind::ToolResult => {
                card.error |= block.is_error;
                let tool = block.id.and_then(|id| self.calls.get(&id.id()));
                if let Some(tool) = tool.and_then(|&no| self.tools.get(usize::from(no))) {
                    card.call(tool);
                }
            }
            _ => {}
        }
    }

    fn tool(&mut self, name: &str) -> u16 {
        let known = self.tools.iter().position(|known| known == name);
        let no = known.unwrap_or_else(|| {
            self.tools.push(name.to_owned());
            self.tools.len() - 1
        });
        // Nobody has so many tools; what has is known by the last of them.
        u16::try_from(no).unwrap_or(u16::MAX)
    }
}

impl SearchDoc<'_> {
    fn call(&mut self, tool: &str) {
        if !self.tools.iter().any(|known| known == tool) {
            self.tools.push(tool.to_owned());
        }
    }

    /// Makes the card of a file that holds one result of a tool; none where it is empty.
    pub fn of_result(text: &str, time: Timestamp, path: &str) -> Option<SearchDoc<'static>> {
        let said = TextField { source: TextSource::Result, tool: None, text: Cow::Owned(text.to_owned()) };
        (!text.is_empty()).then(|| SearchDoc {
            sources: Sources::of(&[TextSource::Result]),
            len: text.len(),
            time: Some(time),
            key: short(Id::of(path.as_bytes())),
            said: vec![said],
            ..SearchDoc::default()
        })
    }
}

/// Copies keep their uuid. What has none is known by what it says, within its session.
fn key(entry: &Entry<'_>, card: &SearchDoc<'_>) -> u64 {
    if let Some(uuid) = entry.uuid {
        return short(uuid.id());
    }
    let mut words = entry.session.map(|session| session.decode().into_owned()).unwrap_or_default();
    words.push_str(entry.kind.name());
    for said in &card.said {
        words.push('\0');
        words.push_str(&said.text);
    }
    short(Id::of(words.as_bytes()))
}

/// Names have no line ends; one that does is known by a space in its place.
fn in_one_line(name: Cow<'_, str>) -> Cow<'_, str> {
    if name.contains('\n') { Cow::Owned(name.replace('\n', " ")) } else { name }
}

fn short(id: Id) -> u64 {
    (id.bits() >> 64) as u64 ^ id.bits() as u64
}
