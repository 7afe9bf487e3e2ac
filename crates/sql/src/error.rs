//! Errors of queries.

use std::time::Duration;

/// The reason why a query failed.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    /// SQLite cannot parse or run the statement.
    #[error("{message}")]
    Statement {
        /// The message of SQLite.
        message: String,
        /// The byte offset of the error in the statement. `None` if SQLite does not report it.
        offset: Option<usize>,
    },
    /// The text contains no statement.
    #[error("there is no statement")]
    Empty,
    /// The text contains more than one statement.
    #[error("only one statement can be run at a time")]
    SeveralStatements,
    /// The statement would write, or access something other than the tables.
    #[error("{action} is not allowed: queries only read")]
    Forbidden {
        /// The refused action, such as `INSERT`.
        action: String,
    },
    /// The statement has parameters, which have no values.
    #[error("the statement has parameters")]
    Parameters,
    /// The query took longer than the limit.
    #[error("the query took longer than {} s", limit.as_secs_f64())]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// The query needed more memory than the limit.
    #[error("the query needs more than {} MB of memory", limit >> 20)]
    OutOfMemory {
        /// The limit in bytes.
        limit: u64,
    },
    /// The consumer of the rows stopped the query.
    #[error("the query was stopped")]
    Stopped,
}
