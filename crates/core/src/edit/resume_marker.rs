//! The two lines that make every known client resume from an entry: a child that is not sent to the model, and
//! a pointer to that child.
//!
//! Clients from 2.1.120 on also load the other entries below a message, such as queued prompts, up to the next message.
//! [`MarkerKind::Message`] is a marker that is such a message. Clients before 2.0.47 send it.

use super::json_edit::quote_json;
use crate::entry::Timestamp;

/// The kind of line that a resume marker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MarkerKind {
    /// An informational system line. The client loads it with the other entries below the message above it.
    #[default]
    Notice,
    /// An API error, which is a message that is not sent. The client loads no other entries below its parent.
    Message,
}

/// The entry to resume from, and the fields of the marker lines.
#[derive(Debug, Clone, Default)]
pub struct ResumeMarker<'a> {
    /// The kind of line.
    pub kind: MarkerKind,
    /// The uuid of the entry to resume from.
    pub leaf: &'a str,
    /// The uuid of the marker line.
    pub uuid: &'a str,
    /// The id of the session.
    pub session: &'a str,
    /// The timestamp. Must be later than every line of the file, because old clients resume from the newest line.
    pub time: Option<Timestamp>,
    /// The text shown in the transcript.
    pub text: &'a str,
    /// The prompt that the entry belongs to.
    pub prompt: Option<&'a str>,
    /// The working directory of the client.
    pub cwd: Option<&'a str>,
    /// The version of the client that wrote the session.
    pub version: Option<&'a str>,
    /// The git branch.
    pub git_branch: Option<&'a str>,
    /// How the client was started.
    pub entrypoint: Option<&'a str>,
    /// Whether the user chose the entry. Then the pointer is explicit, as after a rewind in the client.
    pub is_explicit: bool,
}

/// The number of characters of the prompt that the client repeats in a pointer.
const MAX_PROMPT_CHARS: usize = 200;

impl ResumeMarker<'_> {
    /// Formats the marker line, a child of the entry to resume from, without newline.
    pub fn marker_line(&self) -> Vec<u8> {
        let text = quote_json(self.text);
        let content = match self.kind {
            MarkerKind::Notice => {
                format!(
                    r#""type":"system","subtype":"informational","content":{text},"isMeta":false,"level":"info""#
                )
            }
            MarkerKind::Message => format!(
                r#""type":"assistant","isApiErrorMessage":true,"message":{{"id":{},"type":"message","role":"assistant","model":"<synthetic>","content":[{{"type":"text","text":{text}}}],"stop_reason":"stop_sequence","stop_sequence":"","usage":{{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}}}"#,
                quote_json(self.uuid)
            ),
        };
        let mut line = format!(r#"{{"parentUuid":{},"isSidechain":false,{content}"#, quote_json(self.leaf));
        let time = self.time.map(format_timestamp);
        let fields = [
            ("timestamp", time.as_deref()),
            ("uuid", Some(self.uuid)),
            ("userType", Some("external")),
            ("entrypoint", self.entrypoint),
            ("cwd", self.cwd),
            ("sessionId", Some(self.session)),
            ("version", self.version),
            ("gitBranch", self.git_branch),
        ];
        for (key, value) in fields {
            if let Some(value) = value {
                line += &format!(r#","{key}":{}"#, quote_json(value));
            }
        }
        line.push('}');
        line.into_bytes()
    }

    /// Formats the line that points to the marker line, without newline. Repeats at most 200 characters of the prompt.
    ///
    /// Unless the pointer is explicit, clients from 2.1.163 on ignore a marker below the last entry that a compaction
    /// preserved, and resume after the compaction.
    pub fn leaf_pointer_line(&self) -> Vec<u8> {
        let collapse = |prompt: &str| prompt.split_whitespace().collect::<Vec<_>>().join(" ");
        let prompt =
            self.prompt.map(|prompt| collapse(prompt).chars().take(MAX_PROMPT_CHARS).collect::<String>());
        let prompt =
            prompt.map(|prompt| format!(r#""lastPrompt":{},"#, quote_json(&prompt))).unwrap_or_default();
        let explicit = if self.is_explicit { r#""explicit":true,"# } else { "" };
        format!(
            r#"{{"type":"last-prompt",{prompt}"leafUuid":{},{explicit}"sessionId":{}}}"#,
            quote_json(self.uuid),
            quote_json(self.session)
        )
        .into_bytes()
    }
}

/// Formats a timestamp as clients do: RFC 3339 in UTC with milliseconds. Uses the latest valid time if out of range.
pub fn format_timestamp(time: Timestamp) -> String {
    let timestamp = jiff::Timestamp::from_millisecond(time.0).unwrap_or(jiff::Timestamp::MAX);
    format!("{timestamp:.3}")
}
