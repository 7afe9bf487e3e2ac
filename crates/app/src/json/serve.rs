//! Where the server is.

use serde::Serialize;

use super::{Wire, wire};

/// The server, started.
#[derive(Serialize)]
pub(crate) struct Serving<'a> {
    address: &'a str,
    demo: bool,
}

/// Says where the server is.
pub(crate) fn serving(address: &str, demo: bool) -> Wire<Serving<'_>> {
    wire("serve", Serving { address, demo })
}
