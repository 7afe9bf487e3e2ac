//! A tool call prepared for rendering: its input and `toolUseResult` as JSON, paths relative to the folder of the session.

use maud::{Markup, html};
use rethread_engine::core::turn::ToolCall;
use serde_json::Value;

use super::outcome::Outcome;
use super::render::RenderContext;
pub(super) use crate::content::field::{array_field, id_field, str_field};
use crate::text::clean;
use crate::text::summary::relative_path;

/// Maximum length in bytes of a displayed path.
const MAX_PATH_BYTES: usize = 512;

/// A tool call with everything that a renderer needs.
pub(super) struct CallView<'a> {
    /// The call.
    pub(super) call: &'a ToolCall,
    /// The context of the call.
    pub(super) context: &'a RenderContext<'a>,
    /// The parsed input. Null if the input is not JSON.
    pub(super) input: Value,
}

impl<'a> CallView<'a> {
    /// Parses the input of a call.
    pub(super) fn new(call: &'a ToolCall, context: &'a RenderContext<'a>) -> CallView<'a> {
        // Input that is nested too deeply for the parser is rendered as raw text, like input that is not JSON.
        let input = serde_json::from_str(&call.input).unwrap_or_default();
        CallView { call, context, input }
    }

    /// Returns a string field of the input. Returns `None` if it is missing, blank or not a string.
    pub(super) fn input_str(&self, name: &str) -> Option<&str> {
        str_field(&self.input, name)
    }

    /// Returns the first of these string fields of the input that is not blank. Returns `None` if there is none.
    pub(super) fn first_input_str(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.input_str(name))
    }

    /// Returns a boolean field of the input. Returns `false` if it is missing or not a boolean.
    pub(super) fn input_bool(&self, name: &str) -> bool {
        self.input.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns a numeric field of the input, even if it is written as a string. Returns `None` if it is missing or
    /// not a non-negative integer.
    pub(super) fn input_u64(&self, name: &str) -> Option<u64> {
        let value = self.input.get(name)?;
        value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
    }

    /// Returns an array field of the input. Returns an empty slice if it is missing or not an array.
    pub(super) fn input_list(&self, name: &str) -> &[Value] {
        array_field(&self.input, name)
    }

    /// Returns a field of `toolUseResult`. Returns `None` if the call has no `toolUseResult` or it lacks the field.
    pub(super) fn result_meta(&self, name: &str) -> Option<&Value> {
        self.context.result_meta.as_ref()?.get(name)
    }

    /// Returns a string field of the input, even if it is blank. Returns `None` if it is missing or not a string.
    pub(super) fn input_raw_str(&self, name: &str) -> Option<&str> {
        self.input.get(name)?.as_str()
    }

    /// Returns a string field of `toolUseResult`. Returns `None` if it is missing, blank or not a string.
    pub(super) fn result_meta_str(&self, name: &str) -> Option<&str> {
        self.context.result_meta.as_ref().and_then(|meta| str_field(meta, name))
    }

    /// Returns the outcome of the call.
    pub(super) fn outcome(&self) -> Outcome<'a> {
        Outcome::from_call(self.call)
    }

    /// Renders a file path relative to the folder of the session, with its folders muted. Shows only the last
    /// [`MAX_PATH_BYTES`] of an overlong path.
    pub(super) fn render_path(&self, path: &str) -> Markup {
        let mut shown = clean::line(relative_path(path, self.context.folder));
        if shown.len() > MAX_PATH_BYTES {
            let from = shown.floor_char_boundary(shown.len() - MAX_PATH_BYTES);
            shown = format!("…{}", &shown[from..]);
        }
        let name_start = shown.trim_end_matches(['/', '\\']).rfind(['/', '\\']).map_or(0, |at| at + 1);
        let (folder, name) = shown.split_at(name_start);
        html! { span class="path" { @if !folder.is_empty() { span class="dir" { (folder) } } (name) } }
    }
}
