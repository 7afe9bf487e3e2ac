//! rethread: finds and reads every conversation with Claude Code.
//!
//! Each frontend has its own module. This file only starts the command line.

mod cli;
mod config;
mod content;
mod context;
mod demo;
mod env;
mod export;
mod html;
mod json;
mod mcp;
mod prices;
mod text;
mod web;

fn main() -> std::process::ExitCode {
    cli::run()
}
