//! `rethread sql`: runs SQL over sessions.

mod print;
mod prompt;
mod schema;

use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rethread_sql::{Database, QueryLimits, SqlError, SqlSource, find_example};

use self::print::RowPrinter;
use super::AppContext;
use super::args;
use super::args::SqlFormat;
use super::clean;
use super::error::{self, CliError, Exit};
use super::number::parse_amount;
use super::out::Out;
use super::prices::load_price_table;
use super::style::{NAME, QUIET, paint};

/// Runs `rethread sql`: runs a statement and prints its rows, or opens a prompt.
///
/// Returns [`Exit::Nothing`] if the result has no rows.
pub(crate) fn run(args: &args::Sql, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    if let Some(table) = &args.schema {
        return schema::print(table, out);
    }
    if args.example.as_deref() == Some("") {
        return schema::print_examples(out);
    }
    let prices = load_price_table(args.prices.file(), app, out)?;
    let limits = QueryLimits { memory: parse_amount(&args.memory)?, time: Duration::from_secs(args.timeout) };
    let source = SqlSource { roots: &app.roots, cache: app.cache.as_ref(), prices: &prices };
    let fail = |sql: &str, error| CliError::Sql { sql: sql.to_owned(), error };
    let mut database = Database::new(source, limits, &app.clock.zone()).map_err(|error| fail("", error))?;
    let Some(sql) = read_statement(args)? else {
        return prompt::run(&mut database, app, out);
    };
    if args.explain {
        return print_plan(&sql, &database, out);
    }
    let format = if out.is_json() { None } else { Some(args.format) };
    if format == Some(SqlFormat::Parquet) && out.is_terminal() {
        return Err(CliError::BinaryOnTerminal);
    }
    out.allow_pager();
    let count = run_statement(&sql, &mut database, format, &AtomicBool::default(), out)?;
    if count == 0 && format == Some(SqlFormat::Table) {
        out.note("no rows");
    }
    Ok(Exit::from_found(count > 0))
}

/// Runs a statement and prints its rows. `None` prints the JSON objects of `--json`. Returns the number of rows. Printing
/// stops when `is_interrupted` is set.
fn run_statement(
    sql: &str,
    database: &mut Database<'_>,
    format: Option<SqlFormat>,
    is_interrupted: &AtomicBool,
    out: &mut Out,
) -> Result<usize, CliError> {
    let fail = |error| CliError::Sql { sql: sql.to_owned(), error };
    let columns = database.columns(sql).map_err(fail)?;
    let mut printer = RowPrinter::new(columns, format);
    printer.print_header(out)?;
    let mut failure = None;
    let result = database.query(sql, &mut |values| match printer.print_row(values, out) {
        Ok(()) => true,
        Err(error) => {
            failure = Some(error);
            false
        }
    });
    if let Some(error) = failure {
        return Err(error);
    }
    let summary = result.map_err(fail)?;
    if !printer.finish(is_interrupted, out)? {
        return Err(fail(SqlError::Stopped));
    }
    if let Some(report) = &summary.report {
        error::print_warnings(&report.failures, out);
        error::print_cache_warning(report.warning.as_ref(), out);
    }
    Ok(summary.rows)
}

/// Returns the statement to run. Returns `None` if a prompt must be opened.
fn read_statement(args: &args::Sql) -> Result<Option<String>, CliError> {
    if let Some(name) = &args.example {
        let example = find_example(name).ok_or_else(|| CliError::UnknownExample(name.clone()))?;
        return Ok(Some(example.sql.to_owned()));
    }
    match (&args.statement, &args.statement_file) {
        (Some(statement), _) if statement != "-" => Ok(Some(statement.clone())),
        (None, Some(path)) if path != Path::new("-") => {
            let text = std::fs::read_to_string(path);
            text.map(Some).map_err(|source| CliError::Unreadable(path.clone(), source))
        }
        (None, None) if io::stdin().is_terminal() => Ok(None),
        _ => {
            let mut text = String::new();
            io::stdin().lock().read_to_string(&mut text)?;
            Ok(Some(text))
        }
    }
}

/// Prints the tables, columns and files that a statement needs, and the steps of SQLite.
fn print_plan(sql: &str, database: &Database<'_>, out: &mut Out) -> Result<Exit, CliError> {
    let plan = database.explain(sql).map_err(|error| CliError::Sql { sql: sql.to_owned(), error })?;
    if out.is_json() {
        out.json(&crate::json::build_sql_plan(&plan))?;
        return Ok(Exit::Done);
    }
    for table in plan.selection.tables() {
        let columns: Vec<&str> = plan.selection.columns_of(table).iter().map(|column| column.name).collect();
        let columns = if columns.is_empty() { "(the number of rows)".to_owned() } else { columns.join(", ") };
        out.line(&format!("{} {}: {columns}", paint(QUIET, "reads"), paint(NAME, table.name())))?;
    }
    let filter = &plan.filter;
    let mut limits = Vec::new();
    let quote_all =
        |values: &[String]| values.iter().map(|value| clean::line(value)).collect::<Vec<_>>().join(", ");
    limits.extend(filter.sessions.as_deref().map(|ids| format!("sessions {}", quote_all(ids))));
    limits.extend(filter.projects.as_deref().map(|dirs| format!("projects {}", quote_all(dirs))));
    let format_time = |time| super::time::format_rfc3339(time).unwrap_or_default();
    limits.extend(filter.since.map(|time| format!("lines since {}", format_time(time))));
    limits.extend(filter.until.map(|time| format!("lines before {}", format_time(time))));
    if limits.is_empty() {
        limits.push("all".to_owned());
    }
    out.line(&format!("{} {}", paint(QUIET, "files"), limits.join("; ")))?;
    for step in &plan.steps {
        out.line(&format!("{}  {}", paint(QUIET, "step"), clean::line(step)))?;
    }
    Ok(Exit::Done)
}
