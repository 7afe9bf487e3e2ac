//! How many tokens something is, judged by its characters or its size.
//!
//! The rates of words, calls and results are rounded from least squares of the relative error over 7,827 pairs of requests
//! that follow each other in real sessions, of seven models, without thinking, pictures or attachments: what a request grew
//! by beside the characters that stand between. Half of these same growths are told to within a tenth. The rate of thoughts comes from
//! 1,085 responses, that of signatures from 87, the reminder from 21. Pictures and documents were in none of this data: theirs
//! is the published rule of pixels, or a round figure.

/// Thousandths of a token per ASCII character.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rate(u64);

/// Words of the model.
pub(super) const ANSWER: Rate = Rate(270);
/// Words of the user, and of the client in the user's name.
pub(super) const PROSE: Rate = Rate(300);
/// Thoughts.
pub(super) const THINKING: Rate = Rate(300);
/// The signature of thoughts whose words were not kept: it grows with them.
pub(super) const SIGNATURE: Rate = Rate(260);
/// The input of a call: JSON.
pub(super) const INPUT: Rate = Rate(300);
/// What a tool answered: code, listings, logs.
pub(super) const RESULT: Rate = Rate(330);

/// What a call costs beside its input: its name, its id and what wraps them.
pub(super) const CALL: u64 = 55;
/// What wraps a result.
pub(super) const WRAP: u64 = 14;
/// A reminder of a list, of which the file keeps only the items.
pub(super) const REMINDER: u64 = 300;
/// A picture whose size is not known: a screenshot as clients scale it.
pub(super) const PICTURE: u64 = 1500;
/// A document whose pages are not known.
pub(super) const DOCUMENT: u64 = 3000;

/// A character of Chinese, Japanese or Korean, in thousandths of a token.
const WIDE: u64 = 1000;
/// Any other character beyond ASCII.
const OTHER: u64 = 700;

/// Estimates the tokens of the bytes between two quotes, or of JSON as it stands.
pub(super) fn tokens(raw: &[u8], rate: Rate) -> u64 {
    let (mut plain, mut wide, mut other) = (0u64, 0u64, 0u64);
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        at += 1;
        match byte {
            b'\\' if raw.get(at) == Some(&b'u') => {
                other += 1;
                at += 5;
            }
            // The letter behind the backslash is the character.
            b'\\' => {}
            0..0x80 => plain += 1,
            // Most of these three-byte characters are Han, kana or Hangul.
            0xE3..=0xED => wide += 1,
            0xC0.. => other += 1,
            // The rest of a character that was counted.
            _ => {}
        }
    }
    (plain * rate.0 + wide * WIDE + other * OTHER).div_ceil(1000)
}

/// Estimates the tokens of so many plain characters.
pub(super) fn of_length(length: u64, rate: Rate) -> u64 {
    length.saturating_mul(rate.0) / 1000
}

/// The longest edge of a picture after the API has scaled it down, in pixels.
const LONGEST_EDGE: u64 = 1568;
/// Pixels for one token.
const PIXELS: u64 = 750;
/// The most tokens that a picture can have.
const LARGEST_PICTURE: u64 = 1600;

/// Tells the tokens of a picture by its width and height.
pub(super) fn picture((width, height): (u32, u32)) -> u64 {
    let (width, height) = (u64::from(width), u64::from(height));
    let long = width.max(height);
    let area = width.saturating_mul(height);
    let area = if long > LONGEST_EDGE {
        let scaled = u128::from(area) * u128::from(LONGEST_EDGE * LONGEST_EDGE);
        (scaled / (u128::from(long) * u128::from(long))) as u64
    } else {
        area
    };
    area.div_ceil(PIXELS).min(LARGEST_PICTURE)
}

#[cfg(test)]
mod tests {
    use super::{RESULT, Rate, picture, tokens};

    #[test]
    fn characters_count_once_however_they_are_written() {
        let one = Rate(1000);
        let said = ["abc", r"a\nb", r"\u00e9x", "é", "漢字", "💡", r"\", r"\u", ""]
            .map(|text| tokens(text.as_bytes(), one));
        assert_eq!(said, [3, 3, 2, 1, 2, 1, 0, 1, 0]);
        assert_eq!(tokens(&[b'x'; 1000], RESULT), 330);
    }

    #[test]
    fn pictures_count_by_their_pixels_once_scaled() {
        let sizes =
            [(0, 0), (200, 200), (750, 1000), (1568, 1), (4000, 3000), (u32::MAX, u32::MAX), (u32::MAX, 1)];
        assert_eq!(sizes.map(picture), [0, 54, 1000, 3, 1600, 1600, 0]);
    }
}
