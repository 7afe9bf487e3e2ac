//! `rethread diff`: compares two branches.

use rethread_engine::core::diff::{MatchBasis, SideTurn};
use rethread_engine::ops;
use rethread_engine::ops::diff::{BranchDiff, BranchSpec, DiffBranch};
use unicode_width::UnicodeWidthStr;

use super::error::{CliError, Exit};
use super::figures::count_noun;
use super::out::Out;
use super::style::{BAD, MARK, NAME, PLAIN, PROMPT, QUIET, STRONG, TOOL, paint};
use super::table::truncate_to_width;
use super::{AppContext, args, clean, layout, summary, totals};
use crate::config::TextRole;
use crate::json;
use crate::text::command::quote_command;

/// The minimum screen width to print the branches side by side.
const MIN_SIDE_BY_SIDE_WIDTH: usize = 100;
/// The maximum number of lines of a prompt.
const MAX_PROMPT_LINES: usize = 3;
/// The maximum number of lines of an answer.
const MAX_ANSWER_LINES: usize = 5;
/// The maximum number of listed calls of a turn.
const MAX_CALLS: usize = 8;

/// Runs `rethread diff`: prints the common part of two branches, then their turns after it and their totals.
///
/// Returns [`Exit::Nothing`] if both branches are the same.
pub(crate) fn run(args: &args::Diff, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let [a, b] = parse_branches(&args.branch, app)?;
    let diff = ops::diff::diff_branches(&a, &b)?;
    if diff.is_same() {
        out.note("both branches are the same");
        let hint = if diff.same_file {
            format!(
                "name entries of two branches; {} lists them",
                quote_command(&["branches", &diff.branches[0].header.id])
            )
        } else {
            "neither session continues after the end of the other".to_owned()
        };
        out.note(&format!("{} {hint}", paint(QUIET, "hint:")));
        return Ok(Exit::Nothing);
    }
    if out.is_json() {
        out.json(&json::build_diff(&diff))?;
        return Ok(Exit::Done);
    }
    out.allow_pager();
    print_titles(&diff, app, out)?;
    print_common(&diff, out)?;
    if out.width() >= MIN_SIDE_BY_SIDE_WIDTH {
        print_side_by_side(&diff, app, out)?;
    } else {
        print_stacked(&diff, app, out)?;
    }
    totals::print(&diff, out)?;
    Ok(Exit::Done)
}

/// Parses the arguments: a session and one or two entries of it, or two sessions, each with an optional entry.
///
/// Returns an error if there are fewer than two or more than three words, or a session is not found.
fn parse_branches(words: &[String], app: &AppContext) -> Result<[BranchSpec; 2], CliError> {
    let branch = |session: &str, entry: Option<&str>| -> Result<BranchSpec, CliError> {
        Ok(BranchSpec { path: app.find_session(session)?, entry: entry.map(str::to_owned) })
    };
    match words {
        [session, a, b] => Ok([branch(session, Some(a))?, branch(session, Some(b))?]),
        [session, entry] if is_entry(entry) => Ok([branch(session, None)?, branch(session, Some(entry))?]),
        [a, b] => {
            let (session, entry) = split_entry(a);
            let (other, other_entry) = split_entry(b);
            // `:L240` refers to the first session.
            let other = if other.is_empty() { session } else { other };
            Ok([branch(session, entry)?, branch(other, other_entry)?])
        }
        _ => Err(CliError::BadBranches),
    }
}

