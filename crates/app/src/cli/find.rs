//! `rethread find`: finds text in a session and prints each match with its surroundings.

use rethread_engine::core::entry::{EntryRole, Timestamp};
use rethread_engine::core::query::{Hit, Needle, TextSource};
use rethread_engine::core::resume::ContextStatus;
use rethread_engine::ops;
use rethread_engine::ops::NearbyEntry;
use rethread_engine::ops::find::{EntryMatch, FindRequest, FindResults};
use unicode_width::UnicodeWidthStr;

use super::args;
use super::error::{CliError, Exit};
use super::figures::{count_noun, group_digits};
use super::out::Out;
use super::style::{MARK, MATCH, NAME, PLAIN, PROMPT, QUIET, TOOL, paint};
use super::table::{truncate_start, truncate_to_width};
use super::{AppContext, clean, summary};
use crate::json;
use crate::text::command::quote_command;
use crate::text::entry::role_label;

/// The maximum number of entries shown below a match.
const MAX_BELOW: usize = 3;
/// The maximum number of matches quoted per entry.
const MAX_QUOTES: usize = 3;
/// The maximum line width. Wider lines are hard to read.
const MAX_WIDTH: usize = 120;

/// Runs `rethread find`: prints each matching entry with its nearby entries, in file order.
///
/// Returns [`Exit::Nothing`] if no entry matches.
pub(crate) fn run(args: &args::Find, app: &AppContext, out: &mut Out) -> Result<Exit, CliError> {
    let needle = build_needle(args)?;
    let request = FindRequest {
        path: app.find_session(&args.session)?,
        needle,
        sources: args.role.clone(),
        all: args.all || args.role.contains(&TextSource::Context),
        max_ancestors: args.ancestors,
        max_children: MAX_BELOW,
    };
    let mut find = ops::find::find_matches(&request)?;
    if find.entry_count == 0 {
        print_no_matches(args, out);
        return Ok(Exit::Nothing);
    }
    let limit = args.limit.unwrap_or(usize::MAX);
    if out.is_json() {
        let id = find.header.id.clone();
        for _ in 0..limit {
            let Some(entry_match) = find.next() else { break };
            out.json(&json::build_entry_match(&id, &entry_match?))?;
        }
        return Ok(Exit::Done);
    }
    out.allow_pager();
    super::print_header(&find.header, app, out)?;
    print(&mut find, args, app, limit, out)?;
    Ok(Exit::Done)
}

/// Builds the search pattern from `--regex` or the text. Returns an error if it is empty or invalid.
fn build_needle(args: &args::Find) -> Result<Needle, CliError> {
    match (&args.regex, &args.text) {
        (Some(pattern), _) => {
            Needle::from_pattern(pattern).map_err(|error| CliError::BadPattern(pattern.clone(), error.0))
        }
        (None, Some(text)) if !text.is_empty() => {
            Ok(if args.case_sensitive { Needle::case_sensitive(text) } else { Needle::smart_case(text) })
        }
        _ => Err(CliError::EmptyText),
    }
}

/// Prints that nothing matched, and hints on how to widen the search.
fn print_no_matches(args: &args::Find, out: &mut Out) {
    let text = args.regex.as_ref().or(args.text.as_ref()).map(|text| clean::line(text)).unwrap_or_default();
    out.note(&format!("no matches for `{text}` in this session"));
    let has_upper_case = args.text.as_ref().is_some_and(|text| text.chars().any(char::is_uppercase));
    let hints = [
        (has_upper_case || args.case_sensitive).then_some("lower-case text matches both cases"),
        (!args.role.is_empty()).then_some("omit --role to search all roles"),
        (!args.all).then_some("use --all to include attachments, progress and subagents inside the file"),
    ];
    for hint in hints.into_iter().flatten() {
        out.note(&format!("{} {hint}", paint(QUIET, "hint:")));
    }
}

