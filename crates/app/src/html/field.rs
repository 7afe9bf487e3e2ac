//! Hidden fields of forms.

use maud::{Markup, PreEscaped, html};

use super::text::push_escaped;
use crate::text::clean;

/// Renders a hidden field. The browser sends the value unchanged, but the page contains no hostile characters: they are
/// written as character references. NUL and C1 controls have none and become replacement characters.
pub(crate) fn render_hidden_field(name: &str, value: &str) -> Markup {
    let mut escaped = String::with_capacity(value.len());
    for part in value.split_inclusive(clean::is_hostile) {
        let hostile = part.chars().next_back().filter(|c| clean::is_hostile(*c));
        push_escaped(&mut escaped, &part[..part.len() - hostile.map_or(0, char::len_utf8)]);
        match hostile {
            Some('\0' | '\u{80}'..='\u{9f}') => escaped.push(char::REPLACEMENT_CHARACTER),
            Some(c) => escaped.push_str(&format!("&#x{:X};", c as u32)),
            None => {}
        }
    }
    html! { input type="hidden" name=(name) value=(PreEscaped(escaped)); }
}

#[cfg(test)]
mod tests {
    use super::render_hidden_field;

    #[test]
    fn hostile_characters_become_references() {
        let value = "a\"<b>&\u{202e}c\u{e0041}\u{1b}\u{85}\0\u{200d}d\u{200f}";
        assert_eq!(
            render_hidden_field("n", value).into_string(),
            "<input type=\"hidden\" name=\"n\" value=\"a&quot;&lt;b&gt;&amp;&#x202E;c&#xE0041;&#x1B;\u{fffd}\u{fffd}\u{200d}d&#x200F;\">"
        );
        assert_eq!(
            render_hidden_field("n", "").into_string(),
            "<input type=\"hidden\" name=\"n\" value=\"\">"
        );
    }
}
