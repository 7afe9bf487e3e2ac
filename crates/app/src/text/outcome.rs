//! Detects declined and interrupted tool calls by the text that the client writes into their results.

use rethread_engine::core::turn::ToolCall;

/// The starts of results of calls that the user declined.
const DECLINED_PREFIXES: [&str; 4] = [
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "The agent proposed a plan that was rejected by the user",
    "User rejected tool use",
];
/// The starts of results of calls that the user interrupted.
const INTERRUPTED_PREFIXES: [&str; 2] = ["[Request interrupted by user", "Interrupted by user"];

/// Returns `true` if the user declined the tool call. `text` is the text of its result.
pub(crate) fn is_declined(text: &str) -> bool {
    find_prefix(text, &DECLINED_PREFIXES).is_some()
}

/// Returns `true` if the user interrupted the tool call. `text` is the text of its result.
pub(crate) fn is_interrupted(text: &str) -> bool {
    find_prefix(text, &INTERRUPTED_PREFIXES).is_some()
}

/// Returns the client's sentence at the start of a declined or interrupted result, without the text that follows it.
///
/// The following text may quote what the user wrote. Returns `None` for any other result.
pub(crate) fn outcome_sentence(text: &str) -> Option<&'static str> {
    find_prefix(text, &DECLINED_PREFIXES).or_else(|| find_prefix(text, &INTERRUPTED_PREFIXES))
}

/// Returns the first of `sentences` with which `text` starts, apart from leading white space.
fn find_prefix(text: &str, sentences: &[&'static str]) -> Option<&'static str> {
    let text = text.trim_start();
    sentences.iter().copied().find(|sentence| text.starts_with(sentence))
}

/// Returns why a tool call did not succeed: `no result`, `declined`, `interrupted` or `failed`.
///
/// Returns `None` if it succeeded.
pub(crate) fn call_status(call: &ToolCall) -> Option<&'static str> {
    match &call.result {
        None => Some("no result"),
        Some(result) if !result.is_error => None,
        Some(result) if is_declined(&result.text) => Some("declined"),
        Some(result) if is_interrupted(&result.text) => Some("interrupted"),
        Some(_) => Some("failed"),
    }
}

#[cfg(test)]
mod tests {
    use rethread_engine::core::turn::{ToolCall, ToolResult};

    use super::{call_status, outcome_sentence};

    #[test]
    fn outcome_is_detected_by_its_sentence() {
        let cases = [
            (false, "The user doesn't want to proceed with this tool use", None),
            (true, "The user doesn't want to proceed with this tool use. Said: secret", Some("declined")),
            (true, "\n[Request interrupted by user for tool use]", Some("interrupted")),
            (true, "no such file", Some("failed")),
        ];
        for (is_error, text, expected) in cases {
            let sentence = outcome_sentence(text).unwrap_or_default();
            assert!(!sentence.contains("secret"));
            for text in [text, sentence] {
                let result = Some(ToolResult { text: text.to_owned(), is_error, ..ToolResult::default() });
                assert_eq!(call_status(&ToolCall { result, ..ToolCall::default() }), expected, "{text}");
            }
        }
        assert_eq!(call_status(&ToolCall::default()), Some("no result"));
    }
}
