//! The SQL that makes the views of a lake, for engines that people already run.
//!
//! The views are the contract. The text is portable: joins, windows and `CASE`. Only the statements that read the Parquet
//! objects differ by engine.

use std::fmt::Write;

use rethread_engine::ops::tables::TableKind;

use crate::schema::{LakeTable, LakeType};

/// An engine whose SQL can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlEngine {
    /// DuckDB.
    Duckdb,
    /// Apache Spark SQL, and Sail.
    Spark,
    /// Trino.
    Trino,
    /// ClickHouse, and chdb.
    Clickhouse,
    /// Google BigQuery.
    Bigquery,
    /// Amazon Athena.
    Athena,
    /// Snowflake.
    Snowflake,
    /// Apache DataFusion.
    Datafusion,
}

impl SqlEngine {
    /// All engines.
    pub const ALL: &'static [SqlEngine] = &[
        SqlEngine::Duckdb,
        SqlEngine::Spark,
        SqlEngine::Trino,
        SqlEngine::Clickhouse,
        SqlEngine::Bigquery,
        SqlEngine::Athena,
        SqlEngine::Snowflake,
        SqlEngine::Datafusion,
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            SqlEngine::Duckdb => "duckdb",
            SqlEngine::Spark => "spark",
            SqlEngine::Trino => "trino",
            SqlEngine::Clickhouse => "clickhouse",
            SqlEngine::Bigquery => "bigquery",
            SqlEngine::Athena => "athena",
            SqlEngine::Snowflake => "snowflake",
            SqlEngine::Datafusion => "datafusion",
        }
    }

    /// Returns the beginning of the statement that makes a view.
    fn create_view(self) -> &'static str {
        match self {
            SqlEngine::Spark => "CREATE OR REPLACE TEMPORARY VIEW",
            _ => "CREATE OR REPLACE VIEW",
        }
    }

    /// Returns the name of a type in a table definition.
    fn type_name(self, lake_type: LakeType) -> &'static str {
        match (self, lake_type) {
            (SqlEngine::Bigquery, LakeType::Integer) => "INT64",
            (SqlEngine::Bigquery, LakeType::Boolean) => "BOOL",
            (SqlEngine::Bigquery, LakeType::Money) => "BIGNUMERIC",
            (SqlEngine::Bigquery, LakeType::Text) => "STRING",
            (SqlEngine::Snowflake, LakeType::Money) => "NUMBER(18,12)",
            (SqlEngine::Snowflake, LakeType::Time) => "TIMESTAMP_NTZ",
            (SqlEngine::Athena, LakeType::Text) => "STRING",
            (SqlEngine::Trino, LakeType::Time) => "TIMESTAMP(3)",
            (_, LakeType::Integer) => "BIGINT",
            (_, LakeType::Boolean) => "BOOLEAN",
            (_, LakeType::Time) => "TIMESTAMP",
            (_, LakeType::Money) => "DECIMAL(18,12)",
            (_, LakeType::Text) => "VARCHAR",
        }
    }
}

/// Returns the statements for an engine, in the order in which they must run. `location` is the folder or address of the lake.
///
/// Text of conversations is in a folder of its own; its views are made only with `with_text`.
pub fn build_view_sql(engine: SqlEngine, location: &str, with_text: bool) -> Vec<String> {
    let tables = LakeTable::all();
    let is_wanted = |table: &LakeTable| with_text || *table != LakeTable::Data(TableKind::Texts);
    let mut statements: Vec<String> =
        tables.into_iter().filter(is_wanted).map(|table| read_table(engine, location, table)).collect();
    let mut views = build_views(with_text);
    views.push(("otel_genai", build_otel_view(engine)));
    let create = |(name, query): (&str, String)| format!("{} {name} AS\n{query}", engine.create_view());
    statements.extend(views.into_iter().map(create));
    statements
}

