//! Session titles and their sources.

/// The title of a session and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// The title, on one line. Empty if the session has none.
    pub text: String,
    /// The source of a title.
    pub source: TitleSource,
}

/// The source of a title. Earlier variants take precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TitleSource {
    /// The user, with `/rename` or `/branch`.
    Custom,
    /// A model.
    Ai,
    /// A `summary` line, in this or another file, that names an entry of this session.
    Summary,
    /// The first prompt.
    Prompt,
    /// The session has no title and no prompt.
    None,
}

impl TitleSource {
    /// Returns the name used in output.
    pub fn name(self) -> &'static str {
        match self {
            TitleSource::Custom => "custom",
            TitleSource::Ai => "ai",
            TitleSource::Summary => "summary",
            TitleSource::Prompt => "prompt",
            TitleSource::None => "none",
        }
    }
}

/// Replaces each run of white space by one space and trims the text, so that it is one line.
pub(crate) fn collapse_whitespace(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}
