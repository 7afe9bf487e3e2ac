//! JSON of `sql`.

use rethread_engine::ops::tables::{ColumnType, TableColumn, TableKind};
use rethread_sql::{ExampleQuery, QueryPlan};
use serde::Serialize;
use serde_json::{Map, Value};

use super::object::{ObjectJson, build_object, format_time};

#[derive(Serialize)]
pub(crate) struct SqlRowJson {
    row: Map<String, Value>,
}

/// Builds the `sql_row` object: a row of the result.
pub(crate) fn build_sql_row(row: Map<String, Value>) -> ObjectJson<SqlRowJson> {
    build_object("sql_row", SqlRowJson { row })
}

#[derive(Serialize)]
pub(crate) struct SqlColumnJson {
    table: &'static str,
    name: &'static str,
    column_type: &'static str,
    description: &'static str,
}

/// Builds the `sql_column` object: a column of a table.
pub(crate) fn build_sql_column(table: TableKind, column: &TableColumn) -> ObjectJson<SqlColumnJson> {
    let column_type = match column.column_type {
        ColumnType::Integer => "integer",
        ColumnType::Boolean => "boolean",
        ColumnType::Time => "time",
        ColumnType::Money => "picodollars",
        ColumnType::Text => "text",
    };
    build_object(
        "sql_column",
        SqlColumnJson {
            table: table.name(),
            name: column.name,
            column_type,
            description: column.description,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct SqlExampleJson {
    name: &'static str,
    description: &'static str,
    sql: &'static str,
}

/// Builds the `sql_example` object.
pub(crate) fn build_sql_example(example: &ExampleQuery) -> ObjectJson<SqlExampleJson> {
    let ExampleQuery { name, description, sql } = *example;
    build_object("sql_example", SqlExampleJson { name, description, sql })
}

#[derive(Serialize)]
pub(crate) struct SqlPlanJson<'p> {
    tables: Vec<SqlPlanTableJson>,
    sessions: Option<&'p [String]>,
    projects: Option<&'p [String]>,
    since: Option<String>,
    until: Option<String>,
    steps: &'p [String],
}

#[derive(Serialize)]
struct SqlPlanTableJson {
    name: &'static str,
    columns: Vec<&'static str>,
}

/// Builds the `sql_plan` object of `sql --explain`.
pub(crate) fn build_sql_plan(plan: &QueryPlan) -> ObjectJson<SqlPlanJson<'_>> {
    let columns = |table| plan.selection.columns_of(table).iter().map(|column| column.name).collect();
    build_object(
        "sql_plan",
        SqlPlanJson {
            tables: plan
                .selection
                .tables()
                .map(|table| SqlPlanTableJson { name: table.name(), columns: columns(table) })
                .collect(),
            sessions: plan.filter.sessions.as_deref(),
            projects: plan.filter.projects.as_deref(),
            since: format_time(plan.filter.since),
            until: format_time(plan.filter.until),
            steps: &plan.steps,
        },
    )
}
