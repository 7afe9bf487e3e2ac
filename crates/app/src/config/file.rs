//! Finds, reads and creates the configuration file.
#![expect(
    clippy::disallowed_methods,
    reason = "`config edit` creates the configuration file, with its folder"
)]

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rethread_engine::describe_io_error;

use crate::env;

/// The file that `config edit` creates.
pub(super) const TEMPLATE: &str = include_str!("template.toml");

/// The maximum size of the file.
const MAX_BYTES: u64 = 1 << 20;

/// The configuration file, which may not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfigFile {
    path: PathBuf,
    /// The option or variable that names the file. `None` for the default one.
    named_by: Option<&'static str>,
}

/// The reason why the file cannot be read.
pub(super) enum FileProblem {
    /// It does not exist.
    Missing,
    /// Another reason.
    Unreadable(String),
}

/// Returns the configuration file: `named`, `$RETHREAD_CONFIG`, or config.toml in the settings folder.
///
/// Returns `None` if none is named and there is no home folder.
pub(super) fn find_config_file(named: Option<&Path>) -> Option<ConfigFile> {
    let option = named.map(|path| ConfigFile { path: path.to_owned(), named_by: Some("--config") });
    let variable =
        || Some(ConfigFile { path: env::named_config_file()?, named_by: Some("$RETHREAD_CONFIG") });
    let default = || Some(ConfigFile { path: env::config_dir()?.join("config.toml"), named_by: None });
    option.or_else(variable).or_else(default)
}

impl ConfigFile {
    /// Returns the path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path.
    pub(super) fn into_path(self) -> PathBuf {
        self.path
    }

    /// Returns the option or variable that names the file. Returns `None` for the default file.
    pub(super) fn named_by(&self) -> Option<&'static str> {
        self.named_by
    }

    /// Reads the file, a text of at most 1 MiB.
    pub(super) fn read(&self) -> Result<String, FileProblem> {
        let mut bytes = Vec::new();
        // The path may be an endless device.
        let read = File::open(&self.path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
        match read {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Err(FileProblem::Missing)
            }
            Err(error) => {
                let message = format!("the file cannot be read: {}", describe_io_error(&error));
                Err(FileProblem::Unreadable(message))
            }
            Ok(len) if len as u64 > MAX_BYTES => {
                Err(FileProblem::Unreadable("the file is larger than 1 MiB".to_owned()))
            }
            Ok(_) => String::from_utf8(bytes)
                .map_err(|_| FileProblem::Unreadable("the file is not text in UTF-8".to_owned())),
        }
    }
}

/// Creates a configuration file in which every key is explained and commented out. Creates its folder. An existing file
/// stays as it is.
pub(crate) fn create_template(path: &Path) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".rethread-config-").tempfile_in(folder)?;
    file.write_all(TEMPLATE.as_bytes())?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
        _ => Ok(()),
    }
}
