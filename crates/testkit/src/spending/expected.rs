//! The expected usage, grouped by the numbers of the responses.

use std::collections::{BTreeMap, HashMap, HashSet};

use rethread_core::entry::Usage;

use super::store::{GeneratedFile, GeneratedStore, ResponseRecord, SubagentInfo};

/// The expected context status of a response. The names are those of `ContextStatus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExpectedStatus {
    /// The client would load it.
    Active,
    /// It precedes a compaction.
    Compacted,
    /// It is on an abandoned branch.
    OtherBranch,
    /// A subagent received it.
    Subagent,
}

/// A response, counted once, with everything it can be grouped by.
#[derive(Debug, Clone)]
pub struct ExpectedResponse {
    /// The number of the response.
    pub response_id: usize,
    /// `message.id`.
    pub message_id: String,
    /// The session that its usage is attributed to.
    pub session: String,
    /// The working directory of that session.
    pub project: String,
    /// `message.model`.
    pub model: String,
    /// `gitBranch`.
    pub branch: String,
    /// Whether a subagent received it.
    pub is_subagent: bool,
    /// The agent type, `main` for a session's own response. `None` if the type is unknown.
    pub agent_type: Option<String>,
    /// The context status.
    pub status: ExpectedStatus,
    /// The time of its first line, in milliseconds.
    pub time: Option<i64>,
    /// The largest usage on any of its lines.
    pub usage: Usage,
    /// Whether no line has a stop reason, so that `usage` is a lower bound.
    pub is_lower_bound: bool,
    /// The tools it calls, one name per call.
    pub tools: Vec<String>,
    /// Its lines, ordered by path and line: path and line number from 1.
    pub lines: Vec<(String, u32)>,
    /// The index in `lines` of the line whose usage counts.
    pub counted_line: usize,
    /// The sessions with a line of it.
    pub sessions: HashSet<String>,
}

/// Responses and tokens before deduplication.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyCounts {
    /// Every line counted.
    pub lines: (usize, Usage),
    /// Every response counted once per file and request id.
    pub files: (usize, Usage),
}

/// The lines of a response in one file under one request id.
struct Occurrence<'s> {
    file_idx: usize,
    records: Vec<&'s ResponseRecord>,
    turn: usize,
}

impl Occurrence<'_> {
    fn time(&self) -> Option<i64> {
        self.records.iter().find_map(|record| record.time)
    }
}

/// Returns the usage with the most output tokens. The last one wins if several are equal.
fn largest_usage<'s>(records: impl IntoIterator<Item = &'s ResponseRecord>) -> Usage {
    let largest = records.into_iter().max_by_key(|record| record.usage.output);
    largest.map(|record| record.usage).unwrap_or_default()
}

impl GeneratedStore {
    /// Returns every response once, ordered by its number.
    pub fn expected_responses(&self) -> Vec<ExpectedResponse> {
        self.find_occurrences().into_values().map(|found| self.expected_response(&found)).collect()
    }

    /// Counts the responses and tokens of all lines and of all files.
    pub fn count_copies(&self) -> CopyCounts {
        let mut counts = CopyCounts::default();
        let add = |(number, sum): &mut (usize, Usage), usage: &Usage| {
            *number += 1;
            sum.add(usage);
        };
        for occurrence in self.find_occurrences().into_values().flatten() {
            add(&mut counts.files, &largest_usage(occurrence.records.iter().copied()));
            occurrence.records.iter().for_each(|record| add(&mut counts.lines, &record.usage));
        }
        counts
    }

