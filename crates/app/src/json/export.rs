//! JSON of the header of an export.

use rethread_engine::ops::read::SessionView;
use serde::Serialize;

use super::object::{ObjectJson, build_object, format_time};

/// The first line of an export as JSON, which precedes the turns.
#[derive(Serialize)]
pub(crate) struct ExportJson<'a> {
    session: &'a str,
    title: &'a str,
    project: &'a str,
    git_branch: Option<&'a str>,
    versions: &'a [String],
    models: &'a [String],
    first: Option<String>,
    last: Option<String>,
    turns: usize,
    exported_turns: usize,
    branches: usize,
    all_branches: bool,
    detail: &'static str,
}

/// Builds the `export` object, the header of an export. `exported_turns` counts the turns in the export,
/// `detail` names its level of detail.
pub(crate) fn build_export<'a>(
    view: &'a SessionView,
    exported_turns: usize,
    all_branches: bool,
    detail: &'static str,
) -> ObjectJson<ExportJson<'a>> {
    let session = &view.session;
    let info = &session.info;
    build_object(
        "export",
        ExportJson {
            session: &session.id,
            title: &session.title.text,
            project: info.cwd.as_deref().unwrap_or_default(),
            git_branch: info.git_branch.as_deref(),
            versions: &info.versions,
            models: &info.models,
            first: format_time(info.first_time),
            last: format_time(info.last_time),
            turns: session.tree.turn_starts().count(),
            exported_turns,
            branches: view.branches.count_connected(),
            all_branches,
            detail,
        },
    )
}
