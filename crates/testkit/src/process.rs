//! Starts processes that inherit no file that a test is writing.
//!
//! Until a new process runs its program, it has all open files of the process that started it. If another thread has just
//! written one of them, the program under test sees a process that has it open for writing, and refuses to change it.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{PoisonError, RwLock};

/// Starts hold it shared, writes hold it exclusively.
static STARTS: RwLock<()> = RwLock::new(());

/// Calls `write`, which opens files, writes and closes them, while no process is being started. It must not start one itself.
pub fn write_unshared<T>(write: impl FnOnce() -> T) -> T {
    let _guard = STARTS.write().unwrap_or_else(PoisonError::into_inner);
    write()
}

/// A process to start, with the methods of [`Command`]. By default, stdin is empty and the output is captured.
///
/// It is started while no thread is in [`write_unshared`].
#[derive(Debug)]
pub struct ProcessCommand {
    command: Command,
}

impl ProcessCommand {
    /// Prepares a run of `program`.
    pub fn new(program: impl AsRef<OsStr>) -> ProcessCommand {
        ProcessCommand::from(Command::new(program))
    }

    /// Adds an argument.
    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut ProcessCommand {
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    pub fn args(&mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut ProcessCommand {
        self.command.args(args);
        self
    }

    /// Sets an environment variable.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut ProcessCommand {
        self.command.env(name, value);
        self
    }

    /// Removes an environment variable.
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut ProcessCommand {
        self.command.env_remove(name);
        self
    }

    /// Removes all environment variables.
    pub fn env_clear(&mut self) -> &mut ProcessCommand {
        self.command.env_clear();
        self
    }

    /// Sets the working directory.
    pub fn current_dir(&mut self, directory: impl AsRef<Path>) -> &mut ProcessCommand {
        self.command.current_dir(directory);
        self
    }

    /// Sets stdin.
    pub fn stdin(&mut self, stdin: impl Into<Stdio>) -> &mut ProcessCommand {
        self.command.stdin(stdin);
        self
    }

    /// Sets stdout.
    pub fn stdout(&mut self, stdout: impl Into<Stdio>) -> &mut ProcessCommand {
        self.command.stdout(stdout);
        self
    }

    /// Sets stderr.
    pub fn stderr(&mut self, stderr: impl Into<Stdio>) -> &mut ProcessCommand {
        self.command.stderr(stderr);
        self
    }

    /// Starts the process.
    pub fn spawn(&mut self) -> io::Result<Child> {
        let _guard = STARTS.read().unwrap_or_else(PoisonError::into_inner);
        self.command.spawn()
    }

    /// Runs the process to its end and returns the captured output.
    pub fn output(&mut self) -> io::Result<Output> {
        self.spawn()?.wait_with_output()
    }

    /// Runs the process to its end.
    pub fn status(&mut self) -> io::Result<ExitStatus> {
        Ok(self.output()?.status)
    }
}

impl From<Command> for ProcessCommand {
    fn from(mut command: Command) -> ProcessCommand {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        ProcessCommand { command }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::{ProcessCommand, write_unshared};

    #[test]
    fn processes_do_not_start_during_a_write() {
        let (sender, events) = mpsc::channel();
        let starter = write_unshared(|| {
            let starter = std::thread::spawn(move || {
                sender.send("thread started").unwrap();
                assert!(ProcessCommand::new("true").status().unwrap().success());
                sender.send("process ended").unwrap();
            });
            assert_eq!(events.recv(), Ok("thread started"));
            let next = events.recv_timeout(Duration::from_millis(200));
            assert_eq!(next, Err(mpsc::RecvTimeoutError::Timeout), "during the write");
            starter
        });
        assert_eq!(events.recv(), Ok("process ended"));
        starter.join().unwrap();
    }
}
