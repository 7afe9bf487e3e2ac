//! The leaves of a page: drawn as the server draws them, with their pictures inside.

use std::cell::RefCell;
use std::collections::HashMap;

use rethread_engine::Error;
use rethread_engine::core::entry;
use rethread_engine::core::lines::Line;
use rethread_engine::core::turn;
use rethread_engine::ops::{BranchView, SessionView};

use super::detail::{Detail, reduce};
use super::embedded::EmbeddedFiles;
use super::pack::pack;
use crate::html::{self, RenderOptions, is_picture};
use crate::text::time::Clock;

/// How leaves are drawn.
#[derive(Clone, Copy)]
pub(super) struct Leaves<'a> {
    /// How much is told.
    pub(super) detail: Detail,
    /// Whether all branches are in the page, so that links can lead from one to the other.
    pub(super) everything: bool,
    /// The results that lie in files of their own.
    pub(super) kept: &'a EmbeddedFiles<'a>,
}

impl Leaves<'_> {
    /// Draws a leaf.
    pub(super) fn draw(&self, reading: &SessionView, way: &BranchView, no: usize) -> Result<String, Error> {
        let folder = reading.session.sketch.cwd.as_deref().unwrap_or_default();
        let clock = Clock::utc();
        let mut drawn = String::new();
        for mut scene in reading.page(way, no)? {
            reduce(&mut scene.turn, &mut scene.raw, self.detail);
            if !self.everything {
                scene.crossings.clear();
            }
            scene.ends = scene.ends && self.detail.tells_sums();
            if scene.no.is_none() && scene.turn.prompt.is_none() && scene.turn.parts.is_empty() {
                continue;
            }
            let album = Album::of(&scene.raw);
            let telling = RenderOptions {
                base: "",
                folder,
                clock: &clock,
                picture: &|line, call, no| album.address(line, call, no),
                kept: &|name| self.kept.holds(name),
                bodies: self.detail == Detail::Everything,
                lazy: false,
                pack: Some(&|markup| pack(markup).ok()),
                acts: false,
            };
            drawn.push_str(&html::scene(&scene, &telling).into_string());
        }
        Ok(drawn)
    }
}

/// The pictures of a line: their addresses by the call whose result shows them, and their number.
type Page = HashMap<(Option<String>, usize), String>;

/// The pictures of a scene. Each line that has some is read once, when the first of them is asked for.
struct Album<'a> {
    lines: HashMap<u32, &'a [u8]>,
    pages: RefCell<HashMap<u32, Page>>,
}

impl<'a> Album<'a> {
    fn of(raw: &'a [(u32, Vec<u8>)]) -> Album<'a> {
        let lines = raw.iter().map(|(line, bytes)| (*line, bytes.as_slice())).collect();
        Album { lines, pages: RefCell::default() }
    }

    /// Returns a picture as an address that holds it, if it is one that browsers draw and nothing in it can run.
    fn address(&self, line: u32, call: Option<&str>, no: usize) -> Option<String> {
        let mut pages = self.pages.borrow_mut();
        let page = pages
            .entry(line)
            .or_insert_with(|| self.lines.get(&line).map(|bytes| page(line, bytes)).unwrap_or_default());
        page.get(&(call.map(str::to_owned), no)).cloned()
    }
}

fn page(line: u32, bytes: &[u8]) -> Page {
    let mut page = Page::new();
    entry::read(&Line { no: line, offset: 0, bytes, unterminated: false }, &mut Vec::new(), |entry, _| {
        for shown in turn::pictures(&entry) {
            let Some(data) = plain(shown.data).filter(|_| is_picture(&shown.kind)) else { continue };
            let address = format!("data:{};base64,{data}", shown.kind);
            page.entry((shown.call, shown.no)).or_insert(address);
        }
    });
    page
}

/// Returns base64 that holds nothing else.
fn plain(data: &[u8]) -> Option<&str> {
    let is_plain = data.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
    std::str::from_utf8(data).ok().filter(|_| is_plain)
}
