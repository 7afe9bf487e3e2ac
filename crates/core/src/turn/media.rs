//! Pictures and documents: told by their place, read from there when they are shown.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::entry::{Block, BlockKind, Content, Entry, members, value_text};

/// A picture or document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// Its media type.
    pub kind: String,
    /// Bytes of base64.
    pub bytes: usize,
    /// The line it stands on.
    pub line: u32,
    /// Its number, from 0, within the prompt or the result it belongs to on that line.
    pub no: usize,
}

/// Lists what a prompt or a result on `line` shows.
pub(super) fn media(content: &Content<'_>, line: u32) -> Vec<Media> {
    let told = |(no, block): (usize, &Block<'_>)| {
        let (kind, data) = source(block);
        Media { kind: kind.into_owned(), bytes: data.len(), line, no }
    };
    shown(content).enumerate().map(told).collect()
}

/// Finds a picture or document on a line: of the result of a call, or of the prompt. Returns its media type and its base64.
pub fn picture<'a>(entry: &Entry<'a>, call: Option<&str>, no: usize) -> Option<(String, &'a [u8])> {
    let mut pictures = pictures(entry).into_iter();
    pictures
        .find(|shown| shown.call.as_deref() == call && shown.no == no)
        .map(|shown| (shown.kind, shown.data))
}

/// A picture or document, with what it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image<'a> {
    /// The call whose result shows it; none for that of the prompt.
    pub call: Option<String>,
    /// Its number, from 0, within the prompt or the result.
    pub no: usize,
    /// Its media type.
    pub kind: String,
    /// Its base64.
    pub data: &'a [u8],
}

/// Lists all pictures and documents on a line. Of several results of one call the first counts.
pub fn pictures<'a>(entry: &Entry<'a>) -> Vec<Image<'a>> {
    let Some(message) = entry.message.as_ref() else { return Vec::new() };
    let mut pictures = Vec::new();
    let mut list = |content: &Content<'a>, call: Option<&str>| {
        for (no, block) in shown(content).enumerate() {
            let (kind, data) = source(block);
            pictures.push(Image { call: call.map(str::to_owned), no, kind: kind.into_owned(), data });
        }
    };
    list(&message.content, None);
    let mut answered = HashSet::new();
    let results = message.content.blocks().iter().filter(|block| block.kind == BlockKind::ToolResult);
    for (result, call) in results.filter_map(|block| Some((block, block.id?.decode()))) {
        if answered.insert(call.clone()) {
            list(&result.result(), Some(&call));
        }
    }
    pictures
}

fn shown<'c, 'a>(content: &'c Content<'a>) -> impl Iterator<Item = &'c Block<'a>> {
    content.blocks().iter().filter(|block| matches!(block.kind, BlockKind::Image | BlockKind::Document))
}

fn source<'a>(block: &Block<'a>) -> (Cow<'a, str>, &'a [u8]) {
    let source = block.body.unwrap_or_default();
    let field = |name| members(source).find(|(key, _)| key.is(name)).map(|(_, value)| value);
    let kind = field("media_type").map_or_else(|| block.kind.name().into(), value_text);
    let data = field("data").unwrap_or_default();
    // A string stands between quotes.
    (kind, data.get(1..data.len().saturating_sub(1)).unwrap_or_default())
}
