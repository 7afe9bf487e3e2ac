//! The format of the status line: parts with placeholders.

use crate::text::template::{TemplatePart, parse_template};

/// The format that is used unless the user sets another one.
const DEFAULT_FORMAT: &str = "{model} | {cost} session | {day} today | block {block} | context {context}";

/// The maximum length of a format, in bytes.
const MAX_BYTES: usize = 1000;

/// A value of the status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatuslineField {
    /// The model.
    Model,
    /// The cost of the session.
    Cost,
    /// The cost of the day.
    Day,
    /// The cost, limit and rest of the five-hour block.
    Block,
    /// The cost, limit and rest of the seven-day window.
    Week,
    /// The share of the input that was read from the prompt cache, and how long the cache lasts.
    Cache,
    /// The used share of the context window.
    Context,
}

/// The placeholders by name.
const FIELDS: [(&str, StatuslineField); 7] = [
    ("model", StatuslineField::Model),
    ("cost", StatuslineField::Cost),
    ("day", StatuslineField::Day),
    ("block", StatuslineField::Block),
    ("week", StatuslineField::Week),
    ("cache", StatuslineField::Cache),
    ("context", StatuslineField::Context),
];

/// A part of the status line. It is omitted if all its values are unknown.
pub(crate) type StatuslinePart = Vec<TemplatePart<StatuslineField>>;

/// The format of the status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatuslineFormat {
    text: String,
    parts: Vec<StatuslinePart>,
}

impl Default for StatuslineFormat {
    fn default() -> StatuslineFormat {
        StatuslineFormat::parse(DEFAULT_FORMAT).expect("the default format is valid")
    }
}

impl StatuslineFormat {
    /// Parses a format: parts separated by `|`, where `||` is a literal bar. Returns an error message if it is invalid.
    pub(crate) fn parse(text: &str) -> Result<StatuslineFormat, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("the format is longer than {MAX_BYTES} bytes"));
        }
        let parts: Result<Vec<_>, String> =
            split_parts(text).iter().map(|part| parse_template(part.trim(), &FIELDS)).collect();
        let parts: Vec<StatuslinePart> = parts?.into_iter().filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            return Err("the format is empty".to_owned());
        }
        Ok(StatuslineFormat { text: text.to_owned(), parts })
    }

    /// Returns the format as the user wrote it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the parts in order.
    pub(crate) fn parts(&self) -> &[StatuslinePart] {
        &self.parts
    }

    /// Returns `true` if the status line contains a value.
    pub(crate) fn contains(&self, field: StatuslineField) -> bool {
        self.parts.iter().flatten().any(|part| *part == TemplatePart::Value(field))
    }
}

/// Splits a format at single bars. Two bars are one literal bar.
fn split_parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '|' && chars.next_if_eq(&'|').is_none() {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{StatuslineField, StatuslineFormat, split_parts};

    #[test]
    fn formats_are_split_into_parts() {
        assert_eq!(split_parts("a | b||c|||d"), ["a ", " b|c|", "d"]);
        let format = StatuslineFormat::parse("{model} {cost} || | text ||").unwrap();
        assert_eq!(format.parts().len(), 2);
        assert!(format.contains(StatuslineField::Cost) && !format.contains(StatuslineField::Week));
        assert_eq!(StatuslineFormat::default().parts().len(), 5);
        for text in ["", " | ", "{x}", "{model", "\u{1b}[2J{model}", &"x".repeat(2000)] {
            assert!(StatuslineFormat::parse(text).is_err(), "{text}");
        }
    }
}
