//! Values and errors of SQL as text.

use rethread_sql::{ResultValue, SqlError};

use super::{clean, figures};

/// Formats a value without loss. Null is empty, bytes are hexadecimal.
pub(crate) fn format_exact(value: &ResultValue<'_>) -> String {
    match value {
        ResultValue::Null => String::new(),
        ResultValue::Integer(number) => number.to_string(),
        ResultValue::Real(number) => number.to_string(),
        ResultValue::Text(text) => (*text).to_owned(),
        ResultValue::Blob(bytes) => format_hex(bytes),
    }
}

/// Formats bytes as hexadecimal digits.
pub(crate) fn format_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Formats cells as a line of comma-separated values, without the line break.
pub(crate) fn format_csv_line<'c>(cells: impl IntoIterator<Item = &'c str>) -> String {
    cells.into_iter().map(escape_csv).collect::<Vec<_>>().join(",")
}

/// Quotes a value if it contains a separator, a quote or a line break. The value itself is unchanged.
fn escape_csv(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Describes the error of a statement: the message and the hint.
pub(crate) fn describe_error(error: &SqlError) -> (String, String) {
    let hint = match error {
        SqlError::Statement { message, .. } if message.starts_with("no such table") => {
            "`rethread sql --schema` lists the tables".to_owned()
        }
        SqlError::Statement { message, .. } if message.starts_with("no such column") => {
            "`rethread sql --schema TABLE` lists the columns of a table; texts need single quotes".to_owned()
        }
        SqlError::Statement { .. } => "`rethread sql --example` lists queries that work".to_owned(),
        SqlError::Empty => "pass a statement such as \"SELECT count(*) FROM sessions\"".to_owned(),
        SqlError::SeveralStatements => "run the statements one after the other".to_owned(),
        SqlError::Forbidden { .. } => {
            "`rethread goto`, `rename`, `repair` and `rm` change sessions, with undo".to_owned()
        }
        SqlError::Parameters => "write the values into the statement".to_owned(),
        SqlError::TimedOut { .. } => {
            "limit the sessions or times, or allow more with --timeout SECONDS".to_owned()
        }
        SqlError::OutOfMemory { limit } => format!(
            "select fewer columns or rows, or allow more with --memory {}",
            figures::format_size(limit.saturating_mul(4)).replace(' ', "")
        ),
        SqlError::Stopped => String::new(),
    };
    (clean::line(&error.to_string()), hint)
}

#[cfg(test)]
mod tests {
    use super::format_csv_line;

    #[test]
    fn values_are_quoted_only_where_needed() {
        assert_eq!(format_csv_line(["a b", "a,b", "a\"b", "a\nb", ""]), "a b,\"a,b\",\"a\"\"b\",\"a\nb\",");
    }
}
