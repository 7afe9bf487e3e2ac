//! Pictures and documents: told by their place, read from there when they are shown.

use std::borrow::Cow;

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
    let message = entry.message.as_ref()?;
    let find = |content: &Content<'a>| {
        let block = shown(content).nth(no)?;
        let (kind, data) = source(block);
        Some((kind.into_owned(), data))
    };
    let Some(call) = call else { return find(&message.content) };
    let answers = |block: &&Block<'a>| {
        block.kind == BlockKind::ToolResult && block.id.is_some_and(|id| id.decode() == call)
    };
    let result = message.content.blocks().iter().find(answers)?;
    find(&result.result())
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
