//! The fields of the search language: their names, and what each takes.

use std::ops::Range;

use super::ast::{ContextStatus, Predicate};
use super::parser::QueryError;
use super::role;
use crate::entry::Timestamp;

/// A name that may stand before a colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Role,
    Tool,
    File,
    Model,
    Branch,
    Project,
    Session,
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
    (Field::Error, "error"),
    (Field::Since, "since"),
    (Field::Until, "until"),
    (Field::Is, "is"),
];

const MOMENTS: &str = "7d, 12h, 2w, yesterday, 2026-01-31 or RFC 3339";

impl Field {
    /// Returns the field that a word begins with, and its name as typed. Paths of code and addresses have none:
    /// `error::Error`, `file:///tmp`.
    pub(super) fn of(word: &str) -> Option<(Field, &str)> {
        let (name, value) = word.split_once(':')?;
        if value.starts_with(':') || value.starts_with("//") {
            return None;
        }
        let known = FIELDS.iter().find(|(_, known)| known.eq_ignore_ascii_case(name))?;
        Some((known.0, name))
    }

    fn name(self) -> &'static str {
        FIELDS.iter().find(|(field, _)| *field == self).map_or("", |(_, name)| name)
    }

    /// Returns the values it takes, where they are few.
    fn values(self) -> Vec<&'static str> {
        match self {
            Field::Role => role::all().collect(),
            Field::Error => vec!["yes", "no"],
            Field::Is => ContextStatus::ALL.iter().map(|label| label.name()).collect(),
            _ => Vec::new(),
        }
    }

    /// Says what it takes.
    fn takes(self) -> String {
        match self {
            Field::Role | Field::Error | Field::Is => {
                let mut values = self.values();
                let last = values.pop().unwrap_or_default();
                format!("{} or {last}", values.join(", "))
            }
            Field::Since | Field::Until => MOMENTS.to_owned(),
            Field::Tool => "the name of a tool, such as Bash".to_owned(),
            Field::File => "a part of a path, such as src/main.rs".to_owned(),
            Field::Model => "a part of a model's name, such as opus".to_owned(),
            Field::Branch => "a part of a git branch's name, such as main".to_owned(),
            Field::Project => "a part of a folder's path, such as work/shop".to_owned(),
            Field::Session => "the beginning of a session's id".to_owned(),
        }
    }

    /// Makes a condition of a value.
    pub(super) fn want(
        self,
        value: &str,
        at: Range<usize>,
        when: &dyn Fn(&str) -> Option<Timestamp>,
    ) -> Result<Predicate, QueryError> {
        let value = value.trim();
        if value.is_empty() {
            return Err(self.bad(value, at));
        }
        let whole = || value.to_owned();
        let lower = value.to_ascii_lowercase();
        let want = match self {
            Field::Role => role::read(value).map(Predicate::Role),
            Field::Tool => Some(Predicate::Tool(whole())),
            Field::File => Some(Predicate::File(whole())),
            Field::Model => Some(Predicate::Model(whole())),
            Field::Branch => Some(Predicate::Branch(whole())),
            Field::Project => Some(Predicate::Project(whole())),
            Field::Session => Some(Predicate::Session(whole())),
            Field::Error => match lower.as_str() {
                "yes" => Some(Predicate::Error(true)),
                "no" => Some(Predicate::Error(false)),
                _ => None,
            },
            Field::Since => when(value).map(Predicate::Since),
            Field::Until => when(value).map(Predicate::Until),
            Field::Is => {
                ContextStatus::ALL.iter().find(|label| label.name() == lower).copied().map(Predicate::Is)
            }
        };
        want.ok_or_else(|| self.bad(value, at))
    }

    fn bad(self, value: &str, at: Range<usize>) -> QueryError {
        let name = self.name();
        let what = match value {
            "" => format!("`{name}:` has no value"),
            value => format!("`{name}:` does not take `{value}`"),
        };
        let takes = self.takes();
        let hint = match nearest(value, &self.values()) {
            Some(near) => format!("did you mean `{name}:{near}`? it takes {takes}"),
            None => format!("it takes {takes}; in quotes, \"{name}:{value}\", it is looked for as it is"),
        };
        QueryError::new(at, what, hint)
    }
}

/// Returns the field whose name is most like the one that a word begins with, where the word was taken as text.
pub fn suggest_field(word: &str) -> Option<&'static str> {
    let (name, value) = word.split_once(':')?;
    let is_text =
        name.len() < 3 || value.is_empty() || value.starts_with([':', '/']) || Field::of(word).is_some();
    let names: Vec<&'static str> = FIELDS.iter().map(|(_, name)| *name).collect();
    nearest(name, &names).filter(|_| !is_text)
}

/// Returns the value that is most like what was typed, if one is like it.
fn nearest(typed: &str, values: &[&'static str]) -> Option<&'static str> {
    let typed = typed.to_lowercase();
    if typed.is_empty() || typed.len() > 20 {
        return None;
    }
    let begins = |value: &&'static str| value.starts_with(&typed) || typed.starts_with(*value);
    let far = |value: &str| distance(&typed, value);
    let near = values.iter().copied().min_by_key(|value| (!begins(value), far(value)))?;
    (begins(&near) || far(near) <= 2 && far(near) * 2 <= near.len().min(typed.len())).then_some(near)
}

/// Counts the letters to change, add or leave out to make one word of another.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (k, c) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = k + 1;
        for (n, d) in other.iter().enumerate() {
            let changed = corner + usize::from(c != *d);
            corner = row[n + 1];
            row[n + 1] = changed.min(row[n] + 1).min(corner + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::suggest_field;

    #[test]
    fn misspelt_fields_are_known_and_text_is_left_alone() {
        let near = ["roel:user", "tools:Bash", "proj:x", "sesion:1", "Rle:user"].map(suggest_field);
        assert_eq!(near, ["role", "tool", "project", "session", "role"].map(Some));
        let text = ["role:user", "std::fs", "http://x", "foo:bar", "roel:", "word", "x:role", "10:30"];
        assert_eq!(text.map(suggest_field), [None; 8]);
    }
}