/// Returns the statement that makes the raw table of an engine.
fn read_table(engine: SqlEngine, location: &str, table: LakeTable) -> String {
    let location = location.trim_end_matches('/');
    let text = |text: String| text.replace('\'', "''");
    let folder = text(format!("{location}/{}", table.folder()));
    let name = format!("{}_raw", table.name());
    let columns = table.columns();
    let names = columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ");
    let mut definitions = String::new();
    for column in &columns {
        let separator = if definitions.is_empty() { "" } else { ", " };
        let _ = write!(definitions, "{separator}{} {}", column.name, engine.type_name(column.lake_type));
    }
    let view = engine.create_view();
    match engine {
        SqlEngine::Duckdb => format!(
            "{view} {name} AS\nSELECT {names} FROM read_parquet('{folder}/*/*.parquet', union_by_name = true, hive_partitioning = false)"
        ),
        SqlEngine::Spark => format!(
            "CREATE OR REPLACE TEMPORARY VIEW {name} USING parquet OPTIONS (path '{folder}', mergeSchema 'true')"
        ),
        SqlEngine::Clickhouse => {
            let source = match location.split_once("://") {
                Some(("s3", _) | ("http" | "https", _)) => format!("s3('{folder}/*/*.parquet', 'Parquet')"),
                Some(("gs", _)) => format!("gcs('{folder}/*/*.parquet', 'Parquet')"),
                _ => format!("file('{folder}/*/*.parquet', 'Parquet')"),
            };
            format!(
                "{view} {name} AS\nSELECT {names} FROM {source} SETTINGS schema_inference_mode = 'union', use_hive_partitioning = 0"
            )
        }
        SqlEngine::Bigquery => format!(
            "CREATE OR REPLACE EXTERNAL TABLE {name} ({definitions})\nOPTIONS (format = 'PARQUET', uris = ['{folder}/*.parquet'])"
        ),
        SqlEngine::Athena => format!(
            "CREATE EXTERNAL TABLE IF NOT EXISTS {name} ({definitions})\nSTORED AS PARQUET LOCATION '{folder}/'"
        ),
        SqlEngine::Trino => format!(
            "CREATE TABLE IF NOT EXISTS {name} ({definitions})\nWITH (format = 'PARQUET', external_location = '{folder}/')"
        ),
        SqlEngine::Datafusion => {
            format!("CREATE EXTERNAL TABLE IF NOT EXISTS {name} STORED AS PARQUET LOCATION '{folder}/'")
        }
        SqlEngine::Snowflake => {
            let fields = columns
                .iter()
                .map(|column| {
                    let type_name = engine.type_name(column.lake_type);
                    format!("{0} {type_name} AS (VALUE:{0}::{type_name})", column.name)
                })
                .collect::<Vec<_>>()
                .join(", ");
            let folder = table.folder();
            format!(
                "CREATE OR REPLACE EXTERNAL TABLE {name} ({fields})\nLOCATION = @rethread_lake/{folder}/ FILE_FORMAT = (TYPE = PARQUET) PATTERN = '.*[.]parquet'"
            )
        }
    }
}

/// Returns the columns of a table, each with a prefix.
fn list_columns(table: LakeTable, prefix: &str, without: &[&str]) -> String {
    let columns = table.columns();
    let names = columns.iter().filter(|column| !without.contains(&column.name));
    names.map(|column| format!("{prefix}.{0} AS {0}", column.name)).collect::<Vec<_>>().join(", ")
}

/// The columns of a response that its best line determines. All others are those of its earliest line.
pub(crate) const TOKEN_COLUMNS: &[&str] = &[
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_creation_1h_input_tokens",
    "cache_read_input_tokens",
    "web_searches",
    "cost_usd",
];

/// Returns the query of the view with the names of the OpenTelemetry conventions for generative AI: a row per response and
/// per tool call.
fn build_otel_view(engine: SqlEngine) -> String {
    // The name, the value of a response, and that of a tool call.
    let columns = [
        ("gen_ai.provider.name", "'anthropic'", "'anthropic'"),
        ("gen_ai.operation.name", "'chat'", "'execute_tool'"),
        ("gen_ai.conversation.id", "r.session_id", "c.session_id"),
        ("gen_ai.agent.id", "r.agent_id", "c.agent_id"),
        ("gen_ai.agent.name", "r.agent_kind", "NULL"),
        ("gen_ai.response.id", "r.message_id", "c.message_id"),
        ("gen_ai.response.model", "r.model", "NULL"),
        ("gen_ai.response.finish_reasons", "r.stop_reason", "NULL"),
        // The convention counts cached tokens as input, the API does not.
        (
            "gen_ai.usage.input_tokens",
            "r.input_tokens + r.cache_creation_input_tokens + r.cache_read_input_tokens",
            "NULL",
        ),
        ("gen_ai.usage.output_tokens", "r.output_tokens", "NULL"),
        ("gen_ai.usage.cache_read.input_tokens", "r.cache_read_input_tokens", "NULL"),
        ("gen_ai.usage.cache_creation.input_tokens", "r.cache_creation_input_tokens", "NULL"),
        ("gen_ai.tool.name", "NULL", "c.tool"),
        ("gen_ai.tool.call.id", "NULL", "c.call_id"),
        ("error.type", "NULL", "c.failed"),
    ];
    let quote = |name: &str| match engine {
        // Names of columns have no dots there.
        SqlEngine::Bigquery => name.replace('.', "_"),
        SqlEngine::Spark | SqlEngine::Clickhouse => format!("`{name}`"),
        _ => format!("\"{name}\""),
    };
    let (mut responses, mut calls) = ("r.ts AS ts".to_owned(), "c.ts AS ts".to_owned());
    for (name, response, call) in columns {
        let name = quote(name);
        let _ = write!(responses, ", {response} AS {name}");
        let _ = write!(calls, ", {call} AS {name}");
    }
    format!("SELECT {responses} FROM responses r\nUNION ALL\nSELECT {calls} FROM tool_calls c")
}

