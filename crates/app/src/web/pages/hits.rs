//! Hits on their page, by session, and the words that narrow the search.

use std::collections::HashMap;

use maud::{Markup, html};
use rethread_engine::core::query::{Predicate, QueryToken, pieces, suggest_field};
use rethread_engine::ops::SearchHit;

use crate::html::hit::{READ, excerpt, memory, place, speaker};
use crate::html::link::address;
use crate::text::clean;
use crate::text::figures::{count, duration, things};
use crate::text::folder::base;
use crate::text::session::display_title;
use crate::text::time::Clock;
use crate::web::params::QueryParams;
use crate::web::search::{SearchParams, SearchResults};
use crate::web::server::Server;
use crate::web::session_list::CachedSessionList;

/// So many hits stand on a page at most.
pub(crate) const MOST: usize = 1000;

/// Words of the language that are offered, and what they mean.
const CHIPS: &[(&str, &str)] = &[
    ("role:user", "what you said"),
    ("role:assistant", "what Claude said"),
    ("role:tool", "calls of tools and their results"),
    ("error:yes", "failed calls and requests"),
    ("is:active", "what Claude remembers when the session is resumed"),
    ("is:abandoned", "on branches that were left"),
    ("is:compacted", "before a compaction"),
    ("is:subagent", "what subagents said"),
    ("since:7d", "of the last seven days"),
    ("since:30d", "of the last thirty days"),
];

/// Says what the session of a hit is called.
pub(crate) fn title(hit: &SearchHit) -> Markup {
    let text = display_title(&hit.title.text);
    html! { @if text.is_empty() { i { "no prompt was typed" } } @else { (text) } }
}

/// What the parts of a page of hits need to know.
pub(crate) struct HitsPage<'p> {
    /// The server.
    pub(crate) server: &'p Server,
    /// All sessions.
    pub(crate) look: &'p CachedSessionList,
    /// The present.
    pub(crate) clock: &'p Clock,
    /// What is asked of the page.
    pub(crate) asked: &'p QueryParams,
    /// What to look for.
    pub(crate) wanted: &'p SearchParams,
}

impl HitsPage<'_> {
    /// The search box.
    pub(crate) fn form(&self) -> Markup {
        html! {
            h1 class="unseen" { "Search" }
            form class="home-search" action="/search" role="search" {
                input type="search" name="q" value=(self.wanted.typed) autofocus[self.wanted.typed.is_empty()]
                    placeholder="Search everything that was said" aria-label="Search all sessions" autocomplete="off" spellcheck="false";
            }
        }
    }

    /// Words that narrow the search; those that are there already are taken away by a click.
    pub(crate) fn chips(&self, found: Option<&SearchResults>) -> Markup {
        let mut words: Vec<(String, String)> =
            CHIPS.iter().map(|(word, why)| ((*word).to_owned(), (*why).to_owned())).collect();
        let mut folders: Vec<&str> = Vec::new();
        for hit in found.iter().flat_map(|found| &found.hits) {
            let folder = hit.project.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            if !folder.is_empty() && !folders.contains(&folder) && folders.len() < 4 {
                folders.push(folder);
            }
        }
        if folders.len() > 1 {
            words.extend(
                folders.iter().map(|folder| (field("project", folder), "only this folder".to_owned())),
            );
        }
        let typed = &self.wanted.typed;
        html! {
            nav class="chips" aria-label="Narrow the search" {
                @for (word, why) in &words {
                    @let (on, query) = toggled(typed, word);
                    a class={ "chip" @if on { " chip-on" } } href=(address("/search", [("q", query.as_str())])) title=(why)
                        aria-current=[on.then_some("true")] {
                        (clean::line(word)) @if on { " " span aria-hidden="true" { "×" } }
                    }
                }
            }
        }
    }

    /// The hits, or why there are none.
    pub(crate) fn results(&self, found: &SearchResults) -> Markup {
        if found.hits.is_empty() {
            return self.nothing(found);
        }
        let groups = by_session(&found.hits);
        let shown = found.hits.len();
        let more = (found.total.hits > shown && shown < MOST).then(|| (shown * 4).min(MOST).to_string());
        html! {
            p class="sum quiet" role="status" {
                (sum(found, groups.len())) " · " (duration(found.took.as_millis() as u64))
                @if found.cut { " · the time was over: " (self.patiently()) }
                @if found.failures > 0 { " · " (things(found.failures as u64, "file")) " could not be read" }
            }
            @for notice in &found.notices { p class="quiet" role="status" { (notice) } }
            ol class="found" { @for group in &groups { (self.session(group)) } }
            @if let Some(more) = more {
                p { a class="button" href=(self.asked.with("/search", "n", Some(&more))) { "More hits" } }
            }
        }
    }

    fn patiently(&self) -> Markup {
        html! { a href=(self.asked.with("/search", "patient", Some("1"))) { "look longer" } }
    }

    /// The hits of one session.
    fn session(&self, hits: &[&SearchHit]) -> Markup {
        let Some(best) = hits.first() else { return html! {} };
        let key = self.look.key_of(&best.session_path);
        let folder = self.server.place.tilde(&best.project);
        let last = hits.iter().filter_map(|hit| hit.time).max();
        html! {
            li class="found-session" {
                div class="found-head" {
                    h2 class="cut" {
                        @match key { Some(key) => a href={ "/s/" (key) } { (title(best)) }, None => (title(best)) }
                    }
                    span class="quiet cut" { span title=(folder) { (base(&folder)) } " · " (self.clock.age(last)) }
                }
                ul {
                    @for hit in hits {
                        li class="found-hit" { (self.linked(hit, key)) }
                    }
                }
            }
        }
    }

    fn linked(&self, hit: &SearchHit, key: Option<&str>) -> Markup {
        let drawn = html! {
            span class="found-facts" {
                strong { (speaker(hit)) } " " (memory(hit))
                @if let Some(turn) = hit.turn { span class="quiet" { "turn " (turn) } }
                @if let Some(time) = hit.time { time class="quiet" title=(self.clock.stamp(time)) { (self.clock.age(Some(time))) } }
                @if !hit.copies.is_empty() { span class="quiet" { "+" (count(hit.copies.len() as u64)) @if hit.copies.len() == 1 { " copy" } @else { " copies" } } }
            }
            span class="found-text" { (excerpt(&hit.excerpt, READ)) }
        };
        match key {
            Some(key) => html! { a class="found-link" href=(place(hit, key)) { (drawn) } },
            None => {
                html! { div class="found-link" title="it belongs to no session that is listed" { (drawn) } }
            }
        }
    }

    /// Says that there is no hit, and why that may be.
    fn nothing(&self, found: &SearchResults) -> Markup {
        let mut hints: Vec<Markup> = Vec::new();
        for atom in found.query.clauses.iter().flatten() {
            if let Predicate::Words(needle) = &atom.want
                && let Some(near) = suggest_field(needle.text())
            {
                let word = clean::line(needle.text());
                hints.push(html! { code { (word) } " was looked for as text; did you mean " code { (near) ":" } "?" });
            }
        }
        if found.cut {
            hints.push(html! { "The time was over before everything was read: " (self.patiently()) });
        }
        if found.query.clauses.len() > 1 {
            hints.push(html! { "All of it must stand in one entry: take a word away, or put " code { "OR" } " between two" });
        }
        if !self.wanted.all {
            let more = self.asked.with("/search", "all", Some("1"));
            hints.push(html! { a href=(more) { "Look also" } " through attachments, progress and lines of unknown types" });
        }
        html! {
            div class="nothing" role="status" {
                p { strong { "Nothing holds " code { (clean::line(&self.wanted.typed)) } } }
                ul { @for hint in &hints { li { (hint) } } }
            }
        }
    }
}

