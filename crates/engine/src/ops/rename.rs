//! Gives a session a title, as the client's own `/rename` does: two lines at its end.

use std::path::{Path, PathBuf};

use crate::disk::TailFingerprint;
use crate::edit::effect::{Effects, effects};
use crate::edit::title::{read_title, title_lines};
use crate::error::Error;
use crate::session::load::load_to_tell;
use crate::writer::{FileOp, OpId, Plan, SessionWriter};

/// Which session, and what to call it.
#[derive(Debug, Clone, Default)]
pub struct RenameRequest {
    /// Its file.
    pub path: PathBuf,
    /// The title.
    pub title: String,
    /// Also while somebody is at work in the session.
    pub even_if_live: bool,
    /// Only say what would happen.
    pub dry_run: bool,
}

/// What was done.
#[derive(Debug, Clone)]
pub struct Rename {
    /// The op; none where it was only said.
    pub op: Option<OpId>,
    /// The id of the session.
    pub session: String,
    /// What it was called.
    pub before: String,
    /// What it is called now.
    pub title: String,
    /// What happens to which file.
    pub effects: Effects,
}

/// Gives a session a title.
pub fn rename(pen: &SessionWriter, request: &RenameRequest) -> Result<Rename, Error> {
    let path = &request.path;
    let stamp = TailFingerprint::of(path).map_err(Error::reading(path))?;
    let session = load_to_tell(path)?;
    let title = read_title(&request.title)?;
    let plan = Plan {
        command: "rename",
        session: session.id.clone(),
        about: format!("to \"{title}\""),
        deeds: vec![FileOp::Append {
            path: path.clone(),
            stamp,
            bytes: lines(&title, &session.id, stamp.open_end),
        }],
        even_if_live: request.even_if_live,
    };
    let effects = effects(&plan);
    let op = match request.dry_run {
        true => None,
        false => Some(pen.commit(plan, || is_called(path, &title))?),
    };
    Ok(Rename { op, session: session.id, before: session.title.text, title, effects })
}

fn lines(title: &str, session: &str, open_end: bool) -> Vec<u8> {
    let [custom, agent] = title_lines(title, session);
    let start: &[u8] = if open_end { b"\n" } else { b"" };
    [start, &custom, b"\n", &agent, b"\n"].concat()
}

/// Reads the file again: it must say the title now.
fn is_called(path: &Path, title: &str) -> Result<(), Error> {
    let found = load_to_tell(path)?.sketch.custom_title;
    let said = found.is_some_and(|found| found == title);
    if said { Ok(()) } else { Err(Error::VerificationFailed { path: path.to_owned() }) }
}
