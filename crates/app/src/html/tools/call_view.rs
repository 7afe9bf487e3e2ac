//! A call opened to be drawn: its input and note as values, its paths without the folder of the session.

use maud::{Markup, html};
use rethread_engine::core::turn::ToolCall;
use serde_json::Value;

use super::outcome::Outcome;
use super::render::RenderContext;
use crate::text::clean;
use crate::text::summary::inside;

/// How many bytes of a path are shown.
const LONGEST: usize = 512;

/// A call with all that a renderer may ask of it.
pub(super) struct CallView<'a> {
    /// The call as it was told.
    pub(super) call: &'a ToolCall,
    /// What stands around it.
    pub(super) around: &'a RenderContext<'a>,
    /// Its input; null where that is no JSON.
    pub(super) input: Value,
}

impl<'a> CallView<'a> {
    /// Opens a call.
    pub(super) fn open(call: &'a ToolCall, around: &'a RenderContext<'a>) -> CallView<'a> {
        // Input that nests too deep for the parser is drawn as it stands, like any that is no JSON.
        let input = serde_json::from_str(&call.input).unwrap_or_default();
        CallView { call, around, input }
    }

    /// Returns words of the input, where they are words and not empty.
    pub(super) fn input_str(&self, name: &str) -> Option<&str> {
        words(&self.input, name)
    }

    /// Returns the words of the first of these fields of the input that has some.
    pub(super) fn asked_any(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.input_str(name))
    }

    /// Whether a field of the input says yes.
    pub(super) fn is_asked(&self, name: &str) -> bool {
        self.input.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns a number of the input, even where it was written as words.
    pub(super) fn asked_number(&self, name: &str) -> Option<u64> {
        let value = self.input.get(name)?;
        value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
    }

    /// Returns a list of the input; empty where there is none.
    pub(super) fn asked_list(&self, name: &str) -> &[Value] {
        list(&self.input, name)
    }

    /// Returns a field of the client's note.
    pub(super) fn result_meta(&self, name: &str) -> Option<&Value> {
        self.around.noted.as_ref()?.get(name)
    }

    /// Returns a text of the input as it stands, even where it is blank.
    pub(super) fn asked_text(&self, name: &str) -> Option<&str> {
        self.input.get(name)?.as_str()
    }

    /// Returns words of the client's note, where they are words and not empty.
    pub(super) fn noted_words(&self, name: &str) -> Option<&str> {
        self.around.noted.as_ref().and_then(|note| words(note, name))
    }

    /// Returns what came of the call.
    pub(super) fn outcome(&self) -> Outcome<'a> {
        Outcome::read(self.call)
    }

    /// Draws a path, its folders quieter than its name; of one that nobody could read only the end.
    pub(super) fn path(&self, path: &str) -> Markup {
        let mut shown = clean::line(inside(path, self.around.folder));
        if shown.len() > LONGEST {
            let from = shown.floor_char_boundary(shown.len() - LONGEST);
            shown = format!("…{}", &shown[from..]);
        }
        let cut = shown.trim_end_matches(['/', '\\']).rfind(['/', '\\']).map_or(0, |at| at + 1);
        let (folder, name) = shown.split_at(cut);
        html! { span class="path" { @if !folder.is_empty() { span class="dir" { (folder) } } (name) } }
    }
}

/// Returns words of an object, where they are words and not empty.
pub(super) fn words<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str().filter(|words| !words.trim().is_empty())
}

/// Returns a list of an object; empty where there is none.
pub(super) fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns a name or number of an object as words: ids are written both ways.
pub(super) fn label(value: &Value, name: &str) -> Option<String> {
    match value.get(name)? {
        Value::String(words) if !words.trim().is_empty() => Some(words.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
