//! The rows of the tables.

use std::sync::Arc;

use rethread_core::entry::Timestamp;
use rethread_core::usage::Money;

use super::column::{ColumnPrivacy, TableColumn, TableField, TableValue, table_row};

/// A shared text: most texts occur in many rows.
pub(super) type Name = Arc<str>;

table_row! {
    /// A session: one main file with its subagents.
    SessionTableRow {
        /// The id of the session.
        Metrics session_id: Name,
        /// The id of its file in the other tables.
        Metrics source_id: Name,
        /// The title.
        Text title: Option<String>,
        /// The origin of the title: `custom`, `ai`, `summary` or `prompt`.
        Metrics title_source: Option<&'static str>,
        /// The start of the first prompt.
        Text first_prompt: Option<String>,
        /// The folder in which the session was started.
        Names project: Option<Name>,
        /// The git branch of the last line that names one.
        Names git_branch: Option<Name>,
        /// The first client version.
        Vocabulary client_version_first: Option<String>,
        /// The last client version.
        Vocabulary client_version_last: Option<String>,
        /// The models in the order of their first response, separated by commas.
        Vocabulary models: Option<String>,
        /// How the client was first started: `cli`, `sdk-cli`, ….
        Vocabulary entrypoint: Option<String>,
        /// Whether a program ran the session.
        Metrics headless: bool,
        /// The time of the first message.
        Metrics first_ts: Option<Timestamp>,
        /// The time of the last message.
        Metrics last_ts: Option<Timestamp>,
        /// The number of turns on all branches.
        Metrics turns: usize,
        /// The number of branches.
        Metrics branches: usize,
        /// The number of compactions.
        Metrics compactions: usize,
        /// The number of subagents.
        Metrics agents: usize,
        /// The number of user and assistant lines, without subagents.
        Metrics entries: usize,
        /// The number of lines that are not blank.
        Metrics lines: usize,
        /// The size of its files in bytes, subagents included.
        Metrics bytes: u64,
        /// The number of problems in its file.
        Metrics problems: usize,
        /// The id of the session from which it was forked.
        Metrics forked_from: Option<String>,
        /// The id of the session with which its client process started.
        Metrics continued_from: Option<String>,
        /// The id of the session that planned what this one implements.
        Metrics plan: Option<String>,
        /// Whether only the archive has the session.
        Metrics archived: bool,
        /// The path of its file.
        Names path: Name,
    }
}

table_row! {
    /// A line of a file.
    EntryTableRow {
        /// The id of the file.
        Metrics source_id: Name,
        /// The line number, from 1.
        Metrics line: u32,
        /// The id of the session to which the file belongs.
        Metrics session_id: Name,
        /// The id of the subagent that wrote the line.
        Metrics agent_id: Option<Name>,
        /// The uuid.
        Metrics uuid: Option<String>,
        /// The uuid of the parent.
        Metrics parent_uuid: Option<String>,
        /// The type of the line: `user`, `assistant`, `system`, ….
        Vocabulary kind: Option<Name>,
        /// The subtype of a system line, or the type of an attachment or progress line.
        Vocabulary subtype: Option<Name>,
        /// The role in the conversation: `prompt`, `answer`, `results`, ….
        Metrics role: &'static str,
        /// The time.
        Metrics ts: Option<Timestamp>,
        /// The number of the turn, from 1.
        Metrics turn: Option<u32>,
        /// The relation to what the client loads: `active`, `compacted`, `abandoned`, `orphaned`, `subagent` or `unlinked`.
        Metrics context_status: &'static str,
        /// The length in bytes.
        Metrics bytes: u32,
        /// The id of the message.
        Metrics message_id: Option<String>,
        /// The id of the API request.
        Metrics request_id: Option<String>,
        /// The id of the prompt, which telemetry uses too.
        Metrics prompt_id: Option<String>,
        /// The client version.
        Vocabulary client_version: Option<Name>,
        /// The git branch.
        Names git_branch: Option<Name>,
        /// The working folder.
        Names cwd: Option<Name>,
        /// Whether the line is an API error or contains the result of a failed call.
        Metrics is_error: bool,
    }
}

table_row! {
    /// A message: a user line, or all lines of a response.
    MessageTableRow {
        /// The id of the file.
        Metrics source_id: Name,
        /// The number of its first line.
        Metrics line: u32,
        /// The id of the session.
        Metrics session_id: Name,
        /// The id of the subagent.
        Metrics agent_id: Option<Name>,
        /// The uuid of its first line.
        Metrics uuid: Option<String>,
        /// The id of the message.
        Metrics message_id: Option<String>,
        /// The role in the conversation: `prompt`, `answer`, `results`, ….
        Metrics role: &'static str,
        /// The model.
        Vocabulary model: Option<Name>,
        /// The time of its first line.
        Metrics ts: Option<Timestamp>,
        /// The number of the turn, from 1.
        Metrics turn: Option<u32>,
        /// The relation to what the client loads.
        Metrics context_status: &'static str,
        /// The id of the prompt, which telemetry uses too.
        Metrics prompt_id: Option<String>,
        /// The number of its lines.
        Metrics lines: u32,
        /// Why the model stopped.
        Vocabulary stop_reason: Option<Name>,
        /// The number of bytes of text.
        Metrics text_bytes: u64,
        /// The number of bytes of thinking.
        Metrics thinking_bytes: u64,
        /// The number of tool calls.
        Metrics tool_calls: u32,
        /// The number of tool results.
        Metrics tool_results: u32,
        /// The number of images and documents.
        Metrics images: u32,
    }
}

