//! Arguments of `sql`.

use std::path::PathBuf;

use clap::Args;

/// Run SQL over sessions, messages, responses, tool calls and files
///
/// The tables are filled from live and archived sessions when a statement reads them; each response and each tool call is in
/// them once. Without a statement, opens a prompt on a terminal, or reads the statement from stdin. Queries only read: they
/// cannot write, attach databases or read files. `--schema` lists the tables, `--example` useful queries. The dialect is
/// that of SQLite, with the functions `usd(cost)`, `day(ts)`, `day(ts, zone)` and `percentile(x, 95)`. Times are texts in UTC,
/// costs are whole picodollars.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rethread sql \"SELECT model, count(*), usd(sum(cost)) FROM responses GROUP BY model\"\n  \
    rethread sql --example cost-by-day\n  \
    rethread sql --schema tool_calls\n  \
    rethread sql --file report.sql --format csv > report.csv\n  \
    rethread sql \"SELECT * FROM tool_calls\" --format parquet > calls.parquet\n  \
    rethread sql --explain \"SELECT count(*) FROM entries WHERE session_id = '3f2a…'\"")]
pub(crate) struct Sql {
    /// Statement to run, or `-` to read it from stdin
    #[arg(conflicts_with_all = ["statement_file", "example", "schema"])]
    pub(crate) statement: Option<String>,
    /// Read the statement from this file
    #[arg(long = "file", value_name = "FILE", conflicts_with_all = ["example", "schema"])]
    pub(crate) statement_file: Option<PathBuf>,
    /// Run the example with this name, or list all examples
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", conflicts_with = "schema")]
    pub(crate) example: Option<String>,
    /// List the tables, or the columns of this table
    #[arg(long, value_name = "TABLE", num_args = 0..=1, default_missing_value = "")]
    pub(crate) schema: Option<String>,
    /// Print what the statement would read and how, without reading sessions
    #[arg(long, conflicts_with = "schema")]
    pub(crate) explain: bool,
    /// Format of the result: table, csv, jsonl or parquet
    #[arg(short, long, value_name = "FORMAT", hide_possible_values = true, default_value = "table")]
    pub(crate) format: SqlFormat,
    /// Stop if SQLite needs more memory, for example 512M or 4G
    #[arg(long, value_name = "SIZE", default_value = "1G")]
    pub(crate) memory: String,
    /// Stop after this number of seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) timeout: u64,
    #[command(flatten)]
    pub(crate) prices: super::usage::PriceArgs,
}

/// The format of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SqlFormat {
    /// Aligned columns.
    Table,
    /// Comma-separated values with a header, exact.
    Csv,
    /// One JSON object per row.
    Jsonl,
    /// A Parquet file.
    Parquet,
}
