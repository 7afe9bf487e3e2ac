//! Arguments of `ps`.

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
