//! Counts the entries of each file and adds up the files in path order.

use std::collections::BTreeMap;

use super::file_calls::{FileCalls, find_extra_copies};
use super::file_counts::FileCounts;
use crate::entry::{BlockKind, Content, Entry, EntryRole, Flags, JsonStr, Kind, LineStatus, SystemKind};
use crate::id::{Id, IdMap, IdSet};
use crate::problem::Problem;
use crate::tree::{EntryVisitor, LineSpan, Tree};
use crate::turn::ToolCallIndex;
use crate::usage::{
    FileUsage, TokenTotals, UsageCollector, dedupe_responses, total_by_request_id, total_tokens,
};

/// The longest gap between two lines that counts as active time, in milliseconds.
const MAX_ACTIVE_GAP_MS: i64 = 5 * 60 * 1000;

/// Counts by name.
pub(super) type NameCounts = BTreeMap<String, u64>;

/// The calls of one tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolCount {
    /// Blocks that call it. A call may be written on several lines.
    pub blocks: u64,
    /// Distinct call ids.
    pub calls: u64,
    /// Calls with a result that is marked as an error.
    pub errors: u64,
    /// The sum of the milliseconds from call to result.
    pub millis: u64,
    /// The number of calls with a known duration, which `millis` sums.
    pub timed: u64,
}

/// The counts of all files of a store, or of some of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreCounts {
    /// The number of files.
    pub files: u64,
    /// The sums over all files.
    pub total: FileCounts,
    /// Content blocks of user and assistant lines by type. A plain string counts as `string`.
    pub blocks: NameCounts,
    /// System lines by subtype.
    pub system_subtypes: NameCounts,
    /// Calls by tool, as each file has them. See [`StoreCounts::unique_tools`].
    pub tools: BTreeMap<String, ToolCount>,
    /// Turns, as each file numbers them. A turn copied to several files counts once.
    pub turns: u64,
    /// Assistant lines by model.
    pub models: NameCounts,
    /// Problems by name.
    pub problems: NameCounts,
    /// Unknown line types, system subtypes and block types, as `type`, `system` or `block`, a space, and the name.
    pub unknown: NameCounts,
    /// Responses and tokens, by file.
    pub file_usages: Vec<FileUsage>,
    /// The earliest and the latest time, in milliseconds since 1970. `None` if no entry has a time.
    pub time_span: Option<(i64, i64)>,
    /// The active time of session files, without those of subagents, in milliseconds: the sum of the gaps of at most five
    /// minutes between entries.
    pub active_millis: i64,
    /// The ids of the turns, which copies of a turn share.
    turn_keys: IdSet,
    /// The calls by file, in the order of the files.
    file_calls: Vec<FileCalls>,
}

crate::pack_fields!(ToolCount { blocks, calls, errors, millis, timed });
crate::pack_fields!(StoreCounts {
    files,
    total,
    blocks,
    system_subtypes,
    tools,
    turns,
    models,
    problems,
    unknown,
    file_usages,
    time_span,
    active_millis,
    turn_keys,
    file_calls
});

/// Counts the lines and entries of one file.
#[derive(Debug)]
pub struct StatsCollector {
    counts: FileCounts,
    kinds: [u64; Kind::KNOWN.len() + 2],
    blocks: [u64; BlockKind::KNOWN.len() + 2],
    /// The number of messages with a plain string as content.
    plain_texts: u64,
    system_kinds: [u64; SystemKind::KNOWN.len() + 2],
    unknown: NameCounts,
    models: NameCounts,
    /// The message ids of assistant lines without a uuid.
    messages: IdSet,
    usage: UsageCollector,
    is_undamaged: bool,
}

impl StatsCollector {
    /// Creates a collector for the file with id `file` of the session with id `session`.
    ///
    /// If `session` is empty, the session ids on the lines are used.
    pub fn new(file: Id, session: &str) -> StatsCollector {
        StatsCollector {
            counts: FileCounts::default(),
            kinds: [0; _],
            blocks: [0; _],
            plain_texts: 0,
            system_kinds: [0; _],
            unknown: NameCounts::new(),
            models: NameCounts::new(),
            messages: IdSet::default(),
            usage: UsageCollector::new(file, session),
            is_undamaged: true,
        }
    }

    /// Counts a line that is not blank, by its status.
    pub fn add_line(&mut self, status: LineStatus) {
        self.counts.lines += 1;
        match status {
            LineStatus::Parsed => {}
            LineStatus::Recovered(entries) => {
                self.counts.malformed += 1;
                self.counts.salvaged += u64::from(entries);
                self.is_undamaged = false;
            }
            LineStatus::Unparsable => self.counts.malformed += 1,
        }
    }

    /// Counts an entry by its type, and its content blocks, model and usage.
    pub fn add(&mut self, entry: &Entry<'_>) {
        self.kinds[entry.kind as usize] += 1;
        self.usage.add(entry);
        match entry.kind {
            Kind::Unknown => self.count_unknown("type", entry.type_name),
            Kind::System => {
                self.system_kinds[entry.system_kind() as usize] += 1;
                if entry.system_kind() == SystemKind::Unknown {
                    self.count_unknown("system", entry.subtype);
                }
            }
            Kind::User | Kind::Assistant => self.count_message(entry),
            _ => {}
        }
    }

