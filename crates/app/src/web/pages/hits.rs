//! The search results by session, and filters that narrow the search.

use std::collections::HashMap;

use maud::{Markup, html};
use rethread_engine::core::query::{Predicate, QueryToken, suggest_field, tokenize_query};
use rethread_engine::ops::search::SearchHit;

use crate::html::hit::{PAGE_CONTEXT, build_hit_address, render_context_badge, render_excerpt, source_label};
use crate::html::link::build_address;
use crate::text::clean;
use crate::text::figures::{count_noun, format_duration, group_digits};
use crate::text::session::display_title;
use crate::text::session::folder_name;
use crate::text::time::Clock;
use crate::web::params::QueryParams;
use crate::web::search::{SearchParams, SearchResults};
use crate::web::server::Server;
use crate::web::session_list::CachedSessionList;

/// The maximum number of hits on the search page.
pub(crate) const MAX_HITS: usize = 1000;

/// The offered filters, each with a tooltip.
const FILTERS: &[(&str, &str)] = &[
    ("role:user", "your prompts"),
    ("role:assistant", "answers of Claude"),
    ("role:tool", "tool calls and their results"),
    ("error:yes", "failed calls and requests"),
    ("is:active", "in context when the session is resumed"),
    ("is:abandoned", "on abandoned branches"),
    ("is:compacted", "before a compaction"),
    ("is:subagent", "by subagents"),
    ("since:7d", "in the last seven days"),
    ("since:30d", "in the last thirty days"),
];

/// Renders the title of the session that contains a hit.
pub(crate) fn render_title(hit: &SearchHit) -> Markup {
    let text = display_title(&hit.title.text);
    html! { @if text.is_empty() { i { "no prompt" } } @else { (text) } }
}

/// A page of search results.
pub(crate) struct HitsPage<'p> {
    /// The server.
    pub(crate) server: &'p Server,
    /// All sessions, with the keys of those that contain hits.
    pub(crate) list: &'p CachedSessionList,
    /// The current time.
    pub(crate) clock: &'p Clock,
    /// The query parameters of the request.
    pub(crate) params: &'p QueryParams,
    /// The parameters of the search.
    pub(crate) search: &'p SearchParams,
}

