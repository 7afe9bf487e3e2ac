//! Why a response counts as it does: every line of a message, and the one that was taken.

use std::collections::HashMap;
use std::path::PathBuf;

use memchr::memmem::Finder;
use rayon::prelude::*;
use rethread_core::entry::{Flags, JsonStr, Timestamp, Usage};
use rethread_core::usage::{ChargeNo, CostTotals, FileUsage, Prices, UsageCollector, group_copies};

use super::Pricer;
use crate::Error;
use crate::disk::{Roots, SessionFile, find, scan_part};

/// A line of a response.
#[derive(Debug, Clone)]
pub struct TracedLine {
    /// Its file.
    pub path: PathBuf,
    /// Its number there.
    pub line: u32,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// The request it names.
    pub request: Option<String>,
    /// The tokens it tells.
    pub usage: Usage,
    /// Whether a subagent got it.
    pub side: bool,
    /// Whether it tells why the model stopped.
    pub stopped: bool,
    /// Whether it is the one that counts.
    pub counts: bool,
    charge: ChargeNo,
}

/// A response, and all lines that were found to be of it.
#[derive(Debug, Clone)]
pub struct Trace {
    /// Its model.
    pub model: String,
    /// The session it is booked to.
    pub session: String,
    /// The moment it is booked to.
    pub time: Option<Timestamp>,
    /// What it comes to.
    pub sum: CostTotals,
    /// Its lines, in the order of files and lines.
    pub lines: Vec<TracedLine>,
}

/// Finds every line of the message with an id, and says which of them are one response and which one of these counts.
pub fn trace_usage(roots: &Roots, message: &str, prices: &Prices) -> (Vec<Trace>, Vec<Error>) {
    let (files, mut failures) = find(roots);
    let found: Vec<_> =
        files.par_iter().enumerate().map(|(no, file)| lines(file, no as u32, message)).collect();
    let mut sheets = Vec::with_capacity(files.len());
    let mut all = Vec::new();
    for found in found {
        let (sheet, lines) = found.unwrap_or_else(|failure| {
            failures.push(failure);
            (FileUsage::default(), Vec::new())
        });
        sheets.push(sheet);
        all.extend(lines);
    }
    let charges =
        (0..).zip(&sheets).flat_map(|(no, sheet)| (0..sheet.charges.len() as u32).map(move |k| (no, k)));
    let group: Vec<ChargeNo> = charges.collect();
    let mut till = Pricer::new(prices);
    let mut by_charge: HashMap<ChargeNo, Vec<(usize, TracedLine)>> = HashMap::new();
    for (no, line) in all.into_iter().enumerate() {
        by_charge.entry(line.charge).or_default().push((no, line));
    }
    let traced = group_copies(&sheets, &group).into_iter().map(|(bill, charges)| {
        let lines = charges.iter().filter_map(|charge| by_charge.remove(charge)).flatten();
        let mut lines: Vec<(usize, TracedLine)> = lines.collect();
        lines.sort_unstable_by_key(|(no, _)| *no);
        let mut lines: Vec<TracedLine> = lines.into_iter().map(|(_, line)| line).collect();
        // The last of those with the most output.
        let best = (0..lines.len()).max_by_key(|&no| lines[no].usage.output);
        best.into_iter().for_each(|no| lines[no].counts = true);
        let (sheet, charge) = bill.first(&sheets);
        Trace {
            model: sheet.model(charge).to_owned(),
            session: sheet.session.clone(),
            time: charge.time,
            sum: till.sum(&bill, sheet.model(charge), charge.time),
            lines,
        }
    });
    (traced.collect(), failures)
}

/// Reads the lines of a message in one file.
fn lines(file: &SessionFile, no: u32, message: &str) -> Result<(FileUsage, Vec<TracedLine>), Error> {
    let mut booking = UsageCollector::new(file.id(), file.session().unwrap_or_default());
    let finder = Finder::new(message);
    let mut lines = Vec::new();
    scan_part(
        &file.path,
        0..file.len,
        0,
        |line| finder.find(line).is_some(),
        |entry, place| {
            let said = entry.message.as_ref().filter(|said| said.id.is_some_and(|id| id.is(message)));
            let Some(said) = said.filter(|_| !entry.is(Flags::SALVAGED)) else { return };
            if let Some((charge, usage)) = booking.add(entry).zip(said.usage) {
                lines.push(TracedLine {
                    path: file.path.clone(),
                    line: place.line,
                    time: entry.time(),
                    request: entry.request.map(|request| JsonStr::decode(request).into_owned()),
                    usage,
                    side: entry.is(Flags::SIDECHAIN) || file.is_agent(),
                    stopped: said.stop_reason.is_some(),
                    counts: false,
                    charge: (no, charge as u32),
                });
            }
        },
    )
    .map_err(Error::reading(&file.path))?;
    Ok((booking.finish(), lines))
}
