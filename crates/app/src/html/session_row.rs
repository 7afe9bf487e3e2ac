//! A session in a list: its title, its badges, its facts.

use maud::{Markup, html};
use rethread_engine::ops::{self, SessionRow};

use super::link::address;
use crate::text::clean;
use crate::text::figures::{count, size, things};
use crate::text::folder::{base, git_branch};
use crate::text::session::display_title;

/// A session, with what the reader's place and time make of it.
#[derive(Debug, Clone)]
pub(crate) struct Row<'a> {
    /// The name in its address.
    pub(crate) key: &'a str,
    /// The session.
    pub(crate) session: &'a SessionRow,
    /// Its folder, as people write it.
    pub(crate) folder: String,
    /// How long ago it was used.
    pub(crate) age: String,
    /// When that was.
    pub(crate) stamp: String,
}

/// How many columns a table of sessions has.
pub(crate) const COLUMNS: &str = "7";

/// Draws a table of sessions; `more` stands below the last as a row of its own.
pub(crate) fn table(rows: &[Row<'_>], label: &str, more: Option<&Markup>) -> Markup {
    html! {
        table class="list" aria-label=(label) {
            thead { tr {
                th scope="col" { "Title" }
                th scope="col" { "Project" }
                th scope="col" { "Git branch" }
                th scope="col" { "Model" }
                th scope="col" class="num" { "Turns" }
                th scope="col" class="num" { "Size" }
                th scope="col" class="num" { "Used" }
            } }
            tbody { (self::rows(rows, more)) }
        }
    }
}

/// Draws the rows of a table.
pub(crate) fn rows(rows: &[Row<'_>], more: Option<&Markup>) -> Markup {
    html! {
        @for row in rows { (one(row)) }
        @if let Some(more) = more { (more) }
    }
}

fn one(row: &Row<'_>) -> Markup {
    let session = row.session;
    let sketch = &session.sketch;
    let branch = git_branch(sketch.git_branch.as_deref());
    let repository = ops::repository(sketch.cwd.as_deref().unwrap_or_default()).to_owned();
    let folder = (!repository.is_empty()).then(|| address("/sessions", [("repo", repository.as_str())]));
    html! {
        tr class="row" data-key=(row.key) {
            td { div class="row-title" {
                a class="row-link cut" href={ "/s/" (row.key) } { (title(session)) }
                (badges(session))
            } }
            td class="row-project cut" title=(row.folder) {
                @match folder {
                    Some(address) => a href=(address) { (base(&row.folder)) },
                    None => (base(&row.folder)),
                }
            }
            td class="row-branch cut mono" title=[branch.as_deref()] { (branch.as_deref().unwrap_or_default()) }
            td class="row-model cut" title=[models(session)] { (model(session)) }
            td class="row-turns num" { (count(sketch.turns as u64)) span class="row-unit" { @if sketch.turns == 1 { " turn" } @else { " turns" } } }
            td class="row-size num" { (size(session.bytes)) }
            td class="row-when num" { @if sketch.last.is_some() { time title=(row.stamp) { (row.age) } } }
        }
    }
}

/// Says what a session is called.
pub(crate) fn title(session: &SessionRow) -> Markup {
    let text = display_title(&session.title.text);
    html! { @if text.is_empty() { i class="quiet" { "no prompt was typed" } } @else { (text) } }
}

/// Draws what is special about a session.
pub(crate) fn badges(session: &SessionRow) -> Markup {
    let (sketch, links) = (&session.sketch, &session.links);
    let some = |n: usize, least: usize, one: &str| (n >= least).then(|| things(n as u64, one));
    let is = |is: bool, what: &str| is.then(|| what.to_owned());
    let pulls = session.pull_requests();
    let pull = match pulls {
        [] => None,
        [one] => Some(format!("PR {}", clean::line(&one.number))),
        more => Some(things(more.len() as u64, "PR")),
    };
    let all = [
        ("badge-mark", is(links.implementation.is_some(), "plan"), "planned what another session implements"),
        ("badge-mark", is(links.plan.is_some(), "implementation"), "implements the plan of another session"),
        ("badge-mark", is(links.forked_from.is_some(), "fork"), "forked from another session"),
        (
            "badge-warn",
            is(sketch.compactions > 0, "compacted"),
            "what came before is only a summary to Claude",
        ),
        (
            "badge-bad",
            is(sketch.damages + sketch.islands > 0, "damaged"),
            "something is lost or out of place",
        ),
        ("", some(sketch.branches, 2, "branch"), "ways the conversation went"),
        ("", some(session.agents, 1, "subagent"), "subagents that worked for it"),
        ("", is(sketch.is_headless(), "headless"), "run by a program"),
        ("badge-good", pull, "pull requests made in it"),
    ];
    html! {
        span class="row-badges" {
            @if session.live { span class="row-live" title="a client has it open" { span class="live" {} " live" } }
            @for (class, said, why) in all {
                @if let Some(said) = said { span class={ "badge " (class) } title=(why) { (said) } }
            }
        }
    }
}

/// Says by which model a session was last answered, in short.
pub(crate) fn model(session: &SessionRow) -> String {
    real_models(session).next_back().map(short_model).unwrap_or_default()
}

/// Names all models of a session.
fn models(session: &SessionRow) -> Option<String> {
    let all: Vec<String> = real_models(session).map(clean::line).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// What stands in angle brackets is no model: the client answered itself.
fn real_models(session: &SessionRow) -> impl DoubleEndedIterator<Item = &str> {
    session.sketch.models.iter().map(String::as_str).filter(|model| !model.starts_with('<'))
}

/// Names a model in short: `claude-opus-4-1-20250805` is `opus 4.1`.
pub(crate) fn short_model(model: &str) -> String {
    let clean = clean::line(model);
    let Some((_, rest)) = clean.split_once("claude-") else { return clean };
    let named = rest.split(':').next().unwrap_or(rest);
    let parts = named.split(['-', '@']).filter(|part| !is_date(part) && !is_edition(part));
    let (numbers, names): (Vec<&str>, Vec<&str>) =
        parts.partition(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    let said = format!("{} {}", names.join(" "), numbers.join("."));
    if said.trim().is_empty() { clean } else { said.trim().to_owned() }
}

/// Some who offer models count editions: `v1`.
fn is_edition(part: &str) -> bool {
    part.strip_prefix('v')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_date(part: &str) -> bool {
    part.len() == 8 && part.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::short_model;

    #[test]
    fn models_are_named_in_short() {
        for (model, said) in [
            ("claude-opus-4-1-20250805", "opus 4.1"),
            ("claude-opus-5", "opus 5"),
            ("claude-3-5-haiku-20241022", "haiku 3.5"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "sonnet 4.5"),
            ("claude-sonnet-4-5@20250929", "sonnet 4.5"),
            ("gpt-x", "gpt-x"),
            ("claude-", "claude-"),
            ("", ""),
        ] {
            assert_eq!(short_model(model), said, "{model}");
        }
    }
}
