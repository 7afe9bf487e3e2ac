//! A page on disk that leads the browser to the one-time address.
//!
//! The command line of the browser contains only the path of the page: other users can read command lines, but not the
//! file.

use std::path::Path;

use rethread_engine::{Error, PrivateFile, SessionWriter};

use crate::html::sign_in::render_redirect;

/// The page. Dropping it deletes the file.
pub(super) struct SignInPage {
    file: PrivateFile,
}

impl SignInPage {
    /// Writes the page of the server at `port` to the state directory of `writer`.
    pub(super) fn write(writer: &SessionWriter, port: u16, address: &str) -> Result<SignInPage, Error> {
        let file = writer.private_file(&format!("web/open-{port}.html"))?;
        file.write(&render_redirect(address).into_string())?;
        Ok(SignInPage { file })
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }
}

impl Drop for SignInPage {
    fn drop(&mut self) {
        // The code in the file is useless by now. The next start replaces a file that cannot be deleted.
        let _ = self.file.remove();
    }
}
