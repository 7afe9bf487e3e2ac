//! The sheet of one file: its responses, each once, with what they are grouped by.

use super::{TokenTotals, better, response};
use crate::entry::{BlockKind, Entry, Flags, JsonStr, Timestamp, Usage};
use crate::id::{Id, IdMap, IdSet};
use crate::pack::{Pack, Unpacker};

/// What stands behind the name of a model in fast mode.
pub(super) const FAST: &str = "[fast]";

/// What one file holds of responses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileUsage {
    /// The file.
    pub file: Id,
    /// The session it belongs to.
    pub session: String,
    /// The folder it was started in.
    pub cwd: String,
    /// All lines, as if each were a response.
    pub raw: TokenTotals,
    /// The responses, in the order in which they begin.
    pub charges: Vec<ResponseUsage>,
    /// The tools that were called, by name, of one response behind the other.
    calls: Vec<u32>,
    /// What models, git branches and tools are called; the first is the name of those without one.
    names: Vec<String>,
}

/// A response as one file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseUsage {
    /// The key of its message.
    pub message: Id,
    /// The key of its request, where that is known.
    pub request: Option<Id>,
    /// When its first line was written.
    pub time: Option<Timestamp>,
    /// The tokens of its best line.
    pub usage: Usage,
    /// How many lines it stands on.
    pub lines: u32,
    /// Whether a subagent got it.
    pub side: bool,
    /// Whether its first line says that it was copied from another session.
    pub copied: bool,
    /// Whether a line tells why the model stopped. Where none does, the client had not yet heard the end when it wrote
    /// them, and may not have heard how much output there is.
    pub stopped: bool,
    model: u32,
    branch: u32,
    /// Where its calls end among those of the file; they begin where those of the response before end.
    calls: u32,
}

/// What has to be known of a file before any of its responses can be billed. It stands first in a packed sheet, so that it
/// can be read without the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileUsageHeader {
    /// The session the file belongs to.
    pub session: String,
    /// The folder it was started in.
    pub cwd: String,
    /// The messages of its responses.
    pub messages: Vec<Id>,
}

crate::pack_fields!(FileUsageHeader { session, cwd, messages });

impl Pack for FileUsage {
    fn pack(&self, out: &mut Vec<u8>) {
        let FileUsage { file, session: _, cwd: _, raw, charges, calls, names } = self;
        self.cover().pack(out);
        file.pack(out);
        raw.pack(out);
        charges.pack(out);
        calls.pack(out);
        names.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<FileUsage> {
        let FileUsageHeader { session, cwd, messages } = FileUsageHeader::unpack(from)?;
        let (file, raw) = (Pack::unpack(from)?, Pack::unpack(from)?);
        let mut charges = Vec::<ResponseUsage>::unpack(from)?;
        for (charge, message) in charges.iter_mut().zip(messages) {
            charge.message = message;
        }
        Some(FileUsage {
            file,
            session,
            cwd,
            raw,
            charges,
            calls: Pack::unpack(from)?,
            names: Pack::unpack(from)?,
        })
    }
}

// The message of a charge stands on the cover.
impl Pack for ResponseUsage {
    fn pack(&self, out: &mut Vec<u8>) {
        let ResponseUsage {
            message: _,
            request,
            time,
            usage,
            lines,
            side,
            copied,
            stopped,
            model,
            branch,
            calls,
        } = self;
        let flags = [request.is_some(), time.is_some(), *side, *copied, *stopped];
        out.push(flags.iter().rev().fold(0, |bits, &flag| bits << 1 | u8::from(flag)));
        request.iter().for_each(|request| request.pack(out));
        time.iter().for_each(|time| time.pack(out));
        usage.pack(out);
        [lines, model, branch, calls].into_iter().for_each(|number| number.pack(out));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<ResponseUsage> {
        let [flags] = from.array()?;
        let flag = |bit: u8| flags & 1 << bit != 0;
        Some(ResponseUsage {
            message: Id::NIL,
            request: if flag(0) { Some(Pack::unpack(from)?) } else { None },
            time: if flag(1) { Some(Pack::unpack(from)?) } else { None },
            usage: Pack::unpack(from)?,
            lines: Pack::unpack(from)?,
            side: flag(2),
            copied: flag(3),
            stopped: flag(4),
            model: Pack::unpack(from)?,
            branch: Pack::unpack(from)?,
            calls: Pack::unpack(from)?,
        })
    }
}

impl FileUsage {
    /// Returns what has to be known of it first.
    pub fn cover(&self) -> FileUsageHeader {
        FileUsageHeader {
            session: self.session.clone(),
            cwd: self.cwd.clone(),
            messages: self.charges.iter().map(|charge| charge.message).collect(),
        }
    }

