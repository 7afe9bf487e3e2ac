//! Renders a session in a list: title, badges, facts.

use maud::{Markup, html};
use rethread_engine::ops;
use rethread_engine::ops::list::SessionRow;

use super::link::{Site, build_address};
use crate::text::clean;
use crate::text::figures::{count_noun, format_size, group_digits};
use crate::text::session::display_title;
use crate::text::session::{folder_name, git_branch_label};

/// A row of the session list.
#[derive(Debug, Clone)]
pub(crate) struct ListRow<'a> {
    /// The addresses of the pages to which the row links.
    pub(crate) site: &'a Site,
    /// The key of the session in its address.
    pub(crate) key: &'a str,
    /// The session.
    pub(crate) session: &'a SessionRow,
    /// The folder of the session, with `~` for the home directory.
    pub(crate) folder: String,
    /// How long ago the session was last used, for display.
    pub(crate) age: String,
    /// The time at which it was last used, for the tooltip. Empty if unknown.
    pub(crate) stamp: String,
}

/// The number of columns of the session table, for `colspan`.
pub(crate) const COLUMNS: &str = "7";

/// Renders the session table with the accessible name `label`. `more` is an additional last row.
pub(crate) fn render_table(rows: &[ListRow<'_>], label: &str, more: Option<&Markup>) -> Markup {
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
            tbody { (render_rows(rows, more)) }
        }
    }
}