    /// Counts the content blocks of a user or assistant line, and the message id and model of an answer.
    fn count_message(&mut self, entry: &Entry<'_>) {
        let Some(message) = &entry.message else { return };
        match &message.content {
            Content::Text(_) => self.plain_texts += 1,
            Content::Blocks(blocks) => {
                for block in blocks {
                    self.blocks[block.kind as usize] += 1;
                    self.counts.tool_results_is_error +=
                        u64::from(block.kind == BlockKind::ToolResult && block.is_error);
                    if block.kind == BlockKind::Unknown {
                        self.count_unknown("block", block.type_name);
                    }
                }
            }
            Content::None => {}
        }
        if entry.kind == Kind::Assistant {
            // The tree counts the messages of all entries that have a uuid.
            if let Some(id) = message.id.filter(|_| entry.uuid.is_none()) {
                self.messages.insert(id.to_id());
            }
            if let Some(model) = message.model {
                let model = model.decode();
                match self.models.get_mut(&*model) {
                    Some(lines) => *lines += 1,
                    None => {
                        self.models.insert(model.into_owned(), 1);
                    }
                }
            }
        }
    }

    fn count_unknown(&mut self, category: &str, name: Option<JsonStr<'_>>) {
        let name = format!("{category} {}", name.map(JsonStr::decode).unwrap_or_default());
        *self.unknown.entry(name).or_default() += 1;
    }

    /// Adds the counts of the tree and of the tool calls. Returns the counts of a store with this file only.
    ///
    /// `bytes` is the size of the file. `problems` are those of reading it; the problems of the tree are added.
    pub fn finish(
        mut self,
        bytes: u64,
        tree: &Tree,
        calls: &ToolCallIndex,
        problems: &[Problem],
    ) -> StoreCounts {
        let counts = &mut self.counts;
        counts.bytes = bytes;
        counts.add_tree(tree);
        for id in tree.message_ids() {
            self.messages.remove(id);
        }
        counts.messages = (self.messages.len() + tree.message_count()) as u64;

        let mut store = StoreCounts {
            files: 1,
            tools: count_calls(calls, counts),
            file_calls: vec![FileCalls::from_index(calls)],
            ..StoreCounts::default()
        };
        let name_counts = |count: &[u64], name: &dyn Fn(usize) -> String| -> NameCounts {
            let nonzero = count.iter().enumerate().filter(|(_, count)| **count > 0);
            nonzero.map(|(idx, &count)| (name(idx), count)).collect()
        };
        counts.types = name_counts(&self.kinds, &|idx| name_at(Kind::KNOWN, idx, Kind::name));
        store.blocks = name_counts(&self.blocks, &|idx| name_at(BlockKind::KNOWN, idx, BlockKind::name));
        if self.plain_texts > 0 {
            store.blocks.insert("string".to_owned(), self.plain_texts);
        }
        store.system_subtypes =
            name_counts(&self.system_kinds, &|idx| name_at(SystemKind::KNOWN, idx, SystemKind::name));
        // Count unknown types under the name that the file uses.
        for (name, count) in &self.unknown {
            let (names, own_name) = match name.split_once(' ') {
                Some(("type", own_name)) => (&mut counts.types, own_name),
                Some(("system", own_name)) => (&mut store.system_subtypes, own_name),
                Some(("block", own_name)) => (&mut store.blocks, own_name),
                _ => continue,
            };
            names.remove("unknown");
            *names.entry(own_name.to_owned()).or_default() += count;
        }
        for problem in problems.iter().chain(&tree.problems) {
            *store.problems.entry(problem.kind.name().to_owned()).or_default() += 1;
        }
        store.models = self.models;
        store.unknown = self.unknown;
        store.file_usages = vec![self.usage.finish()];
        // Prompts of subagents are not turns.
        if !tree.is_sidechain_file() {
            store.turn_keys = collect_turn_keys(tree);
        }
        store.add_times(tree);
        store.total = self.counts;
        store.turns = store.turn_keys.len() as u64;
        store
    }

    /// Returns `true` if no entry was recovered from a damaged line. Lines without any entry do not count.
    pub fn is_undamaged(&self) -> bool {
        self.is_undamaged
    }
}

impl EntryVisitor for StatsCollector {
    fn visit_entry(&mut self, entry: &Entry<'_>, _: LineSpan, _: EntryRole) {
        self.add(entry);
    }
}

/// Returns the name of the variant with this index: one of `all`, then `unknown`, then `None`.
fn name_at<T: Copy>(all: &[T], idx: usize, name: fn(T) -> &'static str) -> String {
    match all.get(idx) {
        Some(&item) => name(item).to_owned(),
        None if idx == all.len() => "unknown".to_owned(),
        None => "None".to_owned(),
    }
}

