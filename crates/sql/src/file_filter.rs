//! Derives from the conditions of a statement which files it needs.
//!
//! Only a statement with one SELECT over one table is considered. Each condition that all rows must satisfy and that compares a
//! column with a constant limits the files. Everything else is ignored, so a file that contains a row of the result is never
//! excluded.

use rethread_engine::core::entry::Timestamp;
use rethread_engine::ops::tables::{TableFileFilter, TableKind};

use crate::time_text::parse_bound;
use crate::tokens::{Token, tokenize};

/// Keywords of statements in which a condition may not hold for all rows that are read.
const COMPLEX_WORDS: &[&str] =
    &["with", "union", "except", "intersect", "join", "or", "case", "recursive", "values", "exists"];
/// Keywords that end the conditions.
const END_WORDS: &[&str] = &["group", "order", "limit", "having", "window"];
/// The columns that contain times of lines.
const TIME_COLUMNS: &[&str] = &["ts", "first_ts", "last_ts"];

/// Returns the filter that the conditions of `sql` imply. `evaluate` returns the text of a constant expression such as
/// `date('now', '-7 days')`.
pub(crate) fn derive_file_filter(sql: &str, evaluate: impl Fn(&str) -> Option<String>) -> TableFileFilter {
    find_conditions(sql).map(|conditions| build_filter(&conditions, evaluate)).unwrap_or_default()
}

/// A comparison of a column with a constant.
struct ColumnCondition<'s> {
    column: String,
    operator: &'s str,
    /// The constant, or several for `IN`.
    constants: Vec<Constant<'s>>,
}

/// A constant in a condition.
enum Constant<'s> {
    Text(String),
    /// An expression without columns.
    Expression(&'s str),
}

