//! Runs the built binary in a home folder of its own.
#![expect(clippy::disallowed_methods, reason = "tests make their own store in a temporary folder")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use rethread_testkit::script;
use serde_json::Value;

/// A home folder that goes away by itself.
pub(crate) struct Home {
    folder: tempfile::TempDir,
    /// Where journal and backups are kept, if not in the home folder.
    state: Option<tempfile::TempDir>,
}

impl Home {
    /// Makes an empty home.
    pub(crate) fn new() -> Home {
        Home { folder: tempfile::tempdir().unwrap(), state: None }
    }

    /// Keeps journal and backups on another file system, where there is one.
    #[cfg(unix)]
    pub(crate) fn with_state_elsewhere(mut self) -> Option<Home> {
        use std::os::unix::fs::MetadataExt;
        let state = tempfile::tempdir_in("/dev/shm").ok()?;
        let device = |path: &Path| std::fs::metadata(path).map(|meta| meta.dev()).ok();
        let other = device(state.path()) != device(self.path());
        self.state = Some(state);
        other.then_some(self)
    }

    /// Writes a file below the home folder.
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Writes a file that nobody has touched for an hour: nobody is at work in it.
    pub(crate) fn write_old(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.write(path, bytes);
        date(&path, SystemTime::now() - Duration::from_secs(3600));
        path
    }

    /// Returns everything below `.claude`, and what it holds.
    pub(crate) fn picture(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut picture = BTreeMap::new();
        let mut folders = vec![self.path().join(".claude")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                let is_folder = path.is_dir();
                picture.insert(path.clone(), if is_folder { None } else { std::fs::read(&path).ok() });
                if is_folder {
                    folders.push(path);
                }
            }
        }
        picture
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
        if let Some(state) = &self.state {
            command.env("XDG_STATE_HOME", state.path());
        }
        command
    }

    /// Runs the program.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(&self.command(args).output().unwrap())
    }
}

/// Gives a file another time of change.
pub(crate) fn date(path: &Path, when: SystemTime) {
    std::fs::File::options().append(true).open(path).unwrap().set_modified(when).unwrap();
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
    /// Takes what came of it.
    pub(crate) fn of(output: &Output) -> Run {
        Run {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout.clone()).unwrap(),
            err: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }
}

/// Runs a command that must succeed and returns the objects it prints.
pub(crate) fn objects(home: &Home, args: &[&str]) -> Vec<Value> {
    let run = home.run(args);
    assert_eq!(run.code, 0, "{args:?}: {}", run.err);
    run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs a command that must succeed and returns the last object it prints.
pub(crate) fn object(home: &Home, args: &[&str]) -> Value {
    objects(home, args).pop().unwrap()
}

/// Tells which entries a client loads, by their names in the script.
pub(crate) fn loaded(home: &Home, session: &str, client: &str) -> Vec<String> {
    let run = home.run(&["explain", session, "--client", client, "--json"]);
    let told: Value = serde_json::from_str(run.out.trim()).unwrap();
    let uuid = |entry: &Value| script::name_of(entry["uuid"].as_str().unwrap()).unwrap_or("new".to_owned());
    told["path"].as_array().unwrap().iter().map(uuid).collect()
}
