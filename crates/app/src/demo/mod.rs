//! Generates a store of invented sessions in a temporary folder, for trying commands and for tests.
//!
//! Times are relative to the current time, so that ages are realistic. Everything else is the same on every run.
#![expect(clippy::disallowed_methods, reason = "creates the demo store in a temporary folder")]

mod garden;
mod press;
mod tides;
mod transcript;

use std::io;
use std::path::{Path, PathBuf};

use self::transcript::TranscriptWriter;

/// The demo store. Dropping it deletes its folder.
pub(crate) struct DemoStore {
    folder: tempfile::TempDir,
}

impl DemoStore {
    /// Writes all demo sessions into a new temporary folder. Their times are relative to `now`.
    pub(crate) fn create(now: jiff::Timestamp) -> io::Result<DemoStore> {
        let demo = DemoStore { folder: tempfile::Builder::new().prefix("rethread-demo-").tempdir()? };
        let now = now.as_millisecond();
        for session in
            [tides::sessions(now), press::sessions(now), garden::sessions(now)].into_iter().flatten()
        {
            demo.write_session(&session)?;
        }
        Ok(demo)
    }

    /// Returns the folder to use instead of `~/.claude`.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join(".claude")
    }

    /// Returns the folder to use for the journal and the backups.
    pub(crate) fn state_dir(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Writes the session file and its subagent files, with a modification time one hour ago.
    fn write_session(&self, session: &DemoSession) -> io::Result<()> {
        let project_name: String =
            session.transcript.cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let project = self.root().join("projects").join(project_name);
        std::fs::create_dir_all(&project)?;
        let file = project.join(format!("{}.jsonl", session.transcript.session));
        std::fs::write(&file, session.transcript.text() + session.torn_line)?;
        // Sets an old modification time, because a file that changed within the last seconds counts as live.
        let hour = std::time::Duration::from_secs(3600);
        std::fs::File::options()
            .append(true)
            .open(&file)?
            .set_modified(std::time::SystemTime::now() - hour)?;
        for (agent, meta) in &session.agents {
            let folder = project.join(&session.transcript.session).join("subagents");
            std::fs::create_dir_all(&folder)?;
            let file = folder.join(format!("agent-{}.jsonl", agent.agent.unwrap_or_default()));
            std::fs::write(&file, agent.text())?;
            std::fs::write(meta_path(&file), meta.to_string())?;
        }
        Ok(())
    }
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
