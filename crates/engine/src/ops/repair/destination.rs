//! Builds the draft of a file repaired in place. Unchanged ranges are copied byte for byte, with their line ends.

use std::collections::BTreeSet;
use std::path::Path;

use rethread_core::edit::{Draft, DraftSegment};

use super::draft::DraftRow;
use super::recover::find_line_ranges;
use crate::Error;

/// An empty line, which adds the missing line end of the previous line.
const LINE_END: DraftSegment = DraftSegment::New(Vec::new());

/// Builds the draft of a file from the repaired rows. `damaged` contains the numbers of damaged lines, and `marker` the
/// lines to append. The tuple contains the length of the file, and whether its last line has no line end.
pub(super) fn build_in_place_draft(
    path: &Path,
    rows: &[DraftRow],
    damaged: &BTreeSet<u32>,
    (file_len, is_unterminated): (u64, bool),
    marker: Vec<Vec<u8>>,
) -> Result<Draft, Error> {
    let is_unchanged = |row: &DraftRow| {
        let is_intact = row.line.is_some_and(|line| !damaged.contains(&line));
        is_intact && matches!(&row.segment, Some(DraftSegment::Line(_, edits)) if edits.is_empty())
    };
    // The changed lines, and the lines after which a row is inserted.
    let mut touched: BTreeSet<u32> =
        rows.iter().filter(|row| !is_unchanged(row)).filter_map(|row| row.line).collect();
    let pairs = rows.iter().zip(rows.iter().skip(1));
    touched.extend(pairs.filter(|(_, next)| next.line.is_none()).filter_map(|(row, _)| row.line));
    let ranges = find_line_ranges(path, &touched)?;
    let mut segments = Vec::new();
    let mut position = 0;
    let copy_until = |to: u64, position: &mut u64, segments: &mut Vec<DraftSegment>| {
        if to > *position {
            segments.push(DraftSegment::Copy(*position..to));
            *position = to;
        }
    };
    let mut last_line = None;
    for row in rows {
        let range = row.line.or(last_line).and_then(|line| ranges.get(&line).cloned());
        last_line = row.line.or(last_line);
        if is_unchanged(row) {
            continue;
        }
        if let Some(range) = range {
            let before = position;
            copy_until(
                if row.line.is_some() { range.start } else { range.end },
                &mut position,
                &mut segments,
            );
            if is_unterminated && position == file_len && before < position {
                segments.push(LINE_END);
            }
            position = position.max(range.end);
        }
        segments.extend(row.segment.clone());
    }
    let needs_line_end = position < file_len && is_unterminated;
    copy_until(file_len, &mut position, &mut segments);
    if needs_line_end && !marker.is_empty() {
        segments.push(LINE_END);
    }
    segments.extend(marker.into_iter().map(DraftSegment::New));
    Ok(Draft { segments, envelope: None })
}
