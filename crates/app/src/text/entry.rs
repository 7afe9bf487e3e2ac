//! Text of entries and turns: one-line previews, footers, compactions, notices.

use rethread_engine::core::entry::{EntryRole, Kind};
use rethread_engine::core::turn::{Turn, extract_tag};
use rethread_engine::ops::{EntryPreview, PreviewedEntry};

use super::clean;
use super::figures::{count_noun, format_duration, format_tokens};
use super::summary;

/// Formats the preview of an entry on one line. Entries other than prompts and compactions begin with their role.
///
/// Paths below `folder` become relative to it. Returns `(no text)` if there is neither a role nor a text.
pub(crate) fn format_entry_line(entry: &PreviewedEntry, role: EntryRole, kind: Kind, folder: &str) -> String {
    let text = preview_text(&entry.preview, folder);
    let prefix = match role {
        EntryRole::Prompt | EntryRole::ImageOnly | EntryRole::Command | EntryRole::Shell => String::new(),
        EntryRole::CompactBoundary => String::new(),
        EntryRole::Structural if entry.subtype.is_empty() => kind.name().to_owned(),
        EntryRole::Structural => clean::line(&format!("{} {}", kind.name(), entry.subtype)),
        role => role_label(role).to_owned(),
    };
    match (prefix.is_empty(), text.is_empty()) {
        (true, true) => "(no text)".to_owned(),
        (true, false) => text,
        (false, true) => prefix,
        (false, false) => format!("{prefix}: {text}"),
    }
}

/// Returns the name of a role as shown to users.
pub(crate) fn role_label(role: EntryRole) -> &'static str {
    match role {
        EntryRole::CompactSummary => "summary",
        EntryRole::CompactBoundary => "compaction",
        EntryRole::SyntheticReply => "synthetic reply",
        EntryRole::ApiError => "API error",
        role => role.name(),
    }
}

/// Formats a preview on one line: a tool call by its name and summary, a compaction by its sizes.
fn preview_text(preview: &EntryPreview, folder: &str) -> String {
    match preview {
        EntryPreview::Text(text) => clean::line(text),
        EntryPreview::Media(media) => format!("[{}]", clean::line(media)),
        EntryPreview::Thinking(text) if text.is_empty() => "∴ thinking".to_owned(),
        EntryPreview::Thinking(text) => format!("∴ {}", clean::line(text)),
        EntryPreview::ToolCall(call) => {
            format!("{}  {}", clean::line(&call.name), summary::summarize_call(call, folder))
                .trim_end()
                .to_owned()
        }
        EntryPreview::Compaction(trigger, before, after) => compaction_text(trigger, *before, *after),
        EntryPreview::Empty => String::new(),
    }
}

/// Describes a compaction: `compacted (auto), 150k → 3.1k tokens`. `before` and `after` are context sizes in tokens.
fn compaction_text(trigger: &str, before: Option<u64>, after: Option<u64>) -> String {
    let trigger = if trigger.is_empty() { String::new() } else { format!(" ({})", clean::line(trigger)) };
    let sizes = match (before, after) {
        (Some(before), Some(after)) => {
            format!(", {} → {} tokens", format_tokens(before), format_tokens(after))
        }
        (Some(before), None) => format!(", {} tokens before", format_tokens(before)),
        _ => String::new(),
    };
    format!("compacted{trigger}{sizes}")
}

/// Returns the facts below a turn, in order: models, number of responses, tokens, duration.
///
/// Returns an empty list if the turn has no response. The duration is omitted if it is unknown.
pub(crate) fn build_turn_footer(turn: &Turn) -> Vec<String> {
    if turn.responses == 0 {
        return Vec::new();
    }
    let usage = &turn.usage;
    let span =
        turn.started_at.zip(turn.ended_at).and_then(|(start, end)| u64::try_from(end.0 - start.0).ok());
    let mut facts: Vec<String> = turn.models.iter().map(|model| clean::line(model)).collect();
    facts.push(count_noun(turn.responses as u64, "response"));
    facts.push(format!("{} in, {} out", format_tokens(usage.total_input()), format_tokens(usage.output)));
    facts.extend(turn.duration_ms.or(span.filter(|span| *span > 0)).map(format_duration));
    facts
}

/// Returns the label of a compaction. `micro` is `true` if the client only cleared old tool results.
pub(crate) fn compaction_label(micro: bool) -> &'static str {
    if micro { "old tool results were cleared here" } else { "the conversation was compacted here" }
}

/// Returns the trigger of a compaction and one text about the context size before and after it, in tokens.
/// Unknown facts are omitted.
pub(crate) fn compaction_facts(trigger: &str, before: Option<u64>, after: Option<u64>) -> Vec<String> {
    let sizes = before.map(|before| match after {
        Some(after) => format!("{} → {} tokens", format_tokens(before), format_tokens(after)),
        None => format!("{} tokens before", format_tokens(before)),
    });
    Some(clean::line(trigger)).filter(|trigger| !trigger.is_empty()).into_iter().chain(sizes).collect()
}

/// Returns the text of a client notice on one line: its `<summary>` if it has one, without any tags.
pub(crate) fn notice_line(text: &str) -> String {
    strip_tags(clean::start(extract_tag(text, "summary").unwrap_or(text)))
}

/// Replaces tags of the client, such as `<task-notification>`, by spaces and puts the text on one line.
fn strip_tags(text: &str) -> String {
    let mut stripped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        stripped.push_str(&rest[..start]);
        match tag_len(&rest[start..]) {
            Some(len) => {
                stripped.push(' ');
                rest = &rest[start + len..];
            }
            None => {
                stripped.push('<');
                rest = &rest[start + 1..];
            }
        }
    }
    stripped.push_str(rest);
    clean::line(&stripped)
}

/// Returns the length in bytes of the tag at the start of `text`, which must start with `<`.
///
/// Returns `None` if there is no closed tag with a lower-case name.
fn tag_len(text: &str) -> Option<usize> {
    let name = text[1..].trim_start_matches('/');
    let name_end = name.find(|c: char| !(c.is_ascii_lowercase() || matches!(c, '-' | '_')))?;
    let is_tag = name_end > 0 && name[name_end..].starts_with(['>', ' ', '/']);
    text.find('>').filter(|_| is_tag).map(|end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::notice_line;

    #[test]
    fn notices_are_shown_without_tags() {
        let cases = [
            (
                "<task-notification>\n<id>7</id>\n<summary>Agent done</summary>\n</task-notification>",
                "Agent done",
            ),
            ("<bash_id>7</bash_id> <a href=\"x\">link</a><br/>", "7 link"),
            ("<teammate-message from=\"a\">continue</teammate-message>", "continue"),
            ("a < b > c, x<y, <T>, </>, Vec<u8> <3", "a < b > c, x<y, <T>, </>, Vec<u8> <3"),
            ("an open <tag", "an open <tag"),
            ("<", "<"),
        ];
        for (text, expected) in cases {
            assert_eq!(notice_line(text), expected, "{text}");
        }
    }
}
