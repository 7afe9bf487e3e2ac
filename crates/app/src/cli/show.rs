//! `rethread show`: a session, turn by turn.

use rethread_engine::ops::{self, Session, Show, ShowRequest};
use unicode_width::UnicodeWidthStr;

use super::args;
use super::clean;
use super::error::{CliError, Exit};
use super::figures::{duration, size, things};
use super::out::Out;
use super::style::{BAD, MARK, NAME, QUIET, STRONG, paint};
use super::table::truncate_to_width;
use super::turn_printer::TurnPrinter;
use super::{AppContext, layout};
use crate::json;
use crate::text::folder::git_branch;

/// Runs the command.
pub(crate) fn run(args: &args::Show, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let turns = match &args.turns {
        Some(text) => Some(range(text).ok_or_else(|| CliError::BadTurns(text.clone()))?),
        None => None,
    };
    let path = place.session(&args.session)?;
    let request = ShowRequest { path, turns, branch: args.branch.clone(), everything: args.everything };
    let mut show = ops::show(&request)?;
    let id = show.session.id.clone();
    if args.raw || out.is_json() {
        return plain(&mut show, &id, args.raw, out);
    }
    out.may_page();
    header(&show.session, &id, place, out)?;
    let folder = show.session.sketch.cwd.clone().unwrap_or_default();
    let mut teller = TurnPrinter::new(args, &folder, &place.clock);
    let mut any = false;
    while let Some(told) = show.next_turn() {
        teller.turn(&told?, out)?;
        if !any {
            out.flush()?;
        }
        any = true;
    }
    let elsewhere = show.compacted + show.aside;
    if !any {
        out.note(match (turns, elsewhere) {
            (None, _) => "nothing was said",
            (Some(_), 0) => "no turn has such a number",
            (Some(_), _) => "no turn of this branch has such a number (--everything looks at all)",
        });
    }
    if elsewhere > 0 && turns.is_none() {
        let some = |count: usize, what: &str| {
            (count > 0).then(|| format!("{} {what}", things(count as u64, "turn")))
        };
        let parts = [some(show.compacted, "before a compaction"), some(show.aside, "on other branches")];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        out.line("")?;
        out.line(&paint(QUIET, &format!("not shown: {} (--everything)", parts.join(", "))))?;
    }
    Ok(Exit::found(any))
}

/// Prints lines or objects, and nothing else.
fn plain(show: &mut Show, id: &str, raw: bool, out: &mut Out) -> Result<Exit, CliError> {
    let mut any = false;
    while let Some(told) = show.next_turn() {
        let told = told?;
        if raw {
            for (_, line) in &told.raw {
                out.raw(line)?;
            }
        } else {
            out.json(&json::turn(id, &told))?;
        }
        if !any {
            out.flush()?;
        }
        any = true;
    }
    Ok(Exit::found(any))
}

/// Reads `5`, `3..9`, `3..` and `..9`, with or without a `t` before the numbers.
fn range(text: &str) -> Option<(u32, u32)> {
    let number = |text: &str| text.trim().trim_start_matches('t').parse::<u32>().ok();
    let Some((first, last)) = text.split_once("..") else {
        let turn = number(text)?;
        return Some((turn, turn));
    };
    let first = if first.is_empty() { 0 } else { number(first)? };
    let last = last.trim_start_matches('=');
    let last = if last.is_empty() { u32::MAX } else { number(last)? };
    (first <= last).then_some((first, last))
}

fn header(session: &Session, id: &str, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let sketch = &session.sketch;
    let title = clean::line(&session.title.text);
    let title = if title.is_empty() { "(nothing was said)" } else { &title };
    for line in textwrap::wrap(title, out.width()).iter().take(2) {
        out.line(&paint(STRONG, line))?;
    }
    let branch = git_branch(sketch.git_branch.as_deref());
    let folder = place.tilde(sketch.cwd.as_deref().unwrap_or_default());
    let branch = branch.map(|branch| format!("git {branch}")).unwrap_or_default();
    let (mut line, mut used) = (String::new(), 0);
    for (style, text) in [(NAME, clean::line(id)), (QUIET, folder), (QUIET, branch)] {
        let text = truncate_to_width(&text, out.width());
        if used > 0 && used + 2 + text.width() > out.width() {
            out.line(&line)?;
            (line, used) = (String::new(), 0);
        }
        let gap = if used > 0 { "  " } else { "" };
        used += gap.len() + text.width();
        line.push_str(gap);
        line.push_str(&paint(style, &text));
    }
    out.line(&line)?;
    let some = |number: usize, least: usize, one: &str| (number >= least).then(|| things(number as u64, one));
    let models: Vec<String> = sketch.models.iter().map(|model| clean::line(model)).collect();
    let facts = [
        sketch.first.zip(sketch.last).map(|(first, last)| {
            let took = duration(last.0.saturating_sub(first.0).unsigned_abs());
            format!("{} ({took})", place.clock.range(first, last))
        }),
        some(sketch.turns, 0, "turn"),
        some(sketch.branches, 2, "branch"),
        some(sketch.compactions, 1, "compaction"),
        Some(size(session.bytes)),
        (!sketch.versions.is_empty()).then(|| format!("client {}", versions(&sketch.versions))),
        (!models.is_empty()).then(|| models.join(", ")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    for line in layout::facts(&facts, out.width()) {
        out.line(&paint(QUIET, &line))?;
    }
    problems(session, out)
}

/// Says the first and the last of several versions.
fn versions(versions: &[String]) -> String {
    match versions {
        [] => String::new(),
        [one] => clean::line(one),
        [first, .., last] => format!("{} … {}", clean::line(first), clean::line(last)),
    }
}

fn problems(session: &Session, out: &mut Out) -> Result<(), CliError> {
    const MOST: usize = 4;
    let all: Vec<_> = session.problems.iter().chain(&session.tree.problems).collect();
    if all.is_empty() {
        return Ok(());
    }
    let named = |problem: &&rethread_engine::core::problem::Problem| match problem.line {
        0 => problem.kind.name().to_owned(),
        line => format!("{} at L{line}", problem.kind.name()),
    };
    let mut said: Vec<String> = all.iter().take(MOST).map(named).collect();
    if all.len() > MOST {
        said.push(format!("{} more", all.len() - MOST));
    }
    let style = if session.problems.is_empty() { MARK } else { BAD };
    let count = things(all.len() as u64, "problem");
    let lines = textwrap::wrap(&format!("{count}: {}", said.join(", ")), out.width())
        .into_iter()
        .map(|line| paint(style, &line))
        .collect::<Vec<_>>();
    lines.iter().try_for_each(|line| out.line(line))
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn turns_are_read_in_all_forms() {
        let read = ["5", "t5", "3..9", "3..", "..9", "t3..t9", "3..=9", ".."].map(range);
        let all = u32::MAX;
        assert_eq!(
            read.map(Option::unwrap),
            [(5, 5), (5, 5), (3, 9), (3, all), (0, 9), (3, 9), (3, 9), (0, all)]
        );
        assert_eq!(["", "x", "9..3", "1-2", "-1"].map(range), [None; 5]);
    }
}
