//! Selects the active fault. This file becomes the crate `rethread-mutant` in the copy of the workspace.
//!
//! The number is in a file and not in a variable, because tests start the program with an empty environment.

use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The file that selects the fault: its number, or `trace PATH`.
const SELECTION: &str = "@SELECTION@";
/// One more than the largest number of a fault.
const FAULTS: usize = @FAULTS@;

enum Mode {
    /// No fault is active.
    Off,
    Fault(usize),
    /// No fault is active. The numbers of the faults that the process reaches are appended to the file.
    Trace(String),
}

static MODE: OnceLock<Mode> = OnceLock::new();
static REACHED: [AtomicBool; FAULTS] = [const { AtomicBool::new(false) }; FAULTS];

fn read_mode() -> Mode {
    let selection = std::fs::read_to_string(SELECTION).unwrap_or_default();
    match (selection.parse(), selection.strip_prefix("trace ")) {
        (Ok(number), _) => Mode::Fault(number),
        (_, Some(path)) => Mode::Trace(path.to_owned()),
        _ => Mode::Off,
    }
}

/// Returns `true` if the fault with this number is active in this process.
#[inline]
pub fn is_active(number: usize) -> bool {
    match MODE.get_or_init(read_mode) {
        Mode::Off => false,
        Mode::Fault(active) => *active == number,
        Mode::Trace(path) => {
            if !REACHED[number].swap(true, Ordering::Relaxed) {
                let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
                let _ = file.and_then(|mut file| file.write_all(format!("{number}\n").as_bytes()));
            }
            false
        }
    }
}
