//! Memory of commands that read a session with one very long line. Each runs with a limited address space.

use std::path::Path;
use std::sync::OnceLock;

use rethread_testkit::home::{Home, RunOutput};
use serde_json::{Value, json};

use crate::new_home;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const FILE: &str = ".claude/projects/-home-ann-garden/aaaaaaaa-0000-4000-8000-000000000001.jsonl";

/// The length of the long line.
const LINE_BYTES: usize = 12 << 20;
/// The address space in kB in addition to what the program needs for a short session: 8 MB for the markup of a page, and two and a
/// half times the line. Three copies of the line do not fit.
const EXTRA_KB: usize = 8_000 + LINE_BYTES / 1024 * 5 / 2;

/// Returns the address space in kB with which the program exports a short session: its code, its stacks and its buffers.
fn base_kb() -> usize {
    static BASE_KB: OnceLock<usize> = OnceLock::new();
    *BASE_KB.get_or_init(|| {
        let entries = [entry(1, "user", &json!("a short prompt"))];
        let suffices = |limit: &usize| {
            LimitedHome::with_limit(&entries, *limit).home.run(&["export", SESSION, "--format", "html"]).code
                == 0
        };
        (20_000..200_000).step_by(1_000).find(suffices).expect("a limit that suffices")
    })
}

/// A home whose program runs with a limited address space.
struct LimitedHome {
    home: Home,
    /// Contains the script that sets the limit.
    _tools: Home,
}

impl LimitedHome {
    /// Creates a home with a session of these entries. Each is a child of the previous one.
    fn new(entries: &[Value]) -> LimitedHome {
        LimitedHome::with_limit(entries, base_kb() + EXTRA_KB)
    }

    /// Creates a home whose program has an address space of `limit_kb`.
    fn with_limit(entries: &[Value], limit_kb: usize) -> LimitedHome {
        let tools = new_home();
        let script = format!(
            "#!/bin/sh\nulimit -v {limit_kb} || exit 99\nexport MALLOC_ARENA_MAX=1 RAYON_NUM_THREADS=2\nexec '{}' \"$@\"\n",
            tools.program().display()
        );
        tools.write_program("limited", &script);
        let home = Home::new(tools.path().join("limited"));
        let lines: Vec<String> = entries.iter().map(Value::to_string).collect();
        home.write_old(FILE, lines.join("\n") + "\n");
        LimitedHome { home, _tools: tools }
    }

    /// Runs a command that must succeed.
    #[track_caller]
    fn run(&self, args: &[&str]) -> RunOutput {
        let run = self.home.run(args);
        assert_eq!(run.code, 0, "{args:?}: {}", run.err.chars().take(300).collect::<String>());
        run
    }

    fn read_session(&self) -> String {
        std::fs::read_to_string(self.home.path().join(FILE)).expect("a session")
    }
}