impl HitsPage<'_> {
    /// Renders the search box.
    pub(crate) fn render_form(&self) -> Markup {
        html! {
            h1 class="visually-hidden" { "Search" }
            form class="home-search" action=(self.server.site().page("/search")) role="search" {
                input type="search" name="q" value=(clean::line(&self.search.typed)) autofocus[self.search.typed.is_empty()]
                    placeholder="Search all messages" aria-label="Search all sessions" autocomplete="off" spellcheck="false";
            }
        }
    }

    /// Renders links that add a filter to the query, or remove one that it contains. Offers up to four folders of the
    /// hits too.
    pub(crate) fn render_filters(&self, results: Option<&SearchResults>) -> Markup {
        let mut filters: Vec<(String, String)> =
            FILTERS.iter().map(|(filter, meaning)| ((*filter).to_owned(), (*meaning).to_owned())).collect();
        let mut folders: Vec<&str> = Vec::new();
        for hit in results.iter().flat_map(|results| &results.hits) {
            let folder = hit.project.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            if !folder.is_empty() && !folders.contains(&folder) && folders.len() < 4 {
                folders.push(folder);
            }
        }
        if folders.len() > 1 {
            filters.extend(
                folders.iter().map(|folder| (format_field("project", folder), "only this folder".to_owned())),
            );
        }
        let typed = &self.search.typed;
        let search_page = self.server.site().page("/search");
        html! {
            nav class="chips" aria-label="Narrow the search" {
                @for (filter, meaning) in &filters {
                    @let (is_active, query) = toggle_filter(typed, filter);
                    a class={ "chip" @if is_active { " chip-active" } } href=(build_address(&search_page, [("q", query.as_str())])) title=(meaning)
                        aria-current=[is_active.then_some("true")] {
                        (clean::line(filter)) @if is_active { " " span aria-hidden="true" { "×" } }
                    }
                }
            }
        }
    }

    /// Renders the hits by session, or hints if there are none.
    pub(crate) fn render_results(&self, results: &SearchResults) -> Markup {
        if results.hits.is_empty() {
            return self.render_empty(results);
        }
        let groups = group_by_session(&results.hits);
        let shown = results.hits.len();
        let more =
            (results.total.hits > shown && shown < MAX_HITS).then(|| (shown * 4).min(MAX_HITS).to_string());
        html! {
            p class="totals muted" role="status" {
                (format_count(results, groups.len())) " · " (format_duration(results.duration.as_millis() as u64))
                @if results.is_incomplete { " · the search was stopped: " (self.render_longer_link()) }
                @if results.failure_count > 0 { " · " (count_noun(results.failure_count as u64, "file")) " could not be read" }
            }
            @for warning in &results.warnings { p class="muted" role="status" { (warning) } }
            ol class="results" { @for group in &groups { (self.render_session(group)) } }
            @if let Some(more) = more {
                p { a class="button" href=(self.params.address_with(&self.server.site().page("/search"), "n", Some(&more))) { "More hits" } }
            }
        }
    }

    fn render_longer_link(&self) -> Markup {
        html! { a href=(self.params.address_with(&self.server.site().page("/search"), "longer", Some("1"))) { "search longer" } }
    }

    /// Renders the hits of one session.
    fn render_session(&self, hits: &[&SearchHit]) -> Markup {
        let Some(best) = hits.first() else { return html! {} };
        let key = self.list.key_of(&best.session_path);
        let folder = self.server.context.format_path(&best.project);
        let last = hits.iter().filter_map(|hit| hit.time).max();
        html! {
            li class="result-session" {
                div class="result-head" {
                    h2 class="ellipsis" {
                        @match key { Some(key) => a href=(self.server.site().session(key)) { (render_title(best)) }, None => (render_title(best)) }
                    }
                    span class="muted ellipsis" { span title=(folder) { (folder_name(&folder)) } " · " (self.clock.format_age(last)) }
                }
                ul {
                    @for hit in hits {
                        li class="result-hit" { (self.render_hit(hit, key)) }
                    }
                }
            }
        }
    }

    /// Renders a hit as a link to its entry. `key` is the key of its session, if that is listed.
    fn render_hit(&self, hit: &SearchHit, key: Option<&str>) -> Markup {
        let content = html! {
            span class="result-facts" {
                strong { (source_label(hit)) } " " (render_context_badge(hit))
                @if let Some(turn) = hit.turn { span class="muted" { "turn " (turn) } }
                @if let Some(time) = hit.time { time class="muted" title=(self.clock.format_minute(time)) { (self.clock.format_age(Some(time))) } }
                @if !hit.copies.is_empty() { span class="muted" { "+" (group_digits(hit.copies.len() as u64)) @if hit.copies.len() == 1 { " copy" } @else { " copies" } } }
            }
            span class="result-text" { (render_excerpt(&hit.excerpt, PAGE_CONTEXT)) }
        };
        match key {
            Some(key) => {
                html! { a class="result-link" href=(build_hit_address(hit, &self.server.site().session(key))) { (content) } }
            }
            None => {
                html! { div class="result-link" title="it belongs to no listed session" { (content) } }
            }
        }
    }

    /// Renders that there are no hits, with hints.
    fn render_empty(&self, results: &SearchResults) -> Markup {
        let mut hints: Vec<Markup> = Vec::new();
        for atom in results.query.clauses.iter().flatten() {
            if let Predicate::Text(needle) = &atom.predicate
                && let Some(near) = suggest_field(needle.text())
            {
                let word = clean::line(needle.text());
                hints.push(
                    html! { code { (word) } " was searched as text; did you mean " code { (near) ":" } "?" },
                );
            }
        }
        if results.is_incomplete {
            hints.push(
                html! { "The search was stopped before everything was read: " (self.render_longer_link()) },
            );
        }
        if results.query.clauses.len() > 1 {
            hints.push(html! { "All words must be in one entry: remove a word, or put " code { "OR" } " between two" });
        }
        if !self.search.all {
            let more = self.params.address_with(&self.server.site().page("/search"), "all", Some("1"));
            hints.push(
                html! { a href=(more) { "Search also" } " attachments, progress and lines of unknown types" },
            );
        }
        html! {
            div class="empty-state" role="status" {
                p { strong { "No matches for " code { (clean::line(&self.search.typed)) } } }
                ul { @for hint in &hints { li { (hint) } } }
            }
        }
    }
}

