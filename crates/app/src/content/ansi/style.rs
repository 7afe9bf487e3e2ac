//! Text styles as set by escape sequences.

use super::palette::find_nearest_color;

/// The flags of [`OutputStyle::flags`].
pub(crate) mod flag {
    pub(crate) const BOLD: u8 = 1;
    pub(crate) const DIM: u8 = 1 << 1;
    pub(crate) const ITALIC: u8 = 1 << 2;
    pub(crate) const UNDERLINE: u8 = 1 << 3;
    pub(crate) const INVERSE: u8 = 1 << 4;
    pub(crate) const STRIKE: u8 = 1 << 5;
}

use flag::*;

/// The colours and flags of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OutputStyle {
    /// The palette number of the text colour. `None` for the default colour.
    pub(crate) foreground: Option<u8>,
    /// The palette number of the background. `None` for the default background.
    pub(crate) background: Option<u8>,
    /// A set of [`flag`]s.
    pub(crate) flags: u8,
}

impl OutputStyle {
    /// Applies the first 32 parameters of an escape sequence that ends in `m`.
    pub(super) fn set(&mut self, parameters: &str) {
        // Real sequences have a few parameters; a hostile one with millions must not cost memory.
        let groups = parameters.split(';').take(32).collect::<Vec<_>>();
        let mut at = 0;
        while let Some(group) = groups.get(at) {
            at += 1;
            let mut parts = group.split(':');
            let code = parse_number(parts.next());
            if code != 38 && code != 48 {
                self.apply_code(code, parts.next().map(|part| parse_number(Some(part))));
                continue;
            }
            // Colours are written as `38;5;1`, or with subparameters as `38:5:1` and `38:2::1:2:3`.
            let inner = parts.collect::<Vec<_>>();
            let color = if inner.is_empty() {
                let (color, used) = parse_color(groups.get(at..).unwrap_or_default());
                at += used;
                color
            } else if inner.len() >= 5 {
                parse_color(&[inner[0], inner[2], inner[3], inner[4]]).0
            } else {
                parse_color(&inner).0
            };
            let target = if code == 38 { &mut self.foreground } else { &mut self.background };
            *target = color.or(*target);
        }
    }

    /// Applies a code other than those for extended colours. `kind` is its first subparameter.
    fn apply_code(&mut self, code: u16, kind: Option<u16>) {
        match code {
            0 => *self = OutputStyle::default(),
            1 => self.flags |= BOLD,
            2 => self.flags |= DIM,
            3 => self.flags |= ITALIC,
            4 if kind == Some(0) => self.flags &= !UNDERLINE,
            4 | 21 => self.flags |= UNDERLINE,
            7 => self.flags |= INVERSE,
            9 => self.flags |= STRIKE,
            22 => self.flags &= !(BOLD | DIM),
            23 => self.flags &= !ITALIC,
            24 => self.flags &= !UNDERLINE,
            27 => self.flags &= !INVERSE,
            29 => self.flags &= !STRIKE,
            30..=37 => self.foreground = Some((code - 30) as u8),
            39 => self.foreground = None,
            40..=47 => self.background = Some((code - 40) as u8),
            49 => self.background = None,
            90..=97 => self.foreground = Some((code - 82) as u8),
            100..=107 => self.background = Some((code - 92) as u8),
            _ => {}
        }
    }
}

/// Parses a parameter. A missing, invalid or too large number is 0, as in terminals.
fn parse_number(text: Option<&str>) -> u16 {
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Parses a colour after code 38 or 48. Returns its palette number, if it is valid, and the number of parameters that
/// it uses.
fn parse_color(parameters: &[&str]) -> (Option<u8>, usize) {
    let part = |at: usize| parse_number(parameters.get(at).copied()).min(255) as u8;
    match parameters.first().copied() {
        Some("5") => (parameters.get(1).map(|_| part(1)), 2),
        Some("2") => (parameters.get(3).map(|_| find_nearest_color(part(1), part(2), part(3))), 4),
        _ => (None, 1),
    }
}
