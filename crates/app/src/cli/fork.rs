//! `rethread fork`: a new session that holds the path to a point.

use rethread_engine::ops::{self, EntrySelector, ForkRequest, NewSession};

use super::args;
use super::clean;
use super::error::{CliError, Exit};
use super::figures::things;
use super::out::Out;
use super::style::{NAME, STRONG, paint};
use super::{AppContext, write_report};
use crate::json;

/// Runs the command.
pub(crate) fn run(args: &args::Fork, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let named = (!args.place.is_empty()).then(|| args.place.join(" "));
    let request = ForkRequest {
        path: place.session_to_change(&args.session)?,
        at: named.map(|name| EntrySelector { name, before: args.before, exact: false }),
        title: args.title.clone(),
        now: write_report::now(&place.clock),
        dry_run: args.dry_run,
    };
    let born = ops::fork(&request, &place.pen)?;
    if out.is_json() {
        out.json(&json::offspring("fork", &born))?;
    } else {
        super::header(&born.origin, place, out)?;
        print(&born, place, out)?;
    }
    Ok(Exit::Done)
}

/// Tells a new session.
pub(crate) fn print(born: &NewSession, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let dry = born.op.is_none();
    let title = paint(STRONG, &clean::line(&born.title));
    if dry {
        write_report::fact("would make", &title, out)?;
    } else {
        write_report::fact("new session", &format!("{}  {title}", paint(NAME, &born.id)), out)?;
        write_report::fact("file", &write_report::path(&born.path, place), out)?;
    }
    let side = if born.side > 0 {
        format!(" and {} beside it", things(born.side as u64, "file"))
    } else {
        String::new()
    };
    write_report::fact(
        "holds",
        &format!("{}{side}; its origin is not changed", things(born.lines as u64, "line")),
        out,
    )?;
    write_report::promises(&born.promises, dry, out)?;
    if dry {
        write_report::print_dry_run_note(out);
        return Ok(());
    }
    out.line("")?;
    write_report::resume(&born.id, &born.folder, place, out)?;
    born.op.map_or(Ok(()), |op| write_report::undo(op, out))
}
