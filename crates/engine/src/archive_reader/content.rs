//! Reads the content of archived files.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::archive::{Archive, ArchivedFile};
use super::catalog::{Catalog, ContentSegment, Generation};
use super::frame_cache::{LoadedFrame, load_frame};

/// Loads segments, and keeps the frame of the last one.
#[derive(Debug, Default)]
struct SegmentLoader {
    /// The indexes of pack and frame of the loaded frame.
    frame_id: Option<(u32, u32)>,
    /// The content of the loaded frame.
    frame: Arc<LoadedFrame>,
}

impl SegmentLoader {
    /// Loads the frame of a segment, and verifies the segment by its hash. Returns the part of the frame that is the segment.
    fn load(
        &mut self,
        machine_dir: &Path,
        catalog: &Catalog,
        segment: &ContentSegment,
    ) -> io::Result<Range<usize>> {
        let position = catalog.find_segment(&segment.hash).ok_or_else(|| damaged("is missing"))?;
        let frame_id = (position.pack, position.frame);
        if self.frame_id != Some(frame_id) {
            let pack = &catalog.packs[position.pack as usize];
            self.frame = load_frame(machine_dir, pack, position.frame).map_err(|error| explain(&error))?;
            self.frame_id = Some(frame_id);
        }
        self.frame.find_segment(position.offset, segment).ok_or_else(|| damaged("is damaged"))
    }
}

/// A reader of the content of a generation, from its start. It holds one decompressed frame at a time.
pub(crate) struct ContentReader<'a> {
    machine_dir: &'a Path,
    catalog: &'a Catalog,
    /// The segments that were not read yet.
    segments: std::slice::Iter<'a, ContentSegment>,
    loader: SegmentLoader,
    /// The part of the frame that was not read yet.
    rest: Range<usize>,
}

impl<'a> ContentReader<'a> {
    pub(crate) fn new(
        machine_dir: &'a Path,
        catalog: &'a Catalog,
        generation: &'a Generation,
    ) -> ContentReader<'a> {
        let (segments, loader) = (generation.segments.iter(), SegmentLoader::default());
        ContentReader { machine_dir, catalog, segments, loader, rest: 0..0 }
    }
}

impl Read for ContentReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            let Some(segment) = self.segments.next() else { return Ok(0) };
            self.rest = self.loader.load(self.machine_dir, self.catalog, segment)?;
        }
        let len = out.len().min(self.rest.len());
        out[..len].copy_from_slice(&self.loader.frame.content[self.rest.start..self.rest.start + len]);
        self.rest.start += len;
        Ok(len)
    }
}

/// The content of a generation, with random access: a read decompresses only the frames that it needs.
#[derive(Debug)]
pub(crate) struct ArchivedContent {
    archive: Arc<Archive>,
    machine_idx: usize,
    /// The segments, each with its offset in the content.
    segments: Vec<(u64, ContentSegment)>,
    bytes: u64,
    position: u64,
    loader: SegmentLoader,
    /// The offset of the loaded segment in the content, and the part of the frame that is the segment.
    loaded: Option<(u64, Range<usize>)>,
}

impl ArchivedContent {
    /// Opens the content of a generation of a file in `archive`. Reads nothing yet.
    pub(crate) fn new(
        archive: &Arc<Archive>,
        file: &ArchivedFile<'_>,
        generation: &Generation,
    ) -> ArchivedContent {
        let mut bytes = 0;
        let add_offset = |segment: &ContentSegment| {
            let offset = bytes;
            bytes += segment.bytes;
            (offset, *segment)
        };
        ArchivedContent {
            segments: generation.segments.iter().map(add_offset).collect(),
            archive: Arc::clone(archive),
            machine_idx: file.machine_idx(),
            bytes: generation.bytes,
            position: 0,
            loader: SegmentLoader::default(),
            loaded: None,
        }
    }

    /// Returns the length of the content.
    pub(crate) fn len(&self) -> u64 {
        self.bytes
    }

    /// Returns the loaded bytes from the position on. The result is empty if they are not loaded.
    fn loaded_rest(&self) -> &[u8] {
        let Some((start, range)) = &self.loaded else { return &[] };
        let skipped = self.position.checked_sub(*start).and_then(|skipped| usize::try_from(skipped).ok());
        let segment = &self.loader.frame.content[range.clone()];
        skipped.and_then(|skipped| segment.get(skipped..)).unwrap_or_default()
    }

    /// Loads the segment at the position. Returns `false` at the end.
    fn load_segment(&mut self) -> io::Result<bool> {
        if self.position >= self.bytes {
            return Ok(false);
        }
        let idx = self.segments.partition_point(|(offset, _)| *offset <= self.position);
        let Some((offset, segment)) = idx.checked_sub(1).map(|idx| self.segments[idx]) else {
            return Ok(false);
        };
        let (dir, catalog) =
            self.archive.machine_content(self.machine_idx).ok_or_else(|| damaged("is missing"))?;
        self.loaded = None;
        self.loaded = Some((offset, self.loader.load(dir, catalog, &segment)?));
        Ok(true)
    }
}

impl Read for ArchivedContent {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.loaded_rest().is_empty() && !self.load_segment()? {
            return Ok(0);
        }
        let rest = self.loaded_rest();
        let len = out.len().min(rest.len());
        out[..len].copy_from_slice(&rest[..len]);
        self.position += len as u64;
        Ok(len)
    }
}

impl Seek for ArchivedContent {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(delta) => self.bytes.checked_add_signed(delta),
            SeekFrom::Current(delta) => self.position.checked_add_signed(delta),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("archived content {what}"))
}

/// Returns an error that names the archive: a missing pack is not a missing session file.
fn explain(error: &io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => damaged("is missing"),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::Other => {
            damaged("is damaged")
        }
        kind => io::Error::new(kind, format!("archived content: {}", crate::describe_io_error(error))),
    }
}
