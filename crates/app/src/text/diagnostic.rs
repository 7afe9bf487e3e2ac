//! Texts of doctor findings: names, consequences and fixes.

use rethread_engine::core::check::{Code, Diagnostic, Impact, Severity, SuggestedFix};
use rethread_engine::core::resume::KNOWN_CLIENTS;
use rethread_engine::ops::doctor::{SessionReport, StoreCode, StoreFinding};

use super::clean;
use super::command::build_command;
use super::figures::{count_noun, format_size, format_tokens, group_digits};
use super::layout::truncate_to_width;

/// The newest client that was measured.
const NEWEST_CLIENT: &str = KNOWN_CLIENTS[KNOWN_CLIENTS.len() - 1];

/// The maximum number of line numbers listed per finding.
const MAX_LISTED_LINES: usize = 6;

/// Advice on how to fix a finding.
pub(crate) struct FixHint {
    /// A command or an instruction.
    pub(crate) text: String,
    /// Whether the text is a command line that the user can run.
    pub(crate) is_command: bool,
}

fn command_hint(words: &[&str]) -> Option<FixHint> {
    Some(FixHint { text: build_command(words), is_command: true })
}

fn advice_hint(text: impl Into<String>) -> Option<FixHint> {
    Some(FixHint { text: text.into(), is_command: false })
}

/// Returns the name of a diagnostic code as shown to users.
pub(crate) fn code_name(code: Code) -> &'static str {
    match code {
        Code::ClientHangs => "the client freezes",
        Code::NoConversation => "no conversation found",
        Code::NoEntry => "nothing readable",
        Code::UnpairedCall => "tool call without a result",
        Code::UnpairedResult => "tool result without a call",
        Code::ThinkingUnsigned => "unsigned thinking",
        Code::ThinkingLast => "answer ends with thinking",
        Code::ThinkingEmptied => "thinking without text",
        Code::EmptyContent => "empty message",
        Code::ImageTooLarge => "image too large",
        Code::ImageMislabelled => "wrong image type",
        Code::ContextOverWindow => "context too large",
        Code::Unreachable => "unreachable entries",
        Code::StaleLeaf => "resumes an older branch",
        Code::MissingParent => "missing parent",
        Code::MissingLogicalParent => "compaction without a predecessor",
        Code::Cycle => "cycle of parents",
        Code::ReplayedLine => "repeated line",
        Code::SnapshotCollision => "snapshot with the uuid of an entry",
        Code::CopiedEntry => "copied entry",
        Code::RepeatedUuid => "repeated uuid",
        Code::ForkByProgress => "fork at a progress line",
        Code::RetryOrphan => "answer replaced by a retry",
        Code::TwoWriters => "two clients wrote at once",
        Code::ForeignLines => "lines of another session",
        Code::TornLine => "incomplete last line",
        Code::GluedLine => "several records on one line",
        Code::NulBytes => "NUL bytes",
        Code::NotJson => "not JSON",
    }
}

/// Returns the name of a diagnostic code of the store as shown to users.
pub(crate) fn store_code_name(code: StoreCode) -> &'static str {
    match code {
        StoreCode::RetentionZero => "retention is zero",
        StoreCode::RetentionUnreadable => "unreadable retention setting",
        StoreCode::RetentionShort => "short retention",
        StoreCode::RetentionUnset => "retention not set",
        StoreCode::DesktopRetention => "retention of desktop sessions",
        StoreCode::ExpiresSoon => "sessions about to be lost",
        StoreCode::ExpiresArchived => "archived sessions about to be deleted",
        StoreCode::ArchiveMissing => "no archive",
        StoreCode::ArchiveOld => "old archive",
        StoreCode::OrphanedFolder => "folder without a session",
        StoreCode::ProjectGone => "deleted project folder",
    }
}

/// Returns the number of findings by severity, or that there are no problems.
pub(crate) fn summarize_findings(report: &SessionReport) -> String {
    let [errors, warnings, infos] = [Severity::Error, Severity::Warning, Severity::Info]
        .map(|severity| report.count_findings(severity) as u64);
    let counts = [(errors, "error"), (warnings, "warning")].into_iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<String> = counts.map(|(count, noun)| count_noun(count, noun)).collect();
    if parts.is_empty() {
        parts.push("no problems".to_owned());
    }
    parts.extend((infos > 0).then(|| format!("{} info", group_digits(infos))));
    parts.join(", ")
}

/// Lists the line numbers of the first 6 lines of a finding, each once: `L3 L5 … 2 more`.
pub(crate) fn line_list(finding: &Diagnostic) -> String {
    let mut lines: Vec<u32> = finding.locations.iter().map(|location| location.line).collect();
    lines.dedup();
    let mut listed: Vec<String> =
        lines.iter().take(MAX_LISTED_LINES).map(|line| format!("L{line}")).collect();
    if lines.len() > MAX_LISTED_LINES {
        listed.push(format!("… {} more", group_digits((lines.len() - MAX_LISTED_LINES) as u64)));
    }
    listed.join(" ")
}

