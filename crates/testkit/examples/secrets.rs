//! Writes planted secrets and look-alikes to a folder, to compare scanners: `cargo run -p rethread-testkit --example secrets -- FOLDER`.
//!
//! `planted.jsonl` has 3,000 lines of sessions with one secret each, `planted.txt` the same secrets as plain text (line breaks
//! in a secret are spaces), `alike.jsonl` 20,000 lines without secrets.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "writes to the folder that the user names"
)]

use std::path::Path;

use rethread_core::secrets::{DETECTORS, find_secrets_in_line};
use rethread_testkit::secrets::{LINE_FORMS, LOOK_ALIKES, look_alikes, plant_secrets, write_line};

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let write = |name: &str, lines: &[String]| {
        std::fs::write(Path::new(&folder).join(name), lines.join("\n") + "\n")
            .expect("the folder is writable");
        let found = lines.iter().filter(|line| !find_secrets_in_line(line.as_bytes()).is_empty()).count();
        println!("{name}: rethread finds secrets in {found} of {} lines", lines.len());
    };
    let planted = plant_secrets(3_000, 1);
    let form = |idx: usize| (idx + idx / DETECTORS.len()) % LINE_FORMS;
    let lines: Vec<String> =
        planted.iter().enumerate().map(|(idx, planted)| write_line(&planted.text, form(idx))).collect();
    write("planted.jsonl", &lines);
    let texts: Vec<String> = planted.iter().map(|planted| planted.text.replace('\n', " ")).collect();
    write("planted.txt", &texts);
    let alike: Vec<String> = look_alikes(20_000, 1)
        .iter()
        .enumerate()
        .map(|(idx, text)| write_line(text, idx / LOOK_ALIKES))
        .collect();
    write("alike.jsonl", &alike);
}
