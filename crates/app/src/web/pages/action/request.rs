//! One action on one session: its target, its stage, and the parts that all actions have in common.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use maud::Markup;
use rethread_engine::OpId;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::id::Id;
use rethread_engine::ops;
use rethread_engine::ops::NewSession;
use rethread_engine::ops::log::OpChange;

use super::fields::FormFields;
use crate::html::action::{self, ActionForm, ActionSummary, DoneOptions};
use crate::text::command::build_command;
use crate::web::server::Server;

/// The stage of an action that a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActionStage {
    /// Show the form. Only clone and rename have one; other actions show their preview.
    Input,
    /// Show what the action would change.
    Preview,
    /// Carry the action out.
    Do,
}

/// The session that an action is for.
#[derive(Debug, Clone)]
pub(super) struct ActionTarget {
    /// The key of the session in its address.
    pub(super) key: String,
    /// The address of the session's page.
    pub(super) address: String,
    pub(super) path: PathBuf,
    pub(super) title: String,
    /// `true` if a client has the session open.
    pub(super) live: bool,
    /// The fingerprint of the file. A previewed action is carried out only if it has not changed.
    pub(super) fingerprint: String,
    /// The name of the session on the command line.
    name: String,
}

impl ActionTarget {
    /// Finds a session by the key of its address. Returns `None` if no session has this key.
    pub(super) fn find(server: &Server, key: &str) -> Option<ActionTarget> {
        let list = server.sessions.current(&server.context);
        let row = list.find(key)?;
        let is_unique = list.rows().filter(|(_, other)| other.id == row.id).count() == 1;
        // An id that starts with a dash would be parsed as an option.
        let has_usable_id = is_unique && !row.id.starts_with('-');
        let name = if has_usable_id { row.id.clone() } else { row.path.display().to_string() };
        Some(ActionTarget {
            key: key.to_owned(),
            address: server.site().session(key),
            path: row.path.clone(),
            title: row.title.text.clone(),
            live: row.live,
            fingerprint: compute_fingerprint(&row.path, row.live),
            name,
        })
    }
}

/// Returns a fingerprint of a session file: a hash of its path, its size and its modification time. A live session
/// grows all the time, and only actions that do not change it are allowed, so its fingerprint is the hash alone.
fn compute_fingerprint(path: &Path, live: bool) -> String {
    let path_hash = Id::from_text(path.as_os_str().as_encoded_bytes()).bits();
    let meta = std::fs::metadata(path).ok().filter(|_| !live);
    let state = meta.map(|meta| {
        let modified = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        format!("-{}-{}", meta.len(), modified.unwrap_or_default().as_nanos())
    });
    format!("{path_hash:x}{}", state.unwrap_or_default())
}

/// An action with its target, inputs and stage.
pub(super) struct ActionRequest<'a> {
    pub(super) server: &'a Server,
    pub(super) target: &'a ActionTarget,
    pub(super) fields: &'a FormFields,
    /// The name of the action.
    pub(super) name: &'static str,
    pub(super) stage: ActionStage,
    /// `true` if the session changed after the preview.
    pub(super) changed: bool,
}

impl ActionRequest<'_> {
    /// Returns `true` if the action must not write anything.
    pub(super) fn is_dry_run(&self) -> bool {
        self.stage != ActionStage::Do
    }

    /// Returns the current time: a server may run for days.
    pub(super) fn now(&self) -> Timestamp {
        Timestamp(self.server.clock().now().as_millisecond())
    }

    /// Creates the form of this action with these hidden fields. `command` is the equivalent shell command, or empty.
    pub(super) fn form(&self, mut fields: Vec<(&'static str, String)>, command: &str) -> ActionForm<'_> {
        fields.push(("fingerprint", self.target.fingerprint.clone()));
        ActionForm {
            action: format!("{}/action/{}", self.target.address, self.name),
            csrf_token: self.server.auth.csrf_token(),
            fields,
            back: self.target.address.clone(),
            command: command.to_owned(),
        }
    }

    /// Returns the shell command that does the same. `args` follow the name of the session and must be quoted.
    pub(super) fn command(&self, subcommand: &str, args: &[String]) -> String {
        let mut command = vec![build_command(&[subcommand, &self.target.name])];
        command.extend(args.iter().cloned());
        command.join(" ")
    }

    /// Disables the preview and adds a warning if the session is live. For actions that change the session.
    pub(super) fn warn_if_live(&self, summary: &mut ActionSummary) {
        if self.is_dry_run() && self.target.live {
            summary.disabled = true;
            summary.warnings.push(
                "A client has this session open. Close it there first: if both write at the same time, data is \
                 lost. You can fork the session meanwhile, which does not change it."
                    .to_owned(),
            );
        }
    }

    /// Renders a preview with `inputs` to fill in, or the result if the action was carried out. `new_session` is the
    /// created session, if any.
    pub(super) fn render_summary(
        &self,
        mut summary: ActionSummary,
        form: &ActionForm<'_>,
        inputs: &Markup,
        new_session: Option<&NewSession>,
    ) -> Markup {
        if self.changed {
            let warning =
                "The session changed since this was shown. Nothing was done yet; this is the new preview.";
            summary.warnings.insert(0, warning.to_owned());
        }
        if summary.op.is_none() {
            return action::render_preview(&summary, form, inputs);
        }
        self.server.invalidate();
        let list = self.server.sessions.current(&self.server.context);
        let new_key = new_session.and_then(|session| list.key_of(&session.path));
        let options = DoneOptions {
            csrf_token: self.server.auth.csrf_token(),
            key: self.target.key.clone(),
            undo_address: self.server.site().page("/undo"),
            open: new_key.map(|key| (self.server.site().session(key), "Open the new session")),
            back: self.target.address.clone(),
            change: summary.op.and_then(|op| self.find_change(op)),
        };
        action::render_done(&summary, &options)
    }

    /// Finds the change that an operation has just made. Returns `None` if the journal cannot be read.
    fn find_change(&self, op: OpId) -> Option<OpChange> {
        let log = ops::log::log(&self.server.context.writer).ok()?;
        log.ops.into_iter().rev().find(|row| row.id == op).map(|row| row.change)
    }
}