/// Adds the calls and results to `counts`, and returns the calls by tool.
fn count_calls(calls: &ToolCallIndex, counts: &mut FileCounts) -> BTreeMap<String, ToolCount> {
    let mut tools: BTreeMap<String, ToolCount> = BTreeMap::new();
    for (name, blocks) in calls.tools() {
        tools.entry(name.clone()).or_default().blocks += blocks;
    }
    for call in calls.calls() {
        if call.call.is_none() {
            counts.tool_results_unpaired += 1;
            continue;
        }
        counts.tool_uses += 1;
        counts.tool_uses_unpaired += u64::from(call.result.is_none());
        let tool = tools.entry(calls.tool_name(call.tool).to_owned()).or_default();
        tool.calls += 1;
        tool.errors += u64::from(call.is_error);
        if let Some(millis) = call.millis() {
            tool.millis += millis as u64;
            tool.timed += 1;
        }
    }
    tools
}

/// Returns an id for each turn: that of its first response, or its own uuid, and its number among the turns with that id.
/// Copies of a turn in other files get the same id.
fn collect_turn_keys(tree: &Tree) -> IdSet {
    let mut first = vec![None; tree.nodes().len()];
    for (node_id, node) in tree.nodes().iter().enumerate() {
        if node.role == EntryRole::Answer
            && !node.has_flag(Flags::SYNTHETIC)
            && let (Some(turn), Some(message)) =
                (tree.turn_of(node_id as u32), tree.message_of(node_id as u32))
        {
            first[turn as usize].get_or_insert(message);
        }
    }
    let ids = tree.message_ids();
    let key =
        |turn: u32| first[turn as usize].map_or(tree.node(turn).uuid, |message: u32| ids[message as usize]);
    let mut repeats: IdMap<u64> = IdMap::default();
    let number_key = |key: Id| {
        let repeat = repeats.entry(key).or_default();
        *repeat += 1;
        if *repeat == 1 { key } else { Id::from_text(format!("{:032x} {repeat}", key.bits()).as_bytes()) }
    };
    tree.turn_starts().map(key).map(number_key).collect()
}

impl StoreCounts {
    /// Returns the numbers of responses and tokens, counting each request id once.
    ///
    /// Copies that lost their request id count again.
    pub fn totals_by_request_id(&self) -> TokenTotals {
        total_by_request_id(&self.file_usages)
    }

    /// Returns the numbers of responses and tokens, counting each response once over all files.
    pub fn deduplicated_totals(&self) -> TokenTotals {
        total_tokens(&dedupe_responses(&self.file_usages))
    }

    /// Sets the time span and the active time from the entries of a tree that are not structural.
    fn add_times(&mut self, tree: &Tree) {
        let conversation = tree.nodes().iter().filter(|node| node.role != EntryRole::Structural);
        let mut times: Vec<i64> = conversation.filter_map(|node| Some(node.time()?.0)).collect();
        times.sort_unstable();
        if let (Some(&first), Some(&last)) = (times.first(), times.last()) {
            self.time_span = Some((first, last));
        }
        if !tree.is_sidechain_file() {
            let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
            self.active_millis = gaps.filter(|&gap| gap <= MAX_ACTIVE_GAP_MS).sum();
        }
    }

    /// Adds the counts of other files, which must follow in path order.
    pub fn merge(&mut self, later: StoreCounts) {
        self.total.merge(later.total);
        self.files += later.files;
        add_names(&mut self.blocks, later.blocks);
        add_names(&mut self.system_subtypes, later.system_subtypes);
        add_names(&mut self.models, later.models);
        add_names(&mut self.problems, later.problems);
        add_names(&mut self.unknown, later.unknown);
        for (name, part) in later.tools {
            let sum = self.tools.entry(name).or_default();
            sum.blocks += part.blocks;
            sum.calls += part.calls;
            sum.errors += part.errors;
            sum.millis += part.millis;
            sum.timed += part.timed;
        }
        self.file_usages.extend(later.file_usages);
        self.time_span = match (self.time_span, later.time_span) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        self.active_millis += later.active_millis;
        self.turn_keys.extend(later.turn_keys);
        self.turns = self.turn_keys.len() as u64;
        self.file_calls.extend(later.file_calls);
    }

    /// Returns the calls by file, in the order of the files, and leaves an empty list.
    pub fn take_file_calls(&mut self) -> Vec<FileCalls> {
        std::mem::take(&mut self.file_calls)
    }

    /// Returns the calls by tool. A call that a fork copied to other files counts once.
    pub fn unique_tools(&self) -> BTreeMap<String, ToolCount> {
        let mut tools = self.tools.clone();
        for (file_idx, call_idx) in find_extra_copies(&self.file_calls) {
            let file = &self.file_calls[file_idx];
            let copy = &file.calls[call_idx];
            let Some(tool) = tools.get_mut(file.tool_name(copy)) else { continue };
            tool.calls -= 1;
            tool.errors -= u64::from(copy.is_error);
            tool.millis -= copy.millis.unwrap_or_default();
            tool.timed -= u64::from(copy.millis.is_some());
        }
        tools
    }
}

/// Adds counts by name.
pub(super) fn add_names(sum: &mut NameCounts, part: NameCounts) {
    for (name, count) in part {
        *sum.entry(name).or_default() += count;
    }
}
