//! 128-bit ids for every identifier in a session file (uuid, message id, request id, tool id).

use xxhash_rust::xxh3::xxh3_128;

use crate::pack::{Pack, Unpacker};

/// A 128-bit id. A canonical UUID keeps its own bits; any other text is hashed.
///
/// Stored as two `u64` halves, so that structs and vectors of ids have no 16-byte alignment gaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(u64, u64);

impl std::hash::Hash for Id {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u128(self.bits());
    }
}

impl Id {
    /// The all-zero UUID, which the client writes as `leafUuid` when no entry is selected.
    pub const NIL: Id = Id(0, 0);

    /// Returns the id of `text`: the bits of a canonical UUID, else a hash.
    pub fn from_text(text: &[u8]) -> Id {
        Id::from_bits(parse_uuid(text).unwrap_or_else(|| xxh3_128(text)))
    }

    /// Returns the id of the UUID `text`. Returns `None` if `text` is not a UUID in canonical lower-case form.
    pub(crate) fn from_uuid(text: &[u8]) -> Option<Id> {
        parse_uuid(text).map(Id::from_bits)
    }

    /// Returns `true` if `text` is a canonical UUID, so that [`Id::to_hyphenated`] returns the same text.
    pub fn is_uuid(text: &[u8]) -> bool {
        parse_uuid(text).is_some()
    }

    /// Formats the bits as a hyphenated lower-case UUID. For a hashed text, this is not the original text.
    pub fn to_hyphenated(self) -> String {
        let digits = format!("{:032x}", self.bits());
        let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
        parts.join("-")
    }

    /// Returns a hash of the ordered pair `(self, other)` as an id.
    pub fn combine(self, other: Id) -> Id {
        let spread = other.bits().wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        Id::from_bits(self.bits().rotate_left(41) ^ spread)
    }

    /// Returns a 64-bit hash of the id, for tables in which a rare collision is harmless.
    pub(crate) fn to_short(self) -> ShortId {
        let mut hasher = IdHasher::default();
        std::hash::Hasher::write_u128(&mut hasher, self.bits());
        ShortId(std::hash::Hasher::finish(&hasher))
    }

    /// Returns the 128 bits of the id.
    pub fn bits(self) -> u128 {
        u128::from(self.0) << 64 | u128::from(self.1)
    }

    /// Creates an id from its 128 bits.
    pub fn from_bits(bits: u128) -> Id {
        Id((bits >> 64) as u64, bits as u64)
    }
}

/// A 64-bit hash of an [`Id`], for tables in which a rare collision is harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ShortId(u64);

// Ids are uniformly distributed, so a variable-length encoding would not be shorter.
impl Pack for Id {
    fn pack_into(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bits().to_le_bytes());
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<Id> {
        from.take_array().map(|bytes| Id::from_bits(u128::from_le_bytes(bytes)))
    }
}

impl Pack for ShortId {
    fn pack_into(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_le_bytes());
    }

    fn unpack_from(from: &mut Unpacker<'_>) -> Option<ShortId> {
        from.take_array().map(|bytes| ShortId(u64::from_le_bytes(bytes)))
    }
}

/// Parses a UUID in canonical form: 8-4-4-4-12 lower-case hex digits. Returns `None` for any other text.
fn parse_uuid(text: &[u8]) -> Option<u128> {
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
    let (groups, _) = digits.as_chunks::<8>();
    groups.iter().try_fold(0, |bits: u128, group| Some(bits << 32 | u128::from(parse_hex(*group)?)))
}

/// Parses eight lower-case hex digits at once. Returns `None` if a byte is not such a digit.
fn parse_hex(digits: [u8; 8]) -> Option<u32> {
    const ALL: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_be_bytes(digits);
    // Letters have bit 6 set; their low four bits count from 1.
    let letters = (word >> 6) & ALL;
    let values = (word & (ALL * 0x0f)) + letters * 9;
    // Re-encode the values and compare, with values of ten and more as letters.
    let reencoded = values + ALL * 0x30 + letters * 0x27;
    let tens = (values + ALL * 6) >> 4 & ALL;
    if reencoded != word || tens != letters || values & (ALL * 0xf0) != 0 {
        return None;
    }
    let pairs = (values | values >> 4) & 0x00ff_00ff_00ff_00ff;
    let quads = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    Some((quads | quads >> 16) as u32)
}

/// A hasher for ids, which are uniformly distributed already.
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
        // A hostile file may choose ids that agree in half of their bits, so mix both halves.
        let mixed = (bits as u64 ^ 0x9E37_79B9_7F4A_7C15).wrapping_mul(0xD6E8_FEB8_6659_FD93)
            ^ ((bits >> 64) as u64).wrapping_mul(0xA076_1D64_78BD_642F);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// A hash map with [`Id`] keys.
pub type IdMap<V> = std::collections::HashMap<Id, V, std::hash::BuildHasherDefault<IdHasher>>;
/// A hash map with [`ShortId`] keys, which are mixed already.
pub(crate) type ShortIdMap<V> =
    std::collections::HashMap<ShortId, V, std::hash::BuildHasherDefault<IdHasher>>;
/// A hash set of ids.
pub type IdSet = std::collections::HashSet<Id, std::hash::BuildHasherDefault<IdHasher>>;

#[cfg(test)]
mod tests {
    use super::{Id, parse_hex, parse_uuid};

    #[test]
    fn parse_hex_agrees_with_the_standard_library() {
        for byte in 0..=255u8 {
            for at in 0..8 {
                let mut digits = *b"0123cdef";
                digits[at] = byte;
                let text = std::str::from_utf8(&digits)
                    .ok()
                    .filter(|text| !text.contains(|c: char| c.is_uppercase()));
                let expected =
                    text.filter(|t| !t.contains('+')).and_then(|text| u32::from_str_radix(text, 16).ok());
                assert_eq!(parse_hex(digits), expected, "byte {byte} at {at}");
            }
        }
    }

    #[test]
    fn only_canonical_uuids_keep_their_bits() {
        assert_eq!(parse_uuid(b"00000000-0000-0000-0000-00000000000a"), Some(10));
        assert_eq!(
            Id::from_text(b"0af00000-0000-4000-8000-00000000000a").to_hyphenated(),
            "0af00000-0000-4000-8000-00000000000a"
        );
        assert!(Id::is_uuid(b"0af00000-0000-4000-8000-00000000000a") && !Id::is_uuid(b"msg_1"));
        assert_eq!(parse_uuid(b"0000000000000-0000-0000-00000000000a"), None);
        assert_eq!(parse_uuid(b"00000000-0000-0000-0000-00000000000A"), None);
        assert_eq!(Id::from_text(b"00000000-0000-0000-0000-000000000000"), Id::NIL);
        assert_ne!(Id::from_text(b"msg_1"), Id::from_text(b"msg_2"));
    }
}
