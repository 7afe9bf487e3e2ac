//! `ls --deleted` and `show` of a deleted session: what is left of sessions that are gone.

use rethread_engine::core::session::PastedContent;
use rethread_engine::ops::deleted::{
    DeletedList, DeletedPrompt, DeletedSession, SessionTrace, TraceKind, find_deleted, list_deleted,
    read_deleted_prompts,
};

use super::args::{Ls, Show};
use super::error::{CliError, Exit, print_hint, print_warnings};
use super::figures::{count_noun, format_size, group_digits};
use super::layout::{join_facts, split_block, wrap_text};
use super::ls::{folder_name, shorten_id};
use super::out::Out;
use super::style::{MARK, NAME, PLAIN, PROMPT, QUIET, STRONG, paint};
use super::table::{Align, Cell, Table};
use super::turn_range::parse_turns;
use super::{AppContext, clean};
use crate::json;
use crate::text::command::quote_command;

/// Runs `rethread ls --deleted`: prints a row per session that is gone.
///
/// Returns [`Exit::Nothing`] if there is none.
pub(crate) fn run_list(ls: &Ls, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let mut filter = ls.filter.to_filter(&app.clock)?;
    filter.all |= ls.all;
    filter.words.clone_from(&ls.words);
    let mut list = list_deleted(&app.roots, &filter, &app.writer, app.cache.as_ref());
    let total = list.rows.len();
    list.rows.truncate(ls.limit.unwrap_or(usize::MAX));
    if out.is_json() {
        for session in &list.rows {
            out.json(&json::build_deleted_session(session))?;
        }
    } else if list.rows.is_empty() {
        out.note("no deleted sessions");
    } else {
        out.allow_pager();
        print_table(&list.rows, app, out)?;
    }
    if total > list.rows.len() {
        out.note(&format!("{} more (--limit)", group_digits((total - list.rows.len()) as u64)));
    }
    print_list_notes(&list, out);
    if !list.rows.is_empty() {
        print_hint(&format!("{} prints the prompts of one", quote_command(&["show", "ID"])), out);
    }
    Ok(match total {
        0 if !list.failures.is_empty() => Exit::Failed,
        total => Exit::from_found(total > 0),
    })
}

fn print_table(sessions: &[DeletedSession], app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let mut table = Table::new(0)
        .column("id", Align::Left, 36)
        .column("last", Align::Left, 16)
        .column("first", Align::Left, 16)
        .omitted_at(1)
        .column("prompts", Align::Right, 7)
        .column("project", Align::Left, 18)
        .omitted_at(2)
        .column("also left", Align::Left, 60)
        .omitted_at(3)
        .column("first prompt", Align::Left, 200);
    let ids: Vec<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
    for (idx, session) in sessions.iter().enumerate() {
        // Only a neighbour in the list is compared, so that a list of thousands costs little.
        let neighbours = &ids[idx.saturating_sub(20)..ids.len().min(idx + 20)];
        let time = |time: Option<_>| time.map(|time| app.clock.format_minute(time)).unwrap_or_default();
        let prompt = clean::line(session.first_prompt.as_deref().unwrap_or_default());
        table.row(vec![
            Cell::new(NAME, clean::line(shorten_id(&session.id, neighbours))),
            Cell::new(QUIET, time(session.last_time)),
            Cell::new(QUIET, time(session.first_time)),
            group_digits(session.prompts as u64).into(),
            folder_name(session.project.as_deref().unwrap_or_default()).into(),
            Cell::new(QUIET, summarize_traces(session)),
            if prompt.is_empty() { Cell::new(QUIET, "(no prompt)") } else { Cell::new(PLAIN, prompt) },
        ]);
    }
    table.print(out)
}

/// Lists the kinds of data that are left besides prompts: `2 subagents, 1 plan`.
fn summarize_traces(session: &DeletedSession) -> String {
    let others = session.traces.iter().filter(|trace| trace.kind != TraceKind::Prompts);
    others.map(count_trace).collect::<Vec<_>>().join(", ")
}

/// Returns the number and the name of what a trace counts.
fn count_trace(trace: &SessionTrace) -> String {
    let noun = match trace.kind {
        TraceKind::Prompts => "prompt",
        TraceKind::Agents => "subagent",
        TraceKind::ToolResults => "tool result",
        TraceKind::FileHistory => "file backup",
        TraceKind::Tasks => "task",
        TraceKind::Todos => "to-do list",
        TraceKind::Plans => "plan",
        TraceKind::Forks => "fork",
        TraceKind::Copies => "partial copy",
        TraceKind::Continuations => "continuation",
        TraceKind::Index => "index entry",
    };
    count_noun(trace.count as u64, noun)
}

/// Prints the sessions and prompts that are not listed, and why.
fn print_list_notes(list: &DeletedList, out: &mut Out) {
    if list.without_prompts > 0 {
        let sessions = count_noun(list.without_prompts as u64, "session");
        out.note(&format!("hidden: {sessions} with nothing but commands such as /exit (--all shows them)"));
    }
    if list.unassigned_prompts > 0 {
        let prompts = count_noun(list.unassigned_prompts as u64, "prompt");
        out.note(&format!("not listed: {prompts} without a session id, by clients before 2.0.32"));
    }
    if list.damaged_lines > 0 {
        let lines = count_noun(list.damaged_lines as u64, "line");
        out.note(&format!("not listed: {lines} of the prompt history that cannot be parsed"));
    }
    if let Some((_, op)) = list.in_trash.first() {
        let sessions = count_noun(list.in_trash.len() as u64, "session");
        let commands = [quote_command(&["undo", &op.to_string()]), quote_command(&["log"])]
            .map(|command| clean::line(&command));
        out.note(&match list.in_trash.len() {
            1 => format!("not listed: {sessions} in the trash ({} restores it)", commands[0]),
            _ => format!("not listed: {sessions} in the trash ({} lists the operations)", commands[1]),
        });
    }
    print_warnings(&list.failures, out);
}

