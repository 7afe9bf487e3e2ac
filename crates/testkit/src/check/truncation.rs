//! Truncation: long strings are cut, everything else is unchanged.

use rethread_core::entry::{self, LineStatus};
use rethread_core::lines::{Line, LineTruncator};

use super::reference_parser::{parse_items, parse_members, parse_string};
use super::split::ChunkLengths;

/// Strings up to this number of bytes are not truncated.
const MAX_STRING_BYTES: usize = 16 << 10;
/// A truncated line is shorter than this.
const MAX_LINE_BYTES: usize = 8 << 20;

/// Checks the truncation of one line, fed in chunks.
pub fn truncation(line: &[u8], chunk_lengths: ChunkLengths<'_>) {
    let at_once = truncate(line, ChunkLengths(&[]));
    assert_eq!(at_once.1, line.len() as u64, "the original length is returned");
    let chunked = truncate(line, chunk_lengths);
    assert!(chunked == at_once, "chunks change the result");
    let Some(truncated) = at_once.0 else {
        assert!(line.len() >= MAX_LINE_BYTES, "only long lines are dropped");
        return;
    };
    assert!(truncated.len() < MAX_LINE_BYTES && truncated.len() <= line.len(), "the result is bounded");
    let Ok(text) = std::str::from_utf8(line) else {
        return;
    };
    let truncated_text = std::str::from_utf8(&truncated);
    assert!(truncated_text.is_ok(), "no character is cut");
    let truncated_text = truncated_text.unwrap_or_default();
    if read_status(line) != LineStatus::Parsed {
        return;
    }
    assert_eq!(read_status(&truncated), LineStatus::Parsed, "the result is still one object");
    assert_truncated(text, truncated_text, 0);
}

fn truncate(line: &[u8], chunk_lengths: ChunkLengths<'_>) -> (Option<Vec<u8>>, u64) {
    let mut truncator = LineTruncator::default();
    chunk_lengths.split(line).into_iter().for_each(|chunk| truncator.feed(chunk));
    truncator.finish()
}

fn read_status(bytes: &[u8]) -> LineStatus {
    entry::read_line(&Line { number: 1, offset: 0, bytes, unterminated: false }, &mut Vec::new(), |_, _| {})
}

/// Checks that two values differ only in the ends of long strings.
fn assert_truncated(line: &str, truncated: &str, level: usize) {
    if line.len() <= MAX_STRING_BYTES {
        assert_eq!(line, truncated, "short values are unchanged");
        return;
    }
    if let (Some(long), Some(cut)) = (parse_string(line), parse_string(truncated)) {
        let cut = cut.trim_end_matches('\u{FFFD}');
        assert!(long.starts_with(cut), "a string is cut at its end");
        assert!(truncated.len() <= 3 * MAX_STRING_BYTES + 16, "long strings are cut");
        assert!(truncated.len() > MAX_STRING_BYTES - 16, "strings are not cut more than necessary");
    } else if level < 16 {
        let (line_items, truncated_items) = (parse_items(line), parse_items(truncated));
        assert_eq!(line_items.len(), truncated_items.len(), "no item is lost");
        for (line, truncated) in line_items.iter().zip(truncated_items) {
            assert_truncated(line, truncated, level + 1);
        }
        let (line_members, truncated_members) = (parse_members(line), parse_members(truncated));
        assert_eq!(line_members.len(), truncated_members.len(), "no member is lost");
        for ((key, line), (truncated_key, truncated)) in line_members.iter().zip(truncated_members) {
            let truncated_key = truncated_key.trim_end_matches('\u{FFFD}');
            assert!(key.starts_with(truncated_key), "a key is cut at its end");
            assert_truncated(line, truncated, level + 1);
        }
    }
}
