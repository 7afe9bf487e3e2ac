//! Moves a session with its whole family to the trash.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::agents::family_of;
use crate::disk::{client_home, size_of};
use crate::edit::effect::{Effects, effects};
use crate::error::Error;
use crate::session::load::load_to_tell;
use crate::writer::{FileOp, OpId, Plan, SessionWriter};

/// Which session.
#[derive(Debug, Clone, Default)]
pub struct RemoveRequest {
    /// Its file.
    pub path: PathBuf,
    /// Also while somebody is at work in the session.
    pub even_if_live: bool,
    /// Only say what would happen.
    pub dry_run: bool,
}

/// What was removed.
#[derive(Debug, Clone)]
pub struct Remove {
    /// The op; none where it was only said.
    pub op: Option<OpId>,
    /// The id of the session.
    pub session: String,
    /// How many bytes its files have.
    pub bytes: u64,
    /// What happens to which file.
    pub effects: Effects,
}

/// Moves a session to the trash: its file, its folder, subagents beside it, and what the client keeps of it elsewhere.
pub fn remove(pen: &SessionWriter, request: &RemoveRequest) -> Result<Remove, Error> {
    let path = &request.path;
    std::fs::metadata(path).map_err(Error::reading(path))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let family = family(path, &stem);
    // A file that cannot be read can still be removed.
    let session = load_to_tell(path).map_or(stem, |session| session.id);
    let bytes = family.iter().map(|path| size_of(path)).sum();
    let plan = Plan {
        command: "rm",
        session: session.clone(),
        about: match family.len() {
            1 => "1 file".to_owned(),
            more => format!("{more} files and folders"),
        },
        deeds: family.into_iter().map(|path| FileOp::Remove { path }).collect(),
        even_if_live: request.even_if_live,
    };
    let effects = effects(&plan);
    let op = if request.dry_run { None } else { Some(pen.commit(plan, || Ok(()))?) };
    Ok(Remove { op, session, bytes, effects })
}

/// Finds everything that belongs to a session and to no other: it is known by the name of the session's file.
fn family(path: &Path, id: &str) -> Vec<PathBuf> {
    let mut family = vec![path.to_owned()];
    let there = |path: PathBuf| std::fs::symlink_metadata(&path).is_ok().then_some(path);
    if id.starts_with("agent-") {
        family.extend(there(path.with_extension("meta.json")));
        return family;
    }
    if path.extension() != Some(OsStr::new("jsonl")) {
        return family;
    }
    let side = path.with_extension("");
    for agent in family_of(path).into_iter().filter(|agent| !agent.starts_with(&side)) {
        family.extend(there(agent.with_extension("meta.json")));
        family.push(agent);
    }
    family.extend(there(side).filter(|side| side.is_dir()));
    if let Some(home) = client_home(path) {
        family.extend(there(home.join("file-history").join(id)));
        family.extend(there(home.join("tasks").join(id)));
        let todos = std::fs::read_dir(home.join("todos")).ok().into_iter().flatten().filter_map(Result::ok);
        let prefix = format!("{id}-");
        let mine = |name: &OsStr| {
            name.to_str().is_some_and(|name| name.starts_with(&prefix) && name.ends_with(".json"))
        };
        family.extend(todos.filter(|todo| mine(&todo.file_name())).map(|todo| todo.path()));
    }
    family[1..].sort();
    family
}
