//! What is asked of a page, behind the question mark of its address.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::convert::Infallible;

use crate::html::link::address;

/// Names and values in their order; of a name that repeats, the first value counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct QueryParams(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for QueryParams {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<QueryParams, Infallible> {
        // What cannot be read asks for nothing.
        let query = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        Ok(QueryParams(query.map(|query| query.0).unwrap_or_default()))
    }
}

impl QueryParams {
    /// Returns a value, where it says anything.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// Whether something is asked for by name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    /// Returns a number; another where none is asked for.
    pub(crate) fn number(&self, name: &str, usual: usize) -> usize {
        self.text(name).and_then(|text| text.parse().ok()).unwrap_or(usual)
    }

    /// Returns the address of a page that is asked the same, but for one value.
    pub(crate) fn with(&self, page: &str, name: &str, value: Option<&str>) -> String {
        let kept = self.0.iter().filter(|(known, value)| known != name && !value.trim().is_empty());
        let kept = kept.map(|(name, value)| (name.as_str(), value.as_str()));
        address(page, kept.chain(value.map(|value| (name, value))))
    }
}

#[cfg(test)]
mod tests {
    use super::QueryParams;

    fn asked(pairs: &[(&str, &str)]) -> QueryParams {
        QueryParams(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn blanks_ask_for_nothing_and_the_first_of_a_name_counts() {
        let asked = asked(&[("a", " x "), ("b", " "), ("a", "y"), ("n", "12"), ("m", "-1")]);
        assert_eq!((asked.text("a"), asked.text("b"), asked.text("c")), (Some("x"), None, None));
        assert_eq!((asked.number("n", 7), asked.number("m", 7), asked.number("z", 7)), (12, 7, 7));
        assert!(asked.has("a") && !asked.has("b"));
    }

    #[test]
    fn an_address_keeps_what_else_is_asked() {
        let asked = asked(&[("a", "1 2"), ("b", ""), ("from", "100")]);
        assert_eq!(asked.with("/x", "from", Some("200")), "/x?a=1%202&from=200");
        assert_eq!(asked.with("/x", "from", None), "/x?a=1%202");
        assert_eq!(asked.with("/x", "a", None), "/x?from=100");
    }
}
