//! The session that an export tells.

use rethread_engine::ops::SessionView;
use serde::Serialize;

use super::object::{Wire, time, wire};

/// What stands before the turns.
#[derive(Serialize)]
pub(crate) struct Export<'a> {
    session: &'a str,
    title: &'a str,
    project: &'a str,
    git_branch: Option<&'a str>,
    versions: &'a [String],
    models: &'a [String],
    first: Option<String>,
    last: Option<String>,
    turns: usize,
    told: usize,
    branches: usize,
    everything: bool,
    detail: &'static str,
}

/// The head of an export of which `told` turns follow.
pub(crate) fn export<'a>(
    reading: &'a SessionView,
    told: usize,
    everything: bool,
    detail: &'static str,
) -> Wire<Export<'a>> {
    let session = &reading.session;
    let sketch = &session.sketch;
    wire(
        "export",
        Export {
            session: &session.id,
            title: &session.title.text,
            project: sketch.cwd.as_deref().unwrap_or_default(),
            git_branch: sketch.git_branch.as_deref(),
            versions: &sketch.versions,
            models: &sketch.models,
            first: time(sketch.first),
            last: time(sketch.last),
            turns: session.tree.turns().count(),
            told,
            branches: reading.branches.list.len(),
            everything,
            detail,
        },
    )
}
