//! Searches a finished export for secrets: its text, its attributes, and the parts that are compressed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;
use rethread_engine::core::id::Id;
use rethread_engine::core::secrets::find_secrets;

use super::options::Format;

/// Bytes that are searched at once.
const CHUNK_BYTES: usize = 4 << 20;
/// Shorter runs of base64 are no compressed part.
const MIN_PACKED_LEN: usize = 40;
/// The deepest nesting of compressed parts.
const MAX_DEPTH: usize = 4;
/// The tags that divide no text.
const INLINE_TAGS: [&[u8]; 4] = [b"<span", b"</span", b"<mark", b"</mark"];
/// Tags at the end of an element, and those with the class of a token of code.
const PLAIN_TAGS: [&[u8]; 2] = [b"</", b"<span class=\""];
/// Shorter tags contain no text of the session.
const MAX_BARE_TAG_LEN: usize = 12;
/// Shorter plain tags contain no text of the session.
const MAX_PLAIN_TAG_LEN: usize = 32;

/// The packed parts of a page whose markup was searched before it was packed, so that they need not be unpacked.
#[derive(Default)]
pub(super) struct SearchedParts {
    /// The kinds of secrets in each part, by the hash of the packed part.
    leaks: Mutex<BTreeMap<Id, Leaks>>,
}

/// The kinds of secrets in some output.
type Leaks = BTreeSet<&'static str>;

impl SearchedParts {
    /// Searches the markup of a part.
    pub(super) fn add(&self, markup: &str, packed: &str) -> io::Result<()> {
        let leaks = find_in_output(markup.as_bytes(), Format::Html, &SearchedParts::default(), 1)?;
        self.lock().insert(Id::from_text(packed.as_bytes()), leaks);
        Ok(())
    }

    fn find(&self, packed: &[u8]) -> Option<Leaks> {
        self.lock().get(&Id::from_text(packed)).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Id, Leaks>> {
        self.leaks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the kinds of secrets in an export, as a reader can decode it.
pub(super) fn find_leaks(output: impl Read, format: Format, searched: &SearchedParts) -> io::Result<Leaks> {
    find_in_output(output, format, searched, 0)
}

fn find_in_output(
    mut output: impl Read,
    format: Format,
    searched: &SearchedParts,
    depth: usize,
) -> io::Result<Leaks> {
    let mut leaks = Leaks::new();
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
            match format {
                Format::Html => find_in_markup(&buffer[..end], searched, depth, &mut leaks),
                _ => find_in_text(&buffer[..end], &mut leaks),
            }
            buffer.drain(..end);
        }
        if read == 0 {
            return Ok(leaks);
        }
    }
}

fn find_in_text(text: &[u8], leaks: &mut Leaks) {
    leaks.extend(find_secrets(text).iter().map(|secret| secret.detector().name));
}

fn find_in_markup(markup: &[u8], searched: &SearchedParts, depth: usize, leaks: &mut Leaks) {
    let text = Vec::with_capacity(markup.len());
    let mut decoder = MarkupDecoder { searched, depth, text, tags: Vec::new(), leaks };
    decoder.decode(markup);
    find_in_text(&decoder.text, decoder.leaks);
    find_in_text(&decoder.tags, decoder.leaks);
}

/// Decodes what a reader and the script of a page see in its markup.
struct MarkupDecoder<'l> {
    searched: &'l SearchedParts,
    depth: usize,
    /// The text without tags, with its entities decoded.
    text: Vec<u8>,
    /// The tags that may contain texts of the session, with their entities decoded.
    tags: Vec<u8>,
    /// The kinds of secrets in compressed parts.
    leaks: &'l mut Leaks,
}

