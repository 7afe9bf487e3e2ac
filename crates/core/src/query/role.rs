//! The role names that `role:` accepts, and the sources that each selects.

use super::ast::SourceSet;
use super::texts::TextSource;

/// Role names and their sources. If several names select the same sources, the first is used in output.
const ROLES: &[(&str, SourceSet)] = &[
    ("user", SourceSet::from_slice(&[TextSource::Prompt])),
    ("assistant", SourceSet::from_slice(&[TextSource::Answer])),
    ("tool", SourceSet::from_slice(&[TextSource::Tool, TextSource::Result])),
    ("thinking", SourceSet::from_slice(&[TextSource::Thinking])),
    ("system", SourceSet::from_slice(&[TextSource::System])),
    ("summary", SourceSet::from_slice(&[TextSource::Summary])),
    ("context", SourceSet::from_slice(&[TextSource::Context])),
    ("prompt", SourceSet::from_slice(&[TextSource::Prompt])),
    ("answer", SourceSet::from_slice(&[TextSource::Answer])),
    ("result", SourceSet::from_slice(&[TextSource::Result])),
];

/// Iterates over the role names that `role:` accepts, including aliases.
pub(super) fn role_names() -> impl Iterator<Item = &'static str> {
    ROLES.iter().map(|(name, _)| *name)
}

/// Returns the sources of a role. Its name may be in any case. Returns `None` if no role has this name.
pub(super) fn parse_role(name: &str) -> Option<SourceSet> {
    ROLES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, sources)| *sources)
}

/// Returns one role name that selects exactly `sources`, or else the name of each source.
pub(super) fn find_role_names(sources: SourceSet) -> Vec<&'static str> {
    match ROLES.iter().find(|(_, set)| *set == sources) {
        Some((name, _)) => vec![name],
        None => sources.iter().map(TextSource::name).collect(),
    }
}
