//! Which sessions a client has open right now.

use std::path::Path;

use super::open::read_side;
use crate::error::LiveEvidence;
use rethread_core::entry::{members, value_text};

/// Reads `sessions/<pid>.json` beside the `projects` folder: session ids whose process is alive.
pub(crate) fn live_sessions(root: &Path) -> Vec<String> {
    let home =
        if root.file_name().is_some_and(|name| name == "projects") { root.parent() } else { Some(root) };
    let Some(entries) = home.and_then(|home| std::fs::read_dir(home.join("sessions")).ok()) else {
        return Vec::new();
    };
    let files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|ext| ext == "json"));
    files
        .filter_map(|path| {
            let pid: u32 = path.file_stem()?.to_str()?.parse().ok()?;
            // Where the system does not say, a registered process counts as alive: it is the safer guess.
            let proc = Path::new("/proc");
            if proc.join("self").exists() && !proc.join(pid.to_string()).exists() {
                return None;
            }
            let bytes = read_side(&path)?;
            let id = members(&bytes).find(|(key, _)| key.is("sessionId")).map(|(_, value)| value_text(value));
            id.map(std::borrow::Cow::into_owned)
        })
        .collect()
}

/// Returns the client's home that a session file lies in: the folder with `projects` in it.
pub(crate) fn client_home(path: &Path) -> Option<&Path> {
    path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "projects"))?.parent()
}

/// Finds a process other than this one that has one of the files open for writing, where the system tells.
#[cfg(target_os = "linux")]
pub(crate) fn writer_of(files: &[std::fs::Metadata]) -> Option<LiveEvidence> {
    use std::os::unix::fs::MetadataExt;
    let wanted: Vec<(u64, u64)> = files.iter().map(|file| (file.dev(), file.ino())).collect();
    for process in std::fs::read_dir("/proc").ok()?.filter_map(Result::ok) {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let open = std::fs::read_dir(process.path().join("fd")).ok().filter(|_| pid != std::process::id());
        for fd in open.into_iter().flatten().filter_map(Result::ok) {
            // Sockets and pipes are no files; asking each what it is costs less than waiting for a dead mount.
            if !std::fs::read_link(fd.path()).is_ok_and(|to| to.is_absolute()) {
                continue;
            }
            let Ok(meta) = std::fs::metadata(fd.path()) else { continue };
            if wanted.contains(&(meta.dev(), meta.ino())) && writes(&process.path(), &fd.file_name()) {
                let name = std::fs::read_to_string(process.path().join("comm")).unwrap_or_default();
                return Some(LiveEvidence::Open(pid, name.trim().to_owned()));
            }
        }
    }
    None
}

/// Where the system does not tell, nobody is seen.
#[cfg(not(target_os = "linux"))]
pub(crate) fn writer_of(_: &[std::fs::Metadata]) -> Option<LiveEvidence> {
    None
}

/// Whether a descriptor was opened for writing.
#[cfg(target_os = "linux")]
fn writes(process: &Path, fd: &std::ffi::OsStr) -> bool {
    let info = std::fs::read_to_string(process.join("fdinfo").join(fd)).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap_or_default();
    u32::from_str_radix(flags.trim(), 8).is_ok_and(|flags| flags & 3 != 0)
}
