//! What happens to files: cut short, filled with NULs, glued, edited on Windows, flipped.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// One thing that happens to bytes; places are counted modulo the length.
#[derive(Debug, Clone)]
pub enum Damage {
    /// Everything from here on is gone.
    Cut(Index),
    /// These bytes are gone.
    Hole(Index, usize),
    /// NULs stand over what was here.
    Nuls(Index, usize),
    /// NULs were added at the end.
    NulTail(usize),
    /// The line break after this place is gone.
    Glue(Index),
    /// Every line ends with CR LF.
    CrLf,
    /// A byte order mark stands in front.
    Bom,
    /// These bytes were put in: not UTF-8, control bytes, JSON's own signs, breaks.
    Insert(Index, Vec<u8>),
    /// One byte is another.
    Flip(Index, u8),
    /// A part stands twice.
    Twice(Index, usize),
}

impl Damage {
    /// Does it.
    pub fn strike(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        let place = |index: &Index| index.index(length + 1);
        match self {
            Damage::Cut(at) => bytes.truncate(place(at)),
            Damage::Hole(at, many) => {
                let from = place(at);
                bytes.drain(from..length.min(from + many));
            }
            Damage::Nuls(at, many) => {
                let from = place(at);
                bytes[from..length.min(from + many)].fill(0);
            }
            Damage::NulTail(many) => bytes.resize(length + many, 0),
            Damage::Glue(at) => {
                let from = place(at);
                if let Some(k) = bytes[from..].iter().position(|&byte| byte == b'\n') {
                    bytes.remove(from + k);
                }
            }
            Damage::CrLf => {
                *bytes = bytes.split(|&byte| byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]);
            }
            Damage::Bom => drop(bytes.splice(..0, *b"\xEF\xBB\xBF")),
            Damage::Insert(at, what) => {
                let at = place(at);
                bytes.splice(at..at, what.iter().copied());
            }
            Damage::Flip(at, byte) if length > 0 => bytes[at.index(length)] = *byte,
            Damage::Flip(..) => {}
            Damage::Twice(at, many) => {
                let from = place(at);
                let part = bytes[from..length.min(from + many)].to_vec();
                bytes.splice(from..from, part);
            }
        }
    }
}

/// Makes one damage.
pub fn damage() -> impl Strategy<Value = Damage> {
    let odd: &[&[u8]] = &[
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
        2 => any::<Index>().prop_map(Damage::Cut),
        2 => (any::<Index>(), 1usize..40).prop_map(|(at, many)| Damage::Hole(at, many)),
        2 => (any::<Index>(), 1usize..60).prop_map(|(at, many)| Damage::Nuls(at, many)),
        1 => (1usize..600).prop_map(Damage::NulTail),
        3 => any::<Index>().prop_map(Damage::Glue),
        1 => Just(Damage::CrLf),
        1 => Just(Damage::Bom),
        6 => (any::<Index>(), select(odd)).prop_map(|(at, what)| Damage::Insert(at, what.to_vec())),
        3 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        1 => (any::<Index>(), 1usize..80).prop_map(|(at, many)| Damage::Twice(at, many)),
    ]
}

/// Makes bytes that something happened to, once or a few times.
pub fn damaged(bytes: impl Strategy<Value = Vec<u8>> + 'static) -> BoxedStrategy<Vec<u8>> {
    (bytes, vec(damage(), 1..5))
        .prop_map(|(mut bytes, all)| {
            all.iter().for_each(|damage| damage.strike(&mut bytes));
            bytes
        })
        .boxed()
}

/// Makes lengths of pieces to cut bytes into.
pub fn pieces() -> BoxedStrategy<Vec<usize>> {
    prop_oneof![2 => Just(vec![1]), 3 => vec(1usize..20, 1..6), 2 => vec(1usize..5000, 1..4)].boxed()
}
