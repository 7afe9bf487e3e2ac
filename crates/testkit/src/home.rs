//! A temporary home directory in which tests run the built program.
#![expect(clippy::disallowed_methods, reason = "tests make their own store in a temporary directory")]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::process::{ProcessCommand, write_unshared};
use crate::script;

/// The contents of files by path. Directories have no contents.
pub type Snapshot = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// A home directory that is deleted when dropped.
pub struct Home {
    program: PathBuf,
    directory: tempfile::TempDir,
    /// The directory of journal and backups, if it is outside of the home directory.
    state: Option<tempfile::TempDir>,
}

impl Home {
    /// Creates an empty home. `program` is the executable that [`Home::run`] starts.
    pub fn new(program: impl Into<PathBuf>) -> Home {
        Home { program: program.into(), directory: create_temp_dir(), state: None }
    }

    /// Creates an empty home in memory, where a flush costs nothing. Uses the disk if there is no such file system.
    pub fn new_in_memory(program: impl Into<PathBuf>) -> Home {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| create_temp_dir());
        Home { program: program.into(), directory, state: None }
    }

    /// Returns the directory of journal and backups.
    pub fn state_path(&self) -> PathBuf {
        match &self.state {
            Some(state) => state.path().join("rethread"),
            None => self.path().join(".local/state/rethread"),
        }
    }

    /// Keeps journal and backups on another file system. Returns `None` if there is no other one.
    #[cfg(unix)]
    pub fn with_state_on_other_file_system(mut self) -> Option<Home> {
        use std::os::unix::fs::MetadataExt;
        let state = tempfile::tempdir_in("/dev/shm").ok()?;
        let device = |path: &Path| std::fs::metadata(path).map(|meta| meta.dev()).ok();
        let differs = device(state.path()) != device(self.path());
        self.state = Some(state);
        differs.then_some(self)
    }

    /// Writes a file and returns its path. `path` is relative to the home.
    ///
    /// No process that is started meanwhile inherits the open file.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(path);
        let parent = path.parent().expect("a file has a parent directory");
        std::fs::create_dir_all(parent).expect("the directory can be created");
        write_unshared(|| std::fs::write(&path, bytes)).expect("the file can be written");
        path
    }

    /// Appends to a file, as a client does: opens, appends and closes it. `path` is relative to the home.
    pub fn append(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        write_unshared(|| std::fs::File::options().append(true).open(path)?.write_all(bytes.as_ref()))
            .expect("the file can be appended to");
    }

    /// Writes an executable file.
    #[cfg(unix)]
    pub fn write_program(&self, path: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.write(path, text);
        let permissions = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, permissions).expect("the permissions can be set");
    }

    /// Writes a file that was last modified an hour ago, so that its session is not live.
    pub fn write_old(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.write(path, bytes);
        set_modified(&path, SystemTime::now() - Duration::from_secs(3600));
        path
    }

    /// Reads everything below `.claude`.
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new();
        let mut directories = vec![self.path().join(".claude")];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(&directory).into_iter().flatten() {
                let path = entry.expect("a directory can be listed").path();
                let is_directory = path.is_dir();
                snapshot.insert(path.clone(), if is_directory { None } else { std::fs::read(&path).ok() });
                if is_directory {
                    directories.push(path);
                }
            }
        }
        snapshot
    }

    /// Returns the path of the home.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the executable that [`Home::run`] starts.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Prepares a run of the program in a fixed environment: this home, UTC, 100 columns.
    pub fn command(&self, args: &[&str]) -> ProcessCommand {
        let mut command = ProcessCommand::new(&self.program);
        command.args(args).env_clear().env("HOME", self.path()).env("TZ", "UTC").env("COLUMNS", "100");
        command.env("TMPDIR", self.path()).current_dir(self.path());
        if let Some(state) = &self.state {
            command.env("XDG_STATE_HOME", state.path());
        }
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> RunOutput {
        RunOutput::new(self.command(args).output().expect("the program can be started"))
    }

    /// Runs a command that must succeed and returns the JSON objects it prints, one per line.
    #[track_caller]
    pub fn run_json_lines(&self, args: &[&str]) -> Vec<Value> {
        let run = self.run(args);
        assert_eq!(run.code, 0, "{args:?}: {}", run.err);
        run.json_lines()
    }

    /// Runs a command that must succeed and returns the last JSON object it prints.
    #[track_caller]
    pub fn run_json(&self, args: &[&str]) -> Value {
        self.run_json_lines(args).pop().expect("the command prints an object")
    }

    /// Returns the entries that a client loads, by their names in the script. Other entries are `new`.
    #[track_caller]
    pub fn loaded_entries(&self, session: &str, client: &str) -> Vec<String> {
        let run = self.run(&["explain", session, "--client", client, "--json"]);
        let report: Value = serde_json::from_str(run.out.trim()).expect("`explain` prints an object");
        let path = report["path"].as_array().expect("an array of entries");
        let uuids = path.iter().map(|entry| entry["uuid"].as_str().expect("a uuid"));
        uuids.map(|uuid| script::name_from_uuid(uuid).unwrap_or("new".to_owned())).collect()
    }
}

/// The result of a run of the program.
pub struct RunOutput {
    /// The exit code, or -1 if a signal ended the process.
    pub code: i32,
    /// The text printed to stdout.
    pub out: String,
    /// The text printed to stderr.
    pub err: String,
}

impl RunOutput {
    /// Converts the output of a finished process.
    pub fn new(output: Output) -> RunOutput {
        RunOutput {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            err: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }

    /// Parses every line of stdout as JSON.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
    }

    /// Panics if stdout does not contain all of `expected`.
    #[track_caller]
    pub fn assert_out_contains(&self, expected: &[&str]) {
        for text in expected {
            assert!(self.out.contains(text), "missing {text:?} in:\n{}", self.out);
        }
    }
}

/// Sets the modification time of a file.
pub fn set_modified(path: &Path, time: SystemTime) {
    write_unshared(|| std::fs::File::options().append(true).open(path)?.set_modified(time))
        .expect("the time can be set");
}

fn create_temp_dir() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory can be created")
}
