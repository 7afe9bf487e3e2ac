//! Builds the addresses of our own pages.

/// The addresses of the pages of a server. All of them are below a prefix, to which the cookie of the server is bound.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    /// A slash and the name of the prefix.
    prefix: String,
}

impl Site {
    /// Creates the addresses below a prefix, which is a name without slashes.
    pub(crate) fn new(prefix: &str) -> Site {
        Site { prefix: format!("/{prefix}") }
    }

    /// Returns the address of a page. `path` begins with a slash and may have a query.
    pub(crate) fn page(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    /// Returns the address of the page of a session, without the query.
    pub(crate) fn session(&self, key: &str) -> String {
        format!("{}/s/{key}", self.prefix)
    }
}

/// Percent-encodes all bytes except ASCII letters, digits and `-._~`.
pub(crate) fn percent_encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Builds an address from the path `page` and query parameters, which are percent-encoded.
pub(crate) fn build_address<'p>(page: &str, pairs: impl IntoIterator<Item = (&'p str, &'p str)>) -> String {
    let mut address = page.to_owned();
    for (idx, (name, value)) in pairs.into_iter().enumerate() {
        address.push(if idx == 0 { '?' } else { '&' });
        address.push_str(&format!("{}={}", percent_encode(name), percent_encode(value)));
    }
    address
}

#[cfg(test)]
mod tests {
    use super::build_address;

    #[test]
    fn names_and_values_are_encoded() {
        assert_eq!(build_address("/x", []), "/x");
        assert_eq!(
            build_address("/x", [("q", "a b&c=\"#?%/+"), ("é", "~")]),
            "/x?q=a%20b%26c%3D%22%23%3F%25%2F%2B&%C3%A9=~"
        );
    }
}
