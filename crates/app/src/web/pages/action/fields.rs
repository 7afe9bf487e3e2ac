//! The fields of a form or of a query string.

/// The maximum length of a field in characters. A title of this length is too long, so it is refused rather than truncated.
const MAX_FIELD_CHARS: usize = 400;

/// Names and values in the order of the request.
#[derive(Debug, Default)]
pub(super) struct FormFields(pub(super) Vec<(String, String)>);

impl FormFields {
    /// Returns the first value of a field, truncated and trimmed. Returns an empty string if there is none.
    pub(super) fn get(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// Returns all values of a field, truncated and trimmed.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.0.iter().filter(move |(known, _)| known == name);
        named.map(|(_, value)| truncate(value).trim())
    }

    /// Returns the first value of a field. Returns `None` if it is missing or blank.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        Some(self.get(name)).filter(|value| !value.is_empty()).map(str::to_owned)
    }

    /// Parses the first value of a field as a number. Returns `None` if it is missing or not one.
    pub(super) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name).parse().ok()
    }
}

/// Returns the first [`MAX_FIELD_CHARS`] characters.
fn truncate(value: &str) -> &str {
    value.char_indices().nth(MAX_FIELD_CHARS).map_or(value, |(end, _)| &value[..end])
}

#[cfg(test)]
mod tests {
    use super::FormFields;

    #[test]
    fn values_are_found_by_name_and_truncated() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let fields = FormFields(vec![
            pair("at", " L1 "),
            pair("drop", "a"),
            pair("drop", "b"),
            pair("long", &"é".repeat(1000)),
            pair("n", "x"),
        ]);
        assert_eq!((fields.get("at"), fields.get("none")), ("L1", ""));
        assert_eq!(fields.all("drop").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(fields.get("long").chars().count(), 400);
        assert_eq!((fields.number::<u32>("n"), fields.text("none")), (None, None));
    }
}
