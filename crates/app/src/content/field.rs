//! Fields of JSON objects of unknown shape.

use serde_json::Value;

/// Returns a string field of an object. Returns `None` if it is missing, blank or not a string.
pub(crate) fn str_field<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str().filter(|text| !text.trim().is_empty())
}

/// Returns an array field of an object. Returns an empty slice if it is missing or not an array.
pub(crate) fn array_field<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns an id field of an object, which may be a string or a number. Returns `None` if it is missing, blank or of
/// another type.
pub(crate) fn id_field(value: &Value, name: &str) -> Option<String> {
    match value.get(name)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
