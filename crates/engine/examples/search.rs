//! Searches the sessions below a folder: `cargo run --example search -- ~/.claude 'docker role:user'`

use std::io::{self, Write};

use rethread_engine::Store;
use rethread_engine::core::query::Query;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: search FOLDER [QUERY]")?;
    let text = std::env::args().nth(2).unwrap_or("role:user".to_owned());
    let query = Query::parse(&text).map_err(|error| error.message)?;
    let mut search = Store::new(folder).search(query);
    let mut out = io::stdout().lock();
    for hit in search.by_ref().take(10) {
        writeln!(out, "{} L{}: {}", hit.session, hit.line, hit.excerpt.text)?;
    }
    writeln!(out, "{} hits", search.hit_count().hits)?;
    Ok(())
}
