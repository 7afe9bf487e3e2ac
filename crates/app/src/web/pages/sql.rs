//! The SQL page: a query, the tables and examples next to it, the result as a table, a chart and a file.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use maud::{Markup, html};
use rethread_engine::ops::tables::{ColumnType, TableKind};
use rethread_sql::{Database, EXAMPLES, QueryLimits, ResultValue, SqlError, SqlSource, find_example};

use crate::html::frame::{Frame, render_page};
use crate::html::link::{Site, build_address};
use crate::text::clean;
use crate::text::figures::{count_noun, group_digits};
use crate::text::sql_result::{describe_error, format_csv_line, format_exact};
use crate::web::params::QueryParams;
use crate::web::response;
use crate::web::server::{Server, run_blocking};

/// The number of rows on the page. The file has all.
const MAX_ROWS: usize = 1000;
/// The number of bars of the chart.
const MAX_BARS: usize = 40;
/// The size of the file at which the query stops.
const MAX_CSV_BYTES: usize = 256 << 20;
/// The width of the chart, and of the space for the names of the bars, in pixels.
const CHART_WIDTH: f64 = 720.0;
const CHART_LEFT: f64 = 220.0;
/// The height of a bar with the space below it, in pixels.
const BAR_STEP: usize = 20;

/// The first rows of a result.
struct ResultPage {
    columns: Vec<String>,
    rows: Vec<Vec<ResultCell>>,
    /// The number of all rows.
    count: usize,
    millis: u128,
}

/// A value of a result. The number is that of the value, if it is one.
struct ResultCell {
    text: String,
    number: Option<f64>,
    is_null: bool,
}

/// Stops a query when the request is dropped, because the browser went to another page.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Responds with the page, and with the result of the query in the address.
pub(crate) async fn page(State(server): State<Arc<Server>>, params: QueryParams) -> Response {
    let example = params.text("example").and_then(find_example).map(|example| example.sql);
    let Some(sql) = params.text("q").or(example).map(str::to_owned) else {
        return run_blocking(server, |server| respond_with_page(server, "", None)).await;
    };
    let stop = StopOnDrop::default();
    let is_stopped = Arc::clone(&stop.0);
    let turn = server.queries.lock().await;
    let response = run_blocking(server.clone(), move |server| {
        let result = run_query(server, &sql, &is_stopped);
        respond_with_page(server, &sql, Some(&result))
    })
    .await;
    drop((turn, stop));
    response
}

/// Responds with the result of the query in the address as comma-separated values.
pub(crate) async fn csv(State(server): State<Arc<Server>>, params: QueryParams) -> Response {
    let sql = params.text("q").unwrap_or_default().to_owned();
    let stop = StopOnDrop::default();
    let is_stopped = Arc::clone(&stop.0);
    let turn = server.queries.lock().await;
    let response = run_blocking(server.clone(), move |server| match build_csv(server, &sql, &is_stopped) {
        Ok(text) => {
            let mut response = response::build(StatusCode::OK, "text/csv; charset=utf-8", text);
            let name = HeaderValue::from_static("attachment; filename=\"rethread.csv\"");
            response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
            response
        }
        Err(error) => respond_with_page(server, &sql, Some(&Err(error))),
    })
    .await;
    drop((turn, stop));
    response
}

