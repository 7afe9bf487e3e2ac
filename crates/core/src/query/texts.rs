//! Lists the texts of an entry as clients display them, each with its source.

use std::borrow::Cow;

use crate::entry::{BlockKind, Content, Entry, EntryRole, JsonStr, Kind, parse_content, value_text};

/// The part of a session to which a text belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextSource {
    /// Text of the user: prompts, queued prompts, commands.
    Prompt,
    /// Text of the model.
    Answer,
    /// Thinking of the model.
    Thinking,
    /// The input of a tool.
    Tool,
    /// The result of a tool.
    Result,
    /// Text of the client: command output, notices, errors, and messages that it writes as the user.
    System,
    /// Summaries, titles and links to pull requests.
    Summary,
    /// Context that the client adds for the model or records for itself: attachments, progress, unknown
    /// lines.
    Context,
}

impl TextSource {
    /// All sources, in the order of their discriminants.
    pub const ALL: &[TextSource] = &[
        TextSource::Prompt,
        TextSource::Answer,
        TextSource::Thinking,
        TextSource::Tool,
        TextSource::Result,
        TextSource::System,
        TextSource::Summary,
        TextSource::Context,
    ];

    /// Returns the name used in output, which `role:` accepts too.
    pub fn name(self) -> &'static str {
        match self {
            TextSource::Prompt => "prompt",
            TextSource::Answer => "answer",
            TextSource::Thinking => "thinking",
            TextSource::Tool => "tool",
            TextSource::Result => "result",
            TextSource::System => "system",
            TextSource::Summary => "summary",
            TextSource::Context => "context",
        }
    }
}

/// The texts that a search covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TextScope {
    /// Texts of every source except [`TextSource::Context`].
    #[default]
    Conversation,
    /// Texts of every source.
    All,
}

/// Calls `visit` with each decoded text of an entry in `scope`, in the order of the line. Texts may be empty.
///
/// The arguments are the source, the tool name if the text is part of a tool's input, and the text.
pub fn for_each_text<'a>(
    entry: &Entry<'a>,
    scope: TextScope,
    mut visit: impl FnMut(TextSource, Option<JsonStr<'a>>, Cow<'a, str>),
) {
    let role = entry.role();
    match entry.kind {
        Kind::User | Kind::Assistant => visit_message_texts(entry, role, &mut visit),
        Kind::System => {
            let error = || entry.field("error");
            if let Some(content) = entry.content.or_else(error) {
                visit(source_for_role(role), None, value_text(content));
            }
        }
        Kind::Attachment if matches!(role, EntryRole::Prompt | EntryRole::Notification) => {
            let prompt = entry.payload.and_then(|body| crate::entry::find_member(body, "prompt"));
            for text in prompt.map(parse_content).iter().flat_map(Content::texts) {
                visit(source_for_role(role), None, text.decode());
            }
        }
        Kind::Summary | Kind::CustomTitle | Kind::AiTitle => {
            if let Some(text) = entry.text {
                visit(TextSource::Summary, None, text.decode());
            }
        }
        Kind::PrLink => {
            let fields = ["prUrl", "prRepository", "prNumber"].map(|name| entry.field(name));
            fields
                .into_iter()
                .flatten()
                .for_each(|field| visit(TextSource::Summary, None, value_text(field)));
        }
        Kind::QueueOperation => {
            if let Some(content) = entry.content {
                visit(TextSource::Prompt, None, value_text(content));
            }
        }
        _ if scope == TextScope::Conversation => {}
        Kind::Attachment | Kind::Progress => {
            for text in collect_strings(entry.payload.unwrap_or_default()) {
                visit(TextSource::Context, None, text.decode());
            }
        }
        Kind::LastPrompt => {
            visit(TextSource::Context, None, entry.text.map(JsonStr::decode).unwrap_or_default());
        }
        Kind::Unknown | Kind::Missing => {
            for text in collect_strings(entry.raw) {
                visit(TextSource::Context, None, text.decode());
            }
        }
        _ => {}
    }
}

/// Returns the source of a text that is neither an answer nor next to a tool result.
fn source_for_role(role: EntryRole) -> TextSource {
    match role {
        EntryRole::Prompt | EntryRole::ImageOnly | EntryRole::Command | EntryRole::Shell => {
            TextSource::Prompt
        }
        EntryRole::CompactSummary => TextSource::Summary,
        _ => TextSource::System,
    }
}

/// Calls `visit` with the texts of a user or assistant message. See [`for_each_text`].
fn visit_message_texts<'a>(
    entry: &Entry<'a>,
    role: EntryRole,
    visit: &mut impl FnMut(TextSource, Option<JsonStr<'a>>, Cow<'a, str>),
) {
    let Some(message) = &entry.message else { return };
    let source = match role {
        EntryRole::Answer => TextSource::Answer,
        // The user wrote the text next to a result, unless it is in brackets: then the client did.
        EntryRole::Results => TextSource::Prompt,
        role => source_for_role(role),
    };
    if let Content::Text(text) = &message.content {
        visit(source, None, text.decode());
    }
    for block in message.content.blocks() {
        match block.kind {
            BlockKind::Text => {
                let text = block.text.map(JsonStr::decode).unwrap_or_default();
                let is_by_client = role == EntryRole::Results && text.starts_with(['<', '[']);
                visit(if is_by_client { TextSource::System } else { source }, None, text);
            }
            BlockKind::Thinking => {
                visit(TextSource::Thinking, None, block.text.map(JsonStr::decode).unwrap_or_default());
            }
            BlockKind::ToolUse | BlockKind::ServerToolUse => {
                for text in collect_strings(block.body.unwrap_or_default()) {
                    visit(TextSource::Tool, block.tool_name, text.decode());
                }
            }
            BlockKind::ToolResult => {
                for text in block.result_content().texts() {
                    visit(TextSource::Result, None, text.decode());
                }
            }
            _ => {}
        }
    }
}

/// Returns every string of a JSON value that is not a key, at any depth.
fn collect_strings(json: &[u8]) -> Vec<JsonStr<'_>> {
    let mut strings = Vec::new();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'"', &json[at..]).map(|offset| at + offset + 1) {
        let Some(close) = find_string_end(json, open) else { break };
        at = close + 1;
        let next = json[at..].iter().find(|byte| !byte.is_ascii_whitespace());
        if next != Some(&b':') {
            strings.push(JsonStr::new(&json[open..close]));
        }
    }
    strings
}

/// Returns the byte index of the closing quote of the string body that begins at `from`. Returns `None` if it is
/// unclosed.
fn find_string_end(json: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr2(b'"', b'\\', json.get(at..)?)?;
        if json[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::collect_strings;

    #[test]
    fn collected_strings_are_values_not_keys() {
        let json = br#"{"a":"one","b" : ["two \"q\" \\",{"c":3,"d":"e:f"}],"g":"","torn":"x"#;
        let strings: Vec<String> =
            collect_strings(json).into_iter().map(|text| text.decode().into_owned()).collect();
        assert_eq!(strings, ["one", "two \"q\" \\", "e:f", ""]);
    }
}
