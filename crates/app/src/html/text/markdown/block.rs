//! The blocks of markdown: where it can be cut.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::render::OPTIONS;

/// A block that stands in no other.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block<'t> {
    /// Where it begins.
    pub(crate) start: usize,
    /// The line that opens it, where it is code between fences.
    pub(crate) fence: Option<&'t str>,
    /// Whether that code has ended.
    pub(crate) is_closed: bool,
}

/// Returns the last block of markdown, which may be cut off.
pub(crate) fn last_block(markdown: &str) -> Option<Block<'_>> {
    let (mut depth, mut last) = (0, None);
    for (event, range) in Parser::new_ext(markdown, OPTIONS).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    let is_fenced = matches!(tag, Tag::CodeBlock(CodeBlockKind::Fenced(_)));
                    let block = &markdown[range.clone()];
                    let fence = is_fenced.then(|| markdown[range.start..].lines().next()).flatten();
                    let is_closed = fence.is_some_and(|fence| closes(fence, block));
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

/// Whether the last line of a block closes what its first line opens.
fn closes(fence: &str, block: &str) -> bool {
    let sign = fence.trim_start();
    let sign = &sign[..sign.len() - sign.trim_start_matches(['`', '~']).len()];
    let end = block.trim_end().lines().skip(1).last().unwrap_or_default().trim();
    !sign.is_empty() && end.starts_with(sign) && end.chars().all(|c| sign.starts_with(c))
}

#[cfg(test)]
mod tests {
    use super::{Block, last_block};

    #[test]
    fn the_last_block_is_found_and_what_opens_it() {
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
        // Within a list it belongs to the list.
        assert_eq!(last_block("- a\n\n  ```\n  x"), block(0, None));
    }
}
