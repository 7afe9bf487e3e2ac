//! Files of lines that know what they are.

use std::path::Path;

use rethread_core::entry::Usage;
use serde_json::Value;

/// The files of a store, in the order in which they were made.
#[derive(Debug, Clone, Default)]
pub struct Store {
    /// The files.
    pub files: Vec<File>,
}

/// A session file, or that of a subagent.
#[derive(Debug, Clone, Default)]
pub struct File {
    /// Its path below the folder of all projects.
    pub path: String,
    /// The session it belongs to.
    pub session: String,
    /// The folder it was started in.
    pub cwd: String,
    /// Whose it is, if it is a subagent's.
    pub agent: Option<Agent>,
    /// Its lines.
    pub lines: Vec<Line>,
    /// The turns of its conversation.
    pub turns: Vec<Turn>,
    /// A line of which only the first half was written.
    pub torn: Option<Line>,
    /// Whether the end of the last line is missing.
    pub unended: bool,
    /// Whether its responses come from a gateway: without requests, with ids that come again in other sessions.
    pub gateway: bool,
    /// Whether a response of it stands in it, or in a subagent's file, once more under another request.
    pub replayed: bool,
    /// The git branch of the lines that come next.
    pub branch: String,
    /// The time of the line that comes next, in milliseconds.
    pub clock: i64,
}

/// What is known of the subagent of a file.
#[derive(Debug, Clone)]
pub struct Agent {
    /// The kind that stands in its meta file.
    pub meta: Option<String>,
    /// The call of its session that started it, and the kind that this names.
    pub launch: Option<(String, String)>,
}

/// A turn of a conversation.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The turn it follows.
    pub parent: Option<usize>,
    /// The uuid of its last line.
    pub end: String,
    /// Whether it begins with a compaction.
    pub compacted: bool,
}

/// A line.
#[derive(Debug, Clone)]
pub struct Line {
    /// What stands on it.
    pub value: Value,
    /// The turn it is of.
    pub turn: usize,
    /// What it says of a response.
    pub said: Option<Said>,
}

/// What a line says of a response.
#[derive(Debug, Clone)]
pub struct Said {
    /// The number of the response.
    pub response: usize,
    /// The name of its message.
    pub message: String,
    /// The request that the line names.
    pub request: Option<String>,
    /// When it was written, in milliseconds.
    pub time: Option<i64>,
    /// The tokens it tells.
    pub usage: Usage,
    /// Whether it tells why the model stopped.
    pub stopped: bool,
    /// Whether it says that it was copied.
    pub marked: bool,
    /// Whether it is a subagent's.
    pub side: bool,
    /// The model.
    pub model: String,
    /// The git branch.
    pub branch: String,
    /// The calls on it: their ids and tools.
    pub calls: Vec<(String, String)>,
}

impl File {
    /// Returns what stands in the file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut text: String = self.lines.iter().map(|line| format!("{}\n", line.value)).collect();
        if let Some(line) = &self.torn {
            let line = line.value.to_string();
            text.push_str(&line[..line.len() / 2]);
        } else if self.unended {
            text.pop();
        }
        text.into_bytes()
    }

    /// Returns the meta file beside it: its path and what stands in it.
    pub fn meta(&self) -> Option<(String, String)> {
        let kind = self.agent.as_ref()?.meta.as_ref()?;
        let path = Path::new(&self.path).with_extension("meta.json").display().to_string();
        Some((path, serde_json::json!({ "agentType": kind, "description": "look" }).to_string()))
    }
}

impl Store {
    /// Returns the numbers of the files in the order of their paths.
    pub fn by_path(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = (0..self.files.len()).collect();
        numbers.sort_by_key(|&no| Path::new(&self.files[no].path));
        numbers
    }
}
