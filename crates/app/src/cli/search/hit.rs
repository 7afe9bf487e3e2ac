//! Prints one hit: its location on the first line, the text below.

use rethread_engine::ops::search::SearchHit;
use unicode_width::UnicodeWidthStr;

use super::excerpt;
use super::label::{is_orphan, source_label, status_label};
use crate::cli::error::CliError;
use crate::cli::figures::group_digits;
use crate::cli::ls::folder_name;
use crate::cli::out::Out;
use crate::cli::style::{NAME, QUIET, STRONG, paint};
use crate::cli::table::truncate_to_width;
use crate::cli::{AppContext, clean};

/// The maximum line width. Wider lines are hard to read.
const MAX_WIDTH: usize = 140;
/// The minimum width of a title.
const MIN_TITLE_WIDTH: usize = 16;
/// The minimum width of a title next to a folder.
const MIN_TITLE_WIDTH_WITH_FOLDER: usize = 24;
/// The maximum width reserved for a folder.
const MAX_FOLDER_WIDTH: usize = 14;

/// The widths that all printed hits share.
pub(super) struct HitLayout {
    width: usize,
    number_width: usize,
    /// The number of lines above and below a match. `None` for a single line.
    context: Option<usize>,
}

impl HitLayout {
    /// Creates the layout for at most `hits` hits, with `context` lines around each match.
    pub(super) fn new(hits: usize, context: Option<usize>, out: &Out) -> HitLayout {
        HitLayout {
            width: out.width().min(MAX_WIDTH),
            number_width: group_digits(hits as u64).len(),
            context,
        }
    }

    /// Prints a hit. `same_session` is `true` if the previous hit is in the same session, which dims the title.
    pub(super) fn print(
        &self,
        number: usize,
        hit: &SearchHit,
        same_session: bool,
        app: &AppContext,
        out: &mut Out,
    ) -> Result<(), CliError> {
        let number = format!("{:>width$}", group_digits(number as u64), width = self.number_width);
        out.line(&format!("{}  {}", paint(NAME, &number), self.render_header(hit, same_session, app)))?;
        let margin = " ".repeat(self.number_width + 2);
        let max_width = self.width.saturating_sub(margin.len());
        let lines = match self.context {
            None => vec![excerpt::render_line(&hit.excerpt, max_width)],
            Some(context) => excerpt::render_lines(&hit.excerpt, context, max_width),
        };
        lines.iter().try_for_each(|line| out.line(&format!("{margin}{line}")))
    }

    /// Renders the title on the left and the facts on the right. The last fact, the status, is never truncated.
    fn render_header(&self, hit: &SearchHit, same_session: bool, app: &AppContext) -> String {
        let max_width = self.width.saturating_sub(self.number_width + 2);
        let (style, label) = status_label(hit);
        let location = hit.turn.map_or_else(|| format!("L{}", hit.line), |turn| format!("t{turn}"));
        let age = hit.time.map(|time| app.clock.format_age(Some(time)));
        let label = truncate_to_width(&label, max_width.saturating_sub(MIN_TITLE_WIDTH + 2));
        let facts: Vec<String> = age.into_iter().chain([location, source_label(hit)]).collect();
        let facts = truncate_to_width(
            &facts.join(" · "),
            max_width.saturating_sub(MIN_TITLE_WIDTH + 2 + 3 + label.width()),
        );
        let facts = if facts.is_empty() { facts } else { format!("{facts} · ") };
        let facts_width = facts.width() + label.width();
        // Shrink the title until the folder name fits, or the title reaches its minimum.
        let folder_width = folder_name(&hit.project).width().min(MAX_FOLDER_WIDTH) + 3;
        let shrunk_width =
            max_width.saturating_sub(facts_width + 2 + folder_width).max(MIN_TITLE_WIDTH_WITH_FOLDER);
        let title_width = (self.width * 2 / 5)
            .min(shrunk_width)
            .min(max_width.saturating_sub(facts_width + 2))
            .max(MIN_TITLE_WIDTH);
        let title = clean::line(&hit.title.text);
        let title = match title.as_str() {
            "" if is_orphan(hit) => "(deleted session)",
            "" => "(no messages)",
            title => title,
        };
        let title = truncate_to_width(title, title_width);
        let gap = " ".repeat(title_width - title.width() + 2);
        let project =
            fit_folder(&hit.project, max_width.saturating_sub(title_width + 2 + facts_width + 3), app);
        let project = if project.is_empty() { project } else { format!("{project} · ") };
        let title = paint(if same_session { QUIET } else { STRONG }, &title);
        format!("{title}{gap}{}{}", paint(QUIET, &format!("{project}{facts}")), paint(style, &label))
    }
}

/// Fits a folder into a width: in full, its last component, a truncated one, or nothing.
fn fit_folder(folder: &str, max_width: usize, app: &AppContext) -> String {
    const MIN_WIDTH: usize = 6;
    let (full_path, last) = (app.format_path(folder), folder_name(folder));
    match max_width {
        _ if full_path.width() <= max_width => full_path,
        _ if last.width() <= max_width => last,
        MIN_WIDTH.. => truncate_to_width(&last, max_width),
        _ => String::new(),
    }
}
