//! Which sessions a client has open right now.

use std::path::Path;

use super::open::read_side;
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
