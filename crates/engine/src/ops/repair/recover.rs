//! Splits a session into rows, including the records that can be recovered from damaged lines.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use rethread_core::check::{Code, Diagnostic};
use rethread_core::edit::DraftSegment;
use rethread_core::fix::{AppliedFix, FixAction};
use rethread_core::tree::LineSpan;

use super::draft::DraftRow;
use crate::Error;
use crate::disk::{LineReader, ScanEvent, ScanOptions, open_content, scan};

/// The rows of a file, the fixes that produced them, and the damaged lines.
pub(super) struct RecoveredRows {
    pub(super) rows: Vec<DraftRow>,
    pub(super) fixes: Vec<AppliedFix>,
    /// Lines that are not exactly one valid JSON object.
    pub(super) damaged: BTreeSet<u32>,
}

/// Reads the rows of a file. Records in damaged lines become rows of their own.
pub(super) fn recover_rows(path: &Path, findings: &[Diagnostic]) -> Result<RecoveredRows, Error> {
    let mut damaged = find_damaged_lines(findings);
    let mut records: Vec<(LineSpan, Option<Vec<u8>>)> = Vec::new();
    scan(path, &ScanOptions::default(), |event| {
        if let ScanEvent::Entry(entry, span, is_intact) = event {
            records.push((span, (!is_intact).then(|| entry.raw.to_vec())));
        }
    })
    .map_err(Error::reading(path))?;
    let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
    let mut rows = Vec::new();
    let mut recovered_counts: BTreeMap<u32, u64> = BTreeMap::new();
    for (span, raw) in records {
        let segment = match raw {
            None => Some(DraftSegment::Line(span, Vec::new())),
            Some(raw) => {
                damaged.entry(span.line).or_insert(Code::NotJson);
                // Records from a line that exceeds the buffer may differ from the bytes on disk.
                let original = lines.read_span(span).ok().filter(|original| *original == raw);
                original.map(|original| escape_control_bytes(span, &original))
            }
        };
        if damaged.contains_key(&span.line) {
            *recovered_counts.entry(span.line).or_default() += u64::from(segment.is_some());
        }
        rows.push(DraftRow { line: Some(span.line), segment });
    }
    // A line without any recovered record keeps its row, so that the lines around it can be copied.
    let unrecoverable = damaged.keys().filter(|line| !recovered_counts.contains_key(line));
    rows.extend(unrecoverable.map(|&line| DraftRow { line: Some(line), segment: None }));
    rows.sort_by_key(|row| row.line);
    let fixes = damaged.iter().map(|(&line, &code)| {
        let action = match recovered_counts.get(&line) {
            Some(&count) if count > 0 => FixAction::Recovered(count),
            _ => FixAction::SetAside,
        };
        AppliedFix { code, line, action }
    });
    Ok(RecoveredRows { rows, fixes: fixes.collect(), damaged: damaged.keys().copied().collect() })
}

/// Returns the numbers of the damaged lines, each with the first code that reports it.
fn find_damaged_lines(findings: &[Diagnostic]) -> BTreeMap<u32, Code> {
    let codes = [Code::TornLine, Code::GluedLine, Code::NulBytes, Code::NotJson];
    let mut lines = BTreeMap::new();
    for finding in findings.iter().filter(|finding| codes.contains(&finding.code)) {
        for location in &finding.locations {
            lines.entry(location.line).or_insert(finding.code);
        }
    }
    lines
}

/// Makes a record valid JSON: escapes control bytes in strings, and replaces NUL bytes by the replacement character.
/// Outside of strings, removes NUL bytes. A record without control bytes stays a reference to its line.
fn escape_control_bytes(span: LineSpan, record: &[u8]) -> DraftSegment {
    if !record.iter().any(|&byte| byte < b' ') {
        return DraftSegment::Line(span, Vec::new());
    }
    let mut line = Vec::with_capacity(record.len() + 16);
    let (mut in_string, mut escaped) = (false, false);
    for &byte in record {
        match byte {
            0 if in_string => line.extend_from_slice(b"\\ufffd"),
            0 => {}
            1..b' ' if in_string => line.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => line.push(byte),
        }
        (in_string, escaped) = match byte {
            _ if escaped => (in_string, false),
            b'\\' if in_string => (in_string, true),
            b'"' => (!in_string, false),
            _ => (in_string, false),
        };
    }
    DraftSegment::New(line)
}

/// Finds the byte ranges of lines by number, including their line ends. Omits lines after the end of the file.
pub(super) fn find_line_ranges(
    path: &Path,
    lines: &BTreeSet<u32>,
) -> Result<BTreeMap<u32, Range<u64>>, Error> {
    use std::io::BufRead;
    let mut ranges = BTreeMap::new();
    let mut scan_lines = || -> std::io::Result<()> {
        let mut file = std::io::BufReader::with_capacity(64 << 10, open_content(path)?);
        let (mut line, mut start) = (1, 0);
        while ranges.len() < lines.len() {
            let length = file.skip_until(b'\n')? as u64;
            if length == 0 {
                break;
            }
            if lines.contains(&line) {
                ranges.insert(line, start..start + length);
            }
            line += 1;
            start += length;
        }
        Ok(())
    };
    scan_lines().map_err(Error::reading(path))?;
    Ok(ranges)
}