/// Prints at most `limit` matching entries, the total counts, and commands for the first linked match.
fn print(
    find: &mut FindResults,
    args: &args::Find,
    app: &AppContext,
    limit: usize,
    out: &mut Out,
) -> Result<(), CliError> {
    let mut shown = 0;
    let mut previous_time: Option<Timestamp> = None;
    let mut example: Option<(u32, Option<u32>)> = None;
    let folder = find.header.folder.clone();
    while shown < limit
        && let Some(entry_match) = find.next()
    {
        let entry_match = entry_match?;
        print_entry_header(&entry_match, previous_time, app, out)?;
        print_surroundings(&entry_match, &folder, out)?;
        out.line("")?;
        previous_time = entry_match.time.or(previous_time);
        if entry_match.context_status != ContextStatus::Unlinked && example.is_none() {
            example = Some((entry_match.line, entry_match.turn));
        }
        if shown == 0 {
            out.flush()?;
        }
        shown += 1;
    }
    let mut summary =
        format!("{} in {}", count_matches(find.match_count), count_noun(find.entry_count as u64, "entry"));
    if shown < find.entry_count {
        summary.push_str(&format!(", first {} shown", group_digits(shown as u64)));
    }
    out.line(&summary)?;
    if let Some((line, turn)) = example {
        let (name, handle) = (args.session.as_str(), format!("L{line}"));
        let turn = turn.map(|turn| quote_command(&["show", name, "--all", "--turns", &turn.to_string()]));
        let turn = turn.map(|command| format!("{command} shows its turn"));
        let branch = format!("{} shows its branch", quote_command(&["show", name, "--branch", &handle]));
        let tree = format!("{} shows its position", quote_command(&["tree", name, &handle]));
        for (idx, hint) in turn.into_iter().chain([branch, tree]).enumerate() {
            let prefix = if idx == 0 { format!("L{line}:") } else { " ".repeat(line.to_string().len() + 2) };
            out.note(&paint(QUIET, &format!("{prefix} {hint}")));
        }
    }
    Ok(())
}

fn count_matches(count: usize) -> String {
    format!("{} {}", group_digits(count as u64), if count == 1 { "match" } else { "matches" })
}

/// Prints the handles of the entry, its role, its time and its context status.
fn print_entry_header(
    entry_match: &EntryMatch,
    previous_time: Option<Timestamp>,
    app: &AppContext,
    out: &mut Out,
) -> Result<(), CliError> {
    let mark = if entry_match.context_status == ContextStatus::Active {
        paint(NAME, "●")
    } else {
        paint(MARK, "○")
    };
    let mut names = vec![format!("L{}", entry_match.line)];
    names.extend(entry_match.turn.map(|turn| format!("t{turn}")));
    names.extend(entry_match.uuid.as_deref().map(|uuid| clean::line(uuid).chars().take(8).collect()));
    let role = match entry_match.role {
        EntryRole::State => entry_match.kind.name(),
        role => role_label(role),
    };
    let time = entry_match.time.map(|time| app.clock.format_second(time, previous_time)).unwrap_or_default();
    let location = describe_status(entry_match);
    let facts: Vec<String> =
        [role.to_owned(), time, location].into_iter().filter(|f| !f.is_empty()).collect();
    let names = names.join("  ");
    let max_width = out.width().saturating_sub(2 + names.width() + 2);
    let facts = truncate_to_width(&facts.join(" · "), max_width);
    out.line(&format!("{mark} {}  {}", paint(NAME, &names), paint(QUIET, &facts)))
}

/// Describes how the entry relates to the active path, and the line of the tip of its branch.
fn describe_status(entry_match: &EntryMatch) -> String {
    let location = match entry_match.context_status {
        ContextStatus::Active => "active path",
        ContextStatus::Compacted => "before a compaction",
        ContextStatus::OtherBranch => "other branch",
        ContextStatus::Orphaned => "orphaned: its first parent is not in the file",
        ContextStatus::Subagent => "subagent",
        ContextStatus::Unlinked => "not part of the conversation",
    };
    match entry_match.tip_line {
        Some(tip) if tip == entry_match.line => format!("{location}, tip here"),
        Some(tip) => format!("{location}, tip L{tip}"),
        None => location.to_owned(),
    }
}

