//! `rescue`: creates a trimmed copy of a session that fits into the context window again.

use std::path::PathBuf;

use rethread_core::edit::{format_timestamp, quote_json};
use rethread_core::entry::Timestamp;
use rethread_core::tree::NodeId;
use rethread_core::trim::{Escalation, EscalationStep, NotePosition, TrimmedPath, escalate};

use crate::Error;
use crate::disk::LineReader;
use crate::edit::trimmed_copy::{CopyOptions, CopyScope, SessionTrimmer, TrimmedCopy};
use crate::writer::SessionWriter;

/// Options of [`rescue`].
#[derive(Debug, Clone, Default)]
pub struct RescueRequest {
    /// The session file.
    pub path: PathBuf,
    /// An entry of the branch to copy. By default, the active branch is copied.
    pub branch: Option<String>,
    /// The maximum number of tokens of the copy.
    pub max_tokens: u64,
    /// The title of the copy. By default, it is derived from that of the origin.
    pub title: Option<String>,
    /// The current time. New lines are always dated after the newest entry, also with the default.
    pub now: Timestamp,
    /// Report the copy without writing it.
    pub dry_run: bool,
}

/// The result of [`rescue`].
#[derive(Debug)]
pub struct RescueOutcome {
    /// The estimated number of tokens of the branch.
    pub tokens_before: u64,
    /// The applied trim steps, in the order of their application.
    pub steps: Vec<EscalationStep>,
    /// The copy. `None` if the session already fits.
    pub copy: Option<TrimmedCopy>,
}

/// The maximum number of attempts to trim, because the note may make a copy too large.
const MAX_ATTEMPTS: usize = 3;

/// Creates a trimmed copy of a session with at most `max_tokens` tokens. Creates no copy if the session fits.
///
/// Returns [`Error::CannotFit`] if the session is too large even after all trim steps.
pub fn rescue(request: &RescueRequest, writer: &SessionWriter) -> Result<RescueOutcome, Error> {
    let mut trimmer = SessionTrimmer::open(&request.path, request.branch.as_deref())?;
    let tokens_before = trimmer.trim_input().tokens();
    if tokens_before <= request.max_tokens {
        return Ok(RescueOutcome { tokens_before, steps: Vec::new(), copy: None });
    }
    let mut lines = LineReader::open(&request.path).map_err(Error::reading(&request.path))?;
    let note_uuid = uuid::Uuid::new_v4().to_string();
    let new_session_id = uuid::Uuid::new_v4().to_string();
    let (mut target_tokens, mut smallest) = (request.max_tokens, u64::MAX);
    for _ in 0..MAX_ATTEMPTS {
        let read_span = |span| lines.read_span(span).map_err(Error::reading(&request.path));
        let Escalation { steps, trimmed, tokens, fits } =
            escalate(&trimmer.trim_input(), target_tokens, &note_uuid, read_span)?;
        let note_line = trimmed
            .note
            .as_ref()
            .map(|position| build_note_line(&mut trimmer, position, &trimmed, &new_session_id, &note_uuid));
        // The note takes up tokens, too.
        let total = tokens + note_line.as_ref().map_or(0, |line| line.len() as u64 / 4);
        smallest = smallest.min(total);
        if total > request.max_tokens {
            if !fits {
                break;
            }
            target_tokens = target_tokens.saturating_sub(total - request.max_tokens);
            continue;
        }
        let options = CopyOptions {
            command: "rescue",
            title_suffix: "rescued".to_owned(),
            title: request.title.clone(),
            project: None,
            scope: CopyScope::Path,
            copy_backups: false,
            now: request.now,
            dry_run: request.dry_run,
        };
        let copy =
            trimmer.write_copy(trimmed, note_line.map(|line| (new_session_id, line)), options, writer)?;
        return Ok(RescueOutcome { tokens_before, steps, copy: Some(copy) });
    }
    Err(Error::CannotFit { fit: request.max_tokens, min: smallest })
}

/// The maximum number of prompts that a note repeats.
const MAX_PROMPTS: usize = 40;
/// The maximum number of characters of each prompt.
const MAX_PROMPT_CHARS: usize = 80;

/// Builds the user line that replaces the removed turns and quotes their prompts. `session` is the id of the new
/// session, `uuid` that of the line.
fn build_note_line(
    trimmer: &mut SessionTrimmer,
    position: &NotePosition,
    trimmed: &TrimmedPath,
    session: &str,
    uuid: &str,
) -> Vec<u8> {
    let is_kept =
        |node_id: NodeId| trimmed.lines.binary_search_by_key(&node_id, |(node_id, _)| *node_id).is_ok();
    let tree = &trimmer.source.session.tree;
    let is_removed_prompt = |node_id: &NodeId| {
        tree.turn_of(*node_id) == Some(*node_id) && !is_kept(*node_id) && !tree.node(*node_id).is_sidechain()
    };
    let prompts: Vec<NodeId> = trimmer.path.iter().copied().filter(is_removed_prompt).collect();
    let origin_id = trimmer.source.session.id.clone();
    let (first, last) = position.lines;
    let turns =
        if position.turns == 1 { "turn is".to_owned() } else { format!("{} turns are", position.turns) };
    let mut note = format!(
        "[Shortened by rethread to fit: the first {turns} omitted here. They are in session {origin_id}, lines {first} to {last}."
    );
    if !prompts.is_empty() {
        note += " Their prompts were:";
    }
    for &node_id in prompts.iter().take(MAX_PROMPTS) {
        let prompt = trimmer.source.read_prompt_text(node_id).unwrap_or_default();
        let prompt = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
        let short: String = prompt.chars().take(MAX_PROMPT_CHARS).collect();
        let ellipsis = if short.len() < prompt.len() { "…" } else { "" };
        note += &format!("\n- {short}{ellipsis}");
    }
    if prompts.len() > MAX_PROMPTS {
        note += &format!("\n- and {} more", prompts.len() - MAX_PROMPTS);
    }
    note.push(']');
    let origin = &trimmer.source.session;
    let field = |key: &str, value: Option<&str>| {
        value.map(|value| format!(r#","{key}":{}"#, quote_json(value))).unwrap_or_default()
    };
    let time = position.time.map(format_timestamp);
    let parent = position.parent.as_deref().map_or_else(|| "null".to_owned(), quote_json);
    let line = format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external"{}{}{}{},"type":"user","message":{{"role":"user","content":{}}},"uuid":{}{}}}"#,
        field("cwd", origin.info.cwd.as_deref()),
        field("sessionId", Some(session)),
        field("version", origin.resume_index.version()),
        field("gitBranch", origin.info.git_branch.as_deref()),
        quote_json(&note),
        quote_json(uuid),
        field("timestamp", time.as_deref()),
    );
    line.into_bytes()
}
