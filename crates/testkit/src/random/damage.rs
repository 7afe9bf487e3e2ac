//! Damage that occurs to files: truncation, NUL bytes, missing line breaks, CR LF, changed bytes.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A kind of damage with its position.
#[derive(Debug, Clone)]
pub enum Damage {
    /// Removes everything from here on.
    Truncate(Index),
    /// Removes a number of bytes.
    Remove(Index, usize),
    /// Overwrites a number of bytes with NUL.
    Zero(Index, usize),
    /// Appends a number of NULs.
    AppendNuls(usize),
    /// Removes the next line break.
    JoinLines(Index),
    /// Ends every line with CR LF.
    CrLf,
    /// Prepends a byte order mark.
    Bom,
    /// Inserts bytes: invalid UTF-8, control bytes, JSON syntax or line breaks.
    Insert(Index, Vec<u8>),
    /// Replaces a byte.
    Replace(Index, u8),
    /// Repeats a number of bytes.
    Repeat(Index, usize),
}

impl Damage {
    /// Applies the damage to `bytes`.
    pub fn apply(&self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        let position = |index: &Index| index.index(len + 1);
        match self {
            Damage::Truncate(at) => bytes.truncate(position(at)),
            Damage::Remove(at, count) => {
                let from = position(at);
                bytes.drain(from..len.min(from + count));
            }
            Damage::Zero(at, count) => {
                let from = position(at);
                bytes[from..len.min(from + count)].fill(0);
            }
            Damage::AppendNuls(count) => bytes.resize(len + count, 0),
            Damage::JoinLines(at) => {
                let from = position(at);
                if let Some(offset) = bytes[from..].iter().position(|&byte| byte == b'\n') {
                    bytes.remove(from + offset);
                }
            }
            Damage::CrLf => {
                *bytes = bytes.split(|&byte| byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]);
            }
            Damage::Bom => drop(bytes.splice(..0, *b"\xEF\xBB\xBF")),
            Damage::Insert(at, inserted) => {
                let at = position(at);
                bytes.splice(at..at, inserted.iter().copied());
            }
            Damage::Replace(at, byte) if len > 0 => bytes[at.index(len)] = *byte,
            Damage::Replace(..) => {}
            Damage::Repeat(at, count) => {
                let from = position(at);
                let repeated = bytes[from..len.min(from + count)].to_vec();
                bytes.splice(from..from, repeated);
            }
        }
    }
}

/// Generates one kind of damage.
pub fn damage() -> impl Strategy<Value = Damage> {
    let insertions: &[&[u8]] = &[
        b"\xFF",
        b"\xE2\x82",
        b"\xED\xA0\x80",
        b"\x80\x80\x80",
        b"\x01",
        b"\x00",
        b"\x1f\x7f",
        b"\n",
        b"\r",
        b"\r\n",
        b"\"",
        b"\\",
        b"\\u",
        b"\\ud800",
        b"{",
        b"}",
        b"{\"",
        b"]",
        b",",
        b":",
        b"\xEF\xBB\xBF",
        b" ",
        b"\x0b\x0c",
        b"{\"type\":\"user\",\"uuid\":\"x\"}",
    ];
    prop_oneof![
        2 => any::<Index>().prop_map(Damage::Truncate),
        2 => (any::<Index>(), 1usize..40).prop_map(|(at, count)| Damage::Remove(at, count)),
        2 => (any::<Index>(), 1usize..60).prop_map(|(at, count)| Damage::Zero(at, count)),
        1 => (1usize..600).prop_map(Damage::AppendNuls),
        3 => any::<Index>().prop_map(Damage::JoinLines),
        1 => Just(Damage::CrLf),
        1 => Just(Damage::Bom),
        6 => (any::<Index>(), select(insertions)).prop_map(|(at, inserted)| Damage::Insert(at, inserted.to_vec())),
        3 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        1 => (any::<Index>(), 1usize..80).prop_map(|(at, count)| Damage::Repeat(at, count)),
    ]
}

/// Damages bytes one to four times.
pub fn damaged(bytes: impl Strategy<Value = Vec<u8>> + 'static) -> BoxedStrategy<Vec<u8>> {
    (bytes, vec(damage(), 1..5))
        .prop_map(|(mut bytes, damages)| {
            damages.iter().for_each(|damage| damage.apply(&mut bytes));
            bytes
        })
        .boxed()
}

/// Generates the lengths of chunks to split bytes into.
pub fn chunk_lengths() -> BoxedStrategy<Vec<usize>> {
    prop_oneof![2 => Just(vec![1]), 3 => vec(1usize..20, 1..6), 2 => vec(1usize..5000, 1..4)].boxed()
}
