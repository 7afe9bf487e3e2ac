//! rethread: finds and reads every conversation with Claude Code.
//!
//! The faces stand in rooms of their own; this file only opens the door to the command line.

mod cli;
mod context;
mod demo;
mod env;
mod export;
mod html;
mod json;
mod prices;
mod text;
#[expect(dead_code, reason = "pages that use all of it come next")]
mod web;

fn main() -> std::process::ExitCode {
    cli::run()
}
