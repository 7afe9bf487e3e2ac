//! The search language, for those who are new to it and for those who were misread.

use maud::{Markup, html};
use rethread_engine::core::query::QueryError;

use crate::html::link::address;
use crate::text::clean;

/// Says what is wrong with a query, and where.
pub(crate) fn wrong(typed: &str, bad: &QueryError) -> Markup {
    let part = |range: std::ops::Range<usize>| clean::text(typed.get(range).unwrap_or_default());
    let (start, end) = (bad.at.start.min(typed.len()), bad.at.end.min(typed.len()));
    html! {
        div class="nothing" role="alert" {
            p { code class="wrong-query" { (part(0..start)) mark class="wrong-part" { (part(start..end)) } (part(end..typed.len())) } }
            p { strong { (clean::line(&bad.what)) } }
            @if !bad.hint.is_empty() { p class="quiet" { (clean::line(&bad.hint)) } }
        }
    }
}

/// The language, for those who have not typed anything.
pub(crate) fn help() -> Markup {
    let rows = [
        ("socket retry", "both words in one entry, in any case, also inside others"),
        ("\"off by one\"", "a phrase as it stands"),
        ("socket OR websocket", "either"),
        ("-word", "what must not be"),
        ("/time(d )?out/", "a regular expression"),
        ("role:user", "who says it: user, assistant, tool, thinking, system, summary"),
        ("tool:Bash", "calls of a tool and their results"),
        ("file:src/main.rs", "calls with this in a path"),
        ("project:shop", "sessions with this in the path of their folder"),
        ("branch:main", "on a git branch with this in its name"),
        ("model:opus", "by a model with this in its name"),
        ("since:7d until:2026-01-31", "written in that time"),
        ("error:yes", "failed tool calls and requests"),
        ("is:active", "what Claude remembers; is:compacted and is:abandoned what it does not"),
    ];
    html! {
        section class="help" {
            h2 { "What to type" }
            dl class="language" {
                @for (typed, means) in rows {
                    dt { a href=(address("/search", [("q", typed)])) { code { (typed) } } }
                    dd { (means) }
                }
            }
        }
    }
}
