//! The two lines that make every measured client go on from an entry: a child of it that says nothing to the model,
//! and a pin on that child.

use super::json_edit::quote;
use crate::entry::Timestamp;

/// Where a session is to go on, and what a line of it carries.
#[derive(Debug, Clone, Default)]
pub struct ResumeMarker<'a> {
    /// The entry to go on from.
    pub leaf: &'a str,
    /// The uuid of the child.
    pub uuid: &'a str,
    /// The session of the file.
    pub session: &'a str,
    /// When: later than every line of the file, because old clients go by time.
    pub time: Option<Timestamp>,
    /// What people read in the transcript.
    pub words: &'a str,
    /// The prompt that the entry belongs to.
    pub prompt: Option<&'a str>,
    /// The folder the client runs in.
    pub cwd: Option<&'a str>,
    /// The client that wrote the session.
    pub version: Option<&'a str>,
    /// The git branch.
    pub git_branch: Option<&'a str>,
    /// How the client was started.
    pub entrypoint: Option<&'a str>,
}

/// How much of a prompt the client repeats in a pin.
const PROMPT: usize = 200;

impl ResumeMarker<'_> {
    /// Writes the child.
    pub fn marker_line(&self) -> Vec<u8> {
        let mut line = format!(
            r#"{{"parentUuid":{},"isSidechain":false,"type":"system","subtype":"informational","content":{},"isMeta":false,"level":"info""#,
            quote(self.leaf),
            quote(self.words)
        );
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
                line += &format!(r#","{key}":{}"#, quote(value));
            }
        }
        line.push('}');
        line.into_bytes()
    }

    /// Writes the pin.
    pub fn leaf_pointer_line(&self) -> Vec<u8> {
        let words = |prompt: &str| prompt.split_whitespace().collect::<Vec<_>>().join(" ");
        let prompt = self.prompt.map(|prompt| words(prompt).chars().take(PROMPT).collect::<String>());
        let prompt = prompt.map(|prompt| format!(r#""lastPrompt":{},"#, quote(&prompt))).unwrap_or_default();
        format!(
            r#"{{"type":"last-prompt",{prompt}"leafUuid":{},"sessionId":{}}}"#,
            quote(self.uuid),
            quote(self.session)
        )
        .into_bytes()
    }
}

/// Writes a moment as clients do.
pub fn format_timestamp(moment: Timestamp) -> String {
    let stamp = jiff::Timestamp::from_millisecond(moment.0).unwrap_or(jiff::Timestamp::MAX);
    format!("{stamp:.3}")
}
