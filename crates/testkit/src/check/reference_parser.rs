//! A reference parser: serde_json, one level at a time, so that deep nesting needs no stack.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Returns `true` if the text is JSON of any depth.
pub(super) fn is_json(text: &str) -> bool {
    let mut parser = serde_json::Deserializer::from_str(text);
    parser.disable_recursion_limit();
    serde::Deserialize::deserialize(&mut parser).map(|_: IgnoredAny| ()).and_then(|()| parser.end()).is_ok()
}

/// Returns the members of an object in file order. Returns none if the text is not an object.
pub(super) fn parse_members(text: &str) -> Vec<(String, &str)> {
    if !text.starts_with('{') {
        return Vec::new();
    }
    serde_json::Deserializer::from_str(text).deserialize_map(MembersVisitor).unwrap_or_default()
}

/// Returns the items of an array. Returns none if the text is not an array.
pub(super) fn parse_items(text: &str) -> Vec<&str> {
    if !text.starts_with('[') {
        return Vec::new();
    }
    serde_json::Deserializer::from_str(text).deserialize_seq(ItemsVisitor).unwrap_or_default()
}

/// Decodes a string, with lone surrogates as U+FFFD. Returns `None` if the text is not a string.
pub(super) fn parse_string(text: &str) -> Option<String> {
    decode_string(text).map(|(text, _)| text)
}

/// Returns `true` if the text is a string with a lone surrogate.
pub(super) fn has_lone_surrogate(text: &str) -> bool {
    decode_string(text).is_some_and(|(_, has_lone)| has_lone)
}

fn decode_string(text: &str) -> Option<(String, bool)> {
    if !text.starts_with('"') {
        return None;
    }
    StringVisitor.deserialize(&mut serde_json::Deserializer::from_str(text)).ok()
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Vec<(String, &'de str)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, _)) = map.next_key_seed(StringVisitor)? {
            let value: &RawValue = map.next_value()?;
            members.push((key, value.get()));
        }
        Ok(members)
    }
}

struct ItemsVisitor;

impl<'de> Visitor<'de> for ItemsVisitor {
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

/// Decodes a string as bytes, in which serde_json allows lone surrogates: three bytes from `ED A0` on.
struct StringVisitor;

impl<'de> DeserializeSeed<'de> for StringVisitor {
    type Value = (String, bool);

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Self::Value, D::Error> {
        parser.deserialize_bytes(self)
    }
}

impl Visitor<'_> for StringVisitor {
    type Value = (String, bool);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        let mut text = String::new();
        let mut has_lone = false;
        let mut rest = bytes;
        while !rest.is_empty() {
            let valid_len = std::str::from_utf8(rest).map_or_else(|error| error.valid_up_to(), str::len);
            text.push_str(std::str::from_utf8(&rest[..valid_len]).map_err(E::custom)?);
            if valid_len == rest.len() {
                break;
            }
            has_lone = true;
            text.push('\u{FFFD}');
            rest = &rest[valid_len + 3..];
        }
        Ok((text, has_lone))
    }
}