/// Returns the names and queries of the views, in the order in which they must be made.
pub fn build_views(with_text: bool) -> Vec<(&'static str, String)> {
    let sources = LakeTable::Sources;
    let head_columns = list_columns(sources, "s", &[]);
    let mut views = vec![
        (
            "heads",
            format!(
                "SELECT {0} FROM (SELECT {head_columns}, row_number() OVER (PARTITION BY source_id ORDER BY generation DESC, revision DESC, push_id DESC) AS rn FROM sources_raw s) s WHERE s.rn = 1 AND NOT s.deleted",
                list_columns(sources, "s", &[])
            ),
        ),
        (
            "sources",
            format!(
                "SELECT {0} FROM (SELECT {head_columns}, row_number() OVER (PARTITION BY file_key ORDER BY bytes DESC, generation DESC, source_id) AS rn FROM heads s) s WHERE s.rn = 1",
                list_columns(sources, "s", &[])
            ),
        ),
    ];
    // Of the copies of a file on several machines, the longest one counts.
    let once = [
        ("sessions", TableKind::Sessions),
        ("entries", TableKind::Entries),
        ("messages", TableKind::Messages),
        ("turns", TableKind::Turns),
        ("branches", TableKind::Branches),
        ("problems", TableKind::Problems),
        ("texts", TableKind::Texts),
    ];
    for (name, kind) in once {
        if kind == TableKind::Texts && !with_text {
            continue;
        }
        let columns = list_columns(LakeTable::Data(kind), "r", &[]);
        views.push((
            name,
            format!(
                "SELECT {columns} FROM {name}_raw r JOIN sources s ON r.source_id = s.source_id AND r.push_id = s.push_id"
            ),
        ));
    }
    let responses = LakeTable::Data(TableKind::Responses);
    let all = list_columns(responses, "r", &[]);
    // Copies share the id, with these exceptions, as in `usage`: copies of old clients have no request, and a subagent repeats
    // responses of its session under requests of its own.
    views.push((
        "responses_by_request",
        format!(
            "SELECT {all},\n  CASE WHEN r.has_request THEN r.response_id\n    ELSE coalesce(min(CASE WHEN r.has_request THEN r.response_id END) OVER (PARTITION BY r.message_key), min(r.response_id) OVER (PARTITION BY r.message_key, r.session_id)) END AS request_response_id\nFROM responses_raw r JOIN heads h ON r.source_id = h.source_id AND r.push_id = h.push_id"
        ),
    ));
    views.push((
        "responses_by_copy",
        format!(
            "SELECT {all},\n  CASE WHEN r.is_agent THEN coalesce(min(CASE WHEN NOT r.is_agent THEN r.request_response_id END) OVER (PARTITION BY r.message_key, r.session_id), r.request_response_id)\n    ELSE r.request_response_id END AS copy_id\nFROM responses_by_request r"
        ),
    ));
    views.push((
        "responses_ranked",
        format!(
            "SELECT {all}, r.copy_id AS copy_id,\n  row_number() OVER (PARTITION BY r.copy_id ORDER BY CASE WHEN r.ts IS NULL THEN 1 ELSE 0 END, r.ts, CASE WHEN r.copied THEN 1 ELSE 0 END, r.session_id, r.source_id) AS origin_rank,\n  row_number() OVER (PARTITION BY r.copy_id ORDER BY r.output_tokens DESC, CASE WHEN r.ts IS NULL THEN 1 ELSE 0 END, r.ts, CASE WHEN r.copied THEN 1 ELSE 0 END, r.session_id, r.source_id) AS token_rank\nFROM responses_by_copy r"
        ),
    ));
    let mut without: Vec<&str> = TOKEN_COLUMNS.to_vec();
    without.push("response_id");
    let origin = list_columns(responses, "o", &without);
    let tokens =
        TOKEN_COLUMNS.iter().map(|name| format!("t.{name} AS {name}")).collect::<Vec<_>>().join(", ");
    views.push((
        "responses",
        format!(
            "SELECT o.copy_id AS response_id, {origin}, {tokens} FROM responses_ranked o JOIN responses_ranked t ON o.copy_id = t.copy_id WHERE o.origin_rank = 1 AND t.token_rank = 1"
        ),
    ));
    let calls = LakeTable::Data(TableKind::ToolCalls);
    let call_columns = list_columns(calls, "c", &[]);
    views.push((
        "tool_calls",
        format!(
            "SELECT {call_columns} FROM (SELECT {call_columns}, row_number() OVER (PARTITION BY c.call_key ORDER BY CASE WHEN c.result_line IS NULL THEN 1 ELSE 0 END, CASE WHEN c.ts IS NULL THEN 1 ELSE 0 END, c.ts, c.session_id, c.source_id) AS rn\nFROM tool_calls_raw c JOIN heads h ON c.source_id = h.source_id AND c.push_id = h.push_id) c WHERE c.rn = 1"
        ),
    ));
    let files = list_columns(LakeTable::Data(TableKind::Files), "f", &[]);
    views.push((
        "files",
        format!(
            "SELECT {files} FROM files_raw f JOIN tool_calls c ON f.source_id = c.source_id AND f.push_id = c.push_id AND f.call_id = c.call_id"
        ),
    ));
    views
}
