//! A session or subagent as it is shown at one address.

use std::sync::Arc;

use axum::body::Bytes;
use maud::{Markup, PreEscaped, html};
use rethread_engine::Error;
use rethread_engine::ops::read::BranchView;

use super::BranchParams;
use crate::html::link::percent_encode;
use crate::html::{RenderOptions, render_turn_slice};
use crate::text::time::Clock;
use crate::web::view_cache::CachedView;

/// The number of chunks in the first response. The others are loaded when they come near the viewport.
const FIRST_CHUNKS: usize = 3;

/// A session or subagent as it is shown at one address.
#[derive(Clone, Copy)]
pub(super) struct SessionPage<'a> {
    /// The loaded session.
    pub(super) view: &'a CachedView,
    /// The path of the address, without the query.
    pub(super) base: &'a str,
    /// The selected branch.
    pub(super) params: &'a BranchParams,
    /// Whether the page offers actions such as goto and fork. `false` for subagents.
    pub(super) actions: bool,
    /// The time zone of times.
    pub(super) clock: &'a Clock,
}

impl SessionPage<'_> {
    /// Returns the selected branch. Returns an error if the selected entry does not exist.
    pub(super) fn branch(&self) -> Result<Arc<BranchView>, Error> {
        self.view.branch(&self.params.selector())
    }

    /// Calls `render` with the options for rendering turns of this page.
    pub(super) fn with_render_options<T>(&self, render: impl FnOnce(&RenderOptions<'_>) -> T) -> T {
        let base = self.base;
        let image_url = |line: u32, call: Option<&str>, idx: usize| {
            let call = call.map(|call| format!("&call={}", percent_encode(call))).unwrap_or_default();
            Some(format!("{base}/image?line={line}&number={idx}{call}"))
        };
        render(&RenderOptions {
            base,
            folder: self.view.view.session.info.cwd.as_deref().unwrap_or_default(),
            clock: self.clock,
            image_url: &image_url,
            has_result_file: &|_| true,
            tool_bodies: true,
            lazy: true,
            pack: None,
            actions: self.actions,
        })
    }

    /// Renders the chunk with index `idx`, or returns it from the cache.
    pub(super) fn render_chunk(&self, idx: usize) -> Result<Bytes, Error> {
        let branch = self.branch()?;
        self.view.get_or_render_chunk(&self.params.selector(), idx, || {
            let slices = self.view.view.read_page(&branch, idx)?;
            Ok(self.with_render_options(|options| {
                slices.iter().map(|slice| render_turn_slice(slice, options).into_string()).collect()
            }))
        })
    }

    /// Renders the first [`FIRST_CHUNKS`] chunks, and placeholders for the others.
    pub(super) fn render_chunks(&self, branch: &BranchView) -> Result<Markup, Error> {
        let query = self.params.query();
        let first = (0..branch.page_count().min(FIRST_CHUNKS)).map(|idx| self.render_chunk(idx));
        let first = first.collect::<Result<Vec<Bytes>, Error>>()?;
        Ok(html! {
            @for (idx, entries) in branch.page_lengths().enumerate() {
                @match first.get(idx) {
                    Some(bytes) => {
                        section class="chunk" data-chunk=(idx) { (PreEscaped(String::from_utf8_lossy(bytes))) }
                    }
                    None => {
                        section class={ "chunk chunk-pending chunk-" (estimate_height_class(entries)) } data-chunk=(idx) data-pending {
                            @for turn in branch.turns_on_page(idx) {
                                @if let Some(number) = turn.number { span class="turn-anchor" id={ "t" (number) } {} }
                            }
                            a class="muted" href={ (self.base) "/chunk" (query) "number=" (idx) } { "more" }
                        }
                    }
                }
            }
        })
    }

    /// Renders the first chunks, with placeholders for the others, to be embedded in another page.
    pub(super) fn render_embedded(&self) -> Result<Markup, Error> {
        let branch = self.branch()?;
        Ok(html! {
            div data-base=(self.base) data-query=(self.params.query()) { (self.render_chunks(&branch)?) }
        })
    }
}

/// Returns the number in the CSS class for the estimated height of a chunk, from 1 to 6. The content policy forbids
/// inline styles.
fn estimate_height_class(entries: usize) -> usize {
    entries.div_ceil(10).clamp(1, 6)
}
