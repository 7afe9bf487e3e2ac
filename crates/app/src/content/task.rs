//! Todo lists and tasks.

use serde_json::Value;

use super::field::{id_field, str_field};

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskState {
    Done,
    InProgress,
    Open,
    Removed,
}

impl TaskState {
    /// Reads the state from the status that the client wrote. An unknown status is [`TaskState::Open`].
    pub(crate) fn read(status: &str) -> TaskState {
        match status {
            "completed" | "done" => TaskState::Done,
            "in_progress" => TaskState::InProgress,
            "deleted" | "cancelled" => TaskState::Removed,
            _ => TaskState::Open,
        }
    }

    /// Returns the symbol and the label of the state.
    pub(crate) fn display(self) -> (&'static str, &'static str) {
        match self {
            TaskState::Done => ("✓", "done"),
            TaskState::InProgress => ("◐", "in progress"),
            TaskState::Open => ("○", "open"),
            TaskState::Removed => ("×", "removed"),
        }
    }
}

/// A task in a list.
pub(crate) struct TaskItem {
    pub(crate) state: TaskState,
    /// The id of the task. `None` if it is not shown.
    pub(crate) id: Option<String>,
    pub(crate) text: String,
    /// The difference from the previous list, for display.
    pub(crate) change: Option<String>,
}

/// Parses a task from JSON. Missing text becomes "(no text)", an unknown status [`TaskState::Open`].
pub(crate) fn parse_item(value: &Value) -> TaskItem {
    let text = str_field(value, "content").or_else(|| str_field(value, "subject")).or_else(|| value.as_str());
    TaskItem {
        state: TaskState::read(value.get("status").and_then(Value::as_str).unwrap_or_default()),
        id: id_field(value, "id"),
        text: text.unwrap_or("(no text)").to_owned(),
        change: None,
    }
}
