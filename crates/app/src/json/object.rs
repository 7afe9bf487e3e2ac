//! What every object of `--json` has in common.

use rethread_engine::core::entry::{Timestamp, Usage as Tokens};
use serde::Serialize;

use crate::text::time::rfc3339;

/// Every object says what it is and in which version.
#[derive(Serialize)]
pub(crate) struct Wire<T: Serialize> {
    r#type: &'static str,
    v: u32,
    #[serde(flatten)]
    body: T,
}

/// Wraps a body.
pub(crate) fn wire<T: Serialize>(r#type: &'static str, body: T) -> Wire<T> {
    Wire { r#type, v: 1, body }
}

/// Writes a moment.
pub(crate) fn time(moment: Option<Timestamp>) -> Option<String> {
    moment.and_then(rfc3339)
}

/// Tokens by kind.
#[derive(Serialize)]
pub(crate) struct Usage {
    input_tokens: u64,
    output_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
}

impl From<&Tokens> for Usage {
    fn from(tokens: &Tokens) -> Usage {
        Usage {
            input_tokens: tokens.input,
            output_tokens: tokens.output,
            cache_creation_input_tokens: tokens.cache_write,
            cache_read_input_tokens: tokens.cache_read,
        }
    }
}
