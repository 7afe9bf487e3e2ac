//! Keys as a keyboard of the United States has them.

use serde_json::{Value, json};

/// Keys that have a name: name, code, number; the text that some of them type stands in `typed`.
const NAMED: [(&str, &str, u32); 17] = [
    ("Enter", "Enter", 13),
    ("Escape", "Escape", 27),
    ("Tab", "Tab", 9),
    ("Space", "Space", 32),
    ("Backspace", "Backspace", 8),
    ("Delete", "Delete", 46),
    ("Home", "Home", 36),
    ("End", "End", 35),
    ("PageUp", "PageUp", 33),
    ("PageDown", "PageDown", 34),
    ("ArrowLeft", "ArrowLeft", 37),
    ("ArrowUp", "ArrowUp", 38),
    ("ArrowRight", "ArrowRight", 39),
    ("ArrowDown", "ArrowDown", 40),
    ("Shift", "ShiftLeft", 16),
    ("Control", "ControlLeft", 17),
    ("Alt", "AltLeft", 18),
];

/// Keys of signs: without Shift, with it, code, number.
const SIGNS: [(char, char, &str, u32); 21] = [
    ('0', ')', "Digit0", 48),
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    (';', ':', "Semicolon", 186),
    ('=', '+', "Equal", 187),
    (',', '<', "Comma", 188),
    ('-', '_', "Minus", 189),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('`', '~', "Backquote", 192),
    ('[', '{', "BracketLeft", 219),
    ('\\', '|', "Backslash", 220),
    (']', '}', "BracketRight", 221),
    ('\'', '"', "Quote", 222),
];

/// The modifiers with their bits in the protocol.
const MODIFIERS: [(&str, u8); 3] = [("Alt", 1), ("Control", 2), ("Shift", 8)];
const ALT_OR_CONTROL: u8 = 3;
const SHIFT: u8 = 8;

/// A key of the keyboard.
#[derive(Clone)]
struct Key {
    key: String,
    code: String,
    number: u32,
    /// Whether Shift must be held for it.
    shifted: bool,
}

/// A key that goes down or up.
pub(super) struct Stroke {
    key: Key,
    down: bool,
    modifiers: u8,
}

impl Stroke {
    /// Returns the event as the protocol wants it.
    pub(super) fn event(&self) -> Value {
        let text = self.typed().filter(|_| self.down);
        let kind = match (self.down, &text) {
            (true, Some(_)) => "keyDown",
            (true, None) => "rawKeyDown",
            (false, _) => "keyUp",
        };
        let mut event = json!({
            "type": kind,
            "key": self.key.key,
            "code": self.key.code,
            "windowsVirtualKeyCode": self.key.number,
            "modifiers": self.modifiers,
        });
        if let Some(text) = text {
            event["text"] = text.into();
        }
        event
    }

    /// Returns the text that the key types.
    fn typed(&self) -> Option<String> {
        if self.modifiers & ALT_OR_CONTROL != 0 {
            return None;
        }
        match self.key.key.as_str() {
            "Enter" => Some("\r".to_owned()),
            key if key.chars().count() == 1 => Some(key.to_owned()),
            _ => None,
        }
    }
}

/// Returns the strokes of a key with its modifiers, such as `Control+Shift+k`: down in order, and up again.
pub(super) fn strokes(name: &str) -> Option<Vec<Stroke>> {
    let mut rest = name;
    let mut wanted = 0;
    while let Some((bit, after)) = modifier(rest) {
        wanted |= bit;
        rest = after;
    }
    let mut key = key(rest)?;
    if key.shifted {
        wanted |= SHIFT;
    } else if wanted & SHIFT != 0 && key.key.chars().count() == 1 {
        key.key = shifted(&key);
    }
    let mut strokes = Vec::new();
    let mut modifiers = 0;
    let mut ups = Vec::new();
    for (name, bit) in MODIFIERS.into_iter().filter(|(_, bit)| wanted & bit != 0) {
        let held = self::key(name)?;
        ups.push(Stroke { key: held.clone(), down: false, modifiers });
        modifiers |= bit;
        strokes.push(Stroke { key: held, down: true, modifiers });
    }
    strokes.push(Stroke { key: key.clone(), down: true, modifiers });
    strokes.push(Stroke { key, down: false, modifiers });
    strokes.extend(ups.into_iter().rev());
    Some(strokes)
}

/// Parts `Shift+Tab` into the bit of its modifier and what follows.
fn modifier(name: &str) -> Option<(u8, &str)> {
    let (first, rest) = name.split_once('+')?;
    let (_, bit) = MODIFIERS.into_iter().find(|(modifier, _)| *modifier == first)?;
    Some((bit, rest))
}

/// Returns what a key types with Shift.
fn shifted(key: &Key) -> String {
    let sign = SIGNS.iter().find(|sign| sign.2 == key.code);
    sign.map_or_else(|| key.key.to_uppercase(), |sign| sign.1.to_string())
}

/// Returns the key of a name or a sign.
fn key(name: &str) -> Option<Key> {
    if let Some((name, code, number)) = NAMED.into_iter().find(|named| named.0 == name) {
        let key = if name == "Space" { " " } else { name };
        return Some(Key { key: key.to_owned(), code: code.to_owned(), number, shifted: false });
    }
    let mut signs = name.chars();
    let (Some(sign), None) = (signs.next(), signs.next()) else { return None };
    if sign == ' ' {
        return self::key("Space");
    }
    if sign.is_ascii_alphabetic() {
        let upper = sign.to_ascii_uppercase();
        let (code, number) = (format!("Key{upper}"), u32::from(upper));
        return Some(Key { key: sign.to_string(), code, number, shifted: sign == upper });
    }
    let (_, with, code, number) = SIGNS.into_iter().find(|row| row.0 == sign || row.1 == sign)?;
    Some(Key { key: sign.to_string(), code: code.to_owned(), number, shifted: sign == with })
}
