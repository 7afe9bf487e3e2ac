//! Writes a session as one HTML page with its style sheet, script, images and turns. The page makes no network requests.
//!
//! The markup is that of the server. The first chunks are plain markup; later chunks of a long session are packed, and
//! the script unpacks them when the reader scrolls to them.

use std::io::{self, Write};
use std::sync::Mutex;

use maud::{Markup, PreEscaped, html};
use rayon::prelude::*;
use rethread_engine::Error;
use rethread_engine::ops::read::{BranchSelector, BranchView, SessionView};

use super::agents::{self, AgentEmbedder};
use super::branches;
use super::chunk::ChunkRenderer;
use super::detail::Detail;
use super::embedded::EmbeddedFiles;
use super::options::{ExportContext, ExportError, ExportOptions};
use super::pack::{format_ranges, pack};
use super::policy::build_security_policy;
use super::verify::SearchedParts;
use crate::html::map::{MAX_MAP_ENTRIES, SessionMap, render_map};
use crate::html::session::{SessionHeader, format_session_facts};
use crate::html::{assets, frame};
use crate::text::clean;
use crate::text::session::git_branch_label;
use crate::text::time::Clock;

/// Total size in bytes of the markup after which further chunks are packed.
const MAX_PLAIN_BYTES: usize = 400 << 10;
/// The number of chunks that are rendered in parallel before they are written.
const BATCH_CHUNKS: usize = 64;

/// Writes the whole page of a branch: head, header, chunks, subagents, and the packed content.
pub(super) fn write_page(
    view: &SessionView,
    branch: &BranchView,
    options: &ExportOptions,
    context: &ExportContext<'_>,
    searched: Option<&SearchedParts>,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let files = EmbeddedFiles::new(&view.session.path);
    let renderer = ChunkRenderer {
        detail: options.detail,
        only_typed: options.only_typed,
        all_branches: options.selector == BranchSelector::AllTurns,
        files: &files,
        long_chunk: &Mutex::new(()),
    };
    let mut agents = match options.detail {
        Detail::Everything => agents::render_agents(view, branch, &renderer, context.prices)?,
        _ => AgentEmbedder::default(),
    };
    let title = clean::line(&view.session.title.text);
    let title = if title.is_empty() { "(no messages)".to_owned() } else { title };
    out.write_all(render_page_head(&title, context.theme).into_string().as_bytes())?;
    out.write_all(render_header(view, branch, options, context, &title)?.into_string().as_bytes())?;
    out.write_all(b"<main id=\"main\" class=\"session\" data-base=\"page\" data-query=\"?\">")?;
    let packed_chunks = write_chunks(view, branch, &renderer, &mut agents, searched, out)?;
    let end = html! {
        (agents.render_unplaced())
        @if branch.turns.is_empty() { p class="muted empty" { "No messages." } }
        (PreEscaped("</main>"))
    };
    out.write_all(end.into_string().as_bytes())?;
    for (idx, packed) in &packed_chunks {
        write!(out, "<script type=\"text/plain\" class=\"packed\" data-chunk=\"{idx}\">{packed}</script>")?;
    }
    for (call, packed) in agents.packed() {
        write!(out, "<script type=\"text/plain\" class=\"packed\" data-call=\"{call}\">{packed}</script>")?;
    }
    files.write(out)?;
    Ok(writeln!(out, "{}", frame::render_end().into_string())?)
}

/// Renders the beginning of the page up to its bar, with the style sheet and the script inline.
fn render_page_head(title: &str, theme: Option<&'static str>) -> Markup {
    let (style, script) = (assets::style().text, assets::export_script());
    let head = html! {
        meta http-equiv="Content-Security-Policy" content=(build_security_policy(script, style));
        meta name="referrer" content="no-referrer";
        meta name="generator" content="rethread";
        style { (PreEscaped(style)) }
        script { (PreEscaped(script)) }
    };
    let bar = html! {
        span class="bar-name" { "rethread" }
        span class="bar-search" {}
    };
    frame::render_opening(title, &head, &bar, theme)
}

