//! Arguments of `export`.

use std::path::PathBuf;

use clap::Args;

use crate::export::{Detail, Format};

/// Export a session as HTML, markdown, JSON Lines or text
///
/// An HTML page is one self-contained file: it opens from disk, makes no network requests, includes images and subagent
/// conversations, and has the layout of `rethread serve`. Long sessions are stored compressed and unpacked as you read.
/// Markdown and text contain prompts and answers; --detail changes that. As in `show`, the conversation that a resume
/// continues is exported, with the turns before a compaction. Turns on other branches are exported with --all. The same
/// session always produces the same bytes. Times are in UTC.
///
/// Passwords, keys and tokens are replaced by `[password-1]`, `[aws-key-1]`, … in the whole export, and the home folder by `~`.
/// The finished export is searched again, and nothing is written if that finds a secret. JSON Lines are exact: they are not
/// written if they contain a secret, unless you choose --redact or --keep-secrets. See docs/SECRETS.md.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rethread export last > talk.md\n  \
    rethread export last -o talk.html\n  \
    rethread export 3f2a --turns 4-6 -o part.html\n  \
    rethread export 3f2a -o talk.html --all\n  \
    rethread export last -o talk.html --redact-words names.txt\n  \
    rethread export last --dry-run --redact-emails\n  \
    rethread export 3f2a --format text --detail prompts\n  \
    rethread export last --json | jq -r 'select(.prompt) | .prompt'")]
pub(crate) struct Export {
    /// Session to export
    pub(crate) session: String,
    /// Only these of the selected turns: 5, 3-9, 3..9, 3.. or ..9
    #[arg(short, long, value_name = "RANGE")]
    pub(crate) turns: Option<String>,
    /// Output format: html, md, json or text (default: by file name, or md)
    #[arg(short, long, value_name = "FORMAT", hide_possible_values = true, conflicts_with = "json")]
    pub(crate) format: Option<Format>,
    /// Level of detail: prompts, answers, tools or everything
    ///
    /// Each level includes the previous ones. `prompts`: your prompts; `answers`: the model's text, the default for markdown
    /// and text; `tools`: one line per tool call; `everything`: all inputs, results, thinking and notices, the default
    /// for HTML and JSON.
    #[arg(long, value_name = "DETAIL", hide_possible_values = true)]
    pub(crate) detail: Option<Detail>,
    /// Omit texts in the user's name that no user typed: outputs of commands, notifications, reminders
    #[arg(long)]
    pub(crate) only_typed: bool,
    /// Export the branch with this entry instead of the active one: uuid, L118 (line) or t9 (turn)
    #[arg(long, value_name = "ENTRY", conflicts_with = "all")]
    pub(crate) branch: Option<String>,
    /// Export every turn of the file, on all branches
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Write to this file instead of stdout (`-`)
    ///
    /// The file appears once it is complete. It cannot be inside the session folders or rethread's own folders. Other users
    /// can read it only if they can read all files of the session.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Keep secrets instead of replacing them by tokens
    #[arg(long, conflicts_with_all = ["redact", "redact_words", "redact_names", "redact_emails"])]
    pub(crate) keep_secrets: bool,
    /// Replace secrets also in JSON Lines
    #[arg(long)]
    pub(crate) redact: bool,
    /// Also replace the words in this file, one per line, by `[word-1]`
    #[arg(long, value_name = "FILE")]
    pub(crate) redact_words: Option<PathBuf>,
    /// Also replace the names of the user and of this computer
    #[arg(long)]
    pub(crate) redact_names: bool,
    /// Also replace addresses of e-mail
    #[arg(long)]
    pub(crate) redact_emails: bool,
    /// Remove all thinking (thinking with a secret is always removed: it is signed and cannot be changed)
    #[arg(long)]
    pub(crate) remove_thinking: bool,
    /// List what is replaced in the files of the session, by rule, and write nothing
    #[arg(short, long, conflicts_with_all = ["output", "keep_secrets"])]
    pub(crate) dry_run: bool,
    /// Replace an existing file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}
