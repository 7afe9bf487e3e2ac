//! `rethread index`: builds, inspects or deletes the search index.

use rethread_engine::CacheWarning;
use rethread_engine::ops;
use rethread_engine::ops::index::IndexStatus;

use super::args;
use super::error::{self, CliError, Exit};
use super::figures::{format_size, group_digits};
use super::out::Out;
use super::progress::ProgressBar;
use super::write_report::print_field;
use super::{AppContext, write_report};
use crate::json;

/// Runs `rethread index`: updates, rebuilds, deletes or only describes the search index.
///
/// Returns an error if the cache is disabled, [`Exit::Failed`] if the index cannot be written.
pub(crate) fn run(args: &args::Index, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let Some(cache) = &app.cache else { return Err(CliError::NoIndex) };
    if args.drop {
        let existed = ops::index::drop_index(&app.roots, cache)?;
        if out.is_json() {
            out.json(&json::build_index_dropped(existed))?;
        } else {
            out.line(if existed { "index deleted" } else { "there was no index" })?;
        }
        return Ok(Exit::from_found(existed));
    }
    let status = if args.status {
        ops::index::index_status(&app.roots, cache)
    } else {
        let bar = ProgressBar::new("indexing", out);
        ops::index::refresh_index(&app.roots, cache, args.rebuild, &|progress| {
            bar.show(progress.done, progress.total);
        })?
    };
    let status = status.ok_or(CliError::NoIndex)?;
    if out.is_json() {
        out.json(&json::build_index_status(&status))?;
    } else {
        print(&status, app, out)?;
    }
    for warning in &status.warnings {
        error::print_cache_warning(Some(warning), out);
    }
    error::print_warnings(&status.failures, out);
    let is_unwritable =
        status.warnings.iter().any(|warning| matches!(warning, CacheWarning::Unwritable { .. }));
    Ok(if is_unwritable { Exit::Failed } else { Exit::Done })
}

fn print(status: &IndexStatus, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let part_of =
        |part: String, total: String| if part == total { part } else { format!("{part} of {total}") };
    print_field("folder", &write_report::format_path(&status.folder, app), out)?;
    print_field(
        "files",
        &part_of(group_digits(status.files as u64), group_digits(status.files_found as u64)),
        out,
    )?;
    print_field("text", &part_of(format_size(status.bytes), format_size(status.bytes_found)), out)?;
    print_field("entries", &group_digits(status.entries), out)?;
    print_field("index size", &format_size(status.size), out)
}
