//! Copies a session without its secrets, for an export. The session itself is not changed.

use std::io::{self, Write};
use std::path::Path;

use rethread_core::secrets::{RedactOptions, Redactor, TokenTable, find_secrets};
use rethread_core::usage::PriceTable;

use super::read::{SessionView, find_source_files, open_view};
use super::secrets::read_chunks;
use crate::Error;
use crate::disk::open_content;
use crate::session::load::find_title;

/// Copies the session file `path`, its subagents and its side files without their secrets. `create` creates the copy of the
/// file with a path relative to the folder of the session.
///
/// All lines keep their number. Ids, types and links are unchanged, so the copy has the same tree.
pub fn redact_session<W: Write>(
    path: &Path,
    options: &RedactOptions,
    mut create: impl FnMut(&Path) -> io::Result<W>,
) -> Result<Redactor, Error> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut files = find_source_files(path);
    // The tokens are numbered in the order of the conversation.
    files.sort_by_key(|file| file != path);
    let mut table = TokenTable::default();
    for file in &files {
        read_file(file, |chunk| {
            add_secrets(&mut table, chunk, is_transcript(file));
            Ok(())
        })?;
    }
    let redactor = Redactor::new(table, options);
    for file in &files {
        let Ok(relative) = file.strip_prefix(folder) else { continue };
        let mut copy = create(relative).map_err(Error::reading(file))?;
        read_file(file, |chunk| {
            if !is_transcript(file) {
                return copy.write_all(&redactor.redact_bytes(chunk));
            }
            for line in chunk.split_inclusive(|&byte| byte == b'\n') {
                copy.write_all(&redactor.redact_line(line))?;
            }
            Ok(())
        })?;
        copy.flush().map_err(Error::reading(file))?;
    }
    Ok(redactor)
}

/// Opens the copy of the session file `path` that [`redact_session`] made.
pub fn open_redacted_view(
    path: &Path,
    copy: &Path,
    redactor: &Redactor,
    prices: &PriceTable,
) -> Result<SessionView, Error> {
    let mut view = open_view(copy, prices)?;
    // Older clients wrote the title into another file, of which there is no copy.
    if view.session.title_may_be_elsewhere() {
        let mut title = find_title(path, &view.session.info);
        // A title of the copy contains no secret; its tokens must not be taken for texts that look like one.
        if title.text != view.session.title.text {
            title.text = redactor.redact_text(&title.text).into_owned();
        }
        view.session.title = title;
    }
    Ok(view)
}

fn is_transcript(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "jsonl")
}

/// Adds the secrets of a chunk. Only lines with a secret are parsed.
fn add_secrets(table: &mut TokenTable, chunk: &[u8], is_transcript: bool) {
    if !is_transcript {
        return table.add_text(chunk);
    }
    let mut done_until = 0;
    for found in find_secrets(chunk) {
        if found.range.start >= done_until {
            let start = memchr::memrchr(b'\n', &chunk[..found.range.start]).map_or(0, |at| at + 1);
            let len = memchr::memchr(b'\n', &chunk[start..]).unwrap_or(chunk.len() - start);
            done_until = start + len;
            table.add_line(&chunk[start..done_until]);
        }
    }
}

/// Calls `each` with the bytes of a file, in chunks of whole lines.
fn read_file(file: &Path, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> Result<(), Error> {
    let mut failed = Ok(());
    let opened = open_content(file).map_err(Error::reading(file))?;
    read_chunks(opened, |chunk| {
        if failed.is_ok() {
            failed = each(chunk);
        }
    })
    .and(failed)
    .map_err(Error::reading(file))
}
