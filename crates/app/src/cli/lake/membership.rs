//! Remembers how a machine joined a lake: the level, and the file with the key.

use std::path::{Path, PathBuf};

use rethread_lake::{LakeError, Level, TeamKey, derive_dev_id};

use crate::cli::archive::find_archive;
use crate::cli::error::CliError;
use crate::cli::{AppContext, env};

/// How this machine joined a lake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Membership {
    /// The level of privacy.
    pub(super) level: Level,
    /// The file with the key of the team.
    pub(super) key_file: PathBuf,
}

fn file_name(lake_id: &str) -> String {
    format!("lake/{lake_id}/joined")
}

impl Membership {
    /// Loads how this machine joined a lake. Returns `None` if it did not.
    pub(super) fn load(lake_id: &str, app: &AppContext) -> Result<Option<Membership>, CliError> {
        let text = app.writer.private_file(&file_name(lake_id))?.read();
        Ok(text.as_deref().and_then(|text| {
            let (level, key_file) = text.split_once('\n')?;
            let level = Level::from_name(level)?;
            Some(Membership { level, key_file: PathBuf::from(key_file.trim_end_matches('\n')) })
        }))
    }

    pub(super) fn save(&self, lake_id: &str, app: &AppContext) -> Result<(), CliError> {
        let text = format!("{}\n{}\n", self.level.name(), self.key_file.display());
        Ok(app.writer.private_file(&file_name(lake_id))?.write(&text)?)
    }

    pub(super) fn remove(lake_id: &str, app: &AppContext) -> Result<(), CliError> {
        Ok(app.writer.private_file(&file_name(lake_id))?.remove()?)
    }
}

/// Reads the key of a team.
pub(super) fn read_key(path: &Path) -> Result<TeamKey, CliError> {
    let text = std::fs::read_to_string(path).map_err(|error| CliError::Unreadable(path.to_owned(), error))?;
    Ok(TeamKey::parse(&text, path)?)
}

/// Writes a key to a new file that only the user can read.
pub(super) fn write_key(path: &Path, key: &TeamKey) -> Result<(), CliError> {
    use std::io::Write;
    let unwritable = |error| CliError::Unwritable(path.to_owned(), error);
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(unwritable)?;
    file.write_all(key.to_text().as_bytes()).map_err(unwritable)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(CliError::FileExists(path.to_owned()))
        }
        Err(error) => Err(CliError::Unwritable(path.to_owned(), error.error)),
    }
}

/// Returns an error if a key is inside a lake, whose readers must not have it.
pub(super) fn refuse_key_inside(key_file: &Path, lake: &Path) -> Result<(), CliError> {
    let resolve = |path: &Path| {
        let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
        let joined = parent.and_then(|parent| Some(parent.join(path.file_name()?)));
        path.canonicalize().ok().or(joined).unwrap_or_else(|| path.to_owned())
    };
    if resolve(key_file).starts_with(resolve(lake)) {
        return Err(LakeError::KeyInsideLake(key_file.to_owned()).into());
    }
    Ok(())
}

/// Returns the id of the developer: a key of the names of the user and of this machine.
pub(super) fn find_dev_id(key: &TeamKey, app: &AppContext) -> Result<String, CliError> {
    let machine = match env::host_name() {
        Some(name) => name,
        None => find_archive(None, app)?.machine_id,
    };
    let user = env::user_name().unwrap_or_default();
    Ok(derive_dev_id(key, &user, &machine))
}
