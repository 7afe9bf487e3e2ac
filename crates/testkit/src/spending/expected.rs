//! What was spent, by the numbers of the responses.

use std::collections::{BTreeMap, HashMap, HashSet};

use rethread_core::entry::Usage;

use super::store::{Agent, File, Said, Store};

/// How a response stands to what the client would load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// It would be loaded.
    Active,
    /// It stands before a compaction.
    Compacted,
    /// It stands on a branch that was left.
    Abandoned,
    /// A subagent got it.
    Subagent,
}

/// A response, counted once, with all it can be grouped by.
#[derive(Debug, Clone)]
pub struct Spend {
    /// Its number.
    pub response: usize,
    /// The name of its message.
    pub message: String,
    /// The session it is booked to.
    pub session: String,
    /// The folder of that session.
    pub project: String,
    /// Its model.
    pub model: String,
    /// Its git branch.
    pub branch: String,
    /// Whether a subagent got it.
    pub side: bool,
    /// What kind of subagent, where that is known.
    pub kind: Option<String>,
    /// How it stands to what would be loaded.
    pub reach: Reach,
    /// When its first line was written, in milliseconds.
    pub time: Option<i64>,
    /// Its tokens, as far as a line tells them.
    pub usage: Usage,
    /// Whether no line tells its end.
    pub open: bool,
    /// The tools it calls, one name for each call.
    pub tools: Vec<String>,
    /// Its lines, in the order of files and lines: path and number from 1.
    pub lines: Vec<(String, u32)>,
    /// Which of them counts.
    pub counts: usize,
    /// The sessions with a line of it.
    pub sessions: HashSet<String>,
}

/// How often responses stand in the files: how many, and their tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// Each line for itself.
    pub lines: (usize, Usage),
    /// Each response once in a file, and once more for each request it is under there.
    pub files: (usize, Usage),
}

/// The lines of a response in one file under one request.
struct Appearance<'s> {
    file: usize,
    said: Vec<&'s Said>,
    turn: usize,
}

impl Appearance<'_> {
    fn time(&self) -> Option<i64> {
        self.said.iter().find_map(|said| said.time)
    }
}

/// Returns the line with the most output, the last of equals.
fn best<'s>(said: impl IntoIterator<Item = &'s Said>) -> Usage {
    said.into_iter().max_by_key(|said| said.usage.output).map(|said| said.usage).unwrap_or_default()
}

impl Store {
    /// Returns every response once, by its number.
    pub fn truth(&self) -> Vec<Spend> {
        self.appearances().into_values().map(|found| self.spend(&found)).collect()
    }

    /// Returns how often responses stand in the files.
    pub fn times(&self) -> Times {
        let mut times = Times::default();
        let count = |(number, sum): &mut (usize, Usage), usage: &Usage| {
            *number += 1;
            sum.add(usage);
        };
        for found in self.appearances().into_values().flatten() {
            count(&mut times.files, &best(found.said.iter().copied()));
            found.said.iter().for_each(|said| count(&mut times.lines, &said.usage));
        }
        times
    }

    /// Finds where each response stands, files in the order of their paths.
    fn appearances(&self) -> BTreeMap<usize, Vec<Appearance<'_>>> {
        let mut all: BTreeMap<usize, Vec<Appearance<'_>>> = BTreeMap::new();
        for no in self.by_path() {
            for line in &self.files[no].lines {
                let Some(said) = &line.said else { continue };
                let found = all.entry(said.response).or_default();
                let same =
                    |other: &&mut Appearance<'_>| other.file == no && other.said[0].request == said.request;
                match found.iter_mut().find(same) {
                    Some(known) => known.said.push(said),
                    None => found.push(Appearance { file: no, said: vec![said], turn: line.turn }),
                }
            }
        }
        all
    }

    fn spend(&self, found: &[Appearance<'_>]) -> Spend {
        // What was written first comes first; of what was written at once, what does not say that it is a copy.
        let order = |no: &usize| {
            let time = found[*no].time();
            (time.is_none(), time, found[*no].said[0].marked, *no)
        };
        let first = &found[(0..found.len()).min_by_key(order).expect("a response has a line")];
        let (file, said) = (&self.files[first.file], first.said[0]);
        let mut seen = HashSet::new();
        let calls = first.said.iter().flat_map(|said| &said.calls);
        let side = said.side || file.agent.is_some();
        let (lines, counts) = self.lines_of(said.response);
        let everywhere = found.iter().flat_map(|found| found.said.iter().copied());
        Spend {
            response: said.response,
            message: said.message.clone(),
            session: file.session.clone(),
            project: self.project(&file.session),
            model: said.model.clone(),
            branch: said.branch.clone(),
            side,
            kind: if side { self.kind(file) } else { Some("main".to_owned()) },
            reach: if side { Reach::Subagent } else { reach(file, first.turn) },
            time: first.time(),
            usage: best(everywhere.clone()),
            open: !everywhere.into_iter().any(|said| said.stopped),
            tools: calls.filter(|(id, _)| seen.insert(id)).map(|(_, tool)| tool.clone()).collect(),
            lines,
            counts,
            sessions: found.iter().map(|found| self.files[found.file].session.clone()).collect(),
        }
    }

    /// Returns the lines of a response, and the number of the one that counts.
    fn lines_of(&self, response: usize) -> (Vec<(String, u32)>, usize) {
        let (mut lines, mut outputs) = (Vec::new(), Vec::new());
        for no in self.by_path() {
            let file = &self.files[no];
            for (number, line) in (1..).zip(&file.lines) {
                if let Some(said) = line.said.as_ref().filter(|said| said.response == response) {
                    lines.push((file.path.clone(), number));
                    outputs.push(said.usage.output);
                }
            }
        }
        let counts = (0..outputs.len()).max_by_key(|&no| outputs[no]).unwrap_or_default();
        (lines, counts)
    }

    fn main_of(&self, session: &str) -> Option<&File> {
        let mut mains = self.by_path().into_iter().map(|no| &self.files[no]);
        mains.find(|file| file.agent.is_none() && file.session == session)
    }

    /// Returns the folder of a session: that of its own file where that says it.
    fn project(&self, session: &str) -> String {
        let main = self.main_of(session).filter(|main| !main.lines.is_empty());
        let agents = self.by_path().into_iter().map(|no| &self.files[no]);
        let agent = agents.into_iter().find(|file| file.session == session && !file.lines.is_empty());
        main.or(agent).map(|file| file.cwd.clone()).unwrap_or_default()
    }

    /// Returns the kind of a subagent, if its meta file or the session that started it tells.
    fn kind(&self, file: &File) -> Option<String> {
        let Agent { meta, launch } = file.agent.as_ref()?;
        let main = self.main_of(&file.session);
        let said = main.into_iter().flat_map(|main| &main.lines).filter_map(|line| line.said.as_ref());
        let calls: HashSet<&String> = said.flat_map(|said| &said.calls).map(|(id, _)| id).collect();
        let told = launch.as_ref().filter(|(call, _)| calls.contains(call));
        meta.clone().or_else(|| told.map(|(_, kind)| kind.clone()))
    }
}

/// Walks back from the last turn.
fn reach(file: &File, turn: usize) -> Reach {
    let mut reaches: HashMap<usize, Reach> = HashMap::new();
    let mut reach = Reach::Active;
    let mut at = file.turns.len().checked_sub(1);
    while let Some(no) = at {
        reaches.insert(no, reach);
        if file.turns[no].compacted {
            reach = Reach::Compacted;
        }
        at = file.turns[no].parent;
    }
    reaches.get(&turn).copied().unwrap_or(Reach::Abandoned)
}
