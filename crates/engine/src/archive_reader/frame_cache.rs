//! Decompressed frames that this process read last.
//!
//! A frame has the content of many small files, which are usually read one after the other.

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::catalog_record::PackRecord;
use super::frame::read_frame;

/// The maximum number of frames, of at most 1 MB each.
const MAX_FRAMES: usize = 32;

/// A frame by the hash of its pack and its index in it.
type CachedFrame = (String, u32, Arc<Vec<u8>>);

/// The frames, the one used last at the end.
static FRAMES: Mutex<VecDeque<CachedFrame>> = Mutex::new(VecDeque::new());

fn lock_frames() -> MutexGuard<'static, VecDeque<CachedFrame>> {
    FRAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the content of a frame, from the cache if possible.
pub(super) fn load_frame(machine_dir: &Path, pack: &PackRecord, frame_idx: u32) -> io::Result<Arc<Vec<u8>>> {
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
    let content = Arc::new(read_frame(machine_dir, pack, frame_idx)?);
    let mut frames = lock_frames();
    if frames.len() >= MAX_FRAMES {
        frames.pop_front();
    }
    frames.push_back((pack.pack.clone(), frame_idx, Arc::clone(&content)));
    Ok(content)
}
