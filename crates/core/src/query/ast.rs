//! The parsed form of a query: a conjunction of clauses, each of which is a disjunction of literals.

use std::fmt::{self, Display, Formatter};

use super::needle::Needle;
use super::role;
use super::texts::TextSource;
use crate::entry::Timestamp;
use crate::resume::ContextStatus;

/// The conditions of a search on an entry.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// All clauses must hold. A clause holds if one of its literals does.
    pub clauses: Vec<Vec<Literal>>,
}

/// A predicate or its negation.
#[derive(Debug, Clone)]
pub struct Literal {
    /// Whether the predicate must not hold.
    pub negated: bool,
    /// The predicate.
    pub predicate: Predicate,
}

/// A condition on an entry.
#[derive(Debug, Clone)]
pub enum Predicate {
    /// A searched text of the entry contains this text, ignoring case.
    Text(Needle),
    /// A searched text of the entry matches this regular expression.
    Pattern(Needle),
    /// The entry has a text from one of these sources. A clause of such predicates also limits the searched texts.
    Role(SourceSet),
    /// The entry calls this tool or holds the result of such a call. See [`super::is_tool_named`].
    Tool(String),
    /// The input of a tool call of the entry has a file path that contains this, ignoring case.
    File(String),
    /// The name of its model contains this, ignoring case.
    Model(String),
    /// The name of its git branch contains this, ignoring case.
    Branch(String),
    /// The start folder of its session or the folder of its file contains this, ignoring case.
    Project(String),
    /// The id of its session begins with this.
    Session(String),
    /// The entry links this pull request: see [`super::is_pull_request_named`].
    PullRequest(String),
    /// Whether the entry must report a failed tool or a failed API request, or must not.
    Error(bool),
    /// The entry was written at this time or later.
    Since(Timestamp),
    /// The entry was written before this time.
    Until(Timestamp),
    /// The entry has this context status. `OtherBranch` includes orphaned entries.
    Status(ContextStatus),
}

/// A set of [`TextSource`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SourceSet(u8);

impl SourceSet {
    /// All sources.
    pub const ALL: SourceSet = SourceSet::from_slice(TextSource::ALL);
    /// The sources that are part of the conversation: all but [`TextSource::Context`].
    pub const CONVERSATION: SourceSet =
        SourceSet(SourceSet::ALL.0 & !SourceSet::from_slice(&[TextSource::Context]).0);

    /// Builds a set of the given sources.
    pub const fn from_slice(sources: &[TextSource]) -> SourceSet {
        let mut bits = 0;
        let mut idx = 0;
        while idx < sources.len() {
            bits |= 1 << sources[idx] as u8;
            idx += 1;
        }
        SourceSet(bits)
    }

    /// Returns whether the set contains a source.
    pub const fn contains(self, source: TextSource) -> bool {
        self.0 & 1 << source as u8 != 0
    }

    /// Returns the sources in either set.
    #[must_use]
    pub const fn union(self, other: SourceSet) -> SourceSet {
        SourceSet(self.0 | other.0)
    }

    /// Returns the sources in both sets.
    #[must_use]
    pub const fn intersection(self, other: SourceSet) -> SourceSet {
        SourceSet(self.0 & other.0)
    }

    /// Returns the sources that are not in the set.
    #[must_use]
    pub const fn complement(self) -> SourceSet {
        SourceSet(SourceSet::ALL.0 & !self.0)
    }

    /// Returns whether the sets have a source in common.
    pub const fn intersects(self, other: SourceSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether every source of this set is in `other`.
    pub const fn is_subset(self, other: SourceSet) -> bool {
        self.0 & !other.0 == 0
    }

    /// Returns one bit per source, for storage: bit `n` is the source with discriminant `n`.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Converts the bits that [`SourceSet::bits`] returned. Ignores bits without a source.
    pub const fn from_bits(bits: u8) -> SourceSet {
        SourceSet(bits & SourceSet::ALL.0)
    }

    /// Returns whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the sources of the set, in the order of [`TextSource::ALL`].
    pub fn iter(self) -> impl Iterator<Item = TextSource> {
        TextSource::ALL.iter().copied().filter(move |&source| self.contains(source))
    }
}

/// Formats the query in the query language. Parsing the result gives the same query.
impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (clause_idx, clause) in self.clauses.iter().enumerate() {
            f.write_str(if clause_idx == 0 { "" } else { " " })?;
            for (idx, literal) in clause.iter().enumerate() {
                write!(f, "{}{literal}", if idx == 0 { "" } else { " OR " })?;
            }
        }
        Ok(())
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.negated { "-" } else { "" }, self.predicate)
    }
}

impl Display for Predicate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Predicate::Text(needle) => write_quoted(f, needle.text()),
            Predicate::Pattern(needle) => write!(f, "/{}/", needle.text()),
            Predicate::Role(sources) => {
                write!(f, "role:{}", role::find_role_names(*sources).join(" OR role:"))
            }
            Predicate::Tool(value) => write_field(f, "tool", value),
            Predicate::File(value) => write_field(f, "file", value),
            Predicate::Model(value) => write_field(f, "model", value),
            Predicate::Branch(value) => write_field(f, "branch", value),
            Predicate::Project(value) => write_field(f, "project", value),
            Predicate::Session(value) => write_field(f, "session", value),
            Predicate::PullRequest(value) => write_field(f, "pr", value),
            Predicate::Error(yes) => f.write_str(if *yes { "error:yes" } else { "error:no" }),
            Predicate::Since(time) => write!(f, "since:{}", format_timestamp(*time)),
            Predicate::Until(time) => write!(f, "until:{}", format_timestamp(*time)),
            Predicate::Status(status) => write!(f, "is:{}", status.name()),
        }
    }
}

fn write_field(f: &mut Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    write!(f, "{name}:")?;
    write_quoted(f, value)
}

/// Writes a text in quotes, or without them if it is one word without special meaning in the query language.
fn write_quoted(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let is_bare = text.starts_with(is_plain) && text.chars().all(|c| is_plain(c) || matches!(c, '-' | '/'));
    if is_bare && text != "OR" {
        return f.write_str(text);
    }
    f.write_str("\"")?;
    for c in text.chars() {
        if super::parser::is_quote(c) {
            write!(f, "{c}")?;
        }
        write!(f, "{c}")?;
    }
    f.write_str("\"")
}

/// Formats a time as RFC 3339 with milliseconds, or as a number of milliseconds if it is out of range.
fn format_timestamp(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0)
        .map_or_else(|_| time.0.to_string(), |stamp| format!("{stamp:.3}"))
}

#[cfg(test)]
mod tests {
    use super::{SourceSet, TextSource};

    #[test]
    fn source_set_contains_its_elements() {
        let set = SourceSet::from_slice(&[TextSource::Tool, TextSource::Context]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [TextSource::Tool, TextSource::Context]);
        assert!(set.contains(TextSource::Context) && !set.contains(TextSource::Prompt));
        assert_eq!(set.union(SourceSet::from_slice(&[TextSource::Prompt])).iter().count(), 3);
        assert!(SourceSet::default().is_empty() && !set.is_empty());
        assert_eq!(SourceSet::ALL.iter().count(), TextSource::ALL.len());
        assert_eq!(
            SourceSet::CONVERSATION.union(SourceSet::from_slice(&[TextSource::Context])),
            SourceSet::ALL
        );
        assert!(!SourceSet::CONVERSATION.contains(TextSource::Context));
    }
}
