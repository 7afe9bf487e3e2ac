//! JSON of `show` and `tools`: turns and tool calls.

use rethread_engine::core::tree::PathRelation;
use rethread_engine::core::turn::{self, TurnPart};
use rethread_engine::ops::show::ShownTurn;
use rethread_engine::ops::tools::ToolRow;
use serde::Serialize;
use serde_json::value::RawValue;

use super::object::{ObjectJson, UsageJson, build_object, format_time};

#[derive(Serialize)]
pub(crate) struct TurnJson<'a> {
    session: &'a str,
    turn: Option<u32>,
    uuid: Option<&'a str>,
    path_relation: &'static str,
    entry_role: Option<&'static str>,
    prompt: Option<&'a str>,
    media: Vec<MediaJson<'a>>,
    parts: Vec<PartJson<'a>>,
    models: &'a [String],
    stop_reason: Option<&'a str>,
    responses: usize,
    usage: UsageJson,
    first: Option<String>,
    last: Option<String>,
    duration_ms: Option<u64>,
    lines: Vec<u32>,
}

#[derive(Serialize)]
struct MediaJson<'a> {
    media_type: &'a str,
    base64_bytes: usize,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum PartJson<'a> {
    Text { text: &'a str },
    Thinking { text: &'a str },
    Tool(CallJson<'a>),
    Queued { text: &'a str },
    Output { text: &'a str },
    Command { text: &'a str },
    Interrupt { text: &'a str },
    Notification { text: &'a str },
    Meta { text: &'a str },
    Compaction { trigger: &'a str, before: Option<u64>, after: Option<u64>, micro: bool },
    CompactSummary { text: &'a str },
    Error { text: &'a str },
    Other { text: &'a str },
}

#[derive(Serialize)]
struct CallJson<'a> {
    name: &'a str,
    id: &'a str,
    input: InputJson<'a>,
    line: u32,
    called_at: Option<String>,
    result: Option<ResultJson<'a>>,
}

/// The input of a tool call, unchanged. Invalid JSON becomes a string, an empty input `null`.
#[derive(Serialize)]
#[serde(untagged)]
enum InputJson<'a> {
    Json(&'a RawValue),
    Text(&'a str),
    None,
}

#[derive(Serialize)]
struct ResultJson<'a> {
    text: &'a str,
    media: Vec<MediaJson<'a>>,
    is_error: bool,
    line: u32,
    answered_at: Option<String>,
}

/// Builds the `turn` object of `show` and of exports. `session` is the session id.
pub(crate) fn build_turn<'a>(session: &'a str, shown: &'a ShownTurn) -> ObjectJson<TurnJson<'a>> {
    let turn = &shown.turn;
    let prompt = turn.prompt.as_ref();
    build_object(
        "turn",
        TurnJson {
            session,
            turn: shown.number,
            uuid: shown.uuid.as_deref(),
            path_relation: path_relation_name(shown.relation),
            entry_role: prompt.map(|prompt| prompt.role.name()),
            prompt: prompt.map(|prompt| prompt.text.as_str()),
            media: prompt.map(|prompt| build_media(&prompt.media)).unwrap_or_default(),
            parts: turn.parts.iter().map(|item| build_part(&item.part)).collect(),
            models: &turn.models,
            stop_reason: turn.stop_reason.as_deref(),
            responses: turn.responses,
            usage: (&turn.usage).into(),
            first: format_time(turn.started_at),
            last: format_time(turn.ended_at),
            duration_ms: turn.duration_ms,
            lines: shown.lines.iter().map(|line| line.number).collect(),
        },
    )
}

fn build_media(media: &[turn::Media]) -> Vec<MediaJson<'_>> {
    media.iter().map(|media| MediaJson { media_type: &media.kind, base64_bytes: media.bytes }).collect()
}

fn build_part(part: &TurnPart) -> PartJson<'_> {
    match part {
        TurnPart::Text(text) => PartJson::Text { text },
        TurnPart::Thinking(text) => PartJson::Thinking { text },
        TurnPart::Tool(tool) => PartJson::Tool(build_call(tool)),
        TurnPart::Queued(text) => PartJson::Queued { text },
        TurnPart::Output(text) => PartJson::Output { text },
        TurnPart::Command(text) => PartJson::Command { text },
        TurnPart::Interrupt(text) => PartJson::Interrupt { text },
        TurnPart::Notification(text) => PartJson::Notification { text },
        TurnPart::Meta(text) => PartJson::Meta { text },
        TurnPart::Compaction { trigger, before, after, micro } => {
            PartJson::Compaction { trigger, before: *before, after: *after, micro: *micro }
        }
        TurnPart::CompactSummary(text) => PartJson::CompactSummary { text },
        TurnPart::Error(text) => PartJson::Error { text },
        TurnPart::Other(text) => PartJson::Other { text },
    }
}

fn build_call(tool: &turn::ToolCall) -> CallJson<'_> {
    let input = match serde_json::from_str::<&RawValue>(&tool.input) {
        Ok(input) => InputJson::Json(input),
        Err(_) if tool.input.is_empty() => InputJson::None,
        Err(_) => InputJson::Text(&tool.input),
    };
    let result = tool.result.as_ref().map(|result| ResultJson {
        text: &result.text,
        media: build_media(&result.media),
        is_error: result.is_error,
        line: result.line,
        answered_at: format_time(result.answered_at),
    });
    CallJson {
        name: &tool.name,
        id: &tool.id,
        input,
        line: tool.line,
        called_at: format_time(tool.called_at),
        result,
    }
}

#[derive(Serialize)]
pub(crate) struct ToolJson<'a> {
    session: &'a str,
    agent: Option<&'a str>,
    path: String,
    #[serde(flatten)]
    call: CallJson<'a>,
    failure: Option<&'static str>,
    duration_ms: Option<i64>,
}

/// Builds the `tool` object of `tools`: one tool call with its result.
pub(crate) fn build_tool<'a>(session: &'a str, row: &'a ToolRow) -> ObjectJson<ToolJson<'a>> {
    build_object(
        "tool",
        ToolJson {
            session,
            agent: row.agent.as_deref(),
            path: row.path.display().to_string(),
            call: build_call(&row.call),
            failure: row.failure,
            duration_ms: row.duration_ms,
        },
    )
}

/// Returns the value of `path_relation`: how an entry or turn relates to the shown path in the tree.
pub(crate) fn path_relation_name(relation: PathRelation) -> &'static str {
    match relation {
        PathRelation::OnPath => "on_path",
        PathRelation::Compacted => "compacted",
        PathRelation::OtherBranch => "other_branch",
    }
}
