//! `rm`: moves a session and all its files to the trash.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::agents::find_agent_paths;
use crate::disk::{find_client_dir, total_size};
use crate::edit::effect::{FileEffect, plan_effects};
use crate::error::Error;
use crate::ops::resolve::ensure_on_disk;
use crate::session::load::{LoadOptions, load};
use crate::writer::{FileOp, OpId, Plan, SessionWriter};

/// Options of [`remove`].
#[derive(Debug, Clone, Default)]
pub struct RemoveRequest {
    /// The session file.
    pub path: PathBuf,
    /// Write even if another process is using the session.
    pub even_if_live: bool,
    /// Report the effects without writing.
    pub dry_run: bool,
}

/// The result of [`remove`].
#[derive(Debug, Clone)]
pub struct RemoveOutcome {
    /// The number of the op. `None` in a dry run.
    pub op: Option<OpId>,
    /// The session id.
    pub session: String,
    /// The total size of its files in bytes.
    pub bytes: u64,
    /// The effects on files.
    pub effects: Vec<FileEffect>,
}

/// Moves a session to the trash: its file, its folder, its subagents, and the client's other files about it.
pub fn remove(writer: &SessionWriter, request: &RemoveRequest) -> Result<RemoveOutcome, Error> {
    let path = &request.path;
    ensure_on_disk(path)?;
    std::fs::metadata(path).map_err(Error::reading(path))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let paths = find_session_paths(path, &stem);
    // A file that cannot be read can still be removed.
    let session = load(path, LoadOptions::default(), &mut ()).map_or(stem, |session| session.id);
    let bytes = paths.iter().map(|path| total_size(path)).sum();
    let plan = Plan {
        command: "rm",
        session: session.clone(),
        about: match paths.len() {
            1 => "1 file".to_owned(),
            count => format!("{count} files and folders"),
        },
        file_ops: paths.into_iter().map(|path| FileOp::Remove { path }).collect(),
        even_if_live: request.even_if_live,
    };
    let effects = plan_effects(&plan);
    let op = if request.dry_run { None } else { Some(writer.commit(plan, || Ok(()))?) };
    Ok(RemoveOutcome { op, session, bytes, effects })
}

/// Returns the session file and then all other files and folders that belong to this session only, sorted. `id` is the
/// name of the file without extension.
fn find_session_paths(path: &Path, id: &str) -> Vec<PathBuf> {
    let mut paths = vec![path.to_owned()];
    let if_exists = |path: PathBuf| std::fs::symlink_metadata(&path).is_ok().then_some(path);
    if id.starts_with("agent-") {
        paths.extend(if_exists(path.with_extension("meta.json")));
        return paths;
    }
    if path.extension() != Some(OsStr::new("jsonl")) {
        return paths;
    }
    let side_dir = path.with_extension("");
    for agent in find_agent_paths(path).into_iter().filter(|agent| !agent.starts_with(&side_dir)) {
        paths.extend(if_exists(agent.with_extension("meta.json")));
        paths.push(agent);
    }
    paths.extend(if_exists(side_dir).filter(|side_dir| side_dir.is_dir()));
    if let Some(client_dir) = find_client_dir(path) {
        paths.extend(if_exists(client_dir.join("file-history").join(id)));
        paths.extend(if_exists(client_dir.join("tasks").join(id)));
        let todo_files =
            std::fs::read_dir(client_dir.join("todos")).ok().into_iter().flatten().filter_map(Result::ok);
        let prefix = format!("{id}-");
        let is_own = |name: &OsStr| {
            name.to_str().is_some_and(|name| name.starts_with(&prefix) && name.ends_with(".json"))
        };
        paths.extend(todo_files.filter(|todo| is_own(&todo.file_name())).map(|todo| todo.path()));
    }
    paths[1..].sort();
    paths
}
