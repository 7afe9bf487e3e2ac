//! The sheet that tells a plan or an outcome, and the forms around it.

use maud::{Markup, html};
use rethread_engine::OpId;
use rethread_engine::ops::{EntryRef, ExpectedLoad};

use crate::text::clean;
use crate::text::figures::{things, tokens};

/// What would be done, or was.
#[derive(Default)]
pub(crate) struct ActionSummary {
    /// What it is, as a heading.
    pub(crate) title: String,
    /// What there is to know of it, each with its name.
    pub(crate) facts: Vec<(&'static str, Markup)>,
    /// Tables and lists behind the facts.
    pub(crate) more: Vec<Markup>,
    /// What a reader must know before it is done.
    pub(crate) warnings: Vec<String>,
    /// Whether there is nothing to do, or it would be refused.
    pub(crate) idle: bool,
    /// What to type to go on in the client.
    pub(crate) resume: Option<String>,
    /// The operation; `None` where nothing was written.
    pub(crate) op: Option<OpId>,
}

/// A form that comes back to the server.
#[derive(Default)]
pub(crate) struct Form<'a> {
    /// Where it goes.
    pub(crate) action: String,
    /// What every form that writes brings along.
    pub(crate) seal: &'a str,
    /// What was asked for so far.
    pub(crate) fields: Vec<(&'static str, String)>,
    /// Where to go instead.
    pub(crate) back: String,
    /// What to type for the same.
    pub(crate) command: String,
}

/// What to do after something was done.
#[derive(Default)]
pub(crate) struct Done<'a> {
    /// What every form that writes brings along.
    pub(crate) seal: &'a str,
    /// The key of the session that changed.
    pub(crate) key: String,
    /// Where to go on reading, and what that is.
    pub(crate) open: Option<(String, &'static str)>,
    /// Where to go back to.
    pub(crate) back: String,
    /// Whether something was taken back, so that taking that back does it again.
    pub(crate) again: bool,
}

impl ActionSummary {
    /// Adds a fact.
    pub(super) fn fact(&mut self, name: &'static str, said: impl Into<Said>) {
        self.facts.push((name, said.into().0));
    }

    /// Adds what each client would load.
    pub(super) fn promises(&mut self, promises: &[ExpectedLoad], dry: bool) {
        let mut name = if dry { "would load" } else { "loads" };
        for promise in promises {
            let entries = things(promise.path.len() as u64, "entry");
            let client = clean::line(&promise.client.text);
            self.fact(
                name,
                format!("{entries}, about {} tokens, with client {client}", tokens(promise.tokens)),
            );
            name = "";
        }
    }
}

/// Words of a fact: text, which is escaped, or markup.
pub(super) struct Said(Markup);

impl From<String> for Said {
    fn from(text: String) -> Said {
        Said(html! { (text) })
    }
}

impl From<Markup> for Said {
    fn from(markup: Markup) -> Said {
        Said(markup)
    }
}

/// Says which entry it is.
pub(super) fn stand(at: &EntryRef) -> Markup {
    let prompt = at.prompt.as_deref().map(clean::line).unwrap_or_default();
    html! {
        code { (clean::line(&at.handle)) }
        @if let Some(turn) = at.turn { " " span class="quiet" { "t" (turn) } }
        @if !prompt.is_empty() { " " span class="act-words" { (prompt) } }
    }
}

/// Draws what would be done, with the button that does it; `ask` are fields that may still be filled in.
pub(crate) fn preview(sheet: &ActionSummary, form: &Form<'_>, ask: &Markup) -> Markup {
    html! {
        section class="act" {
            (body(sheet))
            @if !form.command.is_empty() {
                h3 class="act-label" { "The same in a terminal" }
                (command(&form.command))
            }
            form method="post" action=(form.action) class="act-form" {
                (hidden(form))
                @if !sheet.idle { (ask) }
                p class="act-buttons" {
                    @if !sheet.idle { button class="button button-main" name="go" value="do" { "Do it" } }
                    (leave(&form.back, if sheet.idle { "Close" } else { "Cancel" }))
                }
            }
        }
    }
}

/// Draws a button that previews something else.
pub(crate) fn instead(form: &Form<'_>, words: &str) -> Markup {
    html! {
        form method="post" action=(form.action) class="act-instead" {
            (hidden(form))
            button class="act-link" name="go" value="preview" { (words) }
        }
    }
}

/// Draws a form that asks before anything is looked at.
pub(crate) fn form(title: &str, form: &Form<'_>, ask: &Markup) -> Markup {
    html! {
        section class="act" {
            h2 class="act-title" { (title) }
            form method="post" action=(form.action) class="act-form" {
                (hidden(form))
                (ask)
                p class="act-buttons" {
                    button class="button button-main" name="go" value="preview" { "Preview" }
                    (leave(&form.back, "Cancel"))
                }
            }
        }
    }
}

/// Draws what was done, with the button that takes it back.
pub(crate) fn done(sheet: &ActionSummary, after: &Done<'_>) -> Markup {
    html! {
        section class="act" data-changed=(after.key) {
            (body(sheet))
            @if let Some(resume) = &sheet.resume {
                h3 class="act-label" { "Go on in the client" }
                (command(resume))
            }
            div class="act-buttons" {
                @if let Some((address, words)) = &after.open { a class="button button-main" href=(address) { (words) } }
                @if let Some(op) = sheet.op { (undo_button(op, if after.again { "Do it again" } else { "Undo" }, after.seal, &after.key)) }
                (leave(&after.back, "Close"))
            }
        }
    }
}

/// Draws the button that takes an op back.
pub(crate) fn undo_button(op: OpId, words: &str, seal: &str, key: &str) -> Markup {
    html! {
        form method="post" action="/undo" class="act-undo" {
            input type="hidden" name="seal" value=(seal);
            input type="hidden" name="op" value=(op.0);
            input type="hidden" name="key" value=(key);
            button class="button" { (words) }
        }
    }
}

/// Draws what opens the dialog of an action; without the script it leads to a page.
pub(crate) fn act(key: &str, what: &str, at: Option<&str>, words: &str) -> Markup {
    let query = at.map(|at| format!("?at={at}")).unwrap_or_default();
    html! {
        a class="button" href={ "/s/" (key) "/act/" (what) (query) } data-act=(what) data-key=(key) data-at=[at] { (words) }
    }
}

/// Draws a command to copy.
pub(crate) fn command(command: &str) -> Markup {
    html! {
        p class="act-command" {
            code { (command) }
            button type="button" class="button" data-copy=(command) aria-label={ "Copy " (command) } { "Copy" }
        }
    }
}

fn hidden(form: &Form<'_>) -> Markup {
    html! {
        input type="hidden" name="seal" value=(form.seal);
        @for (name, value) in &form.fields { input type="hidden" name=(name) value=(value); }
    }
}

fn leave(back: &str, words: &str) -> Markup {
    html! { a class="button" href=(back) data-do="leave" { (words) } }
}

fn body(sheet: &ActionSummary) -> Markup {
    html! {
        h2 class="act-title" { (sheet.title) }
        @for warning in &sheet.warnings { p class="act-warning" role="alert" { (warning) } }
        dl class="act-facts" {
            @for (name, said) in &sheet.facts { dt { (name) } dd { (said) } }
        }
        @for more in &sheet.more { (more) }
    }
}
