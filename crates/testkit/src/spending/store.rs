//! The files of a generated store. Every line knows which response it belongs to.

use std::path::Path;

use rethread_core::entry::Usage;
use serde_json::Value;

/// The files of a store, in the order of their creation.
#[derive(Debug, Clone, Default)]
pub struct GeneratedStore {
    /// Session files and subagent files.
    pub files: Vec<GeneratedFile>,
}

/// A session file or a subagent file.
#[derive(Debug, Clone, Default)]
pub struct GeneratedFile {
    /// The path relative to the projects folder.
    pub path: String,
    /// The session id.
    pub session: String,
    /// The working directory.
    pub cwd: String,
    /// The subagent, if the file is a subagent's.
    pub agent: Option<SubagentInfo>,
    /// The complete lines.
    pub lines: Vec<GeneratedLine>,
    /// The turns of the conversation.
    pub turns: Vec<GeneratedTurn>,
    /// A last line of which only the first half was written.
    pub torn_line: Option<GeneratedLine>,
    /// Whether the last line lacks its line break.
    pub unterminated: bool,
    /// Whether the responses come from a gateway: without request ids, with message ids that other sessions reuse.
    pub is_gateway: bool,
    /// Whether one of its responses is repeated under another request id, here or in a subagent's file.
    pub has_replay: bool,
    /// The git branch of the next line.
    pub branch: String,
    /// The time of the next line, in milliseconds.
    pub clock: i64,
}

/// The recorded facts about a subagent.
#[derive(Debug, Clone)]
pub struct SubagentInfo {
    /// The agent type in its meta file.
    pub meta_type: Option<String>,
    /// The id of the tool call that started it, and the agent type in that call.
    pub launch: Option<(String, String)>,
}

/// A turn of a conversation.
#[derive(Debug, Clone)]
pub struct GeneratedTurn {
    /// The index of the preceding turn.
    pub parent: Option<usize>,
    /// The uuid of its last line.
    pub last_uuid: String,
    /// Whether it begins with a compaction.
    pub is_compacted: bool,
}

/// A line of a file.
#[derive(Debug, Clone)]
pub struct GeneratedLine {
    /// The JSON of the line.
    pub value: Value,
    /// The index of its turn.
    pub turn: usize,
    /// The response data on the line, if it is part of a response.
    pub response: Option<ResponseRecord>,
}

/// The data of a response that one line contains.
#[derive(Debug, Clone)]
pub struct ResponseRecord {
    /// The number of the response, unique in the store.
    pub response_id: usize,
    /// `message.id`.
    pub message_id: String,
    /// `requestId`.
    pub request_id: Option<String>,
    /// `timestamp`, in milliseconds.
    pub time: Option<i64>,
    /// `message.usage`.
    pub usage: Usage,
    /// Whether the line has a `stop_reason`.
    pub has_stop_reason: bool,
    /// Whether the line has `forkedFrom`.
    pub has_fork_marker: bool,
    /// `isSidechain`.
    pub is_sidechain: bool,
    /// `message.model`.
    pub model: String,
    /// `gitBranch`.
    pub branch: String,
    /// The tool calls on the line: ids and tool names.
    pub calls: Vec<(String, String)>,
}

impl GeneratedFile {
    /// Returns the content of the file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut text: String = self.lines.iter().map(|line| format!("{}\n", line.value)).collect();
        if let Some(line) = &self.torn_line {
            let line = line.value.to_string();
            text.push_str(&line[..line.len() / 2]);
        } else if self.unterminated {
            text.pop();
        }
        text.into_bytes()
    }

    /// Returns the path and the content of the meta file. Returns `None` if the file has no meta file.
    pub fn meta_file(&self) -> Option<(String, String)> {
        let agent_type = self.agent.as_ref()?.meta_type.as_ref()?;
        let path = Path::new(&self.path).with_extension("meta.json").display().to_string();
        Some((path, serde_json::json!({ "agentType": agent_type, "description": "look" }).to_string()))
    }
}

impl GeneratedStore {
    /// Returns the indices of the files, ordered by path.
    pub fn indices_by_path(&self) -> Vec<usize> {
        let mut indices: Vec<usize> = (0..self.files.len()).collect();
        indices.sort_by_key(|&idx| Path::new(&self.files[idx].path));
        indices
    }
}
