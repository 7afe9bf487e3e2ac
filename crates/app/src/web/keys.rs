//! The secrets that a browser needs. They are kept in the state directory, so that addresses survive a restart.

use rethread_engine::{Error, SessionWriter};

/// The name of the file in the state directory: the key and the prefix, one per line.
const FILE: &str = "web/key";

/// The key of the server and the prefix of its addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AccessKeys {
    /// The secret in the address that the user opens, and then in the cookie: 64 hexadecimal digits.
    pub(super) key: String,
    /// The first part of every path. Cookies are sent to all ports of a host, but only below their path, so that a
    /// server at another port does not receive ours: 32 hexadecimal digits.
    pub(super) prefix: String,
}

/// Returns an unguessable secret of 64 hexadecimal digits.
pub(super) fn generate_key() -> String {
    format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple())
}

/// Compares two secrets in constant time, so that the time does not reveal how much matched.
pub(super) fn is_equal(given: &str, expected: &str) -> bool {
    let differs = given.bytes().zip(expected.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    given.len() == expected.len() && differs == 0
}

impl AccessKeys {
    /// Creates new keys.
    pub(super) fn generate() -> AccessKeys {
        AccessKeys { key: generate_key(), prefix: uuid::Uuid::new_v4().simple().to_string() }
    }

    /// Reads the keys from the state directory of `writer`. Creates and writes new ones if there are none, if other
    /// users can read them, or if `replace` is set.
    ///
    /// The error is the reason why new keys could not be written. They are valid for this run only.
    pub(super) fn load(writer: &SessionWriter, replace: bool) -> (AccessKeys, Option<Error>) {
        let file = match writer.private_file(FILE) {
            Ok(file) => file,
            Err(error) => return (AccessKeys::generate(), Some(error)),
        };
        let known = file.read().filter(|_| !replace).and_then(|text| AccessKeys::parse(&text));
        if let Some(keys) = known {
            return (keys, None);
        }
        let keys = AccessKeys::generate();
        let error = file.write(&format!("{}\n{}\n", keys.key, keys.prefix)).err();
        (keys, error)
    }

    /// Parses the contents of the file. Returns `None` if they are not two secrets.
    fn parse(text: &str) -> Option<AccessKeys> {
        let is_secret = |line: &&str, len: usize| {
            line.len() == len && line.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let mut lines = text.lines();
        let key = lines.next().filter(|line| is_secret(line, 64))?.to_owned();
        let prefix = lines.next().filter(|line| is_secret(line, 32))?.to_owned();
        Some(AccessKeys { key, prefix })
    }
}

#[cfg(test)]
mod tests {
    use rethread_engine::SessionWriter;

    use super::AccessKeys;

    #[test]
    fn keys_survive_a_restart_until_they_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let writer = SessionWriter::new(folder.path().join("state"));
        let load = |replace: bool| {
            let (keys, error) = AccessKeys::load(&writer, replace);
            assert!(error.is_none(), "{error:?}");
            keys
        };
        let first = load(false);
        assert_eq!((first.key.len(), first.prefix.len()), (64, 32));
        assert_eq!(load(false), first);
        let second = load(true);
        assert!(second.key != first.key && second.prefix != first.prefix);
        assert_eq!(load(false), second);
        // A damaged file is replaced.
        writer.private_file("web/key").unwrap().write("short\n../..\n").unwrap();
        let third = load(false);
        assert!(third != second && third == load(false));
    }

    #[test]
    fn without_a_state_directory_keys_are_valid_for_one_run() {
        let load = || AccessKeys::load(&SessionWriter::read_only(), false);
        let ((first, error), (second, _)) = (load(), load());
        assert!(error.is_some() && first != second);
    }
}
