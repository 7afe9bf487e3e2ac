//! The one line that always shows of a call.

use maud::{Markup, html};

use super::block::short;

/// How many letters of a command, pattern or description the line shows.
const WIDTH: usize = 160;

/// What a call is about, in pieces.
#[derive(Default)]
pub(super) struct CallHeadline {
    /// The name, where it is not that of the tool.
    pub(super) name: Option<String>,
    /// The most telling words.
    about: Vec<Markup>,
    /// Figures and states, each with whether it is good, bad or neither.
    figures: Vec<(&'static str, String)>,
}

impl CallHeadline {
    /// Adds words in the letters of code: a command, a pattern.
    pub(super) fn code(&mut self, text: &str) {
        self.about.push(html! { code { (short(text, WIDTH)) } });
    }

    /// Adds words.
    pub(super) fn say(&mut self, text: &str) {
        self.about.push(html! { span { (short(text, WIDTH)) } });
    }

    /// Adds words that matter less.
    pub(super) fn aside(&mut self, text: &str) {
        self.about.push(html! { span class="tool-aside" { (short(text, WIDTH)) } });
    }

    /// Adds a drawn piece, such as a path.
    pub(super) fn piece(&mut self, piece: Markup) {
        self.about.push(piece);
    }

    /// Adds a figure.
    pub(super) fn figure(&mut self, text: impl Into<String>) {
        self.figures.push(("fig", text.into()));
    }

    /// Adds a state that is good.
    pub(super) fn good(&mut self, text: impl Into<String>) {
        self.figures.push(("fig good", text.into()));
    }

    /// Adds a state that is not.
    pub(super) fn bad(&mut self, text: impl Into<String>) {
        self.figures.push(("fig bad", text.into()));
    }

    /// Adds how many lines came and went.
    pub(super) fn lines(&mut self, added: usize, removed: usize) {
        if added > 0 {
            self.figures.push(("fig add", format!("+{added}")));
        }
        if removed > 0 {
            self.figures.push(("fig del", format!("−{removed}")));
        }
    }

    /// Whether it says something bad already.
    pub(super) fn is_bad(&self) -> bool {
        self.figures.iter().any(|(class, _)| *class == "fig bad")
    }

    /// Draws the line.
    pub(super) fn draw(self, kind: &str, tool: &str) -> Markup {
        let name = self.name.unwrap_or_else(|| short(tool, 60));
        html! {
            span class={ "tool-mark mark-" (kind) } aria-hidden="true" {}
            span class="tool-name" { (name) }
            @if !self.about.is_empty() {
                " " span class="tool-about" { @for piece in &self.about { (piece) " " } }
            }
            @for (class, figure) in &self.figures { " " span class=(class) { (short(figure, 60)) } }
        }
    }
}
