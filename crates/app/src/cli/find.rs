//! `rethread find`: entries that hold some words, with what stands around them.

use rethread_engine::core::entry::{EntryRole, Timestamp};
use rethread_engine::core::query::{Hit, Needle, TextSource};
use rethread_engine::ops::{self, ContextStatus, Find, FindRequest, Match, NearbyEntry};
use unicode_width::UnicodeWidthStr;

use super::args::{self, Role};
use super::error::{CliError, Exit};
use super::figures::{count, things};
use super::out::Out;
use super::style::{FOUND, MARK, NAME, PLAIN, PROMPT, QUIET, TOOL, paint};
use super::table::{fit_end, truncate_to_width};
use super::{AppContext, clean, summary};
use crate::json;

/// Entries shown below a match.
const BELOW: usize = 3;
/// Texts quoted of one entry.
const QUOTED: usize = 3;
/// Lines wider than this are tiring to read.
const WIDEST: usize = 120;

/// Runs the command.
pub(crate) fn run(args: &args::Find, place: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let needle = needle(args)?;
    let request = FindRequest {
        path: place.session(&args.session)?,
        needle,
        sources: args.role.iter().copied().map(source).collect(),
        all: args.all || args.role.contains(&Role::Context),
        ancestors: args.ancestors,
        children: BELOW,
    };
    let mut find = ops::find(&request)?;
    if find.entries == 0 {
        say_nothing(args, out);
        return Ok(Exit::Nothing);
    }
    let limit = args.limit.unwrap_or(usize::MAX);
    if out.is_json() {
        let id = find.head.id.clone();
        for _ in 0..limit {
            let Some(found) = find.next_match() else { break };
            out.json(&json::found(&id, &found?))?;
        }
        return Ok(Exit::Done);
    }
    out.may_page();
    super::header(&find.head, place, out)?;
    print(&mut find, args, place, limit, out)?;
    Ok(Exit::Done)
}

fn needle(args: &args::Find) -> Result<Needle, CliError> {
    match (&args.regex, &args.text) {
        (Some(pattern), _) => {
            Needle::pattern(pattern).map_err(|bad| CliError::BadPattern(pattern.clone(), bad.0))
        }
        (None, Some(text)) if !text.is_empty() => {
            Ok(if args.case_sensitive { Needle::exact(text) } else { Needle::smart(text) })
        }
        _ => Err(CliError::NoWords),
    }
}

fn source(role: Role) -> TextSource {
    match role {
        Role::Prompt => TextSource::Prompt,
        Role::Answer => TextSource::Answer,
        Role::Thinking => TextSource::Thinking,
        Role::Tool => TextSource::Tool,
        Role::Result => TextSource::Result,
        Role::System => TextSource::System,
        Role::Summary => TextSource::Summary,
        Role::Context => TextSource::Context,
    }
}

fn say_nothing(args: &args::Find, out: &mut Out) {
    let said = args.regex.as_ref().or(args.text.as_ref()).map(|text| clean::line(text)).unwrap_or_default();
    out.note(&format!("no entry of the session holds `{said}`"));
    let exact = args.text.as_ref().is_some_and(|text| text.chars().any(char::is_uppercase));
    let hints = [
        (exact || args.case_sensitive).then_some("lower-case letters match both cases"),
        (!args.role.is_empty()).then_some("without --role all texts are looked through"),
        (!args.all).then_some("--all also looks at attachments, progress and subagents inside the file"),
    ];
    for hint in hints.into_iter().flatten() {
        out.note(&format!("{} {hint}", paint(QUIET, "hint:")));
    }
}

fn print(
    find: &mut Find,
    args: &args::Find,
    place: &AppContext,
    limit: usize,
    out: &mut Out,
) -> Result<(), CliError> {
    let mut shown = 0;
    let mut before: Option<Timestamp> = None;
    let mut example: Option<(u32, Option<u32>)> = None;
    let folder = find.head.folder.clone();
    while shown < limit
        && let Some(found) = find.next_match()
    {
        let found = found?;
        head(&found, before, place, out)?;
        around(&found, &folder, out)?;
        out.line("")?;
        before = found.time.or(before);
        if found.whereabouts != ContextStatus::Outside && example.is_none() {
            example = Some((found.line, found.turn));
        }
        if shown == 0 {
            out.flush()?;
        }
        shown += 1;
    }
    let mut sum = format!("{} in {}", things_found(find.count), things(find.entries as u64, "entry"));
    if shown < find.entries {
        sum.push_str(&format!(", the first {} shown", count(shown as u64)));
    }
    out.line(&sum)?;
    if let Some((line, turn)) = example {
        let name = clean::line(&args.session);
        let name = if name.contains(' ') { format!("'{name}'") } else { name };
        let turn = turn.map(|turn| format!("`rethread show {name} --turns {turn}` reads its turn"));
        let branch = format!("`rethread show {name} --branch L{line}` reads its branch");
        let tree = format!("`rethread tree {name} L{line}` shows where it is");
        for (k, hint) in turn.into_iter().chain([branch, tree]).enumerate() {
            let lead = if k == 0 { format!("L{line}:") } else { " ".repeat(line.to_string().len() + 2) };
            out.note(&paint(QUIET, &format!("{lead} {hint}")));
        }
    }
    Ok(())
}

fn things_found(number: usize) -> String {
    format!("{} {}", count(number as u64), if number == 1 { "match" } else { "matches" })
}

