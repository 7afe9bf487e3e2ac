//! Levels of detail of an export. Each level includes the previous ones.

use rethread_engine::core::turn::{ToolCall, Turn, TurnPart};
use rethread_engine::ops::show::RawLine;
use serde_json::{Map, Value, json};

use crate::text::{clean, outcome, summary};

/// Maximum number of characters of a field in a reduced input.
const MAX_FIELD_CHARS: usize = 300;

/// A level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Detail {
    /// Only prompts
    Prompts,
    /// Also the text of the model
    Answers,
    /// Also one line per tool call
    Tools,
    /// Also all inputs, results, thinking and notices
    Everything,
}

impl Detail {
    /// Returns the name as the user types it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Detail::Prompts => "prompts",
            Detail::Answers => "answers",
            Detail::Tools => "tools",
            Detail::Everything => "everything",
        }
    }

    /// Returns `true` if turns end with their totals: models, tokens and time.
    pub(super) fn includes_totals(self) -> bool {
        self >= Detail::Tools
    }

    /// Returns `true` if a part of a turn is shown at this level.
    fn includes(self, part: &TurnPart) -> bool {
        let lowest = match part {
            TurnPart::Queued(_) | TurnPart::Command(_) => Detail::Prompts,
            TurnPart::Text(_) | TurnPart::Interrupt(_) | TurnPart::Error(_) | TurnPart::Compaction { .. } => {
                Detail::Answers
            }
            TurnPart::Tool(_) => Detail::Tools,
            _ => Detail::Everything,
        };
        lowest <= self
    }
}

/// Removes the parts of a turn that are above the level of detail. Below [`Detail::Everything`], also clears the bytes
/// of its lines, except those that contain the prompt or its images.
pub(crate) fn reduce_turn(turn: &mut Turn, lines: &mut [RawLine], detail: Detail) {
    if detail == Detail::Everything {
        return;
    }
    turn.parts.retain(|item| detail.includes(&item.part));
    for item in &mut turn.parts {
        if let TurnPart::Tool(call) = &mut item.part {
            reduce_call(call);
        }
    }
    let media_lines = turn.prompt.iter().flat_map(|prompt| &prompt.media).map(|media| media.line);
    let needed_lines: Vec<u32> = media_lines.chain(turn.prompt.iter().map(|prompt| prompt.line)).collect();
    for line in lines.iter_mut().filter(|line| !needed_lines.contains(&line.number)) {
        line.bytes = Vec::new();
    }
}

/// Reduces a call to what its one-line summary needs. A result keeps only the client's sentence that it was declined or
/// interrupted.
fn reduce_call(call: &mut ToolCall) {
    call.input = reduce_input(call);
    if let Some(result) = &mut call.result {
        result.text = outcome::outcome_sentence(&result.text).unwrap_or_default().to_owned();
        result.media.clear();
    }
}

/// Returns the input reduced to the fields from which the one-line summary of the call is built, as JSON. Input that
/// is not an object becomes one truncated line.
fn reduce_input(call: &ToolCall) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(&summary::shorten_input(call)) else {
        return truncate(&call.input);
    };
    if let Some(Value::Array(todos)) = fields.get("todos") {
        let states: Vec<Value> = todos.iter().map(|todo| json!({ "status": todo.get("status") })).collect();
        return json!({ "todos": states }).to_string();
    }
    let text_field =
        |name: &str| fields.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let best = summary::summary_fields(&call.name).iter().copied().find(|name| text_field(name).is_some());
    let first_text = || fields.iter().find(|(_, value)| value.is_string()).map(|(name, _)| name.as_str());
    let Some(name) = best.or_else(first_text) else {
        return if fields.is_empty() {
            "{}".to_owned()
        } else {
            truncate(&Value::Object(fields).to_string())
        };
    };
    let mut reduced = Map::new();
    for name in [name, "path"] {
        if let Some(text) = text_field(name) {
            reduced.insert(name.to_owned(), Value::String(truncate(text)));
        }
    }
    if let Some(Value::Number(offset)) = fields.get("offset") {
        reduced.insert("offset".to_owned(), Value::Number(offset.clone()));
    }
    Value::Object(reduced).to_string()
}

