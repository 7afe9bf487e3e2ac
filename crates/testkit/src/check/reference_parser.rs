//! A full parser to compare with: serde_json, one level at a time, so that depth costs no stack.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Whether the text is JSON, however deep.
pub(super) fn is_json(text: &str) -> bool {
    let mut parser = serde_json::Deserializer::from_str(text);
    parser.disable_recursion_limit();
    serde::Deserialize::deserialize(&mut parser).map(|_: IgnoredAny| ()).and_then(|()| parser.end()).is_ok()
}

/// Returns the members of an object in the order they stand; none where the text is no object.
pub(super) fn members(text: &str) -> Vec<(String, &str)> {
    if !text.starts_with('{') {
        return Vec::new();
    }
    serde_json::Deserializer::from_str(text).deserialize_map(Members).unwrap_or_default()
}

/// Returns the items of an array; none where the text is no array.
pub(super) fn items(text: &str) -> Vec<&str> {
    if !text.starts_with('[') {
        return Vec::new();
    }
    serde_json::Deserializer::from_str(text).deserialize_seq(Items).unwrap_or_default()
}

/// Returns what a string says, lone surrogates as U+FFFD; `None` where the text is no string.
pub(super) fn string(text: &str) -> Option<String> {
    string_and_lone(text).map(|(said, _)| said)
}

/// Whether the text is a string with a lone surrogate.
pub(super) fn has_lone(text: &str) -> bool {
    string_and_lone(text).is_some_and(|(_, lone)| lone)
}

fn string_and_lone(text: &str) -> Option<(String, bool)> {
    if !text.starts_with('"') {
        return None;
    }
    Said.deserialize(&mut serde_json::Deserializer::from_str(text)).ok()
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, _)) = map.next_key_seed(Said)? {
            let value: &RawValue = map.next_value()?;
            members.push((key, value.get()));
        }
        Ok(members)
    }
}

struct Items;

impl<'de> Visitor<'de> for Items {
    type Value = Vec<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<&RawValue>()? {
            items.push(item.get());
        }
        Ok(items)
    }
}

/// Reads a string as bytes, in which serde_json allows lone surrogates: three bytes from `ED A0` on.
struct Said;

impl<'de> DeserializeSeed<'de> for Said {
    type Value = (String, bool);

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Said {
    type Value = (String, bool);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        let mut said = String::new();
        let mut lone = false;
        let mut rest = bytes;
        while !rest.is_empty() {
            let good = std::str::from_utf8(rest).map_or_else(|error| error.valid_up_to(), str::len);
            said.push_str(std::str::from_utf8(&rest[..good]).map_err(E::custom)?);
            if good == rest.len() {
                break;
            }
            lone = true;
            said.push('\u{FFFD}');
            rest = &rest[good + 3..];
        }
        Ok((said, lone))
    }
}
