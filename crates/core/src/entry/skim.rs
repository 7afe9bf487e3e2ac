//! One line into an [`Entry`]: a single walk that keeps slices of what the rooms to the right ask for.

use super::block::{Block, Content};
use super::json::{JsonError, JsonResult, JsonScanner};
use super::json_str::JsonStr;
use super::key::{Key, KeyPredictor};
use super::kind::{BlockKind, Kind};
use super::reader_cache::{EnvelopeCache, EnvelopeField, LastUsage, NestedCache, ReaderCache, set};
use super::record::{Entry, Flags, Message};
use super::timestamp::Timestamp;
use super::usage::Usage;

/// Reads one object from the start of `bytes` into `entry`, which must be fresh; returns where it ended.
pub(crate) fn object<'a>(
    bytes: &'a [u8],
    memory: &mut ReaderCache,
    entry: &mut Entry<'a>,
) -> Result<usize, JsonError> {
    let ReaderCache { frame, top, inner } = memory;
    frame.start();
    let mut skim = JsonScanner::new(bytes);
    if skim.next_token() != b'{' {
        // Walk the value all the same: what is no JSON at all must be told apart from what is no object.
        let value = skim.value();
        return Err(value.err().unwrap_or(JsonError { at: 0, cut: false }));
    }
    let start = skim.at();
    skim.members(top, |skim, key| member(skim, entry, frame, inner, key))?;
    entry.raw = &bytes[start..skim.at()];
    if entry.kind == Kind::AgentName {
        // An agent's name stands on ordinary lines of teams as well; there it is no title.
        entry.text = entry.text("agentName");
    }
    entry.control = skim.control;
    if skim.control.is_none() && !skim.surrogates {
        frame.keep(bytes);
    }
    entry.flags.set(Flags::SURROGATES, skim.surrogates);
    entry.depth = u32::try_from(skim.depth).unwrap_or(u32::MAX);
    Ok(skim.at())
}

#[inline]
fn member<'a>(
    skim: &mut JsonScanner<'a>,
    entry: &mut Entry<'a>,
    frame: &mut EnvelopeCache,
    inner: &mut NestedCache,
    key: Key,
) -> JsonResult<()> {
    match key {
        Key::Type => {
            entry.name = text(skim)?;
            entry.kind = entry.name.map_or(Kind::Missing, kind);
        }
        Key::Uuid => entry.uuid = some_text(skim)?,
        Key::ParentUuid => entry.parent = some_text(skim)?,
        Key::LogicalParentUuid => entry.logical_parent = some_text(skim)?,
        Key::UserType => {
            if !frame.recall(skim, entry) {
                framing(skim, entry, frame, EnvelopeField::UserType)?;
            }
        }
        Key::Message => message(skim, entry, inner)?,
        Key::Timestamp => {
            let value = skim.value()?;
            entry.timestamp = Some(value);
            entry.moment = moment(value);
        }
        Key::SessionId => framing(skim, entry, frame, EnvelopeField::Session)?,
        Key::ProcessId => entry.process_session_id = some_text(skim)?,
        Key::AgentId => entry.agent = some_text(skim)?,
        Key::Version => framing(skim, entry, frame, EnvelopeField::Version)?,
        Key::Cwd => framing(skim, entry, frame, EnvelopeField::Cwd)?,
        Key::GitBranch => framing(skim, entry, frame, EnvelopeField::GitBranch)?,
        Key::Slug => framing(skim, entry, frame, EnvelopeField::Slug)?,
        Key::Entrypoint => framing(skim, entry, frame, EnvelopeField::Entrypoint)?,
        Key::RequestId => entry.request = some_text(skim)?,
        Key::Subtype => entry.subtype = some_text(skim)?,
        Key::LeafUuid => entry.leaf = some_text(skim)?,
        Key::Summary | Key::CustomTitle | Key::AiTitle | Key::LastPrompt => entry.text = text(skim)?,
        Key::Attachment | Key::Data | Key::Snapshot => payload(skim, entry)?,
        Key::Content => entry.content = Some(skim.value()?),
        Key::ToolUseResult => entry.tool_use_result = Some(skim.value()?),
        Key::ForkedFrom => entry.forked_from = Some(skim.value()?),
        Key::CompactMetadata => entry.compact = Some(skim.value()?),
        Key::Origin => entry.origin = Some(skim.value()?),
        Key::ToolUseId => entry.tool_use = some_text(skim)?,
        Key::ParentToolUseId => entry.parent_tool_use = some_text(skim)?,
        Key::DurationMs => entry.duration_ms = count(skim.value()?),
        Key::IsSidechain => flag(skim, entry, Flags::SIDECHAIN)?,
        Key::IsMeta => flag(skim, entry, Flags::META)?,
        Key::IsCompactSummary => flag(skim, entry, Flags::COMPACT_SUMMARY)?,
        Key::IsApiErrorMessage => flag(skim, entry, Flags::API_ERROR)?,
        Key::IsSnapshotUpdate => flag(skim, entry, Flags::SNAPSHOT_UPDATE)?,
        Key::Explicit => flag(skim, entry, Flags::EXPLICIT)?,
        Key::PlanContent => {
            let is_text = skim.next_token() == b'"';
            skim.value()?;
            entry.flags.set(Flags::PLAN, is_text);
        }
        _ => {
            skim.value()?;
        }
    }
    Ok(())
}

