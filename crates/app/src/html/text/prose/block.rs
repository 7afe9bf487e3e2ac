//! The blocks of markdown: where it can be cut.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::draw::OPTIONS;

/// A block that stands in no other.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block<'t> {
    /// Where it begins.
    pub(crate) start: usize,
    /// The line that opens it, where it is code between fences.
    pub(crate) fence: Option<&'t str>,
}

/// Returns the last block of markdown, which may be cut off.
pub(crate) fn last_block(markdown: &str) -> Option<Block<'_>> {
    let (mut depth, mut last) = (0, None);
    for (event, range) in Parser::new_ext(markdown, OPTIONS).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    let is_fenced = matches!(tag, Tag::CodeBlock(CodeBlockKind::Fenced(_)));
                    let fence = is_fenced.then(|| markdown[range.start..].lines().next()).flatten();
                    last = Some(Block { start: range.start, fence });
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            _ if depth == 0 => last = Some(Block { start: range.start, fence: None }),
            _ => {}
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::{Block, last_block};

    #[test]
    fn the_last_block_is_found_and_what_opens_it() {
        let block = |start, fence| Some(Block { start, fence });
        assert_eq!(last_block(""), None);
        assert_eq!(last_block("a\n\nb *c*"), block(3, None));
        assert_eq!(last_block("a\n\n- b\n- c"), block(3, None));
        assert_eq!(last_block("a\n\n---\n"), block(3, None));
        assert_eq!(last_block("a\n\n```rust\nlet x"), block(3, Some("```rust")));
        assert_eq!(last_block("~~~\nx\n~~~\n\nb"), block(11, None));
        // Within a list it belongs to the list.
        assert_eq!(last_block("- a\n\n  ```\n  x"), block(0, None));
    }
}
