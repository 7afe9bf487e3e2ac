//! The JSON scanner: reads bytes once, checks the grammar, and returns slices.
//!
//! It accepts exactly what RFC 8259 accepts, with two exceptions inside strings, both checked by the caller: control
//! bytes are recorded and skipped, so that damaged lines can be read, and non-ASCII bytes are not checked to be UTF-8.
//! It does not recurse, and does not allocate up to 64 levels of nesting.

use super::json_str::JsonStr;
use super::key::{KeyPredictor, KnownKey, START_STATE};

/// A syntax error and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonError {
    /// The byte index in the scanned slice.
    pub(crate) offset: usize,
    /// Whether the bytes ended before the value did.
    pub(crate) is_truncated: bool,
}

pub(crate) type JsonResult<T> = Result<T, JsonError>;

/// A cursor over JSON bytes.
#[derive(Debug)]
pub(crate) struct JsonScanner<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) pos: usize,
    /// The index of the current member's key, its opening quote included.
    pub(crate) key_start: usize,
    /// The deepest nesting so far within one value read by `read_value`. Objects read member by member do not count.
    pub(crate) depth: usize,
    /// Whether the last string read may have escapes. It is never `false` for a string with escapes.
    pub(crate) has_escapes: bool,
    /// The index of the first unescaped control byte in any string so far.
    pub(crate) control_byte: Option<usize>,
    /// Whether an escape of a surrogate half, paired or not, may have occurred. Strings found by vector search have none.
    pub(crate) has_surrogates: bool,
}