/// Returns advice on how to fix a finding. `session` is the session name to use in commands.
///
/// Returns `None` if there is nothing to fix, or the entry to go to is not among the locations.
pub(crate) fn fix_hint(finding: &Diagnostic, session: &str) -> Option<FixHint> {
    match finding.fix {
        SuggestedFix::Nothing => None,
        SuggestedFix::Repair => command_hint(&["repair", session]),
        SuggestedFix::Branches => command_hint(&["branches", session]),
        SuggestedFix::Rescue => command_hint(&["rescue", session, "--fit", "120k"]),
        SuggestedFix::Goto(node) => {
            let location = finding.locations.iter().find(|location| location.node == Some(node))?;
            command_hint(&["goto", session, &format!("L{}", location.line)])
        }
        SuggestedFix::Wait => advice_hint("a client has the session open: check again when it has finished"),
    }
}

/// Describes a finding and its consequence for the user in one sentence. `report` is the report that contains it.
pub(crate) fn describe_finding(finding: &Diagnostic, report: &SessionReport) -> String {
    let count = finding.locations.len() as u64;
    let client = format!("Claude Code {}", truncate_to_width(&clean::line(&report.client.text), 24));
    let is_info = finding.severity == Severity::Info;
    match finding.code {
        Code::ClientHangs => {
            format!(
                "{client} freezes when it loads this session; none of its {} can be loaded",
                count_noun(count, "entry")
            )
        }
        Code::NoConversation => {
            format!(
                "{client} finds no conversation; none of its {} can be loaded",
                count_noun(count, "entry")
            )
        }
        Code::NoEntry => "no line can be read: the file is no session, or all of it is damaged".to_owned(),
        Code::Unreachable | Code::StaleLeaf => describe_unreachable(finding, report, &client),
        Code::UnpairedCall | Code::UnpairedResult | Code::EmptyContent if is_info => {
            describe_tolerated(finding, &client)
        }
        Code::UnpairedCall => describe_rejected(count, "tool call", "has no result in the next message"),
        Code::UnpairedResult => {
            describe_rejected(count, "tool result", "has no call in the previous message")
        }
        Code::ThinkingUnsigned => describe_rejected(count, "thinking block", "has no signature"),
        Code::ThinkingLast => describe_rejected(count, "answer", "ends with a thinking block"),
        Code::EmptyContent => describe_rejected(count, "text", "is empty"),
        Code::ThinkingEmptied => {
            format!(
                "{} with a signature but no text, as recorded for newer models",
                count_noun(count, "thinking block")
            )
        }
        Code::ImageTooLarge | Code::ImageMislabelled => describe_image(finding),
        Code::ContextOverWindow => describe_context_size(finding),
        Code::TornLine | Code::GluedLine | Code::NulBytes | Code::NotJson => describe_damaged_lines(finding),
        _ => describe_links(finding),
    }
}

/// States that the API rejects the session because of `count` items. `noun` and `reason` are singular.
fn describe_rejected(count: u64, noun: &str, reason: &str) -> String {
    let reason = match count {
        1 => reason.to_owned(),
        _ => reason.replacen("has ", "have ", 1).replacen("ends ", "end ", 1).replacen("is ", "are ", 1),
    };
    format!("the API rejects every prompt: {} {reason}", count_noun(count, noun))
}

/// Describes unpaired calls, unpaired results or empty messages that do not prevent a resume.
fn describe_tolerated(finding: &Diagnostic, client: &str) -> String {
    let count = finding.locations.len() as u64;
    let pronoun = if count == 1 { "it" } else { "them" };
    match finding.code {
        Code::UnpairedCall => {
            let calls = count_noun(count, "tool call");
            format!("{calls} without a result; {client} omits {pronoun} or adds a placeholder result")
        }
        Code::UnpairedResult => {
            format!("{} without a call; {client} omits {pronoun}", count_noun(count, "tool result"))
        }
        _ => {
            let messages = count_noun(count, "message");
            format!("{messages} without text; the API accepted {pronoun} before, or {client} omits {pronoun}")
        }
    }
}

