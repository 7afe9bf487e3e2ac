//! Counts while entries come in; files are then added up in the order of their paths.

use std::collections::BTreeMap;

use crate::entry::{BlockKind, Content, Entry, EntryRole, Flags, Kind, LineStatus, System};
use crate::id::{Id, IdSet};
use crate::problem::Problem;
use crate::tree::{ParentLink, Tree};
use crate::turn::ToolCallIndex;
use crate::usage::{FileUsage, TokenTotals, UsageCollector, dedupe_responses, total, total_by_request_id};

/// Gaps longer than this between two lines are not counted as active, in milliseconds.
const PAUSE: i64 = 5 * 60 * 1000;

/// Counts by name, for names that are few and mostly known.
type Names = BTreeMap<String, u64>;

/// The counts of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// Its size.
    pub bytes: u64,
    /// Lines that are not blank.
    pub lines: u64,
    /// Of these, no JSON object.
    pub malformed: u64,
    /// Entries read from malformed lines.
    pub salvaged: u64,
    /// Lines by type.
    pub types: Names,
    /// Distinct uuids.
    pub uuids: u64,
    /// Uuids on more than one line.
    pub uuids_repeated: u64,
    /// Lines with a uuid and no parent.
    pub roots: u64,
    /// Lines whose parent no line has.
    pub parents_missing: u64,
    /// Distinct message ids of assistant lines.
    pub messages: u64,
    /// Distinct calls.
    pub tool_uses: u64,
    /// Calls without a result.
    pub tool_uses_unpaired: u64,
    /// Results without a call.
    pub tool_results_unpaired: u64,
    /// Result blocks that report an error.
    pub tool_results_is_error: u64,
}

/// Calls of one tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolCount {
    /// Blocks that call it, on however many lines.
    pub blocks: u64,
    /// Distinct calls.
    pub calls: u64,
    /// Of these, failed.
    pub errors: u64,
    /// Milliseconds from call to result, summed.
    pub millis: u64,
    /// How many calls that sum is of.
    pub timed: u64,
}

/// The counts of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many files.
    pub files: u64,
    /// The sums over files.
    pub total: FileCounts,
    /// Content blocks of user and assistant lines by type.
    pub blocks: Names,
    /// System lines by subtype.
    pub system_subtypes: Names,
    /// Calls by tool.
    pub tools: BTreeMap<String, ToolCount>,
    /// Turns, those copied from another file counted once.
    pub turns: u64,
    /// Turns as they stand in the files.
    pub turns_written: u64,
    /// Real branches beyond the first, summed.
    pub forks: u64,
    /// Assistant lines by model.
    pub models: Names,
    /// Problems by name.
    pub problems: Names,
    /// Unknown types, subtypes and blocks, by what they are.
    pub unknown: Names,
    /// Responses and tokens, by file.
    pub sheets: Vec<FileUsage>,
    /// First and last moment, in milliseconds.
    pub span: Option<(i64, i64)>,
    /// Milliseconds between lines that are not far apart, summed over main files.
    pub active: i64,
    turn_keys: IdSet,
}

crate::pack_fields!(FileCounts {
    bytes,
    lines,
    malformed,
    salvaged,
    types,
    uuids,
    uuids_repeated,
    roots,
    parents_missing,
    messages,
    tool_uses,
    tool_uses_unpaired,
    tool_results_unpaired,
    tool_results_is_error
});
crate::pack_fields!(ToolCount { blocks, calls, errors, millis, timed });
crate::pack_fields!(Counts {
    files,
    total,
    blocks,
    system_subtypes,
    tools,
    turns,
    turns_written,
    forks,
    models,
    problems,
    unknown,
    sheets,
    span,
    active,
    turn_keys
});

/// Counts one file.
#[derive(Debug)]
pub struct StatsCollector {
    counts: FileCounts,
    kinds: [u64; Kind::KNOWN.len() + 2],
    blocks: [u64; BlockKind::KNOWN.len() + 2],
    strings: u64,
    systems: [u64; System::KNOWN.len() + 2],
    unknown: Names,
    models: Vec<(String, u64)>,
    messages: IdSet,
    booking: UsageCollector,
    whole: bool,
}

impl StatsCollector {
    /// Starts on the file called `file`; its lines say whose it is where `session` is empty.
    pub fn new(file: Id, session: &str) -> StatsCollector {
        StatsCollector {
            counts: FileCounts::default(),
            kinds: [0; _],
            blocks: [0; _],
            strings: 0,
            systems: [0; _],
            unknown: Names::new(),
            models: Vec::new(),
            messages: IdSet::default(),
            booking: UsageCollector::new(file, session),
            whole: true,
        }
    }

