//! Hits of `search` and the state of the index in `--json`.

use rethread_engine::ops::{self, ContextStatus};
use serde::Serialize;

use super::super::cli::search::Row;
use super::find::whereabouts;
use super::{Wire, time, wire};

#[derive(Serialize)]
pub(crate) struct SearchHit<'a> {
    hit: usize,
    session: &'a str,
    title: &'a str,
    project: &'a str,
    path: String,
    session_path: String,
    agent: Option<&'a str>,
    beside: bool,
    line: u32,
    turn: Option<u32>,
    uuid: Option<&'a str>,
    time: Option<String>,
    role: &'static str,
    tool: Option<&'a str>,
    pieces: Vec<Piece<'a>>,
    starts: bool,
    ends: bool,
    whereabouts: &'static str,
    remembered: bool,
    copied: bool,
    copies: Vec<Copy<'a>>,
    score: u32,
}

#[derive(Serialize)]
struct Piece<'a> {
    text: &'a str,
    r#match: bool,
}

#[derive(Serialize)]
struct Copy<'a> {
    session: &'a str,
    path: String,
    line: u32,
    whereabouts: Option<&'static str>,
}

/// A hit of `search`, with its number.
pub(crate) fn search_hit(no: usize, hit: &ops::SearchHit) -> Wire<SearchHit<'_>> {
    let excerpt = &hit.excerpt;
    wire(
        "search_hit",
        SearchHit {
            hit: no,
            session: &hit.session,
            title: &hit.title.text,
            project: &hit.project,
            path: hit.path.display().to_string(),
            session_path: hit.session_path.display().to_string(),
            agent: hit.agent.as_deref(),
            beside: hit.beside,
            line: hit.line,
            turn: hit.turn,
            uuid: hit.uuid.as_deref(),
            time: time(hit.time),
            role: excerpt.source.name(),
            tool: excerpt.tool.as_deref(),
            pieces: pieces(&excerpt.text, &excerpt.marks),
            starts: excerpt.starts,
            ends: excerpt.ends,
            whereabouts: whereabouts(hit.standing),
            remembered: is_remembered(hit),
            copied: hit.copied,
            copies: hit.copies.iter().map(copy).collect(),
            score: hit.score,
        },
    )
}

fn is_remembered(hit: &ops::SearchHit) -> bool {
    hit.standing == ContextStatus::Active && hit.agent.is_none()
}

fn copy(copy: &ops::DuplicateHit) -> Copy<'_> {
    Copy {
        session: &copy.session,
        path: copy.path.display().to_string(),
        line: copy.line,
        whereabouts: copy.standing.map(whereabouts),
    }
}

fn pieces<'a>(text: &'a str, marks: &[std::ops::Range<usize>]) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for mark in marks {
        pieces.push(Piece { text: &text[at..mark.start], r#match: false });
        pieces.push(Piece { text: &text[mark.clone()], r#match: true });
        at = mark.end;
    }
    pieces.push(Piece { text: &text[at..], r#match: false });
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

#[derive(Serialize)]
pub(crate) struct SearchTotal {
    hits: usize,
    exact: bool,
    shown: usize,
    sessions: Option<usize>,
    files: usize,
    bytes_read: u64,
}

/// What a search comes to.
pub(crate) fn search_total(shown: usize, sessions: Option<usize>, search: &ops::Search) -> Wire<SearchTotal> {
    let total = search.total();
    let (files, bytes_read) = (search.files, search.scanned);
    let (hits, exact) = (total.hits, total.exact);
    wire("search_total", SearchTotal { hits, exact, shown, sessions, files, bytes_read })
}

#[derive(Serialize)]
pub(crate) struct SearchSession<'a> {
    session: &'a str,
    title: &'a str,
    project: &'a str,
    path: String,
    hits: usize,
    last: Option<String>,
}

/// A session of `search --sessions`.
pub(crate) fn search_session(row: &Row) -> Wire<SearchSession<'_>> {
    let path = row.path.display().to_string();
    let (session, title, project) = (&*row.session, &*row.title, &*row.project);
    wire(
        "search_session",
        SearchSession { session, title, project, path, hits: row.hits, last: time(row.last) },
    )
}

#[derive(Serialize)]
pub(crate) struct SearchResume<'a> {
    session: &'a str,
    project: &'a str,
    line: u32,
    command: &'a str,
    whereabouts: &'static str,
    remembered: bool,
}

/// How to go on with the session of a hit.
pub(crate) fn search_resume<'a>(hit: &'a ops::SearchHit, command: &'a str) -> Wire<SearchResume<'a>> {
    let (whereabouts, remembered) = (whereabouts(hit.standing), is_remembered(hit));
    let (session, project, line) = (&*hit.session, &*hit.project, hit.line);
    wire("search_resume", SearchResume { session, project, line, command, whereabouts, remembered })
}

#[derive(Serialize)]
pub(crate) struct IndexStatus {
    folder: String,
    files: usize,
    files_found: usize,
    bytes: u64,
    bytes_found: u64,
    entries: u64,
    segments: usize,
    size: u64,
}

/// How the index stands.
pub(crate) fn index_status(status: &ops::IndexStatus) -> Wire<IndexStatus> {
    wire(
        "index_status",
        IndexStatus {
            folder: status.folder.display().to_string(),
            files: status.files,
            files_found: status.files_found,
            bytes: status.bytes,
            bytes_found: status.bytes_found,
            entries: status.entries,
            segments: status.segments,
            size: status.size,
        },
    )
}

#[derive(Serialize)]
pub(crate) struct IndexDropped {
    dropped: bool,
}

/// Whether there was an index to throw away.
pub(crate) fn index_dropped(dropped: bool) -> Wire<IndexDropped> {
    wire("index_dropped", IndexDropped { dropped })
}
