//! Converts short names to UUIDs and back: the bytes of the name are the free bytes of a version-4 UUID.

/// The positions of the bytes that contain the name. The others contain version and variant.
const FREE_BYTES: [usize; 14] = [0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13, 14, 15];

/// Returns the UUID for a name of at most 14 bytes. Panics if the name is longer.
pub fn uuid_from_name(name: &str) -> String {
    assert!(name.len() <= FREE_BYTES.len(), "a name has at most 14 bytes: `{name}`");
    let mut bytes = [0u8; 16];
    bytes[6] = 0x40;
    bytes[8] = 0x80;
    for (&at, byte) in FREE_BYTES.iter().zip(name.bytes()) {
        bytes[at] = byte;
    }
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// Returns the name in a UUID. Returns `None` if [`uuid_from_name`] did not make the UUID.
pub fn name_from_uuid(uuid: &str) -> Option<String> {
    let hex = uuid.replace('-', "");
    name_from_bits(u128::from_str_radix(&hex, 16).ok()?)
}

/// Returns the name in the 128 bits of a UUID. Returns `None` if [`uuid_from_name`] did not make the UUID.
pub fn name_from_bits(bits: u128) -> Option<String> {
    let bytes = bits.to_be_bytes();
    let name: Vec<u8> = FREE_BYTES.iter().map(|&at| bytes[at]).take_while(|&byte| byte != 0).collect();
    let name = String::from_utf8(name).ok().filter(|name| !name.is_empty())?;
    (uuid_from_name(&name) == format_uuid(bits)).then_some(name)
}

fn format_uuid(bits: u128) -> String {
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::{name_from_bits, name_from_uuid, uuid_from_name};

    #[test]
    fn names_round_trip_through_uuids() {
        assert_eq!(uuid_from_name("u1"), "75310000-0000-4000-8000-000000000000");
        for name in ["u1", "a", "missing", "fourteen-bytes"] {
            assert_eq!(name_from_uuid(&uuid_from_name(name)).as_deref(), Some(name));
        }
        assert_eq!(name_from_uuid("00000000-0000-0000-0000-000000000000"), None);
        assert_eq!(name_from_uuid("no uuid"), None);
        assert_eq!(name_from_bits(0), None);
    }
}
