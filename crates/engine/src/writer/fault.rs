//! Fault injection for tests: a call of [`super::fs`] fails, aborts the process or waits. Exists only in debug builds.

use std::io;

#[cfg(debug_assertions)]
pub use self::injected::inject_fault;

/// Returns the injected error of this call. Aborts or waits if the test asks for it.
#[cfg(debug_assertions)]
pub(super) fn check() -> io::Result<()> {
    match injected::next_fault() {
        None => Ok(()),
        Some(fault) => Err(fault.to_error()),
    }
}

/// Does nothing: faults exist only in debug builds.
#[cfg(not(debug_assertions))]
#[expect(clippy::unnecessary_wraps, reason = "debug builds return errors")]
pub(super) fn check() -> io::Result<()> {
    Ok(())
}

/// Does the same as [`check`] before a write of `len` bytes. Returns the number of bytes to write before the error.
#[cfg(debug_assertions)]
pub(super) fn check_write(len: usize) -> Result<(), (usize, io::Error)> {
    match injected::next_fault() {
        None => Ok(()),
        Some(fault) => Err((fault.written_len(len), fault.to_error())),
    }
}

/// Does nothing: faults exist only in debug builds.
#[cfg(not(debug_assertions))]
#[expect(clippy::unnecessary_wraps, reason = "debug builds return errors")]
pub(super) fn check_write(_: usize) -> Result<(), (usize, io::Error)> {
    Ok(())
}

#[cfg(debug_assertions)]
mod injected {
    use std::io;
    use std::path::PathBuf;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    /// The fault of this process and the call at which it occurs.
    static FAULT: OnceLock<Fault> = OnceLock::new();
    /// The number of calls so far.
    static CALLS: AtomicU32 = AtomicU32::new(0);

    /// A fault at one call, or at all calls from one on.
    #[derive(Debug)]
    pub(in super::super) struct Fault {
        kind: FaultKind,
        /// The number of the call, from 1.
        call: u32,
        /// Whether all later calls fail, too.
        is_permanent: bool,
    }

    #[derive(Debug)]
    enum FaultKind {
        /// The process aborts before the call.
        Abort,
        /// The call fails with this error number.
        Error(i32),
        /// Half of the bytes are written, then the disk is full.
        ShortWrite,
        /// The process creates this file and waits until it is deleted.
        Pause(PathBuf),
    }

    const EIO: i32 = 5;
    const ENOSPC: i32 = 28;

    impl Fault {
        pub(super) fn to_error(&self) -> io::Error {
            io::Error::from_raw_os_error(if let FaultKind::Error(number) = self.kind {
                number
            } else {
                ENOSPC
            })
        }

        pub(super) fn written_len(&self, len: usize) -> usize {
            if matches!(self.kind, FaultKind::ShortWrite) { len / 2 } else { 0 }
        }

        /// Parses `abort:7`, `eio:7`, `enospc:7`, `short:7` or `pause:7:FILE`. A `+` after the number makes it permanent.
        fn parse(text: &str) -> Option<Fault> {
            let mut parts = text.splitn(3, ':');
            let (kind, call) = (parts.next()?, parts.next()?);
            let kind = match (kind, parts.next()) {
                ("abort", None) => FaultKind::Abort,
                ("eio", None) => FaultKind::Error(EIO),
                ("enospc", None) => FaultKind::Error(ENOSPC),
                ("short", None) => FaultKind::ShortWrite,
                ("pause", Some(file)) => FaultKind::Pause(file.into()),
                _ => return None,
            };
            let is_permanent = call.ends_with('+');
            Some(Fault { kind, call: call.trim_end_matches('+').parse().ok()?, is_permanent })
        }
    }

    /// Injects a fault into this process, as in `abort:7`: it aborts before its seventh file system call that writes.
    /// Returns `false` if the text is not a fault. For tests.
    pub fn inject_fault(fault: &str) -> bool {
        Fault::parse(fault).is_some_and(|fault| FAULT.set(fault).is_ok())
    }

    /// Counts a call. Returns its fault, if the call must fail.
    pub(super) fn next_fault() -> Option<&'static Fault> {
        let call = 1 + CALLS.fetch_add(1, Ordering::Relaxed);
        let fault = FAULT.get()?;
        let is_reached = call == fault.call || (fault.is_permanent && call > fault.call);
        match &fault.kind {
            _ if !is_reached => None,
            FaultKind::Abort => std::process::abort(),
            FaultKind::Pause(file) => {
                // Errors would only make the test wait for the file in vain.
                let _ = std::fs::write(file, call.to_string());
                while file.exists() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                None
            }
            FaultKind::Error(_) | FaultKind::ShortWrite => Some(fault),
        }
    }
}
