//! Subagents: which files are theirs and which call started each.
//!
//! Four layouts were measured: lines inside the main file (1.x, 2.0.1), `agent-*.jsonl` beside it (2.0.28 to 2.0.76),
//! `<session>/subagents/agent-*.jsonl` (2.1.14 on), and the same with a `.meta.json` that names the call and, for
//! nested ones, the parent agent.

use std::collections::HashSet;

use crate::entry::{BlockKind, Entry, EntryRole, JsonStr, Kind, member, members, value_text};
use crate::id::{Id, IdMap};

/// What a `.meta.json` beside an agent's file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentMeta {
    /// What kind of agent.
    pub kind: Option<String>,
    /// What it was asked to do, in a few words.
    pub description: Option<String>,
    /// The call that started it.
    pub tool_use: Option<String>,
    /// The agent that started it.
    pub parent: Option<String>,
}

impl AgentMeta {
    /// Reads the file's bytes; fields that are missing stay so.
    pub fn read(bytes: &[u8]) -> AgentMeta {
        let mut meta = AgentMeta::default();
        for (key, value) in members(bytes) {
            let slot = match &*key.decode() {
                "agentType" => &mut meta.kind,
                "description" => &mut meta.description,
                "toolUseId" => &mut meta.tool_use,
                "parentAgentId" => &mut meta.parent,
                _ => continue,
            };
            *slot = (value != b"null").then(|| value_text(value).into_owned());
        }
        meta
    }
}

/// A call that starts a subagent, found in a file of the family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCall {
    /// The id of the call.
    pub tool_use: String,
    /// What kind of agent was asked for.
    pub kind: String,
    /// What it was asked to do, in a few words.
    pub description: String,
    /// What it was told.
    pub prompt: String,
    /// The line of the call.
    pub line: u32,
}

/// A subagent of a session.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    /// Its id; empty for agents inside the main file of old clients.
    pub id: String,
    /// What kind of agent.
    pub kind: String,
    /// What it was asked to do.
    pub description: String,
    /// The call that started it.
    pub tool_use: Option<String>,
    /// The agent that started it; `None` for the session itself.
    pub parent: Option<String>,
}

/// Collects the calls that start subagents and what ties agents to them.
#[derive(Debug, Default)]
pub struct AgentCallIndex {
    /// The calls, in file order.
    pub calls: Vec<AgentCall>,
    /// Agent ids by the call that named them in its result or progress.
    pub agents: Vec<(String, String)>,
    seen: IdMap<()>,
}

impl AgentCallIndex {
    /// Takes the next entry.
    pub fn add(&mut self, entry: &Entry<'_>, line: u32) {
        match entry.kind {
            Kind::Assistant => self.calls(entry, line),
            Kind::User if entry.voice() == EntryRole::Results => self.results(entry),
            Kind::Progress => {
                let agent = entry.payload.and_then(|data| field(data, "agentId"));
                if let (Some(agent), Some(call)) = (agent, entry.parent_tool_use) {
                    self.tie(agent, call);
                }
            }
            _ => {}
        }
    }

    fn calls(&mut self, entry: &Entry<'_>, line: u32) {
        for block in entry.blocks().iter().filter(|block| block.kind == BlockKind::ToolUse) {
            let is_launch = block.tool.is_some_and(|tool| matches!(tool.raw(), b"Task" | b"Agent"));
            let (Some(id), Some(input)) = (block.id, block.body.filter(|_| is_launch)) else {
                continue;
            };
            if self.seen.insert(id.id(), ()).is_some() {
                continue;
            }
            self.calls.push(AgentCall {
                tool_use: id.decode().into_owned(),
                kind: field(input, "subagent_type").unwrap_or_default(),
                description: field(input, "description").unwrap_or_default(),
                prompt: field(input, "prompt").unwrap_or_default(),
                line,
            });
        }
    }

    fn results(&mut self, entry: &Entry<'_>) {
        let agent = entry.tool_use_result.and_then(|result| field(result, "agentId"));
        let call = entry.blocks().iter().find_map(|block| block.id);
        if let (Some(agent), Some(call)) = (agent, call) {
            self.tie(agent, call);
        }
    }

    fn tie(&mut self, agent: String, call: JsonStr<'_>) {
        let key = Id::of(agent.as_bytes());
        if self.seen.insert(key, ()).is_none() {
            self.agents.push((agent, call.decode().into_owned()));
        }
    }

    /// Finds the call that started an agent: by its meta file, by what the call's result said, by its prompt; by the
    /// prompt each call only once.
    pub fn of(
        &self,
        agent: &str,
        meta: &AgentMeta,
        prompt: &str,
        used: &HashSet<String>,
    ) -> Option<&AgentCall> {
        let tied = self.agents.iter().find(|(id, _)| id == agent).map(|(_, call)| call.as_str());
        let call = meta.tool_use.as_deref().or(tied);
        self.calls.iter().find(|launch| match call {
            Some(call) => launch.tool_use == call,
            None => {
                let free = !used.contains(&launch.tool_use);
                free && !prompt.is_empty() && launch.prompt.trim() == prompt.trim()
            }
        })
    }
}

fn field(object: &[u8], name: &str) -> Option<String> {
    let value = member(object, name)?;
    (value != b"null").then(|| value_text(value).into_owned())
}
