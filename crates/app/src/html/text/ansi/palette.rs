//! The style rules of the 256 colours of terminals.

use std::fmt::Write;

use crate::content::ansi::{Color, components};

/// Text and background colour of terminal output (`--fg`, `--bg-2`) in the light and in the dark theme.
const THEMES: [(Color, Color); 2] = [([29, 27, 25], [245, 243, 240]), ([236, 232, 226], [31, 29, 27])];
/// The minimum contrast ratio of text.
const MIN_CONTRAST: f64 = 4.5;

/// Returns the style rules of the colours: `f0`…`f255` for text, `b0`…`b255` for backgrounds.
///
/// The first sixteen colours belong to the theme. The others are mixed with the text colour until they have enough
/// contrast in both themes. A background is only a tint, and text on it is mixed with the text colour (`--m`, used by
/// text.css).
pub(crate) fn palette_css() -> String {
    let mut rules = String::with_capacity(32 * 1024);
    for number in 0..=255u8 {
        let (background, text) = if number < 16 {
            let themed = format!("var(--c{number})");
            (themed.clone(), themed)
        } else {
            let color = components(number);
            let hex = format!("#{:02x}{:02x}{:02x}", color[0], color[1], color[2]);
            let text = format!("color-mix(in srgb,{hex} {}%,var(--fg))", find_readable_share(color));
            (hex, text)
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            rules,
            ".ansi .f{number}{{--i:{text}}}.ansi .b{number}{{--m:30%;background:color-mix(in srgb,{background} 20%,var(--bg-2))}}"
        );
    }
    rules
}

/// Returns the largest percentage of a colour, mixed with the text colour, that is readable in both themes. It is a
/// multiple of 5.
fn find_readable_share(color: Color) -> u8 {
    let is_readable = |share: &u8| {
        let mixed = |with: Color| mix(color, f64::from(*share) / 100.0, with);
        THEMES.iter().all(|(text, background)| contrast(mixed(*text), *background) >= MIN_CONTRAST)
    };
    (0..=100).rev().step_by(5).find(is_readable).unwrap_or(0)
}

/// Mixes two colours like `color-mix` in CSS. `share` is the part of `color`, from 0 to 1.
fn mix(color: Color, share: f64, with: Color) -> Color {
    let part = |at: usize| f64::from(color[at]) * share + f64::from(with[at]) * (1.0 - share);
    [0, 1, 2].map(|at| part(at).round() as u8)
}

/// Returns the contrast ratio of two colours, from 1 to 21.
fn contrast(a: Color, b: Color) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Returns the relative luminance of a colour, from 0 to 1.
fn luminance(color: Color) -> f64 {
    let part = |at: usize| {
        let part = f64::from(color[at]) / 255.0;
        if part <= 0.03928 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(0) + 0.7152 * part(1) + 0.0722 * part(2)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{Color, MIN_CONTRAST, THEMES, contrast, mix, palette_css};

    const BASE: &str = include_str!("../../../../assets/style/base.css");

    /// Parses the colour variables of the style sheet: the light theme and the dark theme.
    fn themes() -> [HashMap<&'static str, Color>; 2] {
        let light = BASE.split_once(":root {").unwrap().1;
        let dark = BASE.split_once(":root[data-theme=\"dark\"] {").unwrap().1;
        [light, dark].map(|rules| {
            let rules = rules.split_once('}').unwrap().0;
            let named = rules.split([';', '\n']).filter_map(|rule| rule.trim().split_once(": #"));
            named.map(|(name, color)| (name, hex(color))).collect()
        })
    }

    fn hex(color: &str) -> Color {
        [0, 2, 4].map(|at| u8::from_str_radix(&color[at..at + 2], 16).unwrap())
    }

    /// Evaluates a CSS colour: `#123456`, `var(--x)`, or a mix of two.
    fn color(css: &str, theme: &HashMap<&str, Color>) -> Color {
        if let Some(color) = css.strip_prefix('#') {
            return hex(color);
        }
        if let Some(name) = css.strip_prefix("var(") {
            return theme[name.trim_end_matches(')')];
        }
        let inside = css.strip_prefix("color-mix(in srgb,").unwrap().strip_suffix(')').unwrap();
        let (first, second) = inside.split_once(',').unwrap();
        let (first, share) = first.split_once(' ').unwrap();
        let share: f64 = share.trim_end_matches('%').parse().unwrap();
        mix(color(first, theme), share / 100.0, color(second, theme))
    }

    #[test]
    fn all_colours_have_enough_contrast_on_all_backgrounds() {
        let rules = palette_css();
        for (theme, (text, background)) in themes().iter().zip(THEMES) {
            assert_eq!((theme["--fg"], theme["--bg-2"]), (text, background));
            let mut texts = vec![text, theme["--fg-3"]];
            let mut backgrounds = Vec::new();
            for rule in rules.lines() {
                let (front, back) = rule.split_once("}").unwrap();
                texts.push(color(front.split_once("--i:").unwrap().1, theme));
                let back = back.split_once("--m:30%;background:").unwrap().1;
                backgrounds.push(color(back.trim_end_matches('}'), theme));
            }
            assert_eq!((texts.len(), backgrounds.len()), (258, 256));
            for (idx, &front) in texts.iter().enumerate() {
                assert!(contrast(front, background) >= MIN_CONTRAST, "{idx}: {front:?} on {background:?}");
                let front = mix(front, 0.3, text);
                for (back, &background) in backgrounds.iter().enumerate() {
                    assert!(
                        contrast(front, background) >= MIN_CONTRAST,
                        "{idx} on {back}: {front:?} on {background:?}"
                    );
                }
            }
        }
    }
}
