//! Result files of the client: those that the page refers to are packed into it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rethread_engine::ops;

use super::pack::pack;
use crate::html::{MAX_RESULT_FILE_BYTES, render_result_file};

/// The result files that are embedded in the page of a session.
pub(super) struct EmbeddedFiles<'a> {
    /// The session file.
    path: &'a Path,
    /// The file names that were looked up, and whether the file exists.
    checked: Mutex<BTreeMap<String, bool>>,
}

impl<'a> EmbeddedFiles<'a> {
    /// Creates an empty set for the session file at `path`. [`Self::embed_if_exists`] adds files to it.
    pub(super) fn new(path: &'a Path) -> EmbeddedFiles<'a> {
        EmbeddedFiles { path, checked: Mutex::default() }
    }

    /// Adds the result file with this name if it exists. Returns whether it does.
    pub(super) fn embed_if_exists(&self, name: &str) -> bool {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&exists) = checked.get(name) {
            return exists;
        }
        let exists = matches!(ops::read_stored_result(self.path, name, 0), Ok(Some(_)));
        checked.insert(name.to_owned(), exists);
        exists
    }

    /// Writes the added files as packed `<script>` elements, each with at most [`MAX_RESULT_FILE_BYTES`] of its
    /// content. Skips files that can no longer be read.
    pub(super) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let checked = self.checked.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (name, _) in checked.into_iter().filter(|(_, exists)| *exists) {
            let Ok(Some(result)) = ops::read_stored_result(self.path, &name, MAX_RESULT_FILE_BYTES) else {
                continue;
            };
            let packed = pack(&render_result_file(&result.bytes, result.truncated).into_string())?;
            let name = maud::html! { (name) }.into_string();
            write!(
                out,
                "<script type=\"text/plain\" class=\"packed\" data-name=\"{name}\">{packed}</script>"
            )?;
        }
        Ok(())
    }
}
