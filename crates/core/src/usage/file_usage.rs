//! The usage of one file: each of its responses once, with the attributes used for grouping.

use super::{TokenTotals, find_counted_response, keep_better};
use crate::entry::{BlockKind, Entry, EntryRole, Flags, JsonStr, Timestamp, Usage};
use crate::id::{Id, IdMap, IdSet};
use crate::pack::{Pack, Unpacker};
use crate::tree::{EntryVisitor, LineSpan};

/// The suffix of model names in fast mode.
pub(super) const FAST_SUFFIX: &str = "[fast]";

/// The responses of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileUsage {
    /// Identifies the file, as the caller of the collector chose.
    pub file: Id,
    /// The id of the session that the file belongs to. Empty if unknown.
    pub session: String,
    /// The folder in which the session was started. Empty if unknown.
    pub cwd: String,
    /// The totals of all lines, as if each were a response.
    pub line_totals: TokenTotals,
    /// The responses, in the order in which they begin.
    pub responses: Vec<ResponseUsage>,
    /// The indices in `names` of the called tools, grouped by response.
    calls: Vec<u32>,
    /// The names of models, git branches and tools. The first is empty, for responses without a name.
    names: Vec<String>,
}

/// A response in one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseUsage {
    /// The id of its message.
    pub message: Id,
    /// The id of its request, if known.
    pub request: Option<Id>,
    /// When its first line was written.
    pub time: Option<Timestamp>,
    /// The tokens of its line with the most output.
    pub usage: Usage,
    /// The number of its lines.
    pub lines: u32,
    /// Whether a subagent received it.
    pub is_sidechain: bool,
    /// Whether its first line states that it was copied from another session.
    pub copied: bool,
    /// Whether a line states why the model stopped. If none does, the client wrote the lines before it
    /// received the end, and the output count may be too low.
    pub has_stop_reason: bool,
    /// The indices in `names` of the model and of the git branch.
    model: u32,
    branch: u32,
    /// The end of its calls in the list of the file. They begin at the end of the previous response's calls.
    calls_end: u32,
}

/// The part of a file's usage that deduplication needs before any response. It is packed first, so that it
/// can be decoded without the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileUsageHeader {
    /// The session the file belongs to.
    pub session: String,
    /// The folder in which the session was started.
    pub cwd: String,
    /// The messages of its responses.
    pub messages: Vec<Id>,
}

crate::pack_fields!(FileUsageHeader { session, cwd, messages });

impl Pack for FileUsage {
    fn pack_into(&self, out: &mut Vec<u8>) {
        let FileUsage { file, session: _, cwd: _, line_totals, responses, calls, names } = self;
        self.header().pack_into(out);
        file.pack_into(out);
        line_totals.pack_into(out);
        responses.pack_into(out);
        calls.pack_into(out);
        names.pack_into(out);
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<FileUsage> {
        let FileUsageHeader { session, cwd, messages } = FileUsageHeader::unpack_from(from)?;
        let (file, line_totals) = (Pack::unpack_from(from)?, Pack::unpack_from(from)?);
        let mut responses = Vec::<ResponseUsage>::unpack_from(from)?;
        for (response, message) in responses.iter_mut().zip(messages) {
            response.message = message;
        }
        Some(FileUsage {
            file,
            session,
            cwd,
            line_totals,
            responses,
            calls: Pack::unpack_from(from)?,
            names: Pack::unpack_from(from)?,
        })
    }
}

// The header holds the message ids.
impl Pack for ResponseUsage {
    fn pack_into(&self, out: &mut Vec<u8>) {
        let ResponseUsage {
            message: _,
            request,
            time,
            usage,
            lines,
            is_sidechain,
            copied,
            has_stop_reason,
            model,
            branch,
            calls_end,
        } = self;
        let flags = [request.is_some(), time.is_some(), *is_sidechain, *copied, *has_stop_reason];
        out.push(flags.iter().rev().fold(0, |bits, &flag| bits << 1 | u8::from(flag)));
        request.iter().for_each(|request| request.pack_into(out));
        time.iter().for_each(|time| time.pack_into(out));
        usage.pack_into(out);
        [lines, model, branch, calls_end].into_iter().for_each(|number| number.pack_into(out));
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<ResponseUsage> {
        let [flags] = from.take_array()?;
        let flag = |bit: u8| flags & 1 << bit != 0;
        Some(ResponseUsage {
            message: Id::NIL,
            request: if flag(0) { Some(Pack::unpack_from(from)?) } else { None },
            time: if flag(1) { Some(Pack::unpack_from(from)?) } else { None },
            usage: Pack::unpack_from(from)?,
            lines: Pack::unpack_from(from)?,
            is_sidechain: flag(2),
            copied: flag(3),
            has_stop_reason: flag(4),
            model: Pack::unpack_from(from)?,
            branch: Pack::unpack_from(from)?,
            calls_end: Pack::unpack_from(from)?,
        })
    }
}

impl FileUsage {
    /// Builds the header, which deduplication needs before any response.
    pub fn header(&self) -> FileUsageHeader {
        FileUsageHeader {
            session: self.session.clone(),
            cwd: self.cwd.clone(),
            messages: self.responses.iter().map(|response| response.message).collect(),
        }
    }

