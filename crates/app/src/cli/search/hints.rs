//! Hints for a search without hits.

use rethread_engine::core::query::{Literal, Needle, Predicate, Query, suggest_field};
use rethread_engine::ops;
use rethread_engine::ops::search::SearchRequest;

use crate::cli::out::Out;
use crate::cli::style::{QUIET, paint};
use crate::cli::{AppContext, clean};

/// The maximum number of similar words that a hint offers.
const MAX_SIMILAR: usize = 3;

type Clause = Vec<Literal>;

/// The maximum number of clauses that are searched separately. Each costs a complete search.
const MAX_SEPARATE: usize = 6;

/// Prints that there are no matches, and hints.
pub(super) fn print_no_matches(query_text: &str, request: &SearchRequest, app: &AppContext, out: &mut Out) {
    out.note(&format!("no matches for `{}`", clean::line(query_text)));
    let mut hints = build_misparse_hints(&request.query);
    hints.extend(build_spelling_hints(request, app));
    hints.extend(build_clause_hint(request, app));
    if !request.all {
        hints.push("use --all to include attachments, progress and lines of unknown types".to_owned());
    }
    for hint in hints {
        out.note(&format!("{} {hint}", paint(QUIET, "hint:")));
    }
}

/// Returns hints about query words that resemble a field or were parsed as a regular expression.
fn build_misparse_hints(query: &Query) -> Vec<String> {
    let mut hints = Vec::new();
    for literal in query.clauses.iter().flatten() {
        match &literal.predicate {
            Predicate::Text(needle) => {
                if let Some(field) = suggest_field(needle.text()) {
                    let word = clean::line(needle.text());
                    hints.push(format!("`{word}` was searched as text; did you mean `{field}:`?"));
                }
            }
            Predicate::Pattern(_) => {
                let pattern = clean::line(&literal.predicate.to_string());
                hints.push(format!(
                    "`{pattern}` is a case-sensitive regular expression; quote it to search it as text"
                ));
            }
            _ => {}
        }
    }
    hints
}

/// Returns hints about words that occur nowhere, with similar words that occur.
fn build_spelling_hints(request: &SearchRequest, app: &AppContext) -> Vec<String> {
    let words = request.query.clauses.iter().flatten().filter_map(|literal| match &literal.predicate {
        Predicate::Text(needle) if !literal.negated => Some(needle.text().to_owned()),
        _ => None,
    });
    let occurs = |word: &str| {
        let predicate = Predicate::Text(Needle::case_insensitive(word));
        let clauses = vec![vec![Literal { negated: false, predicate }]];
        let request = SearchRequest { query: Query { clauses }, ..request.clone() };
        ops::search::search_sessions(&app.roots, &request, app.cache.as_ref()).next().is_some()
    };
    let mut hints = Vec::new();
    for word in words.take(MAX_SEPARATE).filter(|word| !occurs(word)) {
        let similar = ops::search::find_similar_words(&app.roots, &word, app.cache.as_ref());
        let similar = similar.iter().take(MAX_SIMILAR).filter(|word| occurs(word));
        let similar: Vec<String> = similar.map(|word| format!("`{}`", clean::line(word))).collect();
        if !similar.is_empty() {
            let word = clean::line(&word);
            hints.push(format!("`{word}` occurs nowhere; did you mean {}?", similar.join(" or ")));
        }
    }
    hints
}

/// Searches the clauses of the query separately and returns a hint about those without a match.
///
/// Returns `None` if the query has one clause or more than 6 required ones, or if its only required clause has no match.
fn build_clause_hint(request: &SearchRequest, app: &AppContext) -> Option<String> {
    let (excluded, required): (Vec<Clause>, Vec<Clause>) = request
        .query
        .clauses
        .iter()
        .cloned()
        .partition(|clause| clause.iter().all(|literal| literal.negated));
    if required.len() + excluded.len() < 2 || required.len() > MAX_SEPARATE {
        return None;
    }
    let has_matches = |clauses: &[Clause]| {
        let request = SearchRequest { query: Query { clauses: clauses.to_vec() }, ..request.clone() };
        ops::search::search_sessions(&app.roots, &request, app.cache.as_ref()).next().is_some()
    };
    let quote = |clauses: &[Clause]| {
        let texts = clauses.iter().map(|clause| Query { clauses: vec![clause.clone()] }.to_string());
        texts.map(|text| format!("`{}`", clean::line(&text))).collect::<Vec<_>>().join(", ")
    };
    if !excluded.is_empty() && has_matches(&required) {
        return Some(format!("there are matches without {}", quote(&excluded)));
    }
    let missing: Vec<Clause> =
        required.iter().filter(|clause| !has_matches(std::slice::from_ref(*clause))).cloned().collect();
    match missing.len() {
        0 => Some(
            "each part has matches, but no entry matches all; try fewer words, or OR between them".to_owned(),
        ),
        1 if required.len() == 1 => None,
        1 => Some(format!("{} has no matches on its own", quote(&missing))),
        _ => Some(format!("no matches on their own: {}", quote(&missing))),
    }
}
