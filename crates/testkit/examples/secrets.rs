//! Writes planted secrets and look-alikes to a folder, to compare scanners: `cargo run -p rethread-testkit --example secrets -- FOLDER`.
//!
//! `planted.txt` has 3,000 secrets, one per line (line breaks in a secret are spaces), `nested.txt` the same secrets in JSON in a
//! string of JSON, `session.txt` in all forms of lines of a session. `alike.txt` and `alike-session.txt` have 20,000
//! texts without secrets. `truth.json` has the kind of each secret and the lines that rethread reports in each file.
#![expect(clippy::disallowed_methods, reason = "writes to the folder that the user names")]

use std::path::Path;

use rethread_core::secrets::{DETECTORS, find_secrets, find_secrets_in_line};
use rethread_testkit::secrets::{LINE_FORMS, LOOK_ALIKES, look_alikes, plant_secrets, write_line};
use serde_json::{Value, json};

/// The form of [`write_line`] with JSON in a string of JSON.
const NESTED_FORM: usize = 8;

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(Path::new(&folder).join(name), text).expect("the folder is writable");
    };
    let planted = plant_secrets(3_000, 1);
    let alike = look_alikes(20_000, 1);
    let to_line = |text: &str| text.replace('\n', " ");
    let planted_form = |idx: usize| (idx + idx / DETECTORS.len()) % LINE_FORMS;
    let secrets = || planted.iter().map(|planted| &planted.text).enumerate();
    let files: [(&str, Vec<String>); 5] = [
        ("planted.txt", secrets().map(|(_, text)| to_line(text)).collect()),
        ("nested.txt", secrets().map(|(_, text)| write_line(text, NESTED_FORM)).collect()),
        ("session.txt", secrets().map(|(idx, text)| write_line(text, planted_form(idx))).collect()),
        ("alike.txt", alike.iter().map(|text| to_line(text)).collect()),
        (
            "alike-session.txt",
            alike.iter().enumerate().map(|(idx, text)| write_line(text, idx / LOOK_ALIKES)).collect(),
        ),
    ];
    let mut reported = serde_json::Map::new();
    for (name, lines) in &files {
        write(name, &(lines.join("\n") + "\n"));
        let has_secret = |line: &String| match line.starts_with('{') {
            true => !find_secrets_in_line(line.as_bytes()).is_empty(),
            false => !find_secrets(line.as_bytes()).is_empty(),
        };
        let numbers = (1..).zip(lines).filter(|(_, line)| has_secret(line)).map(|(number, _)| number);
        reported.insert((*name).to_owned(), numbers.collect::<Vec<u32>>().into());
    }
    let kinds: Vec<Value> = planted.iter().map(|planted| planted.kind.into()).collect();
    write("truth.json", &json!({ "kinds": kinds, "reported_by_rethread": reported }).to_string());
}
