//! How text is drawn: colours and styles, as a sequence sets them.

use std::fmt::Write;

use super::palette::nearest;

/// Flags in the order of their classes.
const CLASSES: [&str; 6] = ["bo", "di", "it", "un", "in", "st"];
const BOLD: u8 = 1;
const DIM: u8 = 1 << 1;
const ITALIC: u8 = 1 << 2;
const UNDERLINE: u8 = 1 << 3;
const INVERSE: u8 = 1 << 4;
const STRIKE: u8 = 1 << 5;

/// How text is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Style {
    front: Option<u8>,
    back: Option<u8>,
    flags: u8,
}

impl Style {
    /// Takes the numbers of a sequence that ends in `m`.
    pub(super) fn set(&mut self, parameters: &str) {
        // Nobody means more than a few; a sequence of millions is not worth its memory.
        let groups = parameters.split(';').take(32).collect::<Vec<_>>();
        let mut at = 0;
        while let Some(group) = groups.get(at) {
            at += 1;
            let mut parts = group.split(':');
            let code = number(parts.next());
            if code != 38 && code != 48 {
                self.set_one(code, parts.next().map(|part| number(Some(part))));
                continue;
            }
            // Colours come as `38;5;1` or, in one piece, as `38:5:1` and `38:2::1:2:3`.
            let inner = parts.collect::<Vec<_>>();
            let color = if inner.is_empty() {
                let (color, used) = color(groups.get(at..).unwrap_or_default());
                at += used;
                color
            } else if inner.len() >= 5 {
                color(&[inner[0], inner[2], inner[3], inner[4]]).0
            } else {
                color(&inner).0
            };
            let side = if code == 38 { &mut self.front } else { &mut self.back };
            *side = color.or(*side);
        }
    }

    fn set_one(&mut self, code: u16, kind: Option<u16>) {
        match code {
            0 => *self = Style::default(),
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
            30..=37 => self.front = Some((code - 30) as u8),
            39 => self.front = None,
            40..=47 => self.back = Some((code - 40) as u8),
            49 => self.back = None,
            90..=97 => self.front = Some((code - 82) as u8),
            100..=107 => self.back = Some((code - 92) as u8),
            _ => {}
        }
    }

    /// Whether there is nothing to draw but the text.
    pub(super) fn is_plain(self) -> bool {
        self == Style::default()
    }

    /// Writes the classes.
    pub(super) fn classes(self, out: &mut String) {
        let inverse = self.flags & INVERSE != 0;
        let (front, back) = if inverse { (self.back, self.front) } else { (self.front, self.back) };
        // Text on the colour of text has no colour of its own; on another ground it is as any other.
        let plain = inverse && back.is_none();
        let (front, flags) = if plain { (None, self.flags) } else { (front, self.flags & !INVERSE) };
        let start = out.len();
        for (bit, class) in CLASSES.iter().enumerate() {
            if flags & (1 << bit) != 0 {
                out.push_str(class);
                out.push(' ');
            }
        }
        // Writing to a string cannot fail.
        let _ = front.map(|color| write!(out, "f{color} "));
        let _ = back.map(|color| write!(out, "b{color} "));
        if out.len() > start {
            out.pop();
        }
    }
}

/// Reads a number; what is none or too large is 0, as terminals have it.
fn number(text: Option<&str>) -> u16 {
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Reads a colour, and how many parameters it took.
fn color(parameters: &[&str]) -> (Option<u8>, usize) {
    let part = |at: usize| number(parameters.get(at).copied()).min(255) as u8;
    match parameters.first().copied() {
        Some("5") => (parameters.get(1).map(|_| part(1)), 2),
        Some("2") => (parameters.get(3).map(|_| nearest(part(1), part(2), part(3))), 4),
        _ => (None, 1),
    }
}
