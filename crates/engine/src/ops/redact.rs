//! Copies a session without its secrets, for an export. The session itself is not changed.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use rethread_core::secrets::{
    DETECTORS, RedactOptions, Redactor, Replacement, TokenTable, find_detector, find_secrets,
};
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
    let files = list_files(path);
    let mut table = TokenTable::default();
    let mut searched = Vec::new();
    for file in &files {
        searched.push(search_file(file, &mut table)?);
    }
    let redactor = Redactor::new(table, options);
    for (file, searched) in files.iter().zip(&searched) {
        let Ok(relative) = file.strip_prefix(folder) else { continue };
        let mut copy = create(relative).map_err(Error::reading(file))?;
        let mut offset = 0;
        read_file(file, |chunk| {
            let chunk_start = offset;
            offset += chunk.len() as u64;
            searched.write_redacted(chunk, chunk_start, &redactor, &mut copy)
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

/// Lists the files of a session. The tokens are numbered in the order of the conversation, so its file is the first.
fn list_files(path: &Path) -> Vec<PathBuf> {
    let mut files = find_source_files(path);
    files.sort_by_key(|file| file != path);
    files
}

/// The most places that a preview describes by rule.
const MAX_CONTEXTS: usize = 3;

/// The texts that a redaction replaces for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulePreview {
    /// The reason, as in [`Replacement`].
    pub rule: String,
    /// The number of different texts.
    pub texts: usize,
    /// The number of places.
    pub places: u64,
    /// The texts around the first places, after the redaction.
    pub contexts: Vec<String>,
}

/// Lists what [`redact_session`] replaces in all files of the session file `path`, by rule. Writes nothing.
///
/// Secrets come first, worst first.
pub fn preview_redaction(path: &Path, options: &RedactOptions) -> Result<Vec<RulePreview>, Error> {
    let files = list_files(path);
    let mut table = TokenTable::default();
    for file in &files {
        search_file(file, &mut table)?;
    }
    let redactor = Redactor::new(table, options);
    let mut rules: BTreeMap<String, (RulePreview, HashSet<String>)> = BTreeMap::new();
    let mut add = |Replacement { rule, token, context, .. }: Replacement| {
        let (preview, tokens) = rules.entry(rule.clone()).or_insert_with(|| {
            (RulePreview { rule, texts: 0, places: 0, contexts: Vec::new() }, HashSet::new())
        });
        tokens.insert(token);
        preview.texts = tokens.len();
        preview.places += 1;
        if preview.contexts.len() < MAX_CONTEXTS && !preview.contexts.contains(&context) {
            preview.contexts.push(context);
        }
    };
    for file in &files {
        read_file(file, |chunk| {
            if is_transcript(file) {
                let lines = chunk.split_inclusive(|&byte| byte == b'\n');
                lines.flat_map(|line| redactor.list_replacements_in_line(line)).for_each(&mut add);
            } else {
                redactor.list_replacements(chunk).into_iter().for_each(&mut add);
            }
            Ok(())
        })?;
    }
    let mut previews: Vec<RulePreview> = rules.into_values().map(|(preview, _)| preview).collect();
    let severity =
        |preview: &RulePreview| find_detector(&preview.rule).map(|idx| DETECTORS[usize::from(idx)].severity);
    previews.sort_by_key(|preview| std::cmp::Reverse(severity(preview)));
    Ok(previews)
}

fn is_transcript(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "jsonl")
}

/// The findings in a file, so that its bytes are searched once.
struct SearchedFile {
    is_transcript: bool,
    /// The number of bytes that were searched. A session that is open may grow.
    len: u64,
    /// The ranges of bytes with secrets, sorted: whole lines of a transcript, whole chunks of another file.
    with_secrets: Vec<Range<u64>>,
}

/// Adds the secrets of a file to a table. Only lines with a secret are parsed.
fn search_file(file: &Path, table: &mut TokenTable) -> Result<SearchedFile, Error> {
    let mut searched = SearchedFile { is_transcript: is_transcript(file), len: 0, with_secrets: Vec::new() };
    read_file(file, |chunk| {
        searched.search(chunk, table);
        Ok(())
    })?;
    Ok(searched)
}

impl SearchedFile {
    /// Adds the secrets of the next chunk.
    fn search(&mut self, chunk: &[u8], table: &mut TokenTable) {
        let chunk_start = self.len;
        self.len += chunk.len() as u64;
        let secrets = find_secrets(chunk);
        if !self.is_transcript {
            if !secrets.is_empty() {
                table.add_text(chunk);
                self.with_secrets.push(chunk_start..self.len);
            }
            return;
        }
        let mut done_until = 0;
        for found in secrets {
            // In a damaged file a secret may reach over the end of a line.
            while found.range.end > done_until {
                let from = found.range.start.max(done_until);
                let start = memchr::memrchr(b'\n', &chunk[..from]).map_or(0, |at| at + 1);
                let len = memchr::memchr(b'\n', &chunk[from..])
                    .map_or(chunk.len() - start, |at| from + at + 1 - start);
                done_until = start + len;
                table.add_line(chunk[start..done_until].trim_ascii_end());
                self.with_secrets.push(chunk_start + start as u64..chunk_start + done_until as u64);
            }
        }
    }

    /// Writes a chunk without its secrets. Bytes that were not searched before are searched now.
    fn write_redacted(
        &self,
        chunk: &[u8],
        chunk_start: u64,
        redactor: &Redactor,
        copy: &mut impl Write,
    ) -> io::Result<()> {
        let chunk_end = chunk_start + chunk.len() as u64;
        let first = self.with_secrets.partition_point(|range| range.end <= chunk_start);
        let with_secrets =
            self.with_secrets[first..].iter().take_while(|range| range.start < chunk_end).cloned();
        let unsearched = (chunk_end > self.len).then_some(self.len.max(chunk_start)..chunk_end);
        let mut ranges = with_secrets.chain(unsearched).peekable();
        if !self.is_transcript {
            let has_secrets = ranges.peek().is_some();
            let redacted = if has_secrets {
                redactor.redact_bytes(chunk)
            } else {
                redactor.redact_searched_bytes(chunk)
            };
            return copy.write_all(&redacted);
        }
        let mut done_until = 0;
        for range in ranges {
            let start = range.start.saturating_sub(chunk_start) as usize;
            let end = chunk.len().min((range.end - chunk_start) as usize);
            copy.write_all(&redactor.redact_searched_lines(&chunk[done_until..start.max(done_until)]))?;
            for line in chunk[start.max(done_until)..end].split_inclusive(|&byte| byte == b'\n') {
                copy.write_all(&redactor.redact_line(line))?;
            }
            done_until = end;
        }
        copy.write_all(&redactor.redact_searched_lines(&chunk[done_until..]))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rethread_core::secrets::{DETECTORS, RedactOptions, Redactor, TokenTable};
    use rethread_testkit::secrets::{LINE_FORMS, plant_secrets, write_line};

    use super::SearchedFile;

    /// Returns some lines with and without secrets. The last one may be torn.
    fn lines() -> impl Strategy<Value = Vec<String>> {
        let line = (0..DETECTORS.len() * 2, 0..LINE_FORMS, any::<bool>()).prop_map(|(idx, form, is_torn)| {
            let text = match plant_secrets(idx + 1, 7).pop() {
                Some(planted) if idx < DETECTORS.len() => planted.text,
                _ => "in /home/ada/x, not [groq-key-1]".to_owned(),
            };
            let line = write_line(&text, form);
            let len = if is_torn { line.len() / 2 } else { line.len() };
            line.get(..len).unwrap_or(&line).to_owned() + "\n"
        });
        proptest::collection::vec(line, 1..12)
    }

    proptest! {
        /// Each byte is searched once, but the copy is that of lines that are searched one by one.
        #[test]
        fn chunks_are_redacted_like_single_lines(lines in lines(), chunk_len in 1..5usize, grown in 0..4usize, is_transcript in any::<bool>()) {
            let home = Some("/home/ada".to_owned());
            let options = RedactOptions { home, ..RedactOptions::default() };
            let searched_count = lines.len().saturating_sub(grown);
            let mut table = TokenTable::default();
            let mut searched = SearchedFile { is_transcript, len: 0, with_secrets: Vec::new() };
            for chunk in lines[..searched_count].chunks(chunk_len) {
                searched.search(chunk.concat().as_bytes(), &mut table);
            }
            let redactor = Redactor::new(table, &options);
            let (mut copy, mut expected, mut offset) = (Vec::new(), Vec::new(), 0);
            for chunk in lines.chunks(chunk_len) {
                let chunk = chunk.concat();
                searched.write_redacted(chunk.as_bytes(), offset, &redactor, &mut copy).expect("memory is writable");
                offset += chunk.len() as u64;
                if is_transcript {
                    for line in chunk.split_inclusive('\n') {
                        expected.extend_from_slice(&redactor.redact_line(line.as_bytes()));
                    }
                } else {
                    expected.extend_from_slice(&redactor.redact_bytes(chunk.as_bytes()));
                }
            }
            prop_assert_eq!(String::from_utf8_lossy(&copy), String::from_utf8_lossy(&expected));
        }
    }
}
