//! `rethread search`: hits in all sessions, best first, each with whether it is still remembered.

mod excerpt;
mod hints;
mod hit;
mod label;
mod open;
mod sessions;

use std::collections::HashSet;
use std::path::PathBuf;

use rethread_engine::core::query::{Query, join_shell_args};
use rethread_engine::ops::{self, CancelToken, Search, SearchHit, SearchRequest};

use self::hit::Layout;
use super::AppContext;
use super::args;
use super::error::{self, CliError, Exit};
use super::figures::{count, things};
use super::out::Out;
use super::progress::Bar;
use super::style::{QUIET, paint};
use crate::json;

pub(crate) use sessions::Row;

/// Runs the command.
pub(crate) fn run(args: &args::Search, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let words = args.query.iter().chain(&args.rest).map(|word| args::unmarked(word).to_owned());
    let typed = join_shell_args(&words.collect::<Vec<String>>());
    let query = Query::parse(&typed, &|text| place.clock.read(text))
        .map_err(|bad| CliError::BadQuery(typed.clone(), bad))?;
    let request = SearchRequest {
        roots: place.roots.clone(),
        query,
        all: args.all,
        budget: None,
        halt: CancelToken::default(),
    };
    let mut search = ops::search(&request, place.index.as_ref());
    for notice in &search.notices {
        error::notice(Some(notice), out);
    }
    let ended = match args.open.or(args.resume) {
        Some(no) => match nth(&mut search, no)? {
            Some(hit) if args.open.is_some() => open::show_hit(hit, place, out),
            Some(hit) => open::resume(&hit, place, out),
            None => Ok(Exit::Nothing),
        },
        None if args.sessions => by_session(&mut search, args, place, out),
        None => list(&mut search, args, place, out),
    };
    error::warn(&search.failures, out);
    let ended = ended?;
    match ended {
        Exit::Nothing if search.files == 0 => super::say_nothing_found(place, out),
        Exit::Nothing => hints::nothing(&typed, &request, place, out),
        _ => {}
    }
    catch_up(search, place, out)?;
    Ok(ended)
}

/// Brings the index up to date where the search had to do without, now that the hits are shown.
fn catch_up(search: Search, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let (behind, told) = (search.index_is_stale(), !search.notices.is_empty());
    let unkept = search.finish();
    let Some(index) = place.index.as_ref().filter(|_| behind) else {
        if !told {
            error::notice(unkept.as_ref(), out);
        }
        return Ok(());
    };
    out.flush()?;
    let bar = Bar::new("indexing for the next search");
    let status =
        ops::refresh_index(&place.roots, index, false, &|progress| bar.show(progress.done, progress.of))?;
    if !told {
        error::notice(status.and_then(|mut status| status.notices.pop()).as_ref(), out);
    }
    Ok(())
}

/// Returns a hit by its number; none where there are no hits at all.
fn nth(search: &mut Search, no: usize) -> Result<Option<SearchHit>, CliError> {
    let mut at = 0;
    while let Some(hit) = search.next_hit() {
        at += 1;
        if at == no {
            return Ok(Some(hit));
        }
    }
    if at == 0 { Ok(None) } else { Err(CliError::NoHit { no, hits: at }) }
}

fn list(
    search: &mut Search,
    args: &args::Search,
    place: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    out.may_page();
    let layout = Layout::new(search.total().hits.min(limit), args.context, out);
    let mut sessions: HashSet<PathBuf> = HashSet::new();
    let mut before: Option<PathBuf> = None;
    let mut shown = 0;
    while shown < limit
        && let Some(hit) = search.next_hit()
    {
        shown += 1;
        if out.is_json() {
            out.json(&json::search_hit(shown, &hit))?;
        } else {
            layout.print(shown, &hit, before.as_ref() == Some(&hit.session_path), place, out)?;
        }
        if shown == 1 {
            out.flush()?;
        }
        sessions.insert(hit.session_path.clone());
        before = Some(hit.session_path);
    }
    let total = search.total();
    if out.is_json() {
        out.json(&json::search_total(shown, (shown == total.hits).then_some(sessions.len()), search))?;
    } else if shown > 0 {
        let sum = match shown < total.hits {
            true if total.exact => {
                format!("{} of {} hits · --limit 0 shows all", count(shown as u64), count(total.hits as u64))
            }
            true => format!(
                "{} of up to {} hits · --limit 0 shows all",
                count(shown as u64),
                count(total.hits as u64)
            ),
            false => {
                format!("{} in {}", things(shown as u64, "hit"), things(sessions.len() as u64, "session"))
            }
        };
        out.note(&paint(QUIET, &format!("{sum} · --open N reads one, --resume N goes on with it")));
    }
    Ok(Exit::found(shown > 0))
}

fn by_session(
    search: &mut Search,
    args: &args::Search,
    place: &AppContext,
    out: &mut Out,
) -> Result<Exit, CliError> {
    let rows = sessions::collect(search);
    let limit = if args.limit == 0 { usize::MAX } else { args.limit };
    let shown = &rows[..rows.len().min(limit)];
    if out.is_json() {
        for row in shown {
            out.json(&json::search_session(row))?;
        }
        let hits = shown.iter().map(|row| row.hits).sum();
        out.json(&json::search_total(hits, Some(rows.len()), search))?;
    } else if !rows.is_empty() {
        out.may_page();
        sessions::print(shown, place, out)?;
        let hits: usize = rows.iter().map(|row| row.hits).sum();
        let mut sum = format!("{} in {}", things(hits as u64, "hit"), things(rows.len() as u64, "session"));
        if shown.len() < rows.len() {
            sum.push_str(&format!(", the first {} shown · --limit 0 shows all", count(shown.len() as u64)));
        }
        out.note(&paint(QUIET, &sum));
    }
    Ok(Exit::found(!rows.is_empty()))
}
