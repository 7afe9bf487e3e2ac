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

/// Returns `true` for a notice of the client's status in place of a prompt: words in one pair of brackets, such as
/// `[Session resumed]`. The placeholder of an image is not one.
pub(crate) fn is_status_notice(text: &str) -> bool {
    let inner = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    inner.is_some_and(|inner| {
        let is_word_char = |c: char| c.is_alphanumeric() || " ,.:;'-".contains(c);
        inner.starts_with(char::is_uppercase)
            && !inner.starts_with("Image")
            && inner.chars().all(is_word_char)
    })
}

#[cfg(test)]
mod tests {
    use super::is_status_notice;

    #[test]
    fn notices_are_words_in_brackets() {
        assert!(
            ["[Session resumed]", " [Session resumed: 2 of 3]\n"].map(is_status_notice).iter().all(|is| *is)
        );
        let prompts =
            ["[Image #1]", "[a] or [b]", "[x]", "[]", "[Session resumed] go on", "Session resumed", "[1, 2]"];
        assert!(prompts.map(is_status_notice).iter().all(|is| !is));
    }
}
