//! One action on one session: who asked for what, and how the answer is put together.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use maud::Markup;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::id::Id;
use rethread_engine::ops::NewSession;

use super::fields::Fields;
use crate::env;
use crate::html::action::{self, ActionSummary, Done, Form};
use crate::text::shell::typed;
use crate::web::server::Server;

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActionStage {
    /// Ask what is wanted.
    Ask,
    /// Say what would be done.
    Preview,
    /// Do it.
    Do,
}

/// The session that is acted on.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) key: String,
    pub(super) path: PathBuf,
    pub(super) title: String,
    pub(super) live: bool,
    /// Which file it is and how it stands: what is previewed is done only while this is the same.
    pub(super) mark: String,
    /// What to call it on the command line.
    name: String,
}

impl Target {
    /// Looks a session up by its key.
    pub(super) fn find(server: &Server, key: &str) -> Option<Target> {
        let look = server.shelf.look(&server.place);
        let row = look.find(key)?;
        let is_alone = look.rows().filter(|(_, other)| other.id == row.id).count() == 1;
        // What begins with a dash would be an option.
        let is_name = is_alone && !row.id.starts_with('-');
        let name = if is_name { row.id.clone() } else { row.path.display().to_string() };
        Some(Target {
            key: key.to_owned(),
            path: row.path.clone(),
            title: row.title.text.clone(),
            live: row.live,
            mark: mark(&row.path, row.live),
            name,
        })
    }

    /// Where it is read.
    pub(super) fn address(&self) -> String {
        format!("/s/{}", self.key)
    }
}

/// Marks a file as it stands. A live session grows all the time, and what may be done with it leaves it alone: of that one only
/// which file it is counts.
fn mark(path: &Path, live: bool) -> String {
    let file = Id::of(path.as_os_str().as_encoded_bytes()).bits();
    let meta = std::fs::metadata(path).ok().filter(|_| !live);
    let stands = meta.map(|meta| {
        let since = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        format!("-{}-{}", meta.len(), since.unwrap_or_default().as_nanos())
    });
    format!("{file:x}{}", stands.unwrap_or_default())
}

/// An action that somebody asked for.
pub(super) struct ActionRequest<'a> {
    pub(super) server: &'a Server,
    pub(super) target: &'a Target,
    pub(super) fields: &'a Fields,
    pub(super) what: &'static str,
    pub(super) go: ActionStage,
    /// Whether the session is not any more as it was when this was previewed.
    pub(super) changed: bool,
}

impl ActionRequest<'_> {
    /// Whether nothing may be written.
    pub(super) fn is_dry(&self) -> bool {
        self.go != ActionStage::Do
    }

    /// Returns the present: a server runs for days.
    pub(super) fn now(&self) -> Timestamp {
        Timestamp(self.server.clock().now().as_millisecond())
    }

    /// Makes the form that asks for the same again.
    pub(super) fn form(&self, mut fields: Vec<(&'static str, String)>, command: &str) -> Form<'_> {
        fields.push(("mark", self.target.mark.clone()));
        Form {
            action: format!("{}/act/{}", self.target.address(), self.what),
            seal: self.server.gate.csrf_token(),
            fields,
            back: self.target.address(),
            command: command.to_owned(),
        }
    }

    /// Returns what to type for an action; `rest` stands behind the session.
    pub(super) fn command(&self, what: &str, rest: &[String]) -> String {
        let mut words = vec!["rethread".to_owned()];
        let usual = env::claude().is_some_and(|claude| self.server.place.roots.paths == [claude]);
        if !usual && !self.server.demo {
            for root in &self.server.place.roots.paths {
                words.extend(["--root".to_owned(), typed(&root.display().to_string())]);
            }
        }
        words.extend([what.to_owned(), typed(&self.target.name)]);
        words.extend(rest.iter().cloned());
        words.join(" ")
    }

    /// Says that a live session is left alone.
    pub(super) fn warn_if_live(&self, sheet: &mut ActionSummary) {
        if self.is_dry() && self.target.live {
            sheet.idle = true;
            sheet.warnings.push(
                "A client has this session open. Close it there first: what two write at once is lost. \
                 A fork can be made meanwhile, it leaves the session alone."
                    .to_owned(),
            );
        }
    }

    /// Draws a preview, or what was done.
    pub(super) fn told(
        &self,
        mut sheet: ActionSummary,
        form: &Form<'_>,
        ask: &Markup,
        born: Option<&NewSession>,
    ) -> Markup {
        if self.changed {
            let said = "The session changed since this was shown, and nothing was done yet: this is what would be done now.";
            sheet.warnings.insert(0, said.to_owned());
        }
        if sheet.op.is_none() {
            return action::preview(&sheet, form, ask);
        }
        self.server.forget();
        let look = self.server.shelf.look(&self.server.place);
        let made = born.and_then(|born| look.key_of(&born.path));
        let after = Done {
            seal: self.server.gate.csrf_token(),
            key: self.target.key.clone(),
            open: made.map(|key| (format!("/s/{key}"), "Open the new session")),
            back: self.target.address(),
            again: false,
        };
        action::done(&sheet, &after)
    }
}
