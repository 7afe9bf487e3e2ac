//! Renders what an export replaces.

use maud::{Markup, html};
use rethread_engine::ops::redact::RulePreview;

use crate::text::clean;
use crate::text::figures::group_digits;

/// Renders the rules of a redaction with their counts and the texts around the first places.
pub(crate) fn render_redaction_preview(rules: &[RulePreview]) -> Markup {
    html! {
        @if rules.is_empty() {
            p class="muted" { "An export of this session replaces nothing." }
        } @else {
            p class="muted" { "Exports replace these texts, in all files of the session." }
            table class="action-table" {
                thead { tr { th scope="col" { "Rule" } th scope="col" { "Texts" } th scope="col" { "Places" } } }
                tbody {
                    @for rule in rules {
                        tr {
                            th scope="row" {
                                (clean::line(&rule.rule))
                                @for context in &rule.contexts { div class="muted" { (clean::line(context)) } }
                            }
                            td { (group_digits(rule.texts as u64)) }
                            td { (group_digits(rule.places)) }
                        }
                    }
                }
            }
        }
    }
}
