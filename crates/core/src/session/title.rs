//! What a session is called, and who said so.

/// A title and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// The words, on one line.
    pub text: String,
    /// Who gave it.
    pub source: TitleSource,
}

/// Who gave a title; the first of these that exists counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TitleSource {
    /// The user, by `/rename` or `/branch`.
    Custom,
    /// A model.
    Ai,
    /// A `summary` line, of whatever file, that names an entry of this session.
    Summary,
    /// The first words of the user.
    Prompt,
    /// Nothing was said.
    None,
}

impl TitleSource {
    /// Returns a name for output.
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

/// Puts words on one line: runs of white space become one space.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}
