//! Interprets the control characters of terminal output.

use super::screen::Screen;
use super::style::OutputStyle;
use crate::text::clean;

/// Interprets terminal output, and passes each run of text with one style to `emit`. Overwritten and erased text is
/// omitted.
///
/// The text of a run is clean. A line break is a run of its own if the output has control characters.
pub(crate) fn interpret(text: &str, mut emit: impl FnMut(OutputStyle, &str)) {
    if !text.contains(['\u{1b}', '\r', '\u{8}', '\u{9b}']) {
        return emit(OutputStyle::default(), &clean::text(text));
    }
    let mut screen = Screen::new(emit);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let len = clean::sequence_len(rest);
        if len > 0 {
            apply_sequence(&mut screen, &rest[..len]);
            rest = &rest[len..];
            continue;
        }
        match c {
            '\n' => screen.new_line(),
            '\r' => screen.move_to_start(),
            '\u{8}' => screen.backspace(),
            c => screen.put(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    screen.finish();
}

/// Applies an escape sequence. Ignores all but those for colours, styles and erasing.
fn apply_sequence<F: FnMut(OutputStyle, &str)>(screen: &mut Screen<F>, sequence: &str) {
    let body = sequence.strip_prefix("\u{1b}[").or_else(|| sequence.strip_prefix('\u{9b}'));
    let Some(body) = body else { return };
    let Some(last) = body.chars().next_back() else { return };
    let parameters = &body[..body.len() - last.len_utf8()];
    match (last, parameters) {
        // Sequences such as `>4m` have another meaning.
        ('m', _) if parameters.bytes().all(|b| matches!(b, b'0'..=b'9' | b';' | b':')) => {
            screen.style.set(parameters);
        }
        ('K', "" | "0") => screen.erase(false),
        ('K', "2") => screen.erase(true),
        ('G', "" | "0" | "1") => screen.move_to_start(),
        _ => {}
    }
}
