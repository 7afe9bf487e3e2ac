//! A copy of a session that fits the context again.

use std::path::PathBuf;

use rethread_core::edit::{format_timestamp, quote};
use rethread_core::entry::Timestamp;
use rethread_core::tree::NodeId;
use rethread_core::trim::{Escalation, EscalationStep, NotePlace, TrimmedPath, escalate};

use crate::Error;
use crate::disk::LineReader;
use crate::edit::trimmed_copy::{CopyOptions, TrimmedCopy, Trimmer};
use crate::writer::SessionWriter;

/// What to rescue.
#[derive(Debug, Clone)]
pub struct RescueRequest {
    /// The session file.
    pub path: PathBuf,
    /// The branch with this entry, instead of the one that the client goes on from.
    pub branch: Option<String>,
    /// How many tokens there is room for.
    pub fit: u64,
    /// What the copy is called.
    pub title: Option<String>,
    /// The present.
    pub now: Timestamp,
    /// Only say what would be done.
    pub dry_run: bool,
}

/// What came of it.
#[derive(Debug)]
pub struct Rescue {
    /// Tokens of the context before.
    pub before: u64,
    /// The steps that were taken.
    pub taken: Vec<EscalationStep>,
    /// The copy; `None` where the session fits as it is.
    pub copy: Option<TrimmedCopy>,
}

/// How often a copy that came out too large is tried again.
const TRIES: usize = 3;

/// Makes a copy that fits.
pub fn rescue(request: &RescueRequest, pen: &SessionWriter) -> Result<Rescue, Error> {
    let mut trimmer = Trimmer::open(&request.path, request.branch.as_deref())?;
    let before = trimmer.scene().tokens();
    if before <= request.fit {
        return Ok(Rescue { before, taken: Vec::new(), copy: None });
    }
    let mut lines = LineReader::open(&request.path).map_err(Error::reading(&request.path))?;
    let note = uuid::Uuid::new_v4().to_string();
    let id = uuid::Uuid::new_v4().to_string();
    let mut aim = request.fit;
    for _ in 0..TRIES {
        let read = |place| lines.read(place).map_err(Error::reading(&request.path));
        let Escalation { taken, cut, tokens, fits } = escalate(&trimmer.scene(), aim, &note, read)?;
        if !fits {
            return Err(Error::TooLong { fit: request.fit, least: tokens });
        }
        let line = cut.note.as_ref().map(|place| trimmer.note(place, &cut, &id, &note));
        // The note itself says something, too.
        let said = tokens + line.as_ref().map_or(0, |line| line.len() as u64 / 4);
        if said > request.fit {
            aim = aim.saturating_sub(said - request.fit);
            continue;
        }
        let wish = CopyOptions {
            command: "rescue",
            what: "rescued".to_owned(),
            title: request.title.clone(),
            into: None,
            backups: false,
            now: request.now,
            dry_run: request.dry_run,
        };
        let copy = trimmer.give(cut, line.map(|line| (id, line)), wish, pen)?;
        return Ok(Rescue { before, taken, copy: Some(copy) });
    }
    Err(Error::TooLong { fit: request.fit, least: aim })
}

/// How many prompts a note repeats, and how much of each.
const PROMPTS: usize = 40;
const WORDS: usize = 80;

impl Trimmer {
    /// Writes the line that stands for turns that went.
    fn note(&mut self, place: &NotePlace, cut: &TrimmedPath, session: &str, uuid: &str) -> Vec<u8> {
        let stays = |no: NodeId| cut.lines.binary_search_by_key(&no, |(no, _)| *no).is_ok();
        let tree = &self.source.session.tree;
        let gone =
            |no: &NodeId| tree.turn_of(*no) == Some(*no) && !stays(*no) && !tree.node(*no).is_sidechain();
        let prompts: Vec<NodeId> = self.way.iter().copied().filter(gone).collect();
        let origin = self.source.session.id.clone();
        let (first, last) = place.lines;
        let turns =
            if place.turns == 1 { "turn is".to_owned() } else { format!("{} turns are", place.turns) };
        let mut words = format!(
            "[Shortened by rethread to fit: the first {turns} left out here. They are in session {origin}, lines {first} to {last}."
        );
        if !prompts.is_empty() {
            words += " Their prompts were:";
        }
        for &no in prompts.iter().take(PROMPTS) {
            let prompt = self.source.prompt_of(no).unwrap_or_default();
            let prompt = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
            let short: String = prompt.chars().take(WORDS).collect();
            let more = if short.len() < prompt.len() { "…" } else { "" };
            words += &format!("\n- {short}{more}");
        }
        if prompts.len() > PROMPTS {
            words += &format!("\n- and {} more", prompts.len() - PROMPTS);
        }
        words.push(']');
        let session_of = &self.source.session;
        let text = |key: &str, value: Option<&str>| {
            value.map(|value| format!(r#","{key}":{}"#, quote(value))).unwrap_or_default()
        };
        let time = place.time.map(format_timestamp);
        let parent = place.parent.as_deref().map_or_else(|| "null".to_owned(), quote);
        let line = format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external"{}{}{}{},"type":"user","message":{{"role":"user","content":{}}},"uuid":{}{}}}"#,
            text("cwd", session_of.sketch.cwd.as_deref()),
            text("sessionId", Some(session)),
            text("version", session_of.facts.version()),
            text("gitBranch", session_of.sketch.git_branch.as_deref()),
            quote(&words),
            quote(uuid),
            text("timestamp", time.as_deref()),
        );
        line.into_bytes()
    }
}
