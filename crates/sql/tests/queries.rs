//! Queries over generated and real sessions: results equal those of the engine, and nothing but reading is possible.

#![expect(clippy::disallowed_methods, reason = "the tests write the stores that they query")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::tz::TimeZone;
use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::usage::PriceTable;
use rethread_engine::ops::stats::collect_stats;
use rethread_engine::ops::usage::{GroupBy, GroupKey, UsageRequest, usage};
use rethread_engine::{CacheDir, Roots};
use rethread_sql::{Database, EXAMPLES, QueryLimits, ResultValue, SqlError, SqlSource, find_example};
use rethread_testkit::spending::StoreGenerator;
use rethread_testkit::{real, script};
use tempfile::TempDir;

/// A store in a temporary folder.
struct TestStore {
    folder: TempDir,
    prices: PriceTable,
}

impl TestStore {
    fn new() -> TestStore {
        TestStore { folder: tempfile::tempdir().expect("a temporary folder"), prices: PriceTable::built_in() }
    }

    fn generate(seed: u64) -> TestStore {
        let store = TestStore::new();
        for file in &StoreGenerator::new(seed, 19).store.files {
            store.write(&file.path, &file.bytes());
        }
        store
    }

    fn with_session(text: &str) -> TestStore {
        let store = TestStore::new();
        store.write("-home-ann-garden/aaaaaaaa-0000-4000-8000-000000000001.jsonl", &script::bytes(text));
        store
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.folder.path().join(".claude/projects").join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("the folder can be created");
        std::fs::write(path, bytes).expect("the file can be written");
    }

    fn roots(&self) -> Roots {
        Roots::new(vec![self.folder.path().join(".claude")])
    }
}

/// Returns the rows of a query as texts.
fn try_query(
    roots: &Roots,
    cache: Option<&CacheDir>,
    prices: &PriceTable,
    limits: QueryLimits,
    sql: &str,
) -> Result<Vec<Vec<String>>, SqlError> {
    let source = SqlSource { roots, cache, prices };
    let mut database = Database::new(source, limits, &TimeZone::UTC)?;
    query_again(&mut database, sql)
}

fn query_again(database: &mut Database<'_>, sql: &str) -> Result<Vec<Vec<String>>, SqlError> {
    let mut rows = Vec::new();
    database.query(sql, &mut |values| {
        rows.push(values.iter().map(format_value).collect());
        true
    })?;
    Ok(rows)
}

fn format_value(value: &ResultValue<'_>) -> String {
    match value {
        ResultValue::Null => "null".to_owned(),
        ResultValue::Integer(number) => number.to_string(),
        ResultValue::Real(number) => number.to_string(),
        ResultValue::Text(text) => (*text).to_owned(),
        ResultValue::Blob(bytes) => format!("{bytes:?}"),
    }
}

