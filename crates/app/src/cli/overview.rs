//! `rethread` alone: what there is, and what to type next.

use rethread_engine::ops::{self, Filter, SessionList};
use rethread_engine::{Roots, SessionWriter};

use super::error::{self, CliError, Exit};
use super::figures::{count, size, things};
use super::out::Out;
use super::style::{MARK, NAME, QUIET, STRONG, paint};
use super::table::{Align, Cell, Table, truncate_to_width};
use super::{AppContext, clean, ls};
use crate::demo::Demo;
use crate::json;

const PROJECTS: usize = 8;
const SESSIONS: usize = 12;

/// Runs the command.
pub(crate) fn run(place: &AppContext, demo: bool, out: &mut Out) -> Result<Exit, CliError> {
    let listing = ops::list(&place.roots, &Filter::default(), place.index.as_ref());
    if listing.files == 0 && !demo && !out.is_json() {
        return nothing(place, &listing, out);
    }
    draw(place, &listing, demo, out)
}

/// Says where it looked, then shows the same on invented sessions.
fn nothing(place: &AppContext, listing: &SessionList, out: &mut Out) -> Result<Exit, CliError> {
    super::say_nothing_found(place, out);
    error::warn(&listing.failures, out);
    out.note("hint: --root looks elsewhere; below is what it looks like with sessions");
    out.note("");
    let demo = Demo::make(place.clock.now())?;
    let place = AppContext {
        roots: Roots { paths: vec![demo.root()] },
        clock: place.clock.clone(),
        home: place.home.clone(),
        pen: SessionWriter::new(demo.state()),
        index: None,
    };
    let listing = ops::list(&place.roots, &Filter::default(), None);
    draw(&place, &listing, true, out)
}

fn draw(place: &AppContext, listing: &SessionList, demo: bool, out: &mut Out) -> Result<Exit, CliError> {
    if out.is_json() {
        for row in &listing.rows {
            out.json(&json::session(row))?;
        }
        error::warn(&listing.failures, out);
        error::notice(listing.notice.as_ref(), out);
        return Ok(Exit::found(!listing.rows.is_empty()));
    }
    if demo {
        banner("DEMO: these sessions are invented, none of them is yours", out)?;
    }
    let projects = listing.projects();
    let bytes = projects.iter().map(|project| project.bytes).sum();
    out.line(&format!(
        "{} in {}, {}",
        paint(STRONG, &things(listing.rows.len() as u64, "session")),
        things(projects.len() as u64, "project"),
        size(bytes),
    ))?;
    out.line("")?;
    let mut table = Table::new(0)
        .column("project", Align::Left, 60)
        .column("used", Align::Right, 6)
        .column("sessions", Align::Right, 8)
        .column("size", Align::Right, 8);
    for project in projects.iter().take(PROJECTS) {
        table.row(vec![
            place.tilde(&project.path).into(),
            Cell::new(QUIET, place.clock.age(project.last)),
            count(project.sessions as u64).into(),
            Cell::new(QUIET, size(project.bytes)),
        ]);
    }
    table.print(out)?;
    if projects.len() > PROJECTS {
        out.line(&paint(QUIET, &format!("… and {} more", count((projects.len() - PROJECTS) as u64))))?;
    }
    out.line("")?;
    ls::table(&listing.rows[..listing.rows.len().min(SESSIONS)], &place.clock, out)?;
    if listing.rows.len() > SESSIONS {
        out.line(&paint(QUIET, &format!("… and {} more", count((listing.rows.len() - SESSIONS) as u64))))?;
    }
    out.line("")?;
    next(listing, demo, out)?;
    if demo {
        banner("DEMO: end of the invented sessions", out)?;
    }
    if let Some(hidden) = ls::hidden(&listing.hidden) {
        out.note(&hidden);
    }
    error::warn(&listing.failures, out);
    error::notice(listing.notice.as_ref(), out);
    Ok(Exit::Done)
}

fn banner(text: &str, out: &mut Out) -> Result<(), CliError> {
    let rule = "═".repeat(out.width().min(100).saturating_sub(text.len() + 5));
    out.line(&paint(MARK, &format!("══ {text} {rule}")))
}

/// Says what to type next.
fn next(listing: &SessionList, demo: bool, out: &mut Out) -> Result<(), CliError> {
    let demo = if demo { " --demo" } else { "" };
    let ids: Vec<&str> = listing.rows.iter().map(|row| row.id.as_str()).collect();
    let pick = listing.rows.get(1).or(listing.rows.first());
    let id = pick.map_or_else(String::new, |row| clean::line(ls::short_id(&row.id, &ids)));
    let mut hints = vec![
        (format!("rethread{demo} show last"), "read the newest session"),
        (format!("rethread{demo} show {id}"), "read any session: by id, words of its title, or path"),
        (
            format!("rethread{demo} ls --since 7d"),
            "list sessions, by time, project, title, model, git branch",
        ),
        (format!("rethread{demo} search WORDS"), "find words in all of them, also what Claude forgot"),
        (format!("rethread{demo} tools last --errors"), "what went wrong"),
        (format!("rethread{demo} stats"), "count everything"),
        ("rethread --help".to_owned(), "all commands"),
    ];
    if pick.is_none() {
        hints.remove(1);
    }
    let width = hints.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    for (command, what) in hints {
        let gap = " ".repeat(width - command.len() + 2);
        let what = truncate_to_width(what, out.width().saturating_sub(width + 4));
        out.line(&format!("  {}{gap}{}", paint(NAME, &command), paint(QUIET, &what)))?;
    }
    Ok(())
}