    /// Returns the occurrences of each response, ordered by path.
    fn find_occurrences(&self) -> BTreeMap<usize, Vec<Occurrence<'_>>> {
        let mut by_response: BTreeMap<usize, Vec<Occurrence<'_>>> = BTreeMap::new();
        for idx in self.indices_by_path() {
            for line in &self.files[idx].lines {
                let Some(record) = &line.response else { continue };
                let found = by_response.entry(record.response_id).or_default();
                let is_same = |other: &&mut Occurrence<'_>| {
                    other.file_idx == idx && other.records[0].request_id == record.request_id
                };
                match found.iter_mut().find(is_same) {
                    Some(known) => known.records.push(record),
                    None => found.push(Occurrence { file_idx: idx, records: vec![record], turn: line.turn }),
                }
            }
        }
        by_response
    }

    fn expected_response(&self, found: &[Occurrence<'_>]) -> ExpectedResponse {
        // The earliest occurrence is the original. At the same time, one without a fork marker precedes one with it.
        let order = |idx: &usize| {
            let time = found[*idx].time();
            (time.is_none(), time, found[*idx].records[0].has_fork_marker, *idx)
        };
        let original = &found[(0..found.len()).min_by_key(order).expect("a response has a line")];
        let (file, record) = (&self.files[original.file_idx], original.records[0]);
        let mut seen_calls = HashSet::new();
        let calls = original.records.iter().flat_map(|record| &record.calls);
        let is_subagent = record.is_sidechain || file.agent.is_some();
        let (lines, counted_line) = self.find_lines(record.response_id);
        let all_records = found.iter().flat_map(|occurrence| occurrence.records.iter().copied());
        ExpectedResponse {
            response_id: record.response_id,
            message_id: record.message_id.clone(),
            session: file.session.clone(),
            project: self.find_project(&file.session),
            model: record.model.clone(),
            branch: record.branch.clone(),
            is_subagent,
            agent_type: if is_subagent { self.find_agent_type(file) } else { Some("main".to_owned()) },
            status: if is_subagent { ExpectedStatus::Subagent } else { turn_status(file, original.turn) },
            time: original.time(),
            usage: largest_usage(all_records.clone()),
            is_lower_bound: !all_records.into_iter().any(|record| record.has_stop_reason),
            tools: calls.filter(|(id, _)| seen_calls.insert(id)).map(|(_, tool)| tool.clone()).collect(),
            lines,
            counted_line,
            sessions: found
                .iter()
                .map(|occurrence| self.files[occurrence.file_idx].session.clone())
                .collect(),
        }
    }

    /// Returns the lines of a response, and the index of the line with the most output tokens.
    fn find_lines(&self, response_id: usize) -> (Vec<(String, u32)>, usize) {
        let (mut lines, mut outputs) = (Vec::new(), Vec::new());
        for idx in self.indices_by_path() {
            let file = &self.files[idx];
            for (number, line) in (1..).zip(&file.lines) {
                let record = line.response.as_ref();
                if let Some(record) = record.filter(|record| record.response_id == response_id) {
                    lines.push((file.path.clone(), number));
                    outputs.push(record.usage.output);
                }
            }
        }
        let counted_line = (0..outputs.len()).max_by_key(|&idx| outputs[idx]).unwrap_or_default();
        (lines, counted_line)
    }

    fn find_main_file(&self, session: &str) -> Option<&GeneratedFile> {
        let mut files = self.indices_by_path().into_iter().map(|idx| &self.files[idx]);
        files.find(|file| file.agent.is_none() && file.session == session)
    }

    /// Returns the working directory of a session: of its main file if that has lines, else of any subagent's file.
    fn find_project(&self, session: &str) -> String {
        let main = self.find_main_file(session).filter(|main| !main.lines.is_empty());
        let mut files = self.indices_by_path().into_iter().map(|idx| &self.files[idx]);
        let any = files.find(|file| file.session == session && !file.lines.is_empty());
        main.or(any).map(|file| file.cwd.clone()).unwrap_or_default()
    }

    /// Returns the agent type in the meta file or in the launching call. Returns `None` if neither exists.
    fn find_agent_type(&self, file: &GeneratedFile) -> Option<String> {
        let SubagentInfo { meta_type, launch } = file.agent.as_ref()?;
        let main = self.find_main_file(&file.session);
        let records = main.into_iter().flat_map(|main| &main.lines).filter_map(|line| line.response.as_ref());
        let call_ids: HashSet<&String> =
            records.flat_map(|record| &record.calls).map(|(call_id, _)| call_id).collect();
        let existing_launch = launch.as_ref().filter(|(call_id, _)| call_ids.contains(call_id));
        meta_type.clone().or_else(|| existing_launch.map(|(_, agent_type)| agent_type.clone()))
    }
}

/// Returns the status of a turn by walking from the last turn to the root.
fn turn_status(file: &GeneratedFile, turn: usize) -> ExpectedStatus {
    let mut statuses: HashMap<usize, ExpectedStatus> = HashMap::new();
    let mut status = ExpectedStatus::Active;
    let mut next = file.turns.len().checked_sub(1);
    while let Some(idx) = next {
        statuses.insert(idx, status);
        if file.turns[idx].is_compacted {
            status = ExpectedStatus::Compacted;
        }
        next = file.turns[idx].parent;
    }
    statuses.get(&turn).copied().unwrap_or(ExpectedStatus::OtherBranch)
}
