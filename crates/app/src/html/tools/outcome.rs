//! What came of a call, read from the words of its result.

use rethread_engine::core::turn::{ToolCall, tag};

use crate::text::outcome;

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome<'a> {
    /// Nothing was written down.
    Missing,
    /// The user did not let it happen; what they said instead, if anything.
    Declined(&'a str),
    /// The user stopped it.
    Interrupted,
    /// It failed, with these words.
    Failed(&'a str),
    /// It answered more than the client keeps in the session.
    Kept(Kept<'a>),
    /// It answered.
    Fine(&'a str),
}

/// A result that lies in a file of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kept<'a> {
    /// The name of the file; empty where none can be told.
    pub(super) file: &'a str,
    /// How long it is, as the client says.
    pub(super) size: &'a str,
    /// The beginning, which the session holds.
    pub(super) preview: &'a str,
}

impl<'a> Outcome<'a> {
    /// Reads what came of a call.
    pub(super) fn read(call: &'a ToolCall) -> Outcome<'a> {
        let Some(result) = &call.result else { return Outcome::Missing };
        let text = without_reminders(&result.text);
        let start = text.trim_start();
        if outcome::is_refusal(start) && (result.is_error || said(start).is_some()) {
            return Outcome::Declined(said(start).unwrap_or_default());
        }
        if result.is_error && outcome::is_stop(start) {
            return Outcome::Interrupted;
        }
        if let Some(kept) = Kept::read(start) {
            return Outcome::Kept(kept);
        }
        if result.is_error {
            let inner = tag(start, "tool_use_error").filter(|_| start.starts_with("<tool_use_error>"));
            return Outcome::Failed(inner.unwrap_or(text).trim_end());
        }
        Outcome::Fine(text)
    }

    /// Returns the words of the answer, or their beginning.
    pub(super) fn words(self) -> Option<&'a str> {
        match self {
            Outcome::Fine(text) => Some(text),
            Outcome::Kept(kept) => Some(kept.preview),
            _ => None,
        }
    }
}

/// Returns what the user said when they refused.
fn said(text: &str) -> Option<&str> {
    let at = ["the user said:", "provided the following reason for the rejection:"]
        .iter()
        .find_map(|mark| text.find(mark).map(|at| at + mark.len()))?;
    Some(text[at..].trim()).filter(|said| !said.is_empty())
}

impl<'a> Kept<'a> {
    /// Reads what stands in place of a long result.
    fn read(text: &'a str) -> Option<Kept<'a>> {
        let is_tagged = text.starts_with("<persisted-output>");
        let head = &text[..text.floor_char_boundary(1000)];
        let named = head.find("saved to").map(|at| head[at..].lines().next().unwrap_or_default());
        if !is_tagged && !named.is_some_and(|line| line.contains("tool-results")) {
            return None;
        }
        let file = named.and_then(|line| line.rsplit(['/', '\\', ' ']).next()).unwrap_or_default();
        let file = file.trim_end_matches(['.', ',']);
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let file = if file.chars().all(is_name) && file.len() < 200 { file } else { "" };
        let size = head.find("too large (").map(|at| &head[at + "too large (".len()..]);
        let size = size.and_then(|rest| rest.split_once(')')).map_or("", |(size, _)| size);
        let preview = match text.find("Preview (") {
            Some(at) => text[at..].split_once('\n').map_or("", |(_, rest)| rest),
            None if is_tagged => "",
            None => text,
        };
        let preview = preview.trim_end().trim_end_matches("</persisted-output>").trim_end();
        let preview = preview.strip_suffix("\n...").unwrap_or(preview);
        Some(Kept { file, size, preview })
    }
}

/// Takes reminders off the end: the client adds them for the model, the tool never said them.
pub(super) fn without_reminders(text: &str) -> &str {
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

    use super::{Kept, Outcome};

    #[test]
    fn every_ending_is_told_apart() {
        let kept = |file, size, preview| Outcome::Kept(Kept { file, size, preview });
        let cases = [
            (false, "all well", Outcome::Fine("all well")),
            (true, "<tool_use_error>no such file</tool_use_error>", Outcome::Failed("no such file")),
            (true, "plain words", Outcome::Failed("plain words")),
            (true, "[Request interrupted by user for tool use]", Outcome::Interrupted),
            (true, "The user doesn't want to proceed with this tool use. STOP.", Outcome::Declined("")),
            (
                true,
                "The user doesn't want to proceed with this tool use. To tell you how, the user said:\nuse tabs",
                Outcome::Declined("use tabs"),
            ),
            // A file that quotes the sentence is no refusal.
            (
                false,
                "The user doesn't want to proceed with this tool use",
                Outcome::Fine("The user doesn't want to proceed with this tool use"),
            ),
            (false, "text\n\n<system-reminder>\nbe good\n</system-reminder>\n", Outcome::Fine("text")),
            (false, "<system-reminder>inside</system-reminder> stays", {
                Outcome::Fine("<system-reminder>inside</system-reminder> stays")
            }),
            (
                false,
                "<persisted-output>\nOutput too large (35.8KB). Full output saved to: /h/tool-results/b2.txt\n\n\
                 Preview (first 2KB):\none\ntwo\n...\n</persisted-output>",
                kept("b2.txt", "35.8KB", "one\ntwo"),
            ),
            (
                true,
                "Error: result exceeds the limit. Output has been saved to /h/tool-results/x.txt.\nmore",
                kept(
                    "x.txt",
                    "",
                    "Error: result exceeds the limit. Output has been saved to /h/tool-results/x.txt.\nmore",
                ),
            ),
            (false, "<persisted-output>", kept("", "", "")),
        ];
        for (is_error, text, expected) in cases {
            let result = ToolResult { text: text.into(), is_error, ..ToolResult::default() };
            let call = ToolCall { result: Some(result), ..ToolCall::default() };
            assert_eq!(Outcome::read(&call), expected, "{text}");
        }
        assert_eq!(Outcome::read(&ToolCall::default()), Outcome::Missing);
    }
}
