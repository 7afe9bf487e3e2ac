//! `rethread diff`: two branches beside each other.

use anstyle::Style;
use rethread_engine::core::diff::{MatchBasis, SideTurn};
use rethread_engine::ops::{self, Branch, BranchName, Diff};
use unicode_width::UnicodeWidthStr;

use super::error::{CliError, Exit};
use super::figures::things;
use super::out::Out;
use super::style::{BAD, MARK, NAME, PLAIN, PROMPT, QUIET, STRONG, TOOL, paint};
use super::table::truncate_to_width;
use super::{AppContext, args, clean, layout, summary, totals};
use crate::json;

/// Columns from which on the branches stand side by side.
const WIDE: usize = 100;
/// Lines shown of a prompt, of an answer, and calls of a turn.
const PROMPT_LINES: usize = 3;
const ANSWER_LINES: usize = 5;
const CALLS: usize = 8;

/// Runs the command.
pub(crate) fn run(args: &args::Diff, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let [a, b] = names(&args.branch, place)?;
    let diff = ops::diff(&a, &b)?;
    if diff.is_same() {
        out.note("both are the same path: there is nothing to compare");
        let hint = if diff.one_file {
            "name entries of two branches: `rethread show SESSION --everything` shows turns of all"
        } else {
            "neither session goes on where the other ends"
        };
        out.note(&format!("{} {hint}", paint(QUIET, "hint:")));
        return Ok(Exit::Nothing);
    }
    if out.is_json() {
        out.json(&json::diff(&diff))?;
        return Ok(Exit::Done);
    }
    out.may_page();
    opening(&diff, place, out)?;
    common(&diff, out)?;
    if out.width() >= WIDE {
        beside(&diff, place, out)?;
    } else {
        below(&diff, place, out)?;
    }
    totals::print(&diff, out)?;
    Ok(Exit::Done)
}

/// Reads the words of the command: a session and entries of it, or two sessions, each with or without an entry.
fn names(words: &[String], place: &AppContext) -> Result<[BranchName; 2], CliError> {
    let branch = |session: &str, entry: Option<&str>| -> Result<BranchName, CliError> {
        Ok(BranchName { path: place.session(session)?, entry: entry.map(str::to_owned) })
    };
    match words {
        [session, a, b] => Ok([branch(session, Some(a))?, branch(session, Some(b))?]),
        [session, entry] if is_entry(entry) => Ok([branch(session, None)?, branch(session, Some(entry))?]),
        [a, b] => {
            let (session, entry) = split(a);
            let (other, other_entry) = split(b);
            // `:L240` means the session named before.
            let other = if other.is_empty() { session } else { other };
            Ok([branch(session, entry)?, branch(other, other_entry)?])
        }
        _ => Err(CliError::NoBranches),
    }
}