/// Puts hits of one session together, in the order of the best of each.
fn by_session(hits: &[SearchHit]) -> Vec<Vec<&SearchHit>> {
    let mut groups: Vec<Vec<&SearchHit>> = Vec::new();
    let mut known = HashMap::new();
    for hit in hits {
        let no = *known.entry(&hit.session_path).or_insert(groups.len());
        if no == groups.len() {
            groups.push(Vec::new());
        }
        groups[no].push(hit);
    }
    groups
}

fn sum(found: &SearchResults, sessions: usize) -> String {
    let (shown, all) = (found.hits.len() as u64, found.total.hits as u64);
    let sessions = things(sessions as u64, "session");
    match (shown < all, found.total.exact) {
        (false, _) => format!("{} in {sessions}", things(shown, "hit")),
        (true, true) => format!("the best {} of {} hits, in {sessions}", count(shown), count(all)),
        (true, false) => format!("the best {} of up to {} hits, in {sessions}", count(shown), count(all)),
    }
}

/// Writes a field of the language; a value with spaces or quotes needs quotes.
fn field(name: &str, value: &str) -> String {
    if value.contains(|c: char| c.is_whitespace() || c == '"') {
        format!("{name}:\"{}\"", value.replace('"', "\"\""))
    } else {
        format!("{name}:{value}")
    }
}

/// Adds a word to a query, or takes it away where it stands there; says which. All else stays as it was typed.
fn toggled(typed: &str, word: &str) -> (bool, String) {
    let pieces = pieces(typed);
    let is_word = |piece: &QueryToken| typed[piece.at.clone()].eq_ignore_ascii_case(word);
    let mut gone: Vec<usize> = Vec::new();
    for (no, _) in pieces.iter().enumerate().filter(|(_, piece)| is_word(piece)) {
        gone.push(no);
        // What stands between two is of no use beside one.
        let is_or = |no: usize| !gone.contains(&no) && pieces.get(no).is_some_and(|piece| piece.is_or);
        let or =
            no.checked_sub(1).filter(|&before| is_or(before)).or(Some(no + 1).filter(|&next| is_or(next)));
        gone.extend(or);
    }
    if gone.is_empty() {
        return (false, format!("{typed} {word}").trim().to_owned());
    }
    let kept = pieces.iter().enumerate().filter(|(no, _)| !gone.contains(no));
    let kept: Vec<&str> = kept.map(|(_, piece)| &typed[piece.at.clone()]).collect();
    (true, kept.join(" "))
}

#[cfg(test)]
mod tests {
    use super::{field, toggled};

    #[test]
    fn a_chip_adds_its_word_and_takes_it_away_again() {
        for (typed, word, on, query) in [
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
            assert_eq!(toggled(typed, word), (on, query.to_owned()), "{typed}");
        }
        assert_eq!(field("project", "a b"), "project:\"a b\"");
        assert_eq!(field("project", "a\"b"), "project:\"a\"\"b\"");
        assert_eq!(field("project", "shop"), "project:shop");
    }
}
