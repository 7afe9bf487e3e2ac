//! The tool `files`: past sessions whose tool calls name a file.

use std::collections::{BTreeMap, BTreeSet};

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::query::{Literal, Predicate, Query};
use rethread_engine::ops;
use rethread_engine::ops::search::SearchRequest;

use super::answer::{Answer, ToolError, quote_inline, truncate};
use super::arguments::FilesArguments;
use super::search::{TIME_LIMIT, cite_session, find_caller, refresh_index};
use crate::context::AppContext;
use crate::text::session::display_title;

/// The sessions of an answer without a limit.
const DEFAULT_LIMIT: usize = 10;
/// The most sessions of an answer.
const MAX_LIMIT: usize = 50;
/// The most turns that are named for a session.
const MAX_TURNS: usize = 12;

/// The calls of a session that name the file.
#[derive(Debug, Default)]
struct FileMentions {
    title: String,
    project: String,
    last: Option<Timestamp>,
    /// The number of calls by tool.
    tools: BTreeMap<String, usize>,
    turns: BTreeSet<u32>,
}

/// Finds the sessions that name a file in a tool call.
pub(super) fn run(arguments: &FilesArguments, app: &AppContext) -> Result<String, ToolError> {
    let path = arguments.path.trim();
    if path.is_empty() {
        return Err(ToolError::new("the path is empty", "name a part of a path, such as src/main.rs"));
    }
    let literal = Literal { negated: false, predicate: Predicate::File(path.to_owned()) };
    let request = SearchRequest {
        query: Query { clauses: vec![vec![literal]] },
        budget: Some(TIME_LIMIT),
        ..SearchRequest::default()
    };
    let mut search = ops::search::search_sessions(&app.roots, &request, app.cache.as_ref());
    let caller = find_caller(app);
    let mut sessions: BTreeMap<String, FileMentions> = BTreeMap::new();
    for hit in search.by_ref().filter(|hit| caller.as_ref() != Some(&hit.session)) {
        let mentions = sessions.entry(hit.session.clone()).or_default();
        mentions.title.clone_from(&hit.title.text);
        mentions.project.clone_from(&hit.project);
        mentions.last = mentions.last.max(hit.time);
        mentions.turns.extend(hit.turn);
        let tool = hit.excerpt.tool.as_deref().map_or_else(|| "other".to_owned(), quote_inline);
        *mentions.tools.entry(tool).or_default() += 1;
    }
    refresh_index(search, app);
    let mut rows: Vec<(String, FileMentions)> = sessions.into_iter().collect();
    rows.sort_by_key(|(_, mentions)| std::cmp::Reverse(mentions.last));
    let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT);
    let mut answer = Answer::new(arguments.budget);
    let shown = rows
        .iter()
        .take(limit)
        .take_while(|(id, mentions)| answer.push(&format_row(id, mentions, app)))
        .count();
    let next = match rows.first() {
        Some((id, mentions)) => {
            let mut arguments = serde_json::json!({ "session": cite_session(id) });
            if let Some(turn) = mentions.turns.last() {
                arguments["turns"] = turn.to_string().into();
            }
            format!("Next: read {arguments}")
        }
        None => "Next: search for the name of the file in the texts.".to_owned(),
    };
    let count = match (shown, rows.len()) {
        (0, 0) => "No tool call of a past session names this file.".to_owned(),
        (shown, total) if shown < limit.min(total) => {
            format!("Cut by the budget: {shown} of {total} sessions shown.")
        }
        (shown, total) => format!("{shown} of {total} sessions shown."),
    };
    Ok(answer.finish(&[count, next]))
}

/// Formats a session, its tools and its turns.
fn format_row(id: &str, mentions: &FileMentions, app: &AppContext) -> String {
    let tools: Vec<String> = mentions.tools.iter().map(|(tool, count)| format!("{tool} {count}")).collect();
    let turns: Vec<String> =
        mentions.turns.iter().rev().take(MAX_TURNS).map(|turn| format!("t{turn}")).collect();
    let more = if mentions.turns.len() > MAX_TURNS { " …" } else { "" };
    let title = quote_inline(&display_title(&mentions.title));
    let time = mentions.last.map(|time| app.clock.format_minute(time)).unwrap_or_default();
    format!(
        "{} · {time} · {} · {}{more}\n   \"{}\" in {}",
        cite_session(id),
        tools.join(", "),
        turns.join(" "),
        truncate(&title, 100),
        app.format_path(&quote_inline(&mentions.project))
    )
}
