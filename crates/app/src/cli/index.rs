//! `rethread index`: the index of all words, made, looked at or thrown away.

use rethread_engine::CacheWarning;
use rethread_engine::ops::{self, IndexStatus};

use super::args;
use super::error::{self, CliError, Exit};
use super::figures::{count, size};
use super::out::Out;
use super::progress::Bar;
use super::write_report::fact;
use super::{AppContext, write_report};
use crate::json;

/// Runs the command.
pub(crate) fn run(args: &args::Index, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let Some(index) = &place.index else { return Err(CliError::NoIndex) };
    if args.drop {
        let was_there = ops::drop_index(&place.roots, index)?;
        if out.is_json() {
            out.json(&json::index_dropped(was_there))?;
        } else {
            out.line(if was_there { "the index is gone" } else { "there was no index" })?;
        }
        return Ok(Exit::found(was_there));
    }
    let status = if args.status {
        ops::index_status(&place.roots, index)
    } else {
        let bar = Bar::new("indexing");
        ops::refresh_index(&place.roots, index, args.rebuild, &|progress| {
            bar.show(progress.done, progress.of);
        })?
    };
    let status = status.ok_or(CliError::NoIndex)?;
    if out.is_json() {
        out.json(&json::index_status(&status))?;
    } else {
        print(&status, place, out)?;
    }
    for notice in &status.notices {
        error::notice(Some(notice), out);
    }
    error::warn(&status.failures, out);
    let unwritten = status.notices.iter().any(|notice| matches!(notice, CacheWarning::Unwritable { .. }));
    Ok(if unwritten { Exit::Failed } else { Exit::Done })
}

fn print(status: &IndexStatus, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let of = |known: String, all: String| if known == all { known } else { format!("{known} of {all}") };
    fact("folder", &write_report::path(&status.folder, place), out)?;
    fact("files", &of(count(status.files as u64), count(status.files_found as u64)), out)?;
    fact("text", &of(size(status.bytes), size(status.bytes_found)), out)?;
    fact("entries", &count(status.entries), out)?;
    fact("takes", &size(status.size), out)
}
