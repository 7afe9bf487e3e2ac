//! Compresses markup that the script of the page unpacks when the reader scrolls to it.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;

/// Compresses markup as raw deflate and encodes it as base64, which needs no escaping in HTML.
pub(super) fn pack(markup: &str) -> io::Result<String> {
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(markup.len() / 4), Compression::fast());
    encoder.write_all(markup.as_bytes())?;
    Ok(STANDARD.encode(encoder.finish()?))
}

/// Formats line numbers, in any order, as sorted ranges: `3-9 12 14-15`.
pub(super) fn format_ranges(mut lines: Vec<u32>) -> String {
    lines.sort_unstable();
    let mut ranges = String::new();
    for run in lines.chunk_by(|a, b| a.checked_add(1) == Some(*b) || a == b) {
        let gap = if ranges.is_empty() { "" } else { " " };
        match run {
            [first, .., last] if first != last => ranges.push_str(&format!("{gap}{first}-{last}")),
            [first, ..] => ranges.push_str(&format!("{gap}{first}")),
            [] => {}
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::{format_ranges, pack};

    #[test]
    fn packed_markup_round_trips() {
        for markup in ["", "<p>naïve 漢字</p>", &"<p>again and again</p>".repeat(10_000)] {
            let packed = STANDARD.decode(pack(markup).unwrap()).unwrap();
            let mut unpacked = String::new();
            flate2::read::DeflateDecoder::new(&packed[..]).read_to_string(&mut unpacked).unwrap();
            assert_eq!(unpacked, markup);
            assert!(packed.len() < markup.len() / 50 || markup.len() < 100);
        }
    }

    #[test]
    fn consecutive_lines_form_a_range() {
        let cases = [(vec![], ""), (vec![3], "3"), (vec![9, 3, 4, 5, 12, 14, 15, 15], "3-5 9 12 14-15")];
        for (lines, expected) in cases {
            assert_eq!(format_ranges(lines), expected);
        }
    }
}
