//! Reads one line into an [`Entry`] in a single pass, as slices of the fields that other modules use.

use super::block::{Block, Content};
use super::json::{JsonError, JsonResult, JsonScanner};
use super::json_str::JsonStr;
use super::key::{KeyPredictor, KnownKey};
use super::kind::{BlockKind, Kind};
use super::reader_cache::{
    EnvelopeCache, EnvelopeField, LastUsage, NestedCache, ReaderCache, set_envelope_field,
};
use super::record::{Entry, Flags, Message};
use super::timestamp::Timestamp;
use super::usage::Usage;

/// Reads one object from the start of `bytes` into `entry`, which must be new. Returns the index after the object.
///
/// Returns `Err` if the bytes do not start with valid JSON, or with a value other than an object (then with offset 0).
pub(crate) fn skim_entry<'a>(
    bytes: &'a [u8],
    cache: &mut ReaderCache,
    entry: &mut Entry<'a>,
) -> Result<usize, JsonError> {
    let ReaderCache { envelope, top_keys, nested } = cache;
    envelope.start_line();
    let mut scanner = JsonScanner::new(bytes);
    if scanner.next_token() != b'{' {
        // Scan the value anyway, to distinguish invalid JSON from JSON that is not an object.
        let value = scanner.read_value();
        return Err(value.err().unwrap_or(JsonError { offset: 0, is_truncated: false }));
    }
    let start = scanner.position();
    scanner
        .read_known_members(top_keys, |scanner, key| skim_member(scanner, entry, envelope, nested, key))?;
    entry.raw = &bytes[start..scanner.position()];
    if entry.kind == Kind::AgentName {
        // Ordinary lines of agent teams have an `agentName` too, but there it is not a title.
        entry.text = entry.text_field("agentName");
    }
    entry.control_byte = scanner.control_byte;
    if scanner.control_byte.is_none() && !scanner.has_surrogates {
        envelope.store(bytes);
    }
    entry.flags.set(Flags::SURROGATES, scanner.has_surrogates);
    entry.depth = u32::try_from(scanner.depth).unwrap_or(u32::MAX);
    Ok(scanner.position())
}

/// Reads the value of a top-level field into `entry`. If a field occurs several times, the last one counts.
#[inline]
fn skim_member<'a>(
    scanner: &mut JsonScanner<'a>,
    entry: &mut Entry<'a>,
    envelope: &mut EnvelopeCache,
    nested: &mut NestedCache,
    key: KnownKey,
) -> JsonResult<()> {
    match key {
        KnownKey::Type => {
            entry.type_name = skim_text(scanner)?;
            entry.kind = entry.type_name.map_or(Kind::Missing, parse_kind);
        }
        KnownKey::Uuid => entry.uuid = skim_nonempty_text(scanner)?,
        KnownKey::ParentUuid => entry.parent_uuid = skim_nonempty_text(scanner)?,
        KnownKey::LogicalParentUuid => entry.logical_parent_uuid = skim_nonempty_text(scanner)?,
        KnownKey::UserType => {
            if !envelope.reuse(scanner, entry) {
                skim_envelope_field(scanner, entry, envelope, EnvelopeField::UserType)?;
            }
        }
        KnownKey::Message => skim_message(scanner, entry, nested)?,
        KnownKey::Timestamp => {
            let value = scanner.read_value()?;
            entry.timestamp = Some(value);
            entry.parsed_time = parse_timestamp(value);
        }
        KnownKey::SessionId => skim_envelope_field(scanner, entry, envelope, EnvelopeField::Session)?,
        KnownKey::ProcessSessionId => entry.process_session_id = skim_nonempty_text(scanner)?,
        KnownKey::AgentId => entry.agent_id = skim_nonempty_text(scanner)?,
        KnownKey::Version => skim_envelope_field(scanner, entry, envelope, EnvelopeField::Version)?,
        KnownKey::Cwd => skim_envelope_field(scanner, entry, envelope, EnvelopeField::Cwd)?,
        KnownKey::GitBranch => skim_envelope_field(scanner, entry, envelope, EnvelopeField::GitBranch)?,
        KnownKey::Slug => skim_envelope_field(scanner, entry, envelope, EnvelopeField::Slug)?,
        KnownKey::Entrypoint => skim_envelope_field(scanner, entry, envelope, EnvelopeField::Entrypoint)?,
        KnownKey::RequestId => entry.request_id = skim_nonempty_text(scanner)?,
        KnownKey::Subtype => entry.subtype = skim_nonempty_text(scanner)?,
        KnownKey::LeafUuid => entry.leaf_uuid = skim_nonempty_text(scanner)?,
        KnownKey::Summary | KnownKey::CustomTitle | KnownKey::AiTitle | KnownKey::LastPrompt => {
            entry.text = skim_text(scanner)?;
        }
        KnownKey::Attachment | KnownKey::Data | KnownKey::Snapshot => skim_payload(scanner, entry)?,
        KnownKey::Content => entry.content = Some(scanner.read_value()?),
        KnownKey::ToolUseResult => entry.tool_use_result = Some(scanner.read_value()?),
        KnownKey::ForkedFrom => entry.forked_from = Some(scanner.read_value()?),
        KnownKey::CompactMetadata => entry.compact_metadata = Some(scanner.read_value()?),
        KnownKey::Origin => entry.origin = Some(scanner.read_value()?),
        KnownKey::ToolUseId => entry.tool_use_id = skim_nonempty_text(scanner)?,
        KnownKey::ParentToolUseId => entry.parent_tool_use_id = skim_nonempty_text(scanner)?,
        KnownKey::DurationMs => entry.duration_ms = parse_count(scanner.read_value()?),
        KnownKey::IsSidechain => skim_flag(scanner, entry, Flags::SIDECHAIN)?,
        KnownKey::IsMeta => skim_flag(scanner, entry, Flags::META)?,
        KnownKey::IsCompactSummary => skim_flag(scanner, entry, Flags::COMPACT_SUMMARY)?,
        KnownKey::IsApiErrorMessage => skim_flag(scanner, entry, Flags::API_ERROR)?,
        KnownKey::IsSnapshotUpdate => skim_flag(scanner, entry, Flags::SNAPSHOT_UPDATE)?,
        KnownKey::Explicit => skim_flag(scanner, entry, Flags::EXPLICIT)?,
        KnownKey::Rewound => skim_flag(scanner, entry, Flags::REWOUND)?,
        KnownKey::PlanContent => {
            let is_text = scanner.next_token() == b'"';
            scanner.read_value()?;
            entry.flags.set(Flags::PLAN, is_text);
        }
        _ => {
            scanner.read_value()?;
        }
    }
    Ok(())
}

