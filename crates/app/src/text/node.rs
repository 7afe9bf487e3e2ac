//! The text of a tree row, for all output formats.

use rethread_engine::core::tree::{OutlineItem, OutlineRow, ParentLink};
use rethread_engine::ops::tree::TreeRowDetails;

use super::entry;
use super::figures::count_noun;

/// The texts of a tree row. A text is empty if it does not apply to the row.
#[derive(Debug, Default)]
pub(crate) struct RowLabel {
    /// The name of the entry as typed in commands: `t9` for a turn, or else the line handle `L118`.
    pub(crate) name: String,
    /// The fork at which this branch begins, or why it is orphaned.
    pub(crate) origin: String,
    /// The line handle of the entry: `L118`.
    pub(crate) handle: String,
    /// The preview of the entry, or the size of a gap.
    pub(crate) text: String,
    /// The tip of the branch that ends in this row, and the entry of the row from which the client resumes: `active tip L118`.
    pub(crate) tip: String,
    /// Whether the client resumes from an entry of this row.
    pub(crate) active: bool,
    /// The number of answers and tool calls of the turn. Empty if every entry has a row.
    pub(crate) work: String,
}

/// Builds the label of a row. `details` is `None` for a gap. `all` is `true` if every entry has a row, not every turn.
///
/// Paths below `folder` become relative to it.
pub(crate) fn build_row_label(
    row: &OutlineRow,
    details: Option<&TreeRowDetails>,
    folder: &str,
    all: bool,
) -> RowLabel {
    let Some(details) = details else {
        return RowLabel { text: gap_text(row.item, all), ..RowLabel::default() };
    };
    let name = match details.turn {
        Some(turn) if !all => format!("t{turn}"),
        _ => details.handle.clone(),
    };
    let count_if_any = |count: usize, noun: &str| (count > 0).then(|| count_noun(count as u64, noun));
    let work = [count_if_any(details.answers, "answer"), count_if_any(details.tools, "tool")];
    let work: Vec<String> = if all { Vec::new() } else { work.into_iter().flatten().collect() };
    RowLabel {
        name,
        handle: details.handle.clone(),
        origin: origin_text(row),
        text: entry::format_entry_line(&details.preview, details.role, details.kind, folder),
        tip: tip_text(details),
        active: details.resume_handle.is_some() || details.tip.as_ref().is_some_and(|tip| tip.is_active),
        work: work.join(", "),
    }
}

/// Names the tip of the branch that ends in a row, and the entry of the row from which the client resumes.
fn tip_text(details: &TreeRowDetails) -> String {
    let tip = details.tip.as_ref().map(|tip| match tip.is_active {
        true => format!("active tip {}", tip.handle),
        false => format!("tip {}", tip.handle),
    });
    let resume = details.resume_handle.as_ref().map(|handle| format!("resumes from {handle}"));
    tip.into_iter().chain(resume).collect::<Vec<_>>().join(", ")
}

/// Describes how a branch begins: the kind of its fork and its number, or why it is orphaned. Empty for other rows.
fn origin_text(row: &OutlineRow) -> String {
    match (row.fork_point, row.broken_link) {
        (Some(fork), _) => format!("{} {}/{}", fork.kind.name(), fork.branch_number, fork.branch_count),
        (None, Some(ParentLink::CycleBroken)) => "orphaned: part of a cycle".to_owned(),
        (None, Some(_)) => "orphaned: its parent is missing".to_owned(),
        (None, None) => String::new(),
    }
}

/// Describes the size of a gap: `12 turns on 3 branches`. It counts entries if `all` is set or the gap contains no turn.
///
/// Returns an empty string if the item is not a gap.
fn gap_text(item: OutlineItem, all: bool) -> String {
    let OutlineItem::Gap { turns, rows, tips } = item else { return String::new() };
    let size =
        if turns > 0 && !all { count_noun(turns as u64, "turn") } else { count_noun(rows as u64, "entry") };
    if tips > 1 { format!("{size} on {}", count_noun(tips as u64, "branch")) } else { size }
}
