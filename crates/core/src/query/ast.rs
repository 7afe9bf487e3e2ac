//! A query as a value: groups that all hold, of each at least one atom.

use std::fmt::{self, Display, Formatter};

use super::needle::Needle;
use super::role;
use super::texts::TextSource;
use crate::entry::Timestamp;

/// What a search asks of an entry.
#[derive(Debug, Clone)]
pub struct Query {
    /// All of these must hold; a group holds where one of its atoms does.
    pub clauses: Vec<Vec<Literal>>,
}

/// One condition, or its contrary.
#[derive(Debug, Clone)]
pub struct Literal {
    /// Whether it must not hold.
    pub not: bool,
    /// What.
    pub want: Predicate,
}

/// A condition on an entry.
#[derive(Debug, Clone)]
pub enum Predicate {
    /// A text of it holds these words, in any case.
    Words(Needle),
    /// A text of it matches this pattern.
    Pattern(Needle),
    /// Words are looked for here; it has a text of this kind.
    Role(Sources),
    /// It calls this tool or answers a call of it.
    Tool(String),
    /// It calls a tool with a path that holds this.
    File(String),
    /// The name of its model holds this.
    Model(String),
    /// The name of its git branch holds this.
    Branch(String),
    /// The folder of its session holds this.
    Project(String),
    /// The id of its session begins with this.
    Session(String),
    /// It tells of a failed tool or a failed request, or not.
    Error(bool),
    /// It was written then or later.
    Since(Timestamp),
    /// It was written before then.
    Until(Timestamp),
    /// It stands there.
    Is(ContextStatus),
}

/// How an entry stands to what a client will load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContextStatus {
    /// The client loads it.
    Active,
    /// It is on another branch, or on an island.
    Abandoned,
    /// It is on the way to the tip, before a compaction.
    Compacted,
    /// A subagent wrote it.
    Subagent,
}

impl ContextStatus {
    /// Every one.
    pub const ALL: &[ContextStatus] =
        &[ContextStatus::Active, ContextStatus::Abandoned, ContextStatus::Compacted, ContextStatus::Subagent];

    /// Returns the name that `is:` takes.
    pub fn name(self) -> &'static str {
        match self {
            ContextStatus::Active => "active",
            ContextStatus::Abandoned => "abandoned",
            ContextStatus::Compacted => "compacted",
            ContextStatus::Subagent => "subagent",
        }
    }
}

/// A set of [`Source`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Sources(u8);

impl Sources {
    /// All there are.
    pub const ALL: Sources = Sources::of(TextSource::ALL);
    /// What is told of a conversation: all but [`Source::Context`].
    pub const TOLD: Sources = Sources(Sources::ALL.0 & !Sources::of(&[TextSource::Context]).0);

    /// Makes a set of these.
    pub const fn of(sources: &[TextSource]) -> Sources {
        let mut bits = 0;
        let mut k = 0;
        while k < sources.len() {
            bits |= 1 << sources[k] as u8;
            k += 1;
        }
        Sources(bits)
    }

    /// Whether one is in it.
    pub const fn contains(self, source: TextSource) -> bool {
        self.0 & 1 << source as u8 != 0
    }

    /// Returns what is in either.
    #[must_use]
    pub const fn union(self, other: Sources) -> Sources {
        Sources(self.0 | other.0)
    }

    /// Returns what is in both.
    #[must_use]
    pub const fn intersection(self, other: Sources) -> Sources {
        Sources(self.0 & other.0)
    }

    /// Returns what is not in it.
    #[must_use]
    pub const fn complement(self) -> Sources {
        Sources(Sources::ALL.0 & !self.0)
    }

    /// Whether any is in both.
    pub const fn meets(self, other: Sources) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether all of it is in the other.
    pub const fn is_within(self, other: Sources) -> bool {
        self.0 & !other.0 == 0
    }

    /// Returns a bit for each, to be kept.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Takes what was kept.
    pub const fn from_bits(bits: u8) -> Sources {
        Sources(bits & Sources::ALL.0)
    }

    /// Whether none is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Lists them.
    pub fn iter(self) -> impl Iterator<Item = TextSource> {
        TextSource::ALL.iter().copied().filter(move |&source| self.contains(source))
    }
}

/// Writes the query in its own language, so that it reads back the same.
impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (k, group) in self.clauses.iter().enumerate() {
            f.write_str(if k == 0 { "" } else { " " })?;
            for (k, atom) in group.iter().enumerate() {
                write!(f, "{}{atom}", if k == 0 { "" } else { " OR " })?;
            }
        }
        Ok(())
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.not { "-" } else { "" }, self.want)
    }
}

impl Display for Predicate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Predicate::Words(needle) => quoted(f, needle.text()),
            Predicate::Pattern(needle) => write!(f, "/{}/", needle.text()),
            Predicate::Role(sources) => write!(f, "role:{}", role::names(*sources).join(" OR role:")),
            Predicate::Tool(value) => field(f, "tool", value),
            Predicate::File(value) => field(f, "file", value),
            Predicate::Model(value) => field(f, "model", value),
            Predicate::Branch(value) => field(f, "branch", value),
            Predicate::Project(value) => field(f, "project", value),
            Predicate::Session(value) => field(f, "session", value),
            Predicate::Error(yes) => f.write_str(if *yes { "error:yes" } else { "error:no" }),
            Predicate::Since(moment) => write!(f, "since:{}", stamp(*moment)),
            Predicate::Until(moment) => write!(f, "until:{}", stamp(*moment)),
            Predicate::Is(label) => write!(f, "is:{}", label.name()),
        }
    }
}

fn field(f: &mut Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    write!(f, "{name}:")?;
    quoted(f, value)
}

/// Writes a text bare where nothing in it could be taken for something else.
fn quoted(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
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

fn stamp(moment: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(moment.0)
        .map_or_else(|_| moment.0.to_string(), |stamp| format!("{stamp:.3}"))
}

#[cfg(test)]
mod tests {
    use super::{Sources, TextSource};

    #[test]
    fn a_set_holds_what_was_put_in() {
        let set = Sources::of(&[TextSource::Tool, TextSource::Context]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [TextSource::Tool, TextSource::Context]);
        assert!(set.contains(TextSource::Context) && !set.contains(TextSource::Prompt));
        assert_eq!(set.union(Sources::of(&[TextSource::Prompt])).iter().count(), 3);
        assert!(Sources::default().is_empty() && !set.is_empty());
        assert_eq!(Sources::ALL.iter().count(), TextSource::ALL.len());
        assert_eq!(Sources::TOLD.union(Sources::of(&[TextSource::Context])), Sources::ALL);
        assert!(!Sources::TOLD.contains(TextSource::Context));
    }
}
