//! The query parameters of a request.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::convert::Infallible;

use crate::html::link::build_address;

/// Names and values in the order of the address. If a name repeats, the first value counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct QueryParams(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for QueryParams {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<QueryParams, Infallible> {
        // An unreadable query has no parameters.
        let query = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
        Ok(QueryParams(query.map(|query| query.0).unwrap_or_default()))
    }
}

impl QueryParams {
    /// Returns the value of a parameter, trimmed. Returns `None` if it is missing or blank.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let pair = self.0.iter().find(|(known, _)| known == name);
        pair.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns `true` if the parameter has a value that is not blank.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    /// Returns a parameter as a number, or `default` if it is missing or not a non-negative integer.
    pub(crate) fn number(&self, name: &str, default: usize) -> usize {
        self.text(name).and_then(|text| text.parse().ok()).unwrap_or(default)
    }

    /// Returns the address of `page` with the same parameters, except that `name` is set to `value`, or removed for
    /// `None`.
    pub(crate) fn address_with(&self, page: &str, name: &str, value: Option<&str>) -> String {
        let kept = self.0.iter().filter(|(known, value)| known != name && !value.trim().is_empty());
        let kept = kept.map(|(name, value)| (name.as_str(), value.as_str()));
        build_address(page, kept.chain(value.map(|value| (name, value))))
    }
}

#[cfg(test)]
mod tests {
    use super::QueryParams;

    fn params(pairs: &[(&str, &str)]) -> QueryParams {
        QueryParams(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn blank_values_are_missing_and_the_first_of_a_name_counts() {
        let params = params(&[("a", " x "), ("b", " "), ("a", "y"), ("n", "12"), ("m", "-1")]);
        assert_eq!((params.text("a"), params.text("b"), params.text("c")), (Some("x"), None, None));
        assert_eq!((params.number("n", 7), params.number("m", 7), params.number("z", 7)), (12, 7, 7));
        assert!(params.has("a") && !params.has("b"));
    }

    #[test]
    fn an_address_keeps_the_other_parameters() {
        let params = params(&[("a", "1 2"), ("b", ""), ("from", "100")]);
        assert_eq!(params.address_with("/x", "from", Some("200")), "/x?a=1%202&from=200");
        assert_eq!(params.address_with("/x", "from", None), "/x?a=1%202");
        assert_eq!(params.address_with("/x", "a", None), "/x?from=100");
    }
}
