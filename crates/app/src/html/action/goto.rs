//! The summary of a goto.

use maud::html;
use rethread_engine::ops::goto::GotoOutcome;

use super::summary::{ActionSummary, render_entry};
use crate::context::AppContext;
use crate::text::clean;
use crate::text::figures::{count_noun, format_size, format_tokens};
use crate::text::layout::truncate_to_width;

/// Maximum number of appended lines shown.
const MAX_LINES: usize = 6;
/// Maximum width of such a line, in columns.
const MAX_COLUMNS: usize = 400;

/// Summarizes a goto, planned or done. `loaded_now` is the number of entries and of tokens that the client loads without it;
/// `path` is the session file.
pub(crate) fn summarize_goto(
    goto: &GotoOutcome,
    loaded_now: Option<(usize, u64)>,
    path: &std::path::Path,
    context: &AppContext,
) -> ActionSummary {
    let is_dry_run = goto.op.is_none();
    let title = if is_dry_run { "Resume from here" } else { "The client now resumes from here" };
    let mut summary = ActionSummary {
        title: title.to_owned(),
        resume: Some(context.resume_command(&goto.header.id, &goto.header.folder)),
        op: goto.op,
        ..ActionSummary::default()
    };
    summary.add_fact(if is_dry_run { "would resume from" } else { "resumes from" }, render_entry(&goto.to));
    if let Some(from) = &goto.from {
        summary.add_fact(if is_dry_run { "now resumes from" } else { "before" }, render_entry(from));
    }
    if let Some((entries, tokens)) = loaded_now {
        summary.add_fact(
            "now loads",
            format!("{}, about {} tokens", count_noun(entries as u64, "entry"), format_tokens(tokens)),
        );
    }
    summary.add_loads(&goto.expected_loads, is_dry_run);
    let lines: Vec<&[u8]> = goto.added.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let added = format!(
        "{} at the end, {}; no line is changed",
        count_noun(lines.len() as u64, "line"),
        format_size(goto.added.len() as u64)
    );
    summary.add_fact(if is_dry_run { "would append" } else { "appended" }, added);
    summary.add_fact("file", html! { code { (context.format_path(&path.display().to_string())) } });
    if goto.replayed > 0 {
        let lines = count_noun(goto.replayed as u64, "line");
        summary.warnings.push(format!(
            "{lines} would be repeated, because clients load nothing from before the compaction in between"
        ));
    }
    if goto.sent_below > 0 {
        summary.warnings.push(format!(
            "clients also send the queued prompts and commands directly below the entry: {}",
            count_noun(goto.sent_below as u64, "entry")
        ));
    }
    if is_dry_run {
        let shown = lines
            .iter()
            .take(MAX_LINES)
            .map(|line| truncate_to_width(&clean::line(&String::from_utf8_lossy(line)), MAX_COLUMNS));
        summary.details.push(html! {
            details class="action-lines" {
                summary { "Appended lines" }
                pre class="code" { @for line in shown { code { "+ " (line) "\n" } } }
            }
        });
    }
    summary
}
