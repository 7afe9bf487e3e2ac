//! The lines of a session one by one, also those that can be read from damaged ones.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use rethread_core::check::{Code, Diagnostic};
use rethread_core::edit::DraftSegment;
use rethread_core::fix::{AppliedFix, FixAction};
use rethread_core::tree::LineSpan;

use super::draft::Row;
use crate::Error;
use crate::disk::{LineReader, ScanEvent, open, scan};

/// What a file holds, line by line.
pub(super) struct Salvage {
    pub(super) rows: Vec<Row>,
    pub(super) mends: Vec<AppliedFix>,
    /// Lines that are not one sound object.
    pub(super) damaged: BTreeSet<u32>,
}

/// Reads the rows of a file. Records in damaged lines become rows of their own.
pub(super) fn salvage(path: &Path, findings: &[Diagnostic]) -> Result<Salvage, Error> {
    let mut damaged = damaged(findings);
    let mut found: Vec<(LineSpan, Option<Vec<u8>>)> = Vec::new();
    scan(path, |seen| {
        if let ScanEvent::Entry(entry, place, whole) = seen {
            found.push((place, (!whole).then(|| entry.raw.to_vec())));
        }
    })
    .map_err(Error::reading(path))?;
    let mut lines = LineReader::open(path).map_err(Error::reading(path))?;
    let mut rows = Vec::new();
    let mut saved: BTreeMap<u32, u64> = BTreeMap::new();
    for (place, raw) in found {
        let piece = match raw {
            None => Some(DraftSegment::Line(place, Vec::new())),
            Some(raw) => {
                damaged.entry(place.line).or_insert(Code::NotJson);
                // What was read from a line too long to hold is not what stands there.
                let stands = lines.read(place).ok().filter(|stands| *stands == raw);
                stands.map(|stands| sound(place, &stands))
            }
        };
        if damaged.contains_key(&place.line) {
            *saved.entry(place.line).or_default() += u64::from(piece.is_some());
        }
        rows.push(Row { line: Some(place.line), piece });
    }
    // A line from which nothing could be read keeps its place, so that what stands around it can be copied.
    let lost = damaged.keys().filter(|line| !saved.contains_key(line));
    rows.extend(lost.map(|&line| Row { line: Some(line), piece: None }));
    rows.sort_by_key(|row| row.line);
    let mends = damaged.iter().map(|(&line, &code)| {
        let act = match saved.get(&line) {
            Some(&records) if records > 0 => FixAction::Salvaged(records),
            _ => FixAction::SetAside,
        };
        AppliedFix { code, line, act }
    });
    Ok(Salvage { rows, mends: mends.collect(), damaged: damaged.keys().copied().collect() })
}

/// Lists the damaged lines, each with the first code that names it.
fn damaged(findings: &[Diagnostic]) -> BTreeMap<u32, Code> {
    let codes = [Code::TornLine, Code::GluedLine, Code::NulBytes, Code::NotJson];
    let mut lines = BTreeMap::new();
    for finding in findings.iter().filter(|finding| codes.contains(&finding.code)) {
        for spot in &finding.spots {
            lines.entry(spot.line).or_insert(finding.code);
        }
    }
    lines
}

/// Makes a record that every parser takes: control bytes in its strings are escaped, what NULs overwrote is unknown.
fn sound(place: LineSpan, record: &[u8]) -> DraftSegment {
    if !record.iter().any(|&byte| byte < b' ') {
        return DraftSegment::Line(place, Vec::new());
    }
    let mut line = Vec::with_capacity(record.len() + 16);
    let (mut inside, mut escaped) = (false, false);
    for &byte in record {
        match byte {
            0 if inside => line.extend_from_slice(b"\\ufffd"),
            0 => {}
            1..b' ' if inside => line.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => line.push(byte),
        }
        (inside, escaped) = match byte {
            _ if escaped => (inside, false),
            b'\\' if inside => (inside, true),
            b'"' => (!inside, false),
            _ => (inside, false),
        };
    }
    DraftSegment::New(line)
}

/// Finds the bytes of some lines, their ends included.
pub(super) fn ranges(path: &Path, lines: &BTreeSet<u32>) -> Result<BTreeMap<u32, Range<u64>>, Error> {
    use std::io::BufRead;
    let mut found = BTreeMap::new();
    let mut read = || -> std::io::Result<()> {
        let mut file = std::io::BufReader::with_capacity(64 << 10, open(path)?);
        let (mut line, mut start) = (1, 0);
        while found.len() < lines.len() {
            let length = file.skip_until(b'\n')? as u64;
            if length == 0 {
                break;
            }
            if lines.contains(&line) {
                found.insert(line, start..start + length);
            }
            line += 1;
            start += length;
        }
        Ok(())
    };
    read().map_err(Error::reading(path))?;
    Ok(found)
}
