//! Estimates tokens from characters or sizes.
//!
//! The rates of text, calls and results are rounded from a least-squares fit of the relative error over 7,827
//! pairs of consecutive requests in real sessions, of seven models, without thinking, images or attachments:
//! the growth of a request against the characters between the two. Half of these growths are estimated to
//! within a tenth. The rate of thinking is based on 1,085 responses, that of signatures on 87, the reminder
//! on 21. Images and documents did not occur in this data: their sizes follow the published rule by pixels,
//! or are round figures.

/// Thousandths of a token per ASCII character.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenRate(u64);

/// Text of the model.
pub(super) const ANSWER_RATE: TokenRate = TokenRate(270);
/// Text of the user, and text that the client adds to user messages.
pub(super) const PROSE_RATE: TokenRate = TokenRate(300);
/// Thinking.
pub(super) const THINKING_RATE: TokenRate = TokenRate(300);
/// The signature of thinking without a recorded text. Its length grows with the text.
pub(super) const SIGNATURE_RATE: TokenRate = TokenRate(260);
/// The input of a call: JSON.
pub(super) const INPUT_RATE: TokenRate = TokenRate(300);
/// Tool results: code, listings, logs.
pub(super) const RESULT_RATE: TokenRate = TokenRate(330);

/// The tokens of a call in addition to its input: its name, its id and its markup.
pub(super) const CALL_TOKENS: u64 = 55;
/// The tokens of a result's markup.
pub(super) const RESULT_MARKUP_TOKENS: u64 = 14;
/// The tokens of a list reminder, of which the file records only the items.
pub(super) const REMINDER_TOKENS: u64 = 300;
/// The tokens of an image of unknown size: a screenshot as clients scale it.
pub(super) const IMAGE_TOKENS: u64 = 1500;
/// The tokens of a document with an unknown number of pages.
pub(super) const DOCUMENT_TOKENS: u64 = 3000;

/// Thousandths of a token per Chinese, Japanese or Korean character.
const WIDE_CHAR: u64 = 1000;
/// Thousandths of a token per other character beyond ASCII.
const OTHER_CHAR: u64 = 700;

/// Estimates the tokens of a JSON string body or of raw JSON, rounded up.
pub(super) fn estimate_tokens(raw: &[u8], rate: TokenRate) -> u64 {
    let (mut plain, mut wide, mut other) = (0u64, 0u64, 0u64);
    let mut at = 0;
    while let Some(&byte) = raw.get(at) {
        at += 1;
        match byte {
            b'\\' if raw.get(at) == Some(&b'u') => {
                other += 1;
                at += 5;
            }
            // The letter after the backslash counts as the character.
            b'\\' => {}
            0..0x80 => plain += 1,
            // Most of these three-byte characters are Han, kana or Hangul.
            0xE3..=0xED => wide += 1,
            0xC0.. => other += 1,
            // Continuation bytes of a character that was already counted.
            _ => {}
        }
    }
    (plain * rate.0 + wide * WIDE_CHAR + other * OTHER_CHAR).div_ceil(1000)
}

/// Estimates the tokens of `length` ASCII characters, rounded down.
pub(super) fn estimate_by_length(length: u64, rate: TokenRate) -> u64 {
    length.saturating_mul(rate.0) / 1000
}

/// The longest edge of an image after the API has scaled it down, in pixels.
const LONGEST_EDGE: u64 = 1568;
/// Pixels per token.
const PIXELS_PER_TOKEN: u64 = 750;
/// The maximum number of tokens of an image.
const MAX_IMAGE_TOKENS: u64 = 1600;

/// Estimates the tokens of an image by its width and height in pixels, at most 1600.
pub(super) fn estimate_image_tokens((width, height): (u32, u32)) -> u64 {
    let (width, height) = (u64::from(width), u64::from(height));
    let long = width.max(height);
    let area = width.saturating_mul(height);
    let area = if long > LONGEST_EDGE {
        let scaled = u128::from(area) * u128::from(LONGEST_EDGE * LONGEST_EDGE);
        (scaled / (u128::from(long) * u128::from(long))) as u64
    } else {
        area
    };
    area.div_ceil(PIXELS_PER_TOKEN).min(MAX_IMAGE_TOKENS)
}

#[cfg(test)]
mod tests {
    use super::{RESULT_RATE, TokenRate, estimate_image_tokens, estimate_tokens};

    #[test]
    fn escaped_and_plain_characters_count_once() {
        let rate = TokenRate(1000);
        let counts = ["abc", r"a\nb", r"\u00e9x", "é", "漢字", "💡", r"\", r"\u", ""]
            .map(|text| estimate_tokens(text.as_bytes(), rate));
        assert_eq!(counts, [3, 3, 2, 1, 2, 1, 0, 1, 0]);
        assert_eq!(estimate_tokens(&[b'x'; 1000], RESULT_RATE), 330);
    }

    #[test]
    fn images_count_by_their_scaled_pixels() {
        let sizes =
            [(0, 0), (200, 200), (750, 1000), (1568, 1), (4000, 3000), (u32::MAX, u32::MAX), (u32::MAX, 1)];
        assert_eq!(sizes.map(estimate_image_tokens), [0, 54, 1000, 3, 1600, 1600, 0]);
    }
}
