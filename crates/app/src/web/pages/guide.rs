//! Help on the search language, and errors in a query.

use maud::{Markup, html};
use rethread_engine::core::query::QueryError;

use crate::html::link::{Site, build_address};
use crate::text::clean;

/// Renders an error in the query `typed`, with the faulty part marked.
pub(crate) fn render_query_error(typed: &str, error: &QueryError) -> Markup {
    let part = |range: std::ops::Range<usize>| clean::text(typed.get(range).unwrap_or_default());
    let (start, end) = (error.span.start.min(typed.len()), error.span.end.min(typed.len()));
    html! {
        div class="empty-state" role="alert" {
            p { code class="query-error-text" { (part(0..start)) mark class="query-error-span" { (part(start..end)) } (part(end..typed.len())) } }
            p { strong { (clean::line(&error.message)) } }
            @if !error.hint.is_empty() { p class="muted" { (clean::line(&error.hint)) } }
        }
    }
}

/// Renders the table of query syntax, with each example as a link to its search.
pub(crate) fn render_query_help(site: &Site) -> Markup {
    let rows = [
        ("socket retry", "both words in one entry, in any case, also inside longer words"),
        ("\"off by one\"", "an exact phrase"),
        ("socket OR websocket", "either"),
        ("-word", "entries without it"),
        ("/time(d )?out/", "a regular expression"),
        ("role:user", "text by user, assistant, tool, thinking, system, summary"),
        ("tool:Bash", "calls of a tool and their results"),
        ("file:src/main.rs", "calls with this in a path"),
        ("project:shop", "sessions with this in the path of their folder"),
        ("branch:main", "on a git branch with this in its name"),
        ("model:opus", "by a model with this in its name"),
        ("pr:123", "the session of a pull request, by number or address"),
        ("since:7d until:2026-01-31", "written in that time"),
        ("error:yes", "failed tool calls and requests"),
        ("is:active", "entries in context; also is:compacted, is:abandoned, is:subagent"),
    ];
    html! {
        section class="help" {
            h2 { "Query syntax" }
            dl class="query-syntax" {
                @for (typed, meaning) in rows {
                    dt { a href=(build_address(&site.page("/search"), [("q", typed)])) { code { (typed) } } }
                    dd { (meaning) }
                }
            }
        }
    }
}
