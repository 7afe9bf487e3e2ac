//! The texts of an entry as a reader sees them, each with who says it.

use std::borrow::Cow;

use crate::entry::{BlockKind, Content, Entry, EntryRole, JsonStr, Kind, content_of, value_text};

/// Where in an entry a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextSource {
    /// Words of the user: prompts, queued prompts, commands.
    Prompt,
    /// Words of the model.
    Answer,
    /// Its thoughts.
    Thinking,
    /// The input of a tool.
    Tool,
    /// What a tool answered.
    Result,
    /// The client: output of commands, notices, errors, what it says in the user's name.
    System,
    /// Summaries and titles.
    Summary,
    /// What the client adds for the model or keeps for itself: attachments, progress, unknown lines.
    Context,
}

impl TextSource {
    /// Every one.
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

    /// Returns a name for output.
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

/// How far a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// What is told of a conversation.
    #[default]
    Told,
    /// Also what stands beside it: [`Source::Context`].
    All,
}

/// Shows every text of an entry, decoded, with the tool it belongs to.
pub fn for_each_text<'a>(
    entry: &Entry<'a>,
    scope: Scope,
    mut each: impl FnMut(TextSource, Option<JsonStr<'a>>, Cow<'a, str>),
) {
    let voice = entry.voice();
    match entry.kind {
        Kind::User | Kind::Assistant => message(entry, voice, &mut each),
        Kind::System => {
            let error = || entry.field("error");
            if let Some(content) = entry.content.or_else(error) {
                each(system(voice), None, value_text(content));
            }
        }
        Kind::Attachment if matches!(voice, EntryRole::Prompt | EntryRole::Notification) => {
            let prompt = entry.payload.and_then(|body| crate::entry::member(body, "prompt"));
            for text in prompt.map(content_of).iter().flat_map(Content::texts) {
                each(system(voice), None, text.decode());
            }
        }
        Kind::Summary | Kind::CustomTitle | Kind::AiTitle => {
            if let Some(words) = entry.text {
                each(TextSource::Summary, None, words.decode());
            }
        }
        Kind::QueueOperation => {
            if let Some(content) = entry.content {
                each(TextSource::Prompt, None, value_text(content));
            }
        }
        _ if scope == Scope::Told => {}
        Kind::Attachment | Kind::Progress => {
            for text in strings(entry.payload.unwrap_or_default()) {
                each(TextSource::Context, None, text.decode());
            }
        }
        Kind::LastPrompt => {
            each(TextSource::Context, None, entry.text.map(JsonStr::decode).unwrap_or_default())
        }
        Kind::Unknown | Kind::Missing => {
            for text in strings(entry.raw) {
                each(TextSource::Context, None, text.decode());
            }
        }
        _ => {}
    }
}

fn system(voice: EntryRole) -> TextSource {
    match voice {
        EntryRole::Prompt | EntryRole::ImageOnly | EntryRole::Command | EntryRole::Shell => {
            TextSource::Prompt
        }
        EntryRole::CompactSummary => TextSource::Summary,
        _ => TextSource::System,
    }
}

fn message<'a>(
    entry: &Entry<'a>,
    voice: EntryRole,
    each: &mut impl FnMut(TextSource, Option<JsonStr<'a>>, Cow<'a, str>),
) {
    let Some(message) = &entry.message else { return };
    let said = match voice {
        EntryRole::Answer => TextSource::Answer,
        // Words beside a result are the user's, or in brackets the client's.
        EntryRole::Results => TextSource::Prompt,
        voice => system(voice),
    };
    if let Content::Text(text) = &message.content {
        each(said, None, text.decode());
    }
    for block in message.content.blocks() {
        match block.kind {
            BlockKind::Text => {
                let text = block.words.map(JsonStr::decode).unwrap_or_default();
                let is_client = voice == EntryRole::Results && text.starts_with(['<', '[']);
                each(if is_client { TextSource::System } else { said }, None, text);
            }
            BlockKind::Thinking => {
                each(TextSource::Thinking, None, block.words.map(JsonStr::decode).unwrap_or_default());
            }
            BlockKind::ToolUse | BlockKind::ServerToolUse => {
                for text in strings(block.body.unwrap_or_default()) {
                    each(TextSource::Tool, block.tool, text.decode());
                }
            }
            BlockKind::ToolResult => {
                for text in block.result().texts() {
                    each(TextSource::Result, None, text.decode());
                }
            }
            _ => {}
        }
    }
}

/// Returns every string of a JSON value that is not a key, however deep it stands.
fn strings(json: &[u8]) -> Vec<JsonStr<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'"', &json[at..]).map(|k| at + k + 1) {
        let Some(close) = end_of_string(json, open) else { break };
        at = close + 1;
        let next = json[at..].iter().find(|byte| !byte.is_ascii_whitespace());
        if next != Some(&b':') {
            found.push(JsonStr::new(&json[open..close]));
        }
    }
    found
}

/// Finds the quote that ends the string whose body begins at `from`.
fn end_of_string(json: &[u8], from: usize) -> Option<usize> {
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
    use super::strings;

    #[test]
    fn strings_are_values_not_keys() {
        let json = br#"{"a":"one","b" : ["two \"q\" \\",{"c":3,"d":"e:f"}],"g":"","torn":"x"#;
        let found: Vec<String> = strings(json).into_iter().map(|text| text.decode().into_owned()).collect();
        assert_eq!(found, ["one", "two \"q\" \\", "e:f", ""]);
    }
}
