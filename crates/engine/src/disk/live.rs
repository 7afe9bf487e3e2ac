//! Finds the sessions that a running client has open, and the processes that have files open for writing.

use std::path::Path;

use super::open::read_small_file;
use crate::error::LiveEvidence;
use rethread_core::entry::{members, value_text};

/// Returns the ids of the sessions that running clients have registered in `sessions/<pid>.json`. `root` is a client
/// directory or its `projects` folder. Entries of processes that have ended are skipped.
pub(crate) fn find_live_sessions(root: &Path) -> Vec<String> {
    let client_dir =
        if root.file_name().is_some_and(|name| name == "projects") { root.parent() } else { Some(root) };
    let Some(entries) = client_dir.and_then(|dir| std::fs::read_dir(dir.join("sessions")).ok()) else {
        return Vec::new();
    };
    let files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|ext| ext == "json"));
    files
        .filter_map(|path| {
            let pid: u32 = path.file_stem()?.to_str()?.parse().ok()?;
            // Without `/proc` a registered process counts as alive, which is the safe assumption.
            let proc = Path::new("/proc");
            if proc.join("self").exists() && !proc.join(pid.to_string()).exists() {
                return None;
            }
            let bytes = read_small_file(&path)?;
            let id =
                members(&bytes).find(|(key, _)| key.equals("sessionId")).map(|(_, value)| value_text(value));
            id.map(std::borrow::Cow::into_owned)
        })
        .collect()
}

/// Returns the client directory of a session file: the parent of the `projects` folder. Returns `None` if the path
/// contains no such folder.
pub(crate) fn find_client_dir(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "projects"))?.parent()
}

/// Finds another process that has one of the files open for writing. Returns `None` if none was found. The open files of
/// other users' processes are usually not visible.
#[cfg(target_os = "linux")]
pub(crate) fn find_writer(files: &[std::fs::Metadata]) -> Option<LiveEvidence> {
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

/// Returns `None`: only Linux lists the open files of other processes.
#[cfg(not(target_os = "linux"))]
pub(crate) fn find_writer(_: &[std::fs::Metadata]) -> Option<LiveEvidence> {
    None
}

/// Returns `true` if a file descriptor was opened for writing.
#[cfg(target_os = "linux")]
fn is_open_for_writing(process: &Path, fd: &std::ffi::OsStr) -> bool {
    let info = std::fs::read_to_string(process.join("fdinfo").join(fd)).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap_or_default();
    u32::from_str_radix(flags.trim(), 8).is_ok_and(|flags| flags & 3 != 0)
}
