//! `rethread goto` and `rethread branch`: move the point where the next resume goes on.

use std::io::{self, BufRead, IsTerminal};

use rethread_engine::Error;
use rethread_engine::ops::{self, EntrySelector, GotoOutcome, GotoRequest};

use super::args;
use super::clean;
use super::error::{CliError, Exit};
use super::figures::{size, things};
use super::out::Out;
use super::style::{MARK, NAME, paint};
use super::table::truncate_to_width;
use super::{AppContext, write_report};
use crate::json;

/// Runs `goto`.
pub(crate) fn run(args: &args::Goto, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let request = GotoRequest {
        path: place.session_to_change(&args.session)?,
        at: EntrySelector { name: args.place.join(" "), before: args.before, exact: false },
        now: write_report::now(&place.clock),
        dry_run: args.pen.dry_run,
        even_if_live: args.pen.even_if_live,
    };
    go(request, place, out)
}

/// Runs `branch`.
pub(crate) fn run_branch(args: &args::Branch, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let request = GotoRequest {
        path: place.session_to_change(&args.session)?,
        at: EntrySelector { name: args.uuid.clone(), before: false, exact: true },
        now: write_report::now(&place.clock),
        dry_run: args.pen.dry_run,
        even_if_live: args.pen.even_if_live,
    };
    go(request, place, out)
}

fn go(mut request: GotoRequest, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let moved = match ops::goto(&request, &place.pen) {
        Err(Error::AmbiguousEntry { name, count, candidates }) => {
            let Some(chosen) = choose(&candidates, out) else {
                return Err(Error::AmbiguousEntry { name, count, candidates }.into());
            };
            request.at.name = chosen;
            ops::goto(&request, &place.pen)?
        }
        other => other?,
    };
    if out.is_json() {
        out.json(&json::moved(&moved))?;
        return Ok(Exit::Done);
    }
    print(&moved, place, out)?;
    Ok(Exit::Done)
}

/// Asks which entry is meant, where somebody is there to answer.
fn choose(candidates: &[(String, String)], out: &mut Out) -> Option<String> {
    if out.is_json() || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    for (k, (handle, words)) in candidates.iter().enumerate() {
        let words = truncate_to_width(&clean::line(words), out.width().saturating_sub(handle.len() + 8));
        out.note(&format!("{:>3}  {}  {words}", k + 1, paint(NAME, handle)));
    }
    out.note("which one? type its number, or nothing to leave everything as it is");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).ok()?;
    let number: usize = answer.trim().parse().ok()?;
    candidates.get(number.checked_sub(1)?).map(|(handle, _)| handle.clone())
}

fn print(moved: &GotoOutcome, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let dry = moved.op.is_none();
    super::header(&moved.head, place, out)?;
    let width = out.width();
    write_report::fact(
        if dry { "would go on" } else { "goes on from" },
        &write_report::stand(&moved.to, width),
        out,
    )?;
    if let Some(from) = &moved.from {
        write_report::fact("until now", &write_report::stand(from, width), out)?;
    }
    write_report::promises(&moved.promises, dry, out)?;
    let lines =
        things(moved.added.split(|&byte| byte == b'\n').filter(|l| !l.is_empty()).count() as u64, "line");
    let added = format!("{lines} at the end, {}; no line is changed", size(moved.added.len() as u64));
    write_report::fact(if dry { "would add" } else { "added" }, &added, out)?;
    if moved.replayed > 0 {
        let words = format!(
            "{} written a second time: a compaction stands between, and clients hold nothing from before it",
            things(moved.replayed as u64, "line")
        );
        write_report::fact("", &paint(MARK, &words), out)?;
    }
    if dry {
        for line in moved.added.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).take(4) {
            let text = clean::line(&String::from_utf8_lossy(line));
            out.line(&format!("  + {}", truncate_to_width(&text, width.saturating_sub(4))))?;
        }
        write_report::print_dry_run_note(out);
        return Ok(());
    }
    out.line("")?;
    write_report::resume(&moved.head.id, &moved.head.folder, place, out)?;
    moved.op.map_or(Ok(()), |op| write_report::undo(op, out))
}
