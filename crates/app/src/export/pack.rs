//! Markup made small, to be unpacked by the page itself when somebody comes near.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;

/// Packs markup: deflated without a head, in letters that mean nothing in a page.
pub(super) fn pack(markup: &str) -> io::Result<String> {
    let mut encoder = DeflateEncoder::new(Vec::with_capacity(markup.len() / 4), Compression::fast());
    encoder.write_all(markup.as_bytes())?;
    Ok(STANDARD.encode(encoder.finish()?))
}

/// Says which of some lines stand together: `3-9 12 14-15`.
pub(super) fn ranges(mut lines: Vec<u32>) -> String {
    lines.sort_unstable();
    let mut said = String::new();
    for run in lines.chunk_by(|a, b| a.checked_add(1) == Some(*b) || a == b) {
        let gap = if said.is_empty() { "" } else { " " };
        match run {
            [first, .., last] if first != last => said.push_str(&format!("{gap}{first}-{last}")),
            [first, ..] => said.push_str(&format!("{gap}{first}")),
            [] => {}
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::{pack, ranges};

    #[test]
    fn what_is_packed_comes_out_again() {
        for markup in ["", "<p>naïve 漢字</p>", &"<p>again and again</p>".repeat(10_000)] {
            let packed = STANDARD.decode(pack(markup).unwrap()).unwrap();
            let mut unpacked = String::new();
            flate2::read::DeflateDecoder::new(&packed[..]).read_to_string(&mut unpacked).unwrap();
            assert_eq!(unpacked, markup);
            assert!(packed.len() < markup.len() / 50 || markup.len() < 100);
        }
    }

    #[test]
    fn lines_that_stand_together_are_said_once() {
        let cases = [(vec![], ""), (vec![3], "3"), (vec![9, 3, 4, 5, 12, 14, 15, 15], "3-5 9 12 14-15")];
        for (lines, said) in cases {
            assert_eq!(ranges(lines), said);
        }
    }
}
