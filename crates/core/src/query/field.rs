//! The fields of the query language: their names and the values that they accept.

use std::ops::Range;

use super::ast::Predicate;
use super::parser::QueryError;
use super::role;
use crate::entry::Timestamp;
use crate::resume::ContextStatus;

/// A field of the query language. Its name precedes a colon: `tool:Bash`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Role,
    Tool,
    File,
    Model,
    Branch,
    Project,
    Session,
    PullRequest,
    Error,
    Since,
    Until,
    Is,
}

const FIELDS: &[(Field, &str)] = &[
    (Field::Role, "role"),
    (Field::Tool, "tool"),
    (Field::File, "file"),
    (Field::Model, "model"),
    (Field::Branch, "branch"),
    (Field::Project, "project"),
    (Field::Session, "session"),
    (Field::PullRequest, "pr"),
    (Field::Error, "error"),
    (Field::Since, "since"),
    (Field::Until, "until"),
    (Field::Is, "is"),
];

/// The statuses that `is:` accepts. `abandoned` includes orphaned entries.
const FILTERABLE: [ContextStatus; 4] =
    [ContextStatus::Active, ContextStatus::OtherBranch, ContextStatus::Compacted, ContextStatus::Subagent];

const TIME_FORMATS: &str = "7d, 12h, 2w, yesterday, 2026-01-31 or RFC 3339";

impl Field {
    /// Parses the field name at the start of a word, in any case. Returns the field and its name as typed.
    ///
    /// Returns `None` if the word has no colon, if no field has this name, or if `:` or `//` follow the colon:
    /// `error::Error` and `file:///tmp` are text.
    pub(super) fn parse_prefix(word: &str) -> Option<(Field, &str)> {
        let (name, value) = word.split_once(':')?;
        if value.starts_with(':') || value.starts_with("//") {
            return None;
        }
        let (field, _) = FIELDS.iter().find(|(_, known)| known.eq_ignore_ascii_case(name))?;
        Some((*field, name))
    }

    fn name(self) -> &'static str {
        FIELDS.iter().find(|(field, _)| *field == self).map_or("", |(_, name)| name)
    }

    /// Returns the accepted values. Returns an empty list if the field accepts other values than a fixed set.
    fn accepted_values(self) -> Vec<&'static str> {
        match self {
            Field::Role => role::role_names().collect(),
            Field::Error => vec!["yes", "no"],
            Field::Is => FILTERABLE.map(ContextStatus::name).to_vec(),
            _ => Vec::new(),
        }
    }

    /// Describes the accepted values for an error message.
    fn describe_values(self) -> String {
        match self {
            Field::Role | Field::Error | Field::Is => {
                let mut values = self.accepted_values();
                let last = values.pop().unwrap_or_default();
                format!("{} or {last}", values.join(", "))
            }
            Field::Since | Field::Until => TIME_FORMATS.to_owned(),
            Field::Tool => "the name of a tool, such as Bash".to_owned(),
            Field::File => "a part of a path, such as src/main.rs".to_owned(),
            Field::Model => "a part of a model's name, such as opus".to_owned(),
            Field::Branch => "a part of a git branch's name, such as main".to_owned(),
            Field::Project => "a part of a folder's path, such as work/shop".to_owned(),
            Field::Session => "the beginning of a session's id".to_owned(),
            Field::PullRequest => "the number or the address of a pull request, such as 123".to_owned(),
        }
    }

    /// Parses a value of the field. `span` are the bytes of field and value in the query.
    ///
    /// Returns an error if the value is blank or the field does not accept it.
    pub(super) fn parse_predicate(
        self,
        value: &str,
        span: Range<usize>,
        parse_time: &dyn Fn(&str) -> Option<Timestamp>,
    ) -> Result<Predicate, QueryError> {
        let value = value.trim();
        if value.is_empty() {
            return Err(self.value_error(value, span));
        }
        let text = || value.to_owned();
        let lower = value.to_ascii_lowercase();
        let predicate = match self {
            Field::Role => role::parse_role(value).map(Predicate::Role),
            Field::Tool => Some(Predicate::Tool(text())),
            Field::File => Some(Predicate::File(text())),
            Field::Model => Some(Predicate::Model(text())),
            Field::Branch => Some(Predicate::Branch(text())),
            Field::Project => Some(Predicate::Project(text())),
            Field::Session => Some(Predicate::Session(text())),
            Field::PullRequest => Some(Predicate::PullRequest(text())),
            Field::Error => match lower.as_str() {
                "yes" => Some(Predicate::Error(true)),
                "no" => Some(Predicate::Error(false)),
                _ => None,
            },
            Field::Since => parse_time(value).map(Predicate::Since),
            Field::Until => parse_time(value).map(Predicate::Until),
            Field::Is => FILTERABLE.into_iter().find(|status| status.name() == lower).map(Predicate::Status),
        };
        predicate.ok_or_else(|| self.value_error(value, span))
    }

    /// Creates the error for a value that the field does not accept.
    fn value_error(self, value: &str, span: Range<usize>) -> QueryError {
        let name = self.name();
        let message = match value {
            "" => format!("`{name}:` has no value"),
            value => format!("`{name}:` does not take `{value}`"),
        };
        let accepted = self.describe_values();
        let hint = match find_nearest(value, &self.accepted_values()) {
            Some(near) => format!("did you mean `{name}:{near}`? it takes {accepted}"),
            None => format!("it takes {accepted}; quote it to search for the text: \"{name}:{value}\""),
        };
        QueryError::new(span, message, hint)
    }
}

