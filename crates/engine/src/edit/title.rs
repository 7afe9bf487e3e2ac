//! Titles that are written: what may be one, and the lines that give it to a session.

use rethread_core::edit::quote;

use super::edit_session::EditSession;
use crate::Error;

/// Longest title that is written, in characters.
const LONGEST: usize = 200;
/// How much of its origin's title the title of an offspring takes over.
const TAKEN: usize = 60;

/// Reads a title that somebody typed: one line of words, without anything that commands a terminal.
pub(crate) fn read_title(text: &str) -> Result<String, Error> {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let title = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    match title.chars().count() {
        0 => Err(Error::NoTitle),
        length if length > LONGEST => Err(Error::LongTitle { length, most: LONGEST }),
        _ => Ok(title),
    }
}

/// Writes the lines by which a client's own `/rename` names a session.
pub(crate) fn title_lines(title: &str, session: &str) -> [Vec<u8>; 2] {
    let line = |kind: &str, key: &str| {
        format!(r#"{{"type":"{kind}","{key}":{},"sessionId":{}}}"#, quote(title), quote(session)).into_bytes()
    };
    [line("custom-title", "customTitle"), line("agent-name", "agentName")]
}

impl EditSession {
    /// Names an offspring: as somebody wishes, or after its origin.
    pub(crate) fn title_for(&self, wish: Option<&str>, what: &str) -> Result<String, Error> {
        if let Some(wish) = wish {
            return read_title(wish);
        }
        let origin = read_title(&self.session.title.text.chars().take(TAKEN).collect::<String>());
        Ok(origin.map_or_else(|_| format!("({what})"), |title| format!("{title} ({what})")))
    }
}