/// Prints the entries above the match, the match, and the entries below it.
fn print_surroundings(entry_match: &EntryMatch, folder: &str, out: &mut Out) -> Result<(), CliError> {
    let nearby_entries = || entry_match.above.iter().chain(&entry_match.below);
    let handle_width = nearby_entries().map(|entry| entry.line).max().unwrap_or(0).to_string().len() + 1;
    for above in &entry_match.above {
        out.line(&render_nearby_entry(above, "│", handle_width, folder, out.width()))?;
    }
    for hit in entry_match.matches.hits.iter().take(MAX_QUOTES) {
        out.line(&quote_match(hit, out.width()))?;
    }
    let quoted: usize = entry_match.matches.hits.iter().take(MAX_QUOTES).map(|hit| hit.count).sum();
    if quoted < entry_match.matches.count {
        out.line(&paint(
            QUIET,
            &format!("    {} more in this entry", group_digits((entry_match.matches.count - quoted) as u64)),
        ))?;
    }
    for (idx, below) in entry_match.below.iter().enumerate() {
        let is_last = idx + 1 == entry_match.below.len() && entry_match.more_below == 0;
        out.line(&render_nearby_entry(
            below,
            if is_last { "└" } else { "├" },
            handle_width,
            folder,
            out.width(),
        ))?;
    }
    if entry_match.more_below > 0 {
        out.line(&paint(QUIET, &format!("  └ {} more below", group_digits(entry_match.more_below as u64))))?;
    }
    Ok(())
}

/// Renders an entry near a match as one line of at most `width` columns. `connector` is its tree symbol.
///
/// The handle is padded to `handle_width`. Paths below `folder` become relative to it.
fn render_nearby_entry(
    entry: &NearbyEntry,
    connector: &str,
    handle_width: usize,
    folder: &str,
    width: usize,
) -> String {
    let handle = format!("L{}", entry.line);
    let (style, mark) = match entry.role {
        EntryRole::Prompt | EntryRole::Command | EntryRole::Shell | EntryRole::ImageOnly => (PROMPT, "> "),
        EntryRole::Results => (QUIET, "↳ "),
        EntryRole::Answer if entry.call.is_some() => (TOOL, "● "),
        EntryRole::Answer => (PLAIN, "  "),
        _ => (QUIET, "· "),
    };
    let text = match &entry.call {
        Some(call) => format!("{}  {}", clean::line(&call.name), summary::summarize_call(call, folder)),
        None if entry.text.trim().is_empty() => match entry.role {
            EntryRole::Answer => "(thinking)".to_owned(),
            role => format!("({})", role.name()),
        },
        None => clean::line(&entry.text),
    };
    let text_width = width.min(MAX_WIDTH).saturating_sub(4 + handle_width + 2 + 2);
    let text = truncate_to_width(&format!("{mark}{text}"), text_width + 2);
    format!(
        "  {} {}  {}",
        paint(QUIET, connector),
        paint(QUIET, &format!("{handle:<handle_width$}")),
        paint(style, &text)
    )
}

/// Renders the text around a match on one line of at most `width` columns, or 120. The match is highlighted.
///
/// Text before the match gets at most a third of the free space, unless the text after it needs less.
fn quote_match(hit: &Hit, width: usize) -> String {
    let label = match (&hit.tool, hit.source) {
        (Some(tool), _) => format!("{}: ", clean::line(tool)),
        (None, TextSource::Prompt | TextSource::Answer) => String::new(),
        (None, source) => format!("{}: ", source.name()),
    };
    let max_width = width.min(MAX_WIDTH).saturating_sub(4 + label.width()).max(20);
    let trailing_space = |text: &str| if text.ends_with(char::is_whitespace) { " " } else { "" };
    let leading_space = |text: &str| if text.starts_with(char::is_whitespace) { " " } else { "" };
    let matched = clean::line(&hit.matched);
    let matched = truncate_to_width(
        &format!("{}{matched}{}", leading_space(&hit.matched), trailing_space(&hit.matched)),
        max_width,
    );
    let before = clean::line(&hit.before);
    let before = if before.is_empty() { before } else { format!("{before}{}", trailing_space(&hit.before)) };
    let after = clean::line(&hit.after);
    let after = if after.is_empty() { after } else { format!("{}{after}", leading_space(&hit.after)) };
    let free = max_width.saturating_sub(matched.width());
    // The text after a match is usually more informative. Width that it does not need is used for the text before.
    let max_before = (free / 3).max(free.saturating_sub(after.width() + usize::from(!hit.is_text_end)));
    let mut before = truncate_start(&before, max_before);
    if !hit.is_text_start && !before.starts_with('…') {
        before = truncate_start(&format!("…{before}"), max_before);
    }
    let mut after = truncate_to_width(&after, free.saturating_sub(before.width()));
    if !hit.is_text_end && !after.ends_with('…') {
        after = truncate_to_width(&format!("{after}…"), free.saturating_sub(before.width()));
    }
    format!("  {} {}{before}{}{after}", paint(MARK, "▶"), paint(QUIET, &label), paint(MATCH, &matched))
}
