//! One hit on the screen: where it stands on the first line, the words in context below.

use rethread_engine::ops::SearchHit;
use unicode_width::UnicodeWidthStr;

use super::super::error::CliError;
use super::super::figures::count;
use super::super::ls::base;
use super::super::out::Out;
use super::super::style::{NAME, QUIET, STRONG, paint};
use super::super::table::truncate_to_width;
use super::super::{AppContext, clean};
use super::excerpt;
use super::label::{is_orphan, kind, label};

/// Lines wider than this are tiring to read.
const WIDEST: usize = 140;
/// What a title has of the screen at least; before a folder is left out for it; what a folder has of it at most then.
const TITLE: usize = 16;
const NARROW: usize = 24;
const FOLDER: usize = 14;

/// How hits are laid out.
pub(super) struct Layout {
    width: usize,
    numbers: usize,
    context: Option<usize>,
}

impl Layout {
    /// Makes room for so many hits.
    pub(super) fn new(hits: usize, context: Option<usize>, out: &Out) -> Layout {
        Layout { width: out.width().min(WIDEST), numbers: count(hits as u64).len(), context }
    }

    /// Prints a hit; `again` where the one before stands in the same session.
    pub(super) fn print(
        &self,
        no: usize,
        hit: &SearchHit,
        again: bool,
        place: &AppContext,
        out: &mut Out,
    ) -> Result<(), CliError> {
        let number = format!("{:>width$}", count(no as u64), width = self.numbers);
        out.line(&format!("{}  {}", paint(NAME, &number), self.head(hit, again, place)))?;
        let margin = " ".repeat(self.numbers + 2);
        let room = self.width.saturating_sub(margin.len());
        let lines = match self.context {
            None => vec![excerpt::line(&hit.excerpt, room)],
            Some(context) => excerpt::lines(&hit.excerpt, context, room),
        };
        lines.iter().try_for_each(|line| out.line(&format!("{margin}{line}")))
    }

    /// Title on the left, facts on the right; the last fact says whether it is remembered and is never cut.
    fn head(&self, hit: &SearchHit, again: bool, place: &AppContext) -> String {
        let room = self.width.saturating_sub(self.numbers + 2);
        let (style, label) = label(hit);
        let at = hit.turn.map_or_else(|| format!("L{}", hit.line), |turn| format!("t{turn}"));
        let age = hit.time.map(|time| place.clock.age(Some(time)));
        let label = truncate_to_width(&label, room.saturating_sub(TITLE + 2));
        let facts: Vec<String> = age.into_iter().chain([at, kind(hit)]).collect();
        let facts = truncate_to_width(&facts.join(" · "), room.saturating_sub(TITLE + 2 + 3 + label.width()));
        let facts = if facts.is_empty() { facts } else { format!("{facts} · ") };
        let least = facts.width() + label.width();
        // A title gives way until the last part of the folder has room, or the title none.
        let folder = base(&hit.project).width().min(FOLDER) + 3;
        let shrunk = room.saturating_sub(least + 2 + folder).max(NARROW);
        let most = (self.width * 2 / 5).min(shrunk).min(room.saturating_sub(least + 2)).max(TITLE);
        let title = clean::line(&hit.title.text);
        let title = match title.as_str() {
            "" if is_orphan(hit) => "(its session is gone)",
            "" => "(nothing was said)",
            title => title,
        };
        let title = truncate_to_width(title, most);
        let gap = " ".repeat(most - title.width() + 2);
        let project = project(&hit.project, room.saturating_sub(most + 2 + least + 3), place);
        let project = if project.is_empty() { project } else { format!("{project} · ") };
        let title = paint(if again { QUIET } else { STRONG }, &title);
        format!("{title}{gap}{}{}", paint(QUIET, &format!("{project}{facts}")), paint(style, &label))
    }
}

/// Writes a folder in a room: whole, its last part, the end of that, or not at all.
fn project(folder: &str, room: usize, place: &AppContext) -> String {
    const LEAST: usize = 6;
    let (whole, last) = (place.tilde(folder), base(folder));
    match room {
        _ if whole.width() <= room => whole,
        _ if last.width() <= room => last,
        LEAST.. => truncate_to_width(&last, room),
        _ => String::new(),
    }
}
