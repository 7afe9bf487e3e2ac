//! Names that the client, the API and common tools define. At level `metrics`, every other name becomes `other`.
//!
//! A result is always a text of this file or of the price table, or consists of digits, so it cannot repeat a session.

use rethread_engine::core::entry::{AttachmentKind, Kind, ProgressKind, SystemKind};
use rethread_engine::core::usage::PriceTable;

/// The name that replaces an unknown one.
pub(crate) const OTHER: &str = "other";

const TOOLS: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "CronCreate",
    "CronDelete",
    "CronList",
    "Edit",
    "EnterPlanMode",
    "EnterWorktree",
    "ExitPlanMode",
    "ExitWorktree",
    "Glob",
    "Grep",
    "KillBash",
    "KillShell",
    "LS",
    "LSP",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "PowerShell",
    "PushNotification",
    "Read",
    "ReadMcpResourceTool",
    "RemoteTrigger",
    "ScheduleWakeup",
    "SendMessage",
    "Skill",
    "SlashCommand",
    "StructuredOutput",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TeamCreate",
    "TeamDelete",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Workflow",
    "Write",
    "code_execution",
    "computer",
    "str_replace_based_edit_tool",
    "web_fetch",
    "web_search",
];

const STOP_REASONS: &[&str] = &[
    "end_turn",
    "max_tokens",
    "model_context_window_exceeded",
    "pause_turn",
    "refusal",
    "stop_sequence",
    "tool_use",
];

const ENTRYPOINTS: &[&str] = &[
    "claude-desktop",
    "claude-vscode",
    "cli",
    "github-action",
    "jetbrains",
    "local-agent",
    "mcp",
    "remote",
    "sdk-cli",
    "sdk-py",
    "sdk-ts",
    "vscode",
];

const EXTENSIONS: &[&str] = &[
    "adoc",
    "asm",
    "astro",
    "bash",
    "bat",
    "bazel",
    "bib",
    "bmp",
    "c",
    "cc",
    "cfg",
    "cjs",
    "clj",
    "cljs",
    "cmake",
    "conf",
    "cpp",
    "cs",
    "csproj",
    "css",
    "csv",
    "cts",
    "cu",
    "cxx",
    "d",
    "dart",
    "diff",
    "dockerfile",
    "edn",
    "ejs",
    "el",
    "elm",
    "env",
    "erb",
    "erl",
    "ex",
    "exs",
    "f90",
    "fish",
    "fs",
    "fsx",
    "gif",
    "glsl",
    "go",
    "gradle",
    "graphql",
    "groovy",
    "h",
    "haml",
    "hbs",
    "hcl",
    "hpp",
    "hrl",
    "hs",
    "html",
    "hxx",
    "ico",
    "ini",
    "ipynb",
    "java",
    "jl",
    "jpeg",
    "jpg",
    "js",
    "json",
    "json5",
    "jsonc",
    "jsonl",
    "jsx",
    "kt",
    "kts",
    "less",
    "lock",
    "log",
    "lua",
    "m",
    "make",
    "md",
    "mdx",
    "mjs",
    "ml",
    "mli",
    "mm",
    "mod",
    "mts",
    "nim",
    "nix",
    "org",
    "parquet",
    "patch",
    "pdf",
    "php",
    "pl",
    "plist",
    "pm",
    "png",
    "po",
    "prisma",
    "properties",
    "proto",
    "ps1",
    "py",
    "pyi",
    "pyx",
    "r",
    "rake",
    "rb",
    "rego",
    "rkt",
    "rs",
    "rst",
    "sass",
    "sbt",
    "scala",
    "scm",
    "scss",
    "sh",
    "sln",
    "sol",
    "sql",
    "styl",
    "sum",
    "sv",
    "svelte",
    "svg",
    "swift",
    "tcl",
    "tex",
    "tf",
    "tfvars",
    "toml",
    "ts",
    "tsv",
    "tsx",
    "txt",
    "v",
    "vb",
    "vhd",
    "vim",
    "vue",
    "wasm",
    "wat",
    "webp",
    "xml",
    "xsd",
    "yaml",
    "yml",
    "zig",
    "zsh",
];

/// Replaces names by known ones.
pub(crate) struct Vocabulary {
    models: Vec<String>,
}

impl Vocabulary {
    /// Creates the vocabulary with the models of the built-in price table.
    pub(crate) fn new() -> Vocabulary {
        let prices = PriceTable::built_in();
        let names = prices.models().flat_map(|(_, pricing)| pricing.models().iter());
        let models = names.filter(|name| !name.contains('*')).cloned();
        let mut models: Vec<String> = models.chain(["<synthetic>".to_owned()]).collect();
        models.sort();
        models.dedup();
        Vocabulary { models }
    }

