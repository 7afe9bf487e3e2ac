//! Encrypts and decrypts files in the format of age. Without the feature `encrypt`, no key can be read.

#[cfg(feature = "encrypt")]
pub(super) use self::with_age::{Identities, Recipients};
#[cfg(not(feature = "encrypt"))]
pub(super) use self::without_age::{Identities, Recipients};

/// The reason why a file cannot be decrypted.
#[derive(Debug)]
#[cfg_attr(not(feature = "encrypt"), expect(dead_code, reason = "nothing is decrypted without the feature"))]
pub(super) enum DecryptFailure {
    /// It is encrypted for other keys, or its header is damaged.
    NoMatchingKey,
    /// It is damaged, or no encrypted file.
    Damaged,
    Io(std::io::Error),
}

#[cfg(feature = "encrypt")]
mod with_age {
    use std::fs::File;
    use std::io::{self, BufRead, BufReader, Read, Write};
    use std::path::Path;

    use super::DecryptFailure;
    use crate::Error;
    use crate::disk::open_file;

    /// The public keys for which files are encrypted.
    pub(in super::super) struct Recipients {
        keys: Vec<age::x25519::Recipient>,
    }

    impl Recipients {
        /// Parses public keys. Returns an error for anything else, which does not quote a secret key.
        pub(in super::super) fn parse(texts: &[String]) -> Result<Recipients, Error> {
            let parse = |text: &String| {
                let is_secret = text.trim().to_uppercase().starts_with("AGE-SECRET-KEY-");
                let shown = if is_secret { String::new() } else { text.clone() };
                text.trim().parse().map_err(|_| Error::InvalidRecipient { text: shown, is_secret })
            };
            Ok(Recipients { keys: texts.iter().map(parse).collect::<Result<_, _>>()? })
        }

        /// Returns the keys as text, sorted.
        pub(in super::super) fn to_texts(&self) -> Vec<String> {
            let mut texts: Vec<String> = self.keys.iter().map(ToString::to_string).collect();
            texts.sort();
            texts.dedup();
            texts
        }

        /// Encrypts everything that can be read, and returns the output.
        pub(in super::super) fn encrypt<W: Write>(&self, content: &mut impl Read, out: W) -> io::Result<W> {
            let keys = self.keys.iter().map(|key| key as &dyn age::Recipient);
            let encryptor = age::Encryptor::with_recipients(keys).map_err(io::Error::other)?;
            let mut encrypted = encryptor.wrap_output(out)?;
            io::copy(content, &mut encrypted)?;
            encrypted.finish()
        }
    }

    /// The secret keys of a user.
    pub(in super::super) struct Identities {
        keys: Vec<Box<dyn age::Identity>>,
    }

    impl Identities {
        /// Reads the secret keys in a file.
        pub(in super::super) fn read(path: &Path) -> Result<Identities, Error> {
            let file = open_file(path).map_err(Error::reading(path))?;
            let invalid = || Error::InvalidIdentity { path: path.to_owned() };
            // The error of the parser quotes the line, which may be a secret.
            let parsed = age::IdentityFile::from_buffer(BufReader::new(file)).map_err(|_| invalid())?;
            let keys = parsed.into_identities().map_err(|_| invalid())?;
            if keys.is_empty() { Err(invalid()) } else { Ok(Identities { keys }) }
        }

        /// Returns a reader of the decrypted content of a file.
        pub(in super::super) fn open(&self, file: File) -> Result<impl Read + use<>, DecryptFailure> {
            self.decrypt(BufReader::with_capacity(64 << 10, file))
        }

        fn decrypt<R: BufRead>(&self, encrypted: R) -> Result<age::stream::StreamReader<R>, DecryptFailure> {
            let convert = |error| match error {
                age::DecryptError::NoMatchingKeys => DecryptFailure::NoMatchingKey,
                age::DecryptError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                    DecryptFailure::Io(error)
                }
                _ => DecryptFailure::Damaged,
            };
            let decryptor = age::Decryptor::new_buffered(encrypted).map_err(convert)?;
            decryptor.decrypt(self.keys.iter().map(|key| &**key)).map_err(convert)
        }
    }
}

#[cfg(not(feature = "encrypt"))]
mod without_age {
    use std::fs::File;
    use std::io::{self, Read, Write};
    use std::path::Path;

    use super::DecryptFailure;
    use crate::Error;

    /// No value of this type exists.
    pub(in super::super) enum Recipients {}

    impl Recipients {
        pub(in super::super) fn parse(_texts: &[String]) -> Result<Recipients, Error> {
            Err(Error::BuiltWithoutEncryption)
        }

        pub(in super::super) fn to_texts(&self) -> Vec<String> {
            match *self {}
        }

        pub(in super::super) fn encrypt<W: Write>(&self, _content: &mut impl Read, _out: W) -> io::Result<W> {
            match *self {}
        }
    }

    /// No value of this type exists.
    pub(in super::super) enum Identities {}

    impl Identities {
        pub(in super::super) fn read(_path: &Path) -> Result<Identities, Error> {
            Err(Error::BuiltWithoutEncryption)
        }

        pub(in super::super) fn open(&self, file: File) -> Result<impl Read + use<>, DecryptFailure> {
            // The compiler needs a type for the reader.
            if true { match *self {} } else { Ok(file) }
        }
    }
}
