//! Fields and values shared by all JSON objects.

use rethread_engine::core::entry::{Timestamp, Usage};
use serde::Serialize;

use crate::text::time::format_rfc3339;

/// A JSON object that starts with its `type` and its format version `v`, followed by the fields of `body`.
#[derive(Serialize)]
pub(crate) struct ObjectJson<T: Serialize> {
    r#type: &'static str,
    v: u32,
    #[serde(flatten)]
    body: T,
}

/// Builds a JSON object of the given type, in format version 1. `body` provides all other fields.
pub(crate) fn build_object<T: Serialize>(r#type: &'static str, body: T) -> ObjectJson<T> {
    ObjectJson { r#type, v: 1, body }
}

/// Formats a timestamp as RFC 3339 in UTC. Returns `None` if it is missing or out of range.
pub(crate) fn format_time(timestamp: Option<Timestamp>) -> Option<String> {
    timestamp.and_then(format_rfc3339)
}

/// Token counts of one or more responses, with the key names of the API.
#[derive(Serialize)]
pub(crate) struct UsageJson {
    input_tokens: u64,
    output_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
}

impl From<&Usage> for UsageJson {
    fn from(usage: &Usage) -> UsageJson {
        UsageJson {
            input_tokens: usage.input,
            output_tokens: usage.output,
            cache_creation_input_tokens: usage.cache_write,
            cache_read_input_tokens: usage.cache_read,
        }
    }
}
