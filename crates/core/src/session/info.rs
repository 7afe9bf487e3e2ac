//! The sketch of a session file: everything a list of sessions shows, from one pass.

use super::title::{Title, TitleSource, one_line};
use crate::entry::{Entry, EntryRole, Flags, JsonStr, Kind, Timestamp, members, value_text};
use crate::id::{Id, ShortId, ShortMap};
use crate::problem::Problem;
use crate::tree::{ParentLink, Tree};
use crate::turn::Command;

/// Bytes kept of a first prompt.
const HEAD: usize = 400;

/// What one file says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionInfo {
    /// The session ids on its lines, first come first.
    pub sessions: Vec<String>,
    /// The agent whose file this is.
    pub agent: Option<String>,
    /// The title the user gave, last one.
    pub custom_title: Option<String>,
    /// The title a model gave, last one.
    pub ai_title: Option<String>,
    /// Titles for whatever session holds the entry.
    pub summaries: Vec<(Id, String)>,
    /// The first words of the user.
    pub first_prompt: Option<String>,
    /// The folder the client was started in.
    pub cwd: Option<String>,
    /// The git branch, last seen.
    pub git_branch: Option<String>,
    /// Client versions, first come first.
    pub versions: Vec<String>,
    /// Models, first come first.
    pub models: Vec<String>,
    /// How the client was started.
    pub entrypoints: Vec<String>,
    /// Names of plans.
    pub slugs: Vec<String>,
    /// First moment of a line that speaks.
    pub first: Option<Timestamp>,
    /// Last moment of a line that speaks.
    pub last: Option<Timestamp>,
    /// Turns, on every branch.
    pub turns: usize,
    /// Real branches.
    pub branches: usize,
    /// Parts of the tree that hang on a parent which is not there.
    pub islands: usize,
    /// Compactions, of every kind.
    pub compactions: usize,
    /// User and assistant lines outside subagents.
    pub entries: usize,
    /// Subagents inside the file.
    pub side_agents: usize,
    /// Lines of subagents inside the file.
    pub side_entries: usize,
    /// Lines that are not blank.
    pub lines: usize,
    /// Whether the first prompt asks to implement a plan.
    pub implements_plan: bool,
    /// Where it was forked from, by the client's own word.
    pub forked_from: Option<Origin>,
    /// Sessions of the processes that wrote it, other than itself.
    pub processes: Vec<String>,
    /// Pull requests made in it.
    pub pull_requests: Vec<PullRequest>,
    /// The first response, by which copies of a conversation know each other.
    pub first_message: Option<Id>,
    /// How many things are odd about it.
    pub problems: usize,
    /// Of these, how many mean that something is lost or out of place.
    pub damages: usize,
    /// Entries that a summary may name.
    pub(crate) ids: Vec<ShortId>,
}

crate::pack_fields!(SessionInfo {
    sessions,
    agent,
    custom_title,
    ai_title,
    summaries,
    first_prompt,
    cwd,
    git_branch,
    versions,
    models,
    entrypoints,
    slugs,
    first,
    last,
    turns,
    branches,
    islands,
    compactions,
    entries,
    side_agents,
    side_entries,
    lines,
    implements_plan,
    forked_from,
    processes,
    pull_requests,
    first_message,
    problems,
    damages,
    ids
});
crate::pack_fields!(Origin { session, uuid });
crate::pack_fields!(PullRequest { number, url, repository });

/// Where a fork was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// In which session.
    pub session: String,
    /// At which entry.
    pub uuid: String,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub number: String,
    /// Its address.
    pub url: String,
    /// Its repository.
    pub repository: String,
}

/// What the `summary` lines of a store call the sessions that hold certain entries.
#[derive(Debug, Default)]
pub struct Summaries(ShortMap<String>);

impl Summaries {
    /// Collects them from all sketches, in the order of their paths.
    pub fn of<'s>(sketches: impl Iterator<Item = &'s SessionInfo>) -> Summaries {
        let titles = sketches.flat_map(|sketch| &sketch.summaries);
        Summaries(titles.map(|(leaf, title)| (leaf.short(), title.clone())).collect())
    }
}

/// Draws the sketch while entries come in.
#[derive(Debug, Default)]
pub struct SessionInfoBuilder {
    sketch: SessionInfo,
    command: Option<String>,
    answered: bool,
}

