//! Shows what `goto` would do, without writing: `cargo run --example dry_run_goto -- ~/.claude [ENTRY]`

use std::io::{self, Write};

use rethread_engine::ops::EntrySelector;
use rethread_engine::ops::goto::GotoRequest;
use rethread_engine::{SessionWriter, Store};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: dry_run_goto FOLDER [ENTRY]")?;
    let entry = std::env::args().nth(2).unwrap_or("t1".to_owned());
    let store = Store::new(folder);
    let request = GotoRequest {
        path: store.find_session("last")?,
        at: EntrySelector { name: entry, before: false, exact: false },
        dry_run: true,
        ..GotoRequest::default()
    };
    let outcome = store.goto(&request, &SessionWriter::read_only())?;
    let mut out = io::stdout().lock();
    writeln!(out, "clients would resume from {} (line {})", outcome.to.handle, outcome.to.line)?;
    out.write_all(&outcome.added)?;
    Ok(())
}
