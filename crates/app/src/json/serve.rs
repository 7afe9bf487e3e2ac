//! JSON of `serve`.

use serde::Serialize;

use super::object::{ObjectJson, build_object};

/// The address of the running server, and whether it serves invented sessions.
#[derive(Serialize)]
pub(crate) struct ServeJson<'a> {
    address: &'a str,
    demo: bool,
}

/// Builds the `serve` object of `serve`. `address` is the URL of the server with the access key. `is_demo` is `true` if
/// the server shows invented sessions.
pub(crate) fn build_serve(address: &str, is_demo: bool) -> ObjectJson<ServeJson<'_>> {
    build_object("serve", ServeJson { address, demo: is_demo })
}