    /// Returns the name with this index. Returns an empty string if there is none.
    fn name_at(&self, idx: u32) -> &str {
        self.names.get(idx as usize).map_or("", String::as_str)
    }

    /// Returns a copy with the responses of selected messages only, without tool calls, totals and folder.
    pub fn filter_messages(&self, is_wanted: impl Fn(Id) -> bool) -> FileUsage {
        let wanted = self.responses.iter().filter(|response| is_wanted(response.message));
        FileUsage {
            file: self.file,
            session: self.session.clone(),
            responses: wanted.map(|response| ResponseUsage { calls_end: 0, ..*response }).collect(),
            names: self.names.clone(),
            ..FileUsage::default()
        }
    }

    /// Returns the model of a response, with the suffix `[fast]` in fast mode. Returns an empty string if unknown.
    pub fn model(&self, response: &ResponseUsage) -> &str {
        self.name_at(response.model)
    }

    /// Returns the git branch on which a response was received. Returns an empty string if unknown.
    pub fn branch(&self, response: &ResponseUsage) -> &str {
        self.name_at(response.branch)
    }

    /// Returns the names of the tools that the response with this index calls, one per call.
    pub fn tool_calls(&self, response_idx: usize) -> impl Iterator<Item = &str> {
        let start = response_idx.checked_sub(1).map_or(0, |previous| self.responses[previous].calls_end);
        let end = self.responses.get(response_idx).map_or(start, |response| response.calls_end);
        let calls = self.calls.get(start as usize..end as usize).unwrap_or_default();
        calls.iter().map(|&name| self.name_at(name))
    }
}

impl Default for UsageCollector {
    fn default() -> UsageCollector {
        UsageCollector::new(Id::NIL, "")
    }
}

/// Collects the usage of one file.
#[derive(Debug)]
pub struct UsageCollector {
    usage_so_far: FileUsage,
    /// The index of each response, by the combined ids of message and request.
    response_idxs: IdMap<u32>,
    /// The index of each name in `names` of the usage.
    name_idxs: IdMap<u32>,
    /// The index of the response and the index of the tool name of each call.
    calls: Vec<(u32, u32)>,
    /// The calls seen so far. A line may be written more than once.
    seen_calls: IdSet,
    /// Whether tool calls are collected.
    collects_tools: bool,
}

impl EntryVisitor for UsageCollector {
    fn visit_entry(&mut self, entry: &Entry<'_>, _: LineSpan, _: EntryRole) {
        self.add(entry);
    }
}

impl UsageCollector {
    /// Creates a collector for a file. If the session id `session` is empty, the first line that has one determines it.
    pub fn new(file: Id, session: &str) -> UsageCollector {
        let usage_so_far = FileUsage {
            file,
            session: session.to_owned(),
            names: vec![String::new()],
            ..FileUsage::default()
        };
        UsageCollector {
            usage_so_far,
            response_idxs: IdMap::default(),
            name_idxs: IdMap::default(),
            calls: Vec::new(),
            seen_calls: IdSet::default(),
            collects_tools: true,
        }
    }

    /// Creates a collector that ignores tool calls. Its result can be resumed.
    pub fn without_tools(file: Id, session: &str) -> UsageCollector {
        UsageCollector { collects_tools: false, ..UsageCollector::new(file, session) }
    }

