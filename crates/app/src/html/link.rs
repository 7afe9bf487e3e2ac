//! Addresses of our own pages.

/// Writes what may stand in one part of an address: all but letters, digits and `-._~` by their bytes.
pub(crate) fn encoded(text: &str) -> String {
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

/// Joins a page and what is asked of it.
pub(crate) fn address<'p>(page: &str, pairs: impl IntoIterator<Item = (&'p str, &'p str)>) -> String {
    let mut address = page.to_owned();
    for (no, (name, value)) in pairs.into_iter().enumerate() {
        address.push(if no == 0 { '?' } else { '&' });
        address.push_str(&format!("{}={}", encoded(name), encoded(value)));
    }
    address
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn nothing_of_a_value_can_leave_its_place() {
        assert_eq!(address("/x", []), "/x");
        assert_eq!(
            address("/x", [("q", "a b&c=\"#?%/+"), ("é", "~")]),
            "/x?q=a%20b%26c%3D%22%23%3F%25%2F%2B&%C3%A9=~"
        );
    }
}
