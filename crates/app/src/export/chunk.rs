//! Renders the chunks of an exported page with the markup of the server, and embeds their images.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Mutex;

use rethread_engine::Error;
use rethread_engine::core::entry;
use rethread_engine::core::lines::Line;
use rethread_engine::core::turn;
use rethread_engine::ops::read::{BranchView, SessionView};
use rethread_engine::ops::show::RawLine;

use super::detail::{Detail, reduce_turn};
use super::embedded::EmbeddedFiles;
use super::long_texts::truncate_long_texts;
use super::options::MAX_PARALLEL_BYTES;
use super::pack::pack;
use crate::html::{self, RenderOptions, is_safe_image};
use crate::text::time::Clock;

/// Renders the chunks of an exported page. A chunk is one page of a [`BranchView`].
#[derive(Clone, Copy)]
pub(super) struct ChunkRenderer<'a> {
    /// The level of detail.
    pub(super) detail: Detail,
    /// Whether to omit texts in the user's name that no user typed.
    pub(super) only_typed: bool,
    /// Whether the page contains all branches. Only then do forks link to their other branches.
    pub(super) all_branches: bool,
    /// Collects the names of the result files that the chunks refer to.
    pub(super) files: &'a EmbeddedFiles<'a>,
    /// Held while a long chunk is rendered, so that the lines of only one are in memory.
    pub(super) long_chunk: &'a Mutex<()>,
}

impl ChunkRenderer<'_> {
    /// Renders the turns of the chunk `chunk_idx`, reduced to the level of detail. Turns without a number and without
    /// content are omitted.
    pub(super) fn render(
        &self,
        view: &SessionView,
        branch: &BranchView,
        chunk_idx: usize,
    ) -> Result<String, Error> {
        let is_long = view.page_bytes(branch, chunk_idx) > MAX_PARALLEL_BYTES;
        let _guard = is_long.then(|| self.long_chunk.lock());
        let folder = view.session.info.cwd.as_deref().unwrap_or_default();
        let clock = Clock::utc();
        let mut markup = String::new();
        for mut slice in view.read_page(branch, chunk_idx)? {
            if self.only_typed {
                slice.turn.remove_untyped();
            }
            reduce_turn(&mut slice.turn, &mut slice.lines, self.detail);
            truncate_long_texts(&mut slice.turn);
            if !self.all_branches {
                slice.forks.clear();
            }
            slice.ends_turn = slice.ends_turn && self.detail.includes_totals();
            if slice.number.is_none() && slice.turn.prompt.is_none() && slice.turn.parts.is_empty() {
                continue;
            }
            let images = ImageIndex::new(&slice.lines);
            let options = RenderOptions {
                base: "",
                folder,
                clock: &clock,
                image_url: &|line, call, idx| images.get_data_url(line, call, idx),
                has_result_file: &|name| self.files.embed_if_exists(name),
                tool_bodies: self.detail == Detail::Everything,
                lazy: false,
                pack: Some(&|markup| pack(markup).ok()),
                actions: false,
            };
            markup.push_str(&html::render_turn_slice(&slice, &options).into_string());
        }
        Ok(markup)
    }
}

/// The `data:` URLs of the images of a line, by tool call (`None` for a prompt) and index.
type LineImages = HashMap<(Option<String>, usize), String>;

/// The images of a turn slice. A line is parsed once, when its first image is requested.
struct ImageIndex<'a> {
    /// The bytes of each line, by line number.
    lines: HashMap<u32, &'a [u8]>,
    /// The images of the lines that were parsed so far, by line number.
    images: RefCell<HashMap<u32, LineImages>>,
}

impl<'a> ImageIndex<'a> {
    fn new(lines: &'a [RawLine]) -> ImageIndex<'a> {
        let lines = lines.iter().map(|line| (line.number, line.bytes.as_slice())).collect();
        ImageIndex { lines, images: RefCell::default() }
    }

    /// Returns an image as a `data:` URL, by line, tool call and index in the line. Returns `None` if there is no
    /// such image, its type is not a safe image type, or its data is not base64.
    fn get_data_url(&self, line: u32, call: Option<&str>, idx: usize) -> Option<String> {
        let mut images = self.images.borrow_mut();
        let line_images = images.entry(line).or_insert_with(|| {
            self.lines.get(&line).map(|bytes| read_images(line, bytes)).unwrap_or_default()
        });
        line_images.get(&(call.map(str::to_owned), idx)).cloned()
    }
}

/// Reads all images of a line that are safe to embed.
fn read_images(line: u32, bytes: &[u8]) -> LineImages {
    let mut images = LineImages::new();
    entry::read_line(
        &Line { number: line, offset: 0, bytes, unterminated: false },
        &mut Vec::new(),
        |entry, _| {
            for image in turn::list_images(&entry) {
                let Some(data) = check_base64(image.data).filter(|_| is_safe_image(&image.kind)) else {
                    continue;
                };
                let url = format!("data:{};base64,{data}", image.kind);
                images.entry((image.call, image.index)).or_insert(url);
            }
        },
    );
    images
}

/// Returns the data as text. Returns `None` if it contains characters outside the base64 alphabet. The length is not
/// checked.
fn check_base64(data: &[u8]) -> Option<&str> {
    let is_base64 = data.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
    std::str::from_utf8(data).ok().filter(|_| is_base64)
}
