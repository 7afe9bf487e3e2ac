//! The skimmer: walks JSON bytes once, checks the grammar, and hands out slices.
//!
//! It accepts exactly what RFC 8259 accepts, with two exceptions inside strings, both judged by the caller: control
//! bytes are noted and passed over, so that damaged lines can be read, and bytes past ASCII are not checked to
//! be UTF-8. Nothing recurses, nothing allocates up to 64 levels of nesting.

use super::json_str::JsonStr;
use super::key::{FIRST, Key, KeyPredictor};

/// Where and why the skimmer stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonError {
    /// Byte index in the slice that was skimmed.
    pub(crate) at: usize,
    /// Whether the bytes ended before the value did.
    pub(crate) cut: bool,
}

pub(crate) type JsonResult<T> = Result<T, JsonError>;

/// A cursor over JSON bytes.
#[derive(Debug)]
pub(crate) struct JsonScanner<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    /// Where the key of the member at hand starts, its quote included.
    pub(crate) key_at: usize,
    /// Deepest nesting met so far, as far as it was counted (by `value`).
    pub(crate) depth: usize,
    /// Whether the string taken last has escapes.
    pub(crate) escaped: bool,
    /// Where the first control byte inside a string stands.
    pub(crate) control: Option<usize>,
    /// Whether some escape is half of a surrogate pair.
    pub(crate) surrogates: bool,
}

