//! What to try where nothing was found.

use rethread_engine::core::query::{Literal, Predicate, Query, suggest_field};
use rethread_engine::ops::{self, SearchRequest};

use super::super::out::Out;
use super::super::style::{QUIET, paint};
use super::super::{AppContext, clean};

type Group = Vec<Literal>;

/// Groups that are looked for alone: each is a search of its own.
const TRIED: usize = 6;

/// Says that there is no hit, and why that may be.
pub(super) fn nothing(typed: &str, request: &SearchRequest, place: &AppContext, out: &mut Out) {
    out.note(&format!("nothing holds `{}`", clean::line(typed)));
    let mut hints = misread(&request.query);
    hints.extend(alone(request, place));
    if !request.all {
        hints.push("--all also looks at attachments, progress and lines of unknown types".to_owned());
    }
    for hint in hints {
        out.note(&format!("{} {hint}", paint(QUIET, "hint:")));
    }
}

/// Names what may have been meant otherwise than it was read.
fn misread(query: &Query) -> Vec<String> {
    let mut hints = Vec::new();
    for atom in query.clauses.iter().flatten() {
        match &atom.want {
            Predicate::Words(needle) => {
                if let Some(field) = suggest_field(needle.text()) {
                    let word = clean::line(needle.text());
                    hints.push(format!("`{word}` was looked for as text; did you mean `{field}:`?"));
                }
            }
            Predicate::Pattern(_) => {
                let pattern = clean::line(&atom.want.to_string());
                hints.push(format!(
                    "`{pattern}` is a regular expression and minds case; in quotes it is text"
                ));
            }
            _ => {}
        }
    }
    hints
}

/// Looks for parts of the query alone: one without a hit is the culprit.
fn alone(request: &SearchRequest, place: &AppContext) -> Option<String> {
    let (refused, asked): (Vec<Group>, Vec<Group>) =
        request.query.clauses.iter().cloned().partition(|group| group.iter().all(|atom| atom.not));
    if asked.len() + refused.len() < 2 || asked.len() > TRIED {
        return None;
    }
    let is_found = |groups: &[Group]| {
        let request = SearchRequest { query: Query { clauses: groups.to_vec() }, ..request.clone() };
        ops::search(&request, place.index.as_ref()).next_hit().is_some()
    };
    let said = |groups: &[Group]| {
        let said = groups.iter().map(|group| Query { clauses: vec![group.clone()] }.to_string());
        said.map(|said| format!("`{}`", clean::line(&said))).collect::<Vec<_>>().join(", ")
    };
    if !refused.is_empty() && is_found(&asked) {
        return Some(format!("without {} there are hits", said(&refused)));
    }
    let missing: Vec<Group> =
        asked.iter().filter(|group| !is_found(std::slice::from_ref(*group))).cloned().collect();
    match missing.len() {
        0 => Some("each part is found, but never all in one entry; try fewer, or OR between them".to_owned()),
        1 if asked.len() == 1 => None,
        1 => Some(format!("{} alone is not found either", said(&missing))),
        _ => Some(format!("not found alone either: {}", said(&missing))),
    }
}