/// Finds the type of a line; only a name that is not known can have escapes.
fn kind(name: JsonStr<'_>) -> Kind {
    match Kind::named(name.raw()) {
        Kind::Unknown => name.decode_with(Kind::named),
        known => known,
    }
}

/// Finds the type of a block, likewise.
fn block_kind(name: JsonStr<'_>) -> BlockKind {
    match BlockKind::named(name.raw()) {
        BlockKind::Unknown => name.decode_with(BlockKind::named),
        known => known,
    }
}

/// Takes a member that is likely to be the same on the next line.
fn framing<'a>(
    skim: &mut JsonScanner<'a>,
    entry: &mut Entry<'a>,
    frame: &mut EnvelopeCache,
    field: EnvelopeField,
) -> JsonResult<()> {
    let key_at = skim.key_at;
    if let Some(body) = skim.maybe_string()? {
        let end = skim.at() - 1;
        frame.note(field, key_at, end - body.len()..end);
        set(entry, field, JsonStr::new(body));
    } else {
        set(entry, field, JsonStr::new(b""));
    }
    Ok(())
}

/// Reads a timestamp: a text in most files, a number in an early description of the format.
fn moment(value: &[u8]) -> Option<Timestamp> {
    match JsonStr::of_value(value) {
        Some(text) => Timestamp::read(text),
        None => std::str::from_utf8(value).ok()?.parse().ok().and_then(Timestamp::from_number),
    }
}

fn text<'a>(skim: &mut JsonScanner<'a>) -> JsonResult<Option<JsonStr<'a>>> {
    Ok(skim.maybe_string()?.map(JsonStr::new))
}

/// Takes a text that means nothing when it is empty.
#[inline]
fn some_text<'a>(skim: &mut JsonScanner<'a>) -> JsonResult<Option<JsonStr<'a>>> {
    Ok(skim.maybe_string()?.filter(|body| !body.is_empty()).map(JsonStr::new))
}

fn flag(skim: &mut JsonScanner<'_>, entry: &mut Entry<'_>, flag: Flags) -> JsonResult<()> {
    let truth = skim.read_bool()?;
    entry.flags.set(flag, truth);
    Ok(())
}

/// Reads a whole number; `None` for anything else or past 64 bits.
pub(crate) fn count(value: &[u8]) -> Option<u64> {
    if value.is_empty() || value.len() > 20 {
        return None;
    }
    value.iter().try_fold(0u64, |sum, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

fn payload<'a>(skim: &mut JsonScanner<'a>, entry: &mut Entry<'a>) -> JsonResult<()> {
    if skim.next_token() != b'{' {
        entry.payload = Some(skim.value()?);
        entry.part = None;
        return Ok(());
    }
    let from = skim.at();
    let mut name = None;
    skim.object(|skim, key| {
        if JsonStr::new(key).is("type") {
            name = some_text(skim)?;
        } else {
            skim.value()?;
        }
        Ok(())
    })?;
    entry.payload = Some(skim.since(from));
    entry.part = name;
    Ok(())
}

fn message<'a>(skim: &mut JsonScanner<'a>, entry: &mut Entry<'a>, inner: &mut NestedCache) -> JsonResult<()> {
    // The last of several messages counts, with its own flags.
    entry.flags.set(Flags::BAD_COUNT, false);
    entry.flags.set(Flags::SYNTHETIC, false);
    if skim.next_token() != b'{' {
        skim.value()?;
        entry.message = None;
        return Ok(());
    }
    let mut odd = false;
    let message = entry.message.insert(Message::default());
    let NestedCache { message: habit, block, usage: usage_habit, last_usage } = inner;
    skim.members(habit, |skim, key| {
        match key {
            Key::Id => message.id = some_text(skim)?,
            Key::Role => message.role = some_text(skim)?,
            Key::Model => message.model = some_text(skim)?,
            Key::StopReason => message.stop_reason = some_text(skim)?,
            Key::Content => content(skim, &mut message.content, block)?,
            Key::Usage => {
                let said = usage(skim, &mut odd, usage_habit, last_usage)?;
                message.usage = said.map(|(usage, _)| usage);
                message.fast = said.is_some_and(|(_, fast)| fast);
            }
            _ => {
                skim.value()?;
            }
        }
        Ok(())
    })?;
    let synthetic = message.model.is_some_and(|model| model.is("<synthetic>"));
    entry.flags.set(Flags::SYNTHETIC, synthetic);
    entry.flags.set(Flags::BAD_COUNT, odd);
    Ok(())
}

