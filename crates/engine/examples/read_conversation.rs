//! Prints the newest conversation below a folder: `cargo run --example read_conversation -- ~/.claude [SESSION]`

use std::io::{self, Write};

use rethread_engine::Store;
use rethread_engine::core::turn::TurnPart;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: read_conversation FOLDER [SESSION]")?;
    let name = std::env::args().nth(2).unwrap_or("last".to_owned());
    let store = Store::new(folder);
    let path = store.find_session(&name)?;
    let mut out = io::stdout().lock();
    for turn in store.conversation(&path)? {
        let turn = turn?.turn;
        if let Some(prompt) = &turn.prompt {
            writeln!(out, "> {}", prompt.text)?;
        }
        for part in &turn.parts {
            match &part.part {
                TurnPart::Text(text) => writeln!(out, "{text}")?,
                TurnPart::Tool(call) => writeln!(out, "[{}]", call.name)?,
                _ => {}
            }
        }
    }
    Ok(())
}
