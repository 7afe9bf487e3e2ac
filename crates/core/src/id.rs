//! Keys: every id in a session file (uuid, message id, request id, tool id) as 128 bits.

use xxhash_rust::xxh3::xxh3_128;

use crate::pack::{Pack, Unpacker};

/// The key of an id: a UUID is its own 128 bits, any other text is hashed to as many.
///
/// Kept as two halves, so that what holds many of them needs no gaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(u64, u64);

impl std::hash::Hash for Id {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u128(self.bits());
    }
}

impl Id {
    /// The all-zero UUID, which the client writes for "no entry is pinned".
    pub const NIL: Id = Id(0, 0);

    /// Returns the key of `text`.
    pub fn of(text: &[u8]) -> Id {
        Id::from_bits(uuid(text).unwrap_or_else(|| xxh3_128(text)))
    }

    /// Returns the key of `text` if it is a UUID.
    pub(crate) fn uuid(text: &[u8]) -> Option<Id> {
        uuid(text).map(Id::from_bits)
    }

    /// Whether `text` is a UUID, which can be told from its key again.
    pub fn is_uuid(text: &[u8]) -> bool {
        uuid(text).is_some()
    }

    /// Writes the bits as a UUID.
    pub fn hyphenated(self) -> String {
        let digits = format!("{:032x}", self.bits());
        let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
        parts.join("-")
    }

    /// Returns the key of two ids together.
    pub fn combine(self, other: Id) -> Id {
        let spread = other.bits().wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        Id::from_bits(self.bits().rotate_left(41) ^ spread)
    }

    /// Returns 64 bits that stand for all of them, where a rare confusion would do no harm.
    pub(crate) fn short(self) -> ShortId {
        let mut hasher = IdHasher::default();
        std::hash::Hasher::write_u128(&mut hasher, self.bits());
        ShortId(std::hash::Hasher::finish(&hasher))
    }

    /// Returns the 128 bits.
    pub fn bits(self) -> u128 {
        u128::from(self.0) << 64 | u128::from(self.1)
    }

    /// Takes 128 bits for a key.
    pub fn from_bits(bits: u128) -> Id {
        Id((bits >> 64) as u64, bits as u64)
    }
}

/// Half as many bits that stand for an id, where a rare confusion would do no harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ShortId(u64);

// The bits of ids are spread: there are no small ones that could be written shorter.
impl Pack for Id {
    fn pack(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bits().to_le_bytes());
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<Id> {
        from.array().map(|bytes| Id::from_bits(u128::from_le_bytes(bytes)))
    }
}

impl Pack for ShortId {
    fn pack(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_le_bytes());
    }

    fn unpack(from: &mut Unpacker<'_>) -> Option<ShortId> {
        from.array().map(|bytes| ShortId(u64::from_le_bytes(bytes)))
    }
}

/// Reads a UUID in its canonical form: 8-4-4-4-12 lower-case hex digits.
fn uuid(text: &[u8]) -> Option<u128> {
    let text: &[u8; 36] = text.try_into().ok()?;
    if [text[8], text[13], text[18], text[23]] != *b"----" {
        return None;
    }
    let mut digits = [0; 32];
    digits[..8].copy_from_slice(&text[..8]);
    digits[8..12].copy_from_slice(&text[9..13]);
    digits[12..16].copy_from_slice(&text[14..18]);
    digits[16..20].copy_from_slice(&text[19..23]);
    digits[20..].copy_from_slice(&text[24..]);
    let (words, _) = digits.as_chunks::<8>();
    words.iter().try_fold(0, |bits: u128, word| Some(bits << 32 | u128::from(hex(*word)?)))
}

/// Reads eight lower-case hex digits at once.
fn hex(digits: [u8; 8]) -> Option<u32> {
    const ALL: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_be_bytes(digits);
    // A letter has bit 6; its low half counts from 1.
    let letters = (word >> 6) & ALL;
    let values = (word & (ALL * 0x0f)) + letters * 9;
    // The digits must come out again from their values, ten and more as letters.
    let back = values + ALL * 0x30 + letters * 0x27;
    let tens = (values + ALL * 6) >> 4 & ALL;
    if back != word || tens != letters || values & (ALL * 0xf0) != 0 {
        return None;
    }
    let pairs = (values | values >> 4) & 0x00ff_00ff_00ff_00ff;
    let quads = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    Some((quads | quads >> 16) as u32)
}

/// A hasher for keys that are already spread: takes the low half of the bits.
#[derive(Debug, Default, Clone, Copy)]
pub struct IdHasher(u64);

impl std::hash::Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 ^= xxhash_rust::xxh3::xxh3_64(bytes);
    }

    fn write_u64(&mut self, bits: u64) {
        self.0 = bits;
    }

    fn write_u128(&mut self, bits: u128) {
        // Ids of a hostile file may be chosen to agree in half of their bits: mix both halves.
        let mixed = (bits as u64 ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xD6E8_FEB8_6659_FD93)
            ^ ((bits >> 64) as u64).wrapping_mul(0xA076_1D64_78BD_642F);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// A map by id.
pub type IdMap<V> = std::collections::HashMap<Id, V, std::hash::BuildHasherDefault<IdHasher>>;
/// A map by short ids, which are mixed already.
pub(crate) type ShortMap<V> = std::collections::HashMap<ShortId, V, std::hash::BuildHasherDefault<IdHasher>>;
/// A set of ids.
pub type IdSet = std::collections::HashSet<Id, std::hash::BuildHasherDefault<IdHasher>>;

#[cfg(test)]
mod tests {
    use super::{Id, hex, uuid};

    #[test]
    fn eight_digits_read_as_the_standard_library_reads_them() {
        for byte in 0..=255u8 {
            for at in 0..8 {
                let mut digits = *b"0123cdef";
                digits[at] = byte;
                let text = std::str::from_utf8(&digits)
                    .ok()
                    .filter(|text| !text.contains(|c: char| c.is_uppercase()));
                let theirs =
                    text.filter(|t| !t.contains('+')).and_then(|text| u32::from_str_radix(text, 16).ok());
                assert_eq!(hex(digits), theirs, "byte {byte} at {at}");
            }
        }
    }

    #[test]
    fn only_canonical_uuids_are_their_own_bits() {
        assert_eq!(uuid(b"00000000-0000-0000-0000-00000000000a"), Some(10));
        assert_eq!(
            Id::of(b"0af00000-0000-4000-8000-00000000000a").hyphenated(),
            "0af00000-0000-4000-8000-00000000000a"
        );
        assert!(Id::is_uuid(b"0af00000-0000-4000-8000-00000000000a") && !Id::is_uuid(b"msg_1"));
        assert_eq!(uuid(b"0000000000000-0000-0000-00000000000a"), None);
        assert_eq!(uuid(b"00000000-0000-0000-0000-00000000000A"), None);
        assert_eq!(Id::of(b"00000000-0000-0000-0000-000000000000"), Id::NIL);
        assert_ne!(Id::of(b"msg_1"), Id::of(b"msg_2"));
    }
}
