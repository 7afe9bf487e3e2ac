//! rethread: finds and reads every conversation with Claude Code.
//!
//! The faces stand in rooms of their own; this file only opens the door to the command line.

mod cli;
mod demo;
#[cfg_attr(not(test), expect(dead_code, reason = "the faces that draw with it come next"))]
#[expect(unused_imports, reason = "the faces that draw with it come next")]
mod html;
mod paths;
mod place;
mod prices;
mod words;

fn main() -> std::process::ExitCode {
    cli::run()
}