    /// Takes what became of a line.
    pub fn line(&mut self, fate: LineStatus) {
        self.counts.lines += 1;
        match fate {
            LineStatus::Whole => {}
            LineStatus::Salvaged(entries) => {
                self.counts.malformed += 1;
                self.counts.salvaged += u64::from(entries);
                self.whole = false;
            }
            LineStatus::Lost => self.counts.malformed += 1,
        }
    }

    /// Takes an entry of a whole line.
    pub fn add(&mut self, entry: &Entry<'_>) {
        self.kinds[entry.kind as usize] += 1;
        self.booking.add(entry);
        match entry.kind {
            Kind::Unknown => self.unknown("type", entry.name.map_or(&b""[..], |name| name.raw())),
            Kind::System => {
                self.systems[entry.system() as usize] += 1;
                if entry.system() == System::Unknown {
                    self.unknown("system", entry.subtype.map_or(&b""[..], |name| name.raw()));
                }
            }
            Kind::User | Kind::Assistant => self.message(entry),
            _ => {}
        }
    }

    fn message(&mut self, entry: &Entry<'_>) {
        let Some(message) = &entry.message else { return };
        match &message.content {
            Content::Text(_) => self.strings += 1,
            Content::Blocks(blocks) => {
                for block in blocks {
                    self.blocks[block.kind as usize] += 1;
                    self.counts.tool_results_is_error +=
                        u64::from(block.kind == BlockKind::ToolResult && block.is_error);
                    if block.kind == BlockKind::Unknown {
                        self.unknown("block", block.name.map_or(&b""[..], |name| name.raw()));
                    }
                }
            }
            Content::None => {}
        }
        if entry.kind == Kind::Assistant {
            // The tree knows the messages of all entries that have a uuid.
            if let Some(id) = message.id.filter(|_| entry.uuid.is_none()) {
                self.messages.insert(id.id());
            }
            if let Some(model) = message.model {
                let raw = model.raw();
                match self.models.iter_mut().find(|(known, _)| known.as_bytes() == raw) {
                    Some((_, lines)) => *lines += 1,
                    None => self.models.push((model.decode().into_owned(), 1)),
                }
            }
        }
    }

    fn unknown(&mut self, what: &str, name: &[u8]) {
        let name = format!("{what} {}", String::from_utf8_lossy(name));
        *self.unknown.entry(name).or_default() += 1;
    }

    /// Adds what tree and pairs know of whole lines; returns the counts of a store of this one file.
    pub fn finish(mut self, bytes: u64, tree: &Tree, pairs: &ToolCallIndex, problems: &[Problem]) -> Counts {
        let counts = &mut self.counts;
        counts.bytes = bytes;
        let nodes = tree.nodes();
        let repeated = tree.repeated_ids();
        counts.uuids_repeated = repeated.len() as u64;
        counts.uuids = nodes.len() as u64 - tree.repeated_lines() as u64;
        counts.roots = nodes.iter().filter(|node| node.link == ParentLink::Root).count() as u64;
        counts.parents_missing = nodes.iter().filter(|node| node.link == ParentLink::Missing).count() as u64;
        for id in tree.message_ids() {
            self.messages.remove(id);
        }
        counts.messages = (self.messages.len() + tree.messages()) as u64;

        let mut store = Counts { files: 1, ..Counts::default() };
        for (name, blocks) in pairs.tools() {
            store.tools.entry(name.clone()).or_default().blocks += blocks;
        }
        for call in pairs.calls() {
            if call.call.is_none() {
                counts.tool_results_unpaired += 1;
                continue;
            }
            counts.tool_uses += 1;
            counts.tool_uses_unpaired += u64::from(call.result.is_none());
            let tool = store.tools.entry(pairs.tool(call.tool).to_owned()).or_default();
            tool.calls += 1;
            tool.errors += u64::from(call.is_error);
            if let Some(millis) = call.millis() {
                tool.millis += millis as u64;
                tool.timed += 1;
            }
        }
        let named = |count: &[u64], name: &dyn Fn(usize) -> String| -> Names {
            let found = count.iter().enumerate().filter(|(_, count)| **count > 0);
            found.map(|(k, &count)| (name(k), count)).collect()
        };
        counts.types = named(&self.kinds, &|k| known(Kind::KNOWN, k, Kind::name));
        store.blocks = named(&self.blocks, &|k| known(BlockKind::KNOWN, k, BlockKind::name));
        if self.strings > 0 {
            store.blocks.insert("string".to_owned(), self.strings);
        }
        store.system_subtypes = named(&self.systems, &|k| known(System::KNOWN, k, System::name));
        // A store names what it does not know by the name it has, as far as one is there.
        for (name, count) in &self.unknown {
            let (names, what) = match name.split_once(' ') {
                Some(("type", what)) => (&mut counts.types, what),
                Some(("system", what)) => (&mut store.system_subtypes, what),
                Some(("block", what)) => (&mut store.blocks, what),
                _ => continue,
            };
            names.remove("unknown");
            *names.entry(what.to_owned()).or_default() += count;
        }
        for problem in problems.iter().chain(&tree.problems) {
            *store.problems.entry(problem.kind.name().to_owned()).or_default() += 1;
        }
        store.models = self.models.into_iter().collect();
        store.unknown = self.unknown;
        store.sheets = vec![self.booking.finish()];
        store.forks = tree.branches().saturating_sub(1) as u64;
        // What a subagent is told is no turn of anybody.
        if !tree.is_sidechain_file() {
            store.turn_keys = turn_keys(tree);
            store.turns_written = tree.turns().count() as u64;
        }
        store.times(tree);
        store.total = self.counts;
        store.turns = store.turn_keys.len() as u64;
        store
    }

