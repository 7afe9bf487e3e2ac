//! Drafts poured out: into a file, or only past the oracle.

use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rethread_core::edit::{Draft, DraftSegment};
use rethread_core::entry::Entry;
use rethread_core::resume::ResumeIndex;
use rethread_core::tree::{LineSpan, TreeBuilder};
use rethread_core::version::Version;

use super::edit_session::{ExpectedLoad, ParsedLines, with_entry};
use crate::Error;
use crate::disk::open;

/// Reads the pieces of a draft from its source, one by one.
struct DraftReader {
    file: BufReader<std::fs::File>,
    at: u64,
}

impl DraftReader {
    fn open(source: &Path) -> io::Result<DraftReader> {
        Ok(DraftReader { file: BufReader::with_capacity(64 << 10, open(source)?), at: 0 })
    }

    fn seek(&mut self, offset: u64) -> io::Result<()> {
        // A short way forward stays in the buffer.
        let forward = i64::try_from(offset).unwrap_or(i64::MAX) - i64::try_from(self.at).unwrap_or(i64::MAX);
        if forward != 0 {
            self.file.seek_relative(forward)?;
        }
        self.at = offset;
        Ok(())
    }

    fn line(&mut self, place: LineSpan) -> io::Result<Vec<u8>> {
        self.seek(place.offset)?;
        let mut bytes = vec![0; place.len as usize];
        self.file.read_exact(&mut bytes)?;
        self.at += u64::from(place.len);
        Ok(bytes)
    }

    fn copy(&mut self, from: u64, to: u64, out: &mut dyn Write) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(from))?;
        let copied = io::copy(&mut (&mut self.file).take(to - from), out)?;
        self.at = from + copied;
        if copied == to - from { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

/// Writes a draft of the file `source` out.
pub(crate) fn write_draft(draft: &Draft, source: &Path, out: &mut dyn Write) -> io::Result<()> {
    let mut jug = DraftReader::open(source)?;
    for piece in &draft.pieces {
        match piece {
            DraftSegment::Copy(range) => {
                jug.copy(range.start, range.end, out)?;
                continue;
            }
            DraftSegment::Line(place, changes) => {
                out.write_all(&draft.render(&jug.line(*place)?, changes))?
            }
            DraftSegment::New(line) => out.write_all(line)?,
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Shows every line of a draft as it will be; copied stretches are not taken apart.
pub(crate) fn each_line(draft: &Draft, source: &Path, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut jug = DraftReader::open(source)?;
    for piece in &draft.pieces {
        match piece {
            DraftSegment::Copy(_) => {}
            DraftSegment::Line(place, changes) => each(&draft.render(&jug.line(*place)?, changes)),
            DraftSegment::New(line) => each(line),
        }
    }
    Ok(())
}

/// Says what clients will make of a draft of whole lines, before it is written, and how many bytes it has.
pub(crate) fn simulate_draft(
    draft: &Draft,
    source: &Path,
    clients: &[Version],
) -> Result<(Vec<ExpectedLoad>, u64), Error> {
    let mut weaver = TreeBuilder::default();
    let mut facts = ResumeIndex::default();
    let mut place = LineSpan { offset: 0, len: 0, line: 0 };
    each_line(draft, source, |line| {
        place = LineSpan {
            offset: place.offset + u64::from(place.len) + 1,
            line: place.line + 1,
            len: line.len() as u32,
        };
        with_entry(line, |entry: &Entry<'_>| {
            weaver.add(entry, place);
            facts.add(entry, place);
        });
    })
    .map_err(Error::reading(source))?;
    let bytes = place.offset + u64::from(place.len);
    Ok((ParsedLines { tree: weaver.finish(), facts }.promises(clients), bytes))
}
