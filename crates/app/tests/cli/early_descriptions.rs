//! The checklist of early descriptions in docs/FORMAT.md: each command runs and prints the text of its row.

use rethread_testkit::home::Home;
use rethread_testkit::script;

use crate::new_home;

const SESSIONS: &str = include_str!("early_descriptions.txt");
const FOLDER: &str = ".claude/projects/-home-ann-my-shed-v2";

/// A row of the checklist.
#[derive(Debug)]
struct Row {
    statement: String,
    verdict: String,
    command: Vec<String>,
    code: i32,
    /// Texts that the command prints.
    expected: Vec<String>,
}

/// Writes the sessions of the checklist. The file of the second has a backup of another program.
fn new_home_with_sessions() -> Home {
    let home = new_home();
    for session in SESSIONS.split("=== ").filter(|session| !session.is_empty()) {
        let (id, script) = session.split_once('\n').expect("an id and a script");
        let bytes = script::bytes(script);
        home.write_old(&format!("{FOLDER}/{id}.jsonl"), &bytes);
        if id.starts_with("5eed2") {
            home.write_old(&format!("{FOLDER}/{id}.jsonl.backup"), &bytes[..bytes.len() / 2]);
        }
    }
    home
}

/// Returns the texts between backticks.
fn code_spans(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Splits a command at spaces that are not in single quotes.
fn split_command(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for c in command.chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            _ => words.last_mut().expect("a word").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Parses the table after the heading of the checklist.
fn read_rows() -> Vec<Row> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/FORMAT.md");
    let text = std::fs::read_to_string(path).expect("docs/FORMAT.md is readable");
    let (_, section) = text.split_once("\n## 15. Checklist").expect("the section exists");
    let section = section.split("\n## ").next().expect("a section");
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let parse = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [statement, verdict, command, output] = cells[..] else { panic!("not four cells: {line}") };
        let code = output.strip_prefix("exit ").map_or(0, |code| code[..1].parse().expect("an exit code"));
        let command = split_command(&code_spans(command)[0]);
        Row {
            statement: statement.into(),
            verdict: verdict.into(),
            command,
            code,
            expected: code_spans(output),
        }
    };
    rows.map(parse).collect()
}

#[test]
fn every_command_of_the_checklist_prints_the_text_of_its_row() {
    let home = new_home_with_sessions();
    let rows = read_rows();
    assert!(rows.len() >= 67, "{} statements", rows.len());
    let mut failures = Vec::new();
    for row in &rows {
        assert!(
            ["confirmed", "partly", "contradicted"].contains(&row.verdict.split([':', ' ']).next().unwrap()),
            "{row:?}"
        );
        assert!(row.command[0] == "rethread" && !row.expected.is_empty(), "{row:?}");
        let args: Vec<&str> = row.command[1..].iter().map(String::as_str).collect();
        let run = home.run(&args);
        let output = format!("{}{}", run.out, run.err);
        let missing: Vec<&String> =
            row.expected.iter().filter(|text| !output.contains(text.as_str())).collect();
        if run.code != row.code || !missing.is_empty() {
            failures.push(format!(
                "{}\n{args:?}: exit {}, missing {missing:?} in\n{output}",
                row.statement, run.code
            ));
        }
    }
    assert!(failures.is_empty(), "{} of {} rows:\n{}", failures.len(), rows.len(), failures.join("\n\n"));
}
