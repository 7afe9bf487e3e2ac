//! A fault: a place in a source file and the code that replaces it.

use std::ops::Range;

/// A small change of the code that a test should notice.
#[derive(Debug, Clone)]
pub struct Fault {
    /// The path of the file, relative to the workspace.
    pub path: String,
    /// The line and the column of the place, from 1.
    pub line: usize,
    pub column: usize,
    /// The function that contains the place.
    pub function: String,
    /// The kind of the change, such as `negate`.
    pub kind: &'static str,
    /// The bytes of the file that are replaced. Empty for an insertion.
    pub range: Range<usize>,
    /// The bytes of the file that the function occupies.
    pub function_range: Range<usize>,
    /// The change.
    pub change: Change,
}

/// The change of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Another expression.
    Replace(String),
    /// The statement is not executed.
    Drop,
    /// The function returns this expression at once. Nothing is returned if it is empty.
    Return(String),
}

impl Fault {
    /// Returns the key that identifies the fault in the results.
    pub fn key(&self) -> String {
        format!("{}:{}:{} {}", self.path, self.line, self.column, self.kind)
    }

    /// Returns the code that contains both versions. The fault is active if its number is `id`.
    pub fn render_switch(&self, original: &str, id: usize) -> String {
        let active = format!("::rethread_mutant::is_active({id})");
        match &self.change {
            Change::Replace(mutated) => format!("(if {active} {{ {mutated} }} else {{ {original} }})"),
            Change::Drop => format!("if !{active} {{ {original} }}"),
            Change::Return(value) => format!(" if {active} {{ return {value}; }} "),
        }
    }

    /// Describes the change on one line. `original` are the replaced bytes.
    pub fn describe(&self, original: &str) -> String {
        let shorten = |text: &str| {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let mut short: String = words.chars().take(90).collect();
            if short.len() < words.len() {
                short.push('…');
            }
            short
        };
        match &self.change {
            Change::Replace(mutated) => format!("`{}` -> `{}`", shorten(original), shorten(mutated)),
            Change::Drop => format!("without `{}`", shorten(original)),
            Change::Return(value) => format!("returns `{value}` at once").replace("``", "nothing"),
        }
    }

    /// Returns `true` if one of the two places contains the other, so that they cannot be changed independently.
    pub fn overlaps(&self, other: &Fault) -> bool {
        self.path == other.path && self.range.start < other.range.end && other.range.start < self.range.end
    }
}
