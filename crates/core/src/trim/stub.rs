//! The words that stand for what was left out, and say where it is.

/// What is worth a stub: anything shorter is as short as its stub.
pub(super) const MIN_STUB_LEN: u32 = 256;

/// Names a place of the original.
fn whereabouts(session: &str, line: u32) -> String {
    let start: String = session.chars().take(8).collect();
    format!("session {start} line {line}")
}

/// Writes so many bytes for people.
fn size(bytes: u32) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", f64::from(bytes) / 1e6),
    }
}

/// Stands for a tool result.
pub(super) fn result(bytes: u32, session: &str, line: u32) -> String {
    format!("[tool result of {} left out by rethread: {}]", size(bytes), whereabouts(session, line))
}

/// Stands for a read that is repeated.
pub(super) fn read(bytes: u32, session: &str, line: u32) -> String {
    format!(
        "[read of {} left out by rethread, the file is read again below: {}]",
        size(bytes),
        whereabouts(session, line)
    )
}

/// Stands for a picture.
pub(super) fn picture(bytes: u32, session: &str, line: u32) -> String {
    format!("[picture of {} left out by rethread: {}]", size(bytes), whereabouts(session, line))
}
