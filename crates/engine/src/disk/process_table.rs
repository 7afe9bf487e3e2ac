//! Other processes: whether they run, and whether they have a file open.

use std::fmt;
use std::fs::{File, Metadata};

use super::lease::FileLease;
use crate::error::LiveEvidence;

/// Knowledge about other processes. It is never complete: `None` and `true` may mean that nothing is known.
pub trait ProcessTable: fmt::Debug + Send + Sync {
    /// Returns `false` if no process has this id. Returns `true` if it is unknown.
    fn is_running(&self, pid: u32) -> bool;

    /// Finds another process that has one of the files open for writing. `None` does not prove that there is none.
    fn find_writer(&self, files: &[Metadata]) -> Option<LiveEvidence>;

    /// Keeps other processes from opening a file for writing until the lease is dropped. `file` must be open for reading
    /// only. Returns `None` if a process has it open for writing, or if this is not supported.
    fn block_writers<'f>(&self, file: &'f File) -> Option<FileLease<'f>>;

    /// Keeps other processes from opening a file until the lease is dropped. Returns `None` if it is open elsewhere, even in
    /// this process, or if this is not supported.
    fn block_opens<'f>(&self, file: &'f File) -> Option<FileLease<'f>>;
}

/// A table without knowledge, as on a system that reveals nothing about other processes.
#[derive(Debug, Clone, Copy)]
pub struct UnknownProcesses;

impl ProcessTable for UnknownProcesses {
    fn is_running(&self, _: u32) -> bool {
        true
    }

    fn find_writer(&self, _: &[Metadata]) -> Option<LiveEvidence> {
        None
    }

    fn block_writers<'f>(&self, _: &'f File) -> Option<FileLease<'f>> {
        None
    }

    fn block_opens<'f>(&self, _: &'f File) -> Option<FileLease<'f>> {
        None
    }
}

/// Returns the ids of the parent of this process, of its parent, and so on, at most `limit` of them. The list is shorter where
/// the system does not reveal them.
pub(crate) fn list_ancestor_processes(limit: usize) -> Vec<u32> {
    std::iter::successors(find_own_parent(), |&pid| find_parent(pid)).take(limit).collect()
}

/// Returns the time at which a process started, as the system counts it. Returns `None` if the process is not found, or the
/// system does not reveal it.
#[cfg(target_os = "linux")]
pub(crate) fn find_process_start(pid: u32) -> Option<String> {
    // The 22nd field; the two before the name are not in the rest.
    const START_IDX: usize = 19;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(START_IDX).map(str::to_owned)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn find_process_start(_: u32) -> Option<String> {
    None
}

#[cfg(unix)]
fn find_own_parent() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

#[cfg(not(unix))]
fn find_own_parent() -> Option<u32> {
    None
}

/// Returns the id of the parent of a process. Returns `None` if the process is not found or is the first one.
#[cfg(target_os = "linux")]
fn find_parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses and may contain spaces and parentheses.
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(1)?.parse().ok().filter(|&parent| parent > 0)
}

#[cfg(not(target_os = "linux"))]
fn find_parent(_: u32) -> Option<u32> {
    None
}

/// The processes of this machine, as far as the system reveals them: `/proc` and file leases on Linux.
#[derive(Debug, Clone, Copy)]
pub struct SystemProcesses;

impl ProcessTable for SystemProcesses {
    #[cfg(unix)]
    fn is_running(&self, pid: u32) -> bool {
        let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
        // The process of another user exists, but may not be signalled.
        pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
    }

    #[cfg(not(unix))]
    fn is_running(&self, _: u32) -> bool {
        true
    }

    #[cfg(target_os = "linux")]
    fn find_writer(&self, files: &[Metadata]) -> Option<LiveEvidence> {
        find_writer_in_proc(files)
    }

    #[cfg(not(target_os = "linux"))]
    fn find_writer(&self, _: &[Metadata]) -> Option<LiveEvidence> {
        None
    }

    fn block_writers<'f>(&self, file: &'f File) -> Option<FileLease<'f>> {
        FileLease::against_writers(file)
    }

    fn block_opens<'f>(&self, file: &'f File) -> Option<FileLease<'f>> {
        FileLease::against_opens(file)
    }
}

/// Searches `/proc`. The open files of other users' processes are usually not visible.
#[cfg(target_os = "linux")]
fn find_writer_in_proc(files: &[Metadata]) -> Option<LiveEvidence> {
    use std::os::unix::fs::MetadataExt;
    let inodes: Vec<(u64, u64)> = files.iter().map(|file| (file.dev(), file.ino())).collect();
    for process in std::fs::read_dir("/proc").ok()?.filter_map(Result::ok) {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let fds = std::fs::read_dir(process.path().join("fd")).ok().filter(|_| pid != std::process::id());
        for fd in fds.into_iter().flatten().filter_map(Result::ok) {
            // Skip sockets and pipes: their link targets are not absolute paths. Reading a link is cheap and never blocks.
            if !std::fs::read_link(fd.path()).is_ok_and(|target| target.is_absolute()) {
                continue;
            }
            let Ok(meta) = std::fs::metadata(fd.path()) else { continue };
            if inodes.contains(&(meta.dev(), meta.ino()))
                && is_open_for_writing(&process.path(), &fd.file_name())
            {
                let name = std::fs::read_to_string(process.path().join("comm")).unwrap_or_default();
                return Some(LiveEvidence::Open(pid, name.trim().to_owned()));
            }
        }
    }
    None
}

/// Returns `true` if a file descriptor was opened for writing.
#[cfg(target_os = "linux")]
fn is_open_for_writing(process: &std::path::Path, fd: &std::ffi::OsStr) -> bool {
    let info = std::fs::read_to_string(process.join("fdinfo").join(fd)).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap_or_default();
    u32::from_str_radix(flags.trim(), 8).is_ok_and(|flags| flags & 3 != 0)
}
