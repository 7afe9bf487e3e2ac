//! Arguments of `ps` and `reopen`.

/// List the sessions that are open in a running client
///
/// Each row shows what the client does, since when, the start of the session id, the tokens of the last request with its
/// response, the project, the title and the last prompt. Clients that wait for you come first. `waiting`: the client asked a
/// question or presented a plan, and waits for the answer. `busy`: the model answers, or a tool runs. `idle`: it waits for
/// the next prompt. Clients register themselves in ~/.claude/sessions and state whether they are busy. A state with `?` is
/// inferred from the end of the session file, so a prompt for a permission looks like a running tool.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread ps\n  \
    rethread ps --json | jq -r 'select(.state == \"waiting\") | .title'")]
pub(crate) struct Ps {}

/// List the sessions that were open before a crash
///
/// A client that ends normally removes its registration in ~/.claude/sessions. One that was killed, or ended with the machine,
/// does not. Each row shows such a session, and below it the command that continues it in its folder. Sessions that a running
/// client has open again are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    rethread reopen\n  \
    rethread reopen --since 2h\n  \
    rethread reopen --tmux | sh")]
pub(crate) struct Reopen {
    /// Only sessions that were active since (`2h`, `yesterday`, `2026-01-31`)
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Print a tmux command for each session that opens it in a new window
    #[arg(long, conflicts_with = "json")]
    pub(crate) tmux: bool,
}
