//! Summaries of tool calls, and their full input.

use std::borrow::Cow;

use rethread_engine::core::lines::LineTruncator;
use rethread_engine::core::turn::{Media, ToolCall};
use serde_json::Value;

use super::clean;
use super::figures;

/// The most informative input fields of a call, by tool. The first one present is used.
const FIELDS_BY_TOOL: &[(&str, &[&str])] = &[
    ("Bash", &["command"]),
    ("BashOutput", &["bash_id", "task_id"]),
    ("KillShell", &["shell_id"]),
    ("Read", &["file_path"]),
    ("Write", &["file_path"]),
    ("Edit", &["file_path"]),
    ("MultiEdit", &["file_path"]),
    ("NotebookEdit", &["notebook_path"]),
    ("LS", &["path"]),
    ("Glob", &["pattern"]),
    ("Grep", &["pattern"]),
    ("Task", &["description", "prompt"]),
    ("Agent", &["description", "prompt"]),
    ("WebFetch", &["url"]),
    ("WebSearch", &["query"]),
    ("ToolSearch", &["query"]),
    ("Skill", &["skill", "command"]),
    ("SlashCommand", &["command"]),
    ("ExitPlanMode", &["plan"]),
    ("TaskCreate", &["subject"]),
];

/// The most informative input fields of all other tools. The first one present is used.
const FIELDS_OF_ANY_TOOL: &[&str] = &[
    "description",
    "title",
    "subject",
    "summary",
    "query",
    "command",
    "url",
    "file_path",
    "filePath",
    "path",
    "name",
    "pattern",
    "prompt",
    "message",
    "text",
    "thought",
    "reason",
    "cron",
    "id",
    "key",
];

/// Returns the names of the most informative input fields of a tool, best first.
pub(crate) fn summary_fields(tool: &str) -> &'static [&'static str] {
    FIELDS_BY_TOOL.iter().find(|(name, _)| *name == tool).map_or(FIELDS_OF_ANY_TOOL, |(_, fields)| fields)
}

/// Summarizes the input of a tool call on one line, by its most informative field, without the tool name.
///
/// Falls back to the first string, then to the whole input. A path below `folder` becomes relative to it.
pub(crate) fn summarize_call(call: &ToolCall, folder: &str) -> String {
    let Ok(input) = serde_json::from_str::<Value>(&shorten_input(call)) else {
        return clean::line_start(&call.input);
    };
    if let Some(todos) = input.get("todos").and_then(Value::as_array) {
        let done_count = todos.iter().filter(|todo| todo["status"] == "completed").count();
        return format!("{done_count} of {} done", todos.len());
    }
    let field_text = |field: &&str| input.get(field)?.as_str().filter(|text| !text.trim().is_empty());
    let field = summary_fields(&call.name).iter().find_map(field_text);
    let strings = || input.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str());
    let mut summary = match field.or_else(|| strings().next()) {
        Some(text) => relative_path(&clean::line(text), folder).to_owned(),
        None => match &input {
            Value::Object(fields) if fields.is_empty() => String::new(),
            other => clean::line(&other.to_string()),
        },
    };
    if let (Some(path), "Grep" | "Glob") = (input.get("path").and_then(Value::as_str), call.name.as_str()) {
        summary = format!("{summary}  in {}", relative_path(&clean::line(path), folder));
    }
    if let (Some(first), "Read") = (input.get("offset").and_then(Value::as_u64), call.name.as_str()) {
        summary = format!("{summary}  from line {first}");
    }
    summary
}

/// Returns a path relative to `folder`. Returns `.` for the folder itself, and a path that is not below it unchanged.
pub(crate) fn relative_path<'t>(path: &'t str, folder: &str) -> &'t str {
    let folder = folder.trim_end_matches(['/', '\\']);
    let Some(rest) = path.strip_prefix(folder).filter(|_| !folder.is_empty()) else { return path };
    match rest.strip_prefix(['/', '\\']).unwrap_or(rest) {
        "" => ".",
        relative if relative.len() < rest.len() => relative,
        _ => path,
    }
}

/// The number of bytes of an input above which it is not parsed as a whole: a parsed copy takes several times as much.
const MAX_PARSED_BYTES: usize = 1 << 20;

/// Returns `true` if the input of a call is too long to be split into lines by its meaning. It is printed as JSON.
pub(crate) fn is_long_input(call: &ToolCall) -> bool {
    call.input.len() > MAX_PARSED_BYTES
}

/// Returns the input of a call, with the strings of a long input truncated to 16 kB. It is empty if it is still too long.
pub(crate) fn shorten_input(call: &ToolCall) -> Cow<'_, str> {
    if !is_long_input(call) {
        return Cow::Borrowed(&call.input);
    }
    let mut truncator = LineTruncator::default();
    truncator.feed(call.input.as_bytes());
    let short = truncator.finish().0.and_then(|bytes| String::from_utf8(bytes).ok());
    Cow::Owned(short.unwrap_or_default())
}