/// Whether a word names a line or a turn and nothing else: `L118`, `t9`.
fn is_entry(word: &str) -> bool {
    let number = word.strip_prefix(['L', 'l', 't', 'T']);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Parts `SESSION:ENTRY`; a colon in a title or path is none of ours.
fn split(word: &str) -> (&str, Option<&str>) {
    let is_uuid = |entry: &str| entry.len() >= 4 && entry.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    match word.rsplit_once(':') {
        Some((session, entry)) if is_entry(entry) || is_uuid(entry) => (session, Some(entry)),
        _ => (word, None),
    }
}

fn opening(diff: &Diff, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    if diff.one_file {
        return super::header(&diff.branches[0].head, place, out);
    }
    for (name, branch) in ["A", "B"].iter().zip(&diff.branches) {
        let id: String = clean::line(&branch.head.id).chars().take(8).collect();
        let title = truncate_to_width(&clean::line(&branch.head.title.text), out.width().saturating_sub(13));
        out.line(&format!("{}  {}  {title}", paint(STRONG, name), paint(NAME, &id)))?;
    }
    out.line("")
}

fn common(diff: &Diff, out: &mut Out) -> Result<(), CliError> {
    let Some([a, b]) = &diff.last else {
        out.line(&paint(MARK, "they have no entry in common"))?;
        return out.line("");
    };
    let turn = |near: &ops::NearbyEntry| near.turn.map(|turn| format!(" t{turn}")).unwrap_or_default();
    let name = |near: &ops::NearbyEntry| format!("L{}{}", near.line, turn(near));
    let names = if diff.one_file { name(a) } else { format!("{} of A, {} of B", name(a), name(b)) };
    let by = match diff.by {
        MatchBasis::Uuid | MatchBasis::Nothing => "",
        MatchBasis::Message => ", known by its responses",
        MatchBasis::Words => ", known by its words",
    };
    let (turns, entries) = (diff.common_turns as u64, diff.common_entries as u64);
    let both =
        format!("in common: {}, {}{by}; the last is ", things(turns, "turn"), things(entries, "entry"));
    out.line(&format!("{}{}", paint(QUIET, &both), paint(NAME, &names)))?;
    let said = match &a.call {
        Some(call) => {
            format!("● {}  {}", clean::line(&call.name), summary::gist(call, &diff.branches[0].head.folder))
        }
        None => clean::line(&a.words),
    };
    out.line(&format!("  {}", truncate_to_width(&said, out.width().min(120).saturating_sub(2))))?;
    out.line("")
}

type Row = (Style, String);

fn label(name: &str, branch: &Branch) -> String {
    let tip = branch.tip.map(|tip| format!(", tip L{tip}")).unwrap_or_default();
    format!("{name}  {}{tip}", if branch.active { "● active path" } else { "○ other branch" })
}

fn beside(diff: &Diff, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let room = (out.width().min(200) - 3) / 2;
    let [a, b] = &diff.branches;
    let heads = [label("A", a), label("B", b)];
    two(
        &(STRONG, truncate_to_width(&heads[0], room)),
        &(STRONG, truncate_to_width(&heads[1], room)),
        room,
        out,
    )?;
    let most = a.side.turns.len().max(b.side.turns.len());
    for k in 0..most.max(1) {
        let rule = paint(QUIET, &format!("{}┼{}", "─".repeat(room + 1), "─".repeat(room + 1)));
        out.line(&rule)?;
        let left = cell(a, k, room, place);
        let right = cell(b, k, room, place);
        let none = (PLAIN, String::new());
        for row in 0..left.len().max(right.len()) {
            two(left.get(row).unwrap_or(&none), right.get(row).unwrap_or(&none), room, out)?;
        }
    }
    out.line("")
}

fn two(left: &Row, right: &Row, room: usize, out: &mut Out) -> Result<(), CliError> {
    let pad = " ".repeat(room.saturating_sub(left.1.width()));
    out.line(&format!("{}{pad} {} {}", paint(left.0, &left.1), paint(QUIET, "│"), paint(right.0, &right.1)))
}

fn below(diff: &Diff, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    for (name, branch) in ["A", "B"].iter().zip(&diff.branches) {
        let head = label(name, branch);
        let rule = "─".repeat(out.width().saturating_sub(head.width() + 1));
        out.line(&format!("{} {}", paint(STRONG, &head), paint(QUIET, &rule)))?;
        for k in 0..branch.side.turns.len().max(1) {
            for (style, text) in cell(branch, k, out.width(), place) {
                out.line(&paint(style, &text))?;
            }
            out.line("")?;
        }
    }
    Ok(())
}

/// Lays a turn of a branch out in so many columns; says once where it ends.
fn cell(branch: &Branch, k: usize, room: usize, place: &AppContext) -> Vec<Row> {
    let turns = &branch.side.turns;
    match turns.get(k) {
        Some(turn) => lines_of(turn, &branch.head.folder, room, place),
        None if k == turns.len() => vec![(QUIET, "(ends here)".to_owned())],
        None => Vec::new(),
    }
}

fn lines_of(turn: &SideTurn, folder: &str, room: usize, place: &AppContext) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let name = match (turn.no, turn.goes_on) {
        (Some(no), false) => format!("t{no}"),
        (Some(no), true) => format!("rest of t{no}"),
        (None, _) => "no turn".to_owned(),
    };
    let time = turn.from.map(|from| place.clock.stamp(from)).unwrap_or_default();
    let facts = [name, format!("L{}", turn.line), time];
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    rows.push((NAME, truncate_to_width(&facts.join("  "), room)));
    if turn.compacted {
        rows.push((MARK, "╌╌ compacted".to_owned()));
    }
    if let Some(prompt) = &turn.prompt {
        let lines = some(prompt, PROMPT_LINES, room.saturating_sub(2));
        let mark =
            |(k, line): (usize, String)| (PROMPT, format!("{}{line}", if k == 0 { "> " } else { "  " }));
        rows.extend(lines.into_iter().enumerate().map(mark));
    }
    for call in turn.calls.iter().take(CALLS) {
        let failed = call.result.as_ref().is_none_or(|result| result.is_error);
        let end = match &call.result {
            None => " no result",
            Some(_) if failed => " ✗",
            Some(_) => "",
        };
        let said = format!("  ● {}  {}", clean::line(&call.name), summary::gist(call, folder));
        let said = format!("{}{end}", truncate_to_width(&said, room.saturating_sub(end.width())));
        rows.push((if failed { BAD } else { TOOL }, said));
    }
    if turn.calls.len() > CALLS {
        rows.push((QUIET, format!("  … {}", things((turn.calls.len() - CALLS) as u64, "more call"))));
    }
    if let Some(answer) = &turn.answer {
        let lines = some(answer, ANSWER_LINES, room.saturating_sub(2));
        rows.extend(lines.into_iter().map(|line| (PLAIN, format!("  {line}"))));
    }
    if let Some(error) = &turn.error {
        rows.push((BAD, truncate_to_width(&format!("  ✗ {}", clean::line(error)), room)));
    }
    if turn.stopped {
        rows.push((MARK, "  ■ stopped by the user".to_owned()));
    }
    rows
}

/// Wraps the beginning of a text; a last line that is not the end says so.
fn some(text: &str, most: usize, room: usize) -> Vec<String> {
    let lines = layout::wrap(text.trim(), "", room);
    let mut lines: Vec<String> = lines.into_iter().filter(|line| !line.trim().is_empty()).collect();
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = truncate_to_width(&format!("{last} …"), room);
        }
    }
    lines.into_iter().map(|line| truncate_to_width(&line, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn an_entry_stands_behind_the_last_colon() {
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
            assert_eq!(split(word), parts, "{word}");
        }
    }
}