/// Groups hits by session. Sessions are in the order of their best hit; hits stay in their order.
fn group_by_session(hits: &[SearchHit]) -> Vec<Vec<&SearchHit>> {
    let mut groups: Vec<Vec<&SearchHit>> = Vec::new();
    let mut group_ids = HashMap::new();
    for hit in hits {
        let idx = *group_ids.entry(&hit.session_path).or_insert(groups.len());
        if idx == groups.len() {
            groups.push(Vec::new());
        }
        groups[idx].push(hit);
    }
    groups
}

/// Formats the numbers of shown hits, of all hits and of sessions.
fn format_count(results: &SearchResults, session_count: usize) -> String {
    let (shown, all) = (results.hits.len() as u64, results.total.hits as u64);
    let sessions = count_noun(session_count as u64, "session");
    match (shown < all, results.total.exact) {
        (false, _) => format!("{} in {sessions}", count_noun(shown, "hit")),
        (true, true) => {
            format!("the best {} of {} hits, in {sessions}", group_digits(shown), group_digits(all))
        }
        (true, false) => {
            format!("the best {} of up to {} hits, in {sessions}", group_digits(shown), group_digits(all))
        }
    }
}

/// Formats a field of a query as `name:value`. A value with white space or quotes is quoted.
fn format_field(name: &str, value: &str) -> String {
    if value.contains(|c: char| c.is_whitespace() || c == '"') {
        format!("{name}:\"{}\"", value.replace('"', "\"\""))
    } else {
        format!("{name}:{value}")
    }
}

/// Adds a filter to the query `typed`, or removes it. Returns whether the query contained the filter, and the new
/// query.
fn toggle_filter(typed: &str, filter: &str) -> (bool, String) {
    let tokens = tokenize_query(typed);
    let is_filter = |token: &QueryToken| typed[token.span.clone()].eq_ignore_ascii_case(filter);
    let mut removed: Vec<usize> = Vec::new();
    for (idx, _) in tokens.iter().enumerate().filter(|(_, token)| is_filter(token)) {
        removed.push(idx);
        // An `OR` needs two operands.
        let is_or = |idx: usize| !removed.contains(&idx) && tokens.get(idx).is_some_and(|token| token.is_or);
        let or =
            idx.checked_sub(1).filter(|&before| is_or(before)).or(Some(idx + 1).filter(|&next| is_or(next)));
        removed.extend(or);
    }
    if removed.is_empty() {
        return (false, format!("{typed} {filter}").trim().to_owned());
    }
    let remaining = tokens.iter().enumerate().filter(|(idx, _)| !removed.contains(idx));
    let remaining: Vec<&str> = remaining.map(|(_, token)| &typed[token.span.clone()]).collect();
    (true, remaining.join(" "))
}

#[cfg(test)]
mod tests {
    use super::{format_field, toggle_filter};

    #[test]
    fn a_filter_is_added_and_removed_again() {
        for (typed, filter, is_active, query) in [
            ("", "role:user", false, "role:user"),
            ("\"a  b\" c", "role:user", false, "\"a  b\" c role:user"),
            ("x Role:User y", "role:user", true, "x y"),
            ("\"a  b\" role:user", "role:user", true, "\"a  b\""),
            ("\"x role:user y\"", "role:user", false, "\"x role:user y\" role:user"),
            ("x project:\"a b\" y", "project:\"a b\"", true, "x y"),
            ("-role:user x", "role:user", false, "-role:user x role:user"),
            ("x OR role:user OR y", "role:user", true, "x OR y"),
            ("role:user | x", "role:user", true, "x"),
            ("role:user role:user", "role:user", true, ""),
            ("role:usr since:soon", "role:user", false, "role:usr since:soon role:user"),
        ] {
            assert_eq!(toggle_filter(typed, filter), (is_active, query.to_owned()), "{typed}");
        }
        assert_eq!(format_field("project", "a b"), "project:\"a b\"");
        assert_eq!(format_field("project", "a\"b"), "project:\"a\"\"b\"");
        assert_eq!(format_field("project", "shop"), "project:shop");
    }
}
