//! `rethread goto`: moves the resume point.

use std::io::{self, BufRead, IsTerminal};

use rethread_engine::Error;
use rethread_engine::ops;
use rethread_engine::ops::EntrySelector;
use rethread_engine::ops::goto::{GotoOutcome, GotoRequest};

use super::args;
use super::clean;
use super::error::{CliError, Exit};
use super::figures::{count_noun, format_size};
use super::out::Out;
use super::style::{MARK, NAME, paint};
use super::table::truncate_to_width;
use super::{AppContext, write_report};
use crate::json;

/// Runs `rethread goto`: makes clients resume from the entry that matches the arguments.
pub(crate) fn run(args: &args::Goto, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let request = GotoRequest {
        path: app.find_session_to_change(&args.session)?,
        at: EntrySelector { name: args.target.join(" "), before: args.before, exact: false },
        now: write_report::now(&app.clock),
        dry_run: args.write.dry_run,
        even_if_live: args.write.even_if_live,
    };
    run_goto(request, app, out)
}

/// Moves the resume point and prints the outcome. Lets the user choose if several entries match.
fn run_goto(mut request: GotoRequest, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let outcome = match ops::goto::goto(&request, &app.writer) {
        Err(Error::AmbiguousEntry { name, count, candidates }) => {
            let Some(chosen) = choose_candidate(&candidates, out) else {
                return Err(Error::AmbiguousEntry { name, count, candidates }.into());
            };
            request.at.name = chosen;
            ops::goto::goto(&request, &app.writer)?
        }
        other => other?,
    };
    if out.is_json() {
        out.json(&json::build_goto(&outcome))?;
        return Ok(Exit::Done);
    }
    print(&outcome, app, out)?;
    Ok(Exit::Done)
}

/// Lets the user choose one of the candidates, each a handle and a text. Returns the handle.
///
/// Returns `None` if there is no terminal or no valid answer.
fn choose_candidate(candidates: &[(String, String)], out: &mut Out) -> Option<String> {
    if out.is_json() || out.is_quiet() || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    for (idx, (handle, text)) in candidates.iter().enumerate() {
        let text = truncate_to_width(&clean::line(text), out.width().saturating_sub(handle.len() + 8));
        out.note(&format!("{:>3}  {}  {text}", idx + 1, paint(NAME, handle)));
    }
    out.note("which entry? type its number, or press Enter to cancel");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).ok()?;
    let number: usize = answer.trim().parse().ok()?;
    candidates.get(number.checked_sub(1)?).map(|(handle, _)| handle.clone())
}

/// Prints the new and the old resume point, the expected loads, the appended lines, and how to undo it.
fn print(outcome: &GotoOutcome, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let dry_run = outcome.op.is_none();
    super::print_header(&outcome.header, app, out)?;
    let width = out.width();
    write_report::print_field(
        if dry_run { "would resume" } else { "resumes from" },
        &write_report::format_entry(&outcome.to, width),
        out,
    )?;
    if let Some(from) = &outcome.from {
        write_report::print_field("before", &write_report::format_entry(from, width), out)?;
    }
    write_report::print_loads(&outcome.expected_loads, dry_run, out)?;
    let lines = count_noun(
        outcome.added.split(|&byte| byte == b'\n').filter(|l| !l.is_empty()).count() as u64,
        "line",
    );
    let added = format!("{lines}, {}; no existing line changed", format_size(outcome.added.len() as u64));
    write_report::print_field(if dry_run { "would append" } else { "appended" }, &added, out)?;
    if outcome.replayed > 0 {
        let text = format!(
            "{} repeated, because clients load nothing from before the compaction in between",
            count_noun(outcome.replayed as u64, "line")
        );
        write_report::print_field("", &paint(MARK, &text), out)?;
    }
    if outcome.sent_below > 0 {
        let text = format!(
            "clients also send the queued prompts and commands directly below the entry: {}",
            count_noun(outcome.sent_below as u64, "entry")
        );
        write_report::print_field("", &paint(MARK, &text), out)?;
    }
    if dry_run {
        for line in outcome.added.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).take(4) {
            let text = clean::line(&String::from_utf8_lossy(line));
            out.line(&format!("  + {}", truncate_to_width(&text, width.saturating_sub(4))))?;
        }
        write_report::print_dry_run_note(out);
        return Ok(());
    }
    out.line("")?;
    write_report::print_resume(&outcome.header.id, &outcome.header.folder, app, out)?;
    outcome.op.map_or(Ok(()), |op| write_report::print_undo(op, out))
}