    fn name(&self, no: u32) -> &str {
        self.names.get(no as usize).map_or("", String::as_str)
    }

    /// Returns the charges of some messages, and nothing else of it but whose they are and what they are called.
    pub fn only(&self, wants: impl Fn(Id) -> bool) -> FileUsage {
        let wanted = self.charges.iter().filter(|charge| wants(charge.message));
        FileUsage {
            file: self.file,
            session: self.session.clone(),
            charges: wanted.map(|charge| ResponseUsage { calls: 0, ..*charge }).collect(),
            names: self.names.clone(),
            ..FileUsage::default()
        }
    }

    /// Returns the model of a response.
    pub fn model(&self, charge: &ResponseUsage) -> &str {
        self.name(charge.model)
    }

    /// Returns the git branch on which a response was got.
    pub fn branch(&self, charge: &ResponseUsage) -> &str {
        self.name(charge.branch)
    }

    /// Returns the tools that a response calls, one name for each call.
    pub fn calls(&self, no: usize) -> impl Iterator<Item = &str> {
        let begin = no.checked_sub(1).map_or(0, |before| self.charges[before].calls);
        let end = self.charges.get(no).map_or(begin, |charge| charge.calls);
        let calls = self.calls.get(begin as usize..end as usize).unwrap_or_default();
        calls.iter().map(|&name| self.name(name))
    }
}

impl Default for UsageCollector {
    fn default() -> UsageCollector {
        UsageCollector::new(Id::NIL, "")
    }
}

/// Writes the sheet of one file.
#[derive(Debug)]
pub struct UsageCollector {
    sheet: FileUsage,
    /// Where each response stands, by message and request.
    places: IdMap<u32>,
    /// The numbers of names.
    numbers: IdMap<u32>,
    /// The response of each call, and its tool.
    calls: Vec<(u32, u32)>,
    /// The calls that were seen: a line may be written more than once.
    seen: IdSet,
    /// Whether anybody wants to know what tools were called.
    tools: bool,
}

impl UsageCollector {
    /// Starts on a file; its lines say whose it is where `session` is empty.
    pub fn new(file: Id, session: &str) -> UsageCollector {
        let sheet = FileUsage {
            file,
            session: session.to_owned(),
            names: vec![String::new()],
            ..FileUsage::default()
        };
        UsageCollector {
            sheet,
            places: IdMap::default(),
            numbers: IdMap::default(),
            calls: Vec::new(),
            seen: IdSet::default(),
            tools: true,
        }
    }

    /// Starts on a file of which nobody wants to know the tools. What comes of it can be resumed.
    pub fn without_tools(file: Id, session: &str) -> UsageCollector {
        UsageCollector { tools: false, ..UsageCollector::new(file, session) }
    }

