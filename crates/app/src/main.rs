//! rethread: finds and reads every conversation with Claude Code.
//!
//! The faces stand in rooms of their own; this file only opens the door to the command line.

mod cli;
mod demo;
mod export;
mod html;
mod paths;
mod place;
mod prices;
#[expect(dead_code, reason = "pages that use all of it come next")]
mod web;
mod wire;
mod words;

fn main() -> std::process::ExitCode {
    cli::run()
}
