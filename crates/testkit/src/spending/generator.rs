//! Sessions of every kind, and what happens to them later.

use super::copy::Way;
use super::rng::Rng;
use super::store::{Agent, File, Store};

/// Folders in which sessions are started.
const PROJECTS: [&str; 4] = ["/home/ada/shed", "/home/ada/garden", "/srv/boat", "/home/ada/shed/roof"];
pub(super) const BRANCHES: [&str; 4] = ["main", "feature/roof", "fix-the-door", ""];
/// What subagents are called.
const KINDS: [&str; 3] = ["Explore", "general-purpose", "reviewer"];
/// Midnight of 2026-01-20 in milliseconds; all sessions begin in the 55 days behind it.
const START: i64 = 1_768_867_200_000;
const DAY: u64 = 86_400_000;
pub(super) const MINUTE: i64 = 60_000;

/// What a session is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Gateway,
    Inside,
    Below,
    Beside,
    Rewound,
    Compacted,
    ReplayInside,
    ReplayBelow,
    Torn,
    Copy(Way),
}

/// One after the other; copies are of any session that was made before them.
const ALL: [Kind; 17] = [
    Kind::Plain,
    Kind::Gateway,
    Kind::Rewound,
    Kind::Below,
    Kind::Copy(Way::Fork),
    Kind::Inside,
    Kind::Gateway,
    Kind::Copy(Way::Resume),
    Kind::Beside,
    Kind::Compacted,
    Kind::Copy(Way::Background),
    Kind::ReplayInside,
    Kind::Torn,
    Kind::Copy(Way::Fork),
    Kind::Copy(Way::Resume),
    Kind::ReplayBelow,
    Kind::Copy(Way::SameName),
];

/// Makes stores.
#[derive(Debug, Clone)]
pub struct StoreGenerator {
    /// What was made so far.
    pub store: Store,
    pub(super) dice: Rng,
    ids: u64,
    /// How many responses there are.
    pub(super) responses: usize,
    /// While lines of a subagent are written into the file of a session: the last of them, empty before the first.
    pub(super) aside: Option<String>,
}

impl StoreGenerator {
    /// Makes a store of so many sessions; from 17 on there is one of every kind in it.
    pub fn new(seed: u64, sessions: usize) -> StoreGenerator {
        let dice = Rng::new(seed);
        let mut maker = StoreGenerator { store: Store::default(), dice, ids: 0, responses: 0, aside: None };
        (0..sessions).for_each(|no| maker.add(no));
        maker
    }

    /// Adds a session; its number says what it is like.
    pub fn add(&mut self, number: usize) {
        let kind = ALL[number % ALL.len()];
        if let Kind::Copy(way) = kind {
            self.copy(way);
            return;
        }
        let no = self.begin();
        self.store.files[no].gateway = kind == Kind::Gateway;
        for _ in 0..2 + self.dice.below(3) {
            self.go_on(no);
        }
        match kind {
            Kind::Inside => self.inside(no),
            Kind::Below => (0..3).for_each(|layout| self.agent(no, false, layout)),
            Kind::Beside => (0..3).for_each(|layout| self.agent(no, true, layout)),
            Kind::Rewound => {
                let parent = self.store.files[no].turns.last().and_then(|turn| turn.parent);
                self.turn(no, parent, false);
            }
            Kind::Compacted => {
                let parent = self.last_turn(no);
                self.turn(no, parent, true);
                self.go_on(no);
            }
            Kind::ReplayInside => self.replay_inside(no),
            Kind::ReplayBelow => self.replay_below(no),
            Kind::Torn => self.tear(no),
            _ => self.store.files[no].unended = self.dice.chance(20),
        }
    }

    /// Leaves a file with only half of the last line of a response.
    fn tear(&mut self, no: usize) {
        let file = &mut self.store.files[no];
        while file.lines.last().is_some_and(|line| line.said.is_none()) {
            file.lines.pop();
        }
        file.torn = file.lines.pop();
        let uuid = file.torn.as_ref().and_then(|line| line.value["uuid"].as_str());
        if let Some((turn, uuid)) = file.turns.last_mut().zip(uuid) {
            uuid.clone_into(&mut turn.end);
        }
    }

