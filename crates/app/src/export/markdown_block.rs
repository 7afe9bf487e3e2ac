//! A block of markdown whose long texts are written piece by piece, without a copy of them.

use std::io::{self, Write};

use super::sanitize::{format_fenced_block, longest_backtick_run, prefix_lines, sanitize_prose};
use crate::text::layout::clean_lines;

/// The number of bytes above which a text is written as a fenced block, line by line. No reader expects markdown in it, and
/// parsing it would take many times its size.
const MAX_PARSED_BYTES: usize = 1 << 20;

/// A block of markdown, in pieces.
pub(super) struct MarkdownBlock<'t> {
    pieces: Vec<Piece<'t>>,
}

enum Piece<'t> {
    /// Markdown.
    Markdown(String),
    /// A long text, with its language and the prefix of its lines. It becomes a fenced block.
    Long { text: &'t str, language: &'static str, prefix: &'static str },
}

impl From<String> for MarkdownBlock<'_> {
    fn from(markdown: String) -> Self {
        MarkdownBlock { pieces: vec![Piece::Markdown(markdown)] }
    }
}

impl From<&str> for MarkdownBlock<'_> {
    fn from(markdown: &str) -> Self {
        MarkdownBlock::from(markdown.to_owned())
    }
}

impl<'t> MarkdownBlock<'t> {
    /// Sanitizes prose, see [`sanitize_prose`]. Long text becomes a fenced block.
    pub(super) fn prose(text: &'t str) -> MarkdownBlock<'t> {
        if text.len() > MAX_PARSED_BYTES { Self::fenced(text, "") } else { sanitize_prose(text).into() }
    }

    /// Formats a fenced block, see [`format_fenced_block`].
    pub(super) fn fenced(text: &'t str, language: &'static str) -> MarkdownBlock<'t> {
        if text.len() <= MAX_PARSED_BYTES {
            return format_fenced_block(text, language).into();
        }
        MarkdownBlock { pieces: vec![Piece::Long { text, language, prefix: "" }] }
    }

    /// Appends the pieces of another block.
    pub(super) fn join(mut self, other: MarkdownBlock<'t>) -> MarkdownBlock<'t> {
        self.pieces.extend(other.pieces);
        self
    }

    /// Appends markdown.
    pub(super) fn push(self, markdown: &str) -> MarkdownBlock<'t> {
        if markdown.is_empty() { self } else { self.join(markdown.into()) }
    }

    /// Makes the block a quotation.
    pub(super) fn quote(self) -> MarkdownBlock<'t> {
        self.prefix_lines("> ")
    }

    /// Adds a prefix to every line and removes trailing spaces. A long text must start and end with a line, and have no
    /// prefix yet.
    pub(super) fn prefix_lines(self, prefix: &'static str) -> MarkdownBlock<'t> {
        let mut pieces: Vec<Piece<'t>> = Vec::new();
        for piece in self.pieces {
            match (piece, pieces.last_mut()) {
                (Piece::Markdown(next), Some(Piece::Markdown(markdown))) => markdown.push_str(&next),
                (Piece::Long { text, language, .. }, _) => {
                    pieces.push(Piece::Long { text, language, prefix });
                }
                (piece, _) => pieces.push(piece),
            }
        }
        for (idx, piece) in pieces.iter_mut().enumerate() {
            if let Piece::Markdown(markdown) = piece {
                // After a long text, the first line end ends the line of its fence.
                let (start, rest) = match markdown.strip_prefix('\n') {
                    Some(rest) if idx > 0 => ("\n", rest),
                    _ => ("", markdown.as_str()),
                };
                let end = if markdown.ends_with('\n') { "\n" } else { "" };
                *markdown = format!("{start}{}{end}", prefix_lines(prefix, rest));
            }
        }
        MarkdownBlock { pieces }
    }

    /// Writes the pieces.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for piece in &self.pieces {
            match piece {
                Piece::Markdown(markdown) => out.write_all(markdown.as_bytes())?,
                Piece::Long { text, language, prefix } => write_long_text(text, language, prefix, out)?,
            }
        }
        Ok(())
    }
}

/// Writes a long text as a fenced block with a prefix before each line.
fn write_long_text(text: &str, language: &str, prefix: &str, out: &mut dyn Write) -> io::Result<()> {
    let longest_run = clean_lines(text).map(|line| longest_backtick_run(&line)).max().unwrap_or_default();
    let fence = "`".repeat((longest_run + 1).max(3));
    writeln!(out, "{prefix}{fence}{language}")?;
    for line in clean_lines(text).skip_while(String::is_empty) {
        writeln!(out, "{}", format!("{prefix}{line}").trim_end())?;
    }
    write!(out, "{prefix}{fence}")
}

#[cfg(test)]
mod tests {
    use super::{MAX_PARSED_BYTES, MarkdownBlock, prefix_lines};

    fn write(block: &MarkdownBlock<'_>) -> String {
        let mut out = Vec::new();
        block.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn long_text_in_a_quotation_is_a_fenced_block() {
        let text = format!("\n{}```` <b>\n\nlast  \n\n", "a line of words\n".repeat(MAX_PARSED_BYTES / 10));
        let block =
            MarkdownBlock::from("**You**\n\n").join(MarkdownBlock::prose(&text)).push("\n\n[x]").quote();
        let fence = "`````";
        let inside = text.trim().replace("  \n", "\n");
        let expected = prefix_lines("> ", &format!("**You**\n\n{fence}\n{inside}\n{fence}\n\n[x]"));
        assert!(write(&block) == expected, "{}", &write(&block)[..400]);
    }

    #[test]
    fn short_blocks_are_joined_before_they_are_prefixed() {
        let block = MarkdownBlock::from("**You**\n\n")
            .join(MarkdownBlock::prose("one\n\ntwo"))
            .push("\n\n[x]")
            .quote();
        assert_eq!(write(&block), "> **You**\n>\n> one\n>\n> two\n>\n> [x]");
    }
}
