//! Numbers, truths, texts, and what may be missing.

use super::{Pack, Unpacker};

impl Pack for u64 {
    /// Seven bits a byte, the lowest first; all bytes but the last have the highest bit set.
    fn pack(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<u64> {
        let (&first, mut rest) = from.bytes.split_first()?;
        let mut number = u64::from(first & 0x7f);
        let (mut byte, mut shift) = (first, 0);
        while byte >= 0x80 {
            (byte, rest) = rest.split_first().map(|(&byte, rest)| (byte, rest))?;
            shift += 7;
            // The tenth byte has room for one bit.
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
    fn pack(&self, out: &mut Vec<u8>) {
        u64::from(*self).pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<u32> {
        u64::unpack(from)?.try_into().ok()
    }
}

impl Pack for usize {
    fn pack(&self, out: &mut Vec<u8>) {
        (*self as u64).pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<usize> {
        u64::unpack(from)?.try_into().ok()
    }
}

impl Pack for i64 {
    /// Small numbers of either sign become small ones without: 0, -1, 1, -2 are 0, 1, 2, 3.
    fn pack(&self, out: &mut Vec<u8>) {
        ((*self << 1 ^ *self >> 63) as u64).pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<i64> {
        let folded = u64::unpack(from)?;
        Some((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }
}

impl Pack for bool {
    fn pack(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<bool> {
        match from.array()? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }
}

impl Pack for String {
    fn pack(&self, out: &mut Vec<u8>) {
        self.len().pack(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<String> {
        let len = from.count()?;
        str::from_utf8(from.take(len)?).ok().map(str::to_owned)
    }
}

impl<T: Pack> Pack for Option<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        self.is_some().pack(out);
        if let Some(value) = self {
            value.pack(out);
        }
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Option<T>> {
        if bool::unpack(from)? { T::unpack(from).map(Some) } else { Some(None) }
    }
}

impl<A: Pack, B: Pack> Pack for (A, B) {
    fn pack(&self, out: &mut Vec<u8>) {
        self.0.pack(out);
        self.1.pack(out);
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<(A, B)> {
        Some((A::unpack(from)?, B::unpack(from)?))
    }
}

impl Pack for std::path::PathBuf {
    fn pack(&self, out: &mut Vec<u8>) {
        let bytes = self.as_os_str().as_encoded_bytes();
        bytes.len().pack(out);
        out.extend_from_slice(bytes);
    }

    #[cfg(unix)]
    fn unpack(from: &mut Unpacker<'_>) -> Option<std::path::PathBuf> {
        use std::os::unix::ffi::OsStrExt;
        let len = from.count()?;
        from.take(len).map(|bytes| std::ffi::OsStr::from_bytes(bytes).into())
    }

    #[cfg(not(unix))]
    fn unpack(from: &mut Unpacker<'_>) -> Option<std::path::PathBuf> {
        String::unpack(from).map(Into::into)
    }
}
