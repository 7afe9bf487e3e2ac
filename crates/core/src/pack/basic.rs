//! [`Pack`] for numbers, booleans, strings, paths, options and pairs.

use super::{Pack, Unpacker};

impl Pack for u64 {
    /// Writes seven bits per byte, lowest first. All bytes but the last have the highest bit set (LEB128).
    fn pack_into(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<u64> {
        let (&first, mut rest) = from.bytes.split_first()?;
        let mut number = u64::from(first & 0x7f);
        let (mut byte, mut shift) = (first, 0);
        while byte >= 0x80 {
            (byte, rest) = rest.split_first().map(|(&byte, rest)| (byte, rest))?;
            shift += 7;
            // The tenth byte holds one bit only.
            if shift == 63 && byte > 1 {
                return None;
            }
            number |= u64::from(byte & 0x7f) << shift;
        }
        from.bytes = rest;
        Some(number)
    }
}

impl Pack for u32 {
    fn pack_into(&self, out: &mut Vec<u8>) {
        u64::from(*self).pack_into(out);
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<u32> {
        u64::unpack_from(from)?.try_into().ok()
    }
}

impl Pack for usize {
    fn pack_into(&self, out: &mut Vec<u8>) {
        (*self as u64).pack_into(out);
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<usize> {
        u64::unpack_from(from)?.try_into().ok()
    }
}

impl Pack for i64 {
    /// Maps small numbers of either sign to small unsigned ones (zigzag): 0, -1, 1, -2 become 0, 1, 2, 3.
    fn pack_into(&self, out: &mut Vec<u8>) {
        ((*self << 1 ^ *self >> 63) as u64).pack_into(out);
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<i64> {
        let zigzag = u64::unpack_from(from)?;
        Some((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }
}

impl Pack for bool {
    fn pack_into(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<bool> {
        match from.take_array()? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }
}

impl Pack for String {
    fn pack_into(&self, out: &mut Vec<u8>) {
        self.len().pack_into(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<String> {
        let len = from.take_count()?;
        str::from_utf8(from.take_bytes(len)?).ok().map(str::to_owned)
    }
}

impl<T: Pack> Pack for Option<T> {
    fn pack_into(&self, out: &mut Vec<u8>) {
        self.is_some().pack_into(out);
        if let Some(value) = self {
            value.pack_into(out);
        }
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<Option<T>> {
        if bool::unpack_from(from)? { T::unpack_from(from).map(Some) } else { Some(None) }
    }
}

impl<A: Pack, B: Pack> Pack for (A, B) {
    fn pack_into(&self, out: &mut Vec<u8>) {
        self.0.pack_into(out);
        self.1.pack_into(out);
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<(A, B)> {
        Some((A::unpack_from(from)?, B::unpack_from(from)?))
    }
}

impl Pack for std::path::PathBuf {
    fn pack_into(&self, out: &mut Vec<u8>) {
        let bytes = self.as_os_str().as_encoded_bytes();
        bytes.len().pack_into(out);
        out.extend_from_slice(bytes);
    }

    #[cfg(unix)]
    fn unpack_from(from: &mut Unpacker<'_>) -> Option<std::path::PathBuf> {
        use std::os::unix::ffi::OsStrExt;
        let len = from.take_count()?;
        from.take_bytes(len).map(|bytes| std::ffi::OsStr::from_bytes(bytes).into())
    }

    #[cfg(not(unix))]
    fn unpack_from(from: &mut Unpacker<'_>) -> Option<std::path::PathBuf> {
        String::unpack_from(from).map(Into::into)
    }
}
