//! Generates a store of invented sessions, for trying commands and for tests.
//!
//! Times are relative to the time of creation, so that ages are realistic. Everything else is the same on every run.
#![expect(clippy::disallowed_methods, reason = "creates the demo store in folders of its own")]

mod garden;
mod kept_folder;
mod press;
mod tides;
mod transcript;

use std::io;
use std::path::{Path, PathBuf};

use self::kept_folder::KeptFolder;
use self::transcript::TranscriptWriter;

/// The demo store, which is kept for the next command.
pub(crate) struct DemoStore {
    folder: DemoFolder,
}

/// The folder of the demo store.
enum DemoFolder {
    /// A folder of the user. Changes of its sessions can be undone by later commands.
    Kept(KeptFolder),
    /// Deleted when the command ends, because there is no folder to keep it in.
    Temporary(tempfile::TempDir),
}

impl DemoStore {
    /// Opens the demo store below `state_dir` and creates it if it is missing, outdated, or `is_reset` is set.
    ///
    /// Without a writable `state_dir`, the store is temporary. Returns [`io::ErrorKind::ResourceBusy`] if it must be reset while
    /// another process uses it.
    pub(crate) fn open(
        state_dir: Option<&Path>,
        now: jiff::Timestamp,
        is_reset: bool,
    ) -> io::Result<DemoStore> {
        let kept = state_dir.map(|dir| KeptFolder::open(&dir.join("demo"), now, is_reset));
        let folder = match kept {
            Some(Ok(kept)) => DemoFolder::Kept(kept),
            Some(Err(error)) if error.kind() == io::ErrorKind::ResourceBusy => return Err(error),
            _ => {
                let folder = tempfile::Builder::new().prefix("rethread-demo-").tempdir()?;
                write_sessions(folder.path(), now)?;
                DemoFolder::Temporary(folder)
            }
        };
        Ok(DemoStore { folder })
    }

    fn path(&self) -> &Path {
        match &self.folder {
            DemoFolder::Kept(kept) => kept.path(),
            DemoFolder::Temporary(folder) => folder.path(),
        }
    }

    /// Returns the folder to use instead of `~/.claude`.
    pub(crate) fn root(&self) -> PathBuf {
        self.path().join(".claude")
    }

    /// Returns the folder to use for the journal and the backups.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.path().join("state")
    }
}

/// Writes all demo sessions below `folder`. Their times are relative to `now`.
fn write_sessions(folder: &Path, now: jiff::Timestamp) -> io::Result<()> {
    let now = now.as_millisecond();
    let sessions = [tides::sessions(now), press::sessions(now), garden::sessions(now)];
    sessions.iter().flatten().try_for_each(|session| write_session(folder, session))
}

/// Writes the session file and its subagent files.
fn write_session(folder: &Path, session: &DemoSession) -> io::Result<()> {
    let project_name: String =
        session.transcript.cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let project = folder.join(".claude/projects").join(project_name);
    std::fs::create_dir_all(&project)?;
    let file = project.join(format!("{}.jsonl", session.transcript.session));
    write_old_file(&file, &(session.transcript.text() + session.torn_line))?;
    for (agent, meta) in &session.agents {
        let folder = project.join(&session.transcript.session).join("subagents");
        std::fs::create_dir_all(&folder)?;
        let file = folder.join(format!("agent-{}.jsonl", agent.agent.unwrap_or_default()));
        write_old_file(&file, &agent.text())?;
        write_old_file(&meta_path(&file), &meta.to_string())?;
    }
    Ok(())
}

/// Writes a file that was modified an hour ago, because one that changed within the last seconds counts as live.
fn write_old_file(path: &Path, text: &str) -> io::Result<()> {
    let hour = std::time::Duration::from_secs(3600);
    std::fs::write(path, text)?;
    std::fs::File::options().append(true).open(path)?.set_modified(std::time::SystemTime::now() - hour)
}

/// Returns the path of the `.meta.json` file of a subagent file.
fn meta_path(file: &Path) -> PathBuf {
    file.with_extension("meta.json")
}

/// An invented session with its subagents.
struct DemoSession {
    transcript: TranscriptWriter,
    /// The start of a last line that a crash cut off. Empty if the file is complete.
    torn_line: &'static str,
    /// The subagents, with the contents of their `.meta.json` files.
    agents: Vec<(TranscriptWriter, serde_json::Value)>,
}

impl From<TranscriptWriter> for DemoSession {
    /// Creates a session with a complete file and no subagents.
    fn from(transcript: TranscriptWriter) -> DemoSession {
        DemoSession { transcript, torn_line: "", agents: Vec::new() }
    }
}

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
