//! Writes packs: files of zstd frames, each of which contains one or more segments.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::catalog_record::{ContentSegment, FrameRecord, PackRecord};
use super::frame::MAX_FRAME_BYTES;
use crate::writer::NewFile;

/// A frame of at least this length takes no further segment.
const FULL_FRAME_BYTES: usize = 512 << 10;
/// The number of frames that are compressed in parallel.
const BATCH_FRAMES: usize = 8;
/// The length from which on a pack takes no further frames.
const FULL_PACK_BYTES: u64 = 256 << 20;
/// The level of compression.
const LEVEL: i32 = 3;

/// Writes segments to new packs.
#[derive(Debug)]
pub(super) struct PackWriter {
    dir: PathBuf,
    /// The pack that is being written.
    pack: Option<OpenPack>,
    /// The frame that is being filled.
    frame: PendingFrame,
    /// Full frames that are not compressed yet.
    batch: Vec<PendingFrame>,
    finished: Vec<PackRecord>,
    /// The segments in all packs of this writer.
    written: HashSet<blake3::Hash>,
}

#[derive(Debug)]
struct OpenPack {
    file: NewFile,
    hasher: blake3::Hasher,
    bytes: u64,
    frames: Vec<FrameRecord>,
}

#[derive(Debug, Default)]
struct PendingFrame {
    bytes: Vec<u8>,
    segments: Vec<ContentSegment>,
}

impl PackWriter {
    pub(super) fn new(machine_dir: &Path) -> PackWriter {
        PackWriter {
            dir: machine_dir.join("packs"),
            pack: None,
            frame: PendingFrame::default(),
            batch: Vec::new(),
            finished: Vec::new(),
            written: HashSet::new(),
        }
    }

    /// Returns the folder of the packs.
    pub(super) fn dir(&self) -> PathBuf {
        self.dir.clone()
    }

    /// Adds a segment, unless this writer has it already.
    pub(super) fn add(&mut self, segment: ContentSegment, bytes: Vec<u8>) -> io::Result<()> {
        if !self.written.insert(segment.hash) {
            return Ok(());
        }
        if !self.frame.bytes.is_empty() && self.frame.bytes.len() + bytes.len() > MAX_FRAME_BYTES {
            self.end_frame()?;
        }
        self.frame.segments.push(segment);
        if self.frame.bytes.is_empty() {
            self.frame.bytes = bytes;
        } else {
            self.frame.bytes.extend_from_slice(&bytes);
        }
        if self.frame.bytes.len() >= FULL_FRAME_BYTES { self.end_frame() } else { Ok(()) }
    }

    /// Returns `true` if the segment was added since the last call of [`Self::finish`].
    pub(super) fn has_segment(&self, hash: &blake3::Hash) -> bool {
        self.written.contains(hash)
    }

    fn end_frame(&mut self) -> io::Result<()> {
        if !self.frame.segments.is_empty() {
            self.batch.push(std::mem::take(&mut self.frame));
        }
        if self.batch.len() >= BATCH_FRAMES { self.write_batch() } else { Ok(()) }
    }

    fn write_batch(&mut self) -> io::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        let compress = |frame: PendingFrame| {
            zstd::bulk::compress(&frame.bytes, LEVEL).map(|bytes| (bytes, frame.segments))
        };
        // Most runs add one frame. Threads would cost more than they save.
        let compressed: Vec<_> = match batch.len() {
            0 | 1 => batch.into_iter().map(compress).collect::<io::Result<_>>()?,
            _ => batch.into_par_iter().map(compress).collect::<io::Result<_>>()?,
        };
        for (bytes, segments) in compressed {
            let pack = match &mut self.pack {
                Some(pack) => pack,
                None => self.pack.insert(OpenPack::create(&self.dir)?),
            };
            pack.write_frame(&bytes, segments)?;
            if pack.bytes >= FULL_PACK_BYTES {
                self.end_pack()?;
            }
        }
        Ok(())
    }

    fn end_pack(&mut self) -> io::Result<()> {
        let Some(OpenPack { file, hasher, bytes, frames }) = self.pack.take() else { return Ok(()) };
        let pack = hasher.finalize().to_hex().to_string();
        file.publish(&format!("{pack}.zst"))?;
        self.finished.push(PackRecord { pack, bytes, frames });
        Ok(())
    }

    /// Writes the rest durably and returns the new packs.
    pub(super) fn finish(&mut self) -> io::Result<Vec<PackRecord>> {
        self.end_frame()?;
        self.write_batch()?;
        self.end_pack()?;
        self.written.clear();
        Ok(std::mem::take(&mut self.finished))
    }
}

impl OpenPack {
    fn create(dir: &Path) -> io::Result<OpenPack> {
        let file = NewFile::create(dir)?;
        Ok(OpenPack { file, hasher: blake3::Hasher::new(), bytes: 0, frames: Vec::new() })
    }

    fn write_frame(&mut self, compressed: &[u8], segments: Vec<ContentSegment>) -> io::Result<()> {
        self.file.write_all(compressed)?;
        self.hasher.update(compressed);
        let bytes = compressed.len() as u64;
        self.frames.push(FrameRecord { offset: self.bytes, bytes, segments });
        self.bytes += bytes;
        Ok(())
    }
}