/// Puts text on one line of at most [`MAX_FIELD_CHARS`] characters.
fn truncate(text: &str) -> String {
    clean::line_start(text).chars().take(MAX_FIELD_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use rethread_engine::core::turn::{ToolCall, ToolResult, Turn, TurnItem, TurnPart};
    use rethread_engine::ops::show::RawLine;

    use super::{Detail, reduce_turn};
    use crate::text::summary::summarize_call;

    const DETAILS: [Detail; 4] = [Detail::Prompts, Detail::Answers, Detail::Tools, Detail::Everything];

    fn turn() -> Turn {
        let call = |name: &str, input: &str| {
            let result = Some(ToolResult { text: "secret result".to_owned(), ..ToolResult::default() });
            let (name, input) = (name.to_owned(), input.to_owned());
            TurnPart::Tool(Box::new(ToolCall { name, input, result, ..ToolCall::default() }))
        };
        let text = |part: fn(String) -> TurnPart| part("words".to_owned());
        let compaction =
            TurnPart::Compaction { trigger: "auto".to_owned(), before: None, after: None, micro: false };
        let parts = [
            text(TurnPart::Text),
            text(TurnPart::Thinking),
            text(TurnPart::Queued),
            text(TurnPart::Output),
            text(TurnPart::Command),
            text(TurnPart::Interrupt),
            text(TurnPart::Notification),
            text(TurnPart::Meta),
            text(TurnPart::CompactSummary),
            text(TurnPart::Error),
            text(TurnPart::Other),
            compaction,
            call("Write", r#"{"content":"secret input","file_path":"/x/a.rs"}"#),
            call("Grep", r#"{"path":"/x/src","pattern":"needle","glob":"secret"}"#),
            call("mcp__a__b", r#"{"n":1,"q":"first","r":"secret"}"#),
            call(
                "TodoWrite",
                r#"{"todos":[{"content":"secret","status":"completed"},{"content":"secret"}]}"#,
            ),
            call("X", r#"{"deep":{"n":1}}"#),
            call("X", "{torn"),
            call("X", "{}"),
        ];
        Turn { parts: parts.into_iter().map(|part| TurnItem { line: 7, part }).collect(), ..Turn::default() }
    }

    #[test]
    fn each_level_includes_the_previous_one() {
        let kinds = |detail| {
            let mut turn = turn();
            reduce_turn(&mut turn, &mut [], detail);
            let kind = |item: &TurnItem| std::mem::discriminant(&item.part);
            turn.parts.iter().map(kind).collect::<Vec<_>>()
        };
        let counts = DETAILS.map(|detail| kinds(detail).len());
        assert_eq!(counts, [2, 6, 13, 19]);
        for pair in DETAILS.windows(2) {
            let (less, more) = (kinds(pair[0]), kinds(pair[1]));
            assert!(less.iter().all(|kind| more.contains(kind)));
        }
    }

    #[test]
    fn reduced_call_keeps_its_summary_and_nothing_else() {
        let mut reduced = turn();
        let mut lines = [RawLine { number: 7, bytes: b"secret line".to_vec() }];
        reduce_turn(&mut reduced, &mut lines, Detail::Tools);
        assert!(lines[0].bytes.is_empty());
        let full = turn();
        let calls = |turn: &Turn| {
            let call = |item: &TurnItem| match &item.part {
                TurnPart::Tool(call) => Some((summarize_call(call, "/x"), call.clone())),
                _ => None,
            };
            turn.parts.iter().filter_map(call).collect::<Vec<_>>()
        };
        assert_eq!(calls(&reduced).len(), 7);
        for ((reduced_summary, call), (full_summary, _)) in calls(&reduced).into_iter().zip(calls(&full)) {
            assert_eq!(reduced_summary, full_summary);
            assert!(!format!("{call:?}").contains("secret"), "{call:?}");
        }
    }
}
