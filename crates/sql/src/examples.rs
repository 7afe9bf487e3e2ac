//! Useful queries, by name.

/// A query that `rethread sql --example` runs.
#[derive(Debug, Clone, Copy)]
pub struct ExampleQuery {
    /// The name.
    pub name: &'static str,
    /// The description, one sentence.
    pub description: &'static str,
    /// The statement.
    pub sql: &'static str,
}

/// Returns the example with a name. Returns `None` if there is none.
pub fn find_example(name: &str) -> Option<&'static ExampleQuery> {
    EXAMPLES.iter().find(|example| example.name == name)
}

/// All examples, by topic.
pub const EXAMPLES: &[ExampleQuery] = &[
    ExampleQuery {
        name: "cost-by-day",
        description: "Cost and tokens by day and model.",
        sql: "SELECT day(ts) AS day, model, count(*) AS responses,
  sum(input_tokens + output_tokens + cache_creation_input_tokens + cache_read_input_tokens) AS tokens,
  usd(sum(cost)) AS usd
FROM responses GROUP BY 1, 2 ORDER BY 1 DESC, usd DESC",
    },
    ExampleQuery {
        name: "cost-by-week",
        description: "Cost and tokens by week, which starts on Monday.",
        sql: "SELECT date(day(ts), '-6 days', 'weekday 1') AS week, count(*) AS responses,
  sum(input_tokens + output_tokens + cache_creation_input_tokens + cache_read_input_tokens) AS tokens,
  usd(sum(cost)) AS usd
FROM responses GROUP BY 1 ORDER BY 1 DESC",
    },
    ExampleQuery {
        name: "cost-by-block",
        description: "Cost and tokens of the last five-hour blocks, by which subscriptions are metered.",
        sql: "SELECT block, count(*) AS responses, sum(tokens) AS tokens, usd(sum(cost)) AS usd
FROM (
  SELECT block(ts) OVER (ORDER BY ts) AS block, cost,
    input_tokens + output_tokens + cache_creation_input_tokens + cache_read_input_tokens AS tokens
  FROM responses
)
GROUP BY block ORDER BY block DESC LIMIT 20",
    },
    ExampleQuery {
        name: "cost-by-tool",
        description: "Cost of the responses that call a tool. The cost of a response is divided equally among its calls.",
        sql: "SELECT coalesce(t.value, '(none)') AS tool, count(t.key) AS calls,
  sum(share(output_tokens, t.key, json_array_length(tools))) AS output,
  usd(sum(share(cost, t.key, json_array_length(tools)))) AS usd
FROM responses LEFT JOIN json_each(tools) t GROUP BY 1 ORDER BY usd DESC",
    },
    ExampleQuery {
        name: "cost-by-project",
        description: "Cost by project, with its sessions.",
        sql: "SELECT project, count(DISTINCT session_id) AS sessions, count(*) AS responses, usd(sum(cost)) AS usd
FROM responses GROUP BY project ORDER BY usd DESC",
    },
    ExampleQuery {
        name: "cost-by-status",
        description: "Cost of what is in context, of what was compacted, abandoned or done by subagents.",
        sql: "SELECT context_status, count(*) AS responses, usd(sum(cost)) AS usd
FROM responses GROUP BY 1 ORDER BY usd DESC",
    },
    ExampleQuery {
        name: "most-expensive-turns",
        description: "The turns that cost the most, with the start of their prompts.",
        sql: "SELECT usd(cost) AS usd, turns.responses, tool_calls AS calls, substr(session_id, 1, 8) AS session,
  turn, substr(replace(prompt, char(10), ' '), 1, 60) AS prompt
FROM turns ORDER BY cost DESC LIMIT 20",
    },
    ExampleQuery {
        name: "most-expensive-sessions",
        description: "The sessions that cost the most.",
        sql: "SELECT usd(sum(r.cost)) AS usd, count(*) AS responses, s.turns, substr(s.session_id, 1, 8) AS session, s.title
FROM responses r JOIN sessions s USING (session_id)
GROUP BY s.session_id ORDER BY usd DESC LIMIT 20",
    },
    ExampleQuery {
        name: "subagent-share",
        description: "Cost of subagents by their type.",
        sql: "SELECT coalesce(agent_kind, CASE is_agent WHEN 1 THEN '(unknown)' ELSE '(main)' END) AS agent,
  count(*) AS responses, usd(sum(cost)) AS usd
FROM responses GROUP BY 1 ORDER BY usd DESC",
    },
    ExampleQuery {
        name: "cache-hit-rate",
        description: "Share of the input that was read from the cache, by day.",
        sql: "SELECT day(ts) AS day,
  round(100.0 * sum(cache_read_input_tokens)
    / sum(input_tokens + cache_creation_input_tokens + cache_read_input_tokens), 1) AS percent_cached
FROM responses GROUP BY 1
HAVING sum(input_tokens + cache_creation_input_tokens + cache_read_input_tokens) > 0 ORDER BY 1 DESC",
    },
    ExampleQuery {
        name: "cache-breaks",
        description: "Responses that wrote the cache anew although an earlier one had written it.",
        sql: "SELECT ts, substr(session_id, 1, 8) AS session, turn, cache_creation_input_tokens AS written,
  cache_read_input_tokens AS read, usd(cost) AS usd, gap_s
FROM (
  SELECT *, lag(cache_creation_input_tokens + cache_read_input_tokens)
      OVER (PARTITION BY source_id ORDER BY ts) AS before,
    unixepoch(ts) - lag(unixepoch(ts)) OVER (PARTITION BY source_id ORDER BY ts) AS gap_s
  FROM responses
)
WHERE before > 20000 AND cache_read_input_tokens < before / 2 AND written > before / 2
ORDER BY written DESC LIMIT 20",
    },
    ExampleQuery {
        name: "model-use",
        description: "Responses, output and cost by model and month.",
        sql: "SELECT substr(day(ts), 1, 7) AS month, model, count(*) AS responses, sum(output_tokens) AS output,
  usd(sum(cost)) AS usd
FROM responses GROUP BY 1, 2 ORDER BY 1 DESC, usd DESC",
    },
    ExampleQuery {
        name: "tool-errors",
        description: "Calls and failures by tool.",
        sql: "SELECT tool, count(*) AS calls, count(failed) AS failed,
  round(100.0 * count(failed) / count(*), 1) AS percent
FROM tool_calls GROUP BY tool ORDER BY failed DESC, calls DESC",
    },
    ExampleQuery {
        name: "tool-durations",
        description: "Median and 95th percentile of the durations of calls, by tool.",
        sql: "SELECT tool, count(duration_ms) AS calls, percentile(duration_ms, 50) AS median_ms,
  percentile(duration_ms, 95) AS p95_ms, max(duration_ms) AS max_ms
FROM tool_calls GROUP BY tool HAVING calls > 0 ORDER BY p95_ms DESC",
    },
    ExampleQuery {
        name: "slowest-calls",
        description: "The longest waits for a tool.",
        sql: "SELECT round(duration_ms / 1000.0, 1) AS seconds, tool, coalesce(command_word, file_path) AS what, ts,
  substr(session_id, 1, 8) AS session, turn
FROM tool_calls WHERE duration_ms IS NOT NULL ORDER BY duration_ms DESC LIMIT 20",
    },
    ExampleQuery {
        name: "failed-commands",
        description: "The shell commands that fail most often, by their first word.",
        sql: "SELECT command_word, count(*) AS calls, count(failed) AS failed,
  round(100.0 * count(failed) / count(*), 1) AS percent
FROM tool_calls WHERE command_word IS NOT NULL
GROUP BY command_word HAVING failed > 0 ORDER BY failed DESC LIMIT 20",
    },
    ExampleQuery {
        name: "mcp-servers",
        description: "Calls, failures and durations by MCP server.",
        sql: "SELECT coalesce(mcp_server, '(built in)') AS server, count(*) AS calls, count(failed) AS failed,
  percentile(duration_ms, 50) AS median_ms
FROM tool_calls GROUP BY 1 ORDER BY calls DESC",
    },
    ExampleQuery {
        name: "largest-results",
        description: "The tool results that fill the context most.",
        sql: "SELECT result_bytes, tool, coalesce(file_path, command_word) AS what, substr(session_id, 1, 8) AS session,
  turn, context_status
FROM tool_calls ORDER BY result_bytes DESC LIMIT 20",
    },
    ExampleQuery {
        name: "most-read-files",
        description: "The files that are read again and again.",
        sql: "SELECT path, count(*) AS reads, count(DISTINCT session_id) AS sessions
FROM files WHERE op = 'read' GROUP BY path ORDER BY reads DESC LIMIT 20",
    },
    ExampleQuery {
        name: "most-changed-files",
        description: "The files with the most changed lines.",
        sql: "SELECT path, count(*) AS changes, sum(lines_added) AS added, sum(lines_removed) AS removed
FROM files WHERE op IN ('create', 'write', 'edit') AND NOT failed
GROUP BY path ORDER BY coalesce(added, 0) + coalesce(removed, 0) DESC LIMIT 20",
    },
    ExampleQuery {
        name: "sessions-by-project",
        description: "Sessions, turns and size by project.",
        sql: "SELECT project, count(*) AS sessions, sum(turns) AS turns, sum(bytes) AS bytes, max(last_ts) AS last
FROM sessions GROUP BY project ORDER BY sessions DESC",
    },
    ExampleQuery {
        name: "longest-turns",
        description: "The turns that took longest.",
        sql: "SELECT round(duration_ms / 60000.0, 1) AS minutes, tool_calls AS calls, substr(session_id, 1, 8) AS session,
  turn, substr(replace(prompt, char(10), ' '), 1, 60) AS prompt
FROM turns ORDER BY duration_ms DESC LIMIT 20",
    },
    ExampleQuery {
        name: "busiest-hours",
        description: "Prompts by hour of the day, in UTC.",
        sql: "SELECT strftime('%H', ts) AS hour, count(*) AS prompts
FROM messages WHERE role = 'prompt' AND agent_id IS NULL AND ts IS NOT NULL GROUP BY 1 ORDER BY 1",
    },
    ExampleQuery {
        name: "abandoned-branches",
        description: "What was abandoned: branches that the client does not resume from, by cause.",
        sql: "SELECT coalesce(fork_kind, '(root)') AS cause, count(*) AS branches, sum(own_turns) AS turns,
  sum(own_tokens) AS tokens
FROM branches WHERE NOT is_active GROUP BY 1 ORDER BY tokens DESC",
    },
    ExampleQuery {
        name: "damage",
        description: "Odd and lost data in the files, by kind.",
        sql: "SELECT code, severity, count(*) AS problems, count(DISTINCT source_id) AS files
FROM problems GROUP BY 1, 2 ORDER BY severity, problems DESC",
    },
];