    /// Goes on with a file of which the beginning is known: the sheet is that of the whole file in the end, but for the tools.
    /// Which calls it has seen a sheet does not say, so none are named any more.
    pub fn resume(mut sheet: FileUsage) -> UsageCollector {
        sheet.calls.clear();
        sheet.charges.iter_mut().for_each(|charge| charge.calls = 0);
        let key = |charge: &ResponseUsage| charge.message.combine(charge.request.unwrap_or(Id::NIL));
        let places = sheet.charges.iter().map(key).zip(0..).collect();
        let numbers = sheet.names.iter().map(|name| Id::of(name.as_bytes())).zip(0..).skip(1).collect();
        UsageCollector { sheet, places, numbers, calls: Vec::new(), seen: IdSet::default(), tools: false }
    }

    /// Whether it is known whose the file is: of what follows, only lines with tokens matter.
    pub fn knows_owner(&self) -> bool {
        !self.sheet.session.is_empty() && !self.sheet.cwd.is_empty()
    }

    /// Takes the next line; returns the number of its response, if it is of one.
    pub fn add(&mut self, entry: &Entry<'_>) -> Option<usize> {
        if !self.knows_owner() {
            let sheet = &mut self.sheet;
            for (known, said) in [(&mut sheet.session, entry.session), (&mut sheet.cwd, entry.cwd)] {
                if known.is_empty() {
                    known.push_str(&said.map(JsonStr::decode).unwrap_or_default());
                }
            }
        }
        let (message, usage) = response(entry)?;
        self.sheet.raw.add(1, &usage);
        let request = entry.request.map(JsonStr::id);
        let new = self.sheet.charges.len() as u32;
        let no = *self.places.entry(message.combine(request.unwrap_or(Id::NIL))).or_insert(new);
        if no == new {
            let charge = self.begin(entry, message, request, usage);
            self.sheet.charges.push(charge);
        }
        let charge = &mut self.sheet.charges[no as usize];
        charge.lines += 1;
        charge.time = charge.time.or(entry.time());
        charge.stopped |= entry.message.as_ref().is_some_and(|message| message.stop_reason.is_some());
        better(&mut charge.usage, usage);
        let tools = self.tools;
        let calls = entry.blocks().iter().filter(|block| tools && block.kind == BlockKind::ToolUse);
        for block in calls {
            if block.id.is_none_or(|id| self.seen.insert(id.id())) {
                let tool = self.number(block.tool);
                self.calls.push((no, tool));
            }
        }
        Some(no as usize)
    }

    fn begin(&mut self, entry: &Entry<'_>, message: Id, request: Option<Id>, usage: Usage) -> ResponseUsage {
        ResponseUsage {
            message,
            request,
            time: None,
            usage,
            lines: 0,
            side: entry.is(Flags::SIDECHAIN),
            copied: entry.forked_from.is_some(),
            stopped: false,
            model: self.model(entry),
            branch: self.number(entry.git_branch),
            calls: 0,
        }
    }

    /// Returns the number of the model of a line; fast mode has prices of its own, and so a name.
    fn model(&mut self, entry: &Entry<'_>) -> u32 {
        let Some(message) = &entry.message else { return 0 };
        if !message.fast {
            return self.number(message.model);
        }
        let name = format!("{}{FAST}", message.model.map(JsonStr::decode).unwrap_or_default());
        self.number(Some(JsonStr::new(name.as_bytes())))
    }

    /// Returns the number of a name.
    fn number(&mut self, name: Option<JsonStr<'_>>) -> u32 {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return 0 };
        let names = &mut self.sheet.names;
        *self.numbers.entry(name.id()).or_insert_with(|| {
            names.push(name.decode().into_owned());
            names.len() as u32 - 1
        })
    }

    /// Returns the sheet.
    pub fn finish(mut self) -> FileUsage {
        let mut calls = self.calls;
        calls.sort_by_key(|(no, _)| *no);
        let mut at = 0;
        for (no, charge) in (0..).zip(&mut self.sheet.charges) {
            at += calls[at..].iter().take_while(|(of, _)| *of == no).count();
            charge.calls = at as u32;
        }
        self.sheet.calls = calls.into_iter().map(|(_, tool)| tool).collect();
        self.sheet
    }
}