/// Returns the type of a line. Only a name that is not found as written can have escapes.
fn parse_kind(name: JsonStr<'_>) -> Kind {
    match Kind::from_name(name.raw()) {
        Kind::Unknown => name.decode_with(Kind::from_name),
        known => known,
    }
}

/// Returns the type of a block. Only a name that is not found as written can have escapes.
fn parse_block_kind(name: JsonStr<'_>) -> BlockKind {
    match BlockKind::from_name(name.raw()) {
        BlockKind::Unknown => name.decode_with(BlockKind::from_name),
        known => known,
    }
}

/// Reads an envelope field, and adds it to the run that the next line can reuse. A value other than a string is missing.
fn skim_envelope_field<'a>(
    scanner: &mut JsonScanner<'a>,
    entry: &mut Entry<'a>,
    envelope: &mut EnvelopeCache,
    field: EnvelopeField,
) -> JsonResult<()> {
    let key_start = scanner.key_start;
    if let Some(body) = scanner.read_optional_string()? {
        let end = scanner.position() - 1;
        envelope.add_field(field, key_start, end - body.len()..end);
        set_envelope_field(entry, field, JsonStr::new(body));
    } else {
        set_envelope_field(entry, field, JsonStr::new(b""));
    }
    Ok(())
}

/// Parses a raw timestamp: a string in most files, a number in an early description of the format.
///
/// Returns `None` if it is of another type or malformed.
fn parse_timestamp(value: &[u8]) -> Option<Timestamp> {
    match JsonStr::from_value(value) {
        Some(text) => Timestamp::parse(text),
        None => std::str::from_utf8(value).ok()?.parse().ok().and_then(Timestamp::from_number),
    }
}

/// Reads any value. Returns `None` if it is not a string.
fn skim_text<'a>(scanner: &mut JsonScanner<'a>) -> JsonResult<Option<JsonStr<'a>>> {
    Ok(scanner.read_optional_string()?.map(JsonStr::new))
}

/// Reads any value. Returns `None` if it is not a string or is empty.
#[inline]
fn skim_nonempty_text<'a>(scanner: &mut JsonScanner<'a>) -> JsonResult<Option<JsonStr<'a>>> {
    Ok(scanner.read_optional_string()?.filter(|body| !body.is_empty()).map(JsonStr::new))
}

