//! Arguments of `completions` and `man`.

use std::path::PathBuf;

/// Print a completion script for your shell
///
/// The script completes commands, options, session ids with their titles, turns and projects. It asks rethread for the
/// candidates, so it remains valid after an update.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread completions bash > ~/.local/share/bash-completion/completions/rethread\n  \
    rethread completions zsh > ~/.zfunc/_rethread          with `fpath+=~/.zfunc` in ~/.zshrc, before compinit\n  \
    rethread completions fish > ~/.config/fish/completions/rethread.fish")]
pub(crate) struct Completions {
    /// Shell to complete for
    pub(crate) shell: clap_complete::Shell,
}

/// Write the manual pages
///
/// Writes rethread.1 and a page per command, such as rethread-show.1. Without --output, prints rethread.1.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread man | man -l -\n  \
    rethread man --output ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write all pages to this folder, which is created if necessary; existing pages are replaced
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}
