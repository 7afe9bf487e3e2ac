//! The outcome of a tool call, derived from the text of its result.

use rethread_engine::core::turn::{ToolCall, extract_tag};

use crate::text::outcome;

/// The outcome of a tool call, with the text that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome<'a> {
    /// The session contains no result.
    Missing,
    /// The user declined the call. Contains the reason that the user gave, or an empty string.
    Declined(&'a str),
    /// The user interrupted the call.
    Interrupted,
    /// The call failed with this error message.
    Failed(&'a str),
    /// The result is too long for the session; the client stored it in a file.
    InResultFile(ResultFile<'a>),
    /// The call succeeded with this result.
    Succeeded(&'a str),
}

/// A result that the client stored in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResultFile<'a> {
    /// The file name. Empty if it is unknown.
    pub(super) name: &'a str,
    /// The size as the client wrote it. Empty if it is unknown.
    pub(super) size: &'a str,
    /// The beginning of the result, which is part of the session.
    pub(super) preview: &'a str,
}

impl<'a> Outcome<'a> {
    /// Determines the outcome of a call.
    pub(super) fn from_call(call: &'a ToolCall) -> Outcome<'a> {
        let Some(result) = &call.result else { return Outcome::Missing };
        let text = strip_reminders(&result.text);
        let start = text.trim_start();
        if outcome::is_declined(start) && (result.is_error || find_rejection_reason(start).is_some()) {
            return Outcome::Declined(find_rejection_reason(start).unwrap_or_default());
        }
        if result.is_error && outcome::is_interrupted(start) {
            return Outcome::Interrupted;
        }
        if let Some(file) = ResultFile::parse(start) {
            return Outcome::InResultFile(file);
        }
        if result.is_error {
            let inner =
                extract_tag(start, "tool_use_error").filter(|_| start.starts_with("<tool_use_error>"));
            return Outcome::Failed(inner.unwrap_or(text).trim_end());
        }
        Outcome::Succeeded(text)
    }

    /// Returns the text of a successful result, or the beginning of a stored one. Returns `None` for other outcomes.
    pub(super) fn text(self) -> Option<&'a str> {
        match self {
            Outcome::Succeeded(text) => Some(text),
            Outcome::InResultFile(file) => Some(file.preview),
            _ => None,
        }
    }
}

/// Returns the reason that the user gave for declining a call. Returns `None` if there is none.
fn find_rejection_reason(text: &str) -> Option<&str> {
    let start = ["the user said:", "provided the following reason for the rejection:"]
        .iter()
        .find_map(|mark| text.find(mark).map(|at| at + mark.len()))?;
    Some(text[start..].trim()).filter(|reason| !reason.is_empty())
}

impl<'a> ResultFile<'a> {
    /// Parses the text with which the client replaces a long result. Returns `None` for other text.
    fn parse(text: &'a str) -> Option<ResultFile<'a>> {
        let is_tagged = text.starts_with("<persisted-output>");
        let head = &text[..text.floor_char_boundary(1000)];
        let saved_to = head.find("saved to").map(|at| head[at..].lines().next().unwrap_or_default());
        if !is_tagged && !saved_to.is_some_and(|line| line.contains("tool-results")) {
            return None;
        }
        let name = saved_to.and_then(|line| line.rsplit(['/', '\\', ' ']).next()).unwrap_or_default();
        let name = name.trim_end_matches(['.', ',']);
        let is_name_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let name = if name.chars().all(is_name_char) && name.len() < 200 { name } else { "" };
        let size = head.find("too large (").map(|at| &head[at + "too large (".len()..]);
        let size = size.and_then(|rest| rest.split_once(')')).map_or("", |(size, _)| size);
        let preview = match text.find("Preview (") {
            Some(at) => text[at..].split_once('\n').map_or("", |(_, rest)| rest),
            None if is_tagged => "",
            None => text,
        };
        let preview = preview.trim_end().trim_end_matches("</persisted-output>").trim_end();
        let preview = preview.strip_suffix("\n...").unwrap_or(preview);
        Some(ResultFile { name, size, preview })
    }
}

/// Removes `<system-reminder>` blocks from the end. The client adds them for the model; they are not output of the tool.
pub(super) fn strip_reminders(text: &str) -> &str {
    const OPEN: &str = "<system-reminder>";
    let mut rest = text;
    loop {
        let end = rest.trim_end();
        let Some(body) = end.strip_suffix("</system-reminder>") else { return rest };
        let Some(at) = body.rfind(OPEN) else { return rest };
        rest = body[..at].trim_end_matches(['\n', ' ']);
    }
}

#[cfg(test)]
mod tests {
    use rethread_engine::core::turn::{ToolCall, ToolResult};

    use super::{Outcome, ResultFile};

    #[test]
    fn outcome_is_derived_from_the_result_text() {
        let stored = |name, size, preview| Outcome::InResultFile(ResultFile { name, size, preview });
        let cases = [
            (false, "all well", Outcome::Succeeded("all well")),
            (true, "<tool_use_error>no such file</tool_use_error>", Outcome::Failed("no such file")),
            (true, "plain words", Outcome::Failed("plain words")),
            (true, "[Request interrupted by user for tool use]", Outcome::Interrupted),
            (true, "The user doesn't want to proceed with this tool use. STOP.", Outcome::Declined("")),
            (
                true,
                "The user doesn't want to proceed with this tool use. To tell you how, the user said:\nuse tabs",
                Outcome::Declined("use tabs"),
            ),
            // A file that quotes the sentence is not a rejection.
            (
                false,
                "The user doesn't want to proceed with this tool use",
                Outcome::Succeeded("The user doesn't want to proceed with this tool use"),
            ),
            (false, "text\n\n<system-reminder>\nbe good\n</system-reminder>\n", Outcome::Succeeded("text")),
            (false, "<system-reminder>inside</system-reminder> stays", {
                Outcome::Succeeded("<system-reminder>inside</system-reminder> stays")
            }),
            (
                false,
                "<persisted-output>\nOutput too large (35.8KB). Full output saved to: /h/tool-results/b2.txt\n\n\
                 Preview (first 2KB):\none\ntwo\n...\n</persisted-output>",
                stored("b2.txt", "35.8KB", "one\ntwo"),
            ),
            (
                true,
                "Error: result exceeds the limit. Output has been saved to /h/tool-results/x.txt.\nmore",
                stored(
                    "x.txt",
                    "",
                    "Error: result exceeds the limit. Output has been saved to /h/tool-results/x.txt.\nmore",
                ),
            ),
            (false, "<persisted-output>", stored("", "", "")),
        ];
        for (is_error, text, expected) in cases {
            let result = ToolResult { text: text.into(), is_error, ..ToolResult::default() };
            let call = ToolCall { result: Some(result), ..ToolCall::default() };
            assert_eq!(Outcome::from_call(&call), expected, "{text}");
        }
        assert_eq!(Outcome::from_call(&ToolCall::default()), Outcome::Missing);
    }
}
