//! Lists the sessions below a folder: `cargo run --example list_sessions -- ~/.claude`

use std::io::{self, Write};

use rethread_engine::Store;
use rethread_engine::ops::list::SessionFilter;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: list_sessions FOLDER")?;
    let list = Store::new(folder).sessions(&SessionFilter::default());
    let mut out = io::stdout().lock();
    for session in &list.rows {
        writeln!(out, "{}  {:6} kB  {}", session.id, session.bytes / 1000, session.title.text)?;
    }
    for error in &list.failures {
        writeln!(out, "error: {error}")?;
    }
    Ok(())
}