/// Returns `true` if an argument is a line or a turn: `L118`, `t9`.
fn is_entry(word: &str) -> bool {
    let number = word.strip_prefix(['L', 'l', 't', 'T']);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Splits `SESSION:ENTRY` into both. The entry is `None` if no line, turn or uuid follows the last colon.
fn split_entry(word: &str) -> (&str, Option<&str>) {
    let is_uuid = |entry: &str| entry.len() >= 4 && entry.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    match word.rsplit_once(':') {
        Some((session, entry)) if is_entry(entry) || is_uuid(entry) => (session, Some(entry)),
        _ => (word, None),
    }
}

/// Prints the header of the session, or one line per session if there are two.
fn print_titles(diff: &BranchDiff, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    if diff.same_file {
        return super::print_header(&diff.branches[0].header, app, out);
    }
    for (name, branch) in ["A", "B"].iter().zip(&diff.branches) {
        let id: String = clean::line(&branch.header.id).chars().take(8).collect();
        let title =
            truncate_to_width(&clean::line(&branch.header.title.text), out.width().saturating_sub(13));
        out.line(&format!("{}  {}  {title}", paint(STRONG, name), paint(NAME, &id)))?;
    }
    out.line("")
}

/// Prints the number of common turns and entries, and the last common entry.
fn print_common(diff: &BranchDiff, out: &mut Out) -> Result<(), CliError> {
    let Some([a, b]) = &diff.last_common else {
        out.line(&paint(MARK, "the branches have no common entry"))?;
        return out.line("");
    };
    let turn_suffix =
        |entry: &ops::NearbyEntry| entry.turn.map(|turn| format!(" t{turn}")).unwrap_or_default();
    let name = |entry: &ops::NearbyEntry| format!("L{}{}", entry.line, turn_suffix(entry));
    let names = if diff.same_file { name(a) } else { format!("{} of A, {} of B", name(a), name(b)) };
    let basis = match diff.match_basis {
        MatchBasis::Uuid | MatchBasis::NoMatch => "",
        MatchBasis::Message => ", matched by response ids",
        MatchBasis::Text => ", matched by text",
    };
    let (turns, entries) = (diff.common_turns as u64, diff.common_entries as u64);
    let common = format!(
        "in common: {}, {}{basis}; last common entry: ",
        count_noun(turns, "turn"),
        count_noun(entries, "entry")
    );
    out.line(&format!("{}{}", paint(QUIET, &common), paint(NAME, &names)))?;
    let preview = match &a.call {
        Some(call) => {
            format!(
                "● {}  {}",
                clean::line(&call.name),
                summary::summarize_call(call, &diff.branches[0].header.folder)
            )
        }
        None => clean::line(&a.text),
    };
    out.line(&format!("  {}", truncate_to_width(&preview, out.width().min(120).saturating_sub(2))))?;
    out.line("")
}

type StyledLine = (TextRole, String);

fn format_branch_label(name: &str, branch: &DiffBranch) -> String {
    let tip = branch.tip_line.map(|tip| format!(", tip L{tip}")).unwrap_or_default();
    format!("{name}  {}{tip}", if branch.active { "● active path" } else { "○ other branch" })
}

/// Prints the turns of both branches next to each other, each in half of the screen.
fn print_side_by_side(diff: &BranchDiff, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let width = (out.width().min(200) - 3) / 2;
    let [a, b] = &diff.branches;
    let labels = [format_branch_label("A", a), format_branch_label("B", b)];
    print_pair(
        &(STRONG, truncate_to_width(&labels[0], width)),
        &(STRONG, truncate_to_width(&labels[1], width)),
        width,
        out,
    )?;
    let turn_count = a.side.turns.len().max(b.side.turns.len());
    for idx in 0..turn_count.max(1) {
        let rule = paint(QUIET, &format!("{}┼{}", "─".repeat(width + 1), "─".repeat(width + 1)));
        out.line(&rule)?;
        let left = render_turn_cell(a, idx, width, app);
        let right = render_turn_cell(b, idx, width, app);
        let empty = (PLAIN, String::new());
        for row in 0..left.len().max(right.len()) {
            print_pair(left.get(row).unwrap_or(&empty), right.get(row).unwrap_or(&empty), width, out)?;
        }
    }
    out.line("")
}

fn print_pair(left: &StyledLine, right: &StyledLine, width: usize, out: &mut Out) -> Result<(), CliError> {
    let pad = " ".repeat(width.saturating_sub(left.1.width()));
    out.line(&format!("{}{pad} {} {}", paint(left.0, &left.1), paint(QUIET, "│"), paint(right.0, &right.1)))
}

/// Prints the turns of branch A, then those of branch B.
fn print_stacked(diff: &BranchDiff, app: &AppContext, out: &mut Out) -> Result<(), CliError> {
    for (name, branch) in ["A", "B"].iter().zip(&diff.branches) {
        let label = format_branch_label(name, branch);
        let rule = "─".repeat(out.width().saturating_sub(label.width() + 1));
        out.line(&format!("{} {}", paint(STRONG, &label), paint(QUIET, &rule)))?;
        for idx in 0..branch.side.turns.len().max(1) {
            for (style, text) in render_turn_cell(branch, idx, out.width(), app) {
                out.line(&paint(style, &text))?;
            }
            out.line("")?;
        }
    }
    Ok(())
}

/// Renders the turn with index `idx` of a branch. After the last turn, returns `(ends here)` once, then nothing.
fn render_turn_cell(branch: &DiffBranch, idx: usize, width: usize, app: &AppContext) -> Vec<StyledLine> {
    let turns = &branch.side.turns;
    match turns.get(idx) {
        Some(turn) => render_turn_lines(turn, &branch.header.folder, width, app),
        None if idx == turns.len() => vec![(QUIET, "(ends here)".to_owned())],
        None => Vec::new(),
    }
}

/// Renders a turn: name, time, and the first lines of its prompt, calls and answer, truncated to `width`.
fn render_turn_lines(turn: &SideTurn, folder: &str, width: usize, app: &AppContext) -> Vec<StyledLine> {
    let mut rows: Vec<StyledLine> = Vec::new();
    let name = match (turn.number, turn.is_continuation) {
        (Some(number), false) => format!("t{number}"),
        (Some(number), true) => format!("rest of t{number}"),
        (None, _) => "no turn".to_owned(),
    };
    let time = turn.started_at.map(|time| app.clock.format_minute(time)).unwrap_or_default();
    let facts = [name, format!("L{}", turn.line), time];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    rows.push((NAME, truncate_to_width(&facts.join("  "), width)));
    if turn.compacted {
        rows.push((MARK, "╌╌ compacted".to_owned()));
    }
    if let Some(prompt) = &turn.prompt {
        let lines = wrap_start(prompt, MAX_PROMPT_LINES, width.saturating_sub(2));
        let add_mark =
            |(idx, line): (usize, String)| (PROMPT, format!("{}{line}", if idx == 0 { "> " } else { "  " }));
        rows.extend(lines.into_iter().enumerate().map(add_mark));
    }
    for call in turn.calls.iter().take(MAX_CALLS) {
        let is_failed = call.result.as_ref().is_none_or(|result| result.is_error);
        let suffix = match &call.result {
            None => " no result",
            Some(_) if is_failed => " ✗",
            Some(_) => "",
        };
        let line = format!("  ● {}  {}", clean::line(&call.name), summary::summarize_call(call, folder));
        let line = format!("{}{suffix}", truncate_to_width(&line, width.saturating_sub(suffix.width())));
        rows.push((if is_failed { BAD } else { TOOL }, line));
    }
    if turn.calls.len() > MAX_CALLS {
        rows.push((QUIET, format!("  … {}", count_noun((turn.calls.len() - MAX_CALLS) as u64, "more call"))));
    }
    if let Some(answer) = &turn.answer {
        let lines = wrap_start(answer, MAX_ANSWER_LINES, width.saturating_sub(2));
        rows.extend(lines.into_iter().map(|line| (PLAIN, format!("  {line}"))));
    }
    if let Some(error) = &turn.error {
        rows.push((BAD, truncate_to_width(&format!("  ✗ {}", clean::line(error)), width)));
    }
    if turn.interrupted {
        rows.push((MARK, "  ■ interrupted by the user".to_owned()));
    }
    rows
}

/// Wraps a text and returns its first `max_lines` lines, without empty ones. Truncated text ends in `…`.
fn wrap_start(text: &str, max_lines: usize, width: usize) -> Vec<String> {
    let lines = layout::wrap_text(text.trim(), "", width);
    let mut lines: Vec<String> = lines.into_iter().filter(|line| !line.trim().is_empty()).collect();
    if lines.len() > max_lines {
        lines.truncate(max_lines);
        if let Some(last) = lines.last_mut() {
            *last = truncate_to_width(&format!("{last} …"), width);
        }
    }
    lines.into_iter().map(|line| truncate_to_width(&line, width)).collect()
}

#[cfg(test)]
mod tests {
    use super::split_entry;

    #[test]
    fn entry_follows_the_last_colon() {
        let cases = [
            ("3f2a:L118", ("3f2a", Some("L118"))),
            ("last:t9", ("last", Some("t9"))),
            (":L240", ("", Some("L240"))),
            ("a title: with a colon", ("a title: with a colon", None)),
            ("/x/y:z.jsonl", ("/x/y:z.jsonl", None)),
            ("/x/y.jsonl:3f2a1b2c", ("/x/y.jsonl", Some("3f2a1b2c"))),
            ("3f2a", ("3f2a", None)),
        ];
        for (word, parts) in cases {
            assert_eq!(split_entry(word), parts, "{word}");
        }
    }
}
