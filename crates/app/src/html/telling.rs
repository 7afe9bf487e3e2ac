//! How a conversation is told: where its pieces can be had, and how much of it stands in the page.

use super::tools::Picture;
use crate::words::when::Clock;

/// How to tell.
pub(crate) struct Telling<'a> {
    /// The address of the session, without a slash at its end.
    pub(crate) base: &'a str,
    /// The folder of the session.
    pub(crate) folder: &'a str,
    /// The user's zone.
    pub(crate) clock: &'a Clock,
    /// Gives the address of a picture.
    pub(crate) picture: Picture<'a>,
    /// Whether long bodies are left out, to be fetched when somebody opens them.
    pub(crate) lazy: bool,
    /// Whether turns can be copied and gone on from.
    pub(crate) acts: bool,
}

/// Writes text so that it is one value of an address.
pub(crate) fn escape_query(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => escaped.push(byte.into()),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::escape_query;

    #[test]
    fn nothing_ends_a_value_early() {
        assert_eq!(escape_query("toolu_1-x.~"), "toolu_1-x.~");
        assert_eq!(escape_query("a&b=c#d é\"<"), "a%26b%3Dc%23d%20%C3%A9%22%3C");
    }
}
