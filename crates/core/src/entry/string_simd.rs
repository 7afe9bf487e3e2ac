//! Finds the end of a JSON string, 16 or 32 bytes at a time.
//!
//! The only module with `unsafe` code: calls to functions that need SSE2, which every x86-64 processor has, or AVX2,
//! after detecting it. The tests below compare them with the scalar versions.

/// Returns a mask of the bytes that need special treatment (quote, backslash, control byte): bit k for byte k.
#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "SSE2 is part of x86-64 itself")]
pub(crate) fn special_byte_mask(chunk: &[u8; 16]) -> u32 {
    // SAFETY: the x86-64 baseline includes SSE2, so the function may be called on every such machine.
    unsafe { special_byte_mask_sse2(chunk) }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn special_byte_mask_sse2(chunk: &[u8; 16]) -> u32 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    };
    // The two halves are compiled to a single load.
    let whole = u128::from_le_bytes(*chunk);
    let bytes = _mm_set_epi64x((whole >> 64) as i64, whole as i64);
    let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"' as i8));
    let slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\' as i8));
    let control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), control)) as u32
}

/// Returns a mask of the bytes that need special treatment (quote, backslash, control byte): bit k for byte k.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn special_byte_mask(chunk: &[u8; 16]) -> u32 {
    special_byte_mask_scalar(chunk)
}

/// Computes [`special_byte_mask`] byte by byte.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn special_byte_mask_scalar(chunk: &[u8; 16]) -> u32 {
    let is_special = |byte: u8| u32::from(matches!(byte, b'"' | b'\\' | 0..0x20));
    chunk.iter().rev().fold(0, |mask, &byte| mask << 1 | is_special(byte))
}

/// Finds the closing quote of a string, from index `at` inside it, if the string is simple.
///
/// Returns `None` if the slow path is needed: the string has a control byte, no end, an escape other than `\n`, `\"`,
/// `\\` and `\t`, or an escaped backslash before a byte other than `n`, `"`, `\` and `t`. It may still be valid.
#[inline]
pub(crate) fn find_closing_quote(bytes: &[u8], at: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "AVX2 is detected in the line before")]
        // SAFETY: the feature was just detected.
        return unsafe { find_closing_quote_avx2(bytes, at) };
    }
    find_closing_quote_scalar(bytes, at, at)
}

/// Returns `true` if the quote at index `quote` ends the string: the number of backslashes before it is even.
///
/// Only backslashes from index `from` on count.
#[inline]
fn is_closing_quote(bytes: &[u8], from: usize, quote: usize) -> bool {
    bytes[from..quote].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 0
}

/// Returns `true` if a byte and its successor need the slow path.
#[inline]
fn needs_slow_path(byte: u8, next: u8) -> bool {
    byte < b' ' || byte == b'\\' && !matches!(next, b'n' | b'"' | b'\\' | b't')
}

/// Does the same as [`find_closing_quote`] byte by byte from index `at`. Escapes may start from index `from` on.
fn find_closing_quote_scalar(bytes: &[u8], from: usize, at: usize) -> Option<usize> {
    for here in at..bytes.len() {
        let byte = bytes[here];
        if byte == b'"' && is_closing_quote(bytes, from, here) {
            return Some(here);
        }
        if needs_slow_path(byte, *bytes.get(here + 1)?) {
            return None;
        }
    }
    None
}

/// Does the same as [`find_closing_quote`] from index `from`, 32 bytes at once, each together with its successor.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn find_closing_quote_avx2(bytes: &[u8], from: usize) -> Option<usize> {
    use std::arch::x86_64::{
        _mm256_andnot_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256,
    };
    let byte_mask = |bytes, byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8));
    let mut slow_before = _mm256_setzero_si256();
    let mut at = from;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<33>) {
        #[expect(unsafe_code, reason = "the two loads stay within the 33 bytes of the chunk")]
        // SAFETY: 32 bytes can be read from the first and from the second byte of 33.
        let (here, next) = unsafe {
            (_mm256_loadu_si256(chunk.as_ptr().cast()), _mm256_loadu_si256(chunk[1..].as_ptr().cast()))
        };
        let common_escape = _mm256_or_si256(
            _mm256_or_si256(byte_mask(next, b'n'), byte_mask(next, b'"')),
            _mm256_or_si256(byte_mask(next, b'\\'), byte_mask(next, b't')),
        );
        let control = _mm256_cmpeq_epi8(_mm256_min_epu8(here, _mm256_set1_epi8(0x1f)), here);
        let slow_bytes = _mm256_or_si256(_mm256_andnot_si256(common_escape, byte_mask(here, b'\\')), control);
        let mut quotes = _mm256_movemask_epi8(byte_mask(here, b'"')) as u32;
        while quotes != 0 {
            let bit = quotes.trailing_zeros();
            let quote = at + bit as usize;
            if is_closing_quote(bytes, from, quote) {
                let before = _mm256_movemask_epi8(slow_bytes) as u32 & ((1 << bit) - 1);
                let is_simple = before == 0 && _mm256_movemask_epi8(slow_before) == 0;
                return is_simple.then_some(quote);
            }
            quotes &= quotes - 1;
        }
        slow_before = _mm256_or_si256(slow_before, slow_bytes);
        at += 32;
    }
    if _mm256_movemask_epi8(slow_before) == 0 { find_closing_quote_scalar(bytes, from, at) } else { None }
}

#[cfg(test)]
mod tests {
    use super::{find_closing_quote, find_closing_quote_scalar, special_byte_mask, special_byte_mask_scalar};

    #[test]
    fn avx2_and_scalar_searches_agree() {
        for len in 0..90 {
            for at in 0..=len {
                for inserted in
                    [&b"\\n"[..], b"\\x", b"\x07", b"\\\"", b"\\u", b"\\", b"\\\\", b"\"", b"\\\\\\\""]
                {
                    let mut body = vec![b'a'; len];
                    body.splice(at..at, inserted.iter().copied());
                    body.extend_from_slice(b"\",\"more\":\"than thirty-three bytes follow here\"}");
                    assert_eq!(
                        find_closing_quote(&body, 0),
                        find_closing_quote_scalar(&body, 0, 0),
                        "{inserted:?} at {at} of {len}"
                    );
                    let short = &body[..len + inserted.len()];
                    assert_eq!(
                        find_closing_quote(short, 0),
                        find_closing_quote_scalar(short, 0, 0),
                        "{inserted:?} at {at} of {len}, cut"
                    );
                }
            }
        }
        assert_eq!(find_closing_quote(b"plain \\n text\" and more", 0), Some(13));
        assert_eq!(find_closing_quote(b"not \\x plain\" and more", 0), None);
    }

    #[test]
    fn sse2_and_scalar_masks_agree() {
        for byte in 0..=255 {
            for at in 0..16 {
                let mut chunk = [b'x'; 16];
                chunk[at] = byte;
                assert_eq!(
                    special_byte_mask(&chunk),
                    special_byte_mask_scalar(&chunk),
                    "byte {byte} at {at}"
                );
            }
            assert_eq!(
                special_byte_mask(&[byte; 16]),
                special_byte_mask_scalar(&[byte; 16]),
                "byte {byte} throughout"
            );
        }
    }
}
