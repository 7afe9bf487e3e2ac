//! The lines of the prompt history that belong to a session.

use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::archive::{Archive, ArchivedFile, PROMPT_HISTORY};
use crate::disk::{TailFingerprint, open_file};
use crate::error::Error;
use crate::writer::{FileOp, NewContent};

/// Plans to append the archived lines of a session that the prompt history below `root` does not have. Also returns their
/// number. Returns `None` if it has all of them.
pub(super) fn plan_prompt_lines(
    archive: &Archive,
    main: &ArchivedFile<'_>,
    id: &str,
    root: &Path,
) -> Result<Option<(FileOp<'static>, usize)>, Error> {
    let path = root.join(PROMPT_HISTORY);
    let is_missing = std::fs::symlink_metadata(&path).is_err();
    let mut known = HashSet::new();
    let add_known = |line: &[u8]| {
        known.insert(blake3::hash(line));
    };
    // Taken before the lines are read, so that the commit notices every later change.
    let fingerprint = match is_missing {
        true => None,
        false => Some(TailFingerprint::from_path(&path).map_err(Error::reading(&path))?),
    };
    if !is_missing {
        let file = open_file(&path).map_err(Error::reading(&path))?;
        for_each_line_of(id, file, add_known).map_err(Error::reading(&path))?;
    }
    let mut bytes = Vec::new();
    let mut count = 0;
    let is_history =
        |file: &ArchivedFile<'_>| file.relative == Path::new(PROMPT_HISTORY) && file.is_of_same_place(main);
    for file in archive.files().filter(is_history) {
        for generation in file.generations {
            let add_missing = |line: &[u8]| {
                if known.insert(blake3::hash(line)) {
                    bytes.extend_from_slice(line);
                    bytes.push(b'\n');
                    count += 1;
                }
            };
            let content = file.read(generation);
            for_each_line_of(id, content, add_missing).map_err(Error::reading(&file.original_path()))?;
        }
    }
    if count == 0 {
        return Ok(None);
    }
    let file_op = match fingerprint {
        None => FileOp::Create { path, content: NewContent::Bytes(bytes) },
        Some(fingerprint) => {
            if fingerprint.unterminated {
                bytes.insert(0, b'\n');
            }
            FileOp::Append { path, fingerprint, bytes }
        }
    };
    Ok(Some((file_op, count)))
}

/// Calls `visit` with every complete line that names the session, without its line feed.
fn for_each_line_of(id: &str, content: impl Read, mut visit: impl FnMut(&[u8])) -> io::Result<()> {
    let mark = format!("\"sessionId\":\"{id}\"");
    let finder = memchr::memmem::Finder::new(mark.as_bytes());
    let mut lines = BufReader::with_capacity(256 << 10, content);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        // A line without line feed may be torn: a later state has all of it.
        if line.pop_if(|last| *last == b'\n').is_some() && finder.find(&line).is_some() {
            visit(&line);
        }
        line.clear();
    }
    Ok(())
}
