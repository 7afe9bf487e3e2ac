//! Reads the frames of packs.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::catalog_record::{FrameRecord, PackRecord};
use crate::plain_file::open_file;

/// The maximum length of a decompressed frame.
pub(crate) const MAX_FRAME_BYTES: usize = 1 << 20;

/// Returns the path of a pack in the folder of a machine.
pub(crate) fn pack_path(machine_dir: &Path, name: &str) -> PathBuf {
    machine_dir.join("packs").join(format!("{name}.zst"))
}

/// Reads and decompresses a frame of a pack.
pub(crate) fn read_frame(machine_dir: &Path, pack: &PackRecord, frame_idx: u32) -> io::Result<Vec<u8>> {
    let frame = usize::try_from(frame_idx).ok().and_then(|idx| pack.frames.get(idx));
    let frame = frame.ok_or(io::ErrorKind::InvalidData)?;
    let mut file = open_file(&pack_path(machine_dir, &pack.pack))?;
    file.seek(SeekFrom::Start(frame.offset))?;
    decompress_frame(&mut file, frame)
}

/// Reads the frame at the position of the file and decompresses it. Returns an error unless it has the recorded length.
pub(crate) fn decompress_frame(file: &mut File, frame: &FrameRecord) -> io::Result<Vec<u8>> {
    let mut compressed = Vec::new();
    file.take(frame.bytes).read_to_end(&mut compressed)?;
    let bytes: u64 = frame.segments.iter().map(|segment| segment.bytes).sum();
    let capacity = usize::try_from(bytes).ok().filter(|&bytes| bytes <= MAX_FRAME_BYTES);
    let capacity = capacity.ok_or(io::ErrorKind::InvalidData)?;
    let content = decompress(&compressed, capacity)?;
    if content.len() as u64 == bytes { Ok(content) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Decompresses a zstd frame of at most `capacity` bytes. Each thread keeps its decompressor, because creating one costs a
/// twentieth of a frame.
fn decompress(compressed: &[u8], capacity: usize) -> io::Result<Vec<u8>> {
    thread_local! {
        static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
    }
    DECOMPRESSOR.with_borrow_mut(|decompressor| {
        let decompressor = match decompressor {
            Some(decompressor) => decompressor,
            None => decompressor.insert(zstd::bulk::Decompressor::new()?),
        };
        decompressor.decompress(compressed, capacity)
    })
}
