//! A tool call in a few words, and in full.

use rethread_engine::core::turn::{Media, ToolCall};
use serde_json::Value;

use super::clean;
use super::figures;

/// The input field that says most about a call, by tool; the first that is there counts.
const TELLING: &[(&str, &[&str])] = &[
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

/// Fields that say most about a call of any other tool.
const TELLING_ANY: &[&str] = &[
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

/// Returns the input fields that say most about a call of a tool, the most telling first.
pub(crate) fn summary_fields(tool: &str) -> &'static [&'static str] {
    TELLING.iter().find(|(name, _)| *name == tool).map_or(TELLING_ANY, |(_, fields)| fields)
}

/// Says what a call does, on one line. Paths below `folder` are shortened.
pub(crate) fn gist(call: &ToolCall, folder: &str) -> String {
    let Ok(input) = serde_json::from_str::<Value>(&call.input) else {
        return clean::line(&call.input);
    };
    if let Some(todos) = input.get("todos").and_then(Value::as_array) {
        let done = todos.iter().filter(|todo| todo["status"] == "completed").count();
        return format!("{done} of {} done", todos.len());
    }
    let words = |field: &&str| input.get(field)?.as_str().filter(|words| !words.trim().is_empty());
    let told = summary_fields(&call.name).iter().find_map(words);
    let strings = || input.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_str());
    let mut gist = match told.or_else(|| strings().next()) {
        Some(text) => inside(&clean::line(text), folder).to_owned(),
        None => match &input {
            Value::Object(fields) if fields.is_empty() => String::new(),
            other => clean::line(&other.to_string()),
        },
    };
    if let (Some(path), "Grep" | "Glob") = (input.get("path").and_then(Value::as_str), call.name.as_str()) {
        gist = format!("{gist}  in {}", inside(&clean::line(path), folder));
    }
    if let (Some(first), "Read") = (input.get("offset").and_then(Value::as_u64), call.name.as_str()) {
        gist = format!("{gist}  from line {first}");
    }
    gist
}

/// Shortens a path below `folder`; the folder itself is `.`.
pub(crate) fn inside<'t>(path: &'t str, folder: &str) -> &'t str {
    let folder = folder.trim_end_matches(['/', '\\']);
    let Some(rest) = path.strip_prefix(folder).filter(|_| !folder.is_empty()) else { return path };
    match rest.strip_prefix(['/', '\\']).unwrap_or(rest) {
        "" => ".",
        below if below.len() < rest.len() => below,
        _ => path,
    }
}

/// A line of a call's input, and what it is.
pub(crate) enum Shown {
    /// A line of a field.
    Plain(String),
    /// Taken away by an edit.
    Old(String),
    /// Put there.
    New(String),
}

/// Lays the input out: commands and texts as they are, edits as differences, the rest as JSON.
pub(crate) fn input(call: &ToolCall) -> Vec<Shown> {
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(&call.input) else {
        return lines(&call.input).map(Shown::Plain).collect();
    };
    let mut shown = Vec::new();
    for (name, value) in &fields {
        match (name.as_str(), value) {
            ("old_string", Value::String(text)) => shown.extend(lines(text).map(Shown::Old)),
            ("new_string", Value::String(text)) => shown.extend(lines(text).map(Shown::New)),
            ("content", Value::String(text)) if call.name == "Write" => {
                shown.extend(lines(text).map(Shown::New));
            }
            ("command", Value::String(text)) if call.name == "Bash" => {
                let mark = |(k, line): (usize, String)| format!("{} {line}", if k == 0 { '$' } else { ' ' });
                shown.extend(lines(text).enumerate().map(mark).map(Shown::Plain));
            }
            (name, Value::String(text)) if text.contains('\n') => {
                shown.push(Shown::Plain(format!("{}:", clean::line(name))));
                shown.extend(lines(text).map(|line| Shown::Plain(format!("  {line}"))));
            }
            (name, Value::String(text)) => {
                shown.push(Shown::Plain(format!("{}: {}", clean::line(name), clean::line(text))));
            }
            (name, Value::Array(_) | Value::Object(_)) => {
                shown.push(Shown::Plain(format!("{}:", clean::line(name))));
                let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
                shown.extend(lines(&pretty).map(|line| Shown::Plain(format!("  {line}"))));
            }
            (name, value) => shown.push(Shown::Plain(format!("{}: {value}", clean::line(name)))),
        }
    }
    shown
}

fn lines(text: &str) -> impl Iterator<Item = String> {
    let clean = clean::text(text).replace('\t', "    ");
    clean.lines().map(str::to_owned).collect::<Vec<_>>().into_iter()
}

/// Names pictures and documents: `image/png 12.3 kB`.
pub(crate) fn media(media: &[Media]) -> Vec<String> {
    // Four letters of base64 are three bytes.
    let said =
        |media: &Media| format!("{} {}", clean::line(&media.kind), figures::size(media.bytes as u64 / 4 * 3));
    media.iter().map(said).collect()
}

#[cfg(test)]
mod tests {
    use super::{gist, inside};
    use rethread_engine::core::turn::ToolCall;

    fn said(name: &str, input: &str) -> String {
        gist(
            &ToolCall { name: name.to_owned(), input: input.to_owned(), ..ToolCall::default() },
            "/home/ada/x",
        )
    }

    #[test]
    fn a_path_is_shown_without_the_folder_it_lies_in() {
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
            assert_eq!(inside(path, folder), shown, "{path} in {folder}");
        }
    }

    #[test]
    fn a_call_is_said_by_its_most_telling_field() {
        assert_eq!(said("Bash", r#"{"description":"d","command":"cargo\ntest"}"#), "cargo test");
        assert_eq!(
            said("Read", r#"{"file_path":"/home/ada/x/src/a.rs","offset":7}"#),
            "src/a.rs  from line 7"
        );
        assert_eq!(said("Grep", r#"{"pattern":"x","path":"/home/ada/x/src"}"#), "x  in src");
        assert_eq!(
            said("TodoWrite", r#"{"todos":[{"status":"completed"},{"status":"pending"}]}"#),
            "1 of 2 done"
        );
        assert_eq!(said("mcp__a__b", r#"{"n":1,"q":"words"}"#), "words");
        assert_eq!(said("mcp__a__b", r#"{"a":"less","title":"more"}"#), "more");
        assert_eq!([said("X", "{}"), said("X", "[1]"), said("X", "{torn")], ["", "[1]", "{torn"]);
    }
}
