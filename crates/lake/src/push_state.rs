//! The state of a machine: which files it pushed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// The files that a machine pushed to a lake, and the sessions that it must not push again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PushState {
    /// The generation of the last push.
    pub generation: i64,
    /// The time of the last push in milliseconds.
    pub pushed_at: i64,
    /// The mark of each file, by its id in the engine.
    pub marks: BTreeMap<String, String>,
    /// Sessions that were removed from the lake.
    pub forgotten: BTreeSet<String>,
}

impl PushState {
    /// Parses the text of a state. An invalid text is an empty state: everything is pushed again.
    pub fn parse(text: &str) -> PushState {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let texts = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let marks = value["marks"].as_object().cloned().unwrap_or_default();
        PushState {
            generation: value["generation"].as_i64().unwrap_or_default(),
            pushed_at: value["pushed_at"].as_i64().unwrap_or_default(),
            marks: marks.into_iter().filter_map(|(id, mark)| Some((id, text(&mark)?))).collect(),
            forgotten: texts(&value["forgotten"]).iter().filter_map(text).collect(),
        }
    }

    /// Returns the text of the state.
    pub fn to_text(&self) -> String {
        let value = json!({
            "v": 1,
            "generation": self.generation,
            "pushed_at": self.pushed_at,
            "marks": self.marks,
            "forgotten": self.forgotten,
        });
        format!("{value}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::PushState;

    #[test]
    fn a_state_survives_its_text() {
        let state = PushState {
            generation: 5,
            pushed_at: 6,
            marks: [("a".to_owned(), "b".to_owned())].into(),
            forgotten: ["c".to_owned()].into(),
        };
        assert_eq!(PushState::parse(&state.to_text()), state);
        assert_eq!(PushState::parse("{"), PushState::default());
    }
}