/// Returns the conditions that all rows satisfy. Returns `None` if the statement is not simple.
fn find_conditions(sql: &str) -> Option<Vec<ColumnCondition<'_>>> {
    let tokens = tokenize(sql)?;
    let count = |word: &str| tokens.iter().filter(|(_, token)| token.is_word(word)).count();
    let is_simple = count("select") == 1 && count("from") == 1 && count("where") == 1;
    if !is_simple || COMPLEX_WORDS.iter().any(|word| count(word) > 0) {
        return None;
    }
    let position = |word: &str| tokens.iter().position(|(_, token)| token.is_word(word));
    let (from, start) = (position("from")?, position("where")?);
    // The table, and perhaps an alias.
    let source = tokens.get(from + 1..start)?;
    let table = TableKind::from_name(&source.first()?.1.name()?)?;
    let is_alias = |(_, token): &(usize, Token<'_>)| token.name().is_some();
    if source.len() > 3 || !source.iter().all(is_alias) {
        return None;
    }
    let mut conditions = Vec::new();
    let mut depth = 0;
    let mut current: Vec<(usize, Token<'_>)> = Vec::new();
    for (offset, token) in tokens[start + 1..].iter().cloned() {
        depth += i32::from(token.is_symbol("(")) - i32::from(token.is_symbol(")"));
        let is_end = depth == 0 && END_WORDS.iter().any(|word| token.is_word(word)) || token.is_symbol(";");
        if is_end {
            conditions.extend(parse_condition(sql, table, &current, offset));
            return Some(conditions);
        }
        // The `and` of `between` does not separate conditions, but both parts of it are ignored then.
        if depth == 0 && token.is_word("and") {
            conditions.extend(parse_condition(sql, table, &current, offset));
            current.clear();
        } else {
            current.push((offset, token));
        }
    }
    conditions.extend(parse_condition(sql, table, &current, sql.len()));
    Some(conditions)
}

/// Parses `column operator constant` or `column IN (constants)`. Returns `None` for any other condition. `end` is the offset of
/// its end in the statement.
fn parse_condition<'s>(
    sql: &'s str,
    table: TableKind,
    tokens: &[(usize, Token<'s>)],
    end: usize,
) -> Option<ColumnCondition<'s>> {
    let dot = tokens.get(1).is_some_and(|(_, token)| token.is_symbol("."));
    let name_idx = if dot { 2 } else { 0 };
    let column = tokens.get(name_idx)?.1.name()?;
    if !table.columns().iter().any(|own| own.name == column) {
        return None;
    }
    let (_, operator) = tokens.get(name_idx + 1)?;
    let constants = tokens.get(name_idx + 2..)?;
    match operator {
        Token::Symbol(operator @ ("=" | "==" | "<" | "<=" | ">" | ">=")) => {
            let constant = match constants {
                [(_, Token::Text(text))] => Constant::Text(text.clone()),
                [(start, first), ..] if is_constant_call(first, constants) => {
                    Constant::Expression(&sql[*start..end])
                }
                _ => return None,
            };
            let operator = if *operator == "==" { "=" } else { operator };
            Some(ColumnCondition { column, operator, constants: vec![constant] })
        }
        word if word.is_word("in") => {
            let [(_, open), items @ .., (_, close)] = constants else { return None };
            if !open.is_symbol("(") || !close.is_symbol(")") {
                return None;
            }
            let texts = items.iter().enumerate().map(|(idx, (_, token))| match token {
                Token::Text(text) if idx % 2 == 0 => Some(Some(Constant::Text(text.clone()))),
                token if idx % 2 == 1 && token.is_symbol(",") => Some(None),
                _ => None,
            });
            let texts: Option<Vec<Option<Constant<'s>>>> = texts.collect();
            Some(ColumnCondition {
                column,
                operator: "in",
                constants: texts?.into_iter().flatten().collect(),
            })
        }
        _ => None,
    }
}

/// Returns `true` if tokens are a call of a date function with constant arguments.
fn is_constant_call(first: &Token<'_>, tokens: &[(usize, Token<'_>)]) -> bool {
    let is_date_function = ["date", "datetime", "strftime"].iter().any(|name| first.is_word(name));
    let [_, (_, open), arguments @ .., (_, close)] = tokens else { return false };
    let is_constant = |(_, token): &(usize, Token<'_>)| {
        matches!(token, Token::Text(_) | Token::Number(_)) || token.is_symbol(",")
    };
    is_date_function && open.is_symbol("(") && close.is_symbol(")") && arguments.iter().all(is_constant)
}

