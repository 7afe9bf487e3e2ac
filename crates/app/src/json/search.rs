//! JSON of `search` and `index`.

use std::path::PathBuf;

use rethread_engine::core::entry::Timestamp;
use rethread_engine::core::resume::ContextStatus;
use rethread_engine::ops;
use serde::Serialize;

use super::object::{ObjectJson, build_object, format_time};

/// A session with at least one search hit.
#[derive(Debug)]
pub(crate) struct SessionResult {
    /// The session id.
    pub(crate) session: String,
    /// The session title.
    pub(crate) title: String,
    /// The folder in which the session was started.
    pub(crate) project: String,
    /// The session file.
    pub(crate) path: PathBuf,
    /// The number of hits in this session.
    pub(crate) hits: usize,
    /// The time of the newest hit. `None` if no hit has a time.
    pub(crate) last: Option<Timestamp>,
}

#[derive(Serialize)]
pub(crate) struct SearchHitJson<'a> {
    hit: usize,
    session: &'a str,
    title: &'a str,
    project: &'a str,
    path: String,
    session_path: String,
    agent: Option<&'a str>,
    in_side_file: bool,
    archived: bool,
    line: u32,
    turn: Option<u32>,
    uuid: Option<&'a str>,
    time: Option<String>,
    role: &'static str,
    tool: Option<&'a str>,
    excerpt: Vec<ExcerptPartJson<'a>>,
    is_text_start: bool,
    is_text_end: bool,
    status: &'static str,
    in_context: bool,
    is_copy: bool,
    copies: Vec<CopyJson<'a>>,
    score: u32,
}

#[derive(Serialize)]
struct ExcerptPartJson<'a> {
    text: &'a str,
    r#match: bool,
}

#[derive(Serialize)]
struct CopyJson<'a> {
    session: &'a str,
    path: String,
    line: u32,
    status: Option<&'static str>,
}

/// Builds the `search_hit` object of `search`. `number` identifies the hit for `search --open`.
pub(crate) fn build_search_hit(number: usize, hit: &ops::search::SearchHit) -> ObjectJson<SearchHitJson<'_>> {
    let excerpt = &hit.excerpt;
    build_object(
        "search_hit",
        SearchHitJson {
            hit: number,
            session: &hit.session,
            title: &hit.title.text,
            project: &hit.project,
            path: hit.path.display().to_string(),
            session_path: hit.session_path.display().to_string(),
            agent: hit.agent.as_deref(),
            in_side_file: hit.in_side_file,
            archived: hit.archived,
            line: hit.line,
            turn: hit.turn,
            uuid: hit.uuid.as_deref(),
            time: format_time(hit.time),
            role: excerpt.source.name(),
            tool: excerpt.tool.as_deref(),
            excerpt: split_at_marks(&excerpt.text, &excerpt.marks),
            is_text_start: excerpt.is_text_start,
            is_text_end: excerpt.is_text_end,
            status: hit.context_status.name(),
            in_context: is_in_context(hit),
            is_copy: hit.is_copy,
            copies: hit.copies.iter().map(build_copy).collect(),
            score: hit.score,
        },
    )
}

/// Returns `true` if the hit is on the active path of the session itself, not of a subagent.
fn is_in_context(hit: &ops::search::SearchHit) -> bool {
    hit.context_status == ContextStatus::Active && hit.agent.is_none()
}

fn build_copy(copy: &ops::search::DuplicateHit) -> CopyJson<'_> {
    CopyJson {
        session: &copy.session,
        path: copy.path.display().to_string(),
        line: copy.line,
        status: copy.context_status.map(ContextStatus::name),
    }
}

/// Splits an excerpt into matching and other parts. `marks` are the sorted byte ranges of the matches.
fn split_at_marks<'a>(text: &'a str, marks: &[std::ops::Range<usize>]) -> Vec<ExcerptPartJson<'a>> {
    let mut parts = Vec::new();
    let mut pos = 0;
    for mark in marks {
        parts.push(ExcerptPartJson { text: &text[pos..mark.start], r#match: false });
        parts.push(ExcerptPartJson { text: &text[mark.clone()], r#match: true });
        pos = mark.end;
    }
    parts.push(ExcerptPartJson { text: &text[pos..], r#match: false });
    parts.retain(|part| !part.text.is_empty());
    parts
}

#[derive(Serialize)]
pub(crate) struct SearchTotalJson {
    hits: usize,
    exact: bool,
    shown: usize,
    sessions: Option<usize>,
    files: usize,
    bytes_read: u64,
}

/// Builds the `search_total` object of `search`. `shown` counts the hits in the printed rows. `sessions` counts
/// the sessions with hits; it is `None` if not all hits were printed.
pub(crate) fn build_search_total(
    shown: usize,
    sessions: Option<usize>,
    search: &ops::search::Search,
) -> ObjectJson<SearchTotalJson> {
    let total = search.hit_count();
    let (files, bytes_read) = (search.file_count, search.scanned_bytes);
    let (hits, exact) = (total.hits, total.exact);
    build_object("search_total", SearchTotalJson { hits, exact, shown, sessions, files, bytes_read })
}

#[derive(Serialize)]
pub(crate) struct SearchSessionJson<'a> {
    session: &'a str,
    title: &'a str,
    project: &'a str,
    path: String,
    hits: usize,
    last: Option<String>,
}

/// Builds the `search_session` object of `search --sessions`.
pub(crate) fn build_search_session(row: &SessionResult) -> ObjectJson<SearchSessionJson<'_>> {
    let path = row.path.display().to_string();
    let (session, title, project) = (&*row.session, &*row.title, &*row.project);
    build_object(
        "search_session",
        SearchSessionJson { session, title, project, path, hits: row.hits, last: format_time(row.last) },
    )
}

#[derive(Serialize)]
pub(crate) struct SearchResumeJson<'a> {
    session: &'a str,
    project: &'a str,
    line: u32,
    command: &'a str,
    status: &'static str,
    in_context: bool,
}

/// Builds the `search_resume` object of `search --open`. `command` is the shell command that resumes the session.
pub(crate) fn build_search_resume<'a>(
    hit: &'a ops::search::SearchHit,
    command: &'a str,
) -> ObjectJson<SearchResumeJson<'a>> {
    let (status, in_context) = (hit.context_status.name(), is_in_context(hit));
    let (session, project, line) = (&*hit.session, &*hit.project, hit.line);
    build_object("search_resume", SearchResumeJson { session, project, line, command, status, in_context })
}

#[derive(Serialize)]
pub(crate) struct IndexStatusJson {
    folder: String,
    files: usize,
    files_found: usize,
    bytes: u64,
    bytes_found: u64,
    entries: u64,
    segments: usize,
    size: u64,
}

/// Builds the `index_status` object of `index`.
pub(crate) fn build_index_status(status: &ops::index::IndexStatus) -> ObjectJson<IndexStatusJson> {
    build_object(
        "index_status",
        IndexStatusJson {
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
pub(crate) struct IndexDroppedJson {
    dropped: bool,
}

/// Builds the `index_dropped` object of `index --drop`. `dropped` is `true` if an index existed.
pub(crate) fn build_index_dropped(dropped: bool) -> ObjectJson<IndexDroppedJson> {
    build_object("index_dropped", IndexDroppedJson { dropped })
}