/// Describes how many entries a resume loads, and why it does not load the others.
fn describe_unreachable(finding: &Diagnostic, report: &SessionReport, client: &str) -> String {
    let (loaded, entries) = (report.loaded as u64, report.entries as u64);
    let loaded_text = format!("a resume loads {} of {}", group_digits(loaded), count_noun(entries, "entry"));
    match finding.impact {
        Impact::ByClient { affected, total } => {
            let (affected, total) = (group_digits(affected), count_noun(total, "entry"));
            format!("{client} loses {affected} of {total}; Claude Code {NEWEST_CLIENT} does not")
        }
        Impact::ByNewest { affected, total } => {
            let (affected, total) = (group_digits(affected), count_noun(total, "entry"));
            format!("Claude Code {NEWEST_CLIENT} loses {affected} of {total}; {client} does not")
        }
        Impact::Entries { affected, .. } if finding.code == Code::StaleLeaf => {
            let later_entries = count_noun(affected, "entry");
            format!("{loaded_text}, from an older branch: {later_entries} written later would not be loaded")
        }
        Impact::Entries { affected, .. } if finding.severity == Severity::Info => {
            format!(
                "{} on other branches, for example after a rewind; nothing is damaged",
                count_noun(affected, "entry")
            )
        }
        Impact::Entries { affected, .. } if finding.fix == SuggestedFix::Branches => {
            format!("{loaded_text}; {} on a branch that grew at the same time", count_noun(affected, "entry"))
        }
        Impact::Entries { affected: 1, .. } => format!("{loaded_text}; 1 is unreachable"),
        Impact::Entries { affected, .. } => {
            format!("{loaded_text}; {} are unreachable", group_digits(affected))
        }
        _ => loaded_text,
    }
}

/// Describes images that the API rejects: wrong media type, too many pixels or too many bytes.
fn describe_image(finding: &Diagnostic) -> String {
    let count = finding.locations.len() as u64;
    let rejected = "the API rejects every prompt";
    match finding.impact {
        Impact::Formats { declared, actual } => {
            format!(
                "{rejected}: {} with the wrong media type; the first is labelled {} but is {}",
                count_noun(count, "image"),
                declared.name(),
                actual.name()
            )
        }
        Impact::Image { bytes, size: Some((width, height)), max_side } if width.max(height) > max_side => {
            let condition = if max_side < 8000 { " if there are more than 20 images" } else { "" };
            let size_suffix =
                if bytes > 5 << 20 { format!(" and {}", format_size(bytes)) } else { String::new() };
            format!(
                "{rejected}: {} too large; the largest has {width} × {height} pixels{size_suffix}, the limit is {max_side}{condition}",
                count_noun(count, "image")
            )
        }
        Impact::Image { bytes, .. } => {
            format!(
                "{rejected}: {} too large; the largest has {} of base64, the limit is 5.2 MB",
                count_noun(count, "image"),
                format_size(bytes)
            )
        }
        _ => rejected.to_owned(),
    }
}

fn describe_context_size(finding: &Diagnostic) -> String {
    match finding.impact {
        Impact::Tokens { tokens, window } => format!(
            "about {} tokens are sent, but the model accepts {}: the session is too long to resume or to compact",
            format_tokens(tokens),
            format_tokens(window)
        ),
        _ => "the session is too long to resume".to_owned(),
    }
}

/// Describes lines that are not one valid JSON record, and how many records can be recovered.
fn describe_damaged_lines(finding: &Diagnostic) -> String {
    let count = finding.locations.len() as u64;
    let records = match finding.impact {
        Impact::Records(records) => records,
        _ => 0,
    };
    let lines = count_noun(count, "line");
    let damage = match finding.code {
        Code::TornLine => {
            return format!(
                "{lines} is incomplete: the rest is lost, and the next line may be appended to it"
            );
        }
        Code::GluedLine => format!("{lines} with several records, or a partial record before a complete one"),
        Code::NulBytes => format!("{lines} with NUL bytes"),
        _ => format!("{lines} that cannot be parsed as JSON"),
    };
    let them = if count == 1 { "it" } else { "them" };
    match (records, finding.severity) {
        (0, Severity::Info) => format!("{damage}; clients skip {them}, and no entry has its parent there"),
        (0, _) => format!("{damage}; clients skip {them}, and parents are missing"),
        _ => format!("{damage}: clients skip {} that can be recovered", count_noun(records, "record")),
    }
}

