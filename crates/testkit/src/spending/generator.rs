//! Generates sessions of every kind and changes them later.

use super::copy::CopyKind;
use super::rng::Rng;
use super::store::{GeneratedFile, GeneratedStore, SubagentInfo};

/// The working directories of sessions.
const PROJECTS: [&str; 4] = ["/home/ada/shed", "/home/ada/garden", "/srv/boat", "/home/ada/shed/roof"];
pub(super) const BRANCHES: [&str; 4] = ["main", "feature/roof", "fix-the-door", ""];
const AGENT_TYPES: [&str; 3] = ["Explore", "general-purpose", "reviewer"];
/// Midnight of 2026-01-20 in milliseconds. All sessions begin in the 55 days after it.
const START: i64 = 1_768_867_200_000;
const DAY: u64 = 86_400_000;
pub(super) const MINUTE: i64 = 60_000;

/// The kind of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionKind {
    Plain,
    /// Its responses come from a gateway.
    Gateway,
    /// Subagent entries are in the session file.
    InlineAgent,
    /// Subagent files are in the folder of the session.
    AgentsInSubfolder,
    /// Subagent files are in the folder of the project.
    AgentsInProjectFolder,
    Rewound,
    Compacted,
    /// A response is repeated in the session file under another request id.
    InlineReplay,
    /// A response is repeated in a subagent file under another request id.
    AgentReplay,
    /// The last line is incomplete.
    Torn,
    /// A copy of a session that was generated earlier.
    Copy(CopyKind),
}

/// The kinds, in the order in which sessions are generated.
const KINDS: [SessionKind; 17] = [
    SessionKind::Plain,
    SessionKind::Gateway,
    SessionKind::Rewound,
    SessionKind::AgentsInSubfolder,
    SessionKind::Copy(CopyKind::Fork),
    SessionKind::InlineAgent,
    SessionKind::Gateway,
    SessionKind::Copy(CopyKind::Resume),
    SessionKind::AgentsInProjectFolder,
    SessionKind::Compacted,
    SessionKind::Copy(CopyKind::Background),
    SessionKind::InlineReplay,
    SessionKind::Torn,
    SessionKind::Copy(CopyKind::Fork),
    SessionKind::Copy(CopyKind::Resume),
    SessionKind::AgentReplay,
    SessionKind::Copy(CopyKind::SameName),
];

/// Generates stores.
#[derive(Debug, Clone)]
pub struct StoreGenerator {
    /// The files generated so far.
    pub store: GeneratedStore,
    pub(super) rng: Rng,
    uuid_count: u64,
    pub(super) response_count: usize,
    /// The uuid of the last subagent entry while such entries are written into a session file; empty before the first.
    pub(super) sidechain_tip: Option<String>,
}

impl StoreGenerator {
    /// Generates a store. With 17 sessions or more, it contains every kind of session.
    pub fn new(seed: u64, session_count: usize) -> StoreGenerator {
        let mut generator = StoreGenerator {
            store: GeneratedStore::default(),
            rng: Rng::new(seed),
            uuid_count: 0,
            response_count: 0,
            sidechain_tip: None,
        };
        (0..session_count).for_each(|idx| generator.add_session(idx));
        generator
    }

    /// Adds a session. `number` determines its kind.
    pub fn add_session(&mut self, number: usize) {
        let kind = KINDS[number % KINDS.len()];
        if let SessionKind::Copy(copy_kind) = kind {
            self.copy(copy_kind);
            return;
        }
        let idx = self.create_session();
        self.store.files[idx].is_gateway = kind == SessionKind::Gateway;
        for _ in 0..2 + self.rng.below(3) {
            self.continue_session(idx);
        }
        match kind {
            SessionKind::InlineAgent => self.add_inline_agent(idx),
            SessionKind::AgentsInSubfolder => {
                (0..3).for_each(|known_by| self.add_agent(idx, false, known_by));
            }
            SessionKind::AgentsInProjectFolder => {
                (0..3).for_each(|known_by| self.add_agent(idx, true, known_by));
            }
            SessionKind::Rewound => {
                let parent = self.store.files[idx].turns.last().and_then(|turn| turn.parent);
                self.add_turn(idx, parent, false);
            }
            SessionKind::Compacted => {
                let parent = self.last_turn(idx);
                self.add_turn(idx, parent, true);
                self.continue_session(idx);
            }
            SessionKind::InlineReplay => self.add_inline_replay(idx),
            SessionKind::AgentReplay => self.add_agent_replay(idx),
            SessionKind::Torn => self.tear_last_line(idx),
            _ => self.store.files[idx].unterminated = self.rng.chance(20),
        }
    }

    /// Truncates a file within the last line of a response.
    fn tear_last_line(&mut self, idx: usize) {
        let file = &mut self.store.files[idx];
        while file.lines.last().is_some_and(|line| line.response.is_none()) {
            file.lines.pop();
        }
        file.torn_line = file.lines.pop();
        let uuid = file.torn_line.as_ref().and_then(|line| line.value["uuid"].as_str());
        if let Some((turn, uuid)) = file.turns.last_mut().zip(uuid) {
            uuid.clone_into(&mut turn.last_uuid);
        }
    }

