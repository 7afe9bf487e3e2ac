//! Writes a draft to a file, or simulates what clients would load from it.

use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rethread_core::edit::{Draft, DraftSegment};
use rethread_core::entry::{Entry, with_entry};
use rethread_core::resume::ResumeIndex;
use rethread_core::tree::{LineSpan, TreeBuilder};
use rethread_core::version::Version;

use super::edit_session::{ExpectedLoad, ParsedLines};
use crate::Error;
use crate::disk::{FileContent, open_content};

/// Reads the segments of a draft from its source file.
struct DraftReader {
    file: BufReader<FileContent>,
    position: u64,
}

impl DraftReader {
    fn open(source: &Path) -> io::Result<DraftReader> {
        Ok(DraftReader { file: BufReader::with_capacity(64 << 10, open_content(source)?), position: 0 })
    }

    /// Moves the reader to a byte offset of the source file.
    fn seek_to(&mut self, offset: u64) -> io::Result<()> {
        // A short seek forward stays within the buffer.
        let forward =
            i64::try_from(offset).unwrap_or(i64::MAX) - i64::try_from(self.position).unwrap_or(i64::MAX);
        if forward != 0 {
            self.file.seek_relative(forward)?;
        }
        self.position = offset;
        Ok(())
    }

    fn read_line(&mut self, span: LineSpan) -> io::Result<Vec<u8>> {
        self.seek_to(span.offset)?;
        let mut bytes = vec![0; span.len as usize];
        self.file.read_exact(&mut bytes)?;
        self.position += u64::from(span.len);
        Ok(bytes)
    }

    /// Copies the bytes from the offset `from` to the offset `to`. Returns an error if the file is shorter.
    fn copy_range(&mut self, from: u64, to: u64, out: &mut dyn Write) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(from))?;
        let copied = io::copy(&mut (&mut self.file).take(to - from), out)?;
        self.position = from + copied;
        if copied == to - from { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// Writes all lines of a draft to `out`. Copied ranges and unchanged lines are read from the file `source`.
pub(crate) fn write_draft(draft: &Draft, source: &Path, out: &mut dyn Write) -> io::Result<()> {
    let mut reader = DraftReader::open(source)?;
    for segment in &draft.segments {
        match segment {
            DraftSegment::Copy(range) => {
                reader.copy_range(range.start, range.end, out)?;
                continue;
            }
            DraftSegment::Line(span, edits) => {
                out.write_all(&draft.render_line(&reader.read_line(*span)?, edits))?;
            }
            DraftSegment::New(line) => out.write_all(line)?,
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Calls `visit` with each line of the draft after its edits. Skips copied ranges.
pub(crate) fn for_each_line(draft: &Draft, source: &Path, mut visit: impl FnMut(&[u8])) -> io::Result<()> {
    let mut reader = DraftReader::open(source)?;
    for segment in &draft.segments {
        match segment {
            DraftSegment::Copy(_) => {}
            DraftSegment::Line(span, edits) => visit(&draft.render_line(&reader.read_line(*span)?, edits)),
            DraftSegment::New(line) => visit(line),
        }
    }
    Ok(())
}

/// Simulates a resume of a draft that has no copied ranges. Returns what each client would load, and the size of the
/// draft in bytes.
pub(crate) fn simulate_draft(
    draft: &Draft,
    source: &Path,
    clients: &[Version],
) -> Result<(Vec<ExpectedLoad>, u64), Error> {
    let mut builder = TreeBuilder::default();
    let mut resume_index = ResumeIndex::default();
    let mut span = LineSpan { offset: 0, len: 0, line: 0 };
    for_each_line(draft, source, |line| {
        span = LineSpan {
            offset: span.offset + u64::from(span.len) + 1,
            line: span.line + 1,
            len: line.len() as u32,
        };
        with_entry(line, |entry: &Entry<'_>| {
            builder.add_and_visit(entry, span, &mut resume_index);
        });
    })
    .map_err(Error::reading(source))?;
    let bytes = span.offset + u64::from(span.len);
    Ok((ParsedLines { tree: builder.finish(), resume_index }.expected_loads(clients), bytes))
}
