//! Images and documents: listed by location, decoded only when shown.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::entry::{Block, BlockKind, Content, Entry, members, value_text};

/// The location of an image or document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// The media type, such as `image/png`. `image` or `document` if the block names none.
    pub kind: String,
    /// The size of the data, in bytes of base64.
    pub bytes: usize,
    /// The line number.
    pub line: u32,
    /// The index, from 0, among the images and documents of the prompt or result on that line.
    pub index: usize,
}

/// Lists the images and documents of a prompt or result on `line`.
pub(super) fn list_media(content: &Content<'_>, line: u32) -> Vec<Media> {
    let to_media = |(idx, block): (usize, &Block<'_>)| {
        let (kind, data) = parse_media_source(block);
        Media { kind: kind.into_owned(), bytes: data.len(), line, index: idx }
    };
    filter_media_blocks(content).enumerate().map(to_media).collect()
}

/// Finds an image or document on a line: in the result of `call`, or in the prompt if `call` is `None`.
///
/// Returns its media type and its base64 data. Returns `None` if the prompt or result has none with index `idx`.
pub fn find_image<'a>(entry: &Entry<'a>, call: Option<&str>, idx: usize) -> Option<(String, &'a [u8])> {
    let mut images = list_images(entry).into_iter();
    images
        .find(|image| image.call.as_deref() == call && image.index == idx)
        .map(|image| (image.kind, image.data))
}

/// An image or document with its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaData<'a> {
    /// The id of the call that returned it. `None` if it is part of the prompt.
    pub call: Option<String>,
    /// The index, from 0, among the images and documents of the prompt or result.
    pub index: usize,
    /// The media type, such as `image/png`. `image` or `document` if the block names none.
    pub kind: String,
    /// The base64 data.
    pub data: &'a [u8],
}

/// Lists all images and documents on a line: those of the prompt, then those of the results, in order.
///
/// If a call has several results, only the first counts. Results without a call id are skipped.
pub fn list_images<'a>(entry: &Entry<'a>) -> Vec<MediaData<'a>> {
    let Some(message) = entry.message.as_ref() else { return Vec::new() };
    let mut images = Vec::new();
    let mut push_images = |content: &Content<'a>, call: Option<&str>| {
        for (idx, block) in filter_media_blocks(content).enumerate() {
            let (kind, data) = parse_media_source(block);
            images.push(MediaData {
                call: call.map(str::to_owned),
                index: idx,
                kind: kind.into_owned(),
                data,
            });
        }
    };
    push_images(&message.content, None);
    let mut seen_calls = HashSet::new();
    let results = message.content.blocks().iter().filter(|block| block.kind == BlockKind::ToolResult);
    for (result, call) in results.filter_map(|block| Some((block, block.id?.decode()))) {
        if seen_calls.insert(call.clone()) {
            push_images(&result.result_content(), Some(&call));
        }
    }
    images
}

fn filter_media_blocks<'c, 'a>(content: &'c Content<'a>) -> impl Iterator<Item = &'c Block<'a>> {
    content.blocks().iter().filter(|block| matches!(block.kind, BlockKind::Image | BlockKind::Document))
}

/// Returns the media type and the base64 data of an image or document block. The data is empty if it is not inline.
fn parse_media_source<'a>(block: &Block<'a>) -> (Cow<'a, str>, &'a [u8]) {
    let source = block.body.unwrap_or_default();
    let field = |name| members(source).find(|(key, _)| key.equals(name)).map(|(_, value)| value);
    let kind = field("media_type").map_or_else(|| block.kind.name().into(), value_text);
    let data = field("data").unwrap_or_default();
    // Strip the quotes of the string.
    (kind, data.get(1..data.len().saturating_sub(1)).unwrap_or_default())
}