    /// Completes a torn last line and adds a turn.
    pub fn grow(&mut self, idx: usize) {
        let file = &mut self.store.files[idx];
        file.lines.extend(file.torn_line.take());
        file.unterminated = false;
        self.continue_session(idx);
    }

    /// Removes the last turn of a file.
    pub fn shrink(&mut self, idx: usize) {
        let file = &mut self.store.files[idx];
        file.turns.pop();
        file.torn_line = None;
        let turn_count = file.turns.len();
        file.lines.retain(|line| line.turn < turn_count);
    }

    pub(super) fn last_turn(&self, idx: usize) -> Option<usize> {
        self.store.files[idx].turns.len().checked_sub(1)
    }

    fn continue_session(&mut self, idx: usize) {
        let parent = self.last_turn(idx);
        self.add_turn(idx, parent, false);
    }

    /// Generates a uuid.
    pub(super) fn new_uuid(&mut self) -> String {
        self.uuid_count += 1;
        format!("{:08x}-0000-4000-8000-{:012x}", self.rng.next_u64() as u32, self.uuid_count)
    }

    /// Returns the name of the project folder for a working directory.
    pub(super) fn project_folder(cwd: &str) -> String {
        cwd.replace('/', "-")
    }

    /// Adds a session file without lines and returns its index.
    fn create_session(&mut self) -> usize {
        let cwd = (*self.rng.pick(&PROJECTS)).to_owned();
        let session = self.new_uuid();
        let clock = START + self.rng.below(55 * DAY) as i64;
        self.store.files.push(GeneratedFile {
            path: format!("{}/{session}.jsonl", StoreGenerator::project_folder(&cwd)),
            session,
            cwd,
            branch: BRANCHES[0].to_owned(),
            clock,
            ..GeneratedFile::default()
        });
        self.store.files.len() - 1
    }

    /// Adds a subagent file without lines and returns its index.
    fn create_agent(
        &mut self,
        main: usize,
        in_project_folder: bool,
        name: &str,
        agent: SubagentInfo,
    ) -> usize {
        let GeneratedFile { session, cwd, branch, clock, path, .. } = self.store.files[main].clone();
        let folder = if in_project_folder {
            StoreGenerator::project_folder(&cwd)
        } else {
            format!("{}/subagents", path.trim_end_matches(".jsonl"))
        };
        let cwd = if self.rng.chance(25) { format!("{cwd}/deeper") } else { cwd };
        self.store.files.push(GeneratedFile {
            path: format!("{folder}/agent-{name}.jsonl"),
            session,
            cwd,
            agent: Some(agent),
            branch,
            clock: clock + MINUTE,
            ..GeneratedFile::default()
        });
        self.store.files.len() - 1
    }

    /// Adds a subagent with its own file.
    ///
    /// `known_by` is 0 if a meta file and the launching call name its type, 1 if only the call does, 2 if it is unknown.
    fn add_agent(&mut self, main: usize, in_project_folder: bool, known_by: usize) {
        let name = format!("{:016x}", self.rng.next_u64());
        let agent_type = (*self.rng.pick(&AGENT_TYPES)).to_owned();
        let call_id = if known_by < 2 { self.add_response(main, Some((&name, &agent_type))) } else { None };
        let launch = call_id.map(|call_id| (call_id, agent_type.clone()));
        let agent = SubagentInfo { meta_type: (known_by == 0).then_some(agent_type), launch };
        let idx = self.create_agent(main, in_project_folder, &name, agent);
        (0..1 + self.rng.below(2)).for_each(|_| self.continue_session(idx));
        self.continue_session(main);
    }

    /// Adds entries of a subagent to a session file.
    fn add_inline_agent(&mut self, idx: usize) {
        self.sidechain_tip = Some(String::new());
        self.add_prompt(idx, "look into the shed");
        (0..1 + self.rng.below(2)).for_each(|_| drop(self.add_response(idx, None)));
        self.sidechain_tip = None;
        self.continue_session(idx);
    }

    fn add_inline_replay(&mut self, idx: usize) {
        let response_id = self.pick_response(idx);
        self.store.files[idx].has_replay = true;
        self.sidechain_tip = Some(String::new());
        self.add_prompt(idx, "what was said so far");
        self.replay_response(idx, idx, response_id);
        self.add_response(idx, None);
        self.sidechain_tip = None;
        self.continue_session(idx);
    }

    fn add_agent_replay(&mut self, main: usize) {
        let response_id = self.pick_response(main);
        self.store.files[main].has_replay = true;
        let name = format!("{:016x}", self.rng.next_u64());
        let agent = SubagentInfo { meta_type: Some(AGENT_TYPES[0].to_owned()), launch: None };
        let idx = self.create_agent(main, false, &name, agent);
        self.open_turn(idx, None);
        self.add_prompt(idx, "what was said so far");
        self.replay_response(main, idx, response_id);
        self.add_response(idx, None);
    }
}
