//! Searches a finished export for secrets: its text, its attributes, and the parts that are compressed.

use std::collections::BTreeSet;
use std::io::{self, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;
use rethread_engine::core::secrets::find_secrets;

use super::options::Format;

/// Bytes that are searched at once.
const CHUNK_BYTES: usize = 4 << 20;
/// Shorter runs of base64 are no compressed part.
const MIN_PACKED_LEN: usize = 40;
/// The deepest nesting of compressed parts.
const MAX_DEPTH: usize = 4;
/// The longest decompressed part.
const MAX_PART_BYTES: u64 = 256 << 20;

/// Returns the kinds of secrets in an export, as a reader can decode it.
pub(super) fn find_leaks(mut output: impl Read, format: Format) -> io::Result<BTreeSet<&'static str>> {
    let mut leaks = BTreeSet::new();
    let mut buffer = Vec::new();
    loop {
        let kept = buffer.len();
        let read = (&mut output).take(CHUNK_BYTES as u64).read_to_end(&mut buffer)?;
        // A tag or a line is never divided.
        let boundary = |&byte: &u8| byte == b'\n' || byte == b'<' && format == Format::Html;
        let end = if read == 0 {
            Some(buffer.len())
        } else {
            buffer[kept..].iter().rposition(boundary).map(|at| kept + at)
        };
        if let Some(end) = end {
            find_in_chunk(&buffer[..end], format, 0, &mut leaks);
            buffer.drain(..end);
        }
        if read == 0 {
            return Ok(leaks);
        }
    }
}

fn find_in_chunk(chunk: &[u8], format: Format, depth: usize, leaks: &mut BTreeSet<&'static str>) {
    let mut search =
        |text: &[u8]| leaks.extend(find_secrets(text).iter().map(|secret| secret.detector().name));
    search(chunk);
    if format != Format::Html {
        return;
    }
    search(&strip_tags(chunk));
    for packed in find_packed(chunk) {
        let Ok(compressed) = STANDARD.decode(packed) else { continue };
        let mut part = Vec::new();
        let is_part =
            DeflateDecoder::new(&compressed[..]).take(MAX_PART_BYTES).read_to_end(&mut part).is_ok();
        if is_part && depth < MAX_DEPTH {
            find_in_chunk(&part, format, depth + 1, leaks);
        }
    }
}

/// Returns the runs of base64 that may be compressed parts: those that follow `>` or a quote, but not those of images.
fn find_packed(markup: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let starts = memchr::memchr2_iter(b'>', b'"', markup).map(|at| at + 1);
    starts.filter_map(move |start| {
        let head = markup.get(start..start + MIN_PACKED_LEN)?;
        if !head.iter().all(is_digit) {
            return None;
        }
        let len = markup[start..].iter().position(|byte| !is_digit(byte)).unwrap_or(markup.len() - start);
        Some(&markup[start..start + len])
    })
}

/// Returns the text of some markup: without tags, and with its entities decoded.
fn strip_tags(markup: &[u8]) -> Vec<u8> {
    const ENTITIES: [(&[u8], u8); 5] =
        [(b"&amp;", b'&'), (b"&lt;", b'<'), (b"&gt;", b'>'), (b"&quot;", b'"'), (b"&#39;", b'\'')];
    let mut text = Vec::with_capacity(markup.len());
    let mut rest = markup;
    while let Some(at) = memchr::memchr2(b'<', b'&', rest) {
        text.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let len = if rest[0] == b'<' {
            // The text of a block does not continue that of the one before.
            if !rest.starts_with(b"<span")
                && !rest.starts_with(b"</span")
                && !rest.starts_with(b"<mark")
                && !rest.starts_with(b"</mark")
            {
                text.push(b'\n');
            }
            memchr::memchr(b'>', rest).map_or(rest.len(), |end| end + 1)
        } else {
            let entity = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity));
            text.push(entity.map_or(b'&', |(_, byte)| *byte));
            entity.map_or(1, |(entity, _)| entity.len())
        };
        rest = &rest[len..];
    }
    text.extend_from_slice(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::find_leaks;
    use crate::export::options::Format;
    use crate::export::pack::pack;

    #[test]
    fn secrets_are_found_in_every_part_of_a_page() {
        let token = ["gsk_", &"hT7kq2ZpX9".repeat(6)[..52]].concat();
        let divided = format!("{}<span class=\"k\">{}</span>", &token[..9], &token[9..]);
        let packed = pack(&format!("<p title=\"{token}\">x</p>")).unwrap();
        let nested = pack(&format!("<script class=\"packed\">{packed}</script>")).unwrap();
        let address = "<a href=\"x?a=1&amp;token=k3jH8sQ2mZx0PqL7vRt5\">";
        for page in [
            token.clone(),
            format!("<title>{token}</title>"),
            format!("<a href=\"{token}\">"),
            divided,
            format!("<script>{packed}</script>"),
            format!("<script>{nested}</script>"),
            format!("<b data-x=\"{packed}\">"),
            address.to_owned(),
        ] {
            let page = format!("<p>text</p>\n{page}");
            assert_eq!(find_leaks(page.as_bytes(), Format::Html).unwrap().len(), 1, "{page}");
        }
        assert!(find_leaks(&b"<p>no secret</p>"[..], Format::Html).unwrap().is_empty());
        assert_eq!(find_leaks(token.as_bytes(), Format::Md).unwrap().len(), 1);
    }
}
