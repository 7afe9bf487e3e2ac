//! `rename`: sets the title of a session by appending the two lines that the client's own `/rename` writes.

use std::path::{Path, PathBuf};

use crate::disk::TailFingerprint;
use crate::edit::effect::{FileEffect, plan_effects};
use crate::edit::title::{parse_title, render_title_lines};
use crate::error::Error;
use crate::ops::resolve::ensure_on_disk;
use crate::session::load::{LoadOptions, load};
use crate::writer::{FileOp, OpId, Plan, SessionWriter};

/// Options of [`rename`].
#[derive(Debug, Clone, Default)]
pub struct RenameRequest {
    /// The session file.
    pub path: PathBuf,
    /// The new title.
    pub title: String,
    /// Write even if another process is using the session.
    pub even_if_live: bool,
    /// Report the effects without writing.
    pub dry_run: bool,
}

/// The result of [`rename`].
#[derive(Debug, Clone)]
pub struct RenameOutcome {
    /// The number of the op. `None` in a dry run.
    pub op: Option<OpId>,
    /// The session id.
    pub session: String,
    /// The previous title.
    pub old_title: String,
    /// The new title.
    pub title: String,
    /// The effects on files.
    pub effects: Vec<FileEffect>,
}

/// Sets the title of a session, and verifies it by reading the file again.
pub fn rename(writer: &SessionWriter, request: &RenameRequest) -> Result<RenameOutcome, Error> {
    let path = &request.path;
    ensure_on_disk(path)?;
    let fingerprint = TailFingerprint::from_path(path).map_err(Error::reading(path))?;
    let session = load(path, LoadOptions::default(), &mut ())?;
    let title = parse_title(&request.title)?;
    let plan = Plan {
        command: "rename",
        session: session.id.clone(),
        about: format!("to \"{title}\""),
        file_ops: vec![FileOp::Append {
            path: path.clone(),
            fingerprint,
            bytes: build_lines(&title, &session.id, fingerprint.unterminated),
        }],
        even_if_live: request.even_if_live,
    };
    let effects = plan_effects(&plan);
    let op = match request.dry_run {
        true => None,
        false => Some(writer.commit(plan, || verify_title(path, &title))?),
    };
    Ok(RenameOutcome { op, session: session.id, old_title: session.title.text, title, effects })
}

/// Builds the bytes to append. Starts with a newline if the last line of the file is unterminated.
fn build_lines(title: &str, session: &str, is_unterminated: bool) -> Vec<u8> {
    let [custom, agent] = render_title_lines(title, session);
    let newline: &[u8] = if is_unterminated { b"\n" } else { b"" };
    [newline, &custom, b"\n", &agent, b"\n"].concat()
}

/// Verifies that the file has the title now.
fn verify_title(path: &Path, title: &str) -> Result<(), Error> {
    let actual = load(path, LoadOptions::default(), &mut ())?.info.custom_title;
    let is_set = actual.is_some_and(|actual| actual == title);
    if is_set { Ok(()) } else { Err(Error::VerificationFailed { path: path.to_owned() }) }
}
