//! `rethread show`: prints a session turn by turn.

use std::collections::HashSet;

use rethread_engine::Error;
use rethread_engine::core::problem::{Problem, ProblemKind};
use rethread_engine::core::turn::Turn;
use rethread_engine::ops;
use rethread_engine::ops::Session;
use rethread_engine::ops::read::BranchSelector;
use rethread_engine::ops::show::{ShowRequest, ShownSession};
use unicode_width::UnicodeWidthStr;

use super::args;
use super::clean;
use super::deleted;
use super::error::{CliError, Exit};
use super::figures::{count_noun, format_duration, format_size};
use super::out::Out;
use super::style::{BAD, MARK, NAME, QUIET, STRONG, paint};
use super::table::truncate_to_width;
use super::turn_printer::TurnPrinter;
use super::turn_range::{note_turns_elsewhere, parse_turns};
use super::{AppContext, layout};
use crate::json;
use crate::text::session::{git_branch_label, restore_command, scope_label, state_command};

/// Runs `rethread show`: prints which turns are shown, and these turns.
///
/// Returns [`Exit::Nothing`] if no turn is shown.
pub(crate) fn run(args: &args::Show, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let turns = args.turns.as_deref().map(parse_turns).transpose()?;
    let path = match app.find_session(&args.session) {
        Ok(path) => path,
        Err(error @ Error::UnknownSession { .. }) => {
            return deleted::show_if_deleted(args, app, out)?.ok_or(error.into());
        }
        Err(error) => return Err(error.into()),
    };
    let branch = match &args.branch {
        Some(entry) => BranchSelector::Through(entry.clone()),
        None if args.all => BranchSelector::AllTurns,
        None => BranchSelector::Active,
    };
    let request = ShowRequest { path, turns, branch, only_typed: args.only_typed, ..ShowRequest::default() };
    let mut show = ops::show::show_session(&request)?;
    let id = show.session.id.clone();
    if args.raw || out.is_json() {
        return print_unformatted(&mut show, &id, args.raw, out);
    }
    out.allow_pager();
    print_session_header(&show.session, &id, app, out)?;
    print_scope(&show, &request, out)?;
    let folder = show.session.info.cwd.clone().unwrap_or_default();
    let mut printer = TurnPrinter::new(args, &folder, &app.clock, out);
    let mut has_turns = false;
    for turn in show.by_ref() {
        let mut turn = turn?;
        turn.release_lines();
        printer.print_turn(&turn, out)?;
        if !has_turns {
            out.flush()?;
        }
        has_turns = true;
    }
    if !has_turns {
        out.note(match (&request.turns, show.scope.omitted()) {
            (None, _) => "no messages",
            (Some(_), 0) => "no turn has this number",
            (Some(_), _) => "no turn of this branch has this number (--all includes other branches)",
        });
    } else {
        note_turns_elsewhere(show.scope.requested_elsewhere, out);
    }
    Ok(Exit::from_found(has_turns))
}

/// Prints which of the turns of the session are shown, if it has any.
fn print_scope(show: &ShownSession, request: &ShowRequest, out: &mut Out) -> Result<(), CliError> {
    let label = scope_label(&show.scope, &request.branch);
    let hint = if show.scope.omitted() > 0 { " (--all shows the others)" } else { "" };
    if label.is_empty() {
        return Ok(());
    }
    let text = format!("showing {label}{hint}");
    let lines = textwrap::wrap(&text, out.width()).into_iter().map(|line| paint(QUIET, &line));
    lines.collect::<Vec<_>>().iter().try_for_each(|line| out.line(line))
}

/// Prints the original lines if `raw` is set, otherwise a JSON object per turn, without a header.
fn print_unformatted(show: &mut ShownSession, id: &str, raw: bool, out: &mut Out) -> Result<Exit, CliError> {
    let mut has_turns = false;
    for turn in show.by_ref() {
        let mut turn = turn?;
        if raw {
            turn.turn = Turn::default();
            for line in &turn.lines {
                out.raw(&line.bytes)?;
            }
        } else {
            turn.release_lines();
            out.json(&json::build_turn(id, &turn))?;
        }
        if !has_turns {
            out.flush()?;
        }
        has_turns = true;
    }
    if has_turns {
        note_turns_elsewhere(show.scope.requested_elsewhere, out);
    }
    Ok(Exit::from_found(has_turns))
}

