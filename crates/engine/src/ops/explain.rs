//! What a client will load when it resumes a session, and what it will not.

use std::path::{Path, PathBuf};

use rethread_core::resume::{MEASURED, Refusal, Resume, resume_by_summary};
use rethread_core::tree::NodeNo;
use rethread_core::version::Version;

use super::gist::Uuids;
use super::load::{Head, Session, load_seeing};
use crate::Failure;

/// Who resumes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reader {
    /// The client that wrote the newest line.
    Newest,
    /// This client.
    Client(Version),
    /// Every client that was measured.
    All,
    /// A reader that goes by the last summary, as some descriptions of the format have it.
    Seed,
}

/// What to explain.
#[derive(Debug, Clone)]
pub struct ExplainRequest {
    /// The session file.
    pub path: PathBuf,
    /// Who resumes.
    pub reader: Reader,
}

/// What one client makes of a session.
#[derive(Debug)]
pub struct Verdict {
    /// The client; `None` for the reader that goes by summaries.
    pub client: Option<Version>,
    /// The measured client whose rules it is taken to have.
    pub measured: Option<&'static str>,
    /// What it loads and sends.
    pub resume: Resume,
    /// Turns that begin on its path.
    pub turns: usize,
    /// About how many tokens the context will have.
    pub tokens: u64,
    /// What the API will refuse.
    pub refusals: Vec<Refusal>,
}

/// What clients make of a session.
#[derive(Debug)]
pub struct Explanation {
    /// Which session.
    pub head: Head,
    /// What was read.
    pub session: Session,
    /// All turns of the session.
    pub turns: usize,
    /// By client, in the order of their versions.
    pub verdicts: Vec<Verdict>,
    uuids: Uuids,
}

/// Explains what clients load of a session.
pub fn explain(request: &ExplainRequest) -> Result<Explanation, Failure> {
    let mut uuids = Uuids::default();
    let session = load_seeing(&request.path, |entry, _| uuids.add(entry))?;
    let clients: Vec<Option<Version>> = match &request.reader {
        Reader::Newest => vec![Some(session.client())],
        Reader::Client(version) => vec![Some(version.clone())],
        Reader::All => MEASURED.iter().map(|text| Some(Version::read(text))).collect(),
        Reader::Seed => vec![None],
    };
    let verdicts = clients.into_iter().map(|client| session.verdict(client)).collect();
    let turns = session.tree.turns().count();
    Ok(Explanation { head: session.head(), turns, verdicts, uuids, session })
}

impl Explanation {
    /// Returns the uuid of an entry, as it is written.
    pub fn uuid(&self, no: NodeNo) -> String {
        self.uuids.of(&self.session.tree, no)
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.session.path
    }
}

impl Session {
    fn verdict(&self, client: Option<Version>) -> Verdict {
        let resume = match &client {
            Some(client) => self.resume(client),
            None => resume_by_summary(&self.tree, &self.facts),
        };
        let mut sent = vec![false; self.tree.nodes().len()];
        resume.path.iter().for_each(|&no| sent[no as usize] = true);
        let measured = client.as_ref().map(measured_like);
        Verdict {
            turns: self.tree.turns().filter(|&no| sent[no as usize]).count(),
            tokens: resume.tokens(&self.facts),
            refusals: resume.refusals(),
            client,
            measured,
            resume,
        }
    }
}

/// Returns the newest measured client that is not newer than this one, or the oldest of all.
fn measured_like(client: &Version) -> &'static str {
    let older = MEASURED.iter().rev().find(|measured| Version::read(measured).numbers() <= client.numbers());
    older.or(MEASURED.first()).copied().unwrap_or_default()
}