impl<'a> JsonScanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        JsonScanner {
            bytes,
            pos: 0,
            key_start: 0,
            depth: 0,
            has_escapes: false,
            control_byte: None,
            has_surrogates: false,
        }
    }

    pub(crate) fn position(&self) -> usize {
        self.pos
    }

    /// Moves past the bytes `known` at index `from` and returns their slice of the input.
    ///
    /// Returns `None` without moving if the bytes differ, the input is shorter, or `known` is empty.
    #[inline]
    pub(crate) fn skip_if_equal(&mut self, from: usize, known: &[u8]) -> Option<&'a [u8]> {
        let here = self.bytes.get(from..from + known.len())?;
        if known.is_empty() || here != known {
            return None;
        }
        self.pos = from + known.len();
        Some(here)
    }

    /// Returns the bytes from index `from` to the current position.
    pub(crate) fn slice_from(&self, from: usize) -> &'a [u8] {
        &self.bytes[from..self.pos]
    }

    /// Returns an error at the current position.
    #[inline]
    pub(super) fn error<T>(&self) -> JsonResult<T> {
        Err(JsonError { offset: self.pos.min(self.bytes.len()), is_truncated: self.pos >= self.bytes.len() })
    }

    #[inline]
    fn peek(&self) -> u8 {
        // 0 is not a JSON byte, so the end of input needs no case of its own.
        self.bytes.get(self.pos).copied().unwrap_or(0)
    }

    /// Skips white space and returns the next byte without consuming it. Returns 0 at the end of the input.
    #[inline]
    pub(crate) fn next_token(&mut self) -> u8 {
        loop {
            let byte = self.peek();
            if byte > b' ' || !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return byte;
            }
            self.pos += 1;
        }
    }

    #[inline]
    fn expect_byte(&mut self, byte: u8) -> JsonResult<()> {
        if self.next_token() == byte {
            self.pos += 1;
            Ok(())
        } else {
            self.error()
        }
    }

    /// Reads the next value and returns the body of a string, escapes not decoded. Returns `None` for other values.
    #[inline]
    pub(crate) fn read_optional_string(&mut self) -> JsonResult<Option<&'a [u8]>> {
        if self.next_token() == b'"' { self.read_string().map(Some) } else { self.read_value().map(|_| None) }
    }

    /// Reads any value and returns whether it was the literal `true`.
    #[inline]
    pub(crate) fn read_bool(&mut self) -> JsonResult<bool> {
        Ok(self.read_value()? == b"true")
    }

    /// Reads the object that starts with the next byte, `{`, and calls `member` for each key. `member` must read the value.
    ///
    /// Unknown keys are passed as `KnownKey::Other`.
    #[inline]
    pub(crate) fn read_known_members(
        &mut self,
        predictor: &mut KeyPredictor,
        mut member: impl FnMut(&mut Self, KnownKey) -> JsonResult<()>,
    ) -> JsonResult<()> {
        self.pos += 1;
        if self.next_token() == b'}' {
            self.pos += 1;
            return Ok(());
        }
        let mut state = START_STATE;
        loop {
            let key = if let Some((key, len)) = predictor.predict(self.bytes, self.pos, state) {
                self.key_start = self.pos + usize::from(state != START_STATE);
                self.pos += len;
                key
            } else {
                match self.read_next_key(predictor, state)? {
                    Some(key) => key,
                    None => return Ok(()),
                }
            };
            member(self, key)?;
            state = key as usize;
        }
    }

    /// Reads up to the next value of an object: comma, key, colon. Returns `None` at the end of the object.
    ///
    /// `state` is the previous key, or `START_STATE`. The predictor learns the key.
    #[inline(never)]
    fn read_next_key(&mut self, predictor: &mut KeyPredictor, state: usize) -> JsonResult<Option<KnownKey>> {
        let from = self.pos;
        if state != START_STATE {
            match self.next_token() {
                b',' => self.pos += 1,
                b'}' => {
                    self.pos += 1;
                    return Ok(None);
                }
                _ => return self.error(),
            }
        }
        if self.next_token() != b'"' {
            return self.error();
        }
        self.key_start = self.pos;
        let name = self.read_string()?;
        let has_escapes = self.has_escapes;
        self.expect_byte(b':')?;
        if has_escapes {
            return Ok(Some(KnownKey::from_name(JsonStr::new(name).decode().as_bytes())));
        }
        let key = KnownKey::from_name(name);
        // A run of envelope fields is compared from the start of its first key, so learn only keys without white space
        // before them. Keys with control bytes must be reported each time.
        if self.key_start == from + usize::from(state != START_STATE) && self.control_byte.is_none() {
            predictor.learn(&self.bytes[from..self.pos], state, key);
        }
        Ok(Some(key))
    }

    /// Reads the object that starts with the next byte, `{`, and calls `member` with each key, escapes not decoded.
    ///
    /// `member` must read the value.
    #[inline]
    pub(crate) fn read_members(
        &mut self,
        mut member: impl FnMut(&mut Self, &'a [u8]) -> JsonResult<()>,
    ) -> JsonResult<()> {
        self.pos += 1;
        if self.next_token() == b'}' {
            self.pos += 1;
            return Ok(());
        }
        loop {
            if self.next_token() != b'"' {
                return self.error();
            }
            self.key_start = self.pos;
            let key = self.read_string()?;
            self.expect_byte(b':')?;
            member(self, key)?;
            match self.next_token() {
                b',' => self.pos += 1,
                b'}' => {
                    self.pos += 1;
                    return Ok(());
                }
                _ => return self.error(),
            }
        }
    }

    /// Reads the array that starts with the next byte, `[`, and calls `item` for each item. `item` must read the value.
    #[inline]
    pub(crate) fn read_items(&mut self, mut item: impl FnMut(&mut Self) -> JsonResult<()>) -> JsonResult<()> {
        self.pos += 1;
        if self.next_token() == b']' {
            self.pos += 1;
            return Ok(());
        }
        loop {
            item(self)?;
            match self.next_token() {
                b',' => self.pos += 1,
                b']' => {
                    self.pos += 1;
                    return Ok(());
                }
                _ => return self.error(),
            }
        }
    }

    /// Reads any value and returns its bytes, without white space around it.
    #[inline]
    pub(crate) fn read_value(&mut self) -> JsonResult<&'a [u8]> {
        let first = self.next_token();
        let start = self.pos;
        match first {
            b'"' => {
                self.read_string()?;
            }
            b'{' | b'[' => self.skip_nested()?,
            _ => self.skip_scalar()?,
        }
        Ok(&self.bytes[start..self.pos])
    }

    /// Skips the object or array that starts at the next byte, without recursion. Updates `depth`.
    fn skip_nested(&mut self) -> JsonResult<()> {
        let mut stack = BracketStack::default();
        'value: loop {
            // At the start of a value.
            match self.next_token() {
                b'"' => {
                    self.read_string()?;
                }
                b'{' => {
                    self.pos += 1;
                    stack.push(true);
                    self.depth = self.depth.max(stack.depth);
                    if self.next_token() == b'}' {
                        self.pos += 1;
                        stack.pop();
                    } else {
                        self.skip_key()?;
                        continue 'value;
                    }
                }
                b'[' => {
                    self.pos += 1;
                    stack.push(false);
                    self.depth = self.depth.max(stack.depth);
                    if self.next_token() == b']' {
                        self.pos += 1;
                        stack.pop();
                    } else {
                        continue 'value;
                    }
                }
                _ => self.skip_scalar()?,
            }
            // After a value: close brackets, then continue with the next value or return.
            loop {
                if stack.depth == 0 {
                    return Ok(());
                }
                match (self.next_token(), stack.top_is_object) {
                    (b',', true) => {
                        self.pos += 1;
                        self.skip_key()?;
                        continue 'value;
                    }
                    (b',', false) => {
                        self.pos += 1;
                        continue 'value;
                    }
                    (b'}', true) | (b']', false) => {
                        self.pos += 1;
                        stack.pop();
                    }
                    _ => return self.error(),
                }
            }
        }
    }

    #[inline]
    fn skip_key(&mut self) -> JsonResult<()> {
        if self.next_token() != b'"' {
            return self.error();
        }
        self.read_string()?;
        self.expect_byte(b':')
    }

    fn skip_scalar(&mut self) -> JsonResult<()> {
        match self.peek() {
            b't' => self.skip_literal(b"true"),
            b'f' => self.skip_literal(b"false"),
            b'n' => self.skip_literal(b"null"),
            _ => self.skip_number(),
        }
    }

    fn skip_literal(&mut self, literal: &[u8]) -> JsonResult<()> {
        for &byte in literal {
            if self.peek() != byte {
                return self.error();
            }
            self.pos += 1;
        }
        Ok(())
    }

    fn skip_number(&mut self) -> JsonResult<()> {
        if self.peek() == b'-' {
            self.pos += 1;
        }
        if self.peek() == b'0' {
            self.pos += 1;
        } else {
            self.skip_digits()?;
        }
        if self.peek() == b'.' {
            self.pos += 1;
            self.skip_digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.pos += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.pos += 1;
            }
            self.skip_digits()?;
        }
        Ok(())
    }

    fn skip_digits(&mut self) -> JsonResult<()> {
        if !self.peek().is_ascii_digit() {
            return self.error();
        }
        while self.peek().is_ascii_digit() {
            self.pos += 1;
        }
        Ok(())
    }
}

/// A stack of open brackets: one bit each (object or array), 64 in a register, older ones spilled to the heap.
#[derive(Default)]
struct BracketStack {
    depth: usize,
    top_is_object: bool,
    bits: u64,
    spilled: Vec<u64>,
}

impl BracketStack {
    #[inline]
    fn push(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.spilled.push(self.bits);
        }
        self.bits = self.bits << 1 | u64::from(is_object);
        self.depth += 1;
        self.top_is_object = is_object;
    }

    #[inline]
    fn pop(&mut self) {
        self.bits >>= 1;
        self.depth -= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.bits = self.spilled.pop().unwrap_or(0);
        }
        self.top_is_object = self.bits & 1 == 1;
    }
}