impl SessionInfoBuilder {
    /// Takes the next entry and who speaks in it.
    pub fn add(&mut self, entry: &Entry<'_>, voice: EntryRole) {
        let sketch = &mut self.sketch;
        keep_new(&mut sketch.sessions, entry.session);
        keep_new(&mut sketch.versions, entry.version);
        keep_new(&mut sketch.slugs, entry.slug);
        keep_new(&mut sketch.entrypoints, entry.entrypoint);
        keep_new(&mut sketch.models, entry.model());
        if entry.process_session_id != entry.session {
            keep_new(&mut sketch.processes, entry.process_session_id);
        }
        if let Some(cwd) = entry.cwd
            && sketch.cwd.is_none()
        {
            sketch.cwd = Some(cwd.decode().into_owned());
        }
        if let Some(branch) = entry.git_branch
            && sketch.git_branch.as_ref().is_none_or(|known| known.as_bytes() != branch.raw())
        {
            sketch.git_branch = Some(branch.decode().into_owned());
        }
        if sketch.agent.is_none() && entry.is(Flags::SIDECHAIN) {
            sketch.agent = entry.agent.map(|agent| agent.decode().into_owned());
        }
        match entry.kind {
            Kind::User | Kind::Assistant => self.spoken(entry, voice),
            Kind::Attachment | Kind::System => self.spoken(entry, voice),
            Kind::CustomTitle => sketch.custom_title = words(entry).or(sketch.custom_title.take()),
            Kind::AiTitle => sketch.ai_title = words(entry).or(sketch.ai_title.take()),
            Kind::Summary => {
                if let (Some(leaf), Some(title)) = (entry.leaf, words(entry)) {
                    sketch.summaries.push((leaf.id(), title));
                }
            }
            Kind::PrLink => {
                let field = |name| entry.field(name).map(|value| value_text(value).into_owned());
                let link = PullRequest {
                    number: field("prNumber").unwrap_or_default(),
                    url: field("prUrl").unwrap_or_default(),
                    repository: field("prRepository").unwrap_or_default(),
                };
                if !sketch.pull_requests.contains(&link) {
                    sketch.pull_requests.push(link);
                }
            }
            _ => {}
        }
    }

    fn spoken(&mut self, entry: &Entry<'_>, voice: EntryRole) {
        let sketch = &mut self.sketch;
        if entry.is_message() {
            if entry.is(Flags::SIDECHAIN) && !entry.is(Flags::META) {
                sketch.side_entries += 1;
            } else {
                sketch.entries += 1;
            }
        }
        if let Some(origin) = entry.forked_from
            && sketch.forked_from.is_none()
        {
            let field = |name: &str| {
                let found = members(origin).find(|(key, _)| key.is(name)).map(|(_, value)| value_text(value));
                found.map(std::borrow::Cow::into_owned)
            };
            sketch.forked_from = field("sessionId")
                .map(|session| Origin { session, uuid: field("messageUuid").unwrap_or_default() });
        }
        match voice {
            EntryRole::Structural | EntryRole::State => return,
            EntryRole::CompactBoundary => sketch.compactions += 1,
            EntryRole::CompactSummary if entry.parent.is_none() => sketch.compactions += 1,
            EntryRole::Answer if !self.answered => {
                self.answered = true;
                sketch.first_message = entry.message.as_ref().and_then(|message| message.id).map(JsonStr::id);
            }
            EntryRole::Prompt if sketch.first_prompt.is_none() => {
                let words = prompt_words(entry);
                sketch.implements_plan =
                    entry.is(Flags::PLAN) || words.starts_with("Implement the following plan");
                sketch.first_prompt = Some(one_line(&words)).filter(|words| !words.is_empty());
            }
            EntryRole::Command if self.command.is_none() => {
                let text = crate::turn::words(entry);
                self.command = Some(Command::read(&text).map_or_else(|| one_line(&text), |c| c.to_string()));
            }
            _ => {}
        }
        if let Some(time) = entry.time() {
            sketch.first = Some(sketch.first.map_or(time, |first| first.min(time)));
            sketch.last = Some(sketch.last.map_or(time, |last| last.max(time)));
        }
    }