/// Prints the title, the id, the facts and the problems of a session.
fn print_session_header(
    session: &Session,
    id: &str,
    app: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    let info = &session.info;
    let title = clean::line(&session.title.text);
    let title = if title.is_empty() { "(no messages)" } else { &title };
    for line in textwrap::wrap(title, out.width()).iter().take(2) {
        out.line(&paint(STRONG, line))?;
    }
    let branch = git_branch_label(info.git_branch.as_deref());
    let folder = app.format_path(info.cwd.as_deref().unwrap_or_default());
    let branch = branch.map(|branch| format!("git {branch}")).unwrap_or_default();
    let (mut line, mut used) = (String::new(), 0);
    for (style, text) in [(NAME, clean::line(id)), (QUIET, folder), (QUIET, branch)] {
        let text = truncate_to_width(&text, out.width());
        if used > 0 && used + 2 + text.width() > out.width() {
            out.line(&line)?;
            (line, used) = (String::new(), 0);
        }
        let gap = if used > 0 { "  " } else { "" };
        used += gap.len() + text.width();
        line.push_str(gap);
        line.push_str(&paint(style, &text));
    }
    out.line(&line)?;
    let count_from =
        |count: usize, min: usize, noun: &str| (count >= min).then(|| count_noun(count as u64, noun));
    let models: Vec<String> = info.models.iter().map(|model| clean::line(model)).collect();
    let facts = [
        info.first_time.zip(info.last_time).map(|(first, last)| {
            let duration = format_duration(last.0.saturating_sub(first.0).unsigned_abs());
            format!("{} ({duration})", app.clock.format_range(first, last))
        }),
        count_from(info.turns, 0, "turn"),
        count_from(info.branches, 2, "branch"),
        count_from(info.compactions, 1, "compaction"),
        Some(format_size(session.total_bytes())),
        (!info.versions.is_empty()).then(|| format!("client {}", format_version_range(&info.versions))),
        (!models.is_empty()).then(|| models.join(", ")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    for line in layout::join_facts(&facts, out.width()) {
        out.line(&paint(QUIET, &line))?;
    }
    if session.archived {
        print_archive_note(session, &clean::line(id), out)?;
    }
    print_problems(session, out)
}

/// Prints that only the archive has the session or its state, and the command that restores it.
fn print_archive_note(session: &Session, id: &str, out: &mut Out) -> Result<(), CliError> {
    let (note, command) = match ops::resolve::find_state_number(&session.path) {
        Some(number) => {
            (format!("this is state {number} of the session in the archive"), state_command(id, number))
        }
        None => ("only the archive has this session".to_owned(), restore_command(id)),
    };
    out.line(&paint(MARK, &note))?;
    out.line(&format!("restore: {}", paint(NAME, &command)))
}

/// Formats the first and the last of several client versions.
fn format_version_range(versions: &[String]) -> String {
    match versions {
        [] => String::new(),
        [one] => clean::line(one),
        [first, .., last] => format!("{} … {}", clean::line(first), clean::line(last)),
    }
}

/// Prints the number of problems in the file and the first 4 of them. Prints nothing if there are none.
fn print_problems(session: &Session, out: &mut Out) -> Result<(), CliError> {
    const MAX_LISTED: usize = 4;
    // Clients repeat lines when they copy a session. Nothing is wrong with that.
    let copies: HashSet<u32> = session.tree.copies().map(|id| session.tree.node(id).span.line).collect();
    let is_copy = |problem: &&Problem| {
        matches!(problem.kind, ProblemKind::RepeatedUuid(_)) && copies.contains(&problem.line)
    };
    let all = session.problems.iter().chain(&session.tree.problems);
    let all: Vec<&Problem> = all.filter(|problem| !is_copy(problem)).collect();
    if all.is_empty() {
        return Ok(());
    }
    let label = |problem: &&Problem| match problem.line {
        0 => problem.kind.name().to_owned(),
        line => format!("{} at L{line}", problem.kind.name()),
    };
    let mut listed: Vec<String> = all.iter().take(MAX_LISTED).map(label).collect();
    if all.len() > MAX_LISTED {
        listed.push(format!("{} more", all.len() - MAX_LISTED));
    }
    let style = if session.problems.is_empty() { MARK } else { BAD };
    let count = count_noun(all.len() as u64, "problem");
    let lines = textwrap::wrap(&format!("{count}: {}", listed.join(", ")), out.width())
        .into_iter()
        .map(|line| paint(style, &line))
        .collect::<Vec<_>>();
    lines.iter().try_for_each(|line| out.line(line))
}
