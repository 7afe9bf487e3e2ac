//! Results that the client kept in files of their own, beside a session.

use std::io::Read;
use std::path::Path;

use crate::Error;
use crate::disk::open;

/// The folder beside a session that holds them.
const FOLDER: &str = "tool-results";

/// A result that was kept, or its beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether there are more.
    pub more: bool,
}

/// Reads a result that was kept beside the session in `path`, up to so many bytes; `None` where there is no such file. Only a plain
/// name is one: nothing that leads elsewhere.
pub fn read_stored_result(path: &Path, name: &str, most: usize) -> Result<Option<Kept>, Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        return Ok(None);
    }
    let family = path.with_extension("");
    let file = family.join(FOLDER).join(name);
    let is_link = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    if [&family, &family.join(FOLDER), &file].into_iter().any(|path| is_link(path)) {
        return Ok(None);
    }
    let reading = match open(&file) {
        Ok(reading) => reading,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::reading(&file)(error)),
    };
    let mut bytes = Vec::new();
    reading.take(most as u64 + 1).read_to_end(&mut bytes).map_err(Error::reading(&file))?;
    let more = bytes.len() > most;
    bytes.truncate(most);
    Ok(Some(Kept { bytes, more }))
}
