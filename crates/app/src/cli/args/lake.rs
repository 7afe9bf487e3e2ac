//! Arguments of `lake`.

use std::path::PathBuf;

use rethread_lake::Level;
use rethread_lake::views::SqlEngine;

use super::name_parser;

/// Share sessions with a team as Parquet, for your SQL engine
///
/// A lake is a folder, a mounted share or a bucket. `push` writes what changed as Parquet, at the privacy level of this machine:
/// `metrics` (numbers, times and names that the client defines), `names` (also paths, branches and names of tools) or `text`
/// (also conversations, without recognised secrets). `views` prints the SQL with which DuckDB, Spark, Trino, ClickHouse,
/// BigQuery, Athena or Snowflake counts each response once, over all machines and forks. See docs/lake.md.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread lake init /mnt/team/lake --key ~/lake.key     create a lake and its key\n  \
    rethread lake join /mnt/team/lake --key ~/lake.key     set up this machine, at level metrics\n  \
    rethread lake push /mnt/team/lake --dry-run            show what would leave the machine\n  \
    rethread lake push /mnt/team/lake\n  \
    rethread lake views /mnt/team/lake --for duckdb | duckdb -init /dev/stdin")]
pub(crate) struct Lake {
    #[command(subcommand)]
    pub(crate) action: LakeAction,
}

/// An action on a lake.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum LakeAction {
    /// Create a lake in an empty folder or bucket, and its key
    ///
    /// The key makes keys of names, so that equal projects can be counted without being named. Give it to every developer, but
    /// not to those who only read the lake. It must not be inside the lake. With --level, this machine joins, too.
    #[command(after_help = "Examples:\n  \
        rethread lake init /mnt/team/lake --key ~/lake.key\n  \
        rethread lake init s3://bucket/lake --key ~/lake.key --level metrics")]
    Init {
        /// Folder or address: /mnt/lake, s3://bucket/lake, gs://bucket/lake, az://container/lake
        lake: String,
        /// File for the new key, outside of the lake
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// Also set up this machine, at this level: metrics, names or text
        #[arg(long, value_parser = name_parser(Level::ALL, Level::name), hide_possible_values = true)]
        level: Option<Level>,
    },
    /// Set up this machine for a lake
    ///
    /// The level is what leaves the machine. To change it, join again: the next push writes everything at the new level, and
    /// `lake compact` deletes the former rows a day later.
    #[command(after_help = "Examples:\n  \
        rethread lake join /mnt/team/lake --key ~/lake.key\n  \
        rethread lake join /mnt/team/lake --key ~/lake.key --level names")]
    Join {
        /// Folder or address of the lake
        lake: String,
        /// File with the key of the team
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// Privacy level: metrics, names or text
        #[arg(long, default_value = "metrics", value_parser = name_parser(Level::ALL, Level::name), hide_possible_values = true)]
        level: Level,
    },
    /// Write what changed since the last push
    ///
    /// Reads changed sessions only, archived ones included. Readers see a push as a whole or not at all, and an interrupted one
    /// can be repeated. Sessions that were deleted here stay in the lake. To a bucket, the files are copied with `aws` or
    /// `rclone`, which take their credentials from the environment.
    #[command(after_help = "Examples:\n  \
        rethread lake push /mnt/team/lake --dry-run\n  \
        rethread lake push s3://bucket/lake")]
    Push {
        /// Folder or address of the lake
        lake: String,
        /// Show what would leave the machine, table by table with sample rows, and write nothing
        #[arg(short = 'd', long)]
        dry_run: bool,
    },
    /// Show what the lake contains, and what this machine pushed
    Status {
        /// Folder of the lake
        lake: PathBuf,
    },
    /// Read every object, and compare the rows with what the pushes state
    ///
    /// Exit code 1 if an object is damaged or missing.
    Check {
        /// Folder of the lake
        lake: PathBuf,
    },
    /// Remove what this machine pushed
    ///
    /// The rows disappear from the views at once, and the files that contain them are deleted or written again without them.
    /// A forgotten session is not pushed again. With --me, this machine also leaves the lake. Copies that the team made
    /// elsewhere are not changed.
    #[command(group = clap::ArgGroup::new("scope").required(true))]
    #[command(after_help = "Examples:\n  \
        rethread lake forget /mnt/team/lake --session 3f2a --dry-run\n  \
        rethread lake forget /mnt/team/lake --me --yes")]
    Forget {
        /// Folder of the lake
        lake: PathBuf,
        /// Id of a session
        #[arg(long, value_name = "ID", group = "scope")]
        session: Option<String>,
        /// Everything that this user pushed from this machine
        #[arg(long, group = "scope")]
        me: bool,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
        /// Show what would be removed, and change nothing
        #[arg(short = 'd', long)]
        dry_run: bool,
    },
    /// Merge the objects of many pushes into few
    ///
    /// Pushes may go on meanwhile. Superseded objects are deleted after a time of grace, since readers may use them.
    Compact {
        /// Folder of the lake
        lake: PathBuf,
        /// Time for which superseded objects are kept: 15m, 2h, 1d
        #[arg(long, value_name = "TIME", default_value = "1d")]
        grace: String,
        /// Show what would be merged, and change nothing
        #[arg(short = 'd', long)]
        dry_run: bool,
    },
    /// Print the SQL that makes the views of an engine
    ///
    /// The views are `sessions`, `entries`, `messages`, `turns`, `responses`, `tool_calls`, `files`, `branches`, `problems`,
    /// `heads`, `sources` and `otel_genai`. The tables named `*_raw` contain copies and superseded rows: sum the views instead.
    #[command(after_help = "Examples:\n  \
        rethread lake views /mnt/team/lake --for duckdb > views.sql\n  \
        rethread lake views s3://bucket/lake --for trino")]
    Views {
        /// Folder or address of the lake, as the engine reaches it
        lake: String,
        /// Engine: duckdb, spark, trino, clickhouse, bigquery, athena, snowflake or datafusion
        #[arg(long = "for", value_name = "ENGINE", value_parser = name_parser(SqlEngine::ALL, SqlEngine::name), hide_possible_values = true)]
        engine: SqlEngine,
        /// Also make the view `texts`, which needs rights for the folder `text`
        #[arg(long)]
        with_text: bool,
    },
}