    /// Adds what the tree knows and returns the sketch.
    pub fn finish(self, tree: &Tree, lines: usize, problems: &[Problem]) -> SessionInfo {
        let mut sketch = self.sketch;
        sketch.first_prompt = sketch.first_prompt.or(self.command);
        sketch.turns = tree.turns().count();
        sketch.branches = tree.branches();
        // A file may begin in the middle of a conversation; an island is what lost its parent later on.
        let begun = tree
            .nodes()
            .iter()
            .position(|node| node.voice != EntryRole::Structural && node.link != ParentLink::Missing);
        let broken = |node: &&crate::tree::Node| node.link == ParentLink::Missing && !node.is_sidechain();
        let later = &tree.nodes()[begun.unwrap_or(tree.nodes().len())..];
        sketch.islands = later.iter().filter(broken).count();
        sketch.lines = lines;
        let odd = || problems.iter().chain(&tree.problems);
        sketch.problems = odd().count();
        sketch.damages = odd().filter(|problem| problem.kind.is_damage()).count();
        let side_file = tree.is_sidechain_file();
        if !side_file {
            sketch.side_agents = tree.roots().filter(|&no| tree.node(no).is_sidechain()).count();
        }
        // A summary may name an entry of a subagent: then it is no title of this session.
        let main = |node: &&crate::tree::Node| {
            node.voice != EntryRole::Structural && (side_file || !node.is_sidechain())
        };
        let speaks = tree.nodes().iter().filter(main);
        sketch.ids = speaks.map(|node| node.id.short()).collect();
        sketch
    }
}

impl SessionInfo {
    /// Finds what summaries call this session: the one that names the latest of its entries.
    pub fn summary<'t>(&self, titles: &'t Summaries) -> Option<&'t str> {
        if titles.0.is_empty() {
            return None;
        }
        self.ids.iter().rev().find_map(|id| titles.0.get(id)).map(String::as_str)
    }

    /// Returns the title, given what other files say of this one.
    pub fn title(&self, summary: Option<&str>) -> Title {
        let titles = [
            (self.custom_title.as_deref(), TitleSource::Custom),
            (self.ai_title.as_deref(), TitleSource::Ai),
            (summary, TitleSource::Summary),
            (self.first_prompt.as_deref(), TitleSource::Prompt),
        ];
        let found = titles.into_iter().find_map(|(text, source)| Some((text?, source)));
        let (text, source) = found.unwrap_or(("", TitleSource::None));
        Title { text: text.to_owned(), source }
    }

    /// Whether a program and not a person ran it.
    pub fn is_headless(&self) -> bool {
        !self.entrypoints.is_empty() && self.entrypoints.iter().all(|entry| entry.starts_with("sdk"))
    }

    /// Whether it is a subagent that the client starts only to warm up.
    pub fn is_warmup(&self) -> bool {
        self.agent.is_some() && self.first_prompt.as_deref() == Some("Warmup")
    }

    /// Whether nothing was said in it.
    pub fn is_empty(&self) -> bool {
        self.turns == 0 && self.first_message.is_none()
    }
}

/// Keeps a text that differs from those kept so far; the common case, the same as last time, costs one comparison.
fn keep_new(kept: &mut Vec<String>, text: Option<JsonStr<'_>>) {
    let Some(text) = text else { return };
    let raw = text.raw();
    // No real file has so many; one that does must not make reading it slow.
    if kept.len() >= 64 {
        return;
    }
    if kept.iter().rev().any(|known| known.as_bytes() == raw) {
        return;
    }
    let text = text.decode();
    if !kept.iter().any(|known| **known == *text) {
        kept.push(text.into_owned());
    }
}

fn words(entry: &Entry<'_>) -> Option<String> {
    Some(one_line(&entry.text?.head(HEAD))).filter(|words| !words.is_empty())
}

fn prompt_words(entry: &Entry<'_>) -> String {
    if entry.kind != Kind::User {
        return crate::turn::words(entry);
    }
    let texts = entry.message.iter().flat_map(|message| message.content.texts());
    // What an editor adds before the prompt is not what the user said.
    let said = texts.map(|text| text.head(HEAD)).find(|text| !text.trim_start().starts_with("<ide_"));
    said.unwrap_or_default().into_owned()
}
