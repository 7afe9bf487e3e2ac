//! Decompressed frames that this process read last.
//!
//! A frame has the content of many small files, which are usually read one after the other.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::catalog_record::{ContentSegment, PackRecord};
use super::frame::read_frame;

/// The maximum number of frames, of at most 1 MB each.
const MAX_FRAMES: usize = 32;

/// A frame by the hash of its pack and its index in it.
type CachedFrame = (String, u32, Arc<LoadedFrame>);

/// A decompressed frame.
#[derive(Debug, Default)]
pub(super) struct LoadedFrame {
    pub(super) content: Vec<u8>,
    /// The segments that were compared with their hashes, each with its offset. Reading a line would compare a whole
    /// segment again.
    verified: Mutex<HashSet<(u64, u64, blake3::Hash)>>,
}

impl LoadedFrame {
    /// Returns the position of a segment, after comparing it with its hash once. Returns `None` if it differs.
    pub(super) fn find_segment(&self, offset: u64, segment: &ContentSegment) -> Option<Range<usize>> {
        let start = usize::try_from(offset).ok()?;
        let range = start..start.checked_add(usize::try_from(segment.bytes).ok()?)?;
        let content = self.content.get(range.clone())?;
        let key = (offset, segment.bytes, segment.hash);
        let lock = || self.verified.lock().unwrap_or_else(PoisonError::into_inner);
        if !lock().contains(&key) {
            if blake3::hash(content) != segment.hash {
                return None;
            }
            lock().insert(key);
        }
        Some(range)
    }
}

/// The frames, the one used last at the end.
static FRAMES: Mutex<VecDeque<CachedFrame>> = Mutex::new(VecDeque::new());

fn lock_frames() -> MutexGuard<'static, VecDeque<CachedFrame>> {
    FRAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the content of a frame, from the cache if possible.
pub(super) fn load_frame(
    machine_dir: &Path,
    pack: &PackRecord,
    frame_idx: u32,
) -> io::Result<Arc<LoadedFrame>> {
    let take_cached = || {
        let mut frames = lock_frames();
        let is_frame = |(name, idx, _): &CachedFrame| *idx == frame_idx && *name == pack.pack;
        let position = frames.iter().rposition(is_frame)?;
        let found = frames.remove(position)?;
        let content = Arc::clone(&found.2);
        frames.push_back(found);
        Some(content)
    };
    if let Some(content) = take_cached() {
        return Ok(content);
    }
    // Other threads read other frames meanwhile.
    let content = read_frame(machine_dir, pack, frame_idx)?;
    let content = Arc::new(LoadedFrame { content, ..LoadedFrame::default() });
    let mut frames = lock_frames();
    if frames.len() >= MAX_FRAMES {
        frames.pop_front();
    }
    frames.push_back((pack.pack.clone(), frame_idx, Arc::clone(&content)));
    Ok(content)
}
