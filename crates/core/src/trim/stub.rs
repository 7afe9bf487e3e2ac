//! Renders stubs: the texts that replace removed content and name the location of the original.
//!
//! `bytes` is the size of the removed content, `session` and `line` its location in the original session.

/// Only content of more bytes than this is replaced. A stub would save little of smaller content.
pub(super) const MIN_STUB_LEN: u32 = 256;

/// Formats the location of the removed content: `session 1a2b3c4d line 57`, with eight characters of the session id.
fn format_location(session: &str, line: u32) -> String {
    let short_id: String = session.chars().take(8).collect();
    format!("session {short_id} line {line}")
}

fn format_size(bytes: u32) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", f64::from(bytes) / 1e6),
    }
}

/// Renders the stub for a tool result.
pub(super) fn render_result(bytes: u32, session: &str, line: u32) -> String {
    format!("[tool result of {} removed by rethread: {}]", format_size(bytes), format_location(session, line))
}

/// Renders the stub for the result of a call that reads a file, if a later call reads it again.
pub(super) fn render_repeated_read(bytes: u32, session: &str, line: u32) -> String {
    format!(
        "[read of {} removed by rethread, the file is read again below: {}]",
        format_size(bytes),
        format_location(session, line)
    )
}

/// Renders the stub for an image.
pub(super) fn render_image(bytes: u32, session: &str, line: u32) -> String {
    format!("[image of {} removed by rethread: {}]", format_size(bytes), format_location(session, line))
}
