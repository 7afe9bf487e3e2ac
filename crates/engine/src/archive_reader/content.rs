//! Reads the content of an archived file.

use std::io::{self, Read};
use std::path::Path;

use super::catalog::{Catalog, ContentSegment, Generation};
use super::frame::read_frame;

/// A reader of the content of a generation. It holds one decompressed frame at a time.
pub(crate) struct ContentReader<'a> {
    machine_dir: &'a Path,
    catalog: &'a Catalog,
    /// The segments that were not read yet.
    segments: std::slice::Iter<'a, ContentSegment>,
    /// The last frame that was read: indexes of pack and frame, and its content.
    frame: Option<((u32, u32), Vec<u8>)>,
    /// The part of the frame that was not read yet.
    rest: std::ops::Range<usize>,
}

impl<'a> ContentReader<'a> {
    pub(crate) fn new(
        machine_dir: &'a Path,
        catalog: &'a Catalog,
        generation: &'a Generation,
    ) -> ContentReader<'a> {
        ContentReader { machine_dir, catalog, segments: generation.segments.iter(), frame: None, rest: 0..0 }
    }

    /// Makes `rest` the content of the next segment, verified by its hash. Returns `false` at the end.
    fn load_next_segment(&mut self) -> io::Result<bool> {
        let Some(segment) = self.segments.next() else { return Ok(false) };
        let position = self.catalog.find_segment(&segment.hash).ok_or_else(|| damaged("is missing"))?;
        let frame_id = (position.pack, position.frame);
        if self.frame.as_ref().is_none_or(|(loaded, _)| *loaded != frame_id) {
            let pack = &self.catalog.packs[position.pack as usize];
            self.frame = Some((frame_id, read_frame(self.machine_dir, pack, position.frame)?));
        }
        let frame = self.frame.as_ref().map_or(&[][..], |(_, bytes)| bytes);
        let range = usize::try_from(position.offset).ok().zip(usize::try_from(segment.bytes).ok());
        let range = range.and_then(|(start, len)| Some(start..start.checked_add(len)?));
        let range = range.ok_or_else(|| damaged("is damaged"))?;
        let content = frame.get(range.clone()).ok_or_else(|| damaged("is damaged"))?;
        if blake3::hash(content) != segment.hash {
            return Err(damaged("is damaged"));
        }
        self.rest = range;
        Ok(true)
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("archived content {what}"))
}

impl Read for ContentReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            if !self.load_next_segment()? {
                return Ok(0);
            }
        }
        let frame = self.frame.as_ref().map_or(&[][..], |(_, bytes)| bytes);
        let len = out.len().min(self.rest.len());
        out[..len].copy_from_slice(&frame[self.rest.start..self.rest.start + len]);
        self.rest.start += len;
        Ok(len)
    }
}
