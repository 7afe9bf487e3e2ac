//! The folder of the demo store, which all commands of a user share.
//!
//! `lock` protects `store`: a command that reads or changes sessions holds it shared, a command that creates the store
//! exclusively. The store is renamed into place once it is complete.
#![expect(clippy::disallowed_methods, reason = "creates the demo store in a folder of its own")]

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::write_sessions;

/// The age at which an unchanged store is created again, because its dates look stale.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);

/// A demo store on disk. No other process replaces it before this value is dropped.
pub(super) struct KeptFolder {
    store: PathBuf,
    _lock: File,
}

/// The state of the store on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoreState {
    Missing,
    /// Unchanged, and more than a day old or written by another version.
    Outdated,
    Usable,
}

impl KeptFolder {
    /// Opens the store below `dir` and creates it if necessary. Other processes may do the same at any time.
    ///
    /// Returns [`io::ErrorKind::ResourceBusy`] if `is_reset` is set and another process uses the store.
    pub(super) fn open(dir: &Path, now: jiff::Timestamp, is_reset: bool) -> io::Result<KeptFolder> {
        std::fs::create_dir_all(dir)?;
        let lock =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(dir.join("lock"))?;
        let store = dir.join("store");
        if is_reset {
            match lock.try_lock() {
                Ok(()) => replace_store(dir, now)?,
                Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::ResourceBusy.into()),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            lock.unlock()?;
        }
        loop {
            lock.lock_shared()?;
            let state = read_state(&store);
            if state == StoreState::Usable {
                break;
            }
            lock.unlock()?;
            // A store that another process uses is kept, however old it is.
            let is_exclusive = match state {
                StoreState::Missing => lock.lock().map(|()| true)?,
                _ => lock.try_lock().is_ok(),
            };
            if is_exclusive {
                // Another process may have created it meanwhile.
                if read_state(&store) != StoreState::Usable {
                    replace_store(dir, now)?;
                }
                lock.unlock()?;
                continue;
            }
            lock.lock_shared()?;
            if read_state(&store) != StoreState::Missing {
                break;
            }
            lock.unlock()?;
        }
        Ok(KeptFolder { store, _lock: lock })
    }

    /// Returns the folder of the store.
    pub(super) fn path(&self) -> &Path {
        &self.store
    }
}

/// Returns whether the store exists, and whether it is worth keeping.
fn read_state(store: &Path) -> StoreState {
    let version = store.join("version");
    let Ok(text) = std::fs::read_to_string(&version) else { return StoreState::Missing };
    // Changes must stay undoable, so a changed store is kept until it is reset.
    if store.join("state/journal.jsonl").exists() {
        return StoreState::Usable;
    }
    let modified = version.metadata().and_then(|meta| meta.modified());
    let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    let is_outdated = text != env!("CARGO_PKG_VERSION") || age.is_some_and(|age| age > MAX_AGE);
    if is_outdated { StoreState::Outdated } else { StoreState::Usable }
}

/// Writes a new store and renames it into place. The caller holds the lock exclusively.
fn replace_store(dir: &Path, now: jiff::Timestamp) -> io::Result<()> {
    let (new, store) = (dir.join("new"), dir.join("store"));
    remove_folder(&new)?;
    std::fs::create_dir_all(&new)?;
    write_sessions(&new, now)?;
    std::fs::write(new.join("version"), env!("CARGO_PKG_VERSION"))?;
    remove_folder(&store)?;
    std::fs::rename(&new, &store)
}

/// Removes a folder with everything in it, if it exists.
fn remove_folder(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::KeptFolder;

    /// Makes the store look as if it was created two days ago.
    fn age_store(dir: &std::path::Path) {
        let version = std::fs::File::options().append(true).open(dir.join("store/version")).unwrap();
        version.set_modified(SystemTime::now() - Duration::from_secs(2 * 24 * 3600)).unwrap();
    }

    #[test]
    fn an_old_store_is_created_again_unless_it_was_changed_or_is_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let (dir, now) = (folder.path(), jiff::Timestamp::UNIX_EPOCH);
        let mark = dir.join("store/.claude/mark");
        let open = |is_reset| KeptFolder::open(dir, now, is_reset);
        drop(open(false).unwrap());
        std::fs::write(&mark, "").unwrap();
        drop(open(false).unwrap());
        assert!(mark.exists(), "the store is kept");
        age_store(dir);
        let user = super::File::open(dir.join("lock")).unwrap();
        user.lock_shared().unwrap();
        drop(open(false).unwrap());
        assert!(mark.exists(), "it is in use");
        assert_eq!(open(true).err().map(|error| error.kind()), Some(std::io::ErrorKind::ResourceBusy));
        drop(user);
        drop(open(false).unwrap());
        assert!(!mark.exists(), "it was stale");
        std::fs::create_dir(dir.join("store/state")).unwrap();
        std::fs::write(dir.join("store/state/journal.jsonl"), "").unwrap();
        age_store(dir);
        drop(open(false).unwrap());
        assert!(dir.join("store/state").exists(), "it has changes that can be undone");
        drop(open(true).unwrap());
        assert!(!dir.join("store/state").exists(), "it was reset");
    }

    #[test]
    fn several_processes_can_create_the_store_at_once() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let kept = KeptFolder::open(folder.path(), jiff::Timestamp::UNIX_EPOCH, false).unwrap();
                    assert!(kept.path().join(".claude/projects").exists());
                });
            }
        });
    }
}