table_row! {
    /// A turn of a session file: a prompt and everything up to the next one.
    TurnTableRow {
        /// The id of the file.
        Metrics source_id: Name,
        /// The number of the turn, from 1.
        Metrics turn: u32,
        /// The id of the session.
        Metrics session_id: Name,
        /// The uuid of the prompt.
        Metrics uuid: Option<String>,
        /// The line of the prompt.
        Metrics line: u32,
        /// The role of the prompt: `prompt`, `command` or `shell`.
        Metrics role: &'static str,
        /// The relation of the prompt to what the client loads.
        Metrics context_status: &'static str,
        /// The earliest time.
        Metrics first_ts: Option<Timestamp>,
        /// The latest time.
        Metrics last_ts: Option<Timestamp>,
        /// The duration in milliseconds that the client reports, or the time from first to last line.
        Metrics duration_ms: Option<u64>,
        /// The number of responses in the file. A fork copies turns with their responses.
        Metrics responses: u32,
        /// The number of tool calls.
        Metrics tool_calls: u32,
        /// The number of tool calls that failed.
        Metrics tool_errors: u32,
        /// Input tokens that were not cached.
        Metrics input_tokens: u64,
        /// Output tokens.
        Metrics output_tokens: u64,
        /// Tokens written to the cache.
        Metrics cache_creation_input_tokens: u64,
        /// Tokens written to the cache for one hour, a part of the former.
        Metrics cache_creation_1h_input_tokens: u64,
        /// Tokens read from the cache.
        Metrics cache_read_input_tokens: u64,
        /// The cost of its responses that have a price.
        Metrics cost: Money,
        /// The id of the prompt, which telemetry uses too.
        Metrics prompt_id: Option<String>,
        /// The number of bytes of the prompt.
        Metrics prompt_bytes: u64,
        /// The prompt.
        Text prompt: Option<String>,
    }
}

table_row! {
    /// A response of the API, with its tokens and cost.
    ResponseTableRow {
        /// An id that all copies of the response share.
        Metrics response_id: String,
        /// The id of the message.
        Metrics message_id: Option<String>,
        /// The id of the API request.
        Metrics request_id: Option<String>,
        /// The id of the session.
        Metrics session_id: Name,
        /// The id of the file.
        Metrics source_id: Name,
        /// The number of its first line.
        Metrics line: Option<u32>,
        /// The id of the subagent.
        Metrics agent_id: Option<Name>,
        /// The type of the subagent.
        Names agent_kind: Option<Name>,
        /// Whether a subagent received it.
        Metrics is_agent: bool,
        /// The folder in which the session was started.
        Names project: Option<Name>,
        /// The git branch.
        Names git_branch: Option<Name>,
        /// The client version.
        Vocabulary client_version: Option<Name>,
        /// The model.
        Vocabulary model: Option<Name>,
        /// Whether it was received in fast mode.
        Metrics fast: bool,
        /// The time of its first line.
        Metrics ts: Option<Timestamp>,
        /// The number of the turn, from 1.
        Metrics turn: Option<u32>,
        /// The relation to what the client loads.
        Metrics context_status: Option<&'static str>,
        /// Whether its line states that it was copied from another session.
        Metrics copied: bool,
        /// Whether the file has only a lower bound of its output tokens.
        Metrics lower_bound: bool,
        /// Why the model stopped.
        Vocabulary stop_reason: Option<Name>,
        /// Input tokens that were not cached.
        Metrics input_tokens: u64,
        /// Output tokens.
        Metrics output_tokens: u64,
        /// Tokens written to the cache.
        Metrics cache_creation_input_tokens: u64,
        /// Tokens written to the cache for one hour, a part of the former.
        Metrics cache_creation_1h_input_tokens: u64,
        /// Tokens read from the cache.
        Metrics cache_read_input_tokens: u64,
        /// The number of web searches.
        Metrics web_searches: u64,
        /// The cost. Null if the model has no price.
        Metrics cost: Option<Money>,
        /// The tools that it calls, one name for each call, as a JSON array. Null if there are none.
        Names tools: Option<Name>,
    }
}