    /// Whether every line was one object.
    pub fn is_whole(&self) -> bool {
        self.whole
    }
}

fn known<T: Copy>(all: &[T], k: usize, name: fn(T) -> &'static str) -> String {
    match all.get(k) {
        Some(&one) => name(one).to_owned(),
        None if k == all.len() => "unknown".to_owned(),
        None => "None".to_owned(),
    }
}

/// Names each turn by its first response, or by its own uuid where nobody answered: copies have the same name.
fn turn_keys(tree: &Tree) -> IdSet {
    let mut first = vec![None; tree.nodes().len()];
    for (no, node) in tree.nodes().iter().enumerate() {
        if node.voice == EntryRole::Answer
            && !node.is(Flags::SYNTHETIC)
            && let (Some(turn), Some(message)) = (tree.turn_of(no as u32), tree.message_of(no as u32))
        {
            first[turn as usize].get_or_insert(message);
        }
    }
    let ids = tree.message_ids();
    let key =
        |turn: u32| first[turn as usize].map_or(tree.node(turn).id, |message: u32| ids[message as usize]);
    tree.turns().map(key).collect()
}

impl Counts {
    /// Returns responses and tokens by the plain rule, by which copies that lost their request count again.
    pub fn plain(&self) -> TokenTotals {
        total_by_request_id(&self.sheets)
    }

    /// Returns responses and tokens, each response once.
    pub fn once(&self) -> TokenTotals {
        total(&dedupe_responses(&self.sheets))
    }

    fn times(&mut self, tree: &Tree) {
        let speaking = tree.nodes().iter().filter(|node| node.voice != EntryRole::Structural);
        let mut times: Vec<i64> = speaking.filter_map(|node| Some(node.time()?.0)).collect();
        times.sort_unstable();
        if let (Some(&first), Some(&last)) = (times.first(), times.last()) {
            self.span = Some((first, last));
        }
        if !tree.is_sidechain_file() {
            let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
            self.active = gaps.filter(|&gap| gap <= PAUSE).sum();
        }
    }

    /// Adds the counts of a file that comes later by path.
    pub fn merge(&mut self, later: Counts) {
        let (a, b) = (&mut self.total, &later.total);
        for (sum, part) in [
            (&mut a.bytes, b.bytes),
            (&mut a.lines, b.lines),
            (&mut a.malformed, b.malformed),
            (&mut a.salvaged, b.salvaged),
            (&mut a.uuids, b.uuids),
            (&mut a.uuids_repeated, b.uuids_repeated),
            (&mut a.roots, b.roots),
            (&mut a.parents_missing, b.parents_missing),
            (&mut a.messages, b.messages),
            (&mut a.tool_uses, b.tool_uses),
            (&mut a.tool_uses_unpaired, b.tool_uses_unpaired),
            (&mut a.tool_results_unpaired, b.tool_results_unpaired),
            (&mut a.tool_results_is_error, b.tool_results_is_error),
            (&mut self.files, later.files),
            (&mut self.turns_written, later.turns_written),
            (&mut self.forks, later.forks),
        ] {
            *sum += part;
        }
        add_names(&mut a.types, later.total.types);
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
        self.sheets.extend(later.sheets);
        self.span = match (self.span, later.span) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        self.active += later.active;
        self.turn_keys.extend(later.turn_keys);
        self.turns = self.turn_keys.len() as u64;
    }
}

fn add_names(sum: &mut Names, part: Names) {
    for (name, count) in part {
        *sum.entry(name).or_default() += count;
    }
}
