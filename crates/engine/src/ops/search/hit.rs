//! A hit, told: where it stands, and the words in context.

use std::path::{Path, PathBuf};

use rethread_core::entry::Timestamp;
use rethread_core::query::Excerpt;
use rethread_core::session::Title;

use crate::session::match_context::ContextStatus;

/// An entry that is what was looked for.
#[derive(Debug, Clone)]
pub struct SearchHit {
    /// The id of its session.
    pub session: String,
    /// What the session is called.
    pub title: Title,
    /// The folder the session was started in.
    pub project: String,
    /// The file of the session; of a subagent's entry, that of the session it belongs to, where there is one.
    pub session_path: PathBuf,
    /// The file that holds it.
    pub path: PathBuf,
    /// The subagent that says it, by the name of its file.
    pub agent: Option<String>,
    /// Whether it stands in a file of its own beside the session: a large result of a tool.
    pub beside: bool,
    /// Its line.
    pub line: u32,
    /// Its uuid.
    pub uuid: Option<String>,
    /// The number of its turn.
    pub turn: Option<u32>,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// The words in context.
    pub excerpt: Excerpt,
    /// How it stands to what the client would load.
    pub standing: ContextStatus,
    /// Whether it says itself that it was copied from another session.
    pub copied: bool,
    /// The same entry elsewhere; it is counted once.
    pub copies: Vec<DuplicateHit>,
    /// How well it fits.
    pub score: u32,
}

impl SearchHit {
    /// Returns the id of the subagent that says it, as a list of subagents calls it.
    pub fn agent_id(&self) -> Option<&str> {
        self.agent.as_deref().map(|stem| stem.strip_prefix("agent-").unwrap_or(stem))
    }
}

/// The hits in one session.
#[derive(Debug, Clone)]
pub struct SessionHits {
    /// The best of them.
    pub best: SearchHit,
    /// How many.
    pub hits: usize,
    /// When the newest was written.
    pub last: Option<Timestamp>,
}

/// A copy of a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateHit {
    /// In which session.
    pub session: String,
    /// In which file.
    pub path: PathBuf,
    /// On which line.
    pub line: u32,
    /// How it stands there, where that was looked at: only where the hit itself is not remembered.
    pub standing: Option<ContextStatus>,
}

/// Finds the file of the session that a subagent or a result belongs to.
pub(super) fn session_of(path: &Path, session: &str) -> Option<PathBuf> {
    let mut folders = path.ancestors().skip(1);
    folders.find_map(|folder| Some(folder.join(format!("{session}.jsonl"))).filter(|file| file.is_file()))
}
