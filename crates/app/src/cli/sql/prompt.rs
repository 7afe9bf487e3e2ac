//! The interactive prompt of `rethread sql`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rethread_engine::PrivateFile;
use rethread_engine::ops::tables::TableKind;
use rethread_sql::{Database, SqlError, find_example};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};
use signal_hook::consts::SIGINT;

use super::super::AppContext;
use super::super::args::SqlFormat;
use super::super::error::{self, CliError, Exit};
use super::super::out::Out;
use super::super::style::{QUIET, paint};
use super::{run_statement, schema};

/// The number of statements that the history keeps.
const MAX_HISTORY: usize = 500;
/// The name of the history in the state folder.
const HISTORY_FILE: &str = "sql-history";
/// The commands of the prompt, with their descriptions.
const COMMANDS: &[(&str, &str)] = &[
    (".schema [TABLE]", "list the tables, or the columns of a table"),
    (".examples", "list useful queries"),
    (".example NAME", "show and run one of them"),
    (".refresh", "read the sessions again with the next statement"),
    (".help", "show this list"),
    (".quit", "leave; so does Ctrl-D. Ctrl-C stops a statement or clears the line"),
];
const KEYWORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "LIMIT",
    "JOIN",
    "LEFT JOIN",
    "USING",
    "AND",
    "OR",
    "NOT",
    "NULL",
    "IS",
    "LIKE",
    "IN",
    "BETWEEN",
    "AS",
    "DISTINCT",
    "HAVING",
    "DESC",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "WITH",
    "UNION",
    "count(",
    "sum(",
    "avg(",
    "min(",
    "max(",
    "usd(",
    "day(",
    "percentile(",
    "substr(",
    "round(",
    "coalesce(",
    "strftime(",
];

/// Reads statements and prints their results until the user leaves.
pub(super) fn run(database: &mut Database<'_>, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let config = Config::builder().auto_add_history(false).build();
    let memory = MemHistory::with_config(&config);
    let mut editor: Editor<SqlHelper, MemHistory> =
        Editor::with_history(config, memory).map_err(convert_error)?;
    editor.set_helper(Some(SqlHelper::new()));
    // Without a state folder, the history is forgotten.
    let file = app.writer.private_file(HISTORY_FILE).ok();
    let mut history = file.as_ref().map(read_history).unwrap_or_default();
    for statement in &history {
        editor.add_history_entry(statement).map_err(convert_error)?;
    }
    // While a line is edited, the terminal sends Ctrl-C as a key; while a statement runs, as a signal.
    let is_interrupted = Arc::new(AtomicBool::default());
    signal_hook::flag::register(SIGINT, Arc::clone(&is_interrupted)).map_err(CliError::Io)?;
    database.set_cancel_flag(Arc::clone(&is_interrupted));
    out.note(
        "SQL over your sessions; end a statement with `;`, `.help` lists commands, Ctrl-C stops a statement, Ctrl-D leaves",
    );
    loop {
        let text = match editor.readline("sql> ") {
            Ok(text) => text,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(Exit::Done),
            Err(error) => return Err(convert_error(error)),
        };
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        editor.add_history_entry(text).map_err(convert_error)?;
        history.push(text.to_owned());
        if let Some(file) = &file {
            write_history(file, &history);
        }
        is_interrupted.store(false, Ordering::Relaxed);
        let mut prompt = PromptSession { database, is_interrupted: &is_interrupted, out };
        let result = match text.strip_prefix('.') {
            Some("quit" | "exit") => return Ok(Exit::Done),
            Some(command) => prompt.run_command(command),
            None => prompt.print_result(text),
        };
        // A failed statement does not end the session, but a closed output does.
        match result {
            Ok(()) => {}
            Err(CliError::Sql { error: SqlError::Stopped, .. }) => out.note(&paint(QUIET, "stopped")),
            Err(CliError::Io(error)) => return Err(CliError::Io(error)),
            Err(failure) => error::print_error(&failure, out),
        }
        out.flush()?;
    }
}

