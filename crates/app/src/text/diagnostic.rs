//! What findings cost and what mends them, in words.

use rethread_engine::core::check::{Code, Diagnostic, Impact, Severity, SuggestedFix};
use rethread_engine::ops::{SessionReport, StoreCode, StoreFinding};

use super::clean;
use super::figures::{count, size, things, tokens};
use super::fit::truncate_to_width;

/// Lines that are named of one finding.
const NAMED: usize = 6;

/// What helps.
pub(crate) struct Help {
    /// A command, or what to do.
    pub(crate) text: String,
    /// Whether it can be typed.
    pub(crate) is_command: bool,
}

fn typed(text: String) -> Option<Help> {
    Some(Help { text, is_command: true })
}

fn told(text: impl Into<String>) -> Option<Help> {
    Some(Help { text: text.into(), is_command: false })
}

/// Names the lines of a finding, the first few of them, each once.
pub(crate) fn lines(finding: &Diagnostic) -> String {
    let mut lines: Vec<u32> = finding.spots.iter().map(|spot| spot.line).collect();
    lines.dedup();
    let mut named: Vec<String> = lines.iter().take(NAMED).map(|line| format!("L{line}")).collect();
    if lines.len() > NAMED {
        named.push(format!("… {} more", count((lines.len() - NAMED) as u64)));
    }
    named.join(" ")
}

/// Says what mends a finding.
pub(crate) fn mend(finding: &Diagnostic, session: &str) -> Option<Help> {
    let session = clean::line(session);
    match finding.mend {
        SuggestedFix::Nothing => None,
        SuggestedFix::Repair => typed(format!("rethread repair {session}")),
        SuggestedFix::Branches => typed(format!("rethread branches {session}")),
        SuggestedFix::Rescue => typed(format!("rethread rescue {session} --fit 120k")),
        SuggestedFix::Goto(node) => {
            let spot = finding.spots.iter().find(|spot| spot.node == Some(node))?;
            typed(format!("rethread goto {session} L{}", spot.line))
        }
        SuggestedFix::Update => told("nothing in the file: a newer Claude Code loads it all"),
        SuggestedFix::Wait => told("a client has the session open: look again when it is done"),
    }
}

/// Says what a finding costs.
pub(crate) fn cost(finding: &Diagnostic, diagnosis: &SessionReport) -> String {
    let number = finding.spots.len() as u64;
    let client = format!("Claude Code {}", truncate_to_width(&clean::line(&diagnosis.client.text), 24));
    let harmless = finding.severity == Severity::Harmless;
    match finding.code {
        Code::ClientHangs => {
            format!(
                "{client} hangs when it loads this session; none of {} can be had",
                things(number, "entry")
            )
        }
        Code::NoConversation => {
            format!("{client} finds no conversation here; none of {} can be had", things(number, "entry"))
        }
        Code::Unreachable | Code::StaleLeaf => reach(finding, diagnosis, &client),
        Code::UnpairedCall | Code::UnpairedResult | Code::EmptyContent if harmless => {
            seen_to(finding, &client)
        }
        Code::UnpairedCall => refused(number, "tool call", "has no result in the next message"),
        Code::UnpairedResult => refused(number, "tool result", "has no call in the message before"),
        Code::ThinkingUnsigned => refused(number, "thought", "has no signature"),
        Code::ThinkingLast => refused(number, "answer", "ends in a thought"),
        Code::EmptyContent => refused(number, "text", "has no words"),
        Code::ThinkingEmptied => {
            format!(
                "{}: a signature without words, as newer models are written down",
                things(number, "thought")
            )
        }
        Code::ImageTooLarge | Code::ImageMislabelled => picture(finding),
        Code::ContextOverWindow => window(finding),
        Code::TornLine | Code::GluedLine | Code::NulBytes | Code::NotJson => bytes(finding),
        _ => linked(finding),
    }
}

/// Says that the API refuses what is sent.
fn refused(number: u64, one: &str, why: &str) -> String {
    let why = match number {
        1 => why.to_owned(),
        _ => why.replacen("has ", "have ", 1).replacen("ends ", "end ", 1),
    };
    format!("the API refuses every prompt: {} {why}", things(number, one))
}

