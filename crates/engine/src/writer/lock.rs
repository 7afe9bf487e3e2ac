//! The lock that allows one writer at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, Write};
use std::path::Path;
use std::time::Duration;

use super::files::{create_private_dir, private_mode};
use crate::Error;

/// The number of attempts to acquire the lock, with [`PAUSE`] between them: 5 seconds in all.
const TRIES: u32 = 250;
const PAUSE: Duration = Duration::from_millis(20);

/// The lock on a folder of rethread. It is released when this value is dropped or the process dies.
#[derive(Debug)]
pub(crate) struct StateLock {
    _file: File,
}

impl StateLock {
    /// Acquires the lock. Returns [`Error::Busy`] if another process holds it for more than 5 seconds.
    pub(crate) fn acquire(state_dir: &Path, command: &str) -> Result<StateLock, Error> {
        StateLock::acquire_within(state_dir, command, TRIES)
    }

    /// Acquires the lock without waiting. Returns `None` if it is not free, or on any error.
    pub(super) fn try_acquire(state_dir: &Path, command: &str) -> Option<StateLock> {
        StateLock::acquire_within(state_dir, command, 1).ok()
    }

    /// Acquires the lock with at most `tries` attempts. Writes the process id and `command` to the lock file.
    fn acquire_within(state_dir: &Path, command: &str, tries: u32) -> Result<StateLock, Error> {
        create_private_dir(state_dir).map_err(Error::writing(state_dir))?;
        let path = state_dir.join("lock");
        let file =
            private_mode(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(&path);
        let mut file = file.map_err(Error::writing(&path))?;
        for _ in 0..tries {
            match file.try_lock() {
                Ok(()) => {
                    // The process id and the command only serve the error message of other processes: ignore errors.
                    let _ = file.rewind();
                    let _ = file.write_all(
                        format!("{:<60}\n", format!("{} {command}", std::process::id())).as_bytes(),
                    );
                    return Ok(StateLock { _file: file });
                }
                Err(TryLockError::WouldBlock) if tries > 1 => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(Error::writing(&path)(error)),
            }
        }
        let owner = std::fs::read_to_string(&path).unwrap_or_default();
        Err(Error::Busy { process: owner.trim().to_owned() })
    }
}