    /// Lets a session go on: what was torn is written to its end, and there is one more turn.
    pub fn grow(&mut self, no: usize) {
        let file = &mut self.store.files[no];
        file.lines.extend(file.torn.take());
        file.unended = false;
        self.go_on(no);
    }

    /// Takes the last turn out of a file.
    pub fn shrink(&mut self, no: usize) {
        let file = &mut self.store.files[no];
        file.turns.pop();
        file.torn = None;
        let left = file.turns.len();
        file.lines.retain(|line| line.turn < left);
    }

    pub(super) fn last_turn(&self, no: usize) -> Option<usize> {
        self.store.files[no].turns.len().checked_sub(1)
    }

    fn go_on(&mut self, no: usize) {
        let parent = self.last_turn(no);
        self.turn(no, parent, false);
    }

    /// Returns a new uuid.
    pub(super) fn uuid(&mut self) -> String {
        self.ids += 1;
        format!("{:08x}-0000-4000-8000-{:012x}", self.dice.roll() as u32, self.ids)
    }

    /// Returns a folder for the sessions of a project.
    pub(super) fn folder(cwd: &str) -> String {
        cwd.replace('/', "-")
    }

    /// Begins a session.
    fn begin(&mut self) -> usize {
        let cwd = (*self.dice.pick(&PROJECTS)).to_owned();
        let session = self.uuid();
        let clock = START + self.dice.below(55 * DAY) as i64;
        self.store.files.push(File {
            path: format!("{}/{session}.jsonl", StoreGenerator::folder(&cwd)),
            session,
            cwd,
            branch: BRANCHES[0].to_owned(),
            clock,
            ..File::default()
        });
        self.store.files.len() - 1
    }

    /// Begins the file of a subagent.
    fn begin_agent(&mut self, main: usize, beside: bool, name: &str, agent: Agent) -> usize {
        let File { session, cwd, branch, clock, path, .. } = self.store.files[main].clone();
        let folder = if beside {
            StoreGenerator::folder(&cwd)
        } else {
            format!("{}/subagents", path.trim_end_matches(".jsonl"))
        };
        let cwd = if self.dice.chance(25) { format!("{cwd}/deeper") } else { cwd };
        self.store.files.push(File {
            path: format!("{folder}/agent-{name}.jsonl"),
            session,
            cwd,
            agent: Some(agent),
            branch,
            clock: clock + MINUTE,
            ..File::default()
        });
        self.store.files.len() - 1
    }

    /// Adds a subagent with a file of its own: one with a meta file, one that its session knows, one that nobody knows.
    fn agent(&mut self, main: usize, beside: bool, known_by: usize) {
        let name = format!("{:016x}", self.dice.roll());
        let kind = (*self.dice.pick(&KINDS)).to_owned();
        let call = if known_by < 2 { self.respond(main, Some((&name, &kind))) } else { None };
        let launch = call.map(|call| (call, kind.clone()));
        let agent = Agent { meta: (known_by == 0).then_some(kind), launch };
        let no = self.begin_agent(main, beside, &name, agent);
        (0..1 + self.dice.below(2)).for_each(|_| self.go_on(no));
        self.go_on(main);
    }

    /// Adds lines of a subagent to the file of a session.
    fn inside(&mut self, no: usize) {
        self.aside = Some(String::new());
        self.say(no, "look into the shed");
        (0..1 + self.dice.below(2)).for_each(|_| drop(self.respond(no, None)));
        self.aside = None;
        self.go_on(no);
    }

    fn replay_inside(&mut self, no: usize) {
        let response = self.any_response(no);
        self.store.files[no].replayed = true;
        self.aside = Some(String::new());
        self.say(no, "what was said so far");
        self.replay(no, no, response);
        self.respond(no, None);
        self.aside = None;
        self.go_on(no);
    }

    fn replay_below(&mut self, main: usize) {
        let response = self.any_response(main);
        self.store.files[main].replayed = true;
        let name = format!("{:016x}", self.dice.roll());
        let agent = Agent { meta: Some(KINDS[0].to_owned()), launch: None };
        let no = self.begin_agent(main, false, &name, agent);
        self.open_turn(no, None);
        self.say(no, "what was said so far");
        self.replay(main, no, response);
        self.respond(no, None);
    }
}