fn seen_to(finding: &Diagnostic, client: &str) -> String {
    let number = finding.spots.len() as u64;
    let them = if number == 1 { "it" } else { "them" };
    match finding.code {
        Code::UnpairedCall => {
            let calls = things(number, "tool call");
            format!("{calls} got no result; {client} leaves {them} out or makes a result up")
        }
        Code::UnpairedResult => {
            format!("{} without a call; {client} leaves {them} out", things(number, "tool result"))
        }
        _ => {
            let messages = things(number, "message");
            format!("{messages} without words; the API took {them} before, or {client} leaves {them} out")
        }
    }
}

fn reach(finding: &Diagnostic, diagnosis: &SessionReport, client: &str) -> String {
    let (loaded, entries) = (diagnosis.reach.0 as u64, diagnosis.reach.1 as u64);
    let reached = format!("a resume reaches {} of {}", count(loaded), things(entries, "entry"));
    match finding.measure {
        Impact::ByClient { part, whole } => {
            let (part, whole) = (count(part), things(whole, "entry"));
            format!(
                "{client} leaves {part} of {whole} behind, the newest client that was measured none of these"
            )
        }
        Impact::Entries { part, .. } if finding.code == Code::StaleLeaf => {
            let number = things(part, "entry");
            format!("{reached} and goes on from an older branch: {number} written later would be left behind")
        }
        Impact::Entries { part, .. } if finding.severity == Severity::Harmless => {
            format!(
                "{} on other branches, such as a rewind leaves behind; nothing is damaged",
                things(part, "entry")
            )
        }
        Impact::Entries { part: 1, .. } => format!("{reached}; 1 is cut off"),
        Impact::Entries { part, .. } => format!("{reached}; {} are cut off", count(part)),
        _ => reached,
    }
}

fn picture(finding: &Diagnostic) -> String {
    let number = finding.spots.len() as u64;
    let refused = "the API refuses every prompt";
    match finding.measure {
        Impact::Formats { says, is } => {
            format!(
                "{refused}: {} of another format, the first says {} and is {}",
                things(number, "picture"),
                says.name(),
                is.name()
            )
        }
        Impact::Picture { bytes, size: Some((width, height)), most } if width.max(height) > most => {
            let many = if most < 8000 { " where there are more than 20 pictures" } else { "" };
            let heavy = if bytes > 5 << 20 { format!(" and {}", size(bytes)) } else { String::new() };
            format!(
                "{refused}: {} too large, the worst has {width} × {height} pixels{heavy}; it takes {most}{many}",
                things(number, "picture")
            )
        }
        Impact::Picture { bytes, .. } => {
            format!(
                "{refused}: {} too large, the worst has {} of base64; it takes 5.2 MB",
                things(number, "picture"),
                size(bytes)
            )
        }
        _ => refused.to_owned(),
    }
}

fn window(finding: &Diagnostic) -> String {
    match finding.measure {
        Impact::Tokens { tokens: number, window } => format!(
            "about {} tokens are sent and the model takes {}: prompts are too long, and so is a compaction",
            tokens(number),
            tokens(window)
        ),
        _ => "prompts are too long".to_owned(),
    }
}

fn bytes(finding: &Diagnostic) -> String {
    let number = finding.spots.len() as u64;
    let records = match finding.measure {
        Impact::Records(records) => records,
        _ => 0,
    };
    let lines = things(number, "line");
    let what = match finding.code {
        Code::TornLine => {
            return format!(
                "{lines} ends in the middle: what it was to say is lost, and the next line may be glued to it"
            );
        }
        Code::GluedLine => format!("{lines} with several records, or half a record before a whole one"),
        Code::NulBytes => format!("{lines} with NUL bytes"),
        _ => format!("{lines} that no JSON reader takes"),
    };
    match (records, finding.severity) {
        (0, Severity::Harmless) => format!("{what}; clients pass over it and nothing hangs on it"),
        (0, _) => format!("{what}; clients pass over it, and parents are missing"),
        _ => format!("{what}: clients pass over {} that can be salvaged", things(records, "record")),
    }
}

