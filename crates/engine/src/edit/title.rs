//! Validates titles and builds the lines that set the title of a session.

use rethread_core::edit::quote_json;

use crate::Error;
use crate::session::load::Session;

/// The maximum number of characters of a title.
const MAX_TITLE_CHARS: usize = 200;
/// The number of characters that the title of a new session takes from that of its origin.
const MAX_ORIGIN_CHARS: usize = 60;

/// Normalizes a title: replaces line breaks, control characters and repeated spaces by single spaces. Returns an error
/// if the result is empty or longer than 200 characters.
pub(crate) fn parse_title(text: &str) -> Result<String, Error> {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let title = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    match title.chars().count() {
        0 => Err(Error::EmptyTitle),
        length if length > MAX_TITLE_CHARS => Err(Error::TitleTooLong { length, max: MAX_TITLE_CHARS }),
        _ => Ok(title),
    }
}

/// Builds the two lines that the client's `/rename` command writes, without line ends. `session` is the session id.
pub(crate) fn render_title_lines(title: &str, session: &str) -> [Vec<u8>; 2] {
    let line = |kind: &str, key: &str| {
        format!(r#"{{"type":"{kind}","{key}":{},"sessionId":{}}}"#, quote_json(title), quote_json(session))
            .into_bytes()
    };
    [line("custom-title", "customTitle"), line("agent-name", "agentName")]
}

/// Returns the title of a new session: the requested one, or the first 60 characters of that of its origin with a suffix
/// in parentheses. Returns an error if the requested title is empty or too long.
pub(crate) fn choose_title(requested: Option<&str>, origin: &Session, suffix: &str) -> Result<String, Error> {
    if let Some(requested) = requested {
        return parse_title(requested);
    }
    let title = parse_title(&origin.title.text.chars().take(MAX_ORIGIN_CHARS).collect::<String>());
    Ok(title.map_or_else(|_| format!("({suffix})"), |title| format!("{title} ({suffix})")))
}
