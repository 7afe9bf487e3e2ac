//! The keys of a US keyboard.

use serde_json::{Value, json};

/// Named keys: name, code, virtual key code. `KeyEvent::typed_text` has the text that some of them type.
const NAMED_KEYS: [(&str, &str, u32); 17] = [
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

/// Character keys: without Shift, with Shift, code, virtual key code.
const CHARACTER_KEYS: [(char, char, &str, u32); 21] = [
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

/// The modifiers and their bits in the DevTools protocol.
const MODIFIERS: [(&str, u8); 3] = [("Alt", 1), ("Control", 2), ("Shift", 8)];
const ALT_OR_CONTROL: u8 = 3;
const SHIFT: u8 = 8;

/// A key of the keyboard.
#[derive(Clone)]
struct Key {
    key: String,
    code: String,
    key_code: u32,
    /// Whether the key needs Shift.
    needs_shift: bool,
}

/// The press or the release of a key.
pub(super) struct KeyEvent {
    key: Key,
    is_down: bool,
    modifiers: u8,
}

impl KeyEvent {
    /// Returns the parameters of `Input.dispatchKeyEvent`.
    pub(super) fn to_params(&self) -> Value {
        let text = self.typed_text().filter(|_| self.is_down);
        let kind = match (self.is_down, &text) {
            (true, Some(_)) => "keyDown",
            (true, None) => "rawKeyDown",
            (false, _) => "keyUp",
        };
        let mut event = json!({
            "type": kind,
            "key": self.key.key,
            "code": self.key.code,
            "windowsVirtualKeyCode": self.key.key_code,
            "modifiers": self.modifiers,
        });
        if let Some(text) = text {
            event["text"] = text.into();
        }
        event
    }

    /// Returns the text that the key types. Returns `None` if it types none.
    fn typed_text(&self) -> Option<String> {
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

/// Returns the events for a key with modifiers, such as `Control+Shift+k`: all presses, then all releases.
///
/// Returns `None` if the key is unknown.
pub(super) fn key_events(name: &str) -> Option<Vec<KeyEvent>> {
    let mut rest = name;
    let mut requested = 0;
    while let Some((bit, after)) = split_modifier(rest) {
        requested |= bit;
        rest = after;
    }
    let mut key = find_key(rest)?;
    if key.needs_shift {
        requested |= SHIFT;
    } else if requested & SHIFT != 0 && key.key.chars().count() == 1 {
        key.key = shifted_text(&key);
    }
    let mut events = Vec::new();
    let mut modifiers = 0;
    let mut releases = Vec::new();
    for (name, bit) in MODIFIERS.into_iter().filter(|(_, bit)| requested & bit != 0) {
        let modifier = find_key(name)?;
        releases.push(KeyEvent { key: modifier.clone(), is_down: false, modifiers });
        modifiers |= bit;
        events.push(KeyEvent { key: modifier, is_down: true, modifiers });
    }
    events.push(KeyEvent { key: key.clone(), is_down: true, modifiers });
    events.push(KeyEvent { key, is_down: false, modifiers });
    events.extend(releases.into_iter().rev());
    Some(events)
}

/// Splits `Shift+Tab` into the bit of its modifier and the rest. Returns `None` if there is no modifier.
fn split_modifier(name: &str) -> Option<(u8, &str)> {
    let (first, rest) = name.split_once('+')?;
    let (_, bit) = MODIFIERS.into_iter().find(|(modifier, _)| *modifier == first)?;
    Some((bit, rest))
}

/// Returns the text that a key types with Shift.
fn shifted_text(key: &Key) -> String {
    let row = CHARACTER_KEYS.iter().find(|row| row.2 == key.code);
    row.map_or_else(|| key.key.to_uppercase(), |row| row.1.to_string())
}

/// Returns the key with a name or for a character. Returns `None` if there is none.
fn find_key(name: &str) -> Option<Key> {
    if let Some((name, code, key_code)) = NAMED_KEYS.into_iter().find(|row| row.0 == name) {
        let key = if name == "Space" { " " } else { name };
        return Some(Key { key: key.to_owned(), code: code.to_owned(), key_code, needs_shift: false });
    }
    let mut chars = name.chars();
    let (Some(c), None) = (chars.next(), chars.next()) else { return None };
    if c == ' ' {
        return find_key("Space");
    }
    if c.is_ascii_alphabetic() {
        let upper = c.to_ascii_uppercase();
        let (code, key_code) = (format!("Key{upper}"), u32::from(upper));
        return Some(Key { key: c.to_string(), code, key_code, needs_shift: c == upper });
    }
    let (_, shifted, code, key_code) = CHARACTER_KEYS.into_iter().find(|row| row.0 == c || row.1 == c)?;
    Some(Key { key: c.to_string(), code: code.to_owned(), key_code, needs_shift: c == shifted })
}
