//! What every writing command says at its end: what clients will load, how to go on, how to take it back.

use std::path::Path;

use rethread_engine::OpId;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::{EntryRef, ExpectedLoad};

use super::AppContext;
use super::clean;
use super::error::CliError;
use super::figures::{things, tokens};
use super::out::Out;
use super::style::{NAME, QUIET, paint};
use super::table::truncate_to_width;
use super::time::Clock;

/// How wide the words before a fact are.
const LABEL: usize = 14;

/// Prints a fact with its name before it.
pub(crate) fn fact(label: &str, words: &str, out: &mut Out) -> Result<(), CliError> {
    out.line(&format!("{} {words}", paint(QUIET, &format!("{label:<LABEL$}"))))
}

/// Says which entry it is, in a few words.
pub(crate) fn stand(at: &EntryRef, width: usize) -> String {
    let turn = at.turn.map(|turn| format!(" t{turn}")).unwrap_or_default();
    let name = format!("{}{}", paint(NAME, &at.handle), paint(QUIET, &turn));
    let prompt = at.prompt.as_deref().map(clean::line).unwrap_or_default();
    let room = width.saturating_sub(LABEL + at.handle.len() + turn.len() + 4);
    format!("{name}  {}", truncate_to_width(&prompt, room))
}

/// Says what each client will load.
pub(crate) fn promises(promises: &[ExpectedLoad], dry: bool, out: &mut Out) -> Result<(), CliError> {
    let label = if dry { "would load" } else { "loads" };
    for (k, promise) in promises.iter().enumerate() {
        let entries = things(promise.path.len() as u64, "entry");
        let client = clean::line(&promise.client.text);
        let words = format!("{entries}, about {} tokens, with client {client}", tokens(promise.tokens));
        fact(if k == 0 { label } else { "" }, &words, out)?;
    }
    Ok(())
}

/// Prints the line that resumes a session.
pub(crate) fn resume(id: &str, folder: &str, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let command = place.resume_command(id, folder);
    out.line(&format!("{} {}", paint(QUIET, "resume:"), paint(NAME, &command)))
}

/// Prints the line that takes an operation back.
pub(crate) fn undo(op: OpId, out: &mut Out) -> Result<(), CliError> {
    out.line(&format!("{}   {}", paint(QUIET, "undo:"), paint(NAME, &format!("rethread undo {op}"))))
}

/// Says that nothing was written.
pub(crate) fn print_dry_run_note(out: &mut Out) {
    out.note("nothing was written: this was a dry run");
}

/// Returns the present as sessions count it.
pub(crate) fn now(clock: &Clock) -> Timestamp {
    Timestamp(clock.now().as_millisecond())
}

/// Writes a path on one line.
pub(crate) fn path(path: &Path, place: &AppContext) -> String {
    place.tilde(&path.display().to_string())
}
