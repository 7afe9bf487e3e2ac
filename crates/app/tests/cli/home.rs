//! Runs the built binary in a home folder of its own.
#![expect(clippy::disallowed_methods, reason = "tests make their own store in a temporary folder")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A home folder that goes away by itself.
pub(crate) struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    /// Makes an empty home.
    pub(crate) fn new() -> Home {
        Home { folder: tempfile::tempdir().unwrap() }
    }

    /// Writes a file below the home folder.
    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes a file that nobody has touched for an hour: nobody is at work in it.
    pub(crate) fn write_old(&self, path: &str, bytes: &[u8]) -> PathBuf {
        let path = self.write(path, "");
        std::fs::write(&path, bytes).unwrap();
        let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(hour_ago).unwrap();
        path
    }

    /// Returns the folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Prepares a run.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rethread"));
        command.args(args).env_clear().env("HOME", self.path()).env("TZ", "UTC").env("COLUMNS", "100");
        command.env("TMPDIR", self.path()).current_dir(self.path());
        command
    }

    /// Runs the program.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(&self.command(args).output().unwrap())
    }
}

/// What a run gave.
pub(crate) struct Run {
    /// The exit code.
    pub(crate) code: i32,
    /// Stdout.
    pub(crate) out: String,
    /// Stderr.
    pub(crate) err: String,
}

impl Run {
    fn of(output: &Output) -> Run {
        Run {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }
}
