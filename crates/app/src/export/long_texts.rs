//! Truncates texts that are too long for a page: a browser needs many times their size to show them.

use rethread_engine::core::turn::{ToolCall, Turn, TurnPart};
use serde_json::Value;

use crate::text::figures::format_size;
use crate::text::summary::shorten_input;

/// The number of bytes above which a text is truncated.
const MAX_TEXT_BYTES: usize = 8 << 20;
/// The number of bytes of a truncated text that are on the page.
const SHOWN_BYTES: usize = 1 << 20;
/// A string of a shortened input that is shorter was not truncated, unless it consists of escapes.
const MIN_TRUNCATED_BYTES: usize = 15 << 10;

/// Truncates the long texts of a turn. A note at the end of each states how much is missing.
pub(super) fn truncate_long_texts(turn: &mut Turn) {
    turn.prompt.iter_mut().for_each(|prompt| truncate_text(&mut prompt.text));
    for item in &mut turn.parts {
        match &mut item.part {
            TurnPart::Text(text)
            | TurnPart::Thinking(text)
            | TurnPart::Queued(text)
            | TurnPart::Output(text)
            | TurnPart::Command(text)
            | TurnPart::Interrupt(text)
            | TurnPart::Notification(text)
            | TurnPart::Meta(text)
            | TurnPart::CompactSummary(text)
            | TurnPart::Error(text)
            | TurnPart::Other(text) => truncate_text(text),
            TurnPart::Tool(call) => {
                truncate_input(call);
                call.result.iter_mut().for_each(|result| truncate_text(&mut result.text));
            }
            TurnPart::Compaction { .. } => {}
        }
    }
}

fn truncate_text(text: &mut String) {
    if text.len() <= MAX_TEXT_BYTES {
        return;
    }
    let len = text.len();
    text.truncate(text.floor_char_boundary(SHOWN_BYTES));
    text.shrink_to_fit();
    text.push_str(&format!("\n\n… {}", describe_rest(len - text.len())));
}

/// Truncates the strings of a long input. It stays JSON. The note follows the first long string, or is a member of its own.
fn truncate_input(call: &mut ToolCall) {
    if call.input.len() <= MAX_TEXT_BYTES {
        return;
    }
    let short = shorten_input(call).into_owned();
    let note = describe_rest(call.input.len() - short.len());
    call.input = match serde_json::from_str(&short) {
        Ok(Value::Object(mut fields)) => {
            let is_truncated = |text: &&mut String| text.len() >= MIN_TRUNCATED_BYTES;
            let mut strings = fields.values_mut().filter_map(|value| match value {
                Value::String(text) => Some(text),
                _ => None,
            });
            match strings.find(is_truncated) {
                Some(text) => text.push_str(&format!("\n\n… {note}")),
                None => _ = fields.insert("…".to_owned(), Value::String(note)),
            }
            Value::Object(fields).to_string()
        }
        _ => note,
    };
}

fn describe_rest(bytes: usize) -> String {
    let size = format_size(bytes as u64);
    format!("{size} more, too long for a page; exports as markdown, text and JSON Lines contain them")
}

#[cfg(test)]
mod tests {
    use rethread_engine::core::turn::{Prompt, ToolCall, ToolResult, Turn, TurnItem, TurnPart};

    use super::{MAX_TEXT_BYTES, SHOWN_BYTES, truncate_long_texts};

    #[test]
    fn long_texts_end_with_a_note_and_short_ones_are_unchanged() {
        let long = "é".repeat(MAX_TEXT_BYTES);
        let input = format!(r#"{{"file_path":"/x/a.rs","content":"{long}"}}"#);
        let result = Some(ToolResult { text: long.clone(), ..ToolResult::default() });
        let call = ToolCall { name: "Write".to_owned(), input, result, ..ToolCall::default() };
        let prompt = Prompt {
            role: rethread_engine::core::entry::EntryRole::Prompt,
            text: "short".to_owned(),
            media: Vec::new(),
            line: 1,
        };
        let parts = vec![
            TurnItem { line: 2, part: TurnPart::Text(long.clone()) },
            TurnItem { line: 3, part: TurnPart::Tool(Box::new(call)) },
        ];
        let mut turn = Turn { prompt: Some(prompt), parts, ..Turn::default() };
        truncate_long_texts(&mut turn);
        assert_eq!(turn.prompt.map(|prompt| prompt.text).as_deref(), Some("short"));
        let [TurnPart::Text(text), TurnPart::Tool(call)] =
            [0, 1].map(|idx: usize| turn.parts[idx].part.clone())
        else {
            panic!("a text and a call");
        };
        let result = call.result.unwrap_or_default().text;
        for text in [&text, &result] {
            assert!(text.len() < SHOWN_BYTES + 200 && text.contains("… 15.7 MB more"), "{}", text.len());
        }
        let input: serde_json::Value = serde_json::from_str(&call.input).expect("valid JSON");
        assert_eq!(input["file_path"], "/x/a.rs");
        assert!(input["content"].as_str().is_some_and(|text| text.contains("MB more")), "no note");
        assert!(call.input.len() < 100_000);
    }
}