/// Opens the tables over the sessions of the server and passes them to `run`.
fn with_database<T>(
    server: &Server,
    is_stopped: &Arc<AtomicBool>,
    run: impl FnOnce(&mut Database<'_>) -> Result<T, SqlError>,
) -> Result<T, SqlError> {
    let context = &server.context;
    let source = SqlSource { roots: &context.roots, cache: context.cache.as_ref(), prices: &server.prices };
    let mut database = Database::new(source, QueryLimits::default(), &server.clock().zone())?;
    database.set_cancel_flag(Arc::clone(is_stopped));
    run(&mut database)
}

/// Runs a query and returns its first rows.
fn run_query(server: &Server, sql: &str, is_stopped: &Arc<AtomicBool>) -> Result<ResultPage, SqlError> {
    let start = Instant::now();
    with_database(server, is_stopped, |database| {
        let columns = database.columns(sql)?;
        let mut rows = Vec::new();
        let summary = database.query(sql, &mut |values| {
            if rows.len() < MAX_ROWS {
                rows.push(values.iter().map(ResultCell::from_value).collect());
            }
            true
        })?;
        Ok(ResultPage { columns, rows, count: summary.rows, millis: start.elapsed().as_millis() })
    })
}

/// Runs a query and returns all rows as comma-separated values.
fn build_csv(server: &Server, sql: &str, is_stopped: &Arc<AtomicBool>) -> Result<String, SqlError> {
    with_database(server, is_stopped, |database| {
        let columns = database.columns(sql)?;
        let mut text = format_csv_line(columns.iter().map(String::as_str)) + "\r\n";
        database.query(sql, &mut |values| {
            let cells: Vec<String> = values.iter().map(format_exact).collect();
            text.push_str(&format_csv_line(cells.iter().map(String::as_str)));
            text.push_str("\r\n");
            text.len() < MAX_CSV_BYTES
        })?;
        Ok(text)
    })
}

impl ResultCell {
    fn from_value(value: &ResultValue<'_>) -> ResultCell {
        let number = match value {
            ResultValue::Integer(number) => Some(*number as f64),
            ResultValue::Real(number) => Some(*number),
            _ => None,
        };
        let is_null = *value == ResultValue::Null;
        ResultCell { text: clean::text(&format_exact(value)).into_owned(), number, is_null }
    }
}

fn respond_with_page(server: &Server, sql: &str, result: Option<&Result<ResultPage, SqlError>>) -> Response {
    let site = server.site();
    let body = html! {
        main id="main" class="sql" {
            h1 { "SQL over your sessions" }
            div class="sql-columns" {
                div {
                    (render_form(site, sql, matches!(result, Some(Ok(_)))))
                    @if let Some(Err(error)) = result { (render_error(error)) }
                    (render_examples(site))
                }
                (render_schema())
            }
            @if let Some(Ok(page)) = result { (render_result(page)) }
        }
    };
    let frame = Frame { section: "sql", ..server.frame("SQL") };
    response::ok(render_page(&frame, &body))
}

fn render_form(site: &Site, sql: &str, has_result: bool) -> Markup {
    html! {
        form class="sql-query" action=(site.page("/sql")) {
            textarea name="q" aria-label="Statement" spellcheck="false" autocomplete="off" autofocus[sql.is_empty()]
                placeholder="SELECT model, count(*), usd(sum(cost)) FROM responses GROUP BY model" { (clean::text(sql)) }
            p {
                button type="submit" class="button" { "Run" }
                @if has_result { a href=(build_address(&site.page("/sql/csv"), [("q", sql)])) download="rethread.csv" { "Download CSV" } }
                span class="muted" { "Queries only read. Limits: 1 GB of memory, 60 seconds." }
            }
        }
    }
}

fn render_examples(site: &Site) -> Markup {
    html! {
        ul class="sql-examples" aria-label="Examples" {
            @for example in EXAMPLES {
                li { a href=(build_address(&site.page("/sql"), [("example", example.name)])) title=(example.description) { (example.name) } }
            }
        }
    }
}

fn render_schema() -> Markup {
    let type_name = |column_type: ColumnType| match column_type {
        ColumnType::Integer => "integer",
        ColumnType::Boolean => "0 or 1",
        ColumnType::Time => "time",
        ColumnType::Money => "picodollars",
        ColumnType::Text => "text",
    };
    html! {
        section class="sql-schema" tabindex="0" aria-label="Tables" {
            h2 { "Tables" }
            @for table in TableKind::ALL {
                details {
                    summary title=(table.description()) { (table.name()) }
                    ul {
                        @for column in table.columns() {
                            li title=(column.description) { span { (column.name) } span class="muted" { (type_name(column.column_type)) } }
                        }
                    }
                }
            }
            p class="muted" { code { "usd(cost)" } ", " code { "day(ts)" } ", " code { "day(ts, zone)" } ", " code { "percentile(x, 95)" } }
        }
    }
}

fn render_error(error: &SqlError) -> Markup {
    let (message, hint) = describe_error(error);
    html! {
        div class="sql-error" role="alert" {
            p { strong { (message) } }
            @if !hint.is_empty() { p { (hint) } }
        }
    }
}

fn render_result(page: &ResultPage) -> Markup {
    let is_numeric: Vec<bool> = (0..page.columns.len())
        .map(|idx| page.rows.iter().all(|row| row[idx].number.is_some() || row[idx].is_null))
        .collect();
    html! {
        p class="muted sql-facts" role="status" {
            (count_noun(page.count as u64, "row")) " in " (page.millis) " ms"
            @if page.count > page.rows.len() { "; the first " (group_digits(page.rows.len() as u64)) " are shown, the CSV file has all" }
        }
        (render_chart(page, &is_numeric))
        @if !page.rows.is_empty() {
            div class="sql-result" tabindex="0" role="region" aria-label="Result" {
                table {
                    thead { tr { @for (name, is_numeric) in page.columns.iter().zip(&is_numeric) {
                        th scope="col" class=[is_numeric.then_some("number")] { (clean::line(name)) }
                    } } }
                    tbody { @for row in &page.rows { tr { @for (cell, is_numeric) in row.iter().zip(&is_numeric) {
                        td class=[is_numeric.then_some("number")] {
                            @if cell.is_null { span class="muted" { "–" } } @else { (cell.text) }
                        }
                    } } } }
                }
            }
        }
    }
}

/// Renders bars for the last column with numbers, named by the first column. Renders nothing without such columns, or if a
/// number is negative.
fn render_chart(page: &ResultPage, is_numeric: &[bool]) -> Markup {
    let value_idx = is_numeric.iter().rposition(|is_numeric| *is_numeric).filter(|&idx| idx > 0);
    let has_names = is_numeric.first() == Some(&false);
    let Some(value_idx) = value_idx.filter(|_| has_names && page.rows.len() > 1) else { return html! {} };
    let bars: Vec<(&str, f64)> = page
        .rows
        .iter()
        .take(MAX_BARS)
        .map(|row| (row[0].text.as_str(), row[value_idx].number.unwrap_or_default()))
        .collect();
    let max = bars.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    if max <= 0.0 || !max.is_finite() || bars.iter().any(|(_, value)| *value < 0.0) {
        return html! {};
    }
    let height = bars.len() * BAR_STEP + 4;
    let label = format!("{} by {}", clean::line(&page.columns[value_idx]), clean::line(&page.columns[0]));
    let scale = (CHART_WIDTH - CHART_LEFT - 90.0) / max;
    html! {
        p class="sql-caption" { (label) }
        svg class="sql-chart" role="img" aria-label=(label) width=(CHART_WIDTH) height=(height) viewBox={ "0 0 " (CHART_WIDTH) " " (height) } {
            @for (idx, (name, value)) in bars.iter().enumerate() {
                @let y = idx * BAR_STEP;
                @let width = (value * scale * 10.0).round() / 10.0;
                text x=(CHART_LEFT - 8.0) y=(y + 14) text-anchor="end" { (shorten(name)) }
                rect x=(CHART_LEFT) y=(y + 3) width=(width.max(1.0)) height=(BAR_STEP - 6) rx="2" {}
                text x=(CHART_LEFT + width + 6.0) y=(y + 14) { (format_number(*value)) }
            }
        }
    }
}

/// Shortens the name of a bar to its end, which is the informative part of a path.
fn shorten(name: &str) -> String {
    const MAX_CHARS: usize = 30;
    let line = clean::line(name);
    let count = line.chars().count();
    if count <= MAX_CHARS {
        return line;
    }
    format!("…{}", line.chars().skip(count - MAX_CHARS + 1).collect::<String>())
}

/// Formats a number with at most four decimals.
fn format_number(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return group_digits(number as u64);
    }
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
