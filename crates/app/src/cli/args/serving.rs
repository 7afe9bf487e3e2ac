//! The server.

use clap::Args;

/// Read, search and steer all sessions in the browser
///
/// Serves pages to this machine alone: nothing is downloaded, nothing leaves it. The address that is printed holds a key
/// that only this run knows; whoever has it can read your sessions, so do not pass it on. Where there are no sessions, invented ones
/// are shown, marked as such.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rethread serve --open\n  rethread --demo serve --port 8080")]
pub(crate) struct Serve {
    /// Listen at this port; 7333, or any free one, if it is not said
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,

    /// Open the browser
    #[arg(long)]
    pub(crate) open: bool,
}