impl<'a> JsonScanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        JsonScanner { bytes, at: 0, key_at: 0, depth: 0, escaped: false, control: None, surrogates: false }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Goes on from index `from` behind bytes known from before, if they stand there; returns those here.
    #[inline]
    pub(crate) fn skip_if_equal(&mut self, from: usize, known: &[u8]) -> Option<&'a [u8]> {
        let here = self.bytes.get(from..from + known.len())?;
        if known.is_empty() || here != known {
            return None;
        }
        self.at = from + known.len();
        Some(here)
    }

    /// Returns the bytes from index `from` to here.
    pub(crate) fn since(&self, from: usize) -> &'a [u8] {
        &self.bytes[from..self.at]
    }

    #[inline]
    pub(super) fn bad<T>(&self) -> JsonResult<T> {
        Err(JsonError { at: self.at.min(self.bytes.len()), cut: self.at >= self.bytes.len() })
    }

    #[inline]
    fn peek(&self) -> u8 {
        // 0 is no JSON byte, so the end of the bytes needs no case of its own.
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Skips white space and returns the byte after it, without taking it; 0 at the end.
    #[inline]
    pub(crate) fn next_token(&mut self) -> u8 {
        loop {
            let byte = self.peek();
            if byte > b' ' || !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return byte;
            }
            self.at += 1;
        }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> JsonResult<()> {
        if self.next_token() == byte {
            self.at += 1;
            Ok(())
        } else {
            self.bad()
        }
    }

    /// Takes a string if one comes next, else takes and drops whatever value does.
    #[inline]
    pub(crate) fn maybe_string(&mut self) -> JsonResult<Option<&'a [u8]>> {
        if self.next_token() == b'"' { self.string().map(Some) } else { self.value().map(|_| None) }
    }

    /// Takes any value; whether it was `true`.
    #[inline]
    pub(crate) fn read_bool(&mut self) -> JsonResult<bool> {
        Ok(self.value()? == b"true")
    }

    /// Takes the members of an object whose brace is the next byte: `member` gets each known key and takes its value.
    #[inline]
    pub(crate) fn members(
        &mut self,
        habit: &mut KeyPredictor,
        mut member: impl FnMut(&mut Self, Key) -> JsonResult<()>,
    ) -> JsonResult<()> {
        self.at += 1;
        if self.next_token() == b'}' {
            self.at += 1;
            return Ok(());
        }
        let mut state = FIRST;
        loop {
            let key = if let Some((key, len)) = habit.guess(self.bytes, self.at, state) {
                self.key_at = self.at + usize::from(state != FIRST);
                self.at += len;
                key
            } else {
                match self.key_after(habit, state)? {
                    Some(key) => key,
                    None => return Ok(()),
                }
            };
            member(self, key)?;
            state = key as usize;
        }
    }

    /// Takes what leads to the next value of an object: comma, key, colon; `None` where the object ends.
    #[inline(never)]
    fn key_after(&mut self, habit: &mut KeyPredictor, state: usize) -> JsonResult<Option<Key>> {
        let from = self.at;
        if state != FIRST {
            match self.next_token() {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(None);
                }
                _ => return self.bad(),
            }
        }
        if self.next_token() != b'"' {
            return self.bad();
        }
        self.key_at = self.at;
        let name = self.string()?;
        let escaped = self.escaped;
        self.expect(b':')?;
        if escaped {
            return Ok(Some(Key::named(JsonStr::new(name).decode().as_bytes())));
        }
        let key = Key::named(name);
        // A run of framing members is recalled from where its first key starts: only without white space. And what is
        // odd must be met each time.
        if self.key_at == from + usize::from(state != FIRST) && self.control.is_none() {
            habit.learn(&self.bytes[from..self.at], state, key);
        }
        Ok(Some(key))
    }

    /// Takes the members of an object whose brace is the next byte: `member` gets each key and takes its value.
    #[inline]
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a [u8]) -> JsonResult<()>,
    ) -> JsonResult<()> {
        self.at += 1;
        if self.next_token() == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.next_token() != b'"' {
                return self.bad();
            }
            self.key_at = self.at;
            let key = self.string()?;
            self.expect(b':')?;
            member(self, key)?;
            match self.next_token() {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.bad(),
            }
        }
    }

    /// Takes the items of an array whose bracket is the next byte: `item` takes each.
    #[inline]
    pub(crate) fn array(&mut self, mut item: impl FnMut(&mut Self) -> JsonResult<()>) -> JsonResult<()> {
        self.at += 1;
        if self.next_token() == b']' {
            self.at += 1;
            return Ok(());
        }
        loop {
            item(self)?;
            match self.next_token() {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return self.bad(),
            }
        }
    }

    /// Takes any value and returns its bytes.
    #[inline]
    pub(crate) fn value(&mut self) -> JsonResult<&'a [u8]> {
        let first = self.next_token();
        let start = self.at;
        match first {
            b'"' => {
                self.string()?;
            }
            b'{' | b'[' => self.nested()?,
            _ => self.scalar()?,
        }
        Ok(&self.bytes[start..self.at])
    }

    /// Takes an object or array whose opening is the next byte, without recursion.
    fn nested(&mut self) -> JsonResult<()> {
        let mut open = Open::default();
        'value: loop {
            // At the start of a value.
            match self.next_token() {
                b'"' => {
                    self.string()?;
                }
                b'{' => {
                    self.at += 1;
                    open.push(true);
                    self.depth = self.depth.max(open.depth);
                    if self.next_token() == b'}' {
                        self.at += 1;
                        open.pop();
                    } else {
                        self.key()?;
                        continue 'value;
                    }
                }
                b'[' => {
                    self.at += 1;
                    open.push(false);
                    self.depth = self.depth.max(open.depth);
                    if self.next_token() == b']' {
                        self.at += 1;
                        open.pop();
                    } else {
                        continue 'value;
                    }
                }
                _ => self.scalar()?,
            }
            // Behind a value: close what closes, then go on or be done.
            loop {
                if open.depth == 0 {
                    return Ok(());
                }
                match (self.next_token(), open.top) {
                    (b',', true) => {
                        self.at += 1;
                        self.key()?;
                        continue 'value;
                    }
                    (b',', false) => {
                        self.at += 1;
                        continue 'value;
                    }
                    (b'}', true) | (b']', false) => {
                        self.at += 1;
                        open.pop();
                    }
                    _ => return self.bad(),
                }
            }
        }
    }

    #[inline]
    fn key(&mut self) -> JsonResult<()> {
        if self.next_token() != b'"' {
            return self.bad();
        }
        self.string()?;
        self.expect(b':')
    }

    fn scalar(&mut self) -> JsonResult<()> {
        match self.peek() {
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &[u8]) -> JsonResult<()> {
        for &byte in word {
            if self.peek() != byte {
                return self.bad();
            }
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> JsonResult<()> {
        if self.peek() == b'-' {
            self.at += 1;
        }
        if self.peek() == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> JsonResult<()> {
        if !self.peek().is_ascii_digit() {
            return self.bad();
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }
}

/// The open brackets: one bit each (object or array), 64 in a register, older ones spilled.
#[derive(Default)]
struct Open {
    depth: usize,
    top: bool,
    bits: u64,
    spilled: Vec<u64>,
}

impl Open {
    #[inline]
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.spilled.push(self.bits);
        }
        self.bits = self.bits << 1 | u64::from(object);
        self.depth += 1;
        self.top = object;
    }

    #[inline]
    fn pop(&mut self) {
        self.bits >>= 1;
        self.depth -= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.bits = self.spilled.pop().unwrap_or(0);
        }
        self.top = self.bits & 1 == 1;
    }
}
