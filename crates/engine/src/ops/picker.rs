//! `ls --why`: why the list of `claude --resume` does not contain a session.
//!
//! The rules were measured on the lists of 1.0.98, 2.0.65, 2.1.42, 2.1.104, 2.1.221 and 2.1.325 (FORMAT.md, "The list of `--resume`").

use std::path::{Path, PathBuf};

use crate::Error;
use crate::disk::{find_client_dir, is_only_archived};
use crate::session::load::{LoadOptions, load};

/// A session and the reasons why the client's list does not contain it.
#[derive(Debug, Clone)]
pub struct PickerReport {
    /// The session id.
    pub id: String,
    /// The title.
    pub title: String,
    /// The folder in which the client must be started to list it. `None` if it is unknown.
    pub folder: Option<String>,
    /// The reasons. Empty if nothing hides the session.
    pub reasons: Vec<PickerReason>,
}

/// A reason why the client does not list a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickerReason {
    /// The file is not directly in a project folder of a client.
    OutsideProjects,
    /// Only the archive has the file.
    OnlyArchived,
    /// It is the transcript of a subagent.
    Subagent,
    /// The file has no message.
    NoMessages,
    /// A program ran the session: the entrypoints. Measured for `sdk-cli`, which `claude -p` writes.
    Headless {
        /// The entrypoints in the file.
        entrypoints: Vec<String>,
    },
    /// The folder of the session does not exist, so no client can be started there.
    FolderGone,
}

impl PickerReason {
    /// Returns the name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            PickerReason::OutsideProjects => "outside_projects",
            PickerReason::OnlyArchived => "only_archived",
            PickerReason::Subagent => "subagent",
            PickerReason::NoMessages => "no_messages",
            PickerReason::Headless { .. } => "headless",
            PickerReason::FolderGone => "folder_gone",
        }
    }
}

/// Finds the reasons why the client does not list the session in the file at `path`.
pub fn explain_picker(path: &Path) -> Result<PickerReport, Error> {
    let session = load(path, LoadOptions::default(), &mut ())?;
    let info = &session.info;
    let folder = info.cwd.clone().filter(|folder| !folder.is_empty());
    let mut reasons = Vec::new();
    let is_agent = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"));
    if is_only_archived(path) {
        reasons.push(PickerReason::OnlyArchived);
    } else if is_agent {
        reasons.push(PickerReason::Subagent);
    } else if !is_in_project(path) {
        reasons.push(PickerReason::OutsideProjects);
    }
    if info.is_empty() {
        reasons.push(PickerReason::NoMessages);
    } else if info.is_headless() && !is_agent {
        reasons.push(PickerReason::Headless { entrypoints: info.entrypoints.clone() });
    }
    if folder.as_ref().is_some_and(|folder| !PathBuf::from(folder).is_dir()) {
        reasons.push(PickerReason::FolderGone);
    }
    Ok(PickerReport { title: session.title.text.clone(), id: session.id, folder, reasons })
}

/// Returns `true` if a file is directly in a project folder: `projects/<folder>/<session>.jsonl`.
fn is_in_project(path: &Path) -> bool {
    let projects = path.parent().and_then(Path::parent);
    find_client_dir(path).is_some_and(|dir| projects == Some(&dir.join("projects")))
}