    /// Returns the known name for the value of a column.
    pub(crate) fn normalize(&self, column: &str, value: &str) -> String {
        match column {
            "model" => self.find_model(value).to_owned(),
            "models" => {
                let models: Vec<&str> = value.split(',').map(|model| self.find_model(model)).collect();
                models.join(",")
            }
            "client_version" | "client_version_first" | "client_version_last" => normalize_version(value),
            "tool" if value.starts_with("mcp__") => "mcp".to_owned(),
            "tool" => find(TOOLS, value).to_owned(),
            "stop_reason" => find(STOP_REASONS, value).to_owned(),
            "entrypoint" => find(ENTRYPOINTS, value).to_owned(),
            "extension" => find(EXTENSIONS, value).to_owned(),
            "kind" => match Kind::from_name(value.as_bytes()) {
                Kind::Unknown | Kind::Missing => OTHER.to_owned(),
                kind => kind.name().to_owned(),
            },
            "subtype" => find_subtype(value).to_owned(),
            _ => OTHER.to_owned(),
        }
    }

    /// Returns the model without provider, date and revision: the name in the price table.
    fn find_model(&self, value: &str) -> &str {
        let name = value.strip_suffix("[1m]").unwrap_or(value);
        let name = name.rsplit(['/', '.']).next().unwrap_or(name);
        let name = name.strip_prefix("anthropic:").unwrap_or(name);
        let name = name.split('@').next().unwrap_or(name);
        let name = name.split(':').next().unwrap_or(name);
        let name = strip_part(name, |part| {
            part.strip_prefix('v').is_some_and(|digits| digits.len() == 1 && is_number(digits))
        });
        let name = strip_part(name, |part| part.len() == 8 && is_number(part) || part == "latest");
        self.models.iter().find(|model| *model == name).map_or(OTHER, String::as_str)
    }
}

/// Removes the part after the last hyphen if `is_suffix` accepts it.
fn strip_part(name: &str, is_suffix: impl Fn(&str) -> bool) -> &str {
    name.rsplit_once('-').filter(|(_, part)| is_suffix(part)).map_or(name, |(start, _)| start)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() <= 8 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns a version that consists of two to four numbers.
fn normalize_version(value: &str) -> String {
    let is_version = (2..=4).contains(&value.split('.').count())
        && value.split('.').all(|part| part.len() <= 5 && is_number(part));
    if is_version { value.to_owned() } else { OTHER.to_owned() }
}

fn find(names: &'static [&'static str], value: &str) -> &'static str {
    names.iter().find(|name| **name == value).copied().unwrap_or(OTHER)
}

/// Returns the subtype of a system, progress or attachment line.
fn find_subtype(value: &str) -> &'static str {
    let value = value.as_bytes();
    match (SystemKind::from_name(value), ProgressKind::from_name(value), AttachmentKind::from_name(value)) {
        (SystemKind::Unknown, ProgressKind::Unknown, AttachmentKind::Unknown) => OTHER,
        (SystemKind::Unknown, ProgressKind::Unknown, kind) => kind.name(),
        (SystemKind::Unknown, kind, _) => kind.name(),
        (kind, _, _) => kind.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_stay_and_others_become_other() {
        let vocabulary = Vocabulary::new();
        for (column, value, expected) in [
            ("model", "claude-opus-4-1", "claude-opus-4-1"),
            ("model", "us.anthropic.claude-opus-4-1-20250805-v1:0", "claude-opus-4-1"),
            ("model", "claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
            ("model", "claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5"),
            ("model", "acme/claude-sonnet-4-5", "claude-sonnet-4-5"),
            ("model", "claude-sonnet-4-5-acme", "other"),
            ("model", "acme-llm", "other"),
            ("models", "claude-opus-4-1,acme-llm", "claude-opus-4-1,other"),
            ("client_version", "2.1.325", "2.1.325"),
            ("client_version", "2.1.325-acme", "other"),
            ("tool", "Bash", "Bash"),
            ("tool", "mcp__acme__look", "mcp"),
            ("tool", "Acme", "other"),
            ("kind", "user", "user"),
            ("kind", "acme", "other"),
            ("subtype", "compact_boundary", "compact_boundary"),
            ("subtype", "acme", "other"),
            ("stop_reason", "end_turn", "end_turn"),
            ("extension", "rs", "rs"),
            ("extension", "acme", "other"),
            ("another", "acme", "other"),
        ] {
            assert_eq!(vocabulary.normalize(column, value), expected, "{column} {value}");
        }
    }
}