/// Renders the rows of the session table. `more` is an additional last row.
pub(crate) fn render_rows(rows: &[ListRow<'_>], more: Option<&Markup>) -> Markup {
    html! {
        @for row in rows { (render_row(row)) }
        @if let Some(more) = more { (more) }
    }
}

/// Renders a session as a table row. The project links to the sessions of its repository.
fn render_row(row: &ListRow<'_>) -> Markup {
    let session = row.session;
    let info = &session.info;
    let branch = git_branch_label(info.git_branch.as_deref());
    let repository = ops::repository::repository_folder(info.cwd.as_deref().unwrap_or_default()).to_owned();
    let folder = (!repository.is_empty())
        .then(|| build_address(&row.site.page("/sessions"), [("repo", repository.as_str())]));
    html! {
        tr class="row" data-key=(row.key) {
            td { div class="row-title" {
                a class="row-link ellipsis" href=(row.site.session(row.key)) { (render_title(session)) }
                (render_badges(session, &row.site.session(row.key)))
            } }
            td class="row-project ellipsis" title=(row.folder) {
                @match folder {
                    Some(address) => a href=(address) { (folder_name(&row.folder)) },
                    None => (folder_name(&row.folder)),
                }
            }
            td class="row-branch ellipsis mono" title=[branch.as_deref()] { (branch.as_deref().unwrap_or_default()) }
            td class="row-model ellipsis" title=[all_models(session)] { (get_last_model(session)) }
            td class="row-turns num" { (group_digits(info.turns as u64)) span class="row-unit" { @if info.turns == 1 { " turn" } @else { " turns" } } }
            td class="row-size num" { (format_size(session.bytes)) }
            td class="row-time num" { @if info.last_time.is_some() { time title=(row.stamp) { (row.age) } } }
        }
    }
}

/// Renders the title of a session, or "no prompt" if it is empty.
pub(crate) fn render_title(session: &SessionRow) -> Markup {
    let text = display_title(&session.title.text);
    html! { @if text.is_empty() { i class="muted" { "no prompt" } } @else { (text) } }
}

/// Renders the badges of the session at the address `base`: live, relations, compacted, damaged, branches, subagents,
/// headless, pull requests. The badge of a damaged session links to its diagnostics.
pub(crate) fn render_badges(session: &SessionRow, base: &str) -> Markup {
    let (info, links) = (&session.info, &session.links);
    let count = |n: usize, min: usize, noun: &str| (n >= min).then(|| count_noun(n as u64, noun));
    let flag = |is_set: bool, label: &str| is_set.then(|| label.to_owned());
    let pulls = session.pull_requests();
    let pull = match pulls {
        [] => None,
        [request] => Some(format!("PR {}", clean::line(&request.number))),
        more => Some(count_noun(more.len() as u64, "PR")),
    };
    let badges = [
        (
            "badge-accent",
            flag(links.implementation.is_some(), "plan"),
            "planned what another session implements",
        ),
        (
            "badge-accent",
            flag(links.plan.is_some(), "implementation"),
            "implements the plan of another session",
        ),
        ("badge-accent", flag(links.forked_from.is_some(), "fork"), "forked from another session"),
        (
            "badge-warn",
            flag(info.compactions > 0, "compacted"),
            "earlier turns are only a summary in the context",
        ),
        ("", count(info.branches, 2, "branch"), "branches of the conversation"),
        ("", count(session.agents, 1, "subagent"), "subagents started by the session"),
        ("", flag(info.is_headless(), "headless"), "started by a program, not interactively"),
        ("badge-good", pull, "pull requests created in the session"),
    ];
    html! {
        span class="row-badges" {
            @if session.live { span class="row-live" title="a client has it open" { span class="live" {} " live" } }
            @if session.archived { span class="badge badge-warn" title="the client deleted its file; only the archive has it" { "archived" } }
            @if session.damaged {
                a class="badge badge-bad" href={ (base) "/doctor" } title="see what is damaged, and repair it" { "damaged" }
            }
            @for (class, label, tooltip) in badges {
                @if let Some(label) = label { span class={ "badge " (class) } title=(tooltip) { (label) } }
            }
        }
    }
}

/// Returns the short name of the last model of a session. Returns an empty string if there is none.
pub(crate) fn get_last_model(session: &SessionRow) -> String {
    real_models(session).next_back().map(shorten_model_name).unwrap_or_default()
}

/// Returns the names of all models of a session, separated by commas. Returns `None` if there are none.
fn all_models(session: &SessionRow) -> Option<String> {
    let all: Vec<String> = real_models(session).map(clean::line).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Returns the models of a session, without names in angle brackets: `<synthetic>` marks answers of the client
/// itself.
fn real_models(session: &SessionRow) -> impl DoubleEndedIterator<Item = &str> {
    session.info.models.iter().map(String::as_str).filter(|model| !model.starts_with('<'))
}

/// Returns the short name of a model: `opus 4.1` for `claude-opus-4-1-20250805`. Other names are returned unchanged.
pub(crate) fn shorten_model_name(model: &str) -> String {
    let clean = clean::line(model);
    let Some((_, rest)) = clean.split_once("claude-") else { return clean };
    let name = rest.split(':').next().unwrap_or(rest);
    let parts = name.split(['-', '@']).filter(|part| !is_date(part) && !is_revision(part));
    let (numbers, names): (Vec<&str>, Vec<&str>) =
        parts.partition(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    let short = format!("{} {}", names.join(" "), numbers.join("."));
    if short.trim().is_empty() { clean } else { short.trim().to_owned() }
}

/// Returns `true` for a revision that some providers append, such as `v1`.
fn is_revision(part: &str) -> bool {
    part.strip_prefix('v')
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_date(part: &str) -> bool {
    part.len() == 8 && part.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::shorten_model_name;

    #[test]
    fn model_names_are_shortened() {
        for (model, short) in [
            ("claude-opus-4-1-20250805", "opus 4.1"),
            ("claude-opus-5", "opus 5"),
            ("claude-3-5-haiku-20241022", "haiku 3.5"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "sonnet 4.5"),
            ("claude-sonnet-4-5@20250929", "sonnet 4.5"),
            ("gpt-x", "gpt-x"),
            ("claude-", "claude-"),
            ("", ""),
        ] {
            assert_eq!(shorten_model_name(model), short, "{model}");
        }
    }
}
