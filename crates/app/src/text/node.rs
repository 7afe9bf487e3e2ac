//! The words of a row of a tree, whatever it is drawn with.

use rethread_engine::core::tree::{OutlineItem, ParentLink, Row};
use rethread_engine::ops::DrawnRow;

use super::entry;
use super::figures::things;

/// The words of a row, in the order in which they stand.
#[derive(Debug, Default)]
pub(crate) struct Label {
    /// The name of the entry, to be typed.
    pub(crate) name: String,
    /// How the way arose that begins here, or why it is cut off.
    pub(crate) origin: String,
    /// The name of the entry by its line.
    pub(crate) handle: String,
    /// What is said.
    pub(crate) words: String,
    /// The tip of the branch that ends here.
    pub(crate) tip: String,
    /// Whether it is the one that the client loads.
    pub(crate) active: bool,
    /// Answers and tools.
    pub(crate) work: String,
}

/// Finds the words of a row.
pub(crate) fn label(row: &Row, read: Option<&DrawnRow>, folder: &str, all: bool) -> Label {
    let Some(read) = read else {
        return Label { words: gap(row.what, all), ..Label::default() };
    };
    let name = match read.turn {
        Some(turn) if !all => format!("t{turn}"),
        _ => read.handle.clone(),
    };
    let some = |number: usize, one: &str| (number > 0).then(|| things(number as u64, one));
    let work = [some(read.answers, "answer"), some(read.tools, "tool")];
    let work: Vec<String> = if all { Vec::new() } else { work.into_iter().flatten().collect() };
    let (tip, active) = read.tip.clone().unwrap_or_default();
    Label {
        name,
        handle: read.handle.clone(),
        origin: origin(row),
        words: entry::words(&read.said, read.voice, read.kind, folder),
        tip,
        active,
        work: work.join(", "),
    }
}

fn origin(row: &Row) -> String {
    match (row.from, row.cut) {
        (Some(from), _) => format!("{} {}/{}", from.kind.name(), from.way, from.ways),
        (None, Some(ParentLink::Cut)) => "island: cut from a cycle".to_owned(),
        (None, Some(_)) => "island: its parent is missing".to_owned(),
        (None, None) => String::new(),
    }
}

fn gap(what: OutlineItem, all: bool) -> String {
    let OutlineItem::Gap { turns, rows, tips } = what else { return String::new() };
    let number = if turns > 0 && !all { things(turns as u64, "turn") } else { things(rows as u64, "entry") };
    if tips > 1 { format!("{number} on {}", things(tips as u64, "branch")) } else { number }
}
