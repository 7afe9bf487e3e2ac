//! The draft of a file that is mended in place: what is not mended is copied, line ends and all.

use std::collections::BTreeSet;
use std::path::Path;

use rethread_core::edit::{Draft, DraftSegment};

use super::draft::Row;
use super::recover::ranges;
use crate::Error;

/// Only the end of a line that has none.
const END: DraftSegment = DraftSegment::New(Vec::new());

/// Drafts a file of so many bytes with the rows that were mended; `open_end` where its last line has no end.
pub(super) fn in_place(
    path: &Path,
    rows: &[Row],
    damaged: &BTreeSet<u32>,
    (bytes, open_end): (u64, bool),
    behind: Vec<Vec<u8>>,
) -> Result<Draft, Error> {
    let is_still = |row: &Row| {
        let whole = row.line.is_some_and(|line| !damaged.contains(&line));
        whole && matches!(&row.piece, Some(DraftSegment::Line(_, changes)) if changes.is_empty())
    };
    // The lines that are touched, and those that something is put behind.
    let mut marks: BTreeSet<u32> =
        rows.iter().filter(|row| !is_still(row)).filter_map(|row| row.line).collect();
    let pairs = rows.iter().zip(rows.iter().skip(1));
    marks.extend(pairs.filter(|(_, next)| next.line.is_none()).filter_map(|(row, _)| row.line));
    let ranges = ranges(path, &marks)?;
    let mut pieces = Vec::new();
    let mut at = 0;
    let copy = |to: u64, at: &mut u64, pieces: &mut Vec<DraftSegment>| {
        if to > *at {
            pieces.push(DraftSegment::Copy(*at..to));
            *at = to;
        }
    };
    let mut last = None;
    for row in rows {
        let range = row.line.or(last).and_then(|line| ranges.get(&line).cloned());
        last = row.line.or(last);
        if is_still(row) {
            continue;
        }
        if let Some(range) = range {
            let before = at;
            copy(if row.line.is_some() { range.start } else { range.end }, &mut at, &mut pieces);
            if open_end && at == bytes && before < at {
                pieces.push(END);
            }
            at = at.max(range.end);
        }
        pieces.extend(row.piece.clone());
    }
    let is_cut = at < bytes && open_end;
    copy(bytes, &mut at, &mut pieces);
    if is_cut && !behind.is_empty() {
        pieces.push(END);
    }
    pieces.extend(behind.into_iter().map(DraftSegment::New));
    Ok(Draft { pieces, envelope: None })
}