/// Renders the header of the session, its map, and the list of branches if all are exported.
fn render_header(
    view: &SessionView,
    branch: &BranchView,
    options: &ExportOptions,
    context: &ExportContext<'_>,
    title: &str,
) -> Result<Markup, Error> {
    let all_turns = options.selector == BranchSelector::AllTurns;
    let header = SessionHeader {
        view,
        branch,
        title,
        base: "",
        parent_key: None,
        row: None,
        verdict: None,
        secrets: None,
        selector: &options.selector,
        clock: &Clock::utc(),
        resume_command: String::new(),
        format_path: context.format_path,
        title_of: &|_| None,
        address_of: &|_| String::new(),
    };
    let info = &view.session.info;
    let folder = (context.format_path)(info.cwd.as_deref().unwrap_or_default());
    let git_branch = git_branch_label(info.git_branch.as_deref());
    let scope = options.scope_label(branch);
    let map = SessionMap {
        branch,
        entries: &view.build_map(branch, MAX_MAP_ENTRIES)?,
        base: "",
        folder: info.cwd.as_deref().unwrap_or_default(),
        other_branches: false,
        is_active: false,
    };
    Ok(html! {
        header class="session-header" {
            p class="session-location muted ellipsis" { (folder) @if let Some(git_branch) = git_branch { " · " (git_branch) } }
            h1 { (title) }
            p class="session-facts muted num" { (format_session_facts(&header).join(" · ")) " · times in UTC" }
            @if !scope.is_empty() { p class="session-note" { "Contains " (scope) "." } }
            @if let Some(masked) = &context.masked { p class="session-note" { (masked) "." } }
            @if all_turns { (branches::render_branch_links(view)?) }
            div class="session-actions no-print" {
                button type="button" class="button" data-command="present" { "Present" }
                button type="button" class="button" data-command="unpack" hidden { "Unpack all, to find and print" }
            }
        }
        nav class="map no-print" id="map" aria-label="Map of the session" { (render_map(&map)) }
    })
}

/// Writes the chunks, and a placeholder for each packed one. Returns the packed chunks: index and compressed markup.
fn write_chunks(
    view: &SessionView,
    branch: &BranchView,
    renderer: &ChunkRenderer<'_>,
    agents: &mut AgentEmbedder,
    searched: Option<&SearchedParts>,
    out: &mut dyn Write,
) -> Result<Vec<(usize, String)>, ExportError> {
    let render = |idx: usize| renderer.render(view, branch, idx);
    let entry_counts: Vec<usize> = branch.page_lengths().collect();
    let mut lines_by_chunk: Vec<Vec<u32>> = vec![Vec::new(); entry_counts.len()];
    for (line, chunk_idx) in view.pages_by_line(branch) {
        lines_by_chunk[chunk_idx].push(line);
    }
    let mut packed_chunks = Vec::new();
    let mut total_bytes = 0;
    for from in (0..entry_counts.len()).step_by(BATCH_CHUNKS) {
        let to = entry_counts.len().min(from + BATCH_CHUNKS);
        let rendered: Vec<_> = (from..to).into_par_iter().map(render).collect();
        let mut to_pack = Vec::new();
        for (idx, markup) in (from..).zip(rendered) {
            let markup = agents.fill_slots(&markup?, true);
            total_bytes += markup.len();
            // The first chunk is never packed, however long it is.
            if total_bytes <= MAX_PLAIN_BYTES || idx == 0 {
                write!(out, "<section class=\"chunk\" data-chunk=\"{idx}\">{markup}</section>")?;
            } else {
                let lines = format_ranges(std::mem::take(&mut lines_by_chunk[idx]));
                let placeholder = render_placeholder(branch, idx, entry_counts[idx], &lines);
                out.write_all(placeholder.into_string().as_bytes())?;
                to_pack.push((idx, markup));
            }
        }
        let pack_chunk = |(idx, markup): &(usize, String)| {
            let packed = pack(markup)?;
            if let Some(searched) = searched {
                searched.add(markup, &packed)?;
            }
            Ok((*idx, packed))
        };
        let packed: Vec<io::Result<_>> = to_pack.par_iter().map(pack_chunk).collect();
        for chunk in packed {
            packed_chunks.push(chunk?);
        }
    }
    Ok(packed_chunks)
}

/// Renders the placeholder of a packed chunk. Its class gives it about the height of the chunk. `lines` are the
/// ranges of lines in the chunk.
fn render_placeholder(branch: &BranchView, chunk_idx: usize, entry_count: usize, lines: &str) -> Markup {
    html! {
        section class={ "chunk chunk-pending chunk-" (entry_count.div_ceil(10).clamp(1, 6)) } data-chunk=(chunk_idx) data-pending data-lines=(lines) {
            @for turn in branch.turns_on_page(chunk_idx) {
                @if let Some(number) = turn.number { span class="turn-anchor" id={ "t" (number) } {} }
            }
            p class="muted" { "packed: the script of this page unpacks it here" }
        }
    }
}
