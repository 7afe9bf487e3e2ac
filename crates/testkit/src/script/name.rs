//! Short names as canonical UUIDs and back: the name's bytes fill the places that a version-4 UUID leaves free.

/// The bytes of a UUID that carry the name; the others hold version and variant.
const FREE: [usize; 14] = [0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13, 14, 15];

/// Returns the uuid of a name of at most 14 bytes.
pub fn uuid_of(name: &str) -> String {
    assert!(name.len() <= FREE.len(), "a name has at most 14 bytes: `{name}`");
    let mut bytes = [0u8; 16];
    bytes[6] = 0x40;
    bytes[8] = 0x80;
    for (&at, byte) in FREE.iter().zip(name.bytes()) {
        bytes[at] = byte;
    }
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// Returns the name behind a uuid of [`uuid_of`].
pub fn name_of(uuid: &str) -> Option<String> {
    let hex = uuid.replace('-', "");
    name_of_bits(u128::from_str_radix(&hex, 16).ok()?)
}

/// Returns the name behind the 128 bits of such a uuid.
pub fn name_of_bits(bits: u128) -> Option<String> {
    let bytes = bits.to_be_bytes();
    let name: Vec<u8> = FREE.iter().map(|&at| bytes[at]).take_while(|&byte| byte != 0).collect();
    let name = String::from_utf8(name).ok().filter(|name| !name.is_empty())?;
    (uuid_of(&name) == uuid(bits)).then_some(name)
}

fn uuid(bits: u128) -> String {
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::{name_of, name_of_bits, uuid_of};

    #[test]
    fn names_and_uuids_go_both_ways() {
        assert_eq!(uuid_of("u1"), "75310000-0000-4000-8000-000000000000");
        for name in ["u1", "a", "missing", "fourteen-bytes"] {
            assert_eq!(name_of(&uuid_of(name)).as_deref(), Some(name));
        }
        assert_eq!(name_of("00000000-0000-0000-0000-000000000000"), None);
        assert_eq!(name_of("no uuid"), None);
        assert_eq!(name_of_bits(0), None);
    }
}
