//! Writes the session file that a script describes: the script on the standard input, the file on the standard output.
//!
//!     cargo run -p rethread-testkit --example script < SCRIPT > SESSION.jsonl

use std::io::{Error, Write, read_to_string, stdin, stdout};

use rethread_testkit::script;

fn main() -> Result<(), Error> {
    stdout().write_all(&script::bytes(&read_to_string(stdin())?))
}
