//! Repairs images that the API refuses: replaces images over a limit by text and corrects wrong media types.

use std::collections::HashSet;

use super::base64::decode_base64;
use super::context::RepairContext;
use super::fix_set::{FixAction, FixSet, LineEdit};
use crate::check::{Code, Location, Severity, sniff_image};
use crate::edit::{JsonEdit, PathSegment, quote_json};
use crate::entry::{Block, BlockKind, Content, JsonStr, find_member, with_entry};

/// An image that was removed from a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractedImage {
    /// The line of the draft that contained it.
    pub line: u32,
    /// The number of the image among those removed from that line, from 1.
    pub number: usize,
    /// The media type.
    pub media: &'static str,
    /// The decoded bytes.
    pub bytes: Vec<u8>,
}

/// The source of an image block.
struct ImageSource {
    /// The media type that the block states, or `image`.
    media_type: String,
    /// The media type of the data.
    actual: &'static str,
    /// The length of the base64 data.
    length: usize,
    /// Width and height in pixels, if known.
    size: Option<(u32, u32)>,
    /// The base64 data.
    data: Vec<u8>,
}

/// Adds the repairs of all reported images to `fixes`, and the removed images if `extract` is set.
pub(super) fn fix_images(context: &mut RepairContext<'_>, extract: bool, fixes: &mut FixSet) {
    let mut fixed: HashSet<(u32, Option<u16>, Option<u16>)> = HashSet::new();
    for code in [Code::ImageTooLarge, Code::ImageMislabelled] {
        let locations: Vec<Location> = context
            .diagnostics_for(code, Severity::Warning)
            .flat_map(|diagnostic| diagnostic.locations.clone())
            .collect();
        for location in locations {
            // A removed image needs no other media type.
            if fixed.insert((location.line, location.block, location.inner)) {
                fix_image(context, code, location, extract, fixes);
            }
        }
    }
}

/// Corrects the media type of the image at a location, or replaces the image by a text, depending on the code.
///
/// Does nothing if the location has no image.
fn fix_image(
    context: &mut RepairContext<'_>,
    code: Code,
    location: Location,
    extract: bool,
    fixes: &mut FixSet,
) {
    let (Some(id), Some(block)) = (location.node, location.block) else { return };
    let bytes = context.line_bytes(id);
    let Some(image) = with_entry(&bytes, |entry| find_image(entry.blocks(), block, location.inner)).flatten()
    else {
        return;
    };
    let mut path = vec![
        PathSegment::from("message"),
        PathSegment::from("content"),
        PathSegment::from(usize::from(block)),
    ];
    if let Some(inner) = location.inner {
        path.extend([PathSegment::from("content"), PathSegment::from(usize::from(inner))]);
    }
    if code == Code::ImageMislabelled {
        path.extend([PathSegment::from("source"), PathSegment::from("media_type")]);
        fixes.edits.push(LineEdit::Change(location.line, vec![JsonEdit::set_string(path, image.actual)]));
        fixes.record_fix(code, location.line, FixAction::Relabelled(image.actual));
        return;
    }
    let size = image.size.map(|(width, height)| format!(", {width} x {height} pixels")).unwrap_or_default();
    let description = format!("{}{size}, {} kB", image.media_type, image.length / 4 * 3 / 1000);
    let text = format!("[image removed by rethread because it exceeds a limit of the API: {description}]");
    let block = format!(r#"{{"type":"text","text":{}}}"#, quote_json(&text));
    fixes.edits.push(LineEdit::Change(location.line, vec![JsonEdit::set(path, block)]));
    fixes.record_fix(code, location.line, FixAction::ImageReplaced(description));
    if let Some(bytes) = extract.then(|| decode_base64(&image.data)).flatten() {
        let number = fixes.images.iter().filter(|other| other.line == location.line).count() + 1;
        fixes.images.push(ExtractedImage { line: location.line, number, media: image.actual, bytes });
    }
}

/// Returns the image in block `block`, or in the item `inner` of that block if it is a tool result.
///
/// Returns `None` if there is no image with base64 data.
fn find_image(blocks: &[Block<'_>], block: u16, inner: Option<u16>) -> Option<ImageSource> {
    let outer = blocks.get(usize::from(block))?;
    match inner {
        None => parse_image(outer),
        Some(inner) => match outer.result_content() {
            Content::Blocks(inner_blocks) => parse_image(inner_blocks.get(usize::from(inner))?),
            _ => None,
        },
    }
}

fn parse_image(block: &Block<'_>) -> Option<ImageSource> {
    let source = block.body.filter(|_| block.kind == BlockKind::Image)?;
    let data = find_member(source, "data").and_then(JsonStr::from_value)?.decode().into_owned().into_bytes();
    let media_type = find_member(source, "media_type").and_then(JsonStr::from_value);
    let (actual, size) = sniff_image(&data);
    let media_type =
        media_type.map_or_else(|| "image".to_owned(), |media_type| media_type.decode().into_owned());
    Some(ImageSource { media_type, actual: actual.name(), length: data.len(), size, data })
}
