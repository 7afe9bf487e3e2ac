//! Removes recognised secrets from names and texts.

use std::borrow::Cow;

use rethread_engine::core::id::{Id, IdMap};
use rethread_engine::core::secrets::{RedactOptions, Redactor, TokenTable};

/// The number of names after which the results so far are dropped.
const MAX_KNOWN_NAMES: usize = 1 << 16;

/// Removes secrets from names. Results are kept, because names repeat.
#[derive(Default)]
pub(crate) struct NameRedactor {
    /// The replacement of each name, by its hash. `None` if it has no secret.
    known: IdMap<Option<String>>,
}

impl NameRedactor {
    /// Returns the name without secrets.
    pub(crate) fn redact<'r>(&'r mut self, name: &'r str) -> &'r str {
        if self.known.len() >= MAX_KNOWN_NAMES {
            self.known.clear();
        }
        let redacted = self.known.entry(Id::from_text(name.as_bytes())).or_insert_with(|| {
            build_redactor([name]).map(|redactor| redactor.redact_text(name).into_owned())
        });
        redacted.as_deref().unwrap_or(name)
    }
}

/// Builds a redactor for the secrets of some texts. Returns `None` if there are none.
pub(crate) fn build_redactor<'t>(texts: impl IntoIterator<Item = &'t str>) -> Option<Redactor> {
    let mut table = TokenTable::default();
    texts.into_iter().for_each(|text| table.add_text(text.as_bytes()));
    (!table.is_empty()).then(|| Redactor::new(table, &RedactOptions::default()))
}

/// Returns a text without the secrets of a redactor.
pub(crate) fn redact<'t>(text: &'t str, redactor: Option<&Redactor>) -> Cow<'t, str> {
    redactor.map_or(Cow::Borrowed(text), |redactor| redactor.redact_text(text))
}
