//! How much of a conversation is told. Each step tells all that the one before it tells, and more.

use rethread_engine::core::turn::{ToolCall, Turn, TurnPart};
use serde_json::{Map, Value, json};

use crate::text::{clean, outcome, summary};

/// How many letters stay of an input that is told in a few words.
const KEPT: usize = 300;

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Detail {
    /// Only what the user said
    Prompts,
    /// And the words of the model
    Answers,
    /// And one line per tool call
    Tools,
    /// And all inputs, results, thoughts and notices
    Everything,
}

impl Detail {
    /// Names it as it is typed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Detail::Prompts => "prompts",
            Detail::Answers => "answers",
            Detail::Tools => "tools",
            Detail::Everything => "everything",
        }
    }

    /// Whether it is told what a turn came to: its models, tokens and time.
    pub(super) fn tells_sums(self) -> bool {
        self >= Detail::Tools
    }

    fn tells(self, part: &TurnPart) -> bool {
        let from = match part {
            TurnPart::Queued(_) | TurnPart::Command(_) => Detail::Prompts,
            TurnPart::Text(_) | TurnPart::Interrupt(_) | TurnPart::Error(_) | TurnPart::Compaction { .. } => {
                Detail::Answers
            }
            TurnPart::Tool(_) => Detail::Tools,
            _ => Detail::Everything,
        };
        from <= self
    }
}

/// Takes out of a turn what shall not be told, also out of the lines that come with it: their bytes stay only where the prompt
/// and its pictures are read from them.
pub(crate) fn reduce(turn: &mut Turn, raw: &mut [(u32, Vec<u8>)], detail: Detail) {
    if detail == Detail::Everything {
        return;
    }
    turn.parts.retain(|piece| detail.tells(&piece.part));
    for piece in &mut turn.parts {
        if let TurnPart::Tool(call) = &mut piece.part {
            bare(call);
        }
    }
    let media = turn.prompt.iter().flat_map(|prompt| &prompt.media).map(|media| media.line);
    let kept: Vec<u32> = media.chain(turn.prompt.iter().map(|prompt| prompt.line)).collect();
    for (_, bytes) in raw.iter_mut().filter(|(line, _)| !kept.contains(line)) {
        bytes.clear();
    }
}

/// Leaves of a call what its one line says. Of a result stay only the words of the client that tell how it ended.
fn bare(call: &mut ToolCall) {
    call.input = told(call);
    if let Some(result) = &mut call.result {
        result.text = outcome::sentence(&result.text).unwrap_or_default().to_owned();
        result.media.clear();
    }
}

/// Leaves of an input what its gist is made of.
fn told(call: &ToolCall) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(&call.input) else {
        return cut(&call.input);
    };
    if let Some(Value::Array(todos)) = fields.get("todos") {
        let states: Vec<Value> = todos.iter().map(|todo| json!({ "status": todo.get("status") })).collect();
        return json!({ "todos": states }).to_string();
    }
    let words =
        |name: &str| fields.get(name).and_then(Value::as_str).filter(|words| !words.trim().is_empty());
    let telling = summary::summary_fields(&call.name).iter().copied().find(|name| words(name).is_some());
    let first = || fields.iter().find(|(_, value)| value.is_string()).map(|(name, _)| name.as_str());
    let Some(name) = telling.or_else(first) else {
        return if fields.is_empty() { "{}".to_owned() } else { cut(&Value::Object(fields).to_string()) };
    };
    let mut kept = Map::new();
    for name in [name, "path"] {
        if let Some(text) = words(name) {
            kept.insert(name.to_owned(), Value::String(cut(text)));
        }
    }
    if let Some(Value::Number(offset)) = fields.get("offset") {
        kept.insert("offset".to_owned(), Value::Number(offset.clone()));
    }
    Value::Object(kept).to_string()
}

fn cut(text: &str) -> String {
    clean::line(text).chars().take(KEPT).collect()
}

#[cfg(test)]
mod tests {
    use rethread_engine::core::turn::{ToolCall, ToolResult, Turn, TurnItem, TurnPart};

    use super::{Detail, reduce};
    use crate::text::summary::gist;

    const DETAILS: [Detail; 4] = [Detail::Prompts, Detail::Answers, Detail::Tools, Detail::Everything];

    fn turn() -> Turn {
        let call = |name: &str, input: &str| {
            let result = Some(ToolResult { text: "secret result".to_owned(), ..ToolResult::default() });
            let (name, input) = (name.to_owned(), input.to_owned());
            TurnPart::Tool(Box::new(ToolCall { name, input, result, ..ToolCall::default() }))
        };
        let words = |part: fn(String) -> TurnPart| part("words".to_owned());
        let compaction =
            TurnPart::Compaction { trigger: "auto".to_owned(), before: None, after: None, micro: false };
        let parts = [
            words(TurnPart::Text),
            words(TurnPart::Thinking),
            words(TurnPart::Queued),
            words(TurnPart::Output),
            words(TurnPart::Command),
            words(TurnPart::Interrupt),
            words(TurnPart::Notice),
            words(TurnPart::Meta),
            words(TurnPart::Recap),
            words(TurnPart::Error),
            words(TurnPart::Other),
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
    fn each_detail_tells_all_that_the_one_before_tells() {
        let kinds = |detail| {
            let mut turn = turn();
            reduce(&mut turn, &mut [], detail);
            let kind = |piece: &TurnItem| std::mem::discriminant(&piece.part);
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
    fn a_call_in_one_line_keeps_its_gist_and_nothing_else() {
        let mut bare = turn();
        let mut raw = [(7, b"secret line".to_vec())];
        reduce(&mut bare, &mut raw, Detail::Tools);
        assert!(raw[0].1.is_empty());
        let whole = turn();
        let calls = |turn: &Turn| {
            let call = |piece: &TurnItem| match &piece.part {
                TurnPart::Tool(call) => Some((gist(call, "/x"), call.clone())),
                _ => None,
            };
            turn.parts.iter().filter_map(call).collect::<Vec<_>>()
        };
        assert_eq!(calls(&bare).len(), 7);
        for ((less, call), (more, _)) in calls(&bare).into_iter().zip(calls(&whole)) {
            assert_eq!(less, more);
            assert!(!format!("{call:?}").contains("secret"), "{call:?}");
        }
    }
}
