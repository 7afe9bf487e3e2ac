//! The rows of the table of sessions.

use std::collections::HashMap;
use std::sync::Arc;

use rethread_core::session::TitleSource;

use super::rows::{Name, SessionTableRow};
use super::{RowVisitor, TableRow, TableStore};
use crate::disk::FileRole;

/// Passes the sessions that the filter selects to `visit`, in the order of their paths. Returns `false` if it stops.
pub(super) fn read_sessions(store: &TableStore<'_>, visit: &mut RowVisitor<'_>) -> bool {
    let by_path: HashMap<_, _> = store.sessions.iter().map(|row| (row.path.as_path(), row)).collect();
    let files = store.files.iter().zip(&store.names).zip(&store.is_selected);
    for ((file, names), is_selected) in files {
        let session =
            by_path.get(file.path.as_path()).filter(|_| *is_selected && file.role == FileRole::Main);
        let Some(row) = session else { continue };
        let info = &row.info;
        let title = Some(row.title.text.clone()).filter(|_| row.title.source != TitleSource::None);
        let session = SessionTableRow {
            session_id: Arc::clone(&names.session_id),
            source_id: Arc::clone(&names.source_id),
            title_source: title.is_some().then(|| row.title.source.name()),
            title,
            first_prompt: info.first_prompt.clone(),
            project: info.cwd.as_deref().map(Name::from),
            git_branch: info.git_branch.as_deref().map(Name::from),
            client_version_first: info.versions.first().cloned(),
            client_version_last: info.versions.last().cloned(),
            models: Some(info.models.join(",")).filter(|models| !models.is_empty()),
            entrypoint: info.entrypoints.first().cloned(),
            headless: info.is_headless(),
            first_ts: info.first_time,
            last_ts: info.last_time,
            turns: info.turns,
            branches: info.branches,
            compactions: info.compactions,
            agents: row.agents,
            entries: info.entries,
            lines: info.lines,
            bytes: row.bytes,
            problems: info.problem_count,
            forked_from: row.links.forked_from.clone(),
            continued_from: row.links.continued_from.clone(),
            plan: row.links.plan.clone(),
            archived: row.archived,
            path: row.path.to_string_lossy().into(),
        };
        if !visit(TableRow::Sessions(&session)) {
            return false;
        }
    }
    true
}