/// Sets `flag` if the value is `true`, and clears it for any other value.
fn skim_flag(scanner: &mut JsonScanner<'_>, entry: &mut Entry<'_>, flag: Flags) -> JsonResult<()> {
    let is_set = scanner.read_bool()?;
    entry.flags.set(flag, is_set);
    Ok(())
}

/// Parses a whole number of at most 20 digits. Returns `None` for anything else and for numbers over 64 bits.
pub(crate) fn parse_count(value: &[u8]) -> Option<u64> {
    if value.is_empty() || value.len() > 20 {
        return None;
    }
    value.iter().try_fold(0u64, |sum, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

/// Reads `attachment`, `data` or `snapshot` into `payload`, and the `type` in it into `payload_type`.
fn skim_payload<'a>(scanner: &mut JsonScanner<'a>, entry: &mut Entry<'a>) -> JsonResult<()> {
    if scanner.next_token() != b'{' {
        entry.payload = Some(scanner.read_value()?);
        entry.payload_type = None;
        return Ok(());
    }
    let from = scanner.position();
    let mut payload_type = None;
    scanner.read_members(|scanner, key| {
        if JsonStr::new(key).equals("type") {
            payload_type = skim_nonempty_text(scanner)?;
        } else {
            scanner.read_value()?;
        }
        Ok(())
    })?;
    entry.payload = Some(scanner.slice_from(from));
    entry.payload_type = payload_type;
    Ok(())
}

/// Reads `message` into `entry`. A value that is not an object counts as missing.
fn skim_message<'a>(
    scanner: &mut JsonScanner<'a>,
    entry: &mut Entry<'a>,
    nested: &mut NestedCache,
) -> JsonResult<()> {
    // If the line has several `message` fields, the last one counts, with its own flags.
    entry.flags.set(Flags::BAD_COUNT, false);
    entry.flags.set(Flags::SYNTHETIC, false);
    if scanner.next_token() != b'{' {
        scanner.read_value()?;
        entry.message = None;
        return Ok(());
    }
    let mut has_bad_count = false;
    let message = entry.message.insert(Message::default());
    let NestedCache { message: keys, block, usage: usage_keys, last_usage } = nested;
    scanner.read_known_members(keys, |scanner, key| {
        match key {
            KnownKey::Id => message.id = skim_nonempty_text(scanner)?,
            KnownKey::Role => message.role = skim_nonempty_text(scanner)?,
            KnownKey::Model => message.model = skim_nonempty_text(scanner)?,
            KnownKey::StopReason => message.stop_reason = skim_nonempty_text(scanner)?,
            KnownKey::Content => skim_content(scanner, &mut message.content, block)?,
            KnownKey::Usage => {
                let parsed = skim_usage(scanner, &mut has_bad_count, usage_keys, last_usage)?;
                message.usage = parsed.map(|(usage, _)| usage);
                message.is_fast = parsed.is_some_and(|(_, is_fast)| is_fast);
            }
            _ => {
                scanner.read_value()?;
            }
        }
        Ok(())
    })?;
    let is_synthetic = message.model.is_some_and(|model| model.equals("<synthetic>"));
    entry.flags.set(Flags::SYNTHETIC, is_synthetic);
    entry.flags.set(Flags::BAD_COUNT, has_bad_count);
    Ok(())
}

/// Reads message content: a string or a list of blocks. Any other value sets `Content::None`.
pub(crate) fn skim_content<'a>(
    scanner: &mut JsonScanner<'a>,
    content: &mut Content<'a>,
    keys: &mut KeyPredictor,
) -> JsonResult<()> {
    match scanner.next_token() {
        b'"' => *content = Content::Text(JsonStr::new(scanner.read_string()?)),
        b'[' => {
            let mut blocks = Vec::new();
            scanner.read_items(|scanner| {
                if scanner.next_token() == b'{' {
                    blocks.push(Block::default());
                    let last = blocks.len() - 1;
                    skim_block(scanner, &mut blocks[last], keys)?;
                } else {
                    scanner.read_value()?;
                }
                Ok(())
            })?;
            *content = Content::Blocks(blocks);
        }
        _ => {
            scanner.read_value()?;
            *content = Content::None;
        }
    }
    Ok(())
}

