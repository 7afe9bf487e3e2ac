//! Condensing: long strings cut, everything else as it was.

use rethread_core::entry::{self, LineStatus};
use rethread_core::lines::{Line, LineTruncator};

use super::reference_parser::{items, members, string};
use super::split::Cuts;

/// Bytes of a string body that are surely kept whole.
const SHORT: usize = 16 << 10;
/// Bytes that the condensed line never reaches.
const MOST: usize = 8 << 20;

/// Checks what a condenser makes of one line fed in pieces.
pub fn condense(line: &[u8], cuts: Cuts<'_>) {
    let at_once = fed(line, Cuts(&[]));
    assert_eq!(at_once.1, line.len() as u64, "the true length is told");
    let pieces = fed(line, cuts);
    assert!(pieces == at_once, "pieces change what is kept");
    let Some(kept) = at_once.0 else {
        assert!(line.len() >= MOST, "only long lines are set aside");
        return;
    };
    assert!(kept.len() < MOST && kept.len() <= line.len(), "what is kept is bounded");
    let Ok(text) = std::str::from_utf8(line) else {
        return;
    };
    let short = std::str::from_utf8(&kept);
    assert!(short.is_ok(), "no character is cut");
    let short = short.unwrap_or_default();
    if fate(line) != LineStatus::Whole {
        return;
    }
    assert_eq!(fate(&kept), LineStatus::Whole, "what is kept is still one object");
    same(text, short, 0);
}

fn fed(line: &[u8], cuts: Cuts<'_>) -> (Option<Vec<u8>>, u64) {
    let mut condenser = LineTruncator::default();
    cuts.of(line).into_iter().for_each(|piece| condenser.feed(piece));
    condenser.finish()
}

fn fate(bytes: &[u8]) -> LineStatus {
    entry::read(&Line { no: 1, offset: 0, bytes, unterminated: false }, &mut Vec::new(), |_, _| {})
}

/// Checks that two values are alike but for the ends of long strings.
fn same(line: &str, kept: &str, level: usize) {
    if line.len() <= SHORT {
        assert_eq!(line, kept, "short values are kept as they stand");
        return;
    }
    if let (Some(long), Some(cut)) = (string(line), string(kept)) {
        let cut = cut.trim_end_matches('\u{FFFD}');
        assert!(long.starts_with(cut), "a string is cut at its end");
        assert!(kept.len() <= 3 * SHORT + 16, "long strings are cut");
        assert!(kept.len() > SHORT - 16, "and not more than need be");
    } else if level < 16 {
        let (items_of, kept_items) = (items(line), items(kept));
        assert_eq!(items_of.len(), kept_items.len(), "no item is lost");
        items_of.iter().zip(kept_items).for_each(|(line, kept)| same(line, kept, level + 1));
        let (members_of, kept_members) = (members(line), members(kept));
        assert_eq!(members_of.len(), kept_members.len(), "no member is lost");
        for ((key, line), (kept_key, kept)) in members_of.iter().zip(kept_members) {
            assert!(key.starts_with(kept_key.trim_end_matches('\u{FFFD}')), "keys are kept");
            same(line, kept, level + 1);
        }
    }
}
