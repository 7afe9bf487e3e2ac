//! Renders the output of a program as markup.

use maud::{Markup, PreEscaped};

use super::classes::write_classes;
use crate::content::ansi::{OutputStyle, interpret};
use crate::html::text::escape;

/// Renders terminal output with its colours. Overwritten and erased text is omitted.
pub(crate) fn render_terminal(text: &str) -> Markup {
    let mut out = String::with_capacity(text.len() + text.len() / 8 + 32);
    out.push_str("<pre class=\"ansi\">");
    // Browsers ignore a line break directly after this tag.
    if text.starts_with(['\n', '\r']) {
        out.push('\n');
    }
    interpret(text, |style, run| {
        if style == OutputStyle::default() {
            return escape::push_escaped(&mut out, run);
        }
        out.push_str("<span class=\"");
        write_classes(style, &mut out);
        out.push_str("\">");
        escape::push_escaped(&mut out, run);
        out.push_str("</span>");
    });
    out.push_str("</pre>");
    PreEscaped(out)
}

#[cfg(test)]
mod tests {
    use super::render_terminal;
    use crate::html::text::check;

    #[test]
    fn output_is_rendered_in_its_final_state() {
        let cases = [
            ("plain <b>\n", "plain &lt;b&gt;\n"),
            ("\u{1b}[31mred\u{1b}[0m.", "<span class=\"f1\">red</span>."),
            (
                "\u{1b}[1;4;38;5;208mx\u{1b}[22my\u{1b}[mz",
                "<span class=\"bo un f208\">x</span><span class=\"un f208\">y</span>z",
            ),
            ("\u{1b}[38;2;255;0;0mx\u{1b}[39my", "<span class=\"f196\">x</span>y"),
            (
                "\u{1b}[38:2::255:0:0mx\u{1b}[48:5:4my",
                "<span class=\"f196\">x</span><span class=\"f196 b4\">y</span>",
            ),
            ("\u{1b}[7;32mx", "<span class=\"b2\">x</span>"),
            ("\u{1b}[7mx\u{1b}[40my\u{1b}[33mz", {
                "<span class=\"in\">x</span><span class=\"in\">y</span><span class=\"f0 b3\">z</span>"
            }),
            ("\u{1b}[97;100mx", "<span class=\"f15 b8\">x</span>"),
            ("\u{1b}[2;3;9mx\u{1b}[23;29m\u{1b}[22my", "<span class=\"di it st\">x</span>y"),
            ("\u{9b}31mx", "<span class=\"f1\">x</span>"),
            ("\u{1b}[31m\u{1b}[0m", ""),
            ("10%\r50%\r100%\n", "100%\n"),
            ("long line\rshort", "shortline"),
            ("long line\r\u{1b}[Kshort", "short"),
            ("long line\u{1b}[2Kshort", "short"),
            ("a\r\nb\r\r\nc", "a\nb\nc"),
            ("ab\u{8}c", "ac"),
            ("|\u{8}/\u{8}-\u{8}", ""),
            ("\u{8}\u{8}x", "x"),
            ("\u{1b}]8;;https://a.b\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;title\u{7}x\u{1b}[2J\u{1b}[H\u{1b}[?25l\u{1b}[>4my", "xy"),
            ("a\u{1b}[31mb\u{202e}c\0", "a<span class=\"f1\">b&lt;U+202E&gt;c␀</span>"),
            ("\u{1b}[38;5mx\u{1b}[38my\u{1b}[999999999999mz", "xyz"),
            ("\n\nx", "\n\n\nx"),
        ];
        for (text, rendered) in cases {
            assert_eq!(
                render_terminal(text).into_string(),
                format!("<pre class=\"ansi\">{rendered}</pre>"),
                "{text:?}"
            );
        }
    }

    #[test]
    fn markup_of_hostile_output_grows_linearly() {
        for piece in [
            "\u{1b}[31mx\u{1b}[32m",
            "x\r",
            "\u{1b}[",
            "\u{1b}[1;1;1;1;1;1;",
            "x\u{1b}[2K",
            "\u{8}",
            "\u{1b}]8;;",
            "x",
            "<\u{1b}[K",
        ] {
            let text = |len: usize| format!("\r{}", piece.repeat(len / piece.len()));
            check::check_linear_growth(text, |text| render_terminal(text).into_string(), 75_000);
        }
    }
}