/// Reads the content block that starts with the next byte, `{`, into `block`.
fn skim_block<'a>(
    scanner: &mut JsonScanner<'a>,
    block: &mut Block<'a>,
    keys: &mut KeyPredictor,
) -> JsonResult<()> {
    let from = scanner.position();
    scanner.read_known_members(keys, |scanner, key| {
        match key {
            KnownKey::Type => {
                block.type_name = skim_text(scanner)?;
                block.kind = block.type_name.map_or(BlockKind::Missing, parse_block_kind);
            }
            KnownKey::Id | KnownKey::ResultId => block.id = skim_nonempty_text(scanner)?.or(block.id),
            KnownKey::Name | KnownKey::ToolName => {
                block.tool_name = skim_nonempty_text(scanner)?.or(block.tool_name);
            }
            // Some gateways write every field into every block, so an empty field must not replace one with text.
            KnownKey::Text | KnownKey::Thinking | KnownKey::Data => {
                let text = skim_text(scanner)?;
                let has_text = text.is_some_and(|text| !text.is_empty());
                block.text = if has_text { text } else { block.text.or(text) };
            }
            KnownKey::Input | KnownKey::Content | KnownKey::Source => {
                let body = scanner.read_value()?;
                block.body = block.body.filter(|_| body == b"null").or(Some(body));
            }
            KnownKey::IsError => block.is_error = scanner.read_bool()?,
            KnownKey::Signature => {
                block.signed = scanner.read_optional_string()?.is_some_and(|s| !s.is_empty());
            }
            _ => {
                scanner.read_value()?;
            }
        }
        Ok(())
    })?;
    block.raw = scanner.slice_from(from);
    Ok(())
}

/// Reads `usage`. Returns the token counts, and whether the response was made in fast mode.
///
/// Returns `None` if the value is not an object. A malformed count is read as 0 and sets `has_bad_count`.
fn skim_usage<'a>(
    scanner: &mut JsonScanner<'a>,
    has_bad_count: &mut bool,
    keys: &mut KeyPredictor,
    last: &mut LastUsage,
) -> JsonResult<Option<(Usage, bool)>> {
    *has_bad_count = false;
    if scanner.next_token() != b'{' {
        scanner.read_value()?;
        return Ok(None);
    }
    if let Some(known) = last.reuse(scanner) {
        return Ok(Some(known));
    }
    let from = scanner.position();
    let depth = std::mem::take(&mut scanner.depth);
    let (mut usage, mut is_fast) = (Usage::default(), false);
    let mut read_count = |scanner: &mut JsonScanner<'a>| -> JsonResult<u64> {
        let value = scanner.read_value()?;
        Ok(parse_count(value).unwrap_or_else(|| {
            *has_bad_count |= value != b"null";
            0
        }))
    };
    scanner.read_known_members(keys, |scanner, key| {
        match key {
            KnownKey::InputTokens => usage.input = read_count(scanner)?,
            KnownKey::OutputTokens => usage.output = read_count(scanner)?,
            KnownKey::CacheWrite => usage.cache_write = read_count(scanner)?,
            KnownKey::CacheRead => usage.cache_read = read_count(scanner)?,
            KnownKey::CacheCreation => {
                usage.cache_write_1h = skim_nested_count(scanner, KnownKey::CacheWrite1h, &mut read_count)?;
            }
            KnownKey::ServerToolUse => {
                usage.web_searches = skim_nested_count(scanner, KnownKey::WebSearches, &mut read_count)?;
            }
            KnownKey::Speed => is_fast = scanner.read_value()? == b"\"fast\"",
            _ => {
                scanner.read_value()?;
            }
        }
        Ok(())
    })?;
    if !*has_bad_count && scanner.control_byte.is_none() && !scanner.has_surrogates {
        last.store(scanner.slice_from(from), (usage, is_fast), scanner.depth);
    }
    scanner.depth = scanner.depth.max(depth);
    Ok(Some((usage, is_fast)))
}

/// Reads a value and returns its member `wanted` as a count. Returns 0 if the value is not an object or has no such member.
fn skim_nested_count<'a>(
    scanner: &mut JsonScanner<'a>,
    wanted: KnownKey,
    read_count: &mut impl FnMut(&mut JsonScanner<'a>) -> JsonResult<u64>,
) -> JsonResult<u64> {
    let mut count = 0;
    if scanner.next_token() != b'{' {
        scanner.read_value()?;
        return Ok(count);
    }
    scanner.read_members(|scanner, key| {
        let key = if scanner.has_escapes {
            KnownKey::from_name(JsonStr::new(key).decode().as_bytes())
        } else {
            KnownKey::from_name(key)
        };
        if key == wanted {
            count = read_count(scanner)?;
        } else {
            scanner.read_value()?;
        }
        Ok(())
    })?;
    Ok(count)
}
