//! A compact binary encoding for values cached between runs.
//!
//! The encoding has no field names and no version. Only the code that wrote the bytes can read them, so a cache must
//! store which build wrote each value. Decoding arbitrary bytes returns a value or `None`. It never panics, and never
//! allocates more memory than the bytes could fill.

mod basic;
mod collections;

/// A value that can be encoded as bytes.
pub trait Pack: Sized {
    /// Appends the encoded value to `out`.
    fn pack_into(&self, out: &mut Vec<u8>);

    /// Decodes a value and moves the cursor past it. Returns `None` if the bytes are truncated or not a valid encoding.
    fn unpack_from(from: &mut Unpacker<'_>) -> Option<Self>;

    /// Returns the encoded bytes of the value.
    fn to_packed(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.pack_into(&mut out);
        out
    }

    /// Decodes a value from all of `bytes`. Returns `None` if the encoding is invalid or bytes remain.
    fn from_packed(bytes: &[u8]) -> Option<Self> {
        let mut from = Unpacker::new(bytes);
        Self::unpack_from(&mut from).filter(|_| from.remaining() == 0)
    }
}

/// A cursor over encoded bytes.
#[derive(Debug, Clone)]
pub struct Unpacker<'b> {
    bytes: &'b [u8],
}

impl<'b> Unpacker<'b> {
    /// Creates a cursor at the first byte.
    pub fn new(bytes: &'b [u8]) -> Unpacker<'b> {
        Unpacker { bytes }
    }

    /// Returns the number of bytes not yet read.
    pub fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Reads the next `count` bytes. Returns `None` if fewer remain.
    pub fn take_bytes(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    /// Reads the next `N` bytes. Returns `None` if fewer remain.
    pub fn take_array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take_bytes(N)?.try_into().ok()
    }

    /// Reads the number of values that follow. Returns `None` if it is malformed or exceeds the number of remaining bytes.
    fn take_count(&mut self) -> Option<usize> {
        usize::unpack_from(self).filter(|&count| count <= self.remaining())
    }
}

/// Implements `Pack` for a struct, field by field in the given order. A missing field does not compile.
#[macro_export]
macro_rules! pack_fields {
    ($name:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::pack::Pack for $name {
            fn pack_into(&self, out: &mut Vec<u8>) {
                let $name { $($field),+ } = self;
                $($crate::pack::Pack::pack_into($field, out);)+
            }

            fn unpack_from(from: &mut $crate::pack::Unpacker<'_>) -> Option<Self> {
                $(let $field = $crate::pack::Pack::unpack_from(from)?;)+
                Some($name { $($field),+ })
            }
        }
    };
}
