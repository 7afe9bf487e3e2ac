//! The top-level blocks of markdown, between which it can be split.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use crate::content::markdown::OPTIONS;

/// A top-level block of a markdown text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block<'t> {
    /// The byte offset in the markdown at which the block starts.
    pub(crate) start: usize,
    /// The opening line of a fenced code block. `None` for other blocks.
    pub(crate) fence: Option<&'t str>,
    /// `true` if the block is a fenced code block with a closing fence.
    pub(crate) is_closed: bool,
}

/// Returns the last top-level block of markdown whose end may be cut off. Returns `None` if there are no blocks.
pub(crate) fn last_block(markdown: &str) -> Option<Block<'_>> {
    let (mut depth, mut last) = (0, None);
    for (event, range) in Parser::new_ext(markdown, OPTIONS).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    let is_fenced = matches!(tag, Tag::CodeBlock(CodeBlockKind::Fenced(_)));
                    let block = &markdown[range.clone()];
                    let fence = is_fenced.then(|| markdown[range.start..].lines().next()).flatten();
                    let is_closed = fence.is_some_and(|fence| is_closed(fence, block));
                    last = Some(Block { start: range.start, fence, is_closed });
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            _ if depth == 0 => last = Some(Block { start: range.start, fence: None, is_closed: false }),
            _ => {}
        }
    }
    last
}

/// Returns `true` if the last line of a block closes the fence of its first line.
fn is_closed(fence: &str, block: &str) -> bool {
    let marker = fence.trim_start();
    let marker = &marker[..marker.len() - marker.trim_start_matches(['`', '~']).len()];
    let end = block.trim_end().lines().skip(1).last().unwrap_or_default().trim();
    !marker.is_empty() && end.starts_with(marker) && end.chars().all(|c| marker.starts_with(c))
}

#[cfg(test)]
mod tests {
    use super::{Block, last_block};

    #[test]
    fn last_block_is_found_with_its_fence() {
        let block = |start, fence| Some(Block { start, fence, is_closed: false });
        assert_eq!(last_block(""), None);
        assert_eq!(last_block("a\n\nb *c*"), block(3, None));
        assert_eq!(last_block("a\n\n- b\n- c"), block(3, None));
        assert_eq!(last_block("a\n\n---\n"), block(3, None));
        assert_eq!(last_block("a\n\n```rust\nlet x"), block(3, Some("```rust")));
        assert_eq!(last_block("~~~\nx\n~~~\n\nb"), block(11, None));
        for closed in ["```rust\nx\n```", "````\n```\n`````\n\n"] {
            assert!(last_block(closed).is_some_and(|block| block.is_closed), "{closed}");
        }
        for open in ["```rust\nx\n``", "````\nx\n```", "```\nx\n~~~", "```"] {
            assert!(
                last_block(open).is_some_and(|block| block.fence.is_some() && !block.is_closed),
                "{open}"
            );
        }
        // A fence within a list belongs to the list.
        assert_eq!(last_block("- a\n\n  ```\n  x"), block(0, None));
    }
}
