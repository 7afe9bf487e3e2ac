//! Writes a generated store and its expected usage.
//!
//!     cargo run -p rethread-testkit --example spending -- FOLDER SEED SESSIONS
//!
//! FOLDER/.claude/projects contains the sessions, FOLDER/truth.json the totals of all responses, each counted once.

#![expect(clippy::disallowed_methods, reason = "it writes a new store into the folder of its argument")]

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use rethread_core::entry::Usage;
use rethread_testkit::spending::{ExpectedResponse, StoreGenerator};
use serde_json::{Value, json};

fn main() -> Result<(), Error> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, seed, session_count] = &args[..] else {
        return Err(Error::new(ErrorKind::InvalidInput, "expected arguments: FOLDER SEED SESSIONS"));
    };
    let parse_number =
        |text: &String| text.parse::<u64>().map_err(|error| Error::new(ErrorKind::InvalidInput, error));
    let generator = StoreGenerator::new(parse_number(seed)?, parse_number(session_count)? as usize);
    let folder = PathBuf::from(folder);
    let projects = folder.join(".claude/projects");
    for file in &generator.store.files {
        write(&projects.join(&file.path), &file.bytes())?;
        if let Some((path, text)) = file.meta_file() {
            write(&projects.join(path), text.as_bytes())?;
        }
    }
    let responses = generator.store.expected_responses();
    let mut by_model: BTreeMap<&str, Vec<&ExpectedResponse>> = BTreeMap::new();
    responses.iter().for_each(|response| by_model.entry(&response.model).or_default().push(response));
    let totals_by_model: BTreeMap<&str, Value> =
        by_model.iter().map(|(model, responses)| (*model, sum_usage(responses))).collect();
    let truth = json!({
        "files": generator.store.files.len(),
        "total": sum_usage(&responses.iter().collect::<Vec<_>>()),
        "by_model": totals_by_model,
    });
    write(&folder.join("truth.json"), format!("{truth:#}\n").as_bytes())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, bytes)
}

fn sum_usage(responses: &[&ExpectedResponse]) -> Value {
    let mut usage = Usage::default();
    responses.iter().for_each(|response| usage.add(&response.usage));
    json!({
        "responses": responses.len(),
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_creation_1h_input_tokens": usage.cache_write_1h,
        "cache_read_input_tokens": usage.cache_read,
        "web_searches": usage.web_searches,
        "lower_bound_responses": responses.iter().filter(|response| response.is_lower_bound).count(),
    })
}
