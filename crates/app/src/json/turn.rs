//! A turn and its tool calls in `--json`.

use rethread_engine::core::turn::{self, TurnPart};
use rethread_engine::ops::{PathRelation, ToldTurn, ToolRow};
use serde::Serialize;
use serde_json::value::RawValue;

use super::object::{Usage, Wire, time, wire};

#[derive(Serialize)]
pub(crate) struct Turn<'a> {
    session: &'a str,
    turn: Option<u32>,
    uuid: Option<&'a str>,
    standing: &'static str,
    voice: Option<&'static str>,
    prompt: Option<&'a str>,
    media: Vec<Media<'a>>,
    parts: Vec<Piece<'a>>,
    models: &'a [String],
    responses: usize,
    usage: Usage,
    first: Option<String>,
    last: Option<String>,
    duration_ms: Option<u64>,
    lines: Vec<u32>,
}

#[derive(Serialize)]
struct Media<'a> {
    media_type: &'a str,
    base64_bytes: usize,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Piece<'a> {
    Text { text: &'a str },
    Thinking { text: &'a str },
    Tool(Call<'a>),
    Queued { text: &'a str },
    Output { text: &'a str },
    Command { text: &'a str },
    Interrupt { text: &'a str },
    Notice { text: &'a str },
    Meta { text: &'a str },
    Compaction { trigger: &'a str, before: Option<u64>, after: Option<u64>, micro: bool },
    Recap { text: &'a str },
    Error { text: &'a str },
    Other { text: &'a str },
}

#[derive(Serialize)]
struct Call<'a> {
    name: &'a str,
    id: &'a str,
    input: Input<'a>,
    line: u32,
    called: Option<String>,
    result: Option<Answer<'a>>,
}

/// The input as it stands in the file, or as text where it is no JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum Input<'a> {
    Json(&'a RawValue),
    Text(&'a str),
    None,
}

#[derive(Serialize)]
struct Answer<'a> {
    text: &'a str,
    media: Vec<Media<'a>>,
    is_error: bool,
    line: u32,
    answered: Option<String>,
}

/// A turn of `show`.
pub(crate) fn turn<'a>(session: &'a str, told: &'a ToldTurn) -> Wire<Turn<'a>> {
    let turn = &told.turn;
    let prompt = turn.prompt.as_ref();
    wire(
        "turn",
        Turn {
            session,
            turn: told.no,
            uuid: told.uuid.as_deref(),
            standing: standing(told.standing),
            voice: prompt.map(|prompt| prompt.voice.name()),
            prompt: prompt.map(|prompt| prompt.text.as_str()),
            media: prompt.map(|prompt| media(&prompt.media)).unwrap_or_default(),
            parts: turn.parts.iter().map(|told| piece(&told.part)).collect(),
            models: &turn.models,
            responses: turn.responses,
            usage: (&turn.usage).into(),
            first: time(turn.from),
            last: time(turn.to),
            duration_ms: turn.millis,
            lines: told.raw.iter().map(|(line, _)| *line).collect(),
        },
    )
}

fn media(media: &[turn::Media]) -> Vec<Media<'_>> {
    media.iter().map(|media| Media { media_type: &media.kind, base64_bytes: media.bytes }).collect()
}

fn piece(part: &TurnPart) -> Piece<'_> {
    match part {
        TurnPart::Text(text) => Piece::Text { text },
        TurnPart::Thinking(text) => Piece::Thinking { text },
        TurnPart::Tool(tool) => Piece::Tool(call(tool)),
        TurnPart::Queued(text) => Piece::Queued { text },
        TurnPart::Output(text) => Piece::Output { text },
        TurnPart::Command(text) => Piece::Command { text },
        TurnPart::Interrupt(text) => Piece::Interrupt { text },
        TurnPart::Notice(text) => Piece::Notice { text },
        TurnPart::Meta(text) => Piece::Meta { text },
        TurnPart::Compaction { trigger, before, after, micro } => {
            Piece::Compaction { trigger, before: *before, after: *after, micro: *micro }
        }
        TurnPart::Recap(text) => Piece::Recap { text },
        TurnPart::Error(text) => Piece::Error { text },
        TurnPart::Other(text) => Piece::Other { text },
    }
}

fn call(tool: &turn::ToolCall) -> Call<'_> {
    let input = match serde_json::from_str::<&RawValue>(&tool.input) {
        Ok(input) => Input::Json(input),
        Err(_) if tool.input.is_empty() => Input::None,
        Err(_) => Input::Text(&tool.input),
    };
    let result = tool.result.as_ref().map(|result| Answer {
        text: &result.text,
        media: media(&result.media),
        is_error: result.is_error,
        line: result.line,
        answered: time(result.answered),
    });
    Call { name: &tool.name, id: &tool.id, input, line: tool.line, called: time(tool.called), result }
}

#[derive(Serialize)]
pub(crate) struct Tool<'a> {
    session: &'a str,
    agent: Option<&'a str>,
    path: String,
    #[serde(flatten)]
    call: Call<'a>,
    failed: Option<&'static str>,
    duration_ms: Option<i64>,
}

/// A row of `tools`.
pub(crate) fn tool<'a>(session: &'a str, row: &'a ToolRow) -> Wire<Tool<'a>> {
    wire(
        "tool",
        Tool {
            session,
            agent: row.agent.as_deref(),
            path: row.path.display().to_string(),
            call: call(&row.call),
            failed: row.failed,
            duration_ms: row.millis,
        },
    )
}

/// Names how something stands to the path that is shown.
pub(crate) fn standing(standing: PathRelation) -> &'static str {
    match standing {
        PathRelation::OnPath => "on_path",
        PathRelation::Compacted => "compacted",
        PathRelation::Aside => "aside",
    }
}
