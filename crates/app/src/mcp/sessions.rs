//! The tool `sessions`: past sessions, newest first.

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops;
use rethread_engine::ops::list::{SessionFilter, SessionRow};

use super::answer::{Answer, ToolError, quote_inline, truncate};
use super::arguments::SessionsArguments;
use super::search::{cite_session, find_caller};
use crate::context::AppContext;
use crate::text::session::display_title;

/// The sessions of an answer without a limit.
const DEFAULT_LIMIT: usize = 20;
/// The most sessions of an answer.
const MAX_LIMIT: usize = 100;

/// Lists past sessions.
pub(super) fn run(arguments: &SessionsArguments, app: &AppContext) -> Result<String, ToolError> {
    let filter = SessionFilter {
        words: arguments.words.iter().flat_map(|words| words.split_whitespace()).map(str::to_owned).collect(),
        project: arguments.project.clone(),
        since: parse_time(arguments.since.as_deref(), app)?,
        until: parse_time(arguments.until.as_deref(), app)?,
        ..SessionFilter::default()
    };
    let list = ops::list::list_sessions(&app.roots, &filter, app.cache.as_ref());
    let caller = find_caller(app);
    let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let mut answer = Answer::new(arguments.budget);
    let shown = list
        .rows
        .iter()
        .take(limit)
        .take_while(|row| answer.push(&format_row(row, caller.as_deref(), app)))
        .count();
    let next = match list.rows.first() {
        Some(row) => {
            format!("Next: read {}", serde_json::json!({ "session": cite_session(&row.id) }))
        }
        None => "Next: sessions without filters, or search.".to_owned(),
    };
    let total = list.rows.len();
    let count = match shown {
        0 if total == 0 => "No sessions match.".to_owned(),
        _ if shown < limit.min(total) => format!("Cut by the budget: {shown} of {total} sessions shown."),
        _ => format!("{shown} of {total} sessions shown."),
    };
    Ok(answer.finish(&[count, next]))
}

/// Parses a time such as `7d`. Returns an error that names the accepted forms.
fn parse_time(text: Option<&str>, app: &AppContext) -> Result<Option<Timestamp>, ToolError> {
    let parse = |text: &str| {
        app.clock.parse_time(text).ok_or_else(|| {
            ToolError::new(
                format!("`{}` is no time", quote_inline(text)),
                "use 7d, 12h, 2w, yesterday, 2026-01-31 or RFC 3339",
            )
        })
    };
    text.map(parse).transpose()
}

/// Formats a session on one line.
fn format_row(row: &SessionRow, caller: Option<&str>, app: &AppContext) -> String {
    let title = quote_inline(&display_title(&row.title.text));
    let facts = [
        Some(cite_session(&row.id)),
        Some(format!("\"{}\"", truncate(&title, 100))),
        Some(app.format_path(&quote_inline(&row.project()))),
        row.last_activity().map(|time| app.clock.format_minute(time)),
        Some(format!("{} turns", row.info.turns)),
        row.live.then(|| "open in a client".to_owned()),
        row.archived.then(|| "only in the archive".to_owned()),
        (caller == Some(row.id.as_str())).then(|| "the current session".to_owned()),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