fn uuid(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// Builds the entry with a number: a message of the user or the model.
fn entry(number: usize, role: &str, content: &Value) -> Value {
    let mut message = json!({ "role": role, "content": content });
    if role == "assistant" {
        message["id"] = json!(format!("msg_{number}"));
        message["model"] = json!("claude-opus-4-5");
    }
    json!({
        "type": role, "uuid": uuid(number), "parentUuid": number.checked_sub(1).map(uuid), "sessionId": SESSION,
        "cwd": "/home/ann/garden", "version": "2.1.104", "message": message,
        "timestamp": format!("2026-01-01T00:00:{number:02}.000Z"),
    })
}

/// Returns a text of lines that ends with `harvest`.
fn long_text(len: usize) -> String {
    let line = "Water the tomatoes and the beans, then turn the compost and rake the paths.\n";
    line.repeat(len / line.len()) + "harvest"
}

fn long_prompt() -> Vec<Value> {
    let answer = json!([{ "type": "text", "text": "ok" }]);
    vec![entry(0, "user", &json!(long_text(LINE_BYTES))), entry(1, "assistant", &answer)]
}

/// Builds a session with an answer that is one line of text without a line break.
fn long_answer() -> Vec<Value> {
    let text = long_text(LINE_BYTES).replace('\n', " ");
    let answer = json!([{ "type": "text", "text": text }]);
    vec![entry(0, "user", &json!("write")), entry(1, "assistant", &answer)]
}

/// Builds a session with a call, its result, and the client's own record of it.
fn call(name: &str, input: &Value, result: &str, record: &Value) -> Vec<Value> {
    let call = json!([{ "type": "tool_use", "id": "toolu_1", "name": name, "input": input }]);
    let result = json!([{ "type": "tool_result", "tool_use_id": "toolu_1", "content": result }]);
    let mut result = entry(2, "user", &result);
    result["toolUseResult"] = record.clone();
    vec![
        entry(0, "user", &json!("run it")),
        entry(1, "assistant", &call),
        result,
        entry(3, "assistant", &json!([{ "type": "text", "text": "done" }])),
    ]
}

fn long_result() -> Vec<Value> {
    call("Bash", &json!({ "command": "ls" }), &long_text(LINE_BYTES), &Value::Null)
}

/// Builds a session with a result that occurs twice in its line.
fn repeated_result() -> Vec<Value> {
    let text = long_text(LINE_BYTES / 2);
    call("Bash", &json!({ "command": "ls" }), &text, &json!({ "stdout": text, "stderr": "" }))
}

/// Builds a session with a result of which nearly every character is an escape in JSON, or part of one on a terminal.
fn escaped_result() -> Vec<Value> {
    let text = "\u{1b}[31m\"q\"\t\\\n".repeat(LINE_BYTES / 20) + "harvest";
    call("Bash", &json!({ "command": "ls" }), &text, &Value::Null)
}

fn long_input() -> Vec<Value> {
    let input = json!({ "file_path": "/home/ann/garden/plan.txt", "content": long_text(LINE_BYTES) });
    call("Write", &input, "ok", &Value::Null)
}

#[test]
fn show_of_a_long_line_needs_two_copies_of_it() {
    for entries in [long_answer(), escaped_result(), long_input()] {
        let limited = LimitedHome::new(&entries);
        assert!(limited.run(&["show", "--tools", "full", SESSION]).out.contains("harvest"));
        assert!(limited.run(&["show", "--json", SESSION]).out.contains("harvest"));
    }
    let limited = LimitedHome::new(&repeated_result());
    let raw = limited.run(&["show", "--raw", SESSION]);
    assert!(raw.out == limited.read_session(), "the lines are unchanged");
}

#[test]
fn export_of_a_long_line_needs_two_copies_of_it() {
    for entries in [long_prompt(), escaped_result()] {
        let limited = LimitedHome::new(&entries);
        for format in ["md", "text", "json"] {
            let run = limited.run(&["export", SESSION, "--format", format, "--detail", "everything"]);
            assert!(run.out.contains("harvest"), "{format}");
        }
    }
    for entries in [long_prompt(), long_input()] {
        let limited = LimitedHome::new(&entries);
        let page = limited.run(&["export", SESSION, "--format", "html", "--detail", "everything"]);
        assert!(page.out.ends_with("</html>\n"), "the page is complete");
    }
}

#[test]
fn new_session_with_a_long_line_needs_two_copies_of_it() {
    for entries in [long_prompt(), repeated_result()] {
        let limited = LimitedHome::new(&entries);
        let long_line = limited.read_session().lines().max_by_key(|line| line.len()).map(str::len);
        for command in ["fork", "clone"] {
            let created = limited.run(&[command, SESSION, "--json"]).json_lines();
            let path = created.iter().find_map(|object| object["path"].as_str()).expect("a path");
            let copy = std::fs::read_to_string(Path::new(path)).expect("the new session");
            let copied_len = copy.lines().map(str::len).max();
            assert!(copied_len >= long_line, "{command}: {copied_len:?} {long_line:?}");
        }
    }
}

#[test]
fn search_of_a_long_line_needs_two_copies_of_it() {
    for entries in [long_prompt(), long_result()] {
        let limited = LimitedHome::new(&entries);
        for args in [
            &["--no-index", "search", "harvest"][..],
            &["--no-index", "search", "/har+vest/"],
            &["index", "--rebuild"],
            &["search", "harvest"],
            &["search", "/h[a-z]rvest/"],
        ] {
            limited.run(args);
        }
    }
}
