//! Values as bytes and back, for what is kept between runs.
//!
//! Nothing here names a field: what stands where is only known to the code that wrote it, so whoever keeps packed bytes
//! also keeps by what code they were made. Any bytes give a value or none, never a panic, and never take more memory than
//! there are bytes to fill it.

mod basic;
mod collections;

/// A value that can be kept as bytes.
pub trait Pack: Sized {
    /// Writes the value behind what is there.
    fn pack(&self, out: &mut Vec<u8>);

    /// Reads a value back; `None` where the bytes are none.
    fn unpack(from: &mut Unpacker<'_>) -> Option<Self>;

    /// Returns the value as bytes.
    fn packed(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.pack(&mut out);
        out
    }

    /// Reads a value that all of the bytes are of.
    fn unpacked(bytes: &[u8]) -> Option<Self> {
        let mut from = Unpacker::new(bytes);
        Self::unpack(&mut from).filter(|_| from.left() == 0)
    }
}

/// Bytes that are read from their beginning.
#[derive(Debug, Clone)]
pub struct Unpacker<'b> {
    bytes: &'b [u8],
}

impl<'b> Unpacker<'b> {
    /// Starts at the first byte.
    pub fn new(bytes: &'b [u8]) -> Unpacker<'b> {
        Unpacker { bytes }
    }

    /// Returns how many bytes are left.
    pub fn left(&self) -> usize {
        self.bytes.len()
    }

    /// Takes the next `count` bytes.
    pub fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    /// Takes a fixed number of bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// Takes how many things follow; each of them has at least a byte.
    fn count(&mut self) -> Option<usize> {
        usize::unpack(self).filter(|&count| count <= self.left())
    }
}

/// Packs a struct field by field, in the order they are named in; one that is not named does not compile.
#[macro_export]
macro_rules! pack_fields {
    ($name:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::pack::Pack for $name {
            fn pack(&self, out: &mut Vec<u8>) {
                let $name { $($field),+ } = self;
                $($crate::pack::Pack::pack($field, out);)+
            }

            fn unpack(from: &mut $crate::pack::Unpacker<'_>) -> Option<Self> {
                $(let $field = $crate::pack::Pack::unpack(from)?;)+
                Some($name { $($field),+ })
            }
        }
    };
}
