//! What a form or an address brings along.

/// Longest field that is looked at: longer than any title may be, so that one that is too long is refused and not cut.
const LONGEST: usize = 400;

/// The fields of a form, as they came.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Vec<(String, String)>);

impl Fields {
    /// Returns the first field of a name, without the space around it; empty where there is none.
    pub(super) fn get(&self, name: &str) -> &str {
        self.all(name).next().unwrap_or_default()
    }

    /// Returns all fields of a name.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.0.iter().filter(move |(known, _)| known == name);
        named.map(|(_, value)| cut(value).trim())
    }

    /// Returns a field that has words.
    pub(super) fn words(&self, name: &str) -> Option<String> {
        Some(self.get(name)).filter(|words| !words.is_empty()).map(str::to_owned)
    }

    /// Reads a field that is a number.
    pub(super) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.get(name).parse().ok()
    }
}

fn cut(value: &str) -> &str {
    value.char_indices().nth(LONGEST).map_or(value, |(end, _)| &value[..end])
}

#[cfg(test)]
mod tests {
    use super::Fields;

    #[test]
    fn fields_are_read_by_name_and_cut() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let fields = Fields(vec![
            pair("at", " L1 "),
            pair("drop", "a"),
            pair("drop", "b"),
            pair("long", &"é".repeat(1000)),
            pair("n", "x"),
        ]);
        assert_eq!((fields.get("at"), fields.get("none")), ("L1", ""));
        assert_eq!(fields.all("drop").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(fields.get("long").chars().count(), 400);
        assert_eq!((fields.number::<u32>("n"), fields.words("none")), (None, None));
    }
}
