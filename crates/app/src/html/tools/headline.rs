//! The headline of a tool call, which is visible even if the call is collapsed.

use maud::{Markup, html};

use super::block::truncate_line;

/// Maximum number of characters of a command, pattern or description.
const MAX_CHARS: usize = 160;

/// The parts of a headline.
#[derive(Default)]
pub(super) struct CallHeadline {
    /// The displayed name, if it differs from the name of the tool.
    pub(super) name: Option<String>,
    /// The most informative parts of the input, in order.
    parts: Vec<Markup>,
    /// Numbers and states, each after its CSS classes.
    stats: Vec<(&'static str, String)>,
}

impl CallHeadline {
    /// Adds text in a monospaced font, such as a command or a pattern.
    pub(super) fn push_code(&mut self, text: &str) {
        self.parts.push(html! { code { (truncate_line(text, MAX_CHARS)) } });
    }

    /// Adds text, truncated to one line of at most [`MAX_CHARS`] characters.
    pub(super) fn push_text(&mut self, text: &str) {
        self.parts.push(html! { span { (truncate_line(text, MAX_CHARS)) } });
    }

    /// Adds less important text, truncated likewise.
    pub(super) fn push_muted(&mut self, text: &str) {
        self.parts.push(html! { span class="tool-detail" { (truncate_line(text, MAX_CHARS)) } });
    }

    /// Adds markup, such as a rendered path.
    pub(super) fn push_markup(&mut self, markup: Markup) {
        self.parts.push(markup);
    }

    /// Adds a number or a neutral state.
    pub(super) fn push_stat(&mut self, text: impl Into<String>) {
        self.stats.push(("stat", text.into()));
    }

    /// Adds a state that indicates success.
    pub(super) fn push_success(&mut self, text: impl Into<String>) {
        self.stats.push(("stat good", text.into()));
    }

    /// Adds a state that indicates failure.
    pub(super) fn push_failure(&mut self, text: impl Into<String>) {
        self.stats.push(("stat bad", text.into()));
    }

    /// Adds the numbers of added and removed lines, unless they are 0.
    pub(super) fn push_line_counts(&mut self, added: usize, removed: usize) {
        if added > 0 {
            self.stats.push(("stat add", format!("+{added}")));
        }
        if removed > 0 {
            self.stats.push(("stat del", format!("−{removed}")));
        }
    }

    /// Returns `true` if the headline contains a failure.
    pub(super) fn has_failure(&self) -> bool {
        self.stats.iter().any(|(class, _)| *class == "stat bad")
    }

    /// Renders the headline. `kind` selects the icon; `tool` is the name of the tool.
    pub(super) fn render(self, kind: &str, tool: &str) -> Markup {
        let name = self.name.unwrap_or_else(|| truncate_line(tool, 60));
        html! {
            span class={ "tool-icon icon-" (kind) } aria-hidden="true" {}
            span class="tool-name" { (name) }
            @if !self.parts.is_empty() {
                " " span class="tool-summary" { @for part in &self.parts { (part) " " } }
            }
            @for (class, stat) in &self.stats { " " span class=(class) { (truncate_line(stat, 60)) } }
        }
    }
}
