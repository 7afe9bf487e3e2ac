//! `rethread search`: prints hits in all sessions, best first, and whether each is in context.

mod excerpt;
mod hints;
mod hit;
mod label;
mod open;
mod sessions;

use std::collections::HashSet;
use std::path::PathBuf;

use rethread_engine::core::query::{Literal, Needle, Predicate, Query, join_shell_args};
use rethread_engine::ops;
use rethread_engine::ops::search::{Search, SearchHit, SearchRequest};

use self::hit::HitLayout;
use super::AppContext;
use super::args;
use super::error::{self, CliError, Exit};
use super::figures::{count_noun, group_digits};
use super::out::Out;
use super::progress::ProgressBar;
use super::style::{QUIET, paint};
use crate::json;

/// Runs `rethread search`: prints hits or sessions, best first, or opens one hit. Then updates the index.
///
/// Returns [`Exit::Nothing`] if there are no hits.
pub(crate) fn run(args: &args::Search, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let (query, query_text) = parse_query(args, app)?;
    let request = SearchRequest { query, all: args.all, ..SearchRequest::default() };
    let mut search = ops::search::search_sessions(&app.roots, &request, app.cache.as_ref());
    for warning in &search.warnings {
        error::print_cache_warning(Some(warning), out);
    }
    let result = match args.open.or(args.resume) {
        Some(number) => match find_hit(&mut search, number)? {
            Some(hit) if args.open.is_some() => open::show_hit(hit, app, out),
            Some(hit) => open::print_resume_command(&hit, app, out),
            None => Ok(Exit::Nothing),
        },
        None if args.sessions => print_by_session(&mut search, args, app, out),
        None => print_hits(&mut search, args, app, out),
    };
    error::print_warnings(&search.failures, out);
    let exit = result?;
    match exit {
        Exit::Nothing if search.file_count == 0 => super::print_no_sessions(app, out),
        Exit::Nothing => hints::print_no_matches(&query_text, &request, app, out),
        _ => {}
    }
    update_index(search, app, out)?;
    Ok(exit)
}

/// Parses the query words, and adds the regular expression of `--regex`. Also returns the query as text.
fn parse_query(args: &args::Search, app: &AppContext) -> Result<(Query, String), CliError> {
    let words = args.query.iter().chain(&args.rest).map(|word| args::strip_marker(word).to_owned());
    let mut text = join_shell_args(&words.collect::<Vec<String>>());
    let mut query = match &args.regex {
        Some(_) if text.is_empty() => Query::default(),
        _ => Query::parse_with_times(&text, &|text| app.clock.parse_time(text))
            .map_err(|error| CliError::BadQuery(text.clone(), error))?,
    };
    if let Some(pattern) = &args.regex {
        let needle =
            Needle::from_pattern(pattern).map_err(|error| CliError::BadPattern(pattern.clone(), error.0))?;
        query.clauses.push(vec![Literal { negated: false, predicate: Predicate::Pattern(needle) }]);
        text = format!("{text} /{pattern}/").trim_start().to_owned();
    }
    Ok((query, text))
}

/// Updates the index if it is stale. Called after the hits are printed.
fn update_index(search: Search, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let (is_stale, has_warned) = (search.is_index_stale(), !search.warnings.is_empty());
    let warning = search.finish();
    let Some(cache) = app.cache.as_ref().filter(|_| is_stale) else {
        if !has_warned {
            error::print_cache_warning(warning.as_ref(), out);
        }
        return Ok(());
    };
    out.flush()?;
    let bar = ProgressBar::new("indexing for the next search", out);
    let status = ops::index::refresh_index(&app.roots, cache, false, &|progress| {
        bar.show(progress.done, progress.total);
    })?;
    if !has_warned {
        error::print_cache_warning(status.and_then(|mut status| status.warnings.pop()).as_ref(), out);
    }
    Ok(())
}

/// Returns a hit by its number, which starts at 1. Returns `None` if there are no hits at all.
///
/// Returns an error if there are hits, but fewer than `number`.
fn find_hit(search: &mut Search, number: usize) -> Result<Option<SearchHit>, CliError> {
    let mut count = 0;
    for hit in search.by_ref() {
        count += 1;
        if count == number {
            return Ok(Some(hit));
        }
    }
    if count == 0 { Ok(None) } else { Err(CliError::NoHit { number, hits: count }) }
}

/// Prints the hits up to the limit (0: all), and a summary.
fn print_hits(
    search: &mut Search,
    args: &args::Search,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    out.allow_pager();
    let layout = HitLayout::new(search.hit_count().hits.min(limit), args.context, out);
    let mut sessions: HashSet<PathBuf> = HashSet::new();
    let mut previous: Option<PathBuf> = None;
    let mut shown = 0;
    while shown < limit
        && let Some(hit) = search.next()
    {
        shown += 1;
        if out.is_json() {
            out.json(&json::build_search_hit(shown, &hit))?;
        } else {
            layout.print(shown, &hit, previous.as_ref() == Some(&hit.session_path), app, out)?;
        }
        if shown == 1 {
            out.flush()?;
        }
        sessions.insert(hit.session_path.clone());
        previous = Some(hit.session_path);
    }
    let total = search.hit_count();
    if out.is_json() {
        out.json(&json::build_search_total(shown, (shown == total.hits).then_some(sessions.len()), search))?;
    } else if shown > 0 {
        let summary = match shown < total.hits {
            true if total.exact => {
                format!(
                    "{} of {} hits · --limit 0 shows all",
                    group_digits(shown as u64),
                    group_digits(total.hits as u64)
                )
            }
            true => format!(
                "{} of up to {} hits · --limit 0 shows all",
                group_digits(shown as u64),
                group_digits(total.hits as u64)
            ),
            false => {
                format!(
                    "{} in {}",
                    count_noun(shown as u64, "hit"),
                    count_noun(sessions.len() as u64, "session")
                )
            }
        };
        out.note(&paint(
            QUIET,
            &format!("{summary} · --open N shows a hit, --resume N prints the command that resumes it"),
        ));
    }
    Ok(Exit::from_found(shown > 0))
}

/// Prints one row per session up to the limit (0: all), and a summary.
fn print_by_session(
    search: &mut Search,
    args: &args::Search,
    app: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let rows = sessions::collect(search);
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let shown = &rows[..rows.len().min(limit)];
    if out.is_json() {
        for row in shown {
            out.json(&json::build_search_session(row))?;
        }
        let hits = shown.iter().map(|row| row.hits).sum();
        out.json(&json::build_search_total(hits, Some(rows.len()), search))?;
    } else if !rows.is_empty() {
        out.allow_pager();
        sessions::print(shown, app, out)?;
        let hits: usize = rows.iter().map(|row| row.hits).sum();
        let mut summary =
            format!("{} in {}", count_noun(hits as u64, "hit"), count_noun(rows.len() as u64, "session"));
        if shown.len() < rows.len() {
            summary.push_str(&format!(
                ", first {} shown · --limit 0 shows all",
                group_digits(shown.len() as u64)
            ));
        }
        out.note(&paint(QUIET, &summary));
    }
    Ok(Exit::from_found(!rows.is_empty()))
}
