//! The summary of a planned or completed action, and the forms around it.

use maud::{Markup, html};
use rethread_engine::OpId;
use rethread_engine::ops::ExpectedLoad;
use rethread_engine::ops::goto::EntryRef;
use rethread_engine::ops::log::OpChange;

use crate::html::field::render_hidden_field;
use crate::text::clean;
use crate::text::figures::{count_noun, format_tokens};
use crate::text::layout::truncate_to_width;

/// The maximum width of the change in the label of an undo button, in columns.
const MAX_LABEL_WIDTH: usize = 48;

/// The summary of a planned or completed action.
#[derive(Default)]
pub(crate) struct ActionSummary {
    /// The heading.
    pub(crate) title: String,
    /// Facts, each with its name. The name is empty if the fact belongs to the one before.
    pub(crate) facts: Vec<(&'static str, Markup)>,
    /// Tables and lists below the facts.
    pub(crate) details: Vec<Markup>,
    /// Warnings shown above the facts.
    pub(crate) warnings: Vec<String>,
    /// `true` if the action cannot be carried out: there is nothing to do, or it would be refused.
    pub(crate) disabled: bool,
    /// The shell command that resumes the session.
    pub(crate) resume: Option<String>,
    /// The operation that was carried out. `None` for a preview.
    pub(crate) op: Option<OpId>,
}

/// The form of an action.
#[derive(Default)]
pub(crate) struct ActionForm<'a> {
    /// The address to which the form is sent.
    pub(crate) action: String,
    /// The token that proves that our own page sent the form.
    pub(crate) csrf_token: &'a str,
    /// The hidden fields: the choices made so far.
    pub(crate) fields: Vec<(&'static str, String)>,
    /// The address of the cancel link.
    pub(crate) back: String,
    /// The equivalent shell command. May be empty.
    pub(crate) command: String,
}

/// The links and buttons after an action was carried out.
#[derive(Default)]
pub(crate) struct DoneOptions<'a> {
    /// The token that proves that our own page sent the form.
    pub(crate) csrf_token: &'a str,
    /// The key of the session that changed.
    pub(crate) key: String,
    /// The address to which the undo button sends its form.
    pub(crate) undo_address: String,
    /// The address and the label of the link to the changed or new session.
    pub(crate) open: Option<(String, &'static str)>,
    /// The address of the close link.
    pub(crate) back: String,
    /// The change that the button undoes or redoes. `None` if the journal cannot be read.
    pub(crate) change: Option<OpChange>,
}

impl ActionSummary {
    /// Adds a fact: a row with a name and a value.
    pub(super) fn add_fact(&mut self, name: &'static str, value: impl Into<FactValue>) {
        self.facts.push((name, value.into().0));
    }