/// Describes findings about uuids, parents and forks.
fn describe_links(finding: &Diagnostic) -> String {
    let count = finding.locations.len() as u64;
    let is_info = finding.severity == Severity::Info;
    let (affected, total) = match finding.impact {
        Impact::Entries { affected, total } => (affected, total),
        _ => (0, 0),
    };
    let verb = if affected == 1 { "is" } else { "are" };
    let lost = format!("{} of {} {verb} unreachable", group_digits(affected), count_noun(total, "entry"));
    let entries = count_noun(count, "entry");
    match finding.code {
        Code::MissingParent if is_info => {
            format!("{entries} with a parent that is not in the file; a resume loses nothing")
        }
        Code::MissingParent => format!("{entries} with a parent that is not in the file: {lost}"),
        Code::MissingLogicalParent => format!(
            "the predecessor of {} is not in the file; rethread uses the previous line",
            count_noun(count, "compaction")
        ),
        Code::Cycle if is_info => {
            format!("{entries} with parents that form a cycle, outside the loaded path")
        }
        Code::Cycle => format!("{entries} with parents that form a cycle: {lost}"),
        Code::ReplayedLine => {
            let bytes = if let Impact::Bytes(bytes) = finding.impact { bytes } else { 0 };
            format!("{} repeated byte for byte, wasting {}", count_noun(count, "line"), format_size(bytes))
        }
        Code::SnapshotCollision => format!("{} with the uuid of an entry", count_noun(count, "snapshot")),
        Code::CopiedEntry => format!(
            "{} written again with the same text by a resume or a compaction; the later line counts",
            count_noun(count, "entry")
        ),
        Code::RepeatedUuid => {
            format!(
                "{} with the uuid of another entry: the earlier one is hidden",
                count_noun(count, "entry")
            )
        }
        Code::ForkByProgress if is_info => format!(
            "{} in or next to the chain of messages: old clients stop there, this one does not",
            count_noun(count, "progress line")
        ),
        Code::ForkByProgress => {
            format!("{} in or next to the chain of messages: {lost}", count_noun(count, "progress line"))
        }
        Code::RetryOrphan if is_info => format!("{} replaced by a retry", count_noun(count, "answer")),
        Code::RetryOrphan => {
            format!("{} replaced by a retry, with messages below it", count_noun(count, "answer"))
        }
        Code::TwoWriters if is_info => {
            format!("{} written at the same time; all of them are loaded", count_noun(count, "branch"))
        }
        Code::TwoWriters => {
            format!("two clients wrote at the same time and only one branch is loaded: {lost}")
        }
        Code::ForeignLines if is_info => {
            format!("{} of another session in this file", count_noun(count, "line"))
        }
        Code::ForeignLines => {
            format!("a resume loads {} of another session", count_noun(count, "line"))
        }
        _ => count_noun(count, "location"),
    }
}

/// Describes a finding about the store and its consequence for the user.
pub(crate) fn describe_store_finding(finding: &StoreFinding) -> String {
    let count = finding.paths.len() as u64;
    let days = count_noun(finding.days.unwrap_or(0), "day");
    match finding.code {
        StoreCode::RetentionZero => "cleanupPeriodDays is 0, which does not mean forever: older clients save no sessions, newer ones reject the setting".to_owned(),
        StoreCode::RetentionUnreadable => "cleanupPeriodDays or the settings cannot be read; the client may use its default of 30 days".to_owned(),
        StoreCode::RetentionShort => format!("the client deletes sessions {days} after their last change"),
        StoreCode::RetentionUnset => format!("cleanupPeriodDays is not set: the client deletes sessions {days} after their last change"),
        StoreCode::DesktopRetention => format!("desktopSessionCleanupPeriodDays is set: sessions of the desktop application are deleted {days} after their last change"),
        StoreCode::ArchiveMissing => "no copies of the sessions are kept: what the client deletes is lost".to_owned(),
        StoreCode::ArchiveOld => format!("the archive was last brought up to date {days} ago: newer content would be lost"),
        StoreCode::ExpiresSoon | StoreCode::ExpiresArchived => {
            let archived = if finding.code == StoreCode::ExpiresSoon { "not all of it is in the archive" } else { "all of it is in the archive" };
            let due = if finding.due_count > 0 { format!(", {} of them at its next start", group_digits(finding.due_count as u64)) } else { String::new() };
            format!("the client deletes {} within 7 days, {}{due}; {archived}", count_noun(count, "session"), format_size(finding.bytes))
        }
        StoreCode::OrphanedFolder => format!("{} of deleted sessions, {}", count_noun(count, "folder"), format_size(finding.bytes)),
        StoreCode::ProjectGone => format!("{} of a deleted project folder: the client can resume them only from that folder", count_noun(count, "session")),
    }
}

/// Returns advice on how to fix a finding about the store. Returns `None` if there is nothing to fix.
pub(crate) fn store_fix_hint(finding: &StoreFinding) -> Option<FixHint> {
    match finding.code {
        StoreCode::OrphanedFolder | StoreCode::ExpiresArchived => None,
        StoreCode::ProjectGone => command_hint(&["clone", "SESSION", "--into", "FOLDER"]),
        StoreCode::ExpiresSoon | StoreCode::ArchiveMissing | StoreCode::ArchiveOld => {
            command_hint(&["archive"])
        }
        StoreCode::DesktopRetention => {
            advice_hint("set \"desktopSessionCleanupPeriodDays\": 0 in settings.json to keep them")
        }
        _ => advice_hint("set \"cleanupPeriodDays\": 3650 in settings.json"),
    }
}
