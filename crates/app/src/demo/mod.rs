//! A store of invented sessions, made in a temporary folder: for a first look, for trying commands, for tests.
//!
//! Nothing in it is anybody's. Times are relative to the present, so that ages look alive; all else is the same
//! on every run.
#![expect(clippy::disallowed_methods, reason = "the demo store is made here, in a temporary folder")]

mod garden;
mod press;
mod tides;
mod transcript;

use std::io;
use std::path::{Path, PathBuf};

use self::transcript::TranscriptWriter;

/// The store; it goes away with this value.
pub(crate) struct Demo {
    folder: tempfile::TempDir,
}

impl Demo {
    /// Writes the store.
    pub(crate) fn make(now: jiff::Timestamp) -> io::Result<Demo> {
        let demo = Demo { folder: tempfile::Builder::new().prefix("rethread-demo-").tempdir()? };
        let now = now.as_millisecond();
        for tale in [tides::tales(now), press::tales(now), garden::tales(now)].into_iter().flatten() {
            demo.write(&tale)?;
        }
        Ok(demo)
    }

    /// Returns the folder that stands for `~/.claude`.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join(".claude")
    }

    /// Returns the folder for journal and backups.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn write(&self, tale: &Tale) -> io::Result<()> {
        let encoded: String =
            tale.pen.cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let project = self.root().join("projects").join(encoded);
        std::fs::create_dir_all(&project)?;
        let file = project.join(format!("{}.jsonl", tale.pen.session));
        std::fs::write(&file, tale.pen.text() + tale.torn)?;
        // Nobody is at work in them: what was written a moment ago may not be changed.
        let hour = std::time::Duration::from_secs(3600);
        std::fs::File::options()
            .append(true)
            .open(&file)?
            .set_modified(std::time::SystemTime::now() - hour)?;
        for (agent, meta) in &tale.agents {
            let folder = project.join(&tale.pen.session).join("subagents");
            std::fs::create_dir_all(&folder)?;
            let file = folder.join(format!("agent-{}.jsonl", agent.agent.unwrap_or_default()));
            std::fs::write(&file, agent.text())?;
            std::fs::write(meta_path(&file), meta.to_string())?;
        }
        Ok(())
    }
}

fn meta_path(file: &Path) -> PathBuf {
    file.with_extension("meta.json")
}

/// A session with its subagents.
struct Tale {
    pen: TranscriptWriter,
    /// What a crash left of a last line.
    torn: &'static str,
    agents: Vec<(TranscriptWriter, serde_json::Value)>,
}

impl From<TranscriptWriter> for Tale {
    fn from(pen: TranscriptWriter) -> Tale {
        Tale { pen, torn: "", agents: Vec::new() }
    }
}

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