impl MarkupDecoder<'_> {
    fn decode(&mut self, markup: &[u8]) {
        let mut rest = markup;
        while !rest.is_empty() {
            if rest[0] == b'<' {
                let len = memchr::memchr(b'>', rest).map_or(rest.len(), |end| end + 1);
                self.add_tag(&rest[..len]);
                rest = &rest[len..];
            }
            let len = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            if !self.add_part(&rest[..len]) {
                decode_entities(&rest[..len], &mut self.text);
            }
            rest = &rest[len..];
        }
    }

    fn add_tag(&mut self, tag: &[u8]) {
        let is_inline = INLINE_TAGS.iter().any(|inline| tag.starts_with(inline));
        // The text of a block does not continue that of the one before.
        if !is_inline {
            self.text.push(b'\n');
        }
        let is_plain = tag.len() <= MAX_BARE_TAG_LEN
            || tag.len() <= MAX_PLAIN_TAG_LEN && PLAIN_TAGS.iter().any(|plain| tag.starts_with(plain));
        if !is_plain {
            for value in tag.split(|&byte| byte == b'"') {
                self.add_part(value);
            }
            decode_entities(tag, &mut self.tags);
            self.tags.push(b'\n');
        }
    }

    /// Searches the part that is compressed in a text or an attribute as base64. Returns `false` if it is none.
    fn add_part(&mut self, packed: &[u8]) -> bool {
        let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
        if self.depth >= MAX_DEPTH
            || !packed.get(..MIN_PACKED_LEN).is_some_and(|head| head.iter().all(is_digit))
        {
            return false;
        }
        if let Some(leaks) = self.searched.find(packed) {
            self.leaks.extend(leaks);
            return true;
        }
        let Ok(compressed) = STANDARD.decode(packed) else { return false };
        let part = DeflateDecoder::new(&compressed[..]);
        let leaks = find_in_output(part, Format::Html, self.searched, self.depth + 1);
        leaks.map(|leaks| self.leaks.extend(leaks)).is_ok()
    }
}

/// Adds a text with its entities decoded.
fn decode_entities(text: &[u8], decoded: &mut Vec<u8>) {
    const ENTITIES: [(&[u8], u8); 5] =
        [(b"&amp;", b'&'), (b"&lt;", b'<'), (b"&gt;", b'>'), (b"&quot;", b'"'), (b"&#39;", b'\'')];
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest) {
        decoded.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let entity = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity));
        decoded.push(entity.map_or(b'&', |(_, byte)| *byte));
        rest = &rest[entity.map_or(1, |(entity, _)| entity.len())..];
    }
    decoded.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::{SearchedParts, find_leaks};
    use crate::export::options::Format;
    use crate::export::pack::pack;

    fn count_leaks(page: &str, format: Format) -> usize {
        find_leaks(page.as_bytes(), format, &SearchedParts::default()).unwrap().len()
    }

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
            format!("<span title='{token}'>x</span>"),
            format!("<span class=\"{token}\">x</span>"),
            format!("<style>a > b {{ content: '{token}' }}</style>"),
            format!("<script>if (a<b) x = '{token}' // ></script>"),
            divided,
            format!("<script>{packed}</script>"),
            format!("<script>{nested}</script>"),
            format!("<b data-x=\"{packed}\">"),
            address.to_owned(),
        ] {
            let page = format!("<p>text</p>\n{page}");
            assert_eq!(count_leaks(&page, Format::Html), 1, "{page}");
        }
        assert_eq!(count_leaks("<p>no secret</p>", Format::Html), 0);
        assert_eq!(count_leaks(&token, Format::Md), 1);
        // A part that was searched before is known by its packed form; another one is unpacked.
        let searched = SearchedParts::default();
        let clean = pack(&(0..99).map(|number| format!("<p>{number}</p>")).collect::<String>()).unwrap();
        searched.add(&token, &clean).unwrap();
        for part in [&clean, &packed] {
            let page = format!("<script>{part}</script>");
            let leaks = find_leaks(page.as_bytes(), Format::Html, &searched).unwrap();
            assert_eq!(leaks.len(), 1, "{part}");
        }
    }
}
