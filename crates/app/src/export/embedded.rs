//! Results that the client kept in files of their own: those that the page tells of are packed into it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rethread_engine::ops;

use super::pack::pack;
use crate::html::{KEPT_SHOWN, kept};

/// The files beside a session that its page asked for.
pub(super) struct EmbeddedFiles<'a> {
    /// The session.
    path: &'a Path,
    /// Whether there is a file, by its name.
    asked: Mutex<BTreeMap<String, bool>>,
}

impl<'a> EmbeddedFiles<'a> {
    /// Opens the shelf of a session.
    pub(super) fn of(path: &'a Path) -> EmbeddedFiles<'a> {
        EmbeddedFiles { path, asked: Mutex::default() }
    }

    /// Whether there is a file of this name; if so, it will be in the page.
    pub(super) fn holds(&self, name: &str) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&held) = asked.get(name) {
            return held;
        }
        let held = matches!(ops::read_stored_result(self.path, name, 0), Ok(Some(_)));
        asked.insert(name.to_owned(), held);
        held
    }

    /// Writes the files that were asked for, packed.
    pub(super) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let asked = self.asked.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (name, _) in asked.into_iter().filter(|(_, held)| *held) {
            let Ok(Some(found)) = ops::read_stored_result(self.path, &name, KEPT_SHOWN) else { continue };
            let packed = pack(&kept(&found.bytes, found.more).into_string())?;
            let name = maud::html! { (name) }.into_string();
            write!(
                out,
                "<script type=\"text/plain\" class=\"packed\" data-name=\"{name}\">{packed}</script>"
            )?;
        }
        Ok(())
    }
}
