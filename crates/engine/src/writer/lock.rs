//! One writer at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Seek, Write};
use std::path::Path;
use std::time::Duration;

use super::files::{make_folder, private};
use crate::Error;

/// How often it is tried, and how long it waits between.
const TRIES: u32 = 250;
const PAUSE: Duration = Duration::from_millis(20);

/// The lock on a state folder; it goes with this value, also when the process dies.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock; waits a few seconds for another process.
    pub(super) fn take(state: &Path, command: &str) -> Result<Lock, Error> {
        Lock::take_after(state, command, TRIES)
    }

    /// Takes the lock if it is free.
    pub(super) fn take_if_free(state: &Path, command: &str) -> Option<Lock> {
        Lock::take_after(state, command, 1).ok()
    }

    fn take_after(state: &Path, command: &str, tries: u32) -> Result<Lock, Error> {
        make_folder(state).map_err(Error::writing(state))?;
        let path = state.join("lock");
        let file =
            private(OpenOptions::new().read(true).write(true).create(true).truncate(false)).open(&path);
        let mut file = file.map_err(Error::writing(&path))?;
        for _ in 0..tries {
            match file.try_lock() {
                Ok(()) => {
                    // Who has it is only told to others; that it cannot be told is no reason to stop.
                    let _ = file.rewind();
                    let _ = file.write_all(
                        format!("{:<60}\n", format!("{} {command}", std::process::id())).as_bytes(),
                    );
                    return Ok(Lock { _file: file });
                }
                Err(TryLockError::WouldBlock) if tries > 1 => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(Error::writing(&path)(error)),
            }
        }
        let who = std::fs::read_to_string(&path).unwrap_or_default();
        Err(Error::Busy { who: who.trim().to_owned() })
    }
}
