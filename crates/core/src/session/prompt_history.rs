//! The lines of `history.jsonl`: the prompts that users typed at a terminal.
//!
//! Clients 2.0.1 wrote no session id; 2.0.32 and later do. Long pasted texts are replaced by a placeholder such as
//! `[Pasted text #1 +20 lines]` in the prompt and kept apart.

use crate::entry::{JsonStr, Timestamp, members, value_text};
use crate::id::Id;

/// A prompt in the history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryPrompt {
    /// The text as it was typed, with placeholders for pasted texts.
    pub text: String,
    /// The time at which it was sent.
    pub time: Option<Timestamp>,
    /// The working folder of the client.
    pub project: Option<String>,
    /// The id of the session, in the form of a UUID. Clients before 2.0.32 do not write it.
    pub session: Option<String>,
    /// The pasted texts and images, in the order of the line.
    pub pasted: Vec<PastedContent>,
}

/// A text or image that was pasted into a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastedContent {
    /// The number in the placeholder.
    pub number: String,
    /// Whether it is an image. The history does not contain images.
    pub is_image: bool,
    /// The text. `None` if the client stored it elsewhere.
    pub text: Option<String>,
    /// The name of the file below `paste-cache`, without extension, in which the client stored a long text.
    pub hash: Option<String>,
}

impl HistoryPrompt {
    /// Parses a line. Returns `None` if it is not a complete object with a prompt, for example because it is torn.
    pub fn parse(line: &[u8]) -> Option<HistoryPrompt> {
        let line = line.trim_ascii();
        if !line.ends_with(b"}") {
            return None;
        }
        let mut prompt = HistoryPrompt::default();
        let mut has_text = false;
        for (key, value) in members(line) {
            if key.equals("display") {
                has_text = value.starts_with(b"\"");
                prompt.text = value_text(value).into_owned();
            } else if key.equals("timestamp") {
                prompt.time = parse_time(value);
            } else if key.equals("project") {
                prompt.project = parse_text(value);
            } else if key.equals("sessionId") {
                prompt.session = parse_text(value).filter(|id| Id::is_uuid(id.as_bytes()));
            } else if key.equals("pastedContents") {
                prompt.pasted =
                    members(value).map(|(number, value)| PastedContent::parse(number, value)).collect();
            }
        }
        has_text.then_some(prompt)
    }

    /// Returns `true` for a command of the client such as `/exit`, and for a prompt without text.
    pub fn is_command(&self) -> bool {
        let text = self.text.trim();
        self.pasted.is_empty() && (text.is_empty() || text.starts_with('/') || text == "exit")
    }
}

impl PastedContent {
    fn parse(number: JsonStr<'_>, value: &[u8]) -> PastedContent {
        let mut pasted = PastedContent { number: number.decode().into_owned(), ..PastedContent::default() };
        for (key, value) in members(value) {
            if key.equals("type") {
                pasted.is_image = value == b"\"image\"";
            } else if key.equals("content") {
                pasted.text = parse_text(value);
            } else if key.equals("contentHash") {
                let is_hash = |hash: &String| hash.bytes().all(|byte| byte.is_ascii_alphanumeric());
                pasted.hash = parse_text(value).filter(|hash| !hash.is_empty() && is_hash(hash));
            }
        }
        pasted
    }
}

/// Returns the text of a JSON string. Returns `None` for other values and for an empty string.
fn parse_text(value: &[u8]) -> Option<String> {
    let is_text = value.starts_with(b"\"") && value != b"\"\"";
    is_text.then(|| value_text(value).into_owned())
}

/// Parses a time: a number of milliseconds, or a text in RFC 3339.
fn parse_time(value: &[u8]) -> Option<Timestamp> {
    let number = std::str::from_utf8(value).ok().and_then(|number| number.parse().ok());
    number.and_then(Timestamp::from_number).or_else(|| Timestamp::parse(JsonStr::from_value(value)?))
}

#[cfg(test)]
mod tests {
    use super::{HistoryPrompt, PastedContent, Timestamp};

    const ID: &str = "3f2a9f60-0000-4000-8000-000000000001";

    #[test]
    fn lines_of_all_measured_clients_are_parsed() {
        let old =
            br#"{"display":"One\n","pastedContents":{},"timestamp":1794772758432,"project":"/home/ann"}"#;
        let expected = HistoryPrompt {
            text: "One\n".to_owned(),
            time: Some(Timestamp(1_794_772_758_432)),
            project: Some("/home/ann".to_owned()),
            ..HistoryPrompt::default()
        };
        assert_eq!(HistoryPrompt::parse(old), Some(expected.clone()));
        let new = String::from_utf8_lossy(old).replace('}', &format!(",\"sessionId\":\"{ID}\"}}"));
        let new = new.replacen(&format!(",\"sessionId\":\"{ID}\"}},"), "},", 1);
        let expected = HistoryPrompt { session: Some(ID.to_owned()), ..expected };
        assert_eq!(HistoryPrompt::parse(new.as_bytes()), Some(expected));
    }

    #[test]
    fn pasted_contents_are_texts_images_or_names_of_files() {
        let line =
            br#"{"display":"[Pasted text #1]","pastedContents":{"1":{"id":1,"type":"text","content":"a\nb"},
            "2":{"id":2,"type":"image","mediaType":"image/png"},"3":{"type":"text","contentHash":"0a1b"},
            "4":{"type":"text","contentHash":"../x"},"5":7}}"#;
        let pasted = HistoryPrompt::parse(line).unwrap().pasted;
        let content = |number: &str| PastedContent { number: number.to_owned(), ..PastedContent::default() };
        assert_eq!(pasted[0], PastedContent { text: Some("a\nb".to_owned()), ..content("1") });
        assert_eq!(pasted[1], PastedContent { is_image: true, ..content("2") });
        assert_eq!(pasted[2], PastedContent { hash: Some("0a1b".to_owned()), ..content("3") });
        // A name that leads out of the folder is no hash.
        assert_eq!(pasted[3..], [content("4"), content("5")]);
    }

    #[test]
    fn torn_and_odd_lines_are_no_prompts() {
        for line in [
            &b""[..],
            b"{",
            b"null",
            b"{\"display\":7}",
            b"{\"display\":\"a\",\"sessionId\":\"3f2a",
            b"{\"timestamp\":1}",
            b"[\"display\"]",
        ] {
            assert_eq!(HistoryPrompt::parse(line), None, "{}", String::from_utf8_lossy(line));
        }
        let odd =
            br#"{"display":"a","sessionId":"../../x","timestamp":"soon","project":7,"pastedContents":[]}"#;
        let expected = HistoryPrompt { text: "a".to_owned(), ..HistoryPrompt::default() };
        assert_eq!(HistoryPrompt::parse(odd), Some(expected));
    }

    #[test]
    fn commands_are_no_prompts_of_a_conversation() {
        let is_command =
            |text: &str| HistoryPrompt { text: text.to_owned(), ..HistoryPrompt::default() }.is_command();
        assert!(is_command("/exit ") && is_command("exit") && is_command(" \n"));
        assert!(!is_command("Why /exit?"));
    }
}
