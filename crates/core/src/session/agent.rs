//! Subagents: their files and the calls that started them.
//!
//! Four layouts were measured: lines in the main file (1.x, 2.0.1), `agent-*.jsonl` next to it (2.0.28 to 2.0.76),
//! `<session>/subagents/agent-*.jsonl` (2.1.14 on), and the same with a `.meta.json` that names the call and, for
//! nested agents, the parent agent.

use std::collections::HashSet;

use crate::entry::{BlockKind, Entry, EntryRole, JsonStr, Kind, find_member, members, value_text};
use crate::id::{Id, IdMap};
use crate::tree::{EntryVisitor, LineSpan};

/// The content of the `.meta.json` next to an agent's file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentMeta {
    /// The type of the agent.
    pub agent_type: Option<String>,
    /// A short description of the task.
    pub description: Option<String>,
    /// The id of the tool call that started it.
    pub tool_use_id: Option<String>,
    /// The id of the agent that started it. `None` if the main session did.
    pub parent: Option<String>,
}

impl AgentMeta {
    /// Parses the bytes of a `.meta.json` file. Missing and null fields, and those after a syntax error, are `None`.
    pub fn parse(bytes: &[u8]) -> AgentMeta {
        let mut meta = AgentMeta::default();
        for (key, value) in members(bytes) {
            let field = match &*key.decode() {
                "agentType" => &mut meta.agent_type,
                "description" => &mut meta.description,
                "toolUseId" => &mut meta.tool_use_id,
                "parentAgentId" => &mut meta.parent,
                _ => continue,
            };
            *field = (value != b"null").then(|| value_text(value).into_owned());
        }
        meta
    }
}

/// A tool call that starts a subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCall {
    /// The id of the call.
    pub tool_use_id: String,
    /// The requested type of agent. Empty if the call names none.
    pub kind: String,
    /// A short description of the task.
    pub description: String,
    /// The prompt of the subagent.
    pub prompt: String,
    /// The number of the line with the call.
    pub line: u32,
}

/// A subagent of a session.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    /// The agent id. Empty for agents in the main file of old clients.
    pub id: String,
    /// The type of the agent. Empty if unknown.
    pub kind: String,
    /// A short description of the task.
    pub description: String,
    /// The id of the tool call that started it. `None` if no call was found.
    pub tool_use: Option<String>,
    /// The id of the agent that started it. `None` if the main session did.
    pub parent: Option<String>,
}

/// Collects the calls that start subagents, and the links from agents to calls.
#[derive(Debug, Default)]
pub struct AgentCallIndex {
    /// The calls, in file order.
    pub calls: Vec<AgentCall>,
    /// Pairs of an agent id and the id of its call, from results and progress lines that name the agent.
    pub agents: Vec<(String, String)>,
    /// The call ids and agent ids added so far.
    seen: IdMap<()>,
}

impl AgentCallIndex {
    /// Adds the agent calls in an entry, or the link from an agent to its call that the entry contains.
    pub fn add(&mut self, entry: &Entry<'_>, line: u32) {
        match entry.kind {
            Kind::Assistant => self.add_calls(entry, line),
            Kind::User if entry.role() == EntryRole::Results => self.add_result_link(entry),
            Kind::Progress => {
                let agent = entry.payload.and_then(|data| read_text_member(data, "agentId"));
                if let (Some(agent), Some(call)) = (agent, entry.parent_tool_use_id) {
                    self.link_agent(agent, call);
                }
            }
            _ => {}
        }
    }

    /// Adds the calls of the tools `Task` and `Agent`, each id once.
    fn add_calls(&mut self, entry: &Entry<'_>, line: u32) {
        for block in entry.blocks().iter().filter(|block| block.kind == BlockKind::ToolUse) {
            let starts_agent =
                block.tool_name.is_some_and(|tool| tool.equals("Task") || tool.equals("Agent"));
            let (Some(id), Some(input)) = (block.id, block.body.filter(|_| starts_agent)) else {
                continue;
            };
            if self.seen.insert(id.to_id(), ()).is_some() {
                continue;
            }
            self.calls.push(AgentCall {
                tool_use_id: id.decode().into_owned(),
                kind: read_text_member(input, "subagent_type").unwrap_or_default(),
                description: read_text_member(input, "description").unwrap_or_default(),
                prompt: read_text_member(input, "prompt").unwrap_or_default(),
                line,
            });
        }
    }

    /// Links the agent that a tool result names to the call that the result answers.
    fn add_result_link(&mut self, entry: &Entry<'_>) {
        let agent = entry.tool_use_result.and_then(|result| read_text_member(result, "agentId"));
        let call = entry.blocks().iter().find_map(|block| block.id);
        if let (Some(agent), Some(call)) = (agent, call) {
            self.link_agent(agent, call);
        }
    }

    /// Records the call that started an agent. The first call of an agent counts.
    fn link_agent(&mut self, agent: String, call: JsonStr<'_>) {
        let key = Id::from_text(agent.as_bytes());
        if self.seen.insert(key, ()).is_none() {
            self.agents.push((agent, call.decode().into_owned()));
        }
    }

    /// Finds the call that started an agent: by its meta file, else by a result or progress line, else by prompt.
    ///
    /// `agent` is the agent id, `prompt` its first prompt, and `used_calls` contains the ids of calls that other agents
    /// have, which a prompt does not match. Returns `None` if no call matches.
    pub fn find_call(
        &self,
        agent: &str,
        meta: &AgentMeta,
        prompt: &str,
        used_calls: &HashSet<String>,
    ) -> Option<&AgentCall> {
        let linked_call = self.agents.iter().find(|(id, _)| id == agent).map(|(_, call)| call.as_str());
        let call = meta.tool_use_id.as_deref().or(linked_call);
        self.calls.iter().find(|candidate| match call {
            Some(call) => candidate.tool_use_id == call,
            None => {
                let is_unused = !used_calls.contains(&candidate.tool_use_id);
                is_unused && !prompt.is_empty() && candidate.prompt.trim() == prompt.trim()
            }
        })
    }
}

impl EntryVisitor for AgentCallIndex {
    fn visit_entry(&mut self, entry: &Entry<'_>, span: LineSpan, _: EntryRole) {
        self.add(entry, span.line);
    }
}

/// Returns a member of a JSON object as text. Returns `None` if it is missing or null.
fn read_text_member(object: &[u8], name: &str) -> Option<String> {
    let value = find_member(object, name)?;
    (value != b"null").then(|| value_text(value).into_owned())
}
