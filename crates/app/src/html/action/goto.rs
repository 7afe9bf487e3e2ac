//! The point where a resume goes on, moved.

use maud::html;
use rethread_engine::ops::GotoOutcome;

use super::summary::{ActionSummary, stand};
use crate::context::AppContext;
use crate::text::clean;
use crate::text::figures::{size, things, tokens};
use crate::text::fit::truncate_to_width;

/// Lines that are shown of those that are added, and letters of each.
const SHOWN: usize = 6;
const LETTERS: usize = 400;

/// Tells a move; `now` is what the client loads before it: entries and tokens.
pub(crate) fn moved(
    moved: &GotoOutcome,
    now: Option<(usize, u64)>,
    path: &std::path::Path,
    place: &AppContext,
) -> ActionSummary {
    let dry = moved.op.is_none();
    let title = if dry { "Go on from here" } else { "The next resume goes on from here" };
    let mut sheet = ActionSummary {
        title: title.to_owned(),
        resume: Some(place.resume_command(&moved.head.id, &moved.head.folder)),
        op: moved.op,
        ..ActionSummary::default()
    };
    sheet.fact(if dry { "would go on from" } else { "goes on from" }, stand(&moved.to));
    if let Some(from) = &moved.from {
        sheet.fact(if dry { "now goes on from" } else { "before" }, stand(from));
    }
    if let Some((entries, number)) = now {
        sheet.fact(
            "now loads",
            format!("{}, about {} tokens", things(entries as u64, "entry"), tokens(number)),
        );
    }
    sheet.promises(&moved.promises, dry);
    let lines: Vec<&[u8]> =
        moved.added.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let added = format!(
        "{} at the end, {}; no line is changed",
        things(lines.len() as u64, "line"),
        size(moved.added.len() as u64)
    );
    sheet.fact(if dry { "would add" } else { "added" }, added);
    sheet.fact("file", html! { code { (place.tilde(&path.display().to_string())) } });
    if moved.replayed > 0 {
        let lines = things(moved.replayed as u64, "line");
        sheet.warnings.push(format!(
            "{lines} would be written a second time: a compaction stands between, and clients hold nothing from before it"
        ));
    }
    if dry {
        let shown = lines
            .iter()
            .take(SHOWN)
            .map(|line| truncate_to_width(&clean::line(&String::from_utf8_lossy(line)), LETTERS));
        sheet.more.push(html! {
            details class="act-lines" {
                summary { "The lines" }
                pre class="code" { @for line in shown { code { "+ " (line) "\n" } } }
            }
        });
    }
    sheet
}