/// Suggests the name of the field that the user may have misspelled in `word`, such as `roel:user`.
///
/// Returns `None` if `word` has a valid field, is not of the form `name:value` with a name of at least three bytes, or if
/// no field name is similar. Code paths and addresses have no field.
pub fn suggest_field(word: &str) -> Option<&'static str> {
    let (name, value) = word.split_once(':')?;
    let is_text = name.len() < 3
        || value.is_empty()
        || value.starts_with([':', '/'])
        || Field::parse_prefix(word).is_some();
    let names: Vec<&'static str> = FIELDS.iter().map(|(_, name)| *name).collect();
    find_nearest(name, &names).filter(|_| !is_text)
}

/// Returns the value closest to `typed`, ignoring the case of `typed`.
///
/// Returns `None` if no value is similar, or if `typed` is empty or longer than 20 bytes. A value is similar if one
/// is a prefix of the other and has more than two bytes, or if they differ in at most two characters and half of the shorter one.
fn find_nearest(typed: &str, values: &[&'static str]) -> Option<&'static str> {
    let typed = typed.to_lowercase();
    if typed.is_empty() || typed.len() > 20 {
        return None;
    }
    let is_start = |value: &str| value.starts_with(&typed);
    let is_prefix = |value: &str| is_start(value) || value.len() > 2 && typed.starts_with(value);
    let distance_to = |value: &str| compute_edit_distance(&typed, value);
    let rank = |value: &str| (!is_start(value), !is_prefix(value), distance_to(value));
    let nearest = values.iter().copied().min_by_key(|value| rank(value))?;
    (is_prefix(nearest)
        || distance_to(nearest) <= 2 && distance_to(nearest) * 2 <= nearest.len().min(typed.len()))
    .then_some(nearest)
}

/// Returns the edit distance of two words: the number of letters to change, add or remove.
pub fn compute_edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (row_idx, a_char) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = row_idx + 1;
        for (col, b_char) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(a_char != *b_char);
            diagonal = row[col + 1];
            row[col + 1] = substituted.min(row[col] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::suggest_field;

    #[test]
    fn misspelled_fields_are_suggested_and_text_is_not() {
        let suggested = ["roel:user", "tools:Bash", "proj:x", "sesion:1", "Rle:user"].map(suggest_field);
        assert_eq!(suggested, ["role", "tool", "project", "session", "role"].map(Some));
        let text = [
            "role:user",
            "std::fs",
            "http://x",
            "foo:bar",
            "roel:",
            "word",
            "x:role",
            "10:30",
            "pr:7",
            "prompt:x",
        ];
        assert_eq!(text.map(suggest_field), [None; 10]);
    }
}
