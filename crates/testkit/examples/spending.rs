//! Writes a store of which it is known what was spent in it, and the truth beside it.
//!
//!     cargo run -p rethread-testkit --example spending -- FOLDER SEED SESSIONS
//!
//! FOLDER/.claude/projects holds the sessions, FOLDER/truth.json what all responses come to, each counted once.

#![expect(clippy::disallowed_methods, reason = "it writes a new store where it is told to")]

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use rethread_core::entry::Usage;
use rethread_testkit::spending::{Spend, StoreGenerator};
use serde_json::{Value, json};

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, seed, sessions] = &args[..] else {
        return Err(Error::new(ErrorKind::InvalidInput, "say FOLDER SEED SESSIONS"));
    };
    let number =
        |text: &String| text.parse::<u64>().map_err(|error| Error::new(ErrorKind::InvalidInput, error));
    let maker = StoreGenerator::new(number(seed)?, number(sessions)? as usize);
    let folder = PathBuf::from(folder);
    let projects = folder.join(".claude/projects");
    for file in &maker.store.files {
        write(&projects.join(&file.path), &file.bytes())?;
        if let Some((path, text)) = file.meta() {
            write(&projects.join(path), text.as_bytes())?;
        }
    }
    let truth = maker.store.truth();
    let mut models: BTreeMap<&str, Vec<&Spend>> = BTreeMap::new();
    truth.iter().for_each(|spend| models.entry(&spend.model).or_default().push(spend));
    let models: BTreeMap<&str, Value> = models.iter().map(|(model, some)| (*model, sum(some))).collect();
    let told = json!({"files": maker.store.files.len(), "total": sum(&truth.iter().collect::<Vec<_>>()), "by_model": models});
    write(&folder.join("truth.json"), format!("{told:#}\n").as_bytes())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, bytes)
}

fn sum(spends: &[&Spend]) -> Value {
    let mut usage = Usage::default();
    spends.iter().for_each(|spend| usage.add(&spend.usage));
    json!({
        "responses": spends.len(),
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_creation_1h_input_tokens": usage.cache_write_1h,
        "cache_read_input_tokens": usage.cache_read,
        "web_searches": usage.web_searches,
        "lower_bound_responses": spends.iter().filter(|spend| spend.open).count(),
    })
}