table_row! {
    /// A tool call with its result.
    ToolCallTableRow {
        /// The id of the call.
        Metrics call_id: String,
        /// The id of the session.
        Metrics session_id: Name,
        /// The id of the file.
        Metrics source_id: Name,
        /// The id of the subagent.
        Metrics agent_id: Option<Name>,
        /// The id of the message that contains the call.
        Metrics message_id: Option<String>,
        /// The folder in which the session was started.
        Names project: Option<Name>,
        /// The number of the turn, from 1.
        Metrics turn: Option<u32>,
        /// The line of the call.
        Metrics line: u32,
        /// The line of the result.
        Metrics result_line: Option<u32>,
        /// The name of the tool.
        Vocabulary tool: Name,
        /// The name of the MCP server.
        Names mcp_server: Option<Name>,
        /// The time of the call.
        Metrics ts: Option<Timestamp>,
        /// The time of the result.
        Metrics answered_ts: Option<Timestamp>,
        /// The time from call to result in milliseconds.
        Metrics duration_ms: Option<u64>,
        /// Whether the result is marked as an error.
        Metrics is_error: bool,
        /// The reason why the call counts as failed. Null if it does not.
        Metrics failed: Option<&'static str>,
        /// The relation of the call to what the client loads.
        Metrics context_status: &'static str,
        /// The length of the input in bytes.
        Metrics input_bytes: u64,
        /// The length of the result in bytes.
        Metrics result_bytes: Option<u64>,
        /// The path in the input.
        Names file_path: Option<String>,
        /// The first word of a shell command.
        Names command_word: Option<String>,
    }
}

table_row! {
    /// A file that a tool call accessed.
    FileTableRow {
        /// The id of the call.
        Metrics call_id: String,
        /// The number of the file in the call, from 1.
        Metrics n: u32,
        /// The id of the session.
        Metrics session_id: Name,
        /// The id of the file with the call.
        Metrics source_id: Name,
        /// The time of the call.
        Metrics ts: Option<Timestamp>,
        /// The number of the turn, from 1.
        Metrics turn: Option<u32>,
        /// The relation of the call to what the client loads.
        Metrics context_status: &'static str,
        /// The kind of access: `read`, `create`, `write`, `edit` or `search`.
        Metrics op: &'static str,
        /// The path.
        Names path: String,
        /// The extension in lower case, without a dot.
        Vocabulary extension: Option<String>,
        /// The number of added lines, as the client records it.
        Metrics lines_added: Option<u32>,
        /// The number of removed lines, as the client records it.
        Metrics lines_removed: Option<u32>,
        /// Whether the call failed.
        Metrics failed: bool,
    }
}

table_row! {
    /// A branch of a session file.
    BranchTableRow {
        /// The id of the file.
        Metrics source_id: Name,
        /// The number of the branch, from 1, in the order of `rethread branches`.
        Metrics branch: usize,
        /// The id of the session.
        Metrics session_id: Name,
        /// The uuid of its last message.
        Metrics tip_uuid: String,
        /// The line of its last message.
        Metrics tip_line: u32,
        /// The line of the last entry that it shares with another branch.
        Metrics fork_line: Option<u32>,
        /// The cause of the fork: `edit`, `retry`, `interrupt`, ….
        Metrics fork_kind: Option<&'static str>,
        /// The number of turns from the root to the tip.
        Metrics turns: usize,
        /// The number of turns on no other branch.
        Metrics own_turns: usize,
        /// The number of entries on no other branch.
        Metrics own_entries: usize,
        /// The newest time of its own messages.
        Metrics last_ts: Option<Timestamp>,
        /// Whether the client resumes from it.
        Metrics is_active: bool,
        /// Whether the parent of its first entry is missing.
        Metrics is_orphaned: bool,
        /// Tokens of the responses that are on no other branch.
        Metrics own_tokens: u64,
        /// Tokens of all its responses.
        Metrics tokens: u64,
        /// The line of its first own prompt, or of its first own entry.
        Metrics first_line: u32,
    }
}

table_row! {
    /// Odd data in a file.
    ProblemTableRow {
        /// The id of the file.
        Metrics source_id: Name,
        /// The line number, from 1. 0 refers to the whole file.
        Metrics line: u32,
        /// The number of the problem in the file, from 1.
        Metrics n: u32,
        /// The id of the session.
        Metrics session_id: Name,
        /// The kind of problem: `torn`, `missing-parent`, ….
        Metrics code: &'static str,
        /// `damage` if data is lost or out of place, `odd` if it is merely unusual.
        Metrics severity: &'static str,
        /// The byte offset in the file.
        Metrics byte_offset: u64,
    }
}

table_row! {
    /// A text: a prompt, an answer, thinking, the input or the result of a tool.
    TextTableRow {
        /// The id of the file.
        Metrics source_id: Name,
        /// The line number, from 1.
        Metrics line: u32,
        /// The number of the text on the line, from 1.
        Metrics n: u32,
        /// The id of the session.
        Metrics session_id: Name,
        /// The uuid of the line.
        Metrics uuid: Option<String>,
        /// The source: `prompt`, `answer`, `thinking`, `tool`, `result`, `system` or `summary`.
        Metrics role: &'static str,
        /// The tool whose input it is.
        Vocabulary tool: Option<Name>,
        /// The time.
        Metrics ts: Option<Timestamp>,
        /// The number of the turn, from 1.
        Metrics turn: Option<u32>,
        /// The relation to what the client loads.
        Metrics context_status: &'static str,
        /// The text.
        Text text: String,
    }
}
