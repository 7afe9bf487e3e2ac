//! The arguments of the tools, and their definitions.

use rmcp::model::{JsonObject, Tool};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use super::answer::ToolError;

/// The definitions of the tools. Each client sends them to the model with every request, so they are short.
const DEFINITIONS: &str = include_str!("tools.json");

/// Arguments of `search`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchArguments {
    /// The query.
    pub(super) query: String,
    /// The maximum number of hits.
    pub(super) limit: Option<usize>,
    /// Also search the calling session.
    #[serde(default)]
    pub(super) include_current: bool,
    /// The maximum size of the answer in tokens.
    pub(super) budget: Option<u32>,
}

/// Arguments of `read`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArguments {
    /// The session.
    pub(super) session: String,
    /// The turns, such as `14`, `12-16` or `L118` for the turn of a line. Without them, the prompts of all turns are listed.
    #[serde(default, deserialize_with = "deserialize_text")]
    pub(super) turns: Option<String>,
    /// The id of a subagent of the session.
    pub(super) agent: Option<String>,
    /// The parts of turns to show.
    pub(super) detail: Option<String>,
    /// The number of bytes of the first turn, or of turns of the list, to skip.
    pub(super) offset: Option<usize>,
    /// The maximum size of the answer in tokens.
    pub(super) budget: Option<u32>,
}

/// Arguments of `sessions`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionsArguments {
    /// Words of the title, the project, the git branch or the id.
    pub(super) words: Option<String>,
    /// A part of the folder.
    pub(super) project: Option<String>,
    /// The time after which the session was active.
    pub(super) since: Option<String>,
    /// The time before which the session started.
    pub(super) until: Option<String>,
    /// The maximum number of sessions.
    pub(super) limit: Option<usize>,
    /// The maximum size of the answer in tokens.
    pub(super) budget: Option<u32>,
}

/// Arguments of `files`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilesArguments {
    /// A part of the path.
    pub(super) path: String,
    /// The maximum number of sessions.
    pub(super) limit: Option<usize>,
    /// The maximum size of the answer in tokens.
    pub(super) budget: Option<u32>,
}

/// Reads a text, or a number as a text.
fn deserialize_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Option::<serde_json::Value>::deserialize(deserializer)? {
        None => Ok(None),
        Some(serde_json::Value::String(text)) => Ok(Some(text)),
        Some(serde_json::Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(serde::de::Error::custom("`turns` must be a text, such as \"14\"")),
    }
}

/// Parses the definitions of the tools.
pub(super) fn list_tools() -> Result<Vec<Tool>, serde_json::Error> {
    serde_json::from_str(DEFINITIONS)
}

/// Parses the arguments of a tool. Returns an error that names the argument that is wrong.
pub(super) fn parse_arguments<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, ToolError> {
    let arguments = serde_json::Value::Object(arguments.unwrap_or_default());
    serde_json::from_value(arguments).map_err(|error| {
        let message = crate::text::clean::line(&error.to_string());
        ToolError::new(message, "see the input schema of the tool for its arguments")
    })
}