/// The state that the statements and commands of a prompt share.
struct PromptSession<'p, 's> {
    database: &'p mut Database<'s>,
    is_interrupted: &'p AtomicBool,
    out: &'p mut Out,
}

impl PromptSession<'_, '_> {
    /// Runs a command. `command` is its text without the dot.
    fn run_command(&mut self, command: &str) -> Result<(), CliError> {
        let (name, argument) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        match (name, argument.trim()) {
            ("schema" | "tables", table) => schema::print(table, self.out).map(|_| ()),
            ("examples", _) | ("example", "") => schema::print_examples(self.out).map(|_| ()),
            ("example", name) => {
                let example = find_example(name).ok_or_else(|| CliError::UnknownExample(name.to_owned()))?;
                self.out.line(&paint(QUIET, example.sql))?;
                self.print_result(example.sql)
            }
            ("refresh", _) => {
                self.database.clear().map_err(|error| CliError::Sql { sql: String::new(), error })
            }
            _ => COMMANDS.iter().try_for_each(|(command, text)| {
                self.out.line(&format!("{command:<16} {}", paint(QUIET, text)))
            }),
        }
    }

    fn print_result(&mut self, sql: &str) -> Result<(), CliError> {
        let format = Some(SqlFormat::Table);
        let count = run_statement(sql, self.database, format, self.is_interrupted, self.out)?;
        self.out.note(&paint(QUIET, &crate::text::figures::count_noun(count as u64, "row")));
        Ok(())
    }
}

/// Converts an error of the line editor.
fn convert_error(error: ReadlineError) -> CliError {
    match error {
        ReadlineError::Io(error) => CliError::Io(error),
        error => CliError::Io(std::io::Error::other(error)),
    }
}

/// Reads the history: one JSON string per line, oldest first.
fn read_history(file: &PrivateFile) -> Vec<String> {
    let text = file.read().unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Writes the newest statements of the history. A history that cannot be written is no error.
fn write_history(file: &PrivateFile, history: &[String]) {
    let newest = &history[history.len().saturating_sub(MAX_HISTORY)..];
    let lines: Vec<String> = newest.iter().filter_map(|text| serde_json::to_string(text).ok()).collect();
    let _ = file.write(&(lines.join("\n") + "\n"));
}

/// Completes names and keywords, and asks for more lines until a statement ends with a semicolon.
struct SqlHelper {
    words: Vec<&'static str>,
}

impl SqlHelper {
    fn new() -> SqlHelper {
        let mut words: Vec<&'static str> = KEYWORDS.to_vec();
        for table in TableKind::ALL {
            words.push(table.name());
            words.extend(table.columns().iter().map(|column| column.name));
        }
        words.sort_unstable();
        words.dedup();
        SqlHelper { words }
    }
}

impl Completer for SqlHelper {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..pos];
        let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        Ok((start, complete_word(&self.words, &before[start..])))
    }
}

/// Returns the words that start with a prefix, in any case. Returns none for an empty prefix.
fn complete_word(words: &[&'static str], prefix: &str) -> Vec<String> {
    let starts =
        |word: &&&str| word.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    if prefix.is_empty() {
        return Vec::new();
    }
    words.iter().filter(starts).map(|word| (*word).to_owned()).collect()
}

impl Validator for SqlHelper {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input().trim();
        let is_complete = text.is_empty() || text.starts_with('.') || text.ends_with(';');
        Ok(if is_complete { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Hinter for SqlHelper {
    type Hint = String;
}

impl Highlighter for SqlHelper {}

impl Helper for SqlHelper {}

#[cfg(test)]
mod tests {
    use super::{SqlHelper, complete_word};

    #[test]
    fn names_and_keywords_are_completed() {
        let words = SqlHelper::new().words;
        assert_eq!(complete_word(&words, "tool_c"), ["tool_calls"]);
        assert_eq!(complete_word(&words, "sel"), ["SELECT"]);
        assert!(complete_word(&words, "cache_").contains(&"cache_read_input_tokens".to_owned()));
        assert!(complete_word(&words, "").is_empty());
    }
}