/// Prints the names of the entry, who speaks, when, and how it stands to the active path.
fn head(found: &Match, before: Option<Timestamp>, place: &AppContext, out: &mut Out) -> Result<(), CliError> {
    let mark =
        if found.whereabouts == ContextStatus::Active { paint(NAME, "●") } else { paint(MARK, "○") };
    let mut names = vec![format!("L{}", found.line)];
    names.extend(found.turn.map(|turn| format!("t{turn}")));
    names.extend(found.uuid.as_deref().map(|uuid| clean::line(uuid).chars().take(8).collect()));
    let voice = match found.voice {
        EntryRole::State => found.kind.name(),
        voice => voice.name(),
    };
    let time = found.time.map(|time| place.clock.second(time, before)).unwrap_or_default();
    let place = whereabouts(found);
    let facts: Vec<String> = [voice.to_owned(), time, place].into_iter().filter(|f| !f.is_empty()).collect();
    let names = names.join("  ");
    let room = out.width().saturating_sub(2 + names.width() + 2);
    let facts = truncate_to_width(&facts.join(" · "), room);
    out.line(&format!("{mark} {}  {}", paint(NAME, &names), paint(QUIET, &facts)))
}

fn whereabouts(found: &Match) -> String {
    let place = match found.whereabouts {
        ContextStatus::Active => "active path",
        ContextStatus::Compacted => "before a compaction",
        ContextStatus::Aside => "other branch",
        ContextStatus::Island => "island: its first parent is not in the file",
        ContextStatus::Agent => "subagent",
        ContextStatus::Outside => "beside the conversation",
    };
    match found.tip {
        Some(tip) if tip == found.line => format!("{place}, its tip"),
        Some(tip) => format!("{place}, tip L{tip}"),
        None => place.to_owned(),
    }
}

/// Prints what stands above the match, the match, and what stands below it.
fn around(found: &Match, folder: &str, out: &mut Out) -> Result<(), CliError> {
    let near = || found.above.iter().chain(&found.below);
    let widest = near().map(|near| near.line).max().unwrap_or(0).to_string().len() + 1;
    for above in &found.above {
        out.line(&line_of(above, "│", widest, folder, out.width()))?;
    }
    for hit in found.found.hits.iter().take(QUOTED) {
        out.line(&quote(hit, out.width()))?;
    }
    let quoted: usize = found.found.hits.iter().take(QUOTED).map(|hit| hit.count).sum();
    if quoted < found.found.count {
        out.line(&paint(QUIET, &format!("    {} more here", count((found.found.count - quoted) as u64))))?;
    }
    for (k, below) in found.below.iter().enumerate() {
        let last = k + 1 == found.below.len() && found.more_below == 0;
        out.line(&line_of(below, if last { "└" } else { "├" }, widest, folder, out.width()))?;
    }
    if found.more_below > 0 {
        out.line(&paint(QUIET, &format!("  └ {} more below", count(found.more_below as u64))))?;
    }
    Ok(())
}

/// Draws an entry near a match on one line.
fn line_of(near: &NearbyEntry, joint: &str, widest: usize, folder: &str, width: usize) -> String {
    let line = format!("L{}", near.line);
    let (style, mark) = match near.voice {
        EntryRole::Prompt | EntryRole::Command | EntryRole::Shell | EntryRole::ImageOnly => (PROMPT, "> "),
        EntryRole::Results => (QUIET, "↳ "),
        EntryRole::Answer if near.call.is_some() => (TOOL, "● "),
        EntryRole::Answer => (PLAIN, "  "),
        _ => (QUIET, "· "),
    };
    let text = match &near.call {
        Some(call) => format!("{}  {}", clean::line(&call.name), summary::gist(call, folder)),
        None if near.words.trim().is_empty() => match near.voice {
            EntryRole::Answer => "(thinking)".to_owned(),
            voice => format!("({})", voice.name()),
        },
        None => clean::line(&near.words),
    };
    let room = width.min(WIDEST).saturating_sub(4 + widest + 2 + 2);
    let text = truncate_to_width(&format!("{mark}{text}"), room + 2);
    format!(
        "  {} {}  {}",
        paint(QUIET, joint),
        paint(QUIET, &format!("{line:<widest$}")),
        paint(style, &text)
    )
}

/// Draws the words around a match on one line, the match marked and never cut away.
fn quote(hit: &Hit, width: usize) -> String {
    let label = match (&hit.tool, hit.source) {
        (Some(tool), _) => format!("{}: ", clean::line(tool)),
        (None, TextSource::Prompt | TextSource::Answer) => String::new(),
        (None, source) => format!("{}: ", source.name()),
    };
    let room = width.min(WIDEST).saturating_sub(4 + label.width()).max(20);
    let end = |text: &str| if text.ends_with(char::is_whitespace) { " " } else { "" };
    let start = |text: &str| if text.starts_with(char::is_whitespace) { " " } else { "" };
    let words = clean::line(&hit.words);
    let words = truncate_to_width(&format!("{}{words}{}", start(&hit.words), end(&hit.words)), room);
    let before = clean::line(&hit.before);
    let before = if before.is_empty() { before } else { format!("{before}{}", end(&hit.before)) };
    let behind = clean::line(&hit.after);
    let behind = if behind.is_empty() { behind } else { format!("{}{behind}", start(&hit.after)) };
    let left = room.saturating_sub(words.width());
    // What stands behind usually says more; what it does not need goes to what stands before.
    let most_before = (left / 3).max(left.saturating_sub(behind.width() + usize::from(!hit.ends)));
    let mut before = fit_end(&before, most_before);
    if !hit.starts && !before.starts_with('…') {
        before = fit_end(&format!("…{before}"), most_before);
    }
    let mut behind = truncate_to_width(&behind, left.saturating_sub(before.width()));
    if !hit.ends && !behind.ends_with('…') {
        behind = truncate_to_width(&format!("{behind}…"), left.saturating_sub(before.width()));
    }
    format!("  {} {}{before}{}{behind}", paint(MARK, "▶"), paint(QUIET, &label), paint(FOUND, &words))
}
