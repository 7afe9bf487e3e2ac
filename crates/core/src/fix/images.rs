//! Pictures that the API refuses: those over a limit give way to words, those under a wrong name get the right one.

use std::collections::HashSet;

use super::base64::decode;
use super::context::{RepairContext, with_entry};
use super::fix_set::{Edit, FixAction, FixSet};
use crate::check::{Code, Location, Severity, sniff_image};
use crate::edit::{JsonEdit, PathSegment, quote};
use crate::entry::{Block, BlockKind, Content, JsonStr, member};

/// A picture that was taken out of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extract {
    /// The line of the draft that held it.
    pub line: u32,
    /// Which of the pictures taken out of that line it is, from 1.
    pub number: usize,
    /// Its media type.
    pub media: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What a block says of a picture.
struct Shown {
    says: String,
    is: &'static str,
    /// Bytes of base64.
    length: usize,
    size: Option<(u32, u32)>,
    data: Vec<u8>,
}

/// Mends pictures; those that are taken out are decoded where `extract` says so.
pub(super) fn mend(ward: &mut RepairContext<'_>, extract: bool, treatment: &mut FixSet) {
    let mut done: HashSet<(u32, Option<u16>, Option<u16>)> = HashSet::new();
    for code in [Code::ImageTooLarge, Code::ImageMislabelled] {
        let spots: Vec<Location> =
            ward.found(code, Severity::Warning).flat_map(|finding| finding.spots.clone()).collect();
        for spot in spots {
            // What is taken out needs no other name.
            if done.insert((spot.line, spot.block, spot.inner)) {
                one(ward, code, spot, extract, treatment);
            }
        }
    }
}

fn one(ward: &mut RepairContext<'_>, code: Code, spot: Location, extract: bool, treatment: &mut FixSet) {
    let (Some(no), Some(block)) = (spot.node, spot.block) else { return };
    let bytes = ward.bytes(no);
    let Some(shown) = with_entry(&bytes, |entry| find(entry.blocks(), block, spot.inner)).flatten() else {
        return;
    };
    let mut path = vec![
        PathSegment::from("message"),
        PathSegment::from("content"),
        PathSegment::from(usize::from(block)),
    ];
    if let Some(inner) = spot.inner {
        path.extend([PathSegment::from("content"), PathSegment::from(usize::from(inner))]);
    }
    if code == Code::ImageMislabelled {
        path.extend([PathSegment::from("source"), PathSegment::from("media_type")]);
        treatment.edits.push(Edit::Change(spot.line, vec![JsonEdit::set_string(path, shown.is)]));
        treatment.mend(code, spot.line, FixAction::Relabelled(shown.is));
        return;
    }
    let size = shown.size.map(|(width, height)| format!(", {width} x {height} pixels")).unwrap_or_default();
    let words = format!("{}{size}, {} kB", shown.says, shown.length / 4 * 3 / 1000);
    let text =
        format!("[a picture stood here: {words}; left out by rethread, as it is over a limit of the API]");
    let block = format!(r#"{{"type":"text","text":{}}}"#, quote(&text));
    treatment.edits.push(Edit::Change(spot.line, vec![JsonEdit::set(path, block)]));
    treatment.mend(code, spot.line, FixAction::Told(words));
    if let Some(bytes) = extract.then(|| decode(&shown.data)).flatten() {
        let number = treatment.pictures.iter().filter(|other| other.line == spot.line).count() + 1;
        treatment.pictures.push(Extract { line: spot.line, number, media: shown.is, bytes });
    }
}

fn find(blocks: &[Block<'_>], block: u16, inner: Option<u16>) -> Option<Shown> {
    let outer = blocks.get(usize::from(block))?;
    match inner {
        None => shown(outer),
        Some(inner) => match outer.result() {
            Content::Blocks(inside) => shown(inside.get(usize::from(inner))?),
            _ => None,
        },
    }
}

fn shown(block: &Block<'_>) -> Option<Shown> {
    let source = block.body.filter(|_| block.kind == BlockKind::Image)?;
    let data = member(source, "data").and_then(JsonStr::of_value)?.decode().into_owned().into_bytes();
    let says = member(source, "media_type").and_then(JsonStr::of_value);
    let (is, size) = sniff_image(&data);
    let says = says.map_or_else(|| "image".to_owned(), |says| says.decode().into_owned());
    Some(Shown { says, is: is.name(), length: data.len(), size, data })
}