    /// Adds the number of entries and tokens that each client loads. `is_dry_run` is `true` for a preview.
    pub(super) fn add_loads(&mut self, loads: &[ExpectedLoad], is_dry_run: bool) {
        let mut name = if is_dry_run { "would load" } else { "loads" };
        for load in loads {
            let entries = count_noun(load.path.len() as u64, "entry");
            let client = clean::line(&load.client.text);
            self.add_fact(
                name,
                format!("{entries}, about {} tokens, with client {client}", format_tokens(load.tokens)),
            );
            name = "";
        }
    }
}

/// The value of a fact: text, which is escaped, or markup.
pub(super) struct FactValue(Markup);

impl From<String> for FactValue {
    fn from(text: String) -> FactValue {
        FactValue(html! { (text) })
    }
}

impl From<Markup> for FactValue {
    fn from(markup: Markup) -> FactValue {
        FactValue(markup)
    }
}

/// Renders a reference to an entry: its handle, its turn and the prompt of that turn.
pub(super) fn render_entry(entry: &EntryRef) -> Markup {
    let prompt = entry.prompt.as_deref().map(clean::line).unwrap_or_default();
    html! {
        code { (clean::line(&entry.handle)) }
        @if let Some(turn) = entry.turn { " " span class="muted" { "t" (turn) } }
        @if !prompt.is_empty() { " " span class="action-prompt" { (prompt) } }
    }
}

/// Renders the preview of an action with a button to carry it out. `inputs` are fields that can still be filled in.
pub(crate) fn render_preview(summary: &ActionSummary, form: &ActionForm<'_>, inputs: &Markup) -> Markup {
    html! {
        section class="action" {
            (render_summary(summary))
            @if !form.command.is_empty() {
                h3 class="action-label" { "The same in a terminal" }
                (render_command(&form.command))
            }
            form method="post" action=(form.action) class="action-form" {
                (render_hidden_fields(form))
                @if !summary.disabled { (inputs) }
                p class="action-buttons" {
                    @if !summary.disabled { button class="button button-primary" name="go" value="do" { "Do it" } }
                    (render_close_link(&form.back, if summary.disabled { "Close" } else { "Cancel" }))
                }
            }
        }
    }
}

/// Renders a button that previews the variant of an action that `form` selects.
pub(crate) fn render_alternative(form: &ActionForm<'_>, label: &str) -> Markup {
    html! {
        form method="post" action=(form.action) class="action-alternative" {
            (render_hidden_fields(form))
            button class="action-link" name="go" value="preview" { (label) }
        }
    }
}

/// Renders a form that collects inputs before the preview.
pub(crate) fn render_form(title: &str, form: &ActionForm<'_>, inputs: &Markup) -> Markup {
    html! {
        section class="action" {
            h2 class="action-title" { (title) }
            form method="post" action=(form.action) class="action-form" {
                (render_hidden_fields(form))
                (inputs)
                p class="action-buttons" {
                    button class="button button-primary" name="go" value="preview" { "Preview" }
                    (render_close_link(&form.back, "Cancel"))
                }
            }
        }
    }
}

/// Renders the result of an action, with its undo button and a link to the new session, if any.
pub(crate) fn render_done(summary: &ActionSummary, options: &DoneOptions<'_>) -> Markup {
    html! {
        section class="action" data-changed=(options.key) {
            (render_summary(summary))
            @if let Some(resume) = &summary.resume {
                h3 class="action-label" { "Resume in a terminal" }
                (render_command(resume))
            }
            div class="action-buttons" {
                @if let Some((address, label)) = &options.open { a class="button button-primary" href=(address) { (label) } }
                @if let Some(op) = summary.op { (render_undo_button(&options.undo_address, op, options.change.as_ref(), options.csrf_token, &options.key)) }
                (render_close_link(&options.back, "Close"))
            }
        }
    }
}

/// Renders the button that undoes an operation. Its label names the `change` that it undoes or redoes. The form is sent
/// to `address`. `key` is the key of the session to return to, or empty.
pub(crate) fn render_undo_button(
    address: &str,
    op: OpId,
    change: Option<&OpChange>,
    csrf_token: &str,
    key: &str,
) -> Markup {
    let verb = if change.is_some_and(|change| change.is_revert) { "Redo" } else { "Undo" };
    let text = change.map(|change| clean::line(&change.text)).unwrap_or_default();
    html! {
        form method="post" action=(address) class="action-undo" {
            (render_hidden_field("csrf", csrf_token))
            (render_hidden_field("op", &op.0.to_string()))
            (render_hidden_field("key", key))
            button class="button undo-button" title=[(!text.is_empty()).then_some(&text)] {
                (verb) @if !text.is_empty() { ": " (truncate_to_width(&text, MAX_LABEL_WIDTH)) }
            }
        }
    }
}

/// Renders a link that opens the dialog of an action on a session. Without the script it opens a page. `base` is the
/// address of the session, `at` the handle of the entry that the action is about.
pub(crate) fn render_action_button(base: &str, action: &str, at: Option<&str>, label: &str) -> Markup {
    let query = at.map(|at| format!("?at={at}")).unwrap_or_default();
    html! {
        a class="button" href={ (base) "/action/" (action) (query) } data-action=(action) data-actions=(base) data-at=[at] { (label) }
    }
}

/// Renders a shell command with a copy button.
pub(crate) fn render_command(command: &str) -> Markup {
    html! {
        p class="action-command" {
            code { (command) }
            button type="button" class="button" data-copy=(command) aria-label={ "Copy " (command) } { "Copy" }
        }
    }
}

fn render_hidden_fields(form: &ActionForm<'_>) -> Markup {
    html! {
        (render_hidden_field("csrf", form.csrf_token))
        @for (name, value) in &form.fields { (render_hidden_field(name, value)) }
    }
}

fn render_close_link(back: &str, label: &str) -> Markup {
    html! { a class="button" href=(back) data-command="leave" { (label) } }
}

/// Renders the title, warnings, facts and details of a summary.
fn render_summary(summary: &ActionSummary) -> Markup {
    html! {
        h2 class="action-title" { (summary.title) }
        @for warning in &summary.warnings { p class="action-warning" role="alert" { (warning) } }
        dl class="action-facts" {
            @for (name, value) in &summary.facts { dt { (name) } dd { (value) } }
        }
        @for details in &summary.details { (details) }
    }
}
