//! Where a JSON string may end: many bytes judged at once.
//!
//! The one place with `unsafe`: calling functions that need SSE2, which every x86-64 has, or AVX2 where the processor
//! says that it has it. The tests below compare them with the plain forms.

/// Marks the bytes at which a string needs a look (quote, backslash, control byte): bit k for byte k.
#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "SSE2 is part of x86-64 itself")]
pub(crate) fn special_byte_mask(chunk: &[u8; 16]) -> u32 {
    // SAFETY: the x86-64 baseline includes SSE2, so the function may be called on every such machine.
    unsafe { sse2(chunk) }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn sse2(chunk: &[u8; 16]) -> u32 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    };
    // The two halves become one load.
    let whole = u128::from_le_bytes(*chunk);
    let bytes = _mm_set_epi64x((whole >> 64) as i64, whole as i64);
    let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"' as i8));
    let slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\' as i8));
    let control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), control)) as u32
}

/// Marks the bytes at which a string needs a look (quote, backslash, control byte): bit k for byte k.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn stops(chunk: &[u8; 16]) -> u32 {
    plain(chunk)
}

/// The same, byte by byte.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn plain(chunk: &[u8; 16]) -> u32 {
    let stop = |byte: u8| u32::from(matches!(byte, b'"' | b'\\' | 0..0x20));
    chunk.iter().rev().fold(0, |marks, &byte| marks << 1 | stop(byte))
}

/// Finds the closing quote of a string from `at` inside it, if everything up to there is in order at a glance.
///
/// `None` means that a closer look is needed, not that something is wrong: there is a control byte, an escape other than
/// the commonest four, an escaped backslash before something else, or no end.
#[inline]
pub(crate) fn find_closing_quote(bytes: &[u8], at: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "the processor has AVX2: asked in the line before")]
        // SAFETY: the feature was detected just now.
        return unsafe { wide_end(bytes, at) };
    }
    narrow_end(bytes, at, at)
}

/// Whether the quote at `quote` ends the string: an even number of backslashes stands before it.
#[inline]
fn ends(bytes: &[u8], from: usize, quote: usize) -> bool {
    bytes[from..quote].iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 0
}

/// Whether a byte with the one behind it needs a closer look.
#[inline]
fn is_odd(byte: u8, next: u8) -> bool {
    byte < b' ' || byte == b'\\' && !matches!(next, b'n' | b'"' | b'\\' | b't')
}

/// Looks byte by byte from `at`, in a string that was looked at from `from`.
fn narrow_end(bytes: &[u8], from: usize, at: usize) -> Option<usize> {
    for here in at..bytes.len() {
        let byte = bytes[here];
        if byte == b'"' && ends(bytes, from, here) {
            return Some(here);
        }
        if is_odd(byte, *bytes.get(here + 1)?) {
            return None;
        }
    }
    None
}

/// Looks at 32 bytes at once, each with the one behind it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn wide_end(bytes: &[u8], from: usize) -> Option<usize> {
    use std::arch::x86_64::{
        _mm256_andnot_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256,
    };
    let is = |bytes, byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8));
    let mut odd_so_far = _mm256_setzero_si256();
    let mut at = from;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<33>) {
        #[expect(unsafe_code, reason = "the two loads stay within the 33 bytes of the chunk")]
        // SAFETY: 32 bytes can be read from the first and from the second byte of 33.
        let (here, next) = unsafe {
            (_mm256_loadu_si256(chunk.as_ptr().cast()), _mm256_loadu_si256(chunk[1..].as_ptr().cast()))
        };
        let fine = _mm256_or_si256(
            _mm256_or_si256(is(next, b'n'), is(next, b'"')),
            _mm256_or_si256(is(next, b'\\'), is(next, b't')),
        );
        let control = _mm256_cmpeq_epi8(_mm256_min_epu8(here, _mm256_set1_epi8(0x1f)), here);
        let odd = _mm256_or_si256(_mm256_andnot_si256(fine, is(here, b'\\')), control);
        let mut quotes = _mm256_movemask_epi8(is(here, b'"')) as u32;
        while quotes != 0 {
            let mark = quotes.trailing_zeros();
            let quote = at + mark as usize;
            if ends(bytes, from, quote) {
                let before = _mm256_movemask_epi8(odd) as u32 & ((1 << mark) - 1);
                let fine = before == 0 && _mm256_movemask_epi8(odd_so_far) == 0;
                return fine.then_some(quote);
            }
            quotes &= quotes - 1;
        }
        odd_so_far = _mm256_or_si256(odd_so_far, odd);
        at += 32;
    }
    if _mm256_movemask_epi8(odd_so_far) == 0 { narrow_end(bytes, from, at) } else { None }
}

#[cfg(test)]
mod tests {
    use super::{find_closing_quote, narrow_end, plain, special_byte_mask};

    #[test]
    fn wide_and_narrow_looks_agree() {
        for len in 0..90 {
            for at in 0..=len {
                for odd in [&b"\\n"[..], b"\\x", b"\x07", b"\\\"", b"\\u", b"\\", b"\\\\", b"\"", b"\\\\\\\""]
                {
                    let mut body = vec![b'a'; len];
                    body.splice(at..at, odd.iter().copied());
                    body.extend_from_slice(b"\",\"more\":\"than thirty-three bytes follow here\"}");
                    assert_eq!(
                        find_closing_quote(&body, 0),
                        narrow_end(&body, 0, 0),
                        "{odd:?} at {at} of {len}"
                    );
                    let short = &body[..len + odd.len()];
                    assert_eq!(
                        find_closing_quote(short, 0),
                        narrow_end(short, 0, 0),
                        "{odd:?} at {at} of {len}, cut"
                    );
                }
            }
        }
        assert_eq!(find_closing_quote(b"plain \\n text\" and more", 0), Some(13));
        assert_eq!(find_closing_quote(b"not \\x plain\" and more", 0), None);
    }

    #[test]
    fn every_byte_at_every_place_is_judged_alike() {
        for byte in 0..=255 {
            for at in 0..16 {
                let mut chunk = [b'x'; 16];
                chunk[at] = byte;
                assert_eq!(special_byte_mask(&chunk), plain(&chunk), "byte {byte} at {at}");
            }
            assert_eq!(special_byte_mask(&[byte; 16]), plain(&[byte; 16]), "byte {byte} throughout");
        }
    }
}
