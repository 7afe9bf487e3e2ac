//! Decides whether a tool call failed.

use crate::entry::value_text;

/// Returns the reason why a tool result counts as failed. Returns `None` if it does not.
///
/// `text` is the text of the result. `is_error` states whether the result is marked as an error, `has_error_record` whether
/// `toolUseResult` is the text of an error, and `has_version` whether its line states a client version.
///
/// The text is searched for error words only in files so old that they have no client version. Every measured client
/// marks its errors.
pub fn classify_failure(
    text: &str,
    is_error: bool,
    has_error_record: bool,
    has_version: bool,
) -> Option<&'static str> {
    if is_error {
        return Some("is_error");
    }
    if text.starts_with("<tool_use_error>") {
        return Some("tool_use_error");
    }
    let exit = text.strip_prefix("Exit code ").and_then(|rest| rest.split_whitespace().next());
    if exit.is_some_and(|code| code != "0") {
        return Some("exit code");
    }
    if has_error_record {
        return Some("error result");
    }
    if has_version {
        return None;
    }
    let lower = text.to_lowercase();
    (lower.contains("error") || lower.contains("failed")).then_some("error words")
}

/// Returns `true` if the JSON of `toolUseResult` is the text of an error.
pub fn is_error_record(tool_use_result: &[u8]) -> bool {
    // Most records are long objects, which need not be decoded.
    tool_use_result.first() == Some(&b'"') && value_text(tool_use_result).starts_with("Error: ")
}

#[cfg(test)]
mod tests {
    use super::{classify_failure, is_error_record};

    #[test]
    fn the_first_reason_counts() {
        assert_eq!(classify_failure("Exit code 1", true, true, true), Some("is_error"));
        assert_eq!(
            classify_failure("<tool_use_error>no</tool_use_error>", false, true, true),
            Some("tool_use_error")
        );
        assert_eq!(classify_failure("Exit code 2 after 3 s", false, true, true), Some("exit code"));
        assert_eq!(classify_failure("fine", false, true, true), Some("error result"));
        assert_eq!(classify_failure("fine", false, false, true), None);
    }

    #[test]
    fn exit_code_zero_is_no_failure() {
        assert_eq!(classify_failure("Exit code 0", false, false, true), None);
    }

    #[test]
    fn error_words_count_only_without_a_client_version() {
        assert_eq!(classify_failure("2 tests FAILED", false, false, false), Some("error words"));
        assert_eq!(classify_failure("2 tests FAILED", false, false, true), None);
    }

    #[test]
    fn an_error_record_is_a_text() {
        assert!(is_error_record(br#""Error: no such file""#));
        assert!(!is_error_record(br#"{"stdout":"Error: no such file"}"#));
        assert!(!is_error_record(br#""done""#));
    }
}