fn query(store: &TestStore, sql: &str) -> Vec<Vec<String>> {
    let rows = try_query(&store.roots(), None, &store.prices, QueryLimits::default(), sql);
    rows.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn query_error(store: &TestStore, sql: &str) -> SqlError {
    match try_query(&store.roots(), None, &store.prices, QueryLimits::default(), sql) {
        Err(error) => error,
        Ok(rows) => panic!("{sql}: {rows:?}"),
    }
}

/// Returns the statement that sums up responses in a grouping of `usage`.
fn group_sql(by: GroupBy) -> String {
    let key = match by {
        GroupBy::Day => "day(ts)",
        GroupBy::Week => "date(day(ts), '-6 days', 'weekday 1')",
        GroupBy::Month => "substr(day(ts), 1, 7)",
        GroupBy::Session => "session_id",
        GroupBy::Project => "project",
        GroupBy::Branch => "git_branch",
        GroupBy::Model => "model || iif(fast, '[fast]', '')",
        GroupBy::ContextStatus => "context_status",
        GroupBy::Agent => "iif(is_agent, agent_kind, 'main')",
        GroupBy::Tool => {
            return "SELECT t.value, sum(coalesce(t.key, 0) = 0), sum(share(input_tokens, t.key, n)), \
                sum(share(output_tokens, t.key, n)), sum(share(cache_creation_1h_input_tokens, t.key, n) \
                + share(cache_creation_input_tokens - cache_creation_1h_input_tokens, t.key, n)), \
                sum(share(cache_read_input_tokens, t.key, n)), coalesce(sum(share(cost, t.key, n)), 0) \
                FROM (SELECT *, json_array_length(tools) AS n FROM responses) r LEFT JOIN json_each(r.tools) t \
                GROUP BY 1"
                .to_owned();
        }
        GroupBy::Block => "block(ts) OVER (ORDER BY ts)",
    };
    format!(
        "SELECT key, count(*), sum(input_tokens), sum(output_tokens), sum(cache_creation_input_tokens), \
         sum(cache_read_input_tokens), coalesce(sum(cost), 0) FROM (SELECT *, {key} AS key FROM responses) GROUP BY 1"
    )
}

/// Checks the groups of the responses against `usage`, and the tools against `stats`. Returns the number of groups of each
/// grouping.
fn check_totals(roots: &Roots, prices: &PriceTable, case: &str) -> Vec<usize> {
    let mut group_counts = Vec::new();
    for by in GroupBy::ALL {
        let sql = group_sql(by);
        let rows = try_query(roots, None, prices, QueryLimits::default(), &sql).expect("rows");
        let actual: BTreeMap<String, Vec<String>> =
            rows.into_iter().map(|row| (row[0].clone(), row[1..].to_vec())).collect();
        let request = UsageRequest {
            by,
            then_by: None,
            since: None,
            until: None,
            session: None,
            project: None,
            model: None,
            by_context_status: false,
            zone: TimeZone::UTC,
            now: Timestamp(0),
            prices,
        };
        let expected: BTreeMap<String, Vec<String>> = usage(roots, &request, None)
            .rows
            .iter()
            .map(|row| {
                let total = row.totals.total();
                let tokens = total.counts.usage;
                let numbers = [
                    total.counts.responses as u128,
                    tokens.input.into(),
                    tokens.output.into(),
                    tokens.cache_write.into(),
                    tokens.cache_read.into(),
                    total.cost.picodollars(),
                ];
                (format_key(&row.key, by), numbers.map(|number| number.to_string()).to_vec())
            })
            .collect();
        assert_eq!(actual, expected, "{case}: {by:?}");
        group_counts.push(actual.len());
    }
    let tools = try_query(
        roots,
        None,
        prices,
        QueryLimits::default(),
        "SELECT tool, count(*), sum(is_error) FROM tool_calls GROUP BY tool ORDER BY tool",
    );
    let stats = collect_stats(roots, false, None).counts.unique_tools();
    let stats = stats.into_iter().filter(|(_, tool)| tool.calls > 0);
    let expected: Vec<Vec<String>> =
        stats.map(|(name, tool)| vec![name, tool.calls.to_string(), tool.errors.to_string()]).collect();
    assert_eq!(tools.expect("rows"), expected, "{case}");
    group_counts
}

fn format_key(key: &GroupKey, by: GroupBy) -> String {
    match key {
        GroupKey::Day(day) if by == GroupBy::Month => day.date().to_string()[..7].to_owned(),
        GroupKey::Day(day) => day.date().to_string(),
        GroupKey::Name(name) => name.clone(),
        GroupKey::ContextStatus(status) => status.name().to_owned(),
        GroupKey::Block(start) => {
            let start = jiff::Timestamp::from_millisecond(start.0).expect("a time of a session");
            start.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
        }
        GroupKey::Unknown => "null".to_owned(),
    }
}

#[test]
fn totals_equal_those_of_usage_in_every_grouping() {
    for seed in 400..408 {
        let store = TestStore::generate(seed);
        let group_counts = check_totals(&store.roots(), &store.prices, &format!("seed {seed}"));
        for (by, count) in GroupBy::ALL.iter().zip(group_counts) {
            assert!(count > 1, "seed {seed}: {by:?} has several groups");
        }
    }
}

#[test]
fn totals_of_real_sessions_equal_those_of_usage() {
    let prices = PriceTable::built_in();
    for variable in ["RETHREAD_GOLDEN", "RETHREAD_CORPUS"] {
        if let Some(path) = real::data_path("SQL totals", variable) {
            check_totals(&Roots::new(vec![path]), &prices, variable);
        }
    }
}

/// Returns a key that two stores with equal sessions share, without paths.
fn all_values(store: &TestStore, cache: Option<&CacheDir>, sql: &str) -> Vec<Vec<String>> {
    try_query(&store.roots(), cache, &store.prices, QueryLimits::default(), sql).expect("rows")
}

#[test]
fn conditions_that_select_files_change_no_result() {
    let store = TestStore::generate(410);
    let cache = CacheDir::new(store.folder.path().join("cache"));
    let rows = query(&store, "SELECT session_id, project FROM sessions ORDER BY session_id LIMIT 5");
    let times = query(&store, "SELECT ts FROM entries WHERE ts IS NOT NULL ORDER BY ts");
    let middle = times[times.len() / 2][0].clone();
    let mut conditions = vec![
        format!("ts >= '{middle}'"),
        format!("ts < '{}'", &middle[..10]),
        format!("ts <= '{}' AND ts > '{}'", &middle[..10], &times[times.len() / 3][0]),
        format!("ts = '{middle}'"),
    ];
    for row in &rows {
        conditions.push(format!("session_id = '{}'", row[0]));
        conditions.push(format!("session_id IN ('{}', 'x') AND ts >= '{middle}'", row[0]));
    }
    for table in ["entries", "messages", "tool_calls", "files", "texts", "responses"] {
        for condition in &conditions {
            let columns = "source_id, session_id, ts, context_status, turn";
            let pruned = format!("SELECT {columns} FROM {table} WHERE {condition} ORDER BY 1, 3, 5");
            // The subquery hides the conditions from the filter.
            let whole =
                format!("SELECT {columns} FROM (SELECT * FROM {table}) WHERE {condition} ORDER BY 1, 3, 5");
            let expected = all_values(&store, None, &whole);
            for cache in [None, Some(&cache), Some(&cache)] {
                assert_eq!(all_values(&store, cache, &pruned), expected, "{pruned}");
            }
        }
    }
}

#[test]
fn a_database_fills_only_what_is_missing() {
    let store = TestStore::generate(411);
    let roots = store.roots();
    let source = SqlSource { roots: &roots, cache: None, prices: &store.prices };
    let mut database = Database::new(source, QueryLimits::default(), &TimeZone::UTC).expect("a database");
    let mut count_of = |sql: &str| {
        let mut value = String::new();
        let summary = database
            .query(sql, &mut |values| {
                value = format_value(&values[0]);
                true
            })
            .expect("a row");
        (value, summary.report.is_some())
    };
    let (all, is_read) = count_of("SELECT count(*) FROM entries");
    assert!(is_read);
    assert_eq!(count_of("SELECT count(*) FROM entries"), (all.clone(), false));
    assert!(count_of("SELECT count(uuid) FROM entries").1, "another column");
    // A filtered table must not be taken for the whole one.
    let some = count_of("SELECT count(*) FROM turns WHERE session_id = 'none'");
    assert_eq!(some, ("0".to_owned(), true));
    assert_ne!(count_of("SELECT count(*) FROM turns").0, "0");
    assert_eq!(count_of("SELECT count(*) FROM entries WHERE uuid = uuid OR uuid IS NULL"), (all, false));
}

#[test]
fn every_example_runs_and_finds_something() {
    let store = TestStore::generate(412);
    store.write("-damaged/bbbbbbbb-0000-4000-8000-000000000001.jsonl", b"{\"type\":\"user\"\n");
    let read = r#"{"type":"tool_use","id":"toolu_r","name":"Read","input":{"file_path":"beds.md"}}"#;
    let call = format!(
        "u1: go\n  a1: !Bash make test\n    u2 @+5: =!a1 no rule\n      a2: !mcp__garden__plant beans\n        \
         u3: =a2 planted\n          a3: {read}\n            a4: done\n  a5: or not\n"
    );
    store.write("-calls/cccccccc-0000-4000-8000-000000000001.jsonl", &script::bytes(&call));
    assert!(EXAMPLES.len() >= 20);
    for example in EXAMPLES {
        assert!(find_example(example.name).is_some());
        let rows = query(&store, example.sql);
        // Generated stores have neither changed files nor broken caches.
        let may_be_empty = ["most-changed-files", "cache-breaks", "abandoned-branches"];
        assert!(!rows.is_empty() || may_be_empty.contains(&example.name), "{}", example.name);
    }
}

#[test]
fn the_columns_that_a_statement_reads_are_enough() {
    let store = TestStore::generate(414);
    let roots = store.roots();
    let source = SqlSource { roots: &roots, cache: None, prices: &store.prices };
    let mut filled = Database::new(source, QueryLimits::default(), &TimeZone::UTC).expect("a database");
    for table in rethread_engine::ops::tables::TableKind::ALL {
        query_again(&mut filled, &format!("SELECT * FROM {} LIMIT 1", table.name())).expect("rows");
    }
    let others = [
        "SELECT count(*) FROM turns NATURAL JOIN sessions",
        "SELECT title, turn FROM sessions JOIN turns USING (\"session_id\") ORDER BY 1, 2",
        "SELECT count(*) FROM entries e JOIN messages m USING (source_id, line) WHERE m.role = 'answer'",
        "SELECT count(*) FROM turns t WHERE EXISTS (SELECT 1 FROM responses r WHERE r.source_id = t.source_id \
         AND r.turn = t.turn AND r.cost > 0)",
        "SELECT count(*) FROM responses WHERE (session_id, source_id) IN (SELECT session_id, source_id FROM sessions)",
        "WITH s AS MATERIALIZED (SELECT * FROM sessions) SELECT sum(turns) FROM s",
        "SELECT uuid FROM entries ORDER BY ts, source_id, line LIMIT 5",
        "SELECT count(*) FILTER (WHERE is_error) FROM tool_calls",
        "SELECT sum(n) OVER (PARTITION BY tool ORDER BY n) FROM (SELECT tool, count(*) AS n FROM tool_calls GROUP BY tool)",
        "SELECT max(ROWID) FROM entries",
        "SELECT session_id FROM turns INTERSECT SELECT session_id FROM responses ORDER BY 1",
        "SELECT s.* FROM sessions s LEFT JOIN branches b ON b.source_id = s.source_id ORDER BY s.session_id, b.branch",
    ];
    for sql in EXAMPLES.iter().map(|example| example.sql).chain(others) {
        let expected = query_again(&mut filled, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        assert_eq!(query(&store, sql), expected, "{sql}");
    }
}

#[test]
fn statements_can_only_read() {
    let store = TestStore::generate(413);
    let secret = store.folder.path().join("other.db");
    std::fs::write(&secret, b"").expect("the file can be written");
    let attach = format!("ATTACH '{}' AS other", secret.display());
    for sql in [
        "INSERT INTO sessions (session_id) VALUES ('x')",
        "UPDATE sessions SET title = 'x'",
        "DELETE FROM sessions",
        "DROP TABLE sessions",
        "CREATE TABLE x (a)",
        "CREATE TEMP TABLE x AS SELECT * FROM sessions",
        "CREATE VIRTUAL TABLE x USING fts5(a)",
        "ALTER TABLE sessions ADD COLUMN x",
        "PRAGMA query_only = 0",
        "PRAGMA writable_schema = 1",
        "BEGIN",
        "SAVEPOINT x",
        "VACUUM",
        "ANALYZE",
        "REINDEX",
        "DETACH main",
        attach.as_str(),
        "SELECT load_extension('x')",
        "WITH x AS (SELECT 1) DELETE FROM sessions",
        "INSERT INTO sessions (session_id) VALUES ('x') RETURNING session_id",
    ] {
        let error = query_error(&store, sql);
        assert!(matches!(error, SqlError::Forbidden { .. }), "{sql}: {error:?}");
    }
    // Functions that other programs add to SQLite.
    for sql in ["SELECT readfile('/etc/passwd')", "SELECT writefile('x', 'y')", "SELECT edit('x')"] {
        let error = query_error(&store, sql);
        assert!(matches!(error, SqlError::Statement { .. }), "{sql}: {error:?}");
    }
    assert!(std::fs::read(&secret).expect("the file is there").is_empty());
    let tables = query(&store, "SELECT name FROM sqlite_schema");
    assert_eq!(tables.len(), rethread_engine::ops::tables::TableKind::ALL.len(), "{tables:?}");
    assert!(
        query(&store, "SELECT name FROM pragma_table_info('turns')").contains(&vec!["prompt".to_owned()])
    );
    for schema in ["sqlite_schema", "sqlite_master", "pragma_table_info('turns')"] {
        let both = query_error(&store, &format!("SELECT (SELECT max(name) FROM {schema}) FROM sessions"));
        assert!(matches!(both, SqlError::Forbidden { .. }), "{schema}: {both:?}");
    }
    assert!(matches!(query_error(&store, "SELECT 1; SELECT 2"), SqlError::SeveralStatements));
    assert!(matches!(query_error(&store, "SELECT ?"), SqlError::Parameters));
    assert!(matches!(query_error(&store, " -- nothing"), SqlError::Empty));
}

#[test]
fn errors_name_the_place() {
    let store = TestStore::with_session("u1: hello\n  a1: hi\n");
    let error = query_error(&store, "SELECT colour FROM sessions");
    let SqlError::Statement { message, offset } = error else { panic!("{error:?}") };
    assert_eq!((message.as_str(), offset), ("no such column: colour", Some(7)));
    assert_eq!(query_error(&store, "SELECT * FROM nowhere").to_string(), "no such table: nowhere");
    assert_eq!(
        query_error(&store, "SELECT day(ts, 'Moon') FROM entries").to_string(),
        "unknown time zone `Moon`"
    );
}

#[test]
fn a_long_query_is_stopped() {
    let store = TestStore::with_session("u1: hello\n  a1: hi\n");
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n";
    let limits = QueryLimits { time: Duration::from_millis(50), ..QueryLimits::default() };
    let error = try_query(&store.roots(), None, &store.prices, limits, endless).expect_err("a limit");
    assert!(matches!(error, SqlError::TimedOut { .. }), "{error:?}");
    let roots = store.roots();
    let source = SqlSource { roots: &roots, cache: None, prices: &store.prices };
    let mut database = Database::new(source, QueryLimits::default(), &TimeZone::UTC).expect("a database");
    let flag = Arc::new(AtomicBool::new(false));
    database.set_cancel_flag(Arc::clone(&flag));
    let endless_rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    let stopped = database.query(endless_rows, &mut |_| {
        flag.store(true, Ordering::Relaxed);
        true
    });
    assert!(matches!(stopped, Err(SqlError::Stopped)), "{stopped:?}");
    // The database can be used again.
    flag.store(false, Ordering::Relaxed);
    assert_eq!(query_again(&mut database, "SELECT count(*) FROM entries").expect("a row"), [["2"]]);
}

#[test]
fn functions_convert_money_days_and_percentiles() {
    let store = TestStore::with_session("u1: hello\n  a1: hi\n");
    let numbers = "WITH n(x) AS (VALUES (1), (2), (3), (4), (NULL), (100))";
    for (sql, expected) in [
        ("SELECT usd(1500000000000), usd(NULL), usd(-1)", "1.5 null -0.000000000001"),
        (
            "SELECT day('2026-01-31T23:30:00.000Z'), day('2026-01-31T23:30:00.000Z', 'Asia/Kolkata')",
            "2026-01-31 2026-02-01",
        ),
        ("SELECT day(NULL), day('soon')", "null null"),
        ("SELECT share(8, 0, 3), share(8, 1, 3), share(8, 2, 3)", "3 3 2"),
        ("SELECT share(8, NULL, NULL), share(NULL, 0, 3), share(8, 0, 0)", "8 null 8"),
    ] {
        assert_eq!(query(&store, sql)[0].join(" "), expected, "{sql}");
    }
    for (percent, expected) in [("0", "1"), ("50", "3"), ("60", "3"), ("61", "4"), ("100", "100")] {
        let sql = format!("{numbers} SELECT percentile(x, {percent}) FROM n");
        assert_eq!(query(&store, &sql), [[expected]], "{sql}");
    }
    let times = "WITH n(ts) AS (VALUES ('2026-01-31T14:59:59.999Z'), ('2026-01-31T10:59:00.000Z'), (NULL),
        ('2026-01-31T20:10:00.000Z'), ('2026-01-31T15:00:00.000Z'), ('2026-01-31T20:10:00.000Z'))";
    let blocks = query(&store, &format!("{times} SELECT substr(block(ts) OVER (ORDER BY ts), 12) FROM n"));
    let starts = ["null", "10:00", "10:00", "15:00", "20:00", "20:00"];
    let expected =
        starts.map(|start| vec![if start == "null" { start.to_owned() } else { format!("{start}:00.000Z") }]);
    assert_eq!(blocks, expected);
    let last_two = "block(ts) OVER (ORDER BY ts ROWS 1 PRECEDING)";
    for call in ["block(ts)", "block(ts) OVER ()", "block(ts) OVER (ORDER BY ts DESC)", last_two] {
        let error = query_error(&store, &format!("{times} SELECT {call} FROM n"));
        assert!(error.to_string().contains("in order"), "{call}: {error}");
    }
    assert_eq!(query(&store, "SELECT percentile(turn, 50) FROM turns WHERE 0"), [["null"]]);
    assert!(query_error(&store, "SELECT percentile(turn, 101) FROM turns").to_string().contains("0 to 100"));
}

#[test]
fn hostile_text_is_unchanged() {
    let text = "'); DROP TABLE sessions; -- \" , \u{1b}[31m \u{202e} \u{0} end";
    let line = serde_like_line(text);
    let store = TestStore::new();
    store.write("-x/aaaaaaaa-0000-4000-8000-000000000001.jsonl", line.as_bytes());
    assert_eq!(query(&store, "SELECT text FROM texts"), [[text]]);
    assert_eq!(query(&store, "SELECT prompt FROM turns"), [[text]]);
    assert_eq!(query(&store, "SELECT count(*) FROM sessions"), [["1"]]);
}

/// Returns a user line with a text.
fn serde_like_line(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            c if u32::from(c) < 32 => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    format!(
        "{{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"timestamp\":\"2026-01-31T10:00:00.000Z\",\
         \"message\":{{\"role\":\"user\",\"content\":\"{escaped}\"}}}}\n"
    )
}

#[test]
fn the_documentation_lists_every_table_and_example() {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    let generated = document();
    if real::env_path("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &generated).expect("the file can be written");
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        current == generated,
        "docs/sql.md is out of date: run `UPDATE_DOCS=1 cargo test -p rethread-sql documentation`"
    );
}

/// Returns the text of docs/sql.md.
fn document() -> String {
    use rethread_engine::ops::tables::{ColumnType, TableKind};
    let mut page = include_str!("sql_intro.md").to_owned();
    page.push_str("\n## Tables\n");
    for table in TableKind::ALL {
        page.push_str(&format!(
            "\n### {}\n\n{}\n\n| column | type | meaning |\n|---|---|---|\n",
            table.name(),
            table.description()
        ));
        for column in table.columns() {
            let column_type = match column.column_type {
                ColumnType::Integer => "integer",
                ColumnType::Boolean => "0 or 1",
                ColumnType::Time => "time",
                ColumnType::Money => "picodollars",
                ColumnType::Text => "text",
            };
            page.push_str(&format!("| `{}` | {column_type} | {} |\n", column.name, column.description));
        }
    }
    page.push_str("\n## Examples\n\n`rethread sql --example NAME` runs one of them.\n");
    for example in EXAMPLES {
        page.push_str(&format!(
            "\n### {}\n\n{}\n\n```sql\n{}\n```\n",
            example.name, example.description, example.sql
        ));
    }
    page
}
