//! File leases of Linux: they keep other processes from opening a file for a moment, and prove that none has it open.
//!
//! A lease sees the processes of other users and containers, which `/proc` does not show. The kernel delays a process that
//! opens the file until the lease is released, at most 45 seconds.
#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "no safe wrapper of `F_SETLEASE` exists"))]

use std::fs::File;

/// A lease on a file, released when dropped.
#[derive(Debug)]
pub struct FileLease<'f> {
    file: &'f File,
}

impl<'f> FileLease<'f> {
    /// Keeps other processes from opening a file for writing. `file` must be open for reading only.
    ///
    /// Returns `None` if a process has the file open for writing, or if the file system has no leases.
    pub(super) fn against_writers(file: &'f File) -> Option<FileLease<'f>> {
        FileLease::acquire(file, LeaseKind::Writers)
    }

    /// Keeps other processes from opening a file at all.
    ///
    /// Returns `None` if the file is open elsewhere, even in this process, or if the file system has no leases.
    pub(super) fn against_opens(file: &'f File) -> Option<FileLease<'f>> {
        FileLease::acquire(file, LeaseKind::Opens)
    }

    #[cfg(target_os = "linux")]
    fn acquire(file: &'f File, kind: LeaseKind) -> Option<FileLease<'f>> {
        let kind = match kind {
            LeaseKind::Writers => libc::F_RDLCK,
            LeaseKind::Opens => libc::F_WRLCK,
        };
        // The kernel signals each delayed open. The default signal, SIGIO, would end the process; SIGURG is ignored.
        let has_signal = control(file, F_SETSIG, libc::SIGURG);
        (has_signal && control(file, libc::F_SETLEASE, kind)).then_some(FileLease { file })
    }

    #[cfg(not(target_os = "linux"))]
    fn acquire(_: &'f File, _: LeaseKind) -> Option<FileLease<'f>> {
        None
    }
}

/// The command of `fcntl` that sets the signal for delayed opens. The crate `libc` does not define it.
#[cfg(target_os = "linux")]
const F_SETSIG: i32 = 10;

/// The opens that a lease delays.
#[derive(Debug, Clone, Copy)]
enum LeaseKind {
    Writers,
    Opens,
}

impl Drop for FileLease<'_> {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        control(self.file, libc::F_SETLEASE, libc::F_UNLCK);
    }
}

/// Calls `fcntl` with an integer argument. Returns `false` if it fails.
#[cfg(target_os = "linux")]
fn control(file: &File, command: i32, argument: i32) -> bool {
    use std::os::fd::AsRawFd;
    // SAFETY: The descriptor is open while `file` is borrowed, and these commands take an integer and no pointer.
    unsafe { libc::fcntl(file.as_raw_fd(), command, argument) == 0 }
}