/// A line of the input of a tool call, cleaned.
pub(crate) enum InputLine {
    /// A line of any other field.
    Plain(String),
    /// A line removed by an edit.
    Old(String),
    /// A line added by an edit, or a line of a written file.
    New(String),
}

impl InputLine {
    /// Returns the text of the line.
    pub(crate) fn text(&self) -> &str {
        let (InputLine::Plain(text) | InputLine::Old(text) | InputLine::New(text)) = self;
        text
    }
}

/// Splits the input of a tool call into lines: commands and texts unchanged, edits as removed and added lines, other
/// values as JSON.
///
/// Returns nothing for a long input.
pub(crate) fn split_input(call: &ToolCall) -> Vec<InputLine> {
    if is_long_input(call) {
        return Vec::new();
    }
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(&call.input) else {
        return clean_lines(&call.input).map(InputLine::Plain).collect();
    };
    fields.iter().flat_map(|(name, value)| split_field(&call.name, name, value)).collect()
}

/// Splits a field of the input of a tool into lines.
pub(crate) fn split_field(tool: &str, name: &str, value: &Value) -> Vec<InputLine> {
    let mut input = Vec::new();
    match (name, value) {
        ("old_string", Value::String(text)) => input.extend(clean_lines(text).map(InputLine::Old)),
        ("new_string", Value::String(text)) => input.extend(clean_lines(text).map(InputLine::New)),
        ("content", Value::String(text)) if tool == "Write" => {
            input.extend(clean_lines(text).map(InputLine::New));
        }
        ("command", Value::String(text)) if tool == "Bash" => {
            let add_prompt =
                |(idx, line): (usize, String)| format!("{} {line}", if idx == 0 { '$' } else { ' ' });
            input.extend(clean_lines(text).enumerate().map(add_prompt).map(InputLine::Plain));
        }
        (name, Value::String(text)) if text.contains('\n') => {
            input.push(InputLine::Plain(format!("{}:", clean::line(name))));
            input.extend(clean_lines(text).map(|line| InputLine::Plain(format!("  {line}"))));
        }
        (name, Value::String(text)) => {
            input.push(InputLine::Plain(format!("{}: {}", clean::line(name), clean::line(text))));
        }
        (name, Value::Array(_) | Value::Object(_)) => {
            input.push(InputLine::Plain(format!("{}:", clean::line(name))));
            let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
            input.extend(clean_lines(&pretty).map(|line| InputLine::Plain(format!("  {line}"))));
        }
        (name, value) => input.push(InputLine::Plain(format!("{}: {value}", clean::line(name)))),
    }
    input
}

/// Cleans text, replaces each tab by four spaces, and splits the text into lines.
fn clean_lines(text: &str) -> impl Iterator<Item = String> {
    let clean = clean::text(text).replace('\t', "    ");
    clean.lines().map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// Describes each image or document by its media type and approximate decoded size: `image/png 12.3 kB`.
pub(crate) fn format_media(media: &[Media]) -> Vec<String> {
    // Four base64 characters are three bytes.
    let label = |media: &Media| {
        format!("{} {}", clean::line(&media.kind), figures::format_size(media.bytes as u64 / 4 * 3))
    };
    media.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::{relative_path, summarize_call};
    use rethread_engine::core::turn::ToolCall;

    fn summarize(name: &str, input: &str) -> String {
        summarize_call(
            &ToolCall { name: name.to_owned(), input: input.to_owned(), ..ToolCall::default() },
            "/home/ada/x",
        )
    }

    #[test]
    fn paths_are_shown_relative_to_their_folder() {
        for (path, folder, shown) in [
            ("/a/b/c.rs", "/a/b", "c.rs"),
            ("/a/b/c.rs", "/a/b/", "c.rs"),
            ("/a/b", "/a/b", "."),
            ("/a/b/", "/a/b", "."),
            ("/a/bc", "/a/b", "/a/bc"),
            ("C:\\a\\b", "C:\\a", "b"),
            ("/a", "", "/a"),
            ("/a", "/", "/a"),
        ] {
            assert_eq!(relative_path(path, folder), shown, "{path} in {folder}");
        }
    }

    #[test]
    fn calls_are_summarized_by_their_best_field() {
        assert_eq!(summarize("Bash", r#"{"description":"d","command":"cargo\ntest"}"#), "cargo test");
        assert_eq!(
            summarize("Read", r#"{"file_path":"/home/ada/x/src/a.rs","offset":7}"#),
            "src/a.rs  from line 7"
        );
        assert_eq!(summarize("Grep", r#"{"pattern":"x","path":"/home/ada/x/src"}"#), "x  in src");
        assert_eq!(
            summarize("TodoWrite", r#"{"todos":[{"status":"completed"},{"status":"pending"}]}"#),
            "1 of 2 done"
        );
        assert_eq!(summarize("mcp__a__b", r#"{"n":1,"q":"words"}"#), "words");
        assert_eq!(summarize("mcp__a__b", r#"{"a":"less","title":"more"}"#), "more");
        assert_eq!(
            [summarize("X", "{}"), summarize("X", "[1]"), summarize("X", "{torn")],
            ["", "[1]", "{torn"]
        );
    }
}
