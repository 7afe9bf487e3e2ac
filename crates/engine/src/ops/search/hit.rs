//! Search hits.

use std::path::{Path, PathBuf};

use rethread_core::entry::Timestamp;
use rethread_core::query::Excerpt;
use rethread_core::resume::ContextStatus;
use rethread_core::session::Title;

use crate::disk::is_file;

/// An entry that matches a query.
#[derive(Debug, Clone)]
pub struct SearchHit {
    /// The id of the session.
    pub session: String,
    /// The title of the session.
    pub title: Title,
    /// The folder in which the session was started.
    pub project: String,
    /// The file of the session. For an entry of a subagent, the file of its session if it exists.
    pub session_path: PathBuf,
    /// The file that contains the entry.
    pub path: PathBuf,
    /// The subagent, by the name of its file. `None` if the entry belongs to the session itself.
    pub agent: Option<String>,
    /// Whether only the archive has the session.
    pub archived: bool,
    /// Whether the text is in a side file of the session: a large tool result.
    pub in_side_file: bool,
    /// The line number.
    pub line: u32,
    /// The uuid of the entry.
    pub uuid: Option<String>,
    /// The number of its turn, from 1. `None` if it belongs to no turn.
    pub turn: Option<u32>,
    /// The timestamp of the entry.
    pub time: Option<Timestamp>,
    /// The matching text with the words around it.
    pub excerpt: Excerpt,
    /// How the entry relates to the entries that the client would load.
    pub context_status: ContextStatus,
    /// Whether the entry names another session as its origin.
    pub is_copy: bool,
    /// Copies of the entry in other files or lines. All of them count as one hit.
    pub copies: Vec<DuplicateHit>,
    /// The relevance score. Higher is better.
    pub score: u32,
}

impl SearchHit {
    /// Returns the id of the subagent, as in a list of subagents. Returns `None` if the entry is not in a subagent file.
    pub fn agent_id(&self) -> Option<&str> {
        self.agent.as_deref().map(|stem| stem.strip_prefix("agent-").unwrap_or(stem))
    }
}

/// The hits in one session.
#[derive(Debug, Clone)]
pub struct SessionHits {
    /// The best hit.
    pub best: SearchHit,
    /// The number of hits.
    pub hit_count: usize,
    /// The timestamp of the newest hit.
    pub last_hit_at: Option<Timestamp>,
}

/// A copy of a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateHit {
    /// The id of the session.
    pub session: String,
    /// The file.
    pub path: PathBuf,
    /// The line number.
    pub line: u32,
    /// How the copy relates to the entries that the client would load. `None` if the hit itself is in context.
    pub context_status: Option<ContextStatus>,
}

/// Finds the file of the session to which the subagent or tool result file `path` belongs, by session id. Searches all
/// parent folders of `path`. Returns `None` if there is none.
pub(super) fn find_session_file(path: &Path, session: &str) -> Option<PathBuf> {
    let mut folders = path.ancestors().skip(1);
    folders.find_map(|folder| Some(folder.join(format!("{session}.jsonl"))).filter(|file| is_file(file)))
}