/// Says what findings of uuids, parents and forks cost.
fn linked(finding: &Diagnostic) -> String {
    let number = finding.spots.len() as u64;
    let harmless = finding.severity == Severity::Harmless;
    let (part, whole) = match finding.measure {
        Impact::Entries { part, whole } => (part, whole),
        _ => (0, 0),
    };
    let are = if part == 1 { "is" } else { "are" };
    let lost = format!("{} of {} {are} out of reach", count(part), things(whole, "entry"));
    let entries = things(number, "entry");
    match finding.code {
        Code::MissingParent if harmless => {
            format!("{entries} under a parent that is in no line; a resume loses nothing by it")
        }
        Code::MissingParent => format!("{entries} under a parent that is in no line: {lost}"),
        Code::MissingLogicalParent => format!(
            "what {} followed is in no line; reading goes on at the line before",
            things(number, "compaction")
        ),
        Code::Cycle if harmless => {
            format!("{entries} with parents that go round in a circle, outside what is loaded")
        }
        Code::Cycle => format!("{entries} with parents that go round in a circle: {lost}"),
        Code::ReplayedLine => {
            let bytes = if let Impact::Bytes(bytes) = finding.measure { bytes } else { 0 };
            format!("{} again, byte for byte: {} for nothing", things(number, "line"), size(bytes))
        }
        Code::SnapshotCollision => format!("{} with the uuid of an entry", things(number, "snapshot")),
        Code::CopiedEntry => format!(
            "{} again with the same words, as a resume or a compaction copies them; the later line counts",
            things(number, "entry")
        ),
        Code::RepeatedUuid => {
            format!("{} with a uuid that another has: the earlier one is hidden", things(number, "entry"))
        }
        Code::ForkByProgress if harmless => format!(
            "{} beside or above what was said: old clients stop there, this one does not",
            things(number, "progress line")
        ),
        Code::ForkByProgress => {
            format!("{} beside or above what was said: {lost}", things(number, "progress line"))
        }
        Code::RetryOrphan if harmless => format!("{} that a retry left aside", things(number, "answer")),
        Code::RetryOrphan => {
            format!("{} that a retry left aside, and talk below it", things(number, "answer"))
        }
        Code::TwoWriters if harmless => {
            format!("{} that grew at the same time; all of it is loaded", things(number, "way"))
        }
        Code::TwoWriters => format!("two clients wrote at the same time and only one way is loaded: {lost}"),
        Code::ForeignLines if harmless => {
            format!("{} of another session beside this one", things(number, "line"))
        }
        Code::ForeignLines => {
            format!("{} of another session are what a resume loads", things(number, "line"))
        }
        _ => things(number, "place"),
    }
}

/// Says what is wrong with a store.
pub(crate) fn store_cost(finding: &StoreFinding) -> String {
    let number = finding.paths.len() as u64;
    let days = things(finding.days.unwrap_or(0), "day");
    match finding.code {
        StoreCode::RetentionZero => "cleanupPeriodDays is 0: that does not mean forever; older clients then save no session at all and newer ones refuse the setting".to_owned(),
        StoreCode::RetentionUnreadable => "cleanupPeriodDays or the settings cannot be read; the client may go by its own 30 days".to_owned(),
        StoreCode::RetentionShort => format!("the client deletes sessions {days} after their last change"),
        StoreCode::RetentionUnset => format!("cleanupPeriodDays is not set: the client deletes sessions {days} after their last change"),
        StoreCode::ExpiresSoon => {
            let due = if finding.due > 0 { format!(", {} of them at its next start", count(finding.due as u64)) } else { String::new() };
            format!("the client deletes {} within 7 days, {}{due}", things(number, "session"), size(finding.bytes))
        }
        StoreCode::OrphanedFolder => format!("{} of sessions that are gone, {}", things(number, "folder"), size(finding.bytes)),
        StoreCode::ProjectGone => format!("{} of a project folder that is gone: the client resumes them only from there", things(number, "session")),
    }
}

/// Says what mends a store.
pub(crate) fn store_mend(finding: &StoreFinding) -> Option<Help> {
    match finding.code {
        StoreCode::OrphanedFolder => None,
        StoreCode::ProjectGone => typed("rethread clone SESSION --into FOLDER".to_owned()),
        StoreCode::ExpiresSoon => told("a larger cleanupPeriodDays in settings.json, such as 3650"),
        _ => told("\"cleanupPeriodDays\": 3650 in settings.json"),
    }
}
