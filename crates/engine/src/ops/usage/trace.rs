//! Explains the usage of a response: every line of the message, and the one that is counted.

use std::collections::HashMap;
use std::path::PathBuf;

use memchr::memmem::Finder;
use rayon::prelude::*;
use rethread_core::entry::{Flags, JsonStr, Timestamp, Usage};
use rethread_core::usage::{CostTotals, FileUsage, PriceTable, ResponseRef, UsageCollector, group_copies};

use super::Pricer;
use crate::Error;
use crate::disk::{ReadReporter, Roots, ScanEvent, ScanOptions, SessionFile, find_sessions, scan};

/// A line that reports usage of a response.
#[derive(Debug, Clone)]
pub struct TracedLine {
    /// The file.
    pub path: PathBuf,
    /// The line number.
    pub line: u32,
    /// The timestamp of the line.
    pub time: Option<Timestamp>,
    /// The request id. `None` if the line has none.
    pub request: Option<String>,
    /// The reported tokens.
    pub usage: Usage,
    /// Whether it belongs to a subagent.
    pub is_subagent: bool,
    /// Whether it has a stop reason.
    pub has_stop_reason: bool,
    /// Whether it is the counted line.
    pub is_counted: bool,
    /// The response of the file to which it belongs.
    response_ref: ResponseRef,
}

/// A response with all its lines.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The name of the model.
    pub model: String,
    /// The session to which it is attributed.
    pub session: String,
    /// The time to which it is attributed.
    pub time: Option<Timestamp>,
    /// Its tokens and its cost, counted once.
    pub totals: CostTotals,
    /// The lines, sorted by file and line.
    pub lines: Vec<TracedLine>,
}

/// Finds all lines of the messages with the id `message` and groups them by response. Also returns the errors of files
/// and folders that could not be read.
pub fn trace_usage(roots: &Roots, message: &str, prices: &PriceTable) -> (Vec<Trace>, Vec<Error>) {
    let (files, mut failures) = find_sessions(roots);
    let reporter = ReadReporter::new(&files);
    let read_file = |(idx, file)| reporter.count(file, |file| read_lines(file, idx as u32, message));
    let results: Vec<_> = files.par_iter().enumerate().map(read_file).collect();
    let mut usages = Vec::with_capacity(files.len());
    let mut all_lines = Vec::new();
    for result in results {
        let (file_usage, lines) = result.unwrap_or_else(|failure| {
            failures.push(failure);
            (FileUsage::default(), Vec::new())
        });
        usages.push(file_usage);
        all_lines.extend(lines);
    }
    let refs = (0..).zip(&usages).flat_map(|(file_idx, usage)| {
        (0..usage.responses.len() as u32).map(move |response_idx| (file_idx, response_idx))
    });
    let refs: Vec<ResponseRef> = refs.collect();
    let mut pricer = Pricer::new(prices);
    let mut lines_by_ref: HashMap<ResponseRef, Vec<(usize, TracedLine)>> = HashMap::new();
    for (idx, line) in all_lines.into_iter().enumerate() {
        lines_by_ref.entry(line.response_ref).or_default().push((idx, line));
    }
    let traced = group_copies(&usages, &refs).into_iter().map(|(unique, copies)| {
        let lines = copies.iter().filter_map(|copy| lines_by_ref.remove(copy)).flatten();
        let mut lines: Vec<(usize, TracedLine)> = lines.collect();
        lines.sort_unstable_by_key(|(idx, _)| *idx);
        let mut lines: Vec<TracedLine> = lines.into_iter().map(|(_, line)| line).collect();
        // The last line with the most output tokens is counted.
        let counted = (0..lines.len()).max_by_key(|&idx| lines[idx].usage.output);
        counted.into_iter().for_each(|idx| lines[idx].is_counted = true);
        let (file_usage, response) = unique.find_origin(&usages);
        Trace {
            model: file_usage.model(response).to_owned(),
            session: file_usage.session.clone(),
            time: response.time,
            totals: pricer.price(&unique, file_usage.model(response), response.time),
            lines,
        }
    });
    (traced.collect(), failures)
}

/// Reads the lines of the message with the id `message` from one file. Returns their usage and the lines.
fn read_lines(
    file: &SessionFile,
    file_idx: u32,
    message: &str,
) -> Result<(FileUsage, Vec<TracedLine>), Error> {
    let mut collector = UsageCollector::new(file.path_id(), file.session_id().unwrap_or_default());
    let finder = Finder::new(message);
    let mut lines = Vec::new();
    let has_message = |line: &[u8]| finder.find(line).is_some();
    scan(&file.path, &ScanOptions::exact_range(0..file.len, 0).with_filter(&has_message), |event| {
        let ScanEvent::Entry(entry, span, _) = event else { return };
        let matching = entry
            .message
            .as_ref()
            .filter(|entry_message| entry_message.id.is_some_and(|id| id.equals(message)));
        let Some(entry_message) = matching.filter(|_| !entry.has_flag(Flags::RECOVERED)) else { return };
        if let Some((response_idx, usage)) = collector.add(entry).zip(entry_message.usage) {
            lines.push(TracedLine {
                path: file.path.clone(),
                line: span.line,
                time: entry.time(),
                request: entry.request_id.map(|request| JsonStr::decode(request).into_owned()),
                usage,
                is_subagent: entry.has_flag(Flags::SIDECHAIN) || file.is_agent(),
                has_stop_reason: entry_message.stop_reason.is_some(),
                is_counted: false,
                response_ref: (file_idx, response_idx as u32),
            });
        }
    })
    .map_err(Error::reading(&file.path))?;
    Ok((collector.finish(), lines))
}
