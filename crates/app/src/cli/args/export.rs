//! Conversations to take along.

use std::path::PathBuf;

use clap::Args;

use crate::export::{Detail, Format};

/// Write a session as a page, markdown, JSON Lines or text
///
/// A page is one file that needs nothing else: it opens from disk, asks the network for nothing, holds the pictures and the
/// conversations of subagents, and looks as `rethread serve` shows it. Long sessions are packed in it and unpacked while they are
/// read. Markdown and text tell prompts and answers; --detail says how much. What was said on other branches is left out,
/// unless they are asked for. The same session gives the same bytes; times are in UTC.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rethread export last > talk.md\n  \
    rethread export last -o talk.html\n  \
    rethread export 3f2a -o talk.html --all\n  \
    rethread export 3f2a --format text --detail prompts\n  \
    rethread export last --json | jq -r 'select(.prompt) | .prompt'")]
pub(crate) struct Export {
    /// Which session
    pub(crate) session: String,
    /// In which form: html, md, json or text; by the name of the file, or md
    #[arg(short, long, value_name = "FORMAT", hide_possible_values = true, conflicts_with = "json")]
    pub(crate) format: Option<Format>,
    /// How much: prompts, answers, tools or everything
    ///
    /// Each holds what those before it hold. `prompts`: only what you said; `answers`: and the words of the model, which is what
    /// markdown and text tell; `tools`: and one line per tool call; `everything`: and all inputs, results, thoughts and
    /// notices, which is what a page and JSON tell.
    #[arg(long, value_name = "DETAIL", hide_possible_values = true)]
    pub(crate) detail: Option<Detail>,
    /// The branch that holds this entry instead of the one that goes on: uuid, L118 (line) or t9 (turn)
    #[arg(long, value_name = "ENTRY", conflicts_with = "all")]
    pub(crate) branch: Option<String>,
    /// Every turn of the file, on all branches
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Write to this file instead of stdout, which is `-`
    ///
    /// It appears once it is whole. It may not lie among the sessions.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if there is one
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}
