//! The key of a team, and the keys that replace names.

use std::path::Path;

use crate::LakeError;

/// The first word of a key file.
const KEY_LABEL: &str = "rethread-lake-key-1";

/// A secret of the team. Equal names of all developers get equal keys, which cannot be guessed without it.
#[derive(Clone, PartialEq, Eq)]
pub struct TeamKey([u8; 32]);

impl std::fmt::Debug for TeamKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TeamKey")
    }
}

impl TeamKey {
    /// Creates a key from random bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> TeamKey {
        TeamKey(bytes)
    }

    /// Reads the text of a key file.
    pub fn parse(text: &str, path: &Path) -> Result<TeamKey, LakeError> {
        let bad = || LakeError::BadKey(path.to_owned());
        let hex = text.trim().strip_prefix(KEY_LABEL).ok_or_else(bad)?.trim();
        let hash = blake3::Hash::from_hex(hex).map_err(|_| bad())?;
        Ok(TeamKey(*hash.as_bytes()))
    }

    /// Returns the text of a key file.
    pub fn to_text(&self) -> String {
        format!("{KEY_LABEL} {}\n", blake3::Hash::from_bytes(self.0).to_hex())
    }

    /// Returns a value by which a lake recognises its key. It does not reveal the key.
    pub fn check_value(&self) -> String {
        self.derive("check", &[])
    }

    /// Replaces a name by 32 hexadecimal digits. `domain` separates kinds of names.
    pub fn derive(&self, domain: &str, parts: &[&str]) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in std::iter::once(&domain).chain(parts) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        to_hex(&hasher.finalize().as_bytes()[..16])
    }
}

/// Returns the id of a developer: a key of the names of the user and of the machine.
pub fn derive_dev_id(key: &TeamKey, user: &str, machine: &str) -> String {
    key.derive("dev", &[user, machine])
}

/// Formats bytes as hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits =
        bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    digits.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_its_text() {
        let key = TeamKey::from_bytes([7; 32]);
        assert_eq!(TeamKey::parse(&key.to_text(), Path::new("k")).unwrap(), key);
        for text in ["", "rethread-lake-key-1", "rethread-lake-key-1 12", &key.to_text()[1..]] {
            assert!(matches!(TeamKey::parse(text, Path::new("k")), Err(LakeError::BadKey(_))), "{text}");
        }
    }

    #[test]
    fn parts_and_domains_are_separated() {
        let key = TeamKey::from_bytes([7; 32]);
        let keys = [
            key.derive("a", &["bc"]),
            key.derive("ab", &["c"]),
            key.derive("a", &["b", "c"]),
            TeamKey::from_bytes([8; 32]).derive("a", &["bc"]),
        ];
        let different: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(different.len(), keys.len());
    }
}