    /// Resumes the collection of a file. The result is that of the whole file, but without tool calls: a
    /// `FileUsage` does not record which calls were seen.
    pub fn resume_from(mut usage_so_far: FileUsage) -> UsageCollector {
        usage_so_far.calls.clear();
        usage_so_far.responses.iter_mut().for_each(|response| response.calls_end = 0);
        let key = |response: &ResponseUsage| response.message.combine(response.request.unwrap_or(Id::NIL));
        let response_idxs = usage_so_far.responses.iter().map(key).zip(0..).collect();
        let name_idxs =
            usage_so_far.names.iter().map(|name| Id::from_text(name.as_bytes())).zip(0..).skip(1).collect();
        UsageCollector {
            usage_so_far,
            response_idxs,
            name_idxs,
            calls: Vec::new(),
            seen_calls: IdSet::default(),
            collects_tools: false,
        }
    }

    /// Returns whether the session id and the start folder are known. Then only lines with tokens matter.
    pub fn has_owner(&self) -> bool {
        !self.usage_so_far.session.is_empty() && !self.usage_so_far.cwd.is_empty()
    }

    /// Adds the next line. Returns the index of its response. Returns `None` if the line does not count as a response.
    pub fn add(&mut self, entry: &Entry<'_>) -> Option<usize> {
        if !self.has_owner() {
            let usage_so_far = &mut self.usage_so_far;
            for (known, value) in
                [(&mut usage_so_far.session, entry.session_id), (&mut usage_so_far.cwd, entry.cwd)]
            {
                if known.is_empty() {
                    known.push_str(&value.map(JsonStr::decode).unwrap_or_default());
                }
            }
        }
        let (message, usage) = find_counted_response(entry)?;
        self.usage_so_far.line_totals.add(1, &usage);
        let request = entry.request_id.map(JsonStr::to_id);
        let new = self.usage_so_far.responses.len() as u32;
        let idx = *self.response_idxs.entry(message.combine(request.unwrap_or(Id::NIL))).or_insert(new);
        if idx == new {
            let response = self.new_response(entry, message, request, usage);
            self.usage_so_far.responses.push(response);
        }
        let response = &mut self.usage_so_far.responses[idx as usize];
        response.lines += 1;
        response.time = response.time.or(entry.time());
        response.has_stop_reason |=
            entry.message.as_ref().is_some_and(|message| message.stop_reason.is_some());
        keep_better(&mut response.usage, usage);
        let collects_tools = self.collects_tools;
        let calls = entry.blocks().iter().filter(|block| collects_tools && block.kind == BlockKind::ToolUse);
        for block in calls {
            if block.id.is_none_or(|id| self.seen_calls.insert(id.to_id())) {
                let tool = self.intern_name(block.tool_name);
                self.calls.push((idx, tool));
            }
        }
        Some(idx as usize)
    }

    /// Creates a response without lines from the first line of a response.
    fn new_response(
        &mut self,
        entry: &Entry<'_>,
        message: Id,
        request: Option<Id>,
        usage: Usage,
    ) -> ResponseUsage {
        ResponseUsage {
            message,
            request,
            time: None,
            usage,
            lines: 0,
            is_sidechain: entry.has_flag(Flags::SIDECHAIN),
            copied: entry.forked_from.is_some(),
            has_stop_reason: false,
            model: self.intern_model(entry),
            branch: self.intern_name(entry.git_branch),
            calls_end: 0,
        }
    }

    /// Returns the index of the model's name, 0 if unknown. Fast mode has its own prices and therefore its own name.
    fn intern_model(&mut self, entry: &Entry<'_>) -> u32 {
        let Some(message) = &entry.message else { return 0 };
        if !message.is_fast {
            return self.intern_name(message.model);
        }
        let name = format!("{}{FAST_SUFFIX}", message.model.map(JsonStr::decode).unwrap_or_default());
        self.intern_name(Some(JsonStr::new(name.as_bytes())))
    }

    /// Returns the index of a name, 0 if it is missing or empty. Adds the name if it is new.
    fn intern_name(&mut self, name: Option<JsonStr<'_>>) -> u32 {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return 0 };
        let names = &mut self.usage_so_far.names;
        *self.name_idxs.entry(name.to_id()).or_insert_with(|| {
            names.push(name.decode().into_owned());
            names.len() as u32 - 1
        })
    }

    /// Returns the collected usage.
    pub fn finish(mut self) -> FileUsage {
        let mut calls = self.calls;
        calls.sort_by_key(|(idx, _)| *idx);
        let mut end = 0;
        for (idx, response) in (0..).zip(&mut self.usage_so_far.responses) {
            end += calls[end..].iter().take_while(|(response_idx, _)| *response_idx == idx).count();
            response.calls_end = end as u32;
        }
        self.usage_so_far.calls = calls.into_iter().map(|(_, tool)| tool).collect();
        self.usage_so_far
    }
}