/// Takes a value as content: a string or a list of blocks.
pub(crate) fn content<'a>(
    skim: &mut JsonScanner<'a>,
    content: &mut Content<'a>,
    habit: &mut KeyPredictor,
) -> JsonResult<()> {
    match skim.next_token() {
        b'"' => *content = Content::Text(JsonStr::new(skim.string()?)),
        b'[' => {
            let mut blocks = Vec::new();
            skim.array(|skim| {
                if skim.next_token() == b'{' {
                    blocks.push(Block::default());
                    let last = blocks.len() - 1;
                    block(skim, &mut blocks[last], habit)?;
                } else {
                    skim.value()?;
                }
                Ok(())
            })?;
            *content = Content::Blocks(blocks);
        }
        _ => {
            skim.value()?;
            *content = Content::None;
        }
    }
    Ok(())
}

/// Takes a content block whose brace is the next byte.
fn block<'a>(skim: &mut JsonScanner<'a>, block: &mut Block<'a>, habit: &mut KeyPredictor) -> JsonResult<()> {
    let from = skim.at();
    skim.members(habit, |skim, key| {
        match key {
            Key::Type => {
                block.name = text(skim)?;
                block.kind = block.name.map_or(BlockKind::Missing, block_kind);
            }
            Key::Id | Key::ResultId => block.id = some_text(skim)?.or(block.id),
            Key::Name | Key::ToolName => block.tool = some_text(skim)?.or(block.tool),
            // Some gateways write every field into every block: what is empty takes nothing's place.
            Key::Text | Key::Thinking | Key::Data => {
                let words = text(skim)?;
                let says = words.is_some_and(|words| !words.is_empty());
                block.words = if says { words } else { block.words.or(words) };
            }
            Key::Input | Key::Content | Key::Source => {
                let body = skim.value()?;
                block.body = block.body.filter(|_| body == b"null").or(Some(body));
            }
            Key::IsError => block.is_error = skim.read_bool()?,
            Key::Signature => block.signed = skim.maybe_string()?.is_some_and(|s| !s.is_empty()),
            _ => {
                skim.value()?;
            }
        }
        Ok(())
    })?;
    block.raw = skim.since(from);
    Ok(())
}

fn usage<'a>(
    skim: &mut JsonScanner<'a>,
    odd: &mut bool,
    habit: &mut KeyPredictor,
    last: &mut LastUsage,
) -> JsonResult<Option<(Usage, bool)>> {
    *odd = false;
    if skim.next_token() != b'{' {
        skim.value()?;
        return Ok(None);
    }
    if let Some(known) = last.recall(skim) {
        return Ok(Some(known));
    }
    let from = skim.at();
    let depth = std::mem::take(&mut skim.depth);
    let (mut usage, mut fast) = (Usage::default(), false);
    let mut take = |skim: &mut JsonScanner<'a>| -> JsonResult<u64> {
        let value = skim.value()?;
        Ok(count(value).unwrap_or_else(|| {
            *odd |= value != b"null";
            0
        }))
    };
    skim.members(habit, |skim, key| {
        match key {
            Key::InputTokens => usage.input = take(skim)?,
            Key::OutputTokens => usage.output = take(skim)?,
            Key::CacheWrite => usage.cache_write = take(skim)?,
            Key::CacheRead => usage.cache_read = take(skim)?,
            Key::CacheCreation => usage.cache_write_1h = within(skim, Key::CacheWrite1h, &mut take)?,
            Key::ServerToolUse => usage.web_searches = within(skim, Key::WebSearches, &mut take)?,
            Key::Speed => fast = skim.value()? == b"\"fast\"",
            _ => {
                skim.value()?;
            }
        }
        Ok(())
    })?;
    if !*odd && skim.control.is_none() && !skim.surrogates {
        last.keep(skim.since(from), (usage, fast), skim.depth);
    }
    skim.depth = skim.depth.max(depth);
    Ok(Some((usage, fast)))
}

/// Takes a value and one count within it, where it is an object; else the count is 0.
fn within<'a>(
    skim: &mut JsonScanner<'a>,
    wanted: Key,
    take: &mut impl FnMut(&mut JsonScanner<'a>) -> JsonResult<u64>,
) -> JsonResult<u64> {
    let mut count = 0;
    if skim.next_token() != b'{' {
        skim.value()?;
        return Ok(count);
    }
    skim.object(|skim, key| {
        let key =
            if skim.escaped { Key::named(JsonStr::new(key).decode().as_bytes()) } else { Key::named(key) };
        if key == wanted {
            count = take(skim)?;
        } else {
            skim.value()?;
        }
        Ok(())
    })?;
    Ok(count)
}