fn build_filter(
    conditions: &[ColumnCondition<'_>],
    evaluate: impl Fn(&str) -> Option<String>,
) -> TableFileFilter {
    let mut filter = TableFileFilter::default();
    for condition in conditions {
        let texts: Vec<String> = condition
            .constants
            .iter()
            .filter_map(|constant| match constant {
                Constant::Text(text) => Some(text.clone()),
                // The time of such an expression advances until the statement runs, so it is no upper bound.
                Constant::Expression(expression) if condition.operator.starts_with('>') => {
                    evaluate(expression)
                }
                Constant::Expression(_) => None,
            })
            .collect();
        if texts.len() != condition.constants.len() {
            continue;
        }
        match condition.column.as_str() {
            "session_id" if matches!(condition.operator, "=" | "in") => {
                filter.sessions = Some(intersect(filter.sessions.take(), texts));
            }
            "project" if matches!(condition.operator, "=" | "in") => {
                filter.projects = Some(intersect(filter.projects.take(), texts));
            }
            column if TIME_COLUMNS.contains(&column) => add_time(&mut filter, condition.operator, &texts),
            _ => {}
        }
    }
    filter
}

/// Returns the values of both lists. `None` contains all values.
fn intersect(known: Option<Vec<String>>, values: Vec<String>) -> Vec<String> {
    match known {
        Some(known) => known.into_iter().filter(|value| values.contains(value)).collect(),
        None => values,
    }
}

/// Limits the times by a comparison with one constant.
fn add_time(filter: &mut TableFileFilter, operator: &str, texts: &[String]) {
    let [text] = texts else { return };
    let Some((start, len)) = parse_bound(text) else { return };
    let end = Timestamp(start.0.saturating_add(len));
    if matches!(operator, "=" | ">" | ">=") {
        filter.since = filter.since.max(Some(start));
    }
    let until = match operator {
        "<" => start,
        "=" | "<=" => end,
        _ => return,
    };
    filter.until = Some(filter.until.map_or(until, |known| Timestamp(known.0.min(until.0))));
}

#[cfg(test)]
mod tests {
    use rethread_engine::core::entry::Timestamp;
    use rethread_engine::ops::tables::TableFileFilter;

    use super::derive_file_filter;

    fn derive(sql: &str) -> TableFileFilter {
        derive_file_filter(sql, |expression| {
            (expression.trim() == "date('now', '-7 days')").then(|| "2026-01-24".to_owned())
        })
    }

    fn time(text: &str) -> Option<Timestamp> {
        Timestamp::parse_text(&format!("{text}T00:00:00.000Z"))
    }

    #[test]
    fn conditions_on_columns_limit_the_files() {
        let filter = derive(
            "SELECT tool, count(*) FROM tool_calls c WHERE c.session_id = 'a' AND project IN ('/x', '/y') \
             AND ts >= '2026-01-31' AND ts <= '2026-02-01' AND failed IS NOT NULL GROUP BY tool",
        );
        assert_eq!(filter.sessions, Some(vec!["a".to_owned()]));
        assert_eq!(filter.projects, Some(vec!["/x".to_owned(), "/y".to_owned()]));
        assert_eq!((filter.since, filter.until), (time("2026-01-31"), time("2026-02-02")));
        let filter = derive("select * from turns where first_ts > date('now', '-7 days') limit 3");
        assert_eq!((filter.since, filter.until), (time("2026-01-24"), None));
    }

    #[test]
    fn other_statements_limit_nothing() {
        for sql in [
            "SELECT * FROM entries WHERE session_id = 'a' OR line = 1",
            "SELECT * FROM entries e JOIN turns t ON e.turn = t.turn WHERE e.session_id = 'a'",
            "SELECT * FROM entries, turns WHERE entries.session_id = 'a'",
            "SELECT * FROM entries WHERE NOT session_id = 'a'",
            "SELECT * FROM entries WHERE session_id = 'a' COLLATE NOCASE",
            "SELECT * FROM entries WHERE session_id LIKE 'a'",
            "SELECT * FROM entries WHERE session_id = uuid",
            "SELECT * FROM entries WHERE (session_id = 'a')",
            "SELECT * FROM entries WHERE ts < date('now', '-7 days')",
            "SELECT * FROM entries WHERE ts >= 'yesterday'",
            "SELECT * FROM (SELECT * FROM entries WHERE session_id = 'a')",
            "WITH e AS (SELECT * FROM entries) SELECT * FROM e WHERE session_id = 'a'",
            "SELECT count(*) FILTER (WHERE session_id = 'a') FROM entries",
            "SELECT * FROM other WHERE session_id = 'a'",
            "SELECT * FROM entries WHERE session_id IN (uuid)",
            "SELECT * FROM entries WHERE session_id = 'a",
        ] {
            let filter = derive(sql);
            let TableFileFilter { sessions, projects, since, until, paths } = filter;
            assert!(
                sessions.is_none()
                    && projects.is_none()
                    && since.is_none()
                    && until.is_none()
                    && paths.is_none(),
                "{sql}"
            );
        }
    }

    #[test]
    fn two_conditions_on_one_column_limit_to_both() {
        let filter = derive("SELECT 1 FROM entries WHERE session_id IN ('a', 'b') AND session_id = 'b'");
        assert_eq!(filter.sessions, Some(vec!["b".to_owned()]));
    }
}
