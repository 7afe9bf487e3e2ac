//! The text of an answer: cleaned, without secrets, and within its budget.

use rethread_engine::Error;
use rethread_engine::core::query::QueryError;
use rethread_engine::core::secrets::{RedactOptions, Redactor, TokenTable};

use crate::text::clean;
use crate::text::error::{error_message, hint};

/// The budget of an answer without one, in tokens.
pub(super) const DEFAULT_BUDGET: u32 = 2_000;
/// The smallest and the largest budget, in tokens.
const BUDGET_RANGE: (u32, u32) = (300, 20_000);
/// The bytes of a token. English text has about 4, code and paths about 3.
const BYTES_PER_TOKEN: usize = 3;
/// The bytes that are reserved for the last lines of an answer.
const FOOTER_LEN: usize = 360;
/// The maximum length of an error message in bytes.
const MAX_MESSAGE_LEN: usize = 600;

/// An answer that is being written.
#[derive(Debug)]
pub(super) struct Answer {
    text: String,
    max_len: usize,
}

/// An error that the calling model can act on.
#[derive(Debug)]
pub(super) struct ToolError {
    pub(super) message: String,
    pub(super) hint: String,
}

impl Answer {
    /// Creates an empty answer with a budget in tokens.
    pub(super) fn new(budget: Option<u32>) -> Answer {
        let budget = budget.unwrap_or(DEFAULT_BUDGET).clamp(BUDGET_RANGE.0, BUDGET_RANGE.1);
        Answer { text: String::new(), max_len: budget as usize * BYTES_PER_TOKEN - FOOTER_LEN }
    }

    /// Returns the number of bytes that still fit.
    pub(super) fn remaining(&self) -> usize {
        self.max_len.saturating_sub(self.text.len())
    }

    /// Adds lines if they fit. Returns `false` and adds nothing if they do not.
    pub(super) fn push(&mut self, lines: &str) -> bool {
        let fits = lines.len() < self.remaining();
        if fits {
            self.text.push_str(lines);
            self.text.push('\n');
        }
        fits
    }

    /// Adds the last lines, for which space is reserved, and returns the text.
    pub(super) fn finish(mut self, footer: &[String]) -> String {
        for line in footer {
            let room = (self.max_len + FOOTER_LEN).saturating_sub(self.text.len() + 1);
            self.text.push_str(truncate(line, room));
            self.text.push('\n');
        }
        self.text.truncate(self.text.trim_end().len());
        self.text
    }
}

impl ToolError {
    /// Creates an error with a message and a hint.
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> ToolError {
        ToolError { message: message.into(), hint: hint.into() }
    }

    /// Formats the error as the text of an answer.
    pub(super) fn format(&self) -> String {
        let hint = if self.hint.is_empty() { String::new() } else { format!("\nhint: {}", self.hint) };
        format!("error: {}{hint}", truncate(&self.message, MAX_MESSAGE_LEN))
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> ToolError {
        const MAX_CANDIDATES: usize = 5;
        let message = quote_inline(&error_message(&error));
        match &error {
            Error::AmbiguousSession { candidates, .. } => {
                let ids: Vec<String> =
                    candidates.iter().take(MAX_CANDIDATES).map(|(id, _)| quote_inline(id)).collect();
                ToolError::new(message, format!("name one of them: {}", ids.join(", ")))
            }
            Error::UnknownSession { .. } => {
                ToolError::new(message, "the tool `sessions` lists the sessions; `last` is the newest one")
            }
            _ => ToolError::new(message, hint(&error)),
        }
    }
}

impl From<QueryError> for ToolError {
    fn from(error: QueryError) -> ToolError {
        ToolError::new(clean::line(&error.message), clean::line(&error.hint))
    }
}

/// Quotes text of a session: each line starts with `> `. Secrets and control characters are replaced.
pub(super) fn quote(text: &str) -> String {
    redact(text)
        .lines()
        .map(|line| format!("> {line}\n"))
        .collect::<String>()
        .trim_end_matches('\n')
        .to_owned()
}

/// Returns text of a session on one line, such as a title. Secrets, control characters and double quotes are replaced.
pub(super) fn quote_inline(text: &str) -> String {
    clean::line(&redact(text)).replace('"', "'")
}

/// Returns a text without control characters and secrets.
pub(super) fn redact(text: &str) -> String {
    // Colours may split a secret, so they are removed first.
    let text = clean::text(text);
    let mut table = TokenTable::default();
    table.add_text(text.as_bytes());
    Redactor::new(table, &RedactOptions::default()).redact_text(&text).into_owned()
}

/// Returns the longest start of `text` with at most `max_len` bytes.
pub(super) fn truncate(text: &str, max_len: usize) -> &str {
    &text[..text.floor_char_boundary(max_len)]
}
