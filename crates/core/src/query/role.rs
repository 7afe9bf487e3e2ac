//! The names that `role:` takes, and the texts they stand for.

use super::ast::Sources;
use super::texts::TextSource;

/// Every name with its texts: who speaks first, then single kinds of text.
const ROLES: &[(&str, Sources)] = &[
    ("user", Sources::of(&[TextSource::Prompt])),
    ("assistant", Sources::of(&[TextSource::Answer])),
    ("tool", Sources::of(&[TextSource::Tool, TextSource::Result])),
    ("thinking", Sources::of(&[TextSource::Thinking])),
    ("system", Sources::of(&[TextSource::System])),
    ("summary", Sources::of(&[TextSource::Summary])),
    ("context", Sources::of(&[TextSource::Context])),
    ("prompt", Sources::of(&[TextSource::Prompt])),
    ("answer", Sources::of(&[TextSource::Answer])),
    ("result", Sources::of(&[TextSource::Result])),
];

/// Lists the names.
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    ROLES.iter().map(|(name, _)| *name)
}

/// Returns the texts of a role, by its name in any case.
pub(super) fn read(name: &str) -> Option<Sources> {
    ROLES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, sources)| *sources)
}

/// Returns names that together stand for a set, as near as the language can say it.
pub(super) fn names(sources: Sources) -> Vec<&'static str> {
    match ROLES.iter().find(|(_, set)| *set == sources) {
        Some((name, _)) => vec![name],
        None => sources.iter().map(TextSource::name).collect(),
    }
}
