//! How a call ended, where it did not simply answer: read from the words of the client.

use rethread_engine::core::turn::ToolCall;

/// What the client says where the user did not let a call happen.
const REFUSALS: [&str; 4] = [
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "The agent proposed a plan that was rejected by the user",
    "User rejected tool use",
];
/// What it says where the user stopped one.
const STOPS: [&str; 2] = ["[Request interrupted by user", "Interrupted by user"];

/// Whether a result begins as that of a call that the user declined.
pub(crate) fn is_refusal(text: &str) -> bool {
    begins(text, &REFUSALS).is_some()
}

/// Whether a result begins as that of a call that the user stopped.
pub(crate) fn is_stop(text: &str) -> bool {
    begins(text, &STOPS).is_some()
}

/// Returns the words of the client at the beginning of a result that say how the call ended.
pub(crate) fn sentence(text: &str) -> Option<&'static str> {
    begins(text, &REFUSALS).or_else(|| begins(text, &STOPS))
}

fn begins(text: &str, sentences: &[&'static str]) -> Option<&'static str> {
    let text = text.trim_start();
    sentences.iter().copied().find(|sentence| text.starts_with(sentence))
}

/// Says how a call ended; nothing where it answered.
pub(crate) fn call_status(call: &ToolCall) -> Option<&'static str> {
    match &call.result {
        None => Some("no result"),
        Some(result) if !result.is_error => None,
        Some(result) if is_refusal(&result.text) => Some("declined"),
        Some(result) if is_stop(&result.text) => Some("interrupted"),
        Some(_) => Some("failed"),
    }
}

#[cfg(test)]
mod tests {
    use rethread_engine::core::turn::{ToolCall, ToolResult};

    use super::{call_status, sentence};

    #[test]
    fn an_ending_is_told_by_its_sentence_alone() {
        let cases = [
            (false, "The user doesn't want to proceed with this tool use", None),
            (true, "The user doesn't want to proceed with this tool use. Said: secret", Some("declined")),
            (true, "\n[Request interrupted by user for tool use]", Some("interrupted")),
            (true, "no such file", Some("failed")),
        ];
        for (is_error, text, expected) in cases {
            let short = sentence(text).unwrap_or_default();
            assert!(!short.contains("secret"));
            for text in [text, short] {
                let result = Some(ToolResult { text: text.to_owned(), is_error, ..ToolResult::default() });
                assert_eq!(call_status(&ToolCall { result, ..ToolCall::default() }), expected, "{text}");
            }
        }
        assert_eq!(call_status(&ToolCall::default()), Some("no result"));
    }
}