/// Prints what is left of the deleted session that a name matches. Returns `None` if there is none.
pub(crate) fn show_if_deleted(
    args: &Show,
    app: &AppContext,
    out: &mut Out,
) -> Result<Option<Exit>, CliError> {
    let found = find_deleted(&app.roots, &args.session, &app.writer, app.cache.as_ref())?;
    found.map(|session| show(&session, args, app, out)).transpose()
}

/// Prints the prompts of a deleted session in order, and where the rest of its data is.
fn show(session: &DeletedSession, args: &Show, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let range = args.turns.as_deref().map(parse_turns).transpose()?;
    let prompts = read_deleted_prompts(session)?;
    let is_selected = |number: usize| {
        range.as_ref().is_none_or(|range| u32::try_from(number).is_ok_and(|number| range.contains(&number)))
    };
    let selected = prompts.iter().enumerate().map(|(idx, prompt)| (idx + 1, prompt));
    let selected: Vec<_> = selected.filter(|(number, _)| is_selected(*number)).collect();
    if args.raw {
        selected.iter().try_for_each(|(_, prompt)| out.raw(&prompt.line))?;
        return Ok(Exit::from_found(!selected.is_empty()));
    }
    if out.is_json() {
        out.json(&json::build_deleted_session(session))?;
        for (number, prompt) in &selected {
            out.json(&json::build_deleted_prompt(&session.id, *number, prompt))?;
        }
        return Ok(Exit::Done);
    }
    out.allow_pager();
    print_header(session, app, out)?;
    let mut previous = None;
    for (number, prompt) in selected {
        let time = prompt.prompt.time;
        let label = time.map(|time| app.clock.format_second(time, previous)).unwrap_or_default();
        previous = time.or(previous);
        out.line("")?;
        out.line(&format!("{} {}", paint(NAME, &format!("p{number}")), paint(QUIET, &label)))?;
        print_prompt(prompt, out)?;
    }
    Ok(Exit::Done)
}

/// Prints the id, the dates, what is missing and why, and where the remaining data is.
fn print_header(session: &DeletedSession, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let title = clean::line(session.first_prompt.as_deref().unwrap_or("(no prompt)"));
    for line in textwrap::wrap(&title, out.width()).iter().take(2) {
        out.line(&paint(STRONG, line))?;
    }
    out.line(&paint(NAME, &clean::line(&session.id)))?;
    let folder = session.project.as_deref().map(|folder| app.format_path(folder));
    let dates =
        session.first_time.zip(session.last_time).map(|(first, last)| app.clock.format_range(first, last));
    let facts: Vec<String> = [folder, dates].into_iter().flatten().collect();
    for line in join_facts(&facts, out.width()) {
        out.line(&paint(QUIET, &line))?;
    }
    let missing = "The session file is gone: answers, tool calls and results are lost, except for the data below. The client \
        deletes sessions after 30 days unless `cleanupPeriodDays` in its settings is higher; the file may also have been \
        deleted by hand.";
    for line in textwrap::wrap(missing, out.width().min(100)) {
        out.line(&paint(MARK, &line))?;
    }
    for trace in &session.traces {
        let size = if trace.bytes > 0 { format!(", {}", format_size(trace.bytes)) } else { String::new() };
        out.line(&format!("  {}{}", count_trace(trace), paint(QUIET, &size)))?;
        print_paths(trace, app, out)?;
    }
    if session.prompts == 0 {
        let note = "No prompt of this session is in the history: print mode and programs write none.";
        for line in textwrap::wrap(note, out.width()) {
            out.line(&paint(QUIET, &line))?;
        }
    }
    Ok(())
}

/// Prints at most 8 paths of a trace.
fn print_paths(trace: &SessionTrace, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    const MAX_LISTED: usize = 8;
    for path in trace.paths.iter().take(MAX_LISTED) {
        out.line(&paint(QUIET, &format!("    {}", app.format_path(&path.display().to_string()))))?;
    }
    if trace.paths.len() > MAX_LISTED {
        out.line(&paint(QUIET, &format!("    … and {} more", trace.paths.len() - MAX_LISTED)))?;
    }
    Ok(())
}

/// Prints a prompt and the texts that were pasted into it.
fn print_prompt(prompt: &DeletedPrompt, out: &mut Out) -> Result<(), CliError> {
    for (idx, line) in wrap_text(prompt.prompt.text.trim_end(), "", out.width().saturating_sub(2)).enumerate()
    {
        let mark = if idx == 0 { "> " } else { "  " };
        out.line(&if line.is_empty() { String::new() } else { paint(PROMPT, &format!("{mark}{line}")) })?;
    }
    for pasted in &prompt.prompt.pasted {
        out.line(&paint(QUIET, &format!("  {}", describe_pasted(pasted))))?;
        let text = pasted.text.as_deref().unwrap_or_default();
        split_block(text, "  │ ", out.width()).try_for_each(|line| out.line(&line))?;
    }
    Ok(())
}

fn describe_pasted(pasted: &PastedContent) -> String {
    let number = clean::line(&pasted.number);
    match (&pasted.text, pasted.is_image) {
        (_, true) => format!("[image {number}: not in the history]"),
        (Some(_), false) => format!("[pasted text {number}]"),
        (None, false) => format!("[pasted text {number}: missing]"),
    }
}
