//! Reads large tool results that the client stored in files next to a session.

use std::io::Read;
use std::path::Path;

use crate::Error;
use crate::disk::open_content;

/// The folder of the stored results, in the side folder of the session.
const TOOL_RESULTS_DIR: &str = "tool-results";

/// A stored result, or the start of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResult {
    /// The bytes of the result, at most the requested number.
    pub bytes: Vec<u8>,
    /// Whether the file has more bytes.
    pub truncated: bool,
}

/// Reads at most `max_bytes` bytes of the stored result `name` of the session file `path`. Returns `None` if the file does
/// not exist, if it or its folder is a symbolic link, or if the name is not allowed.
///
/// A name has only ASCII letters, digits and `._-`, and does not start with a dot, so it cannot lead out of the folder.
pub fn read_stored_result(path: &Path, name: &str, max_bytes: usize) -> Result<Option<StoredResult>, Error> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
        return Ok(None);
    }
    let side_dir = path.with_extension("");
    let file = side_dir.join(TOOL_RESULTS_DIR).join(name);
    let is_link = |path: &Path| std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink());
    if [&side_dir, &side_dir.join(TOOL_RESULTS_DIR), &file].into_iter().any(|path| is_link(path)) {
        return Ok(None);
    }
    let reader = match open_content(&file) {
        Ok(reader) => reader,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::reading(&file)(error)),
    };
    let mut bytes = Vec::new();
    reader.take(max_bytes as u64 + 1).read_to_end(&mut bytes).map_err(Error::reading(&file))?;
    let truncated = bytes.len() > max_bytes;
    bytes.truncate(max_bytes);
    Ok(Some(StoredResult { bytes, truncated }))
}
